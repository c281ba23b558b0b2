// The form that makes a timer: typed, or by one press on a preset.

import { parseDuration, parseWarnings } from "../shared/duration.js";
import { define, t } from "../languages/language.js";
import { pressedAt, pressInstant } from "../shared/press.js";

define({
  "make.title": "New timer",
  "make.duration": "Duration",
  "make.durationHint": "5m, 1:30:00, 90 or until 20:30. Leave it empty for a stopwatch.",
  "make.untilExample": "until 20:30",
  "make.name": "Name",
  "make.nameExample": "Keynote",
  "make.nameHint": "The name is the timer's address, and each screen's link; without one it is numbered. A title is shown in its place and may change at any time.",
  "make.start": "Start",
  "make.presets": "Start at once",
  "make.more": "Title, warnings, at zero",
  "make.timerTitle": "Title",
  "make.titleExample": "Opening words",
  "make.warnings": "Warnings",
  "make.atZero": "At zero",
  "make.numbered": "Timer {n}",
  "make.tooLong": "{what} is too long: at most {limit} bytes, about {limit} letters.",
  "atZero.asBefore": "as before",
  "atZero.overtime": "count on below zero",
  "atZero.finish": "finish",
  "atZero.reset": "reset",
  "atZero.repeat": "start again",
  "preset.minutes": "{n} min",
  "preset.stopwatch": "Stopwatch"
});

const PRESETS = [1, 5, 10, 15, 20, 30, 45, 60]; // minutes
const NAME_BYTES = 128;
const TITLE_BYTES = 256;

// The form's words and presses; `desk` makes the change.
export function setUpMaking(form, session, desk) {
  const elements = form.elements;
  elements.duration.placeholder = "5m · 1:30:00 · " + t("make.untilExample");
  elements.name.placeholder = t("make.nameExample");
  PRESETS.forEach(function (minutes) {
    addPreset(t("preset.minutes", { n: minutes }), { duration: minutes * 60 });
  });
  addPreset(t("preset.stopwatch"), { type: "stopwatch" });
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    make(event, null);
  });

  function addPreset(words, fields) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", function (event) { make(event, fields); });
    form.querySelector(".presets").appendChild(button);
  }

  function make(event, preset) {
    const at = pressInstant(event, session.clock);
    say("");
    let name;
    let fields;
    try {
      name = short(elements.name.value.trim(), NAME_BYTES, t("make.name")) || numbered(session);
      fields = Object.assign(settingsOf(elements, false), preset || lengthOf(elements.duration.value, session, at));
    } catch (error) {
      say(error.message);
      elements.duration.focus();
      return;
    }
    const typed = wordsOf(elements);
    const focused = document.activeElement;
    desk.change("start", name, fields, { at: at, ifRun: session.runs.at(name, pressedAt(event)) }).then(function () {
      if (wordsOf(elements) !== typed) {
        return; // the next one is being typed
      }
      form.reset();
      if (preset === null && document.activeElement === focused) {
        elements.duration.focus();
      }
    }, function (refusal) { say(refusal.message); });
  }

  function say(words) {
    form.querySelector(".message").textContent = words;
    elements.duration.setAttribute("aria-invalid", String(words !== ""));
  }
}

// Title, warnings and what happens at zero, as a `start` or an `update` wants them. What is left empty is not sent,
// so that the timer keeps what it had, unless `isWhole` says that empty means empty.
export function settingsOf(elements, isWhole) {
  const title = short(elements.title.value.trim(), TITLE_BYTES, t("make.timerTitle"));
  const warnings = parseWarnings(elements.warnings.value);
  return Object.assign({},
    title !== "" || isWhole ? { title: title } : {},
    warnings.length > 0 || isWhole ? { warnings: warnings } : {},
    elements.atZero.value !== "" ? { atZero: elements.atZero.value } : {});
}

export function bytesOf(text) {
  return new TextEncoder().encode(text).length;
}

// — inside —

function wordsOf(elements) {
  return Array.from(elements).map(function (element) { return element.value; }).join("\n");
}

// "until 20:30" ends at that instant only if it is reckoned from the same one as the start.
function lengthOf(typed, session, at) {
  const seconds = parseDuration(typed, session.wallTime(at === undefined ? session.now() : at));
  return seconds === null ? { type: "stopwatch" } : { duration: seconds };
}

function short(text, limit, what) {
  if (bytesOf(text) > limit) {
    throw new Error(t("make.tooLong", { what: what, limit: limit }));
  }
  return text;
}

// The lowest number that is free.
function numbered(session) {
  let n = 1;
  while (session.state(t("make.numbered", { n: n })) !== undefined) {
    n += 1;
  }
  return t("make.numbered", { n: n });
}
