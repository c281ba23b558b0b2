// Everything that can be done with one timer, as a list: what a card has no room for.

import { linkTo } from "../shared/links.js";
import { closeDialog, confirm, focusFirst, openDialog } from "./dialog.js";
import { openEdit } from "./edit.js";
import { openLaps } from "./lap-list.js";
import { define, t } from "../languages/language.js";
import { openLine, titleOf } from "./message.js";
import { pressOf } from "../shared/press.js";
import { openShare } from "./share.js";

define({
  "action.finish": "Finish",
  "action.reset": "Reset",
  "action.laps": "Laps",
  "action.line": "Message, flash, blackout",
  "action.share": "Share",
  "action.edit": "Title, warnings, at zero",
  "action.display": "Open as a display",
  "action.control": "Open as a remote control",
  "action.remove": "Remove",
  "sure.finish": "Finish {name}?",
  "sure.reset": "Reset {name}?",
  "sure.remove": "Remove {name}?",
  "sure.finishWhy": "Its run ends on every screen. This can't be undone.",
  "sure.resetWhy": "It goes back to its start and stands still. This can't be undone.",
  "sure.removeWhy": "It is gone from every screen, with its laps and settings. This can't be undone.",
  "useless.finish": "{name} does not run: there is nothing to finish.",
  "useless.reset": "{name} stands at its start already."
});

// What can be done, in the order of the list. `timer` is its name.
export const ACTIONS = {
  finish: function (timer, session, desk, event) { sure("finish", timer, session, desk, event); },
  reset: function (timer, session, desk, event) {
    if (isRun(session.state(timer)) || session.state(timer).laps) {
      sure("reset", timer, session, desk, event);
    } else {
      desk.change("reset", timer, {}, pressOf(event, session, timer)).catch(function (refusal) { desk.tell(refusal.message); });
    }
  },
  laps: openLaps,
  line: openLine,
  share: openShare,
  edit: openEdit,
  remove: function (timer, session, desk, event) { sure("remove", timer, session, desk, event); }
};
const KEYS = { finish: "F", reset: "R", line: "M", share: "S", edit: "E", laps: "I" };

// Null when it makes sense now, else why not, in words.
export function whyNot(action, timer, session) {
  const state = session.state(timer);
  if (action === "finish" && !isRun(state)) {
    return t("useless.finish", { name: titleOf(session, timer) });
  }
  return action === "reset" && state.status === "idle" ? t("useless.reset", { name: titleOf(session, timer) }) : null;
}

// `help`, if given, is the last entry.
export function openActions(timer, session, desk, help) {
  const dialog = openDialog({ title: titleOf(session, timer), template: "actions" });
  const list = dialog.find(".menu");
  const state = session.state(timer);
  const own = session.mayControl ? ["finish", "reset"] : [];
  const changing = session.mayControl ? ["line", "edit"] : [];
  own.concat(state.type === "stopwatch" ? ["laps"] : [], changing, ["share"]).forEach(addAction);
  addLink("display");
  if (session.mayControl) {
    addLink("control");
    addAction("remove");
  }
  if (help !== undefined) {
    addHelp();
  }
  focusFirst(dialog);

  function addAction(action) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = t("action." + action);
    button.setAttribute("data-action", action);
    button.setAttribute("aria-disabled", String(whyNot(action, timer, session) !== null));
    button.addEventListener("click", function (event) {
      const why = session.state(timer) === undefined ? null : whyNot(action, timer, session);
      if (why !== null) {
        dialog.find(".message").textContent = why;
        return;
      }
      closeDialog();
      if (session.state(timer) !== undefined) {
        ACTIONS[action](timer, session, desk, event);
      }
    });
    add(button, KEYS[action]);
  }

  function addLink(view) {
    const link = document.createElement("a");
    link.href = linkTo(view, [timer], session.token);
    link.textContent = t("action." + view);
    add(link, view === "display" ? "O" : undefined);
  }

  function addHelp() {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = t("help.title");
    button.addEventListener("click", function () {
      closeDialog();
      help();
    });
    add(button, "?");
  }

  function add(element, key) {
    const item = document.createElement("li");
    item.appendChild(element);
    if (key !== undefined) {
      const hint = document.createElement("kbd");
      hint.textContent = key;
      hint.setAttribute("aria-hidden", "true");
      element.appendChild(hint);
    }
    list.appendChild(item);
  }
}

export function isRun(state) {
  return state !== undefined && (state.status === "running" || state.status === "paused");
}

// — inside —

// What is asked is about the run that was seen when it was asked, whatever is started while the question stands.
function sure(command, timer, session, desk, event) {
  const name = titleOf(session, timer);
  const seen = pressOf(event, session, timer).ifRun;
  confirm({
    title: t("sure." + command, { name: name }),
    question: t("sure." + command + "Why"),
    yes: function () { return t("action." + command); },
    go: function () { return desk.change(command, timer, {}, { ifRun: seen }); }
  });
}
