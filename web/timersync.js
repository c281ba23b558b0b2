// The protocol client: one subscription, requests as promises, states that are never older
// than those before. No DOM.

import { Connection } from "./connection.js";

const ANSWER_WITHIN = 8; // seconds, like every time here
const PROBE_WITHIN = 3;
const REPEAT_FOR = 30;
const AT_HONOURED_FOR = 1.5; // the server takes 2 s; the way there costs some
const AT_EXACT_TO = 1;
const SYNC_BURST = [0.15, 0.35, 0.6, 0.9]; // after a first one at once
const SYNC_EVERY = 10;

// What the server, or this client in its place, says no with. `message` is for people.
export class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

export class TimerSync {
  // options: `url`, `token` (or null), `clock`, `timers` (a list of names, or "*"),
  // `interval`, and `listener`, which is called with
  //   {type: "timer", state, cause} · {type: "removed", timer} · {type: "clock"} ·
  //   {type: "link"} · {type: "unheard"}, when an attempt failed before a word was said
  constructor(options) {
    const client = this;
    this.options = options;
    this.clock = options.clock;
    this.timers = new Map(); // names are compared by code units, as Map does
    this.forgotten = new Map(); // name → revision at which it was removed
    this.isComplete = false; // false until this epoch's states have come
    this.requests = new Map(); // id → request
    this.lastID = 0;
    this.role = null;
    this.problem = null; // why the subscription was refused
    this.link = new Connection({
      url: options.url,
      subprotocols: options.token === null ? ["timersync.v1"] : ["timersync.v1", "token." + options.token],
      local: function () { return client.clock.monotonic(); },
      hear: this.hear.bind(this),
      change: function () { options.listener({ type: "link" }); },
      unheard: function () { options.listener({ type: "unheard" }); }
    });
  }

  get isOnline() {
    return this.link.status === "online";
  }

  get mayControl() {
    return this.isOnline && this.role === "control";
  }

  connect() {
    this.link.open();
  }

  // Something has changed for the better (network back, page visible): don't wait any longer.
  hurry() {
    if (this.link.status === "waiting") {
      this.link.open();
    } else {
      this.resync();
    }
  }

  // A burst of clock exchanges. A dead link shows sooner than by the usual wait.
  resync() {
    if (!this.isOnline) {
      return;
    }
    const client = this;
    this.sync(PROBE_WITHIN);
    SYNC_BURST.forEach(function (delay) {
      client.link.alarm("sync" + delay, delay, function () { client.sync(ANSWER_WITHIN); });
    });
    this.syncLater();
  }

  // A button was pressed. Sent again with the same `requestId` when the link breaks before
  // the answer. Resolves with the reply, rejects with a Refusal.
  change(command, timer, fields) {
    if (!this.isOnline) {
      return Promise.reject(new Refusal("offline", "Offline: nothing can be changed until the server is back."));
    }
    if (!this.mayControl) {
      return Promise.reject(new Refusal("forbidden", "This screen may look, but not change anything."));
    }
    const message = Object.assign({ command: command, timer: timer, requestId: randomID() }, fields);
    if (message.at === undefined && command !== "remove" && this.clock.isSynced && this.clock.roundTrip / 2 < AT_EXACT_TO) {
      message.at = toMicroseconds(this.clock.now());
    }
    const client = this;
    return new Promise(function (resolve, reject) {
      const request = { message: message, resolve: resolve, reject: reject, madeAt: client.clock.monotonic(), isChange: true };
      request.giveUp = setTimeout(function () { client.giveUp(request); }, REPEAT_FOR * 1000);
      client.send(request, ANSWER_WITHIN);
    });
  }

  // — what comes in —

  hear(message) {
    switch (message.event) {
      case "hello": return this.greet(message);
      case "snapshot": return this.takeSnapshot(message);
      case "removed": return this.forget(message.timer);
      default: return this.settle(message);
    }
  }

  greet(hello) {
    if (hello.protocol !== 1) {
      this.link.stop("the server speaks protocol " + hello.protocol + " and this page 1; reload the page");
      return;
    }
    this.isComplete = this.isComplete && hello.epoch === this.clock.epoch;
    this.clock.greet(hello.epoch, hello.now);
    this.role = hello.role;
    this.problem = null;
    this.link.establish();
    const unanswered = Array.from(this.requests.values());
    this.requests.clear();
    this.resync(); // first, so that the clock is right before the first state comes
    this.subscribe();
    unanswered.filter(function (request) { return request.isChange; }).forEach(this.sendAgain, this);
  }

