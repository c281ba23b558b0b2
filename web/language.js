// Words, in the language of the person who reads. Each view defines its own in English.

const english = {};

// Resolved when `t` speaks the reader's language; at once for English.
export const languageReady = Promise.resolve();

// Adds English words: a text with {places}, or {one: …, other: …} where `n` decides.
export function define(words) {
  Object.assign(english, words);
}

// The words for a key, with the places filled in. An unknown key is shown as it is.
export function t(key, values) {
  const entry = english[key];
  const text = entry === undefined ? key : typeof entry === "string" ? entry : entry[plural(values.n)] || entry.other;
  return text.replace(/\{(\w+)\}/g, function (place, name) {
    return values && values[name] !== undefined ? String(values[name]) : place;
  });
}

// Fills elements that name their words: `data-t` the text, `data-t-label` the aria-label,
// `data-t-placeholder` the placeholder.
export function translate(root) {
  each(root, "data-t", function (element, words) { element.textContent = words; });
  each(root, "data-t-label", function (element, words) { element.setAttribute("aria-label", words); });
  each(root, "data-t-placeholder", function (element, words) { element.setAttribute("placeholder", words); });
}

function each(root, attribute, apply) {
  Array.from(root.querySelectorAll("[" + attribute + "]")).forEach(function (element) {
    apply(element, t(element.getAttribute(attribute)));
  });
}

function plural(n) {
  return n === 1 ? "one" : "other";
}
