// A timer's settings, as fields of a form hold them and as the server wants them.

import { parseWarnings } from "./duration.js";
import { define, t } from "../languages/language.js";

define({
  "preset.start": "Start a preset",
  "preset.minutes": "{n} min",
  "preset.stopwatch": "Stopwatch",
  "settings.title": "Title",
  "settings.warnings": "Warnings",
  "settings.atZero": "At zero",
  "settings.tooLong": "{what} is too long: at most {limit} bytes (about {limit} letters).",
  "atZero.unchanged": "unchanged",
  "atZero.overtime": "continue below zero",
  "atZero.finish": "finish",
  "atZero.reset": "reset",
  "atZero.repeat": "start again"
});

const TITLE_BYTES = 256;

export const PRESET_MINUTES = [1, 5, 10, 15, 20, 30, 45, 60];

// Title, warnings and what happens at zero, for a `start` or an `update`. An empty field is left out, so that the timer
// keeps what it has, unless `isWhole` says that empty means empty.
export function settingsOf(elements, isWhole) {
  const title = limited(elements.title.value.trim(), TITLE_BYTES, t("settings.title"));
  const warnings = parseWarnings(elements.warnings.value);
  return Object.assign({},
    title !== "" || isWhole ? { title } : {},
    warnings.length > 0 || isWhole ? { warnings } : {},
    elements.atZero.value !== "" ? { atZero: elements.atZero.value } : {});
}

// The text itself, or an Error for the person.
export function limited(text, limit, what) {
  if (bytesOf(text) > limit) {
    throw new Error(t("settings.tooLong", { what, limit }));
  }
  return text;
}

export function bytesOf(text) {
  return new TextEncoder().encode(text).length;
}
