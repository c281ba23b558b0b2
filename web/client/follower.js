// Follows timers: one subscription, regular clock exchanges, and states that never go back. No DOM.

import { ServerClock } from "./clock.js";
import { Connection } from "./connection.js";

export const ANSWER_WITHIN = 8; // seconds, like every time here
const PROBE_WITHIN = 3;
const SYNC_BURST = [0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.3, 2, 3, 4.5]; // after a first one
const SYNC_EVERY = 10;

export class Follower {
  // timersync.md documents the options and the listener's events.
  constructor(given) {
    const options = Object.assign({ token: null, timers: "*", interval: 10, listener() {} }, given);
    this.options = options;
    this.clock = options.clock || new ServerClock();
    this.timers = new Map(); // name → state; names are compared by code units
    this.removedAt = new Map(); // name → its last revision
    this.isComplete = false; // until all states of this epoch have come
    this.requests = new Map(); // id → request without an answer
    this.lastID = 0;
    this.role = null;
    this.server = {}; // the last `hello` or `server` event
    this.position = {}; // {history, revision} up to which nothing was missed
    this.problem = null; // why the subscription was refused
    this.link = new Connection({
      url: options.url,
      subprotocols: options.token === null ? ["timersync.v1"] : ["timersync.v1", "token." + options.token],
      monotonic: () => this.clock.monotonic(),
      onMessage: (message) => { this.receive(message); },
      onChange: () => { this.emit({ type: "link" }); },
      onFailedAttempt: () => { this.emit({ type: "unheard" }); }
    });
  }

  get isOnline() {
    return this.link.status === "online";
  }

  get mayControl() {
    return this.isOnline && this.role === "control";
  }

  // The server's wall clock minus its server clock.
  get wallOffset() {
    return this.server.wallOffset || 0;
  }

  connect() {
    this.link.open();
  }

  close() {
    this.link.stop("closed by this page");
  }

  // The network or the page is back: no attempt waits any longer.
  hurry() {
    if (this.link.status === "waiting") {
      this.link.open();
    } else {
      this.resync();
    }
  }

  // Compares the clocks several times.
  resync() {
    if (this.isOnline) {
      this.sync(PROBE_WITHIN); // a dead link shows soon
      SYNC_BURST.forEach((delay) => {
        this.link.setAlarm("sync" + delay, delay, () => { this.sync(ANSWER_WITHIN); });
      });
      this.syncLater();
    }
  }

  // — messages from the server —

  receive(message) {
    switch (message.event) {
      case "hello": return this.welcome(message);
      case "snapshot": return this.collectPart(message);
      case "removed": return this.remove(message.timer);
      case "server":
        this.server = message;
        return this.emit({ type: "link" });
      case undefined: return this.answer(message);
    }
  }

  welcome(hello) {
    if (hello.protocol !== 1) {
      this.link.stop("the server speaks protocol " + hello.protocol + ", this page 1; reload it");
      return;
    }
    const since = this.position;
    const isSame = hello.history === since.history;
    this.isComplete = this.isComplete && isSame && hello.epoch === this.clock.epoch;
    this.clock.startEpoch(hello.epoch, hello.now);
    this.role = hello.role;
    this.server = hello;
    this.problem = null;
    this.subscribedAt = -1; // hello's revision, once the subscription is on its way
    this.isCaughtUp = !since.history || !isSame; // then there are no missed ends to come
    if (this.isCaughtUp) {
      this.position = { history: hello.history, revision: hello.revision };
    }
    this.link.markOnline();
    const unanswered = Array.from(this.requests.values());
    this.requests.clear();
    this.resync(); // first, so that the clock is right when the first state comes
    this.subscribe(since.history && hello.history ? since.history + ":" + since.revision : undefined);
    this.subscribedAt = hello.revision;
    unanswered.forEach((request) => { request.onReconnect(); });
  }

