// One page's tie to the server: client, clock, token, and what each watched timer shows when.
// Nothing of what it looks like.

import { socketURL, token } from "./page.js";
import { ServerClock } from "../client/clock.js";
import { masked, reading, shownSeconds } from "../countdown.js";
import { trouble } from "./freshness.js";

const MOST_DELAY = 30; // seconds
const DOUBT_FOR = 1000; // milliseconds for which digits are masked at most

export class Watch {
  // `Client`: the protocol client's class. `timers`: as for `subscribe`.
  constructor(Client, timers) {
    this.clock = new ServerClock();
    this.token = token;
    this.listeners = {};
    this.watchers = [];
    this.refusal = null; // why the server lets no socket in, as far as it says
    this.doubts = 0;
    this.client = new Client({
      url: socketURL(),
      token: token,
      clock: this.clock,
      timers: timers,
      listener: this.hear.bind(this)
    });
  }

  get isOnline() { return this.client.isOnline; }
  get isComplete() { return this.client.isComplete; } // the server has said what there is
  get mayControl() { return this.client.mayControl; }
  get role() { return this.client.role; }

  // Now on the server's clock; null before the server has said anything.
  now() {
    return this.clock.offset === null ? null : this.clock.now();
  }

  // For what is said once: nothing has come by a clock in doubt.
  sureNow() {
    this.watchSleep();
    return this.isInDoubt ? -Infinity : this.now();
  }

  // undefined for a name that nobody has started.
  state(name) {
    return this.client.timers.get(name);
  }

  // Why what is shown may not be fresh; null when there is nothing to say.
  trouble() {
    return trouble(this.client, this.refusal);
  }

  // type: "timer" {state, cause}, "removed" {timer}, "clock", "link" (also for the role and the
  // completeness) or "beat" (each second).
  // Gives a function that ends this.
  on(type, listener) {
    const all = this.listeners[type] = this.listeners[type] || [];
    all.push(listener);
    return () => { all.splice(all.indexOf(listener), 1); };
  }

  // Calls `show(state, reading)` now and whenever what is shown changes, by itself or not;
  // `show(null, null)` when nobody has started it.
  watch(name, show) {
    const watcher = { name: name, show: show, next: null, last: null };
    this.watchers.push(watcher);
    this.paint(watcher);
  }

  start() {
    const wake = () => { this.wake(); };
    window.addEventListener("online", () => { this.client.hurry(); });
    window.addEventListener("pageshow", wake);
    document.addEventListener("visibilitychange", wake);
    document.addEventListener("resume", wake);
    setInterval(() => { this.beat(); }, 1000);
    window.timersync = this.clock; // for a look at its offset
    this.client.connect();
  }

  // — what happens —

  hear(event) {
    switch (event.type) {
      case "timer": this.paintNamed(event.state.timer); break;
      case "removed": this.paintNamed(event.timer); break;
      case "clock": this.paintAll(); break;
      case "unheard": this.askWhy(); return;
    }
    this.tell(event);
    if (event.type === "link") {
      this.paintAll(); // the first complete answer may be that there is nothing
    }
  }

  tell(event) {
    (this.listeners[event.type] || []).slice().forEach((listener) => { listener(event); });
  }

  wake() {
    if (document.visibilityState === "visible") {
      this.watchSleep();
      this.client.hurry();
      this.hear({ type: "link" });
    }
  }

  // Ages, and a sleep that no repaint has noticed because nothing runs.
  beat() {
    this.watchSleep();
    this.tell({ type: "beat" });
  }

  // Asleep, our clock may have stood still: better no digit than a wrong one.
  watchSleep() {
    if (!this.clock.noticeSleep()) {
      return;
    }
    this.doubts += 1;
    this.client.resync();
    setTimeout(() => {
      this.doubts -= 1;
      this.clock.assumeSleep();
      this.hear({ type: "clock" });
    }, DOUBT_FOR);
    this.paintAll();
  }

  get isInDoubt() {
    return !this.clock.isSynced && this.doubts > 0;
  }

  // A refused handshake tells a page nothing; HTTP refuses in words.
  askWhy() {
    const names = this.client.options.timers;
    fetch("api/timers" + (names === "*" ? "" : "/" + encodeURIComponent(names[0])), { cache: "no-store", headers: token === null ? {} : { Authorization: "Bearer " + token } })
      .then((answer) => answer.status === 401 || answer.status === 403 ? answer.json() : null)
      .then((reply) => { this.refusal = reply === null ? null : reply.error.message; })
      .catch(() => { this.refusal = null; })
      .then(() => { this.tell({ type: "link" }); });
  }

  // — painting —

  paintAll() {
    this.watchers.forEach(this.paint, this);
  }

  paintNamed(name) {
    this.watchers.filter((watcher) => watcher.name === name).forEach(this.paint, this);
  }

  // Shows a timer and comes back at the instant at which its text changes.
  paint(watcher) {
    clearTimeout(watcher.next);
    const state = this.state(watcher.name);
    if (state === undefined) {
      watcher.last = null;
      if (this.isComplete) {
        watcher.show(null, null);
      }
      return;
    }
    if (this.clock.offset === null) {
      return;
    }
    this.watchSleep();
    let shown = reading(state, this.clock.now());
    if (shown.changesIn !== null) {
      const delay = Math.min(shown.changesIn, this.clock.isSlewing ? 0.1 : MOST_DELAY);
      clearTimeout(watcher.next); // a sleep that was just noticed has painted, too
      watcher.next = setTimeout(() => { this.paint(watcher); }, Math.ceil(delay * 1000));
    }
    shown = withoutGoingBack(watcher, state, shown);
    watcher.show(state, this.isInDoubt && state.status === "running" ? masked(shown) : shown);
  }
}

// A clock that is set back a little waits, and counts no second twice.
export function withoutGoingBack(watcher, state, shown) {
  const last = watcher.last;
  const seconds = shownSeconds(shown.time, state.type);
  const direction = state.type === "stopwatch" ? 1 : -1;
  const isSameRun = last !== null && state.status === "running" && last.revision === state.revision;
  if (isSameRun && (seconds - last.seconds) * direction === -1) {
    return Object.assign({}, shown, { text: last.text });
  }
  watcher.last = { revision: state.revision, seconds: seconds, text: shown.text };
  return shown;
}
