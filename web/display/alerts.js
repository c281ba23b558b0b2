// What happens on the way of a countdown, and when.

import { define, t } from "../languages/language.js";

const SPOKEN = [300, 60, 10, 0]; // seconds left that are worth a word
const TRUE_FOR = 2; // seconds in which "one minute left" may still be said
const DAY = 86400; // browsers wait for less than 25

define({
  "alert.zero": "time is up",
  "alert.minutes": { one: "{n} minute left", other: "{n} minutes left" },
  "alert.seconds": { one: "{n} second left", other: "{n} seconds left" }
});

// {state, left, at, isSpoken} for each moment to come, the next one first. `at` is reckoned from
// the state alone, on the server's clock, so that a late message moves nothing.
export function upcoming(states, serverNow) {
  return states.reduce((all, state) => all.concat(moments(state)), [])
    .filter((moment) => moment.at > serverNow)
    .sort((one, other) => one.at - other.at);
}

// Tells of moments as they come.
export class Bell {
  // `now()` on the server's clock. `reach(moments)`: those that have just come.
  constructor(now, reach) {
    this.now = now;
    this.reach = reach;
    this.moments = [];
    this.reached = new Map(); // what → at
  }

  // These, from now on. What is due by now comes first: the state that the server tells at zero may
  // be here before we have waited to the end, and it knows of no zero.
  plan(moments) {
    this.ring();
    this.moments = moments;
    this.wait();
  }

  // — inside —

  wait() {
    clearTimeout(this.end);
    if (this.moments.length > 0) {
      const left = Math.min(this.moments[0].at - this.now(), DAY);
      this.end = setTimeout(this.ring.bind(this), Math.ceil(left * 1000));
    }
  }

  ring() {
    const now = this.now();
    const due = this.moments.filter((moment) => moment.at <= now);
    this.moments = this.moments.slice(due.length);
    const fresh = due.filter((moment) => {
      const what = moment.left + "/" + moment.state.timer;
      const isAgain = moment.at - this.reached.get(what) < 1; // the clock was set back
      this.reached.set(what, moment.at);
      return !isAgain && now - moment.at < TRUE_FOR;
    });
    if (fresh.length > 0) {
      this.reach(fresh);
    }
    this.wait();
  }
}

export function inWords(moment) {
  const left = moment.left;
  const words = left === 0 ? t("alert.zero")
    : left % 60 === 0 ? t("alert.minutes", { n: left / 60 }) : t("alert.seconds", { n: left });
  return (moment.state.title || moment.state.timer) + ": " + words;
}

function moments(state) {
  if (state.type === "stopwatch" || state.status !== "running") {
    return [];
  }
  const zero = state.lastElapsedTimeCalculatedAt + state.duration - state.elapsedTime;
  return SPOKEN.concat(state.warnings || [])
    .filter((left, index, all) => all.indexOf(left) === index && left < state.duration)
    .map((left) => {
      return { state: state, left: left, at: zero - left, isSpoken: SPOKEN.indexOf(left) >= 0 };
    });
}