  // A set may come in parts, which count together.
  collectPart(snapshot) {
    const whole = snapshot.part > 1 && this.parts || Object.assign({}, snapshot, { timers: [] });
    whole.timers = whole.timers.concat(snapshot.timers);
    this.parts = snapshot.part < snapshot.parts ? whole : null;
    if (this.parts === null) {
      this.applySnapshot(whole);
    }
  }

  // A `subscribed` set is complete: other timers are gone, and after a restart no earlier state counts.
  applySnapshot(snapshot) {
    if (snapshot.cause !== "subscribed") {
      snapshot.timers.forEach((state) => { this.apply(state, snapshot.cause); });
      return;
    }
    const known = Array.from(this.timers.keys());
    const listed = new Set(snapshot.timers.map((state) => state.timer));
    if (!this.isComplete) {
      this.isComplete = true;
      this.timers.clear();
      this.removedAt.clear();
    }
    snapshot.timers.forEach((state) => { this.apply(state, "subscribed"); });
    known.filter((name) => !listed.has(name)).forEach((name) => { this.remove(name); });
    this.emit({ type: "link" });
  }

  // Missed ends follow the subscription; until the next answer, some may be on their way.
  advance(revision) {
    if (this.isCaughtUp) {
      this.position.revision = Math.max(this.position.revision, revision);
    }
  }

  apply(state, cause) {
    this.advance(state.revision);
    const known = this.timers.get(state.timer);
    const isSame = known !== undefined && state.revision === known.revision;
    const isOld = known !== undefined && (state.revision < known.revision ||
      (isSame && state.lastElapsedTimeCalculatedAt < known.lastElapsedTimeCalculatedAt));
    if (isOld || state.revision <= this.removedAt.get(state.timer)) {
      return;
    }
    if (isSame) {
      state = Object.assign({ laps: known.laps, run: known.run }, state); // a tick leaves them out
    }
    this.timers.set(state.timer, state);
    this.emit({ type: "timer", state, cause });
  }

  remove(name) {
    const known = this.timers.get(name);
    if (known !== undefined) {
      this.removedAt.set(name, known.revision); // a late reply must not bring it back
      this.timers.delete(name);
    }
    this.emit({ type: "removed", timer: name });
  }

  answer(message) {
    const request = this.requests.get(message.reply);
    if (request !== undefined) {
      this.requests.delete(message.reply);
      request.onReply(message);
    }
  }

  emit(event) {
    this.options.listener(event);
  }

  // — messages to the server —

  send(request, answerWithin) {
    this.lastID += 1;
    request.message.id = this.lastID;
    this.requests.set(this.lastID, request);
    this.link.send(request.message, answerWithin);
  }

  sync(answerWithin) {
    const sentAt = this.clock.monotonic();
    const reached = this.subscribedAt;
    this.ask({ command: "sync", clientTime: toMicroseconds(sentAt) }, answerWithin, (reply) => {
      this.isCaughtUp = this.isCaughtUp || reached >= 0;
      this.advance(reached);
      if (reply.ok) {
        this.clock.addExchange(sentAt, reply.receivedAt, reply.sentAt, this.clock.monotonic());
        this.emit({ type: "clock" });
      }
    });
  }

  // The delay is random, so that the screens of a building don't ask together.
  syncLater() {
    this.link.setAlarm("sync", SYNC_EVERY * (0.8 + 0.4 * Math.random()), () => {
      this.sync(ANSWER_WITHIN);
      this.syncLater();
    });
  }

  subscribe(since) {
    const { timers, interval } = this.options;
    const parts = !!this.server.history || undefined;
    this.ask({ command: "subscribe", timers, interval, since, parts }, ANSWER_WITHIN, (reply) => {
      if (!reply.ok) {
        this.problem = reply.error.message;
        this.emit({ type: "link" });
      }
    });
  }

  // The next connection asks again by itself.
  ask(message, answerWithin, onReply) {
    this.send({ message, onReply, onReconnect() {} }, answerWithin);
  }
}

export function toMicroseconds(seconds) {
  return Math.round(seconds * 1e6) / 1e6;
}