  // `subscribed` is the whole truth: what it does not tell of is gone, and after a restart
  // of the server nothing that we knew counts any more.
  takeSnapshot(snapshot) {
    if (snapshot.cause !== "subscribed") {
      snapshot.timers.forEach(function (state) { this.take(state, snapshot.cause); }, this);
      return;
    }
    const known = Array.from(this.timers.keys());
    const told = new Set(snapshot.timers.map(function (state) { return state.timer; }));
    if (!this.isComplete) {
      this.isComplete = true;
      this.timers.clear();
      this.forgotten.clear();
    }
    snapshot.timers.forEach(function (state) { this.take(state, "subscribed"); }, this);
    known.filter(function (name) { return !told.has(name); }).forEach(this.forget, this);
    this.options.listener({ type: "link" });
  }

  take(state, cause) {
    const known = this.timers.get(state.timer);
    const isStale = known !== undefined && (state.revision < known.revision ||
      (state.revision === known.revision && state.lastElapsedTimeCalculatedAt < known.lastElapsedTimeCalculatedAt));
    if (isStale || state.revision <= this.forgotten.get(state.timer)) {
      return;
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

  settle(message) {
    const request = this.requests.get(message.reply);
    if (request === undefined) {
      return;
    }
    this.requests.delete(message.reply);
    const isRemoval = request.message.command === "remove";
    if (isRemoval && message.ok) {
      this.forget(request.message.timer);
    } else if (message.timer && !isRemoval && this.isComplete) {
      this.take(message.timer, "reply");
    }
    if (message.ok) {
      clearTimeout(request.giveUp);
      request.resolve(message);
    } else {
      this.refuse(request, message.error);
    }
  }

  refuse(request, error) {
    if (error.code === "outOfRange" && request.message.at !== undefined) {
      // Our idea of the instant of the press may be what is out of range: let the server
      // take its own. A refused `requestId` may be remembered as refused, so it is another.
      delete request.message.at;
      request.message.requestId = randomID();
      this.send(request, ANSWER_WITHIN);
      return;
    }
    clearTimeout(request.giveUp);
    request.reject(new Refusal(error.code, error.message));
  }

  giveUp(request) {
    this.requests.delete(request.message.id);
    request.reject(new Refusal("noAnswer",
      "No answer for " + REPEAT_FOR + " s: it is not known whether “" + request.message.command + "” arrived."));
  }

  // — what goes out —

  send(request, answerWithin) {
    this.lastID += 1;
    request.message.id = this.lastID;
    this.requests.set(this.lastID, request);
    this.link.send(request.message, answerWithin);
  }

  sendAgain(request) {
    if (this.clock.monotonic() - request.madeAt > AT_HONOURED_FOR) {
      delete request.message.at;
    }
    this.send(request, ANSWER_WITHIN);
  }

  sync(answerWithin) {
    const client = this;
    const sentAt = this.clock.monotonic();
    this.send({
      message: { command: "sync", clientTime: toMicroseconds(sentAt) },
      resolve: function (reply) {
        client.clock.learn(sentAt, reply.receivedAt, reply.sentAt, client.clock.monotonic());
        client.options.listener({ type: "clock" });
      },
      reject: function () {}
    }, answerWithin);
  }

  syncLater() {
    const client = this;
    // Not all screens of a building at once.
    this.link.alarm("sync", SYNC_EVERY * (0.8 + 0.4 * Math.random()), function () {
      client.sync(ANSWER_WITHIN);
      client.syncLater();
    });
  }

  subscribe() {
    const client = this;
    this.send({
      message: { command: "subscribe", timers: this.options.timers, interval: this.options.interval },
      resolve: function () {},
      reject: function (refusal) {
        client.problem = refusal.message;
        client.options.listener({ type: "link" });
      }
    }, ANSWER_WITHIN);
  }
}

function randomID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, function (byte) { return (byte + 256).toString(16).slice(1); }).join("");
}

function toMicroseconds(seconds) {
  return Math.round(seconds * 1e6) / 1e6;
}
