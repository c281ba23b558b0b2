// Finds the run of a timer that was on the screen at a given instant. A press is about that run: one that started while
// the press was on its way is somebody else's. This file has no DOM.

const KEPT = 8; // runs of one timer; a press is a second old at most

// 0 for no timer and for a timer without a run; undefined when the server does not say.
export function runOf(state) {
  return !state || state.run === null || state.status === "idle" ? 0 : state.run;
}

export class RunHistory {
  // `session` reports the changes of its timers.
  constructor(session) {
    this.session = session;
    this.runs = new Map(); // name → [{run, from}], the latest last
    session.client.timers.forEach((state, timer) => { this.record(timer, -Infinity); });
    session.on("timer", (event) => { this.record(event.state.timer, session.clock.monotonic()); });
    session.on("removed", (event) => { this.record(event.timer, session.clock.monotonic()); });
  }

  // The run on the screen at that instant of the local clock.
  at(timer, instant) {
    const earlier = (this.runs.get(timer) || []).filter((entry) => entry.from <= instant);
    return earlier.length > 0 ? earlier[earlier.length - 1].run : 0;
  }

  // — inside —

  record(timer, from) {
    const entries = this.runs.get(timer) || [];
    const run = runOf(this.session.state(timer));
    if (entries.length === 0 || entries[entries.length - 1].run !== run) {
      this.runs.set(timer, entries.concat([{ run, from }]).slice(-KEPT));
    }
  }
}
