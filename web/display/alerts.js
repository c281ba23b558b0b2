// The alerts on the way of a countdown.

import { define, t } from "../languages/language.js";
import { isRunning, titleOf } from "../shared/timer.js";

const SPOKEN = [300, 60, 10, 0]; // seconds left that are announced
const TRUE_FOR = 2; // seconds in which "one minute left" is still true
const DAY = 86400; // browsers wait for less than 25 days

define({
  "alert.zero": "time is up",
  "alert.minutes": { one: "{n} minute left", other: "{n} minutes left" },
  "alert.seconds": { one: "{n} second left", other: "{n} seconds left" }
});

// {state, left, at, isSpoken} for each alert to come, the next one first. `at` follows from the state alone, on the
// server's clock, so that a late message moves no alert.
export function upcoming(states, serverNow) {
  return [].concat(...states.map(alertsOf))
    .filter((alert) => alert.at > serverNow)
    .sort((one, other) => one.at - other.at);
}

// The alerts to come of these timers.
export function alertsToCome(session, timers) {
  return upcoming(timers.map((name) => session.state(name)).filter(Boolean), session.now());
}

export function onAlertsChange(session, listener) {
  ["timer", "removed", "clock"].forEach((type) => { session.on(type, listener); });
}

export class AlertScheduler {
  // Calls `onAlerts(alerts)` with those that have just come.
  constructor(session, onAlerts) {
    this.session = session;
    this.onAlerts = onAlerts;
    this.alerts = [];
    this.reached = new Map(); // "left/timer" → at
  }

  // Replaces the planned alerts. Those that are due come first: the server's state at zero, which has none, may be
  // quicker than our timeout.
  plan(alerts) {
    this.ring();
    this.alerts = alerts;
    this.wait();
  }

  // — inside —

  wait() {
    clearTimeout(this.timeout);
    if (this.alerts.length > 0) {
      const left = Math.min(this.alerts[0].at - this.session.certainNow(), DAY);
      this.timeout = setTimeout(() => { this.ring(); }, Math.ceil(left * 1000));
    }
  }

  ring() {
    const now = this.session.certainNow();
    const due = this.alerts.filter((alert) => alert.at <= now);
    this.alerts = this.alerts.slice(due.length);
    const fresh = due.filter((alert) => {
      const key = alert.left + "/" + alert.state.timer;
      const isRepeated = alert.at - this.reached.get(key) < 1; // the clock was set back
      this.reached.set(key, alert.at);
      return !isRepeated && now - alert.at < TRUE_FOR;
    });
    if (fresh.length > 0) {
      this.onAlerts(fresh);
    }
    this.wait();
  }
}

export function inWords({ left, state }) {
  const words = left === 0 ? t("alert.zero")
    : left % 60 === 0 ? t("alert.minutes", { n: left / 60 }) : t("alert.seconds", { n: left });
  return titleOf(state, state.timer) + ": " + words;
}

function alertsOf(state) {
  if (state.type === "stopwatch" || !isRunning(state)) {
    return [];
  }
  const zero = state.lastElapsedTimeCalculatedAt + state.duration - state.elapsedTime;
  return Array.from(new Set(SPOKEN.concat(state.warnings || [])))
    .filter((left) => left < state.duration)
    .map((left) => ({ state, left, at: zero - left, isSpoken: SPOKEN.includes(left) }));
}
