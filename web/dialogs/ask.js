// Asks before a command that no undo takes back. The rule is the same in every view.

import { confirm } from "./dialog.js";
import { define, t } from "../languages/language.js";
import { isActive } from "../shared/timer.js";

define({
  "action.finish": "Finish",
  "action.reset": "Reset",
  "action.remove": "Remove",
  "confirm.finish": "Finish {name}?",
  "confirm.reset": "Reset {name}?",
  "confirm.remove": "Remove {name}?",
  "confirm.finishWhy": "This ends the run on every screen. It can't be undone.",
  "confirm.resetWhy": "The timer stops and goes back to its start. This can't be undone.",
  "confirm.removeWhy": "The timer disappears from every screen, with its laps and settings. This can't be undone."
});

// Whether the command throws something away: a run that goes on, or laps.
export function isFinal(command, state) {
  return ["finish", "remove"].includes(command) || (command === "reset" && Boolean(isActive(state) || state.laps));
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
