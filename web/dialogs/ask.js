// Asks before a command that no undo takes back. The rule is the same in every view.

import { confirm } from "./dialog.js";
import { define, t } from "../languages/language.js";
import { isActive, lapsOf } from "../shared/timer.js";

define({
  "action.finish": "Finish",
  "action.reset": "Reset",
  "action.remove": "Remove",
  "action.start": "Start",
  "confirm.finish": "Finish {name}?",
  "confirm.reset": "Reset {name}?",
  "confirm.remove": "Remove {name}?",
  "confirm.start": "Start {name} again?",
  "confirm.finishWhy": "This ends the run on every screen. It can't be undone.",
  "confirm.resetWhy": "The timer stops and goes back to its start. This can't be undone.",
  "confirm.removeWhy": "The timer disappears from every screen, with its laps and settings. This can't be undone.",
  "confirm.startWhy": "The stopwatch starts from zero. The laps of its last run are lost. This can't be undone."
});

// Whether the command discards something: a run that goes on, or laps.
export function isFinal(command, state) {
  switch (command) {
    case "finish":
    case "remove": return true;
    case "reset": return Boolean(isActive(state) || state.laps);
    case "start": return lapsOf(state).length > 0;
    default: return false;
  }
}

// `go()` sends the command and returns a promise.
export function askBefore(command, name, go) {
  confirm({
    title: t("confirm." + command, { name }),
    question: t("confirm." + command + "Why"),
    yes: () => t("action." + command),
    go
  });
}
