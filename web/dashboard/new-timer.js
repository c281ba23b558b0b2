// The form that starts a timer: by what a person types, or by one press on a preset.

import { parseDuration } from "../shared/duration.js";
import { define, t } from "../languages/language.js";
import { pressedAt, serverInstant } from "../shared/press.js";
import { limited, PRESET_MINUTES, settingsOf } from "../shared/timer-settings.js";

define({
  "new.title": "New timer",
  "new.duration": "Duration",
  "new.durationHint": "5m, 1:30:00, 90 or until 20:30. Leave empty for a stopwatch.",
  "new.untilExample": "until 20:30",
  "new.name": "Name",
  "new.nameExample": "Keynote",
  "new.nameHint": "The name is part of the timer's links. Without one, the timer gets a number. " +
    "A title is shown instead of the name, and can change at any time.",
  "new.start": "Start",
  "new.more": "Title, warnings, at zero",
  "new.titleExample": "Opening remarks",
  "new.numbered": "Timer {n}"
});

const NAME_BYTES = 128;

// `commands` sends the start.
export function setUpNewTimer(form, session, commands) {
  const elements = form.elements;
  elements.duration.placeholder = "5m · 1:30:00 · " + t("new.untilExample");
  elements.name.placeholder = t("new.nameExample");
  PRESET_MINUTES.forEach((minutes) => { addPreset(t("preset.minutes", { n: minutes }), { duration: minutes * 60 }); });
  addPreset(t("preset.stopwatch"), { type: "stopwatch" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    start(event, null);
  });

  function addPreset(words, fields) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", (event) => { start(event, fields); });
    form.querySelector(".presets").appendChild(button);
  }

  function start(event, preset) {
    const at = serverInstant(event, session.clock);
    let name;
    let fields;
    showMessage("");
    try {
      name = limited(elements.name.value.trim(), NAME_BYTES, t("new.name")) || numberedName(session);
      fields = Object.assign(settingsOf(elements, false), preset || lengthOf(elements.duration.value, session, at));
    } catch (error) {
      showMessage(error.message);
      elements.duration.focus();
      return;
    }
    const typed = textOf(elements);
    const focused = document.activeElement;
    const press = { at, ifRun: session.runs.at(name, pressedAt(event)) };
    commands.change("start", name, fields, press).then(() => {
      if (textOf(elements) !== typed) {
        return; // the person is typing the next one
      }
      form.reset();
      if (preset === null && document.activeElement === focused) {
        elements.duration.focus();
      }
    }, (refusal) => { showMessage(refusal.message); });
  }

  function showMessage(words) {
    form.querySelector(".message").textContent = words;
    elements.duration.setAttribute("aria-invalid", String(words !== ""));
  }
}

// — inside —

function textOf(elements) {
  return Array.from(elements).map((element) => element.value).join("\n");
}

// "until 20:30" is exact only when it counts from the instant of the start.
function lengthOf(typed, session, at) {
  const seconds = parseDuration(typed, session.wallTime(at === undefined ? session.now() : at));
  return seconds === null ? { type: "stopwatch" } : { duration: seconds };
}

// With the lowest number that is free.
function numberedName(session) {
  let n = 1;
  while (session.state(t("new.numbered", { n })) !== undefined) {
    n += 1;
  }
  return t("new.numbered", { n });
}
