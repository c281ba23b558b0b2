// What a display shows. Pure functions: no DOM, no socket, and time is an argument.

// Halves go away from zero. The wire carries microseconds and a binary fraction does not
// hold them exactly, so round to those first: 299.9995 s is then half a millisecond for sure.
export function wholeMilliseconds(seconds) {
  const milliseconds = Math.round(Math.round(Math.abs(seconds) * 1e6) / 1e3);
  return seconds < 0 ? 0 - milliseconds : milliseconds;
}

// A countdown's whole seconds go up (its first second is the full one, zero is exactly
// zero), a stopwatch's go down.
export function shownSeconds(seconds, type) {
  const milliseconds = wholeMilliseconds(seconds);
  const whole = type === "stopwatch" ? Math.floor(milliseconds / 1000) : Math.ceil(milliseconds / 1000);
  return whole === 0 ? 0 : whole; // -0 is no number to show
}

export function displayText(seconds, type) {
  const shown = shownSeconds(seconds, type);
  const whole = Math.abs(shown);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const tail = twoDigits(whole % 60);
  const text = hours > 0 ? hours + ":" + twoDigits(minutes) + ":" + tail : minutes + ":" + tail;
  return shown < 0 ? "-" + text : text;
}

// How long the shown text stays as it is while the timer runs.
export function secondsUntilChange(seconds, type) {
  const shown = shownSeconds(seconds, type);
  return type === "stopwatch" ? shown + 1 - seconds : seconds - (shown - 1);
}

// A screen whose clock is a little behind must not take time back that the server has
// counted already: a countdown of 5:00 would begin with 5:01.
export function elapsedAt(state, serverNow) {
  if (state.status !== "running") {
    return state.elapsedTime;
  }
  return state.elapsedTime + Math.max(0, serverNow - state.lastElapsedTimeCalculatedAt);
}

// Only overtime goes below zero. With every other policy the server decides what happens
// at zero, so the display waits there until it is told.
export function timeAt(state, serverNow) {
  const elapsed = elapsedAt(state, serverNow);
  if (state.type === "stopwatch") {
    return elapsed;
  }
  const left = state.duration - elapsed;
  return waitsAtZero(state) ? Math.max(0, left) : left;
}

// What a screen shows of one timer at one instant. `changesIn` is the time until
// the text changes by itself, null when it does not.
export function reading(state, serverNow) {
  const time = timeAt(state, serverNow);
  return {
    time: time,
    text: displayText(time, state.type),
    status: state.status,
    level: level(state, time),
    fraction: fraction(state, time),
    changesIn: changesIn(state, time)
  };
}

// The same without digits, for a moment in which none could be vouched for.
export function masked(shown) {
  return Object.assign({}, shown, { text: shown.text.replace(/[0-9]/g, "–"), isMasked: true });
}

function twoDigits(number) {
  return number < 10 ? "0" + number : String(number);
}

function waitsAtZero(state) {
  return state.status === "running" && state.atZero !== undefined && state.atZero !== "overtime";
}

function changesIn(state, time) {
  if (state.status !== "running" || (time === 0 && state.type === "timer" && waitsAtZero(state))) {
    return null;
  }
  return secondsUntilChange(time, state.type);
}

// "overtime" from zero on, "urgent" at the last of several warnings, "warning" at the first.
function level(state, time) {
  if (state.type === "stopwatch" || state.status === "idle") {
    return "calm";
  }
  const milliseconds = wholeMilliseconds(time);
  if (milliseconds <= 0) {
    return "overtime";
  }
  const passed = (state.warnings || []).filter((warning) => {
    return milliseconds <= wholeMilliseconds(warning);
  });
  if (passed.length === 0) {
    return "calm";
  }
  return passed.length > 1 && passed.length === state.warnings.length ? "urgent" : "warning";
}

// How much of a countdown is left, 0 to 1; null for a stopwatch, which has no end.
function fraction(state, time) {
  if (state.type === "stopwatch" || !(state.duration > 0)) {
    return null;
  }
  return Math.min(1, Math.max(0, time / state.duration));
}
