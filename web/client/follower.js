// One subscription, clock exchanges, states that are never older than those before. No DOM.

import { ServerClock } from "./clock.js";
import { Connection } from "./connection.js";

export const ANSWER_WITHIN = 8; // seconds, like every time here
const PROBE_WITHIN = 3;
const SYNC_BURST = [0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.3, 2, 3, 4.5]; // after a first one at once
const SYNC_EVERY = 10;

export class Follower {
  // The options and what the listener is told stand in timersync.md.
  constructor(wish) {
    const options = Object.assign({ token: null, timers: "*", interval: 10, listener() {} }, wish);
    this.options = options;
    this.clock = options.clock || new ServerClock();
    this.timers = new Map(); // names are compared by code units, as Map does
    this.forgotten = new Map(); // name → revision at which it was removed
    this.isComplete = false; // false until this epoch's states have come
    this.requests = new Map(); // id → request
    this.lastID = 0;
    this.role = null;
    this.server = {}; // what it says of itself: the last `hello` or event `server`
    this.heard = {}; // up to which `revision` of which `history` nothing was missed
    this.problem = null; // why the subscription was refused
    this.link = new Connection({
      url: options.url,
      subprotocols: options.token === null ? ["timersync.v1"] : ["timersync.v1", "token." + options.token],
      local: () => this.clock.monotonic(),
      hear: this.hear.bind(this),
      change: this.tellLink.bind(this),
      unheard: () => { options.listener({ type: "unheard" }); }
    });
  }

  get isOnline() {
    return this.link.status === "online";
  }

  get mayControl() {
    return this.isOnline && this.role === "control";
  }

  // Its wall clock minus its server clock.
  get wallOffset() {
    return this.server.wallOffset || 0;
  }

  connect() {
    this.link.open();
  }

  close() {
    this.link.stop("closed by this page");
  }

  // Something has changed for the better: don't wait any longer.
  hurry() {
    if (this.link.status === "waiting") {
      this.link.open();
    } else {
      this.resync();
    }
  }

  // A burst of clock exchanges; a dead link shows soon.
  resync() {
    if (!this.isOnline) {
      return;
    }
    this.sync(PROBE_WITHIN);
    SYNC_BURST.forEach((delay) => {
      this.link.alarm("sync" + delay, delay, () => { this.sync(ANSWER_WITHIN); });
    });
    this.syncLater();
  }

  // — what comes in —

  hear(message) {
    switch (message.event) {
      case "hello": return this.greet(message);
      case "snapshot": return this.join(message);
      case "removed": return this.forget(message.timer);
      case "server":
        this.server = message;
        return this.tellLink();
      case undefined: return this.settle(message);
    }
  }

  greet(hello) {
    if (hello.protocol !== 1) {
      this.link.stop("the server speaks protocol " + hello.protocol + " and this page 1; reload the page");
      return;
    }
    const since = this.heard;
    const isSame = hello.history === since.history;
    this.isComplete = this.isComplete && isSame && hello.epoch === this.clock.epoch;
    this.clock.greet(hello.epoch, hello.now);
    this.role = hello.role;
    this.server = hello;
    this.problem = null;
    this.asked = -1; // from the subscription on, hello's revision
    this.isCaughtUp = !since.history || !isSame; // nothing is told late
    if (this.isCaughtUp) {
      this.heard = { history: hello.history, revision: hello.revision };
    }
    this.link.establish();
    const unanswered = Array.from(this.requests.values());
    this.requests.clear();
    this.resync(); // first, so that the clock is right before the first state comes
    this.subscribe(since.history && hello.history ? since.history + ":" + since.revision : undefined);
    this.asked = hello.revision;
    unanswered.forEach((request) => { request.lose(); });
  }

