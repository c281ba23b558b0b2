// A view's tie to the server: client, clock, token, and the painting of its timers.

import { socketURL, token } from "./page.js";
import { ServerClock } from "../client/clock.js";
import { trouble } from "./freshness.js";
import { PaintScheduler } from "./paint.js";

const DOUBT_FOR = 1000; // milliseconds for which digits are masked at most

export class Session {
  // `Client` is the class of the protocol client. `timers` is as in `subscribe`.
  constructor(Client, timers) {
    this.clock = new ServerClock();
    this.token = token;
    this.listeners = [];
    this.refusal = null; // why the server accepts no socket
    this.doubts = 0;
    const listener = (event) => { this.receive(event); };
    this.client = new Client({ url: socketURL(), token, clock: this.clock, timers, listener });
    this.paints = new PaintScheduler(this);
  }

  get isOnline() { return this.client.isOnline; }
  get isComplete() { return this.client.isComplete; } // all timers have come
  get mayControl() { return this.client.mayControl; }
  get role() { return this.client.role; }
  get isInDoubt() { return !this.clock.isSynced && this.doubts > 0; }

  // On the server's clock; null before the server has said anything.
  now() {
    return this.clock.offset === null ? null : this.clock.now();
  }

  // For events that happen once: a clock in doubt has reached no instant.
  certainNow() {
    this.checkSleep();
    return this.isInDoubt ? -Infinity : this.now();
  }

  // Undefined for a timer that nobody has started.
  state(name) {
    return this.client.timers.get(name);
  }

  // Why the screen may be out of date, in words, or null.
  trouble() {
    return trouble(this.client, this.refusal);
  }

  // type: one of the client's (see timersync.md), or "beat" for each second. Returns a function that ends this.
  on(type, run) {
    const listener = { type, run };
    this.listeners.push(listener);
    return () => { this.listeners = this.listeners.filter((other) => other !== listener); };
  }

  // See PaintScheduler.add.
  watch(name, show) {
    return this.paints.add(name, show);
  }

  start() {
    const wake = () => { this.wake(); };
    window.addEventListener("online", () => { this.client.hurry(); });
    window.addEventListener("pageshow", wake);
    ["visibilitychange", "resume"].forEach((type) => { document.addEventListener(type, wake); });
    setInterval(() => {
      this.checkSleep(); // while nothing runs, no painting does
      this.emit({ type: "beat" });
    }, 1000);
    window.timersync = this.clock; // for the browser's console
    this.client.connect();
  }

  // The clock may have stood still: no digit is better than a wrong one.
  checkSleep() {
    if (this.clock.noticeSleep()) {
      this.doubts += 1;
      this.client.resync();
      setTimeout(() => {
        this.doubts -= 1;
        this.clock.assumeSleep();
        this.receive({ type: "clock" });
      }, DOUBT_FOR);
      this.paints.paintAll();
    }
  }

  // — inside —

  receive(event) {
    switch (event.type) {
      case "timer": this.paints.paintNamed(event.state.timer); break;
      case "removed": this.paints.paintNamed(event.timer); break;
      case "clock": this.paints.paintAll(); break;
      case "unheard": this.askWhy(); return;
    }
    this.emit(event);
    if (event.type === "link") {
      this.paints.paintAll(); // the first complete set may be empty
    }
  }

  emit(event) {
    this.listeners.filter(({ type }) => type === event.type).forEach(({ run }) => { run(event); });
  }

  wake() {
    if (document.visibilityState === "visible") {
      this.checkSleep();
      this.client.hurry();
      this.receive({ type: "link" });
    }
  }

  // A browser hides why a handshake was refused, so this asks by HTTP.
  askWhy() {
    const { timers } = this.client.options;
    const headers = token === null ? {} : { Authorization: "Bearer " + token };
    fetch("api/timers" + (timers === "*" ? "" : "/" + encodeURIComponent(timers[0])), { cache: "no-store", headers })
      .then((answer) => answer.status === 401 || answer.status === 403 ? answer.json() : null)
      .then((reply) => { this.refusal = reply && reply.error.message; })
      .catch(() => { this.refusal = null; })
      .then(() => { this.emit({ type: "link" }); });
  }
}
