// In which order the dashboard shows its timers, and which of them a search finds. No DOM; time is an argument.

import { timeAt } from "../countdown.js";

export const ORDERS = ["name", "time", "status"];
const RANK = { running: 1, paused: 2, idle: 3, finished: 4 };

// A new list, sorted. Equal ones are in the order of their names, so that nothing jumps about.
export function sorted(states, order, serverNow) {
  const keys = states.map(function (state) { return { state: state, key: key(state, order, serverNow) }; });
  return keys.sort(function (one, other) {
    return one.key - other.key || byName(one.state, other.state);
  }).map(function (keyed) { return keyed.state; });
}

// Every word that was typed stands in the name or in the title, wherever.
export function matches(state, search) {
  const text = plain(state.timer + " " + (state.title || ""));
  return plain(search).split(/\s+/).every(function (word) { return text.indexOf(word) >= 0; });
}

// — inside —

function key(state, order, serverNow) {
  if (order === "time") {
    return timeLeft(state, serverNow);
  }
  return order === "status" ? rank(state, serverNow) : 0;
}

// What is over first, then what will be; a stopwatch has no end and comes after all that have one.
function timeLeft(state, serverNow) {
  const isRun = state.status === "running" || state.status === "paused";
  if (!isRun) {
    return state.status === "idle" ? 2e9 : 3e9;
  }
  return state.type === "stopwatch" ? 1e9 : timeAt(state, serverNow);
}

function rank(state, serverNow) {
  const isOver = state.status === "running" && state.type === "timer" && timeAt(state, serverNow) <= 0;
  return isOver ? 0 : RANK[state.status];
}

// "Kitchen 2" before "Kitchen 10", and names that only look alike in a settled order too.
function byName(one, other) {
  const compared = shown(one).localeCompare(shown(other), undefined, { numeric: true, sensitivity: "base" });
  return compared || (one.timer < other.timer ? -1 : one.timer > other.timer ? 1 : 0);
}

function shown(state) {
  return state.title || state.timer;
}

// Without capitals and accents.
function plain(text) {
  return text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase().trim();
}