  // Parts count together.
  join(snapshot) {
    const joined = this.joined;
    if (snapshot.part > 1 && joined) {
      snapshot = Object.assign({}, joined, { part: snapshot.part, timers: joined.timers.concat(snapshot.timers) });
    }
    this.joined = snapshot.part < snapshot.parts ? snapshot : null;
    if (this.joined === null) {
      this.takeSnapshot(snapshot);
    }
  }

  // `subscribed` is the whole truth: what it leaves out is gone, and after a restart nothing known counts.
  takeSnapshot(snapshot) {
    if (snapshot.cause !== "subscribed") {
      snapshot.timers.forEach((state) => { this.take(state, snapshot.cause); });
      return;
    }
    const known = Array.from(this.timers.keys());
    const told = new Set(snapshot.timers.map((state) => state.timer));
    if (!this.isComplete) {
      this.isComplete = true;
      this.timers.clear();
      this.forgotten.clear();
    }
    snapshot.timers.forEach((state) => { this.take(state, "subscribed"); });
    known.filter((name) => !told.has(name)).forEach(this.forget, this);
    this.tellLink();
  }

  // What was missed comes right after the subscription: until what was asked next is answered, it may be lost.
  reach(revision) {
    if (this.isCaughtUp) {
      this.heard.revision = Math.max(this.heard.revision, revision);
    }
  }

  take(state, cause) {
    this.reach(state.revision);
    const known = this.timers.get(state.timer);
    const isStale = known !== undefined && (state.revision < known.revision ||
      (state.revision === known.revision && state.lastElapsedTimeCalculatedAt < known.lastElapsedTimeCalculatedAt));
    if (isStale || state.revision <= this.forgotten.get(state.timer)) {
      return;
    }
    if (known !== undefined && known.revision === state.revision) {
      state = Object.assign({ laps: known.laps, run: known.run }, state); // a tick leaves them out
    }
    this.timers.set(state.timer, state);
    this.options.listener({ type: "timer", state: state, cause: cause });
  }

  forget(name) {
    const known = this.timers.get(name);
    if (known !== undefined) {
      this.forgotten.set(name, known.revision); // a late reply must not bring it back
      this.timers.delete(name);
    }
    this.options.listener({ type: "removed", timer: name });
  }

  tellLink() {
    this.options.listener({ type: "link" });
  }

  settle(message) {
    const request = this.requests.get(message.reply);
    if (request !== undefined) {
      this.requests.delete(message.reply);
      request.hear(message);
    }
  }

  // — what goes out —

  send(request, answerWithin) {
    this.lastID += 1;
    request.message.id = this.lastID;
    this.requests.set(this.lastID, request);
    this.link.send(request.message, answerWithin);
  }

  sync(answerWithin) {
    const sentAt = this.clock.monotonic();
    const asked = this.asked;
    this.ask({ command: "sync", clientTime: toMicroseconds(sentAt) }, answerWithin, (reply) => {
      this.isCaughtUp = this.isCaughtUp || asked >= 0;
      this.reach(asked);
      if (reply.ok) {
        this.clock.learn(sentAt, reply.receivedAt, reply.sentAt, this.clock.monotonic());
        this.options.listener({ type: "clock" });
      }
    });
  }

  syncLater() {
    // Not all screens of a building at once.
    this.link.alarm("sync", SYNC_EVERY * (0.8 + 0.4 * Math.random()), () => {
      this.sync(ANSWER_WITHIN);
      this.syncLater();
    });
  }

  subscribe(since) {
    const { timers, interval } = this.options;
    this.ask({ command: "subscribe", timers, interval, since, parts: !!this.server.history || undefined }, ANSWER_WITHIN, (reply) => {
      if (!reply.ok) {
        this.problem = reply.error.message;
        this.tellLink();
      }
    });
  }

  // The next connection asks anew.
  ask(message, answerWithin, hear) {
    this.send({ message: message, hear: hear, lose() {} }, answerWithin);
  }
}

export function toMicroseconds(seconds) {
  return Math.round(seconds * 1e6) / 1e6;
}
