// What a person changes from here: each change in words, and the way back from the last one.

import { define, language, t } from "./language.js";
import { opposite } from "./undo.js";

define({
  "did.start": "Started {name}.",
  "did.pause": "Paused {name}.",
  "did.resume": "{name} goes on.",
  "did.finish": "Finished {name}.",
  "did.finishAll": { one: "Finished {n} timer.", other: "Finished {n} timers." },
  "did.reset": "Reset {name}.",
  "did.addRemainingTime": "Changed the time of {name}.",
  "did.addElapsedTime": "Changed the time of {name}.",
  "did.remove": "Removed {name}.",
  "did.update": "Changed {name}.",
  "did.message": "The message of {name} is on its screens.",
  "did.messageCleared": "Took the message of {name} away.",
  "did.flash": "Flashed the screens of {name}.",
  "did.blackout": "The screens of {name} are dark.",
  "did.light": "The screens of {name} are lit again.",
  "did.lap": "Lap of {name}.",
  "did.final": "{what} This can't be undone.",
  "undo.done": "Undone: {what}",
  "undo.nothing": "There is nothing to undo.",
  "undo.movedOn": "{name} has changed since, so nothing was undone.",
  "refusal.offline": "Offline: nothing can be changed until the server is back.",
  "refusal.forbidden": "This screen may look, but not change anything.",
  "refusal.noAnswer": "The server did not answer: it is not known whether the change arrived.",
  "refusal.timerAlreadyStarted": "This timer runs or is paused already.",
  "refusal.timerAlreadyPaused": "This timer is paused already.",
  "refusal.timerHasNotPaused": "This timer is not paused.",
  "refusal.timerHasNotStarted": "This timer does not run.",
  "refusal.unknownTimer": "There is no such timer any more.",
  "refusal.revisionMismatch": "This timer has just been changed elsewhere. Look again, and press once more if it is still right.",
  "refusal.outOfRange": "That is more than the timer allows.",
  "refusal.rateLimited": "Too many changes at once. Wait a moment.",
  "refusal.tooManyTimers": "The server holds as many timers as it may. Remove one first.",
  "refusal.storageFailed": "The server could not write this down, so nothing was changed. Try again.",
  "refusal.shuttingDown": "The server is being restarted. Try again in a moment."
});

// Nothing is wrong with what was wished: it may be wished again.
const PASSING = ["offline", "noAnswer", "rateLimited", "storageFailed", "shuttingDown"];

export class Desk {
  // `told({words, canUndo})` is called after each change.
  constructor(session, told) {
    this.session = session;
    this.told = told;
    this.last = null; // {timer, name, revision, words, opposite}, or null when there is no way back
    this.ownRevision = null; // that of the latest state that came of a change from here
  }

  // Resolves with the reply; rejects with an Error whose message is for the person. `at` is the instant of the press.
  change(command, timer, fields, at) {
    const desk = this;
    const before = this.session.state(timer);
    const sent = Object.assign({}, fields, at === undefined || command === "remove" ? {} : { at: at });
    return this.session.change(command, timer, sent).then(function (reply) {
      desk.remember(command, timer, fields || {}, before, reply.timer);
      return reply;
    }, inWords);
  }

  // Those that are named; in one step when these are all that run. One that has come to its end meanwhile is fine.
  finishMany(timers) {
    const desk = this;
    const change = this.isAllThatRun(timers) ?
      this.session.change("finishAll", undefined).then(function (reply) { return reply.timers.length; }) :
      Promise.all(timers.map(this.finishOne, this)).then(function (ends) { return ends.filter(Boolean).length; });
    return change.then(function (n) {
      desk.last = null;
      desk.tell(t("did.final", { what: t("did.finishAll", { n: n }) }));
    }, inWords);
  }

  get canUndo() {
    return this.last !== null && !this.last.isOnItsWay;
  }

  // Never another's change: the server refuses when the timer has moved on.
  undo() {
    const desk = this;
    const last = this.last;
    if (!this.canUndo) {
      this.tell(t("undo.nothing"));
      return Promise.resolve();
    }
    last.isOnItsWay = true;
    const fields = Object.assign({ ifRevision: last.revision }, last.opposite.fields);
    return this.session.change(last.opposite.command, last.timer, fields).then(function (reply) {
      desk.ownRevision = reply.timer ? reply.timer.revision : null;
      desk.settle(last, false);
      desk.tell(t("undo.done", { what: last.words }));
    }, function (refusal) {
      const hasMoved = refusal.code === "revisionMismatch" || refusal.code === "unknownTimer";
      desk.settle(last, PASSING.indexOf(refusal.code) >= 0);
      desk.tell(hasMoved ? t("undo.movedOn", { name: last.name }) : refusalWords(refusal));
    });
  }

  // Whether a state came of a change from here, which has been told already.
  isOwn(state) {
    return state.revision === this.ownRevision;
  }

  // — inside —

  isAllThatRun(timers) {
    return this.session.states().every(function (state) {
      const isRun = state.status === "running" || state.status === "paused";
      return !isRun || timers.indexOf(state.timer) >= 0;
    });
  }

  finishOne(timer) {
    return this.session.change("finish", timer).then(function () { return true; }, function (refusal) {
      if (refusal.code !== "timerHasNotStarted" && refusal.code !== "unknownTimer") {
        throw refusal;
      }
      return false;
    });
  }

  remember(command, timer, fields, before, after) {
    const words = t(deed(command, fields), { name: this.nameOf(timer, before, after) });
    this.ownRevision = after ? after.revision : null;
    const back = opposite(command, fields, before, after);
    this.last = back === null ? null : {
      timer: timer, revision: after.revision, words: words, opposite: back, name: this.nameOf(timer, before, after)
    };
    this.tell(back !== null || isOverByItself(command, fields) ? words : t("did.final", { what: words }));
  }

  // Another change may have taken its place meanwhile.
  settle(undone, mayBeTriedAgain) {
    undone.isOnItsWay = false;
    if (!mayBeTriedAgain && this.last === undone) {
      this.last = null;
    }
  }

  tell(words) {
    this.told({ words: words, canUndo: this.canUndo });
  }

  nameOf(timer, before, after) {
    return after && after.title || before && before.title || timer;
  }
}

// The server's own words say most; they are English.
export function refusalWords(refusal) {
  const translated = t("refusal." + refusal.code);
  return language() === "en" || translated === "refusal." + refusal.code ? refusal.message : translated;
}

function inWords(refusal) {
  const error = new Error(refusalWords(refusal));
  error.code = refusal.code;
  throw error;
}

function isOverByItself(command, fields) {
  return command === "signal" && fields.signal === "flash";
}

function deed(command, fields) {
  if (command === "message") {
    return fields.text ? "did.message" : "did.messageCleared";
  }
  return command === "signal" ? { flash: "did.flash", blackout: "did.blackout", none: "did.light" }[fields.signal] : "did." + command;
}
