// Which run of a timer a person saw. A press is about that one: a run that was started while the press was on its way
// is another's. No DOM.

const KEPT = 8; // of one timer; a press is a second old at most

// 0 for a timer without a run, and for none; undefined when the server does not say.
export function runOf(state) {
  return state === undefined || state.run === null || state.status === "idle" ? 0 : state.run;
}

export class Runs {
  // From now on, by what the session tells of its timers.
  constructor(session) {
    this.session = session;
    this.seen = new Map(); // name → [{run, from}], the latest last
    session.client.timers.forEach((state, timer) => { this.note(timer, -Infinity); });
    session.on("timer", (event) => { this.note(event.state.timer, session.clock.monotonic()); });
    session.on("removed", (event) => { this.note(event.timer, session.clock.monotonic()); });
  }

  // The one that stood here at that instant of the local clock.
  at(timer, instant) {
    const seen = (this.seen.get(timer) || []).filter((entry) => entry.from <= instant);
    return seen.length > 0 ? seen[seen.length - 1].run : 0;
  }

  // — inside —

  note(timer, from) {
    const entries = this.seen.get(timer) || [];
    const run = runOf(this.session.state(timer));
    if (entries.length === 0 || entries[entries.length - 1].run !== run) {
      this.seen.set(timer, entries.concat([{ run: run, from: from }]).slice(-KEPT));
    }
  }
}
