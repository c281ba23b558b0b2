// The page's words in the reader's language. Each module defines its own in English, which also stand in for missing
// translations. Each translation is a file (`de.js`), of which only the reader's is loaded.

import { addModule } from "../shared/loader.js";

export const LANGUAGES = ["en", "de", "es", "fr", "ar"];
const RIGHT_TO_LEFT = ["ar"];

const english = {};
export const tables = { en: english };
const plurals = { en: (n) => n === 1 ? "one" : "other" };
let current = "en";

// Resolves when `t` has the reader's language, or English without it.
export const languageReady = use(preferredLanguage());

// Adds English words: a text with {places}, or {one: …, other: …} where `n` decides.
export function define(words) {
  Object.assign(english, words);
}

// The words for a key, with the places filled in. An unknown key is shown as it is.
export function t(key, fields) {
  const found = tables[current][key] || english[key];
  if (found === undefined) {
    return key;
  }
  const text = typeof found === "string" ? found : found[pluralOf(fields.n)] || found.other;
  return text.replace(/\{([a-zA-Z]+)\}/g, (whole, name) => {
    return fields === undefined || fields[name] === undefined ? whole : isolated(fields[name]);
  });
}

// Fills the elements that name their words for the text, the aria-label or the placeholder.
export function translate(root) {
  each(root, "data-t", (element, words) => { element.textContent = words; });
  each(root, "data-t-label", (element, words) => { element.setAttribute("aria-label", words); });
  each(root, "data-t-placeholder", (element, words) => { element.setAttribute("placeholder", words); });
}

// A translation calls this. `plural(n)` serves browsers without `Intl.PluralRules`.
export function addLanguage(code, words, plural) {
  tables[code] = words;
  plurals[code] = plural;
}

export function language() {
  return current;
}

// — inside —

// The address comes first, then the choice on this device, then the browser's settings.
function preferredLanguage() {
  const tags = [new URLSearchParams(location.search).get("lang"), chosen()].concat(navigator.languages || []);
  const codes = tags.filter(Boolean).map((tag) => tag.toLowerCase().split("-")[0]);
  return codes.find((code) => LANGUAGES.includes(code)) || "en";
}

// See settings.js, which a display does not load.
function chosen() {
  try {
    return localStorage.getItem("timersync.language");
  } catch (error) {
    return null;
  }
}

function use(code) {
  const loaded = tables[code] ? Promise.resolve() : addModule("languages/" + code + ".js").catch(() => {});
  return loaded.then(() => {
    const root = document.documentElement;
    current = tables[code] ? code : "en";
    root.setAttribute("lang", current);
    root.setAttribute("dir", RIGHT_TO_LEFT.includes(current) ? "rtl" : "ltr");
  });
}

function each(root, attribute, apply) {
  Array.from(root.querySelectorAll("[" + attribute + "]")).forEach((element) => {
    apply(element, t(element.getAttribute(attribute)));
  });
}

function pluralOf(n) {
  return window.Intl && Intl.PluralRules ? new Intl.PluralRules(current).select(n) : plurals[current](n);
}

// A name in another script must not turn the sentence around it.
function isolated(value) {
  const isRightToLeft = document.documentElement.dir === "rtl";
  return isRightToLeft && typeof value === "string" ? "\u2068" + value + "\u2069" : String(value);
}
