// What a person changes from here: each change in words, and the way back from the last one.

import { isAboutRun } from "../client/changes.js";
import { define, t } from "../languages/language.js";
import { refusalWords } from "./refusals.js";
import { runOf } from "../client/runs.js";
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
  "undo.movedOn": "{name} has changed since, so nothing was undone."
});

// Nothing is wrong with what was wished: it may be wished again.
const PASSING = ["offline", "noAnswer", "rateLimited", "storageFailed", "shuttingDown"];

export class Desk {
  // `told({words, canUndo})` is called after each change.
  constructor(session, told) {
    this.session = session;
    this.told = told;
    this.last = null; // {timer, name, revision, run, words, opposite}, or null when there is no way back
    this.ownRevision = null; // that of the latest state that came of a change from here
  }

  // Resolves with the reply; rejects with an Error whose message is for the person. `press`: see pressOf.
  change(command, timer, fields, press) {
    const desk = this;
    const before = this.session.state(timer);
    const sent = Object.assign({}, fields, press, command === "remove" ? { at: undefined } : {});
    if (!isAboutRun(command)) {
      delete sent.ifRun;
    }
    return this.session.change(command, timer, sent).then(function (reply) {
      desk.remember(command, timer, fields || {}, before, reply.timer);
      return reply;
    }, function (refusal) { throw desk.inWords(refusal, timer, before); });
  }

  // Those of these states that were seen; in one step when these are all that run. One that has come to its end meanwhile
  // is fine, one that was started again is told.
  finishMany(states) {
    const desk = this;
    const change = this.isAllThatRun(states) ?
      this.session.change("finishAll", undefined).then(function (reply) { return reply.timers.map(function () { return null; }); }) :
      Promise.all(states.map(this.finishOne, this));
    return change.then(function (ends) {
      const done = ends.filter(function (words) { return words === null; });
      desk.last = null;
      desk.tell([t("did.final", { what: t("did.finishAll", { n: done.length }) })].concat(ends).filter(Boolean).join(" "));
    }, function (refusal) { throw desk.inWords(refusal); });
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
    const isGuarded = isAboutRun(last.opposite.command);
    const fields = Object.assign({ ifRevision: last.revision }, isGuarded ? { ifRun: last.run } : {}, last.opposite.fields);
    return this.session.change(last.opposite.command, last.timer, fields).then(function (reply) {
      desk.ownRevision = reply.timer ? reply.timer.revision : null;
      desk.settle(last, false);
      desk.tell(t("undo.done", { what: last.words }));
    }, function (refusal) {
      const hasMoved = ["revisionMismatch", "runMismatch", "unknownTimer"].indexOf(refusal.code) >= 0;
      desk.settle(last, PASSING.indexOf(refusal.code) >= 0);
      desk.tell(hasMoved ? t("undo.movedOn", { name: last.name }) : refusalWords(refusal));
    });
  }

  // Whether a state came of a change from here, which has been told already.
  isOwn(state) {
    return state.revision === this.ownRevision;
  }

  // — inside —

  isAllThatRun(states) {
    return this.session.states().every(function (state) {
      const isRun = state.status === "running" || state.status === "paused";
      return !isRun || states.some(function (seen) { return seen.timer === state.timer && seen.run === state.run; });
    });
  }

  // Null when it is done, else why not; without a word when there was nothing left to do.
  finishOne(seen) {
    const desk = this;
    return this.session.change("finish", seen.timer, { ifRun: runOf(seen) }).then(function () { return null; }, function (refusal) {
      if (refusal.code === "runMismatch") {
        return desk.inWords(refusal, seen.timer, seen).message;
      }
      if (refusal.code !== "timerHasNotStarted" && refusal.code !== "unknownTimer") {
        throw refusal;
      }
      return "";
    });
  }

  remember(command, timer, fields, before, after) {
    const words = t(deed(command, fields), { name: this.nameOf(timer, before, after) });
    this.ownRevision = after ? after.revision : null;
    const back = opposite(command, fields, before, after);
    this.last = back === null ? null : {
      timer: timer, revision: after.revision, run: runOf(after), words: words, opposite: back, name: this.nameOf(timer, before, after)
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

  inWords(refusal, timer, before) {
    const error = new Error(refusalWords(refusal, this.nameOf(timer, before), this.session.state(timer)));
    error.code = refusal.code;
    return error;
  }
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
