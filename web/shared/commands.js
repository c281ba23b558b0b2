// Sends a person's commands, says in words what each has done, and undoes the last one.

import { isAboutRun } from "../client/changes.js";
import { runOf } from "../client/runs.js";
import { define, t } from "../languages/language.js";
import { refusalWords } from "./refusals.js";
import { isActive, titleOf } from "./timer.js";
import { opposite } from "./undo.js";

define({
  "done.start": "Started {name}.",
  "done.pause": "Paused {name}.",
  "done.resume": "Resumed {name}.",
  "done.finish": "Finished {name}.",
  "done.finishAll": { one: "Finished {n} timer.", other: "Finished {n} timers." },
  "done.reset": "Reset {name}.",
  "done.addRemainingTime": "Changed the time of {name}.",
  "done.addElapsedTime": "Changed the time of {name}.",
  "done.remove": "Removed {name}.",
  "done.update": "Updated {name}.",
  "done.message": "Message sent to the screens of {name}.",
  "done.messageCleared": "Cleared the message of {name}.",
  "done.flash": "Flashed the screens of {name}.",
  "done.blackout": "Blacked out the screens of {name}.",
  "done.none": "Ended the blackout of {name}.",
  "done.lap": "Recorded a lap of {name}.",
  "done.final": "{what} This can't be undone.",
  "undo.button": "Undo",
  "undo.done": "Undone: {what}",
  "undo.nothing": "Nothing to undo.",
  "undo.changed": "{name} has changed since then. Nothing was undone."
});

// After these, the same command may succeed later.
const TEMPORARY = ["offline", "noAnswer", "rateLimited", "storageFailed", "shuttingDown"];

export class Commands {
  // Calls `onReport({words, canUndo})` after each command.
  constructor(session, onReport) {
    this.session = session;
    this.onReport = onReport;
    this.last = null; // {timer, title, revision, run, words, opposite}; null while nothing can be undone
    this.ownRevision = null; // of the latest state that a command from here has made
  }

  // Resolves with the reply; rejects with an Error whose message is for the person. `press`: see pressFields.
  change(command, timer, fields, press) {
    const before = this.session.state(timer);
    const sent = Object.assign({}, fields, press, command === "remove" ? { at: undefined } : {});
    if (!isAboutRun(command)) {
      delete sent.ifRun;
    }
    return this.session.change(command, timer, sent).then((reply) => {
      this.remember({ command, timer, fields: fields || {} }, before, reply.timer);
      return reply;
    }, (refusal) => { throw this.errorFor(refusal, timer, before); });
  }

  // Finishes these states' runs, in one step when no other timer is active. A run that has ended meanwhile is fine; the
  // report names a timer that was started again.
  finishMany(states) {
    const change = this.areAllActive(states) ?
      this.session.change("finishAll", undefined).then((reply) => reply.timers.map(() => null)) :
      Promise.all(states.map((state) => this.finishOne(state)));
    return change.then((results) => {
      const count = results.filter((words) => words === null).length;
      const done = t("done.final", { what: t("done.finishAll", { n: count }) });
      this.last = null;
      this.report([done].concat(results).filter(Boolean).join(" "));
    }, (refusal) => { throw this.errorFor(refusal); });
  }

  get canUndo() {
    return this.last !== null && !this.last.isBeingUndone;
  }

  // The server refuses this when the timer has changed since: nobody undoes another's change.
  undo() {
    const last = this.last;
    if (!this.canUndo) {
      this.report(t("undo.nothing"));
      return Promise.resolve();
    }
    const { command, fields } = last.opposite;
    const conditions = Object.assign({ ifRevision: last.revision }, isAboutRun(command) ? { ifRun: last.run } : {});
    last.isBeingUndone = true;
    return this.session.change(command, last.timer, Object.assign(conditions, fields)).then((reply) => {
      this.ownRevision = reply.timer ? reply.timer.revision : null;
      this.endUndo(last, false);
      this.report(t("undo.done", { what: last.words }));
    }, (refusal) => {
      const hasChanged = ["revisionMismatch", "runMismatch", "unknownTimer"].includes(refusal.code);
      this.endUndo(last, TEMPORARY.includes(refusal.code));
      this.report(hasChanged ? t("undo.changed", { name: last.title }) : refusalWords(refusal));
    });
  }

  // Whether a command from here has made this state, which is then reported already.
  isOwn(state) {
    return state.revision === this.ownRevision;
  }

  report(words) {
    this.onReport({ words, canUndo: this.canUndo });
  }

  // — inside —

  areAllActive(states) {
    return this.session.states().filter(isActive).every((state) => {
      return states.some((seen) => seen.timer === state.timer && seen.run === state.run);
    });
  }

  // Resolves with null when the run was finished, with "" when it had ended already, and otherwise with the reason.
  finishOne(seen) {
    return this.session.change("finish", seen.timer, { ifRun: runOf(seen) }).then(() => null, (refusal) => {
      if (refusal.code === "runMismatch") {
        return this.errorFor(refusal, seen.timer, seen).message;
      }
      if (refusal.code !== "timerHasNotStarted" && refusal.code !== "unknownTimer") {
        throw refusal;
      }
      return "";
    });
  }

  remember({ command, timer, fields }, before, after) {
    const title = titleOf(after, titleOf(before, timer));
    const words = t(wordsKey(command, fields), { name: title });
    const back = opposite(command, fields, before, after);
    const isFlash = command === "signal" && fields.signal === "flash"; // it ends by itself
    this.ownRevision = after ? after.revision : null;
    this.last = back === null ? null :
      { timer, title, words, opposite: back, revision: after.revision, run: runOf(after) };
    this.report(back !== null || isFlash ? words : t("done.final", { what: words }));
  }

  // Another command may be the last one by now.
  endUndo(undone, mayRetry) {
    undone.isBeingUndone = false;
    if (!mayRetry && this.last === undone) {
      this.last = null;
    }
  }

  errorFor(refusal, timer, before) {
    const words = refusalWords(refusal, titleOf(before, timer), this.session.state(timer));
    return Object.assign(new Error(words), { code: refusal.code });
  }
}

function wordsKey(command, fields) {
  if (command === "message") {
    return fields.text ? "done.message" : "done.messageCleared";
  }
  return "done." + (command === "signal" ? fields.signal : command);
}
