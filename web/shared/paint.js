// Paints each watched timer, and paints it again whenever what it shows changes. One timeout serves all.

import { masked, reading, shownSeconds } from "../countdown.js";

const LONGEST_WAIT = 30; // seconds, like every time here
const MANY = 12;
const BATCH = 0.1; // two hundred timers would else repaint the page two hundred times a second

export class PaintScheduler {
  constructor(session) {
    this.session = session;
    this.watchers = new Set();
    this.timeout = null;
  }

  // Calls `show(state, reading)`, or `show(null, null)` for none. Returns a function that ends this.
  add(name, show) {
    const watcher = { name, show, due: Infinity, last: null };
    this.watchers.add(watcher);
    this.paint(watcher);
    this.plan();
    return () => { this.watchers.delete(watcher); };
  }

  paintAll() {
    this.paintWhere(() => true);
  }

  paintNamed(name) {
    this.paintWhere((watcher) => watcher.name === name);
  }

  // — inside —

  paintWhere(isWanted) {
    this.session.checkSleep();
    this.watchers.forEach((watcher) => {
      if (isWanted(watcher)) {
        this.paint(watcher);
      }
    });
    this.plan();
  }

  paint(watcher) {
    const { clock, isComplete, isInDoubt } = this.session;
    const state = this.session.state(watcher.name);
    watcher.due = Infinity;
    if (state === undefined) {
      watcher.last = null;
      if (isComplete) {
        watcher.show(null, null);
      }
    } else if (clock.offset !== null) {
      const now = reading(state, clock.now());
      if (now.changesIn !== null) {
        watcher.due = clock.monotonic() + Math.min(now.changesIn, clock.isSlewing ? BATCH : LONGEST_WAIT);
      }
      const shown = withoutGoingBack(watcher, state, now);
      watcher.show(state, isInDoubt && state.status === "running" ? masked(shown) : shown);
    }
  }

  // With many timers, those that are due close together are painted together.
  plan() {
    const instants = Array.from(this.watchers, (watcher) => watcher.due).filter(isFinite);
    clearTimeout(this.timeout);
    if (instants.length > 0) {
      const { clock } = this.session;
      const grain = instants.length > MANY ? BATCH : 0.001;
      const next = Math.ceil(Math.min(...instants) / grain) * grain;
      const paintDue = () => { this.paintWhere((watcher) => watcher.due <= clock.monotonic()); };
      this.timeout = setTimeout(paintDue, Math.ceil(1000 * (next - clock.monotonic())));
    }
  }
}

// A clock that is set back by less than a second waits: no second is counted twice.
function withoutGoingBack(watcher, state, shown) {
  const last = watcher.last;
  const seconds = shownSeconds(shown.time, state.type);
  const direction = state.type === "stopwatch" ? 1 : -1;
  const isSameRun = last !== null && state.status === "running" && last.revision === state.revision;
  if (isSameRun && (seconds - last.seconds) * direction === -1) {
    return Object.assign({}, shown, { text: last.text });
  }
  watcher.last = { revision: state.revision, seconds, text: shown.text };
  return shown;
}
