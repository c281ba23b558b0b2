// The text and time that a display shows, by pure functions: no DOM, no socket, and time is an argument in seconds.

// Halves round away from zero. Binary fractions don't hold the wire's microseconds exactly, so those come first:
// 299.9995 s is then half a millisecond for sure.
export function wholeMilliseconds(seconds) {
  const milliseconds = Math.round(Math.round(Math.abs(seconds) * 1e6) / 1e3);
  return seconds < 0 ? 0 - milliseconds : milliseconds;
}

// A countdown rounds up (its first second is the full one, zero is exactly zero), a stopwatch rounds down.
export function shownSeconds(seconds, type) {
  const milliseconds = wholeMilliseconds(seconds);
  const whole = type === "stopwatch" ? Math.floor(milliseconds / 1000) : Math.ceil(milliseconds / 1000);
  return whole === 0 ? 0 : whole; // never -0
}

export function displayText(seconds, type) {
  const shown = shownSeconds(seconds, type);
  const whole = Math.abs(shown);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const text = (hours > 0 ? hours + ":" + twoDigits(minutes) : minutes) + ":" + twoDigits(whole % 60);
  return shown < 0 ? "-" + text : text;
}

// The seconds until a running timer's text changes.
export function secondsUntilChange(seconds, type) {
  const shown = shownSeconds(seconds, type);
  return type === "stopwatch" ? shown + 1 - seconds : seconds - (shown - 1);
}

// A clock that is a little behind must not take back time that the server has counted: 5:00 would begin as 5:01.
export function elapsedAt(state, serverNow) {
  const since = state.status === "running" ? Math.max(0, serverNow - state.lastElapsedTimeCalculatedAt) : 0;
  return state.elapsedTime + since;
}

// Only overtime goes below zero. Otherwise the server decides what happens at zero, and the display waits there for it.
export function timeAt(state, serverNow) {
  const elapsed = elapsedAt(state, serverNow);
  if (state.type === "stopwatch") {
    return elapsed;
  }
  const left = state.duration - elapsed;
  return waitsAtZero(state) ? Math.max(0, left) : left;
}

// The time and text that a screen shows of one timer at one instant. `changesIn` is the time until the text changes by
// itself, null when it doesn't.
export function reading(state, serverNow) {
  const time = timeAt(state, serverNow);
  return {
    time,
    text: displayText(time, state.type),
    status: state.status,
    level: level(state, time),
    fraction: fraction(state, time),
    changesIn: changesIn(state, time)
  };
}

// The same without digits, for when none is certain.
export function masked(shown) {
  return Object.assign({}, shown, { text: shown.text.replace(/[0-9]/g, "–"), isMasked: true });
}

function twoDigits(number) {
  return String(number).padStart(2, "0");
}

function waitsAtZero(state) {
  return state.status === "running" && state.atZero !== undefined && state.atZero !== "overtime";
}

function changesIn(state, time) {
  const isOver = time === 0 && state.type === "timer" && waitsAtZero(state);
  return state.status !== "running" || isOver ? null : secondsUntilChange(time, state.type);
}

// "overtime" from zero on, "urgent" from the last of several warnings, "warning" from the first.
function level(state, time) {
  if (state.type === "stopwatch" || state.status === "idle") {
    return "calm";
  }
  const milliseconds = wholeMilliseconds(time);
  const warnings = state.warnings || [];
  const passed = warnings.filter((warning) => milliseconds <= wholeMilliseconds(warning)).length;
  if (milliseconds <= 0) {
    return "overtime";
  }
  return passed === 0 ? "calm" : passed > 1 && passed === warnings.length ? "urgent" : "warning";
}

// The rest of a countdown, 0 to 1; null for a stopwatch, which has no end.
function fraction(state, time) {
  if (state.type === "stopwatch" || !(state.duration > 0)) {
    return null;
  }
  return Math.min(1, Math.max(0, time / state.duration));
}
