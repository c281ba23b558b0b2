// How to take back the last change. No DOM: what was before and what came of it in, the opposite command out.
//
// The server keeps no history. What a command threw away (the final state that a start replaced, a finished run) it
// can't bring back, and this page does not pretend to.

import { elapsedAt } from "../countdown.js";

// `before` is the state at the press (undefined when there was none), `after` the one in the reply, `fields` what was asked
// for. {command, fields}, to be sent with `ifRevision: after.revision`, or null for what can't be undone.
export function opposite(command, fields, before, after) {
  const reply = after || {};
  if (command === "start") {
    return unstart(before, reply);
  }
  if (before === undefined) {
    return null; // somebody had started it, which was not known here yet
  }
  switch (command) {
    case "pause": return { command: "resume", fields: {} };
    case "resume": return { command: "pause", fields: {} };
    case "addRemainingTime":
    case "addElapsedTime": return takeBack(command, fields.seconds, before, reply);
    case "update": return { command: "update", fields: earlier(fields, before) };
    case "message": return { command: "message", fields: { text: before.message ? before.message.text : "" } };
    case "signal": return unsignal(before, reply);
    default: return null; // finish, finishAll, reset, remove, lap
  }
}

// A name that nobody had used is forgotten again; a timer that was ready is ready again, if it is still the same.
function unstart(before, after) {
  if (before === undefined) {
    return { command: "remove", fields: {} };
  }
  const isSame = before.status === "idle" && before.type === after.type && before.title === after.title &&
    before.atZero === after.atZero && String(before.warnings) === String(after.warnings) &&
    (before.type === "stopwatch" || before.duration === after.duration);
  return isSame ? { command: "reset", fields: {} } : null;
}

// A countdown that was brought to its end can't be wound back. Where zero was reached, or a stopwatch's last lap, `clamp`
// may have taken less than was asked for; elsewhere the amount is what was asked, whoever else added something meanwhile.
function takeBack(command, asked, before, after) {
  const least = (after.laps || []).slice(-1)[0] || 0;
  const isWhole = command === "addRemainingTime" ? after.time > 0 : after.elapsedTime > least;
  const added = isWhole ? asked : command === "addRemainingTime" ? after.addedTime - before.addedTime :
    least - elapsedAt(before, after.lastElapsedTimeCalculatedAt);
  const seconds = Math.round(-added * 1e6) / 1e6;
  return after.status !== before.status || seconds === 0 ? null : { command: command, fields: { seconds: seconds } };
}

function earlier(fields, before) {
  return ["title", "warnings", "atZero"].reduce(function (old, name) {
    if (fields[name] !== undefined) {
      old[name] = before[name];
    }
    return old;
  }, {});
}

// A flash is over by itself.
function unsignal(before, after) {
  const was = before.signal && before.signal.kind === "blackout" ? "blackout" : "none";
  const is = after.signal ? after.signal.kind : "none";
  return is === "flash" || is === was ? null : { command: "signal", fields: { signal: was } };
}
