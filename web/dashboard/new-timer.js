// The form that starts a timer: by what a person types, or by one press on a preset.

import { confirm } from "../dialogs/dialog.js";
import { isUntil, parseDuration } from "../shared/duration.js";
import { define, t } from "../languages/language.js";
import { pressedAt, pressFields, serverInstant } from "../shared/press.js";
import { announce, setText } from "../shared/shell.js";
import { isActive } from "../shared/timer.js";
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
  "new.numbered": "Timer {n}",
  "new.hours": "{n} h",
  "new.seconds": "{n} s",
  "new.replace": "Replace {name}?",
  "new.replaceWhy": "There is a timer with this name. It starts anew with what you entered; its last run, its laps " +
    "and its settings are lost. For another timer, cancel and enter another name."
});

const NAME_BYTES = 128;
const ANNOUNCE_AFTER = 1000; // milliseconds without a key

// `commands` sends the start. `starting()` is called then, and returns a function that is called with the timer's name
// once the timer has started.
export function setUpNewTimer(form, session, commands, starting) {
  const elements = form.elements;
  const reading = form.querySelector("#duration-reading");
  elements.duration.placeholder = "5m · 1:30:00 · " + t("new.untilExample");
  elements.name.placeholder = t("new.nameExample");
  let announcing = null;
  elements.duration.addEventListener("input", () => {
    showReading();
    clearTimeout(announcing);
    announcing = setTimeout(announceReading, ANNOUNCE_AFTER);
  });
  session.on("beat", showReading);
  PRESET_MINUTES.forEach((minutes) => { addPreset(t("preset.minutes", { n: minutes }), { duration: minutes * 60 }); });
  addPreset(t("preset.stopwatch"), { type: "stopwatch" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    startTyped(event, (at) => lengthOf(elements.duration.value, session, at));
  });

  function addPreset(words, fields) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", (event) => { startPreset(event, fields); });
    form.querySelector(".presets").appendChild(button);
  }

  // While a duration is typed, the form is about another timer than the preset's, and stays.
  function startPreset(event, fields) {
    if (elements.duration.value.trim() === "") {
      startTyped(event, () => fields);
    } else {
      showMessage("");
      const name = numberedName(session);
      send(name, fields, pressFields(event, session, name)).catch(refuse);
    }
  }

  // `length(at)` is the duration or the type for a start at that instant.
  function startTyped(event, length) {
    const press = { at: serverInstant(event, session.clock) };
    let name;
    let fields;
    showMessage("");
    try {
      name = limited(elements.name.value.trim(), NAME_BYTES, t("new.name")) || numberedName(session);
      fields = Object.assign(settingsOf(elements, false), length(press.at));
    } catch (error) {
      showMessage(error.message);
      elements.duration.focus();
      return;
    }
    press.ifRun = session.runs.at(name, pressedAt(event));
    const state = session.state(name);
    if (session.mayControl && state !== undefined && !isActive(state)) {
      confirm({
        title: t("new.replace", { name }), question: t("new.replaceWhy"), yes: () => t("new.start"),
        go: () => send(name, Object.assign(fields, length(undefined)), { ifRun: press.ifRun }, clearing())
      });
    } else {
      send(name, fields, press, clearing()).catch(refuse);
    }
  }

  function send(name, fields, press, clear) {
    const started = starting();
    return commands.change("start", name, fields, press).then(() => {
      if (clear !== undefined) {
        clear();
      }
      started(name);
    });
  }

  function refuse(refusal) {
    showMessage(refusal.message);
  }

  // Returns a function that empties the form, unless the person is typing the next timer by then.
  function clearing() {
    const typed = textOf(elements);
    const focused = document.activeElement;
    return () => {
      if (textOf(elements) === typed) {
        form.reset();
        showReading();
        if (form.contains(focused) && focused.type !== "button" && document.activeElement === focused) {
          elements.duration.focus({ preventScroll: true });
        }
      }
    };
  }

  // Shows what the duration means: a plain 25 is in seconds, which not everybody expects. The time left until a time of
  // day changes with each second.
  function showReading() {
    const typed = elements.duration.value;
    let seconds = null;
    try {
      seconds = typed === "" ? null : parseDuration(typed, session.wallTime(session.now()));
    } catch (error) {
      // The text may be half typed.
    }
    const shown = isUntil(typed) ? Math.ceil(seconds) : seconds;
    setText(reading, seconds === null ? "" : "= " + inWords(shown));
  }

  function announceReading() {
    if (reading.textContent !== "") {
      announce(reading.textContent);
    }
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

// "1 h 30 min"
function inWords(seconds) {
  const whole = Math.round(seconds * 1000) / 1000;
  const parts = [["new.hours", Math.floor(whole / 3600)], ["preset.minutes", Math.floor(whole / 60) % 60],
    ["new.seconds", Math.round(whole % 60 * 1000) / 1000]];
  return parts.filter(([, n]) => n > 0).map(([key, n]) => t(key, { n })).join(" ");
}

// A name with the lowest number that is free.
function numberedName(session) {
  let n = 1;
  while (session.state(t("new.numbered", { n })) !== undefined) {
    n += 1;
  }
  return t("new.numbered", { n });
}
