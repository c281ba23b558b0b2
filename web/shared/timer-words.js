// The words of the dashboard, the remote control and a display's controls for a timer.

import { define, t } from "../languages/language.js";
import { timeOfDay } from "./time-of-day.js";
import { isBlackout, isOvertime, isRunning, lapsOf, primaryCommand, statusOf } from "./timer.js";

define({
  "card.running": "Running",
  "card.paused": "Paused",
  "card.idle": "Ready",
  "card.finished": "Finished",
  "card.overtime": "Overtime",
  "card.ends": "ends at {time}",
  "card.ended": "ended at {time}",
  "card.laps": { one: "{n} lap", other: "{n} laps" },
  "card.dark": "screens blacked out",
  "card.time": "Time of {name}",
  "press.start": "Start",
  "press.again": "Start again",
  "press.stopwatch": "Start as a stopwatch",
  "press.pause": "Pause",
  "press.resume": "Resume",
  "press.lap": "Lap",
  "press.minutes": "{sign}{n} min",
  "press.seconds": "{sign}{n} s"
});

const DAY = 86400; // seconds

export function statusWords(state, shown) {
  return t(isOvertime(state, shown) ? "card.overtime" : "card." + state.status);
}

// The label of the first button.
export function primaryWords(state) {
  const label = { unknown: "stopwatch", finished: "again" }[statusOf(state)];
  return t("press." + (label || primaryCommand(state)));
}

// "+1 min", "−10 s"
export function stepWords(seconds) {
  const sign = seconds < 0 ? "−" : "+";
  const size = Math.abs(seconds);
  return size < 60 ? t("press.seconds", { sign, n: size }) : t("press.minutes", { sign, n: size / 60 });
}

// The line beside the time: a blackout, a message, laps, and when the timer ends. `wallOffset` is the wall clock minus
// the server's clock.
export function noteWords(state, shown, wallOffset) {
  return [
    isBlackout(state) ? t("card.dark") : "",
    state.message ? "“" + state.message.text.replace(/\s+/g, " ") + "”" : "",
    state.laps ? t("card.laps", { n: lapsOf(state).length }) : "",
    isRunning(state) && state.type === "timer" ? endWords(state, shown, wallOffset) : ""
  ].filter(Boolean).join(" · ");
}

// The data-length by which style sheets choose the size of digits.
export function lengthOf(text) {
  return text.length > 7 ? "long" : text.length > 5 ? "middle" : "short";
}

// In the viewer's time zone.
function endWords(state, shown, wallOffset) {
  const endsAt = state.lastElapsedTimeCalculatedAt + state.duration - state.elapsedTime + wallOffset;
  // A time of day alone would be taken for the next one.
  const day = Math.abs(shown.time) >= DAY ? { weekday: "short", day: "numeric", month: "short" } : {};
  const time = timeOfDay(endsAt, Object.assign({ hour: "numeric", minute: "2-digit" }, day));
  return t(shown.level === "overtime" ? "card.ended" : "card.ends", { time });
}
