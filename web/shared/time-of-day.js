// Times of day, as the browser's region writes them, with Latin digits.

const formatters = new Map(); // making one takes far longer than using it

// In the page's language. The hour cycle is the browser's own: a page in English shows 22:32 in Britain.
export function timeOfDay(wallTime, options) {
  return formatter(document.documentElement.lang, navigator.languages || [], options).format(wallTime * 1000);
}

// The browser's own tag for the page's language, else the language in the browser's region.
export function localeOf(language, tags) {
  const plain = tags.map((tag) => tag.split("-u-")[0]);
  const own = plain.find((tag) => tag.split("-")[0].toLowerCase() === language);
  const region = plain.map((tag) => /-([A-Z]{2}|[0-9]{3})(?:-|$)/.exec(tag)).find((found) => found !== null);
  return own || (region ? language + "-" + region[1] : language);
}

// — inside —

function formatter(language, tags, options) {
  const key = JSON.stringify([language, tags, options]);
  if (!formatters.has(key)) {
    const locale = localeOf(language, tags) + "-u-nu-latn";
    formatters.set(key, new Intl.DateTimeFormat(locale, Object.assign({ hourCycle: hourCycle() }, options)));
  }
  return formatters.get(key);
}

// Not as `hour12`: in another locale than the browser's, some browsers would then count from 24:05 or to 0:30 PM.
function hourCycle() {
  return new Intl.DateTimeFormat(navigator.language, { hour: "numeric" }).resolvedOptions().hour12 ? "h12" : "h23";
}
