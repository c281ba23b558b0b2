// The page's words in the language of the person who looks at it. Each module defines its own in English, which stand
// in for whatever is not translated. A translation is a file of its own (`de.js`); only the one that is spoken
// is loaded.

import { addModule } from "../shared/loader.js";

export const LANGUAGES = ["en", "de", "es", "fr", "ar"];
const RIGHT_TO_LEFT = ["ar"];
export const CHOSEN_IN = "timersync.language";

const english = {};
export const tables = { en: english };
const plurals = { en: onlyOneIsOne };
let spoken = "en";

// Resolved when `t` speaks the reader's language, or English when that can't be had.
export const languageReady = speak(preferredLanguage());

// Adds English words: a text with {places}, or {one: …, other: …} where `n` decides.
export function define(words) {
  Object.assign(english, words);
}

// The words for a key, with the places filled in. An unknown key is shown as it is.
export function t(key, fields) {
  const found = tables[spoken][key] || english[key];
  if (found === undefined) {
    return key;
  }
  const text = typeof found === "string" ? found : found[category(fields.n)] || found.other;
  return text.replace(/\{([a-zA-Z]+)\}/g, (whole, name) => {
    return fields === undefined || fields[name] === undefined ? whole : isolated(fields[name]);
  });
}

// Fills elements that name their words: `data-t` the text, `data-t-label` the aria-label, `data-t-placeholder` the
// placeholder.
export function translate(root) {
  each(root, "data-t", (element, words) => { element.textContent = words; });
  const set = (name) => (element, words) => { element.setAttribute(name, words); };
  each(root, "data-t-label", set("aria-label"));
  each(root, "data-t-placeholder", set("placeholder"));
}

// A translation says who it is. `plural` stands in where the browser has no `Intl.PluralRules`.
export function learn(code, words, plural) {
  tables[code] = words;
  plurals[code] = plural;
}

// What the address asks for, else what was chosen on this device, else what the browser is set to.
function preferredLanguage() {
  const wished = [new URLSearchParams(location.search).get("lang"), remembered()].concat(navigator.languages || []);
  return wished.filter(Boolean).map((tag) => tag.toLowerCase().split("-")[0]).find(isKnown) || "en";
}

export function language() {
  return spoken;
}

// — inside —

function each(root, attribute, apply) {
  Array.from(root.querySelectorAll("[" + attribute + "]")).forEach((element) => {
    apply(element, t(element.getAttribute(attribute)));
  });
}

function speak(code) {
  const loaded = tables[code] ? Promise.resolve() : addModule("languages/" + code + ".js").catch(() => {});
  return loaded.then(() => { adopt(tables[code] ? code : "en"); });
}

function adopt(code) {
  const root = document.documentElement;
  spoken = code;
  root.setAttribute("lang", code);
  root.setAttribute("dir", RIGHT_TO_LEFT.indexOf(code) >= 0 ? "rtl" : "ltr");
}

function category(n) {
  return window.Intl && Intl.PluralRules ? new Intl.PluralRules(spoken).select(n) : plurals[spoken](n);
}

function onlyOneIsOne(n) {
  return n === 1 ? "one" : "other";
}

// A name in another script must not turn the sentence around it.
function isolated(value) {
  return document.documentElement.dir === "rtl" && typeof value === "string" ? "\u2068" + value + "\u2069" : String(value);
}

function isKnown(code) {
  return LANGUAGES.indexOf(code) >= 0;
}

function remembered() {
  try {
    return localStorage.getItem(CHOSEN_IN);
  } catch (error) {
    return null;
  }
}
