// Sends changes to the server, again after a lost connection, and never applies one twice. This file has no DOM.

import { ANSWER_WITHIN, toMicroseconds } from "./follower.js";
import { runOf } from "./runs.js";

const REPEAT_FOR = 30; // seconds, like every time here
const AT_EXACT_TO = 1;
// All other commands are about the timer, whichever run it is in.
const ABOUT_A_RUN = [
  "start", "pause", "resume", "finish", "reset", "addRemainingTime", "addElapsedTime", "lap", "remove"
];

// The server, or this client in its place, refuses a change. `message` is for people; `state` is the timer's, where the
// server has sent it.
export class Refusal extends Error {
  constructor(code, message, state) {
    super(message);
    this.code = code;
    this.state = state;
  }
}

export function isAboutRun(command) {
  return ABOUT_A_RUN.includes(command);
}

// Sends a change, and the same `requestId` again when the connection is lost before the answer. Resolves with the
// reply, rejects with a Refusal.
export function change(client, command, timer, fields) {
  if (!client.isOnline) {
    return Promise.reject(new Refusal("offline", "Offline. Changes are possible again when the server is back."));
  }
  if (!client.mayControl) {
    return Promise.reject(new Refusal("forbidden", "This screen is view-only."));
  }
  const message = Object.assign({ command, timer, requestId: randomID() }, fields);
  const isExact = client.clock.isSynced && client.clock.roundTrip / 2 < AT_EXACT_TO;
  if (message.at === undefined && command !== "remove" && isExact) {
    message.at = toMicroseconds(client.clock.now());
  }
  addRun(client, message);
  return new Promise((resolve, reject) => {
    new Change(client, message, resolve, reject).send();
  });
}

// Binds a change to the run that is known here, unless the caller says which run the person saw.
function addRun(client, message) {
  const timer = message.timer === undefined ? "default" : message.timer;
  const followed = client.options.timers;
  const isFollowed = followed === "*" || followed.includes(timer);
  if (!client.position.history) {
    delete message.ifRun; // a server without a history refuses it
  } else if (message.ifRun === undefined && isAboutRun(message.command) && client.isComplete && isFollowed) {
    message.ifRun = runOf(client.timers.get(timer));
  }
}

class Change {
  constructor(client, message, resolve, reject) {
    this.client = client;
    this.message = message;
    this.resolve = resolve;
    this.reject = reject;
    this.isRepeated = false;
    this.history = client.position.history;
    this.startedAt = client.clock.wall(); // the wall clock counts a machine's sleep
    this.timeout = setTimeout(() => { this.giveUp(); }, REPEAT_FOR * 1000);
  }

  send() {
    this.client.send(this, ANSWER_WITHIN);
  }

  onReply(reply) {
    if (!this.isRepeated) {
      this.applyState(reply);
    }
    if (!reply.ok && reply.error.code === "outOfRange" && this.message.at !== undefined) {
      this.sendWithoutInstant();
      return;
    }
    clearTimeout(this.timeout);
    if (reply.ok) {
      if (this.message.command === "start" && reply.timer) {
        this.client.startedRun = reply.timer.run;
      }
      this.resolve(reply);
    } else {
      this.reject(this.refusal(reply.error, reply.timer));
    }
  }

  // A second Start that was sent before the first one was answered is refused as already started.
  refusal(error, state) {
    const isOwn = this.message.command === "start" && error.code === "runMismatch" && state && state.run > 0 &&
      state.run === this.client.startedRun;
    return isOwn ? new Refusal("timerAlreadyStarted", "This timer is already running or paused.", state) :
      new Refusal(error.code, error.message, state);
  }

  // Only the first answer counts. An answer to a repeated request may be the old one, from before a removal or a new
  // run; the states that came with the connection are newer.
  applyState(reply) {
    const isRemoval = this.message.command === "remove";
    if (isRemoval && reply.ok) {
      this.client.remove(this.message.timer);
    } else if (reply.timer && !isRemoval && this.client.isComplete) {
      this.client.apply(reply.timer, "reply");
    }
  }

  // The instant of the press may be what is out of range: the server then takes its own. The server may remember a
  // refused `requestId`, so the request gets another one. The run stays the one that the person saw.
  sendWithoutInstant() {
    delete this.message.at;
    this.message.requestId = randomID();
    this.send();
  }

  // Sends the same request to the letter, its old instant too: a server that has made the change refuses anything else
  // under that `requestId`. In another history a run's number means another run.
  onReconnect() {
    const isElsewhere = this.message.ifRun !== undefined && this.client.position.history !== this.history;
    this.isRepeated = true;
    if (isElsewhere || this.client.clock.wall() - this.startedAt > REPEAT_FOR) {
      clearTimeout(this.timeout);
      this.giveUp();
    } else {
      this.send();
    }
  }

  giveUp() {
    this.client.requests.delete(this.message.id);
    this.reject(new Refusal("noAnswer",
      "No answer for " + REPEAT_FOR + " s. “" + this.message.command + "” may or may not have been applied."));
  }
}

function randomID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => (byte + 256).toString(16).slice(1)).join("");
}
