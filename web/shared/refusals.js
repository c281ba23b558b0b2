// Why a change was refused, in words.

import { define, language, t } from "../languages/language.js";
import { runOf } from "../client/runs.js";

define({
  "refusal.offline": "Offline. Changes are possible again when the server is back.",
  "refusal.forbidden": "This screen is view-only.",
  "refusal.noAnswer": "The server didn't answer. The change may or may not have been applied.",
  "refusal.timerAlreadyStarted": "This timer is already running or paused.",
  "refusal.timerAlreadyPaused": "This timer is already paused.",
  "refusal.timerHasNotPaused": "This timer isn't paused.",
  "refusal.timerHasNotStarted": "This timer isn't running.",
  "refusal.unknownTimer": "This timer no longer exists.",
  "refusal.revisionMismatch": "This timer was just changed elsewhere. Check it, then try again.",
  "refusal.outOfRange": "That is outside the timer's limits.",
  "refusal.rateLimited": "Too many changes at once. Wait a moment.",
  "refusal.tooManyTimers": "The server's limit of timers is reached. Remove a timer first.",
  "refusal.storageFailed": "The server couldn't save this, so nothing was changed. Try again.",
  "refusal.shuttingDown": "The server is restarting. Try again in a moment.",
  "refusal.runMismatch": "Someone else restarted {name} in the meantime. Nothing was changed.",
  "refusal.runIsOver": "{name} was reset or removed in the meantime. Nothing was changed."
});

// The server's own words say most, in English. `name` is the timer's title or name, `state` its latest state.
export function refusalWords(refusal, name, state) {
  if (refusal.code === "runMismatch") {
    return t(runOf(refusal.state || state) !== 0 ? "refusal.runMismatch" : "refusal.runIsOver", { name });
  }
  const translated = t("refusal." + refusal.code);
  return language() === "en" || translated === "refusal." + refusal.code ? refusal.message : translated;
}

// Null while this page may send changes.
export function whyNoChanges(session) {
  if (session.mayControl) {
    return null;
  }
  return t(session.isOnline ? "refusal.forbidden" : "refusal.offline");
}
