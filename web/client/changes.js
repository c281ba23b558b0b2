// Changes that are asked of the server, over whatever happens to the connection. No DOM.

import { ANSWER_WITHIN, toMicroseconds } from "./follower.js";
import { runOf } from "./runs.js";

const REPEAT_FOR = 30; // seconds, like every time here
const AT_EXACT_TO = 1;
// The others are about the timer, whichever run it is in.
const ABOUT_A_RUN = ["start", "pause", "resume", "finish", "reset", "addRemainingTime", "addElapsedTime", "lap", "remove"];

// What the server, or this client in its place, says no with. `message` is for people; `state` is the timer's, where
// the server has told it.
export class Refusal extends Error {
  constructor(code, message, state) {
    super(message);
    this.code = code;
    this.state = state;
  }
}

export function isAboutRun(command) {
  return ABOUT_A_RUN.indexOf(command) >= 0;
}

// Sent again with the same `requestId` when the link breaks before the answer. Resolves with
// the reply, rejects with a Refusal.
export function change(client, command, timer, fields) {
  if (!client.isOnline) {
    return Promise.reject(new Refusal("offline", "Offline: nothing can be changed until the server is back."));
  }
  if (!client.mayControl) {
    return Promise.reject(new Refusal("forbidden", "This screen may look, but not change anything."));
  }
  const message = Object.assign({ command: command, timer: timer, requestId: randomID() }, fields);
  if (message.at === undefined && command !== "remove" && client.clock.isSynced && client.clock.roundTrip / 2 < AT_EXACT_TO) {
    message.at = toMicroseconds(client.clock.now());
  }
  guard(client, message);
  return new Promise((resolve, reject) => {
    new Change(client, message, resolve, reject).send();
  });
}

// Holds a change to the run that is known here, unless the caller knows which one the person saw.
function guard(client, message) {
  const timer = message.timer === undefined ? "default" : message.timer;
  const followed = client.options.timers;
  if (!client.heard.history) {
    delete message.ifRun; // a server that knows of no runs refuses it
  } else if (message.ifRun === undefined && isAboutRun(message.command) && client.isComplete &&
    (followed === "*" || followed.indexOf(timer) >= 0)) {
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
    this.history = client.heard.history;
    this.madeAt = client.clock.wall(); // a clock that counts a machine's sleep
    this.giveUpAlarm = setTimeout(() => { this.giveUp(); }, REPEAT_FOR * 1000);
  }

  send() {
    this.client.send(this, ANSWER_WITHIN);
  }

  hear(reply) {
    if (!this.isRepeated) {
      this.tell(reply);
    }
    if (!reply.ok && reply.error.code === "outOfRange" && this.message.at !== undefined) {
      this.sendWithoutInstant();
      return;
    }
    clearTimeout(this.giveUpAlarm);
    if (reply.ok) {
      if (this.message.command === "start" && reply.timer) {
        this.client.startedRun = reply.timer.run;
      }
      this.resolve(reply);
    } else {
      this.reject(this.refusal(reply.error, reply.timer));
    }
  }

  // Who presses twice while the first press is on its way is told that it has worked.
  refusal(error, state) {
    const isOwn = this.message.command === "start" && error.code === "runMismatch" && state && state.run > 0 &&
      state.run === this.client.startedRun;
    return isOwn ? new Refusal("timerAlreadyStarted", "This timer runs or is paused already.", state) :
      new Refusal(error.code, error.message, state);
  }

  // What was sent again may be answered as the first time, with what has been overtaken: by a removal, or by who has
  // started it anew. The states that came with the connection know better, and so does what follows them.
  tell(reply) {
    const isRemoval = this.message.command === "remove";
    if (isRemoval && reply.ok) {
      this.client.forget(this.message.timer);
    } else if (reply.timer && !isRemoval && this.client.isComplete) {
      this.client.take(reply.timer, "reply");
    }
  }

  // Our idea of the instant of the press may be what is out of range: let the server take its
  // own. A refused `requestId` may be remembered as refused, so it is another. The run stays the one that was seen.
  sendWithoutInstant() {
    delete this.message.at;
    this.message.requestId = randomID();
    this.send();
  }

  // The connection broke before the answer came, and there is another one now. The same to the letter, the instant
  // too, however old: a server that has made the change takes anything else under its name for another request.
  // Another history has other runs, by the same numbers maybe.
  lose() {
    const isElsewhere = this.message.ifRun !== undefined && this.client.heard.history !== this.history;
    this.isRepeated = true;
    if (isElsewhere || this.client.clock.wall() - this.madeAt > REPEAT_FOR) {
      clearTimeout(this.giveUpAlarm);
      this.giveUp();
    } else {
      this.send();
    }
  }

  giveUp() {
    this.client.requests.delete(this.message.id);
    this.reject(new Refusal("noAnswer",
      "No answer for " + REPEAT_FOR + " s: it is not known whether “" + this.message.command + "” arrived."));
  }
}

function randomID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => (byte + 256).toString(16).slice(1)).join("");
}
