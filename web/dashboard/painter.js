// One timer of the browser paints all timers of the dashboard. Each has its own instant at which its text changes;
// when there are many, those that are due close together are painted together.

import { masked, reading } from "../countdown.js";
import { withoutGoingBack } from "../shared/control-session.js";

const MOST_DELAY = 30; // seconds, like every time here
const MANY = 12;
const TOGETHER = 0.1; // two hundred timers would else repaint the page two hundred times a second

export class Painter {
  constructor(session) {
    this.session = session;
    this.entries = new Map(); // name → {name, show, due, last}
    this.alarm = null;
    const painter = this;
    session.on("clock", function () { painter.paintAll(); });
    session.on("link", function () { painter.paintAll(); });
    session.on("beat", function () {
      if (session.isInDoubt) {
        painter.paintAll();
      }
    });
    document.addEventListener("visibilitychange", function () { painter.paintAll(); });
  }

  // `show(state, reading, wallOffset)` is called now and whenever what is shown changes.
  add(name, show) {
    this.entries.set(name, { name: name, show: show, due: null, last: null });
  }

  remove(name) {
    this.entries.delete(name);
  }

  paintNow(name) {
    this.paint(this.entries.get(name));
    this.plan();
  }

  paintAll() {
    this.entries.forEach(this.paint, this);
    this.plan();
  }

  // — inside —

  paint(entry) {
    const session = this.session;
    const state = session.state(entry.name);
    entry.due = null;
    if (state === undefined || session.clock.offset === null) {
      return;
    }
    const shown = reading(state, session.clock.now());
    if (shown.changesIn !== null) {
      const delay = Math.min(shown.changesIn, session.clock.isSlewing ? TOGETHER : MOST_DELAY);
      entry.due = session.clock.monotonic() + delay;
    }
    const isDoubtful = session.isInDoubt && state.status === "running";
    entry.show(state, isDoubtful ? masked(shown) : withoutGoingBack(entry, state, shown), session.client.wallOffset);
  }

  plan() {
    let first = Infinity;
    let count = 0;
    this.entries.forEach(function (entry) {
      if (entry.due !== null) {
        first = Math.min(first, entry.due);
        count += 1;
      }
    });
    clearTimeout(this.alarm);
    if (count > 0) {
      const at = count > MANY ? Math.ceil(first / TOGETHER) * TOGETHER : first;
      const delay = Math.max(0, at - this.session.clock.monotonic());
      this.alarm = setTimeout(this.ring.bind(this), Math.ceil(delay * 1000));
    }
  }

  ring() {
    this.session.watchSleep();
    const now = this.session.clock.monotonic();
    this.entries.forEach(function (entry) {
      if (entry.due !== null && entry.due <= now) {
        this.paint(entry);
      }
    }, this);
    this.plan();
  }
}
