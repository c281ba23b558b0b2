// Times of day, as the browser's region writes them, with Latin digits.

// In the page's language. The hour cycle is the browser's own: a page in English shows 22:32 in Britain.
export function timeOfDay(wallTime, options) {
  return new Date(wallTime * 1000).toLocaleString(localeOf(document.documentElement.lang, navigator.languages || []) +
    "-u-nu-latn", Object.assign({ hour12: isHour12() }, options));
}

// The browser's own tag for the page's language, else the language in the browser's region.
export function localeOf(language, tags) {
  const plain = tags.map((tag) => tag.split("-u-")[0]);
  const own = plain.find((tag) => tag.split("-")[0].toLowerCase() === language);
  const region = plain.map((tag) => /-([A-Z]{2}|[0-9]{3})(?:-|$)/.exec(tag)).find((found) => found !== null);
  return own || (region ? language + "-" + region[1] : language);
}

function isHour12() {
  return new Intl.DateTimeFormat(navigator.language, { hour: "numeric" }).resolvedOptions().hour12;
}
