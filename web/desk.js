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

export class Desk {
  // `told({words, canUndo})` is called after each change.
  constructor(session, told) {
    this.session = session;
    this.told = told;
    this.last = null; // {timer, revision, words, opposite}, or null when there is no way back
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

  // Those that are named; all of them in one step.
  finishMany(timers, isAll) {
    const desk = this;
    const session = this.session;
    const change = isAll ? session.change("finishAll", undefined) :
      Promise.all(timers.map(function (timer) { return session.change("finish", timer); }));
    return change.then(function (reply) {
      desk.last = null;
      desk.tell(t("did.final", { what: t("did.finishAll", { n: isAll ? reply.timers.length : timers.length }) }));
    }, inWords);
  }

  get canUndo() {
    return this.last !== null;
  }

  // Never another's change: the server refuses when the timer has moved on.
  undo() {
    const desk = this;
    const last = this.last;
    if (last === null) {
      this.tell(t("undo.nothing"));
      return Promise.resolve();
    }
    this.last = null;
    const fields = Object.assign({ ifRevision: last.revision }, last.opposite.fields);
    return this.session.change(last.opposite.command, last.timer, fields).then(function () {
      desk.tell(t("undo.done", { what: last.words }));
    }, function (refusal) {
      const hasMoved = refusal.code === "revisionMismatch" || refusal.code === "unknownTimer";
      desk.tell(hasMoved ? t("undo.movedOn", { name: last.name }) : refusalWords(refusal));
    });
  }

  // — inside —

  remember(command, timer, fields, before, after) {
    const words = t(deed(command, fields), { name: this.nameOf(timer, before, after) });
    const back = opposite(command, fields, before, after);
    this.last = back === null ? null : {
      timer: timer, revision: after.revision, words: words, opposite: back, name: this.nameOf(timer, before, after)
    };
    this.tell(back !== null || isOverByItself(command, fields) ? words : t("did.final", { what: words }));
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
