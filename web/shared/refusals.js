// Why a change was not made, in words.

import { define, language, t } from "../languages/language.js";
import { runOf } from "../client/runs.js";

define({
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
  "refusal.shuttingDown": "The server is being restarted. Try again in a moment.",
  "refusal.runMismatch": "Someone else started {name} again meanwhile; nothing was changed.",
  "refusal.runIsOver": "{name} was reset or removed meanwhile; nothing was changed."
});

// The server's own words say most; they are English. `name` is the timer's, as people read it, and `state` what is
// known of it by now.
export function refusalWords(refusal, name, state) {
  if (refusal.code === "runMismatch") {
    return t(runOf(refusal.state || state) !== 0 ? "refusal.runMismatch" : "refusal.runIsOver", { name: name });
  }
  const translated = t("refusal." + refusal.code);
  return language() === "en" || translated === "refusal." + refusal.code ? refusal.message : translated;
}
