// All actions of one timer, as a list in a dialog.

import { linkTo } from "../shared/links.js";
import { askBefore, isFinal } from "./ask.js";
import { closeDialog, focusFirst, openDialog } from "./dialog.js";
import { openEdit } from "./edit.js";
import { openLaps } from "./lap-list.js";
import { define, t } from "../languages/language.js";
import { openMessage } from "./message.js";
import { pressFields } from "../shared/press.js";
import { openShare } from "./share.js";
import { isActive, titleOf } from "../shared/timer.js";

define({
  "action.laps": "Laps",
  "action.message": "Message, flash, blackout",
  "action.share": "Share",
  "action.edit": "Edit settings",
  "action.display": "Open display",
  "action.control": "Open remote control",
  "cannot.finish": "{name} isn't running. There is nothing to finish.",
  "cannot.reset": "{name} is already at its start."
});

const KEYS = { finish: "F", reset: "R", message: "M", share: "S", edit: "E", laps: "I", display: "O" };

// Each takes the timer's name, the session, the commands and the event of the press.
export const ACTIONS = {
  start: (timer, session, commands, event) => { ask("start", timer, { session, commands, event }); },
  finish: (timer, session, commands, event) => { ask("finish", timer, { session, commands, event }); },
  reset: (timer, session, commands, event) => {
    if (isFinal("reset", session.state(timer))) {
      ask("reset", timer, { session, commands, event });
    } else {
      commands.change("reset", timer, {}, pressFields(event, session, timer))
        .catch((refusal) => { commands.report(refusal.message); });
    }
  },
  laps: openLaps,
  message: openMessage,
  share: openShare,
  edit: openEdit,
  remove: (timer, session, commands, event) => { ask("remove", timer, { session, commands, event }); }
};

// Null when the action makes sense now.
export function whyUseless(action, timer, session) {
  const state = session.state(timer);
  const name = titleOf(state, timer);
  if (action === "finish" && !isActive(state)) {
    return t("cannot.finish", { name });
  }
  return action === "reset" && state.status === "idle" ? t("cannot.reset", { name }) : null;
}

// `openHelp`, if given, is the last entry.
export function openActions(timer, session, commands, openHelp) {
  const state = session.state(timer);
  const dialog = openDialog({ title: titleOf(state, timer), template: "actions" });
  const laps = state.type === "stopwatch" ? ["laps"] : [];
  const actions = session.mayControl ? ["finish", "reset", ...laps, "message", "edit", "share"] : [...laps, "share"];
  actions.forEach(addAction);
  addLink("display");
  if (session.mayControl) {
    addLink("control");
    addAction("remove");
  }
  if (openHelp !== undefined) {
    addEntry(buttonWith(t("help.title"), () => {
      closeDialog();
      openHelp();
    }), "?");
  }
  focusFirst(dialog);

  function addAction(action) {
    const button = buttonWith(t("action." + action), (event) => { run(action, event); });
    button.setAttribute("data-action", action);
    button.setAttribute("aria-disabled", String(whyUseless(action, timer, session) !== null));
    addEntry(button, KEYS[action]);
  }

  function run(action, event) {
    const isThere = session.state(timer) !== undefined;
    const reason = isThere ? whyUseless(action, timer, session) : null;
    if (reason !== null) {
      dialog.find(".message").textContent = reason;
      return;
    }
    closeDialog();
    if (isThere) {
      ACTIONS[action](timer, session, commands, event);
    }
  }

  function addLink(view) {
    const link = document.createElement("a");
    link.href = linkTo(view, [timer], session.token);
    link.textContent = t("action." + view);
    addEntry(link, KEYS[view]);
  }

  function addEntry(element, key) {
    const item = document.createElement("li");
    item.appendChild(element);
    if (key !== undefined) {
      const hint = document.createElement("kbd");
      hint.textContent = key;
      hint.setAttribute("aria-hidden", "true");
      element.appendChild(hint);
    }
    dialog.find(".menu").appendChild(item);
  }
}

// — inside —

function buttonWith(words, press) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words;
  button.addEventListener("click", press);
  return button;
}

// The question is about the run that was on the screen when it was asked, whatever starts while it is open.
function ask(command, timer, { session, commands, event }) {
  const { ifRun } = pressFields(event, session, timer);
  const name = titleOf(session.state(timer), timer);
  askBefore(command, name, () => commands.change(command, timer, {}, { ifRun }));
}
