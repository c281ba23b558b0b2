// Finds the command that undoes a change, from the states before and after. This file has no DOM.
//
// The server keeps no history. What a command threw away (the final state that a start replaced, a finished run) can't
// be restored, so there is no opposite for it.

import { elapsedAt } from "../countdown.js";
import { isBlackout } from "./timer.js";

// `before` is the state at the press, undefined for none, `after` the one in the reply, and `fields` the command's. The
// result is {command, fields}, to be sent with `ifRevision: after.revision`, or null for what can't be undone.
export function opposite(command, fields, before, after) {
  const reply = after || {};
  if (command === "start") {
    return undoStart(before, reply);
  }
  if (before === undefined) {
    return null; // somebody had started it, which was not known here yet
  }
  switch (command) {
    case "pause": return { command: "resume", fields: {} };
    case "resume": return { command: "pause", fields: {} };
    case "addRemainingTime":
    case "addElapsedTime": return undoAddedTime(command, fields.seconds, before, reply);
    case "update": return { command: "update", fields: earlier(fields, before) };
    case "message": return { command: "message", fields: { text: before.message ? before.message.text : "" } };
    case "signal": return undoSignal(before, reply);
    default: return null; // finish, finishAll, reset, remove, lap
  }
}

// A new timer is removed again. A timer that was ready becomes ready again, if the start changed none of its settings.
function undoStart(before, after) {
  if (before === undefined) {
    return { command: "remove", fields: {} };
  }
  const isSame = before.status === "idle" && before.type === after.type && before.title === after.title &&
    before.atZero === after.atZero && String(before.warnings) === String(after.warnings) &&
    (before.type === "stopwatch" || before.duration === after.duration);
  return isSame ? { command: "reset", fields: {} } : null;
}

// A countdown that was brought to its end can't be wound back. At zero, or at a stopwatch's last lap, `clamp` may have
// changed less than was asked for. Elsewhere the amount is what was asked, whatever somebody else has added since.
function undoAddedTime(command, asked, before, after) {
  const least = (after.laps || []).slice(-1)[0] || 0;
  const isWhole = command === "addRemainingTime" ? after.time > 0 : after.elapsedTime > least;
  const added = isWhole ? asked : command === "addRemainingTime" ? after.addedTime - before.addedTime :
    least - elapsedAt(before, after.lastElapsedTimeCalculatedAt);
  const seconds = Math.round(-added * 1e6) / 1e6;
  return after.status !== before.status || seconds === 0 ? null : { command, fields: { seconds } };
}

function earlier(fields, before) {
  const changed = ["title", "warnings", "atZero"].filter((name) => fields[name] !== undefined);
  return changed.reduce((old, name) => Object.assign(old, { [name]: before[name] }), {});
}

// A flash ends by itself.
function undoSignal(before, after) {
  const was = isBlackout(before) ? "blackout" : "none";
  const is = after.signal ? after.signal.kind : "none";
  return is === "flash" || is === was ? null : { command: "signal", fields: { signal: was } };
}
