// The order of the dashboard's timers, and which of them a search finds. This file has no DOM, and time is an argument.

import { timeAt } from "../countdown.js";
import { isActive, isRunning, titleOf } from "../shared/timer.js";
import { plainText } from "../shared/typed.js";

const RANK = { running: 1, paused: 2, idle: 3, finished: 4 };

// A new list, sorted by "name", "time" or "status". Equal timers are in the order of their titles, so that none jumps
// about.
export function sorted(states, order, serverNow) {
  const keyed = states.map((state) => ({ state, key: sortKey(state, order, serverNow) }));
  keyed.sort((one, other) => one.key - other.key || compareTitles(one.state, other.state));
  return keyed.map(({ state }) => state);
}

// Each word of the search has to be somewhere in the name or the title.
export function matches(state, search) {
  const text = normalized(state.timer + " " + (state.title || ""));
  return normalized(search).split(/\s+/).every((word) => text.includes(word));
}

// — inside —

function sortKey(state, order, serverNow) {
  if (order === "time") {
    return timeLeft(state, serverNow);
  }
  return order === "status" ? rank(state, serverNow) : 0;
}

// Overtime comes first. A stopwatch has no end and comes after all timers that have one.
function timeLeft(state, serverNow) {
  if (!isActive(state)) {
    return state.status === "idle" ? 2e9 : 3e9;
  }
  return state.type === "stopwatch" ? 1e9 : timeAt(state, serverNow);
}

function rank(state, serverNow) {
  const isOver = isRunning(state) && state.type === "timer" && timeAt(state, serverNow) <= 0;
  return isOver ? 0 : RANK[state.status];
}

// "Kitchen 2" comes before "Kitchen 10". Equal titles are in the order of their names.
function compareTitles(one, other) {
  const [first, second] = [one, other].map((state) => titleOf(state, state.timer));
  const compared = first.localeCompare(second, undefined, { numeric: true, sensitivity: "base" });
  return compared || (one.timer < other.timer ? -1 : one.timer > other.timer ? 1 : 0);
}

// Without capitals and accents, and with Latin digits.
function normalized(text) {
  return plainText(text).normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase().trim();
}
