// A display's controls. They load with the first movement, touch or key, and fade a while after each; a screen reader
// and the Tab key always reach them. What can't be undone has to be held, or is asked about, as in every view.

import { askBefore, isFinal } from "../dialogs/ask.js";
import { change } from "../client/changes.js";
import { Commands } from "../shared/commands.js";
import { isDialogOpen, prepareDialogs } from "../dialogs/dialog.js";
import { holdToPress } from "../shared/hold.js";
import { linkTo } from "../shared/links.js";
import { whyNotAwake } from "./wake-lock.js";
import { session, views } from "./display.js";
import { age } from "../shared/freshness.js";
import { define, t, translate } from "../languages/language.js";
import { addModule, addStyle, fill } from "../shared/loader.js";
import { isOn } from "./options.js";
import { page } from "../shared/page.js";
import { ignoreRepeats, pressedAt, pressFields } from "../shared/press.js";
import { RunHistory } from "../client/runs.js";
import { showSavingTrouble } from "../shared/saving.js";
import { setAttribute, setText } from "../shared/shell.js";
import { adjustment, isActive, primaryCommand, statusOf, titleOf } from "../shared/timer.js";
import { primaryWords } from "../shared/timer-words.js";

const VISIBLE_FOR = 4; // seconds
const MESSAGE_STAYS = 10;
const STEPS = { subtract: -60, add: 60 };

define({
  "display.tools": "This screen", "display.sound": "Sound", "display.blocked": "Tap to turn on sound",
  "display.fullscreen": "Full screen", "display.all": "All timers",
  "display.subtract": "−1 min", "display.add": "+1 min", "display.reset": "Reset", "display.finish": "Finish",
  "display.useless": "“{name}” is {status}. There is nothing to {verb}.",
  "display.verb.subtract": "subtract from", "display.verb.add": "add to", "display.verb.reset": "reset",
  "display.verb.finish": "finish", "status.unknown": "not started yet",
  "freshness.sync": "± {n} ms, synced {age} ago",
  "wakeLock.insecure": "This screen may turn off: keeping it on requires HTTPS.",
  "wakeLock.unknown": "This screen may turn off: this browser can't keep it on.",
  "wakeLock.refused": "This screen may turn off: the browser refused to keep it on."
});

const main = document.getElementById("view");

session.runs = new RunHistory(session);

const commands = new Commands({
  state: (name) => session.state(name),
  change: (command, timer, fields) => change(session.client, command, timer, fields)
}, showReport);
const panels = []; // the controls of each timer
let reportTimeout = null;
let used = null; // the controls that were used last
let fading = null; // the timeout after which the controls go
let isByKeyboard = false;

addStyle("display/controls.css").then(() => fill(main, "display/controls.html")).then(start);

function start() {
  const opener = find("open-controls");
  const hasFocus = document.activeElement === opener;
  opener.remove();
  translate(main);
  setUpTools();
  views.forEach(addControls);
  ["pointermove", "pointerdown", "touchstart", "keydown", "focusin"].forEach((type) => {
    document.addEventListener(type, reveal, { passive: true });
  });
  if (document.body.classList.contains("show-controls")) {
    reveal({ type: "keydown" }); // a key may have loaded this
  }
  if (hasFocus) { // the button's focus is lost
    (main.querySelector("footer:not([hidden]) .primary") || find("all")).focus();
  }
}

// — the controls of one timer —

function addControls(view) {
  const template = document.getElementById("controls");
  const element = document.importNode(template.content, true).firstElementChild;
  const primary = element.querySelector(".primary");
  const message = element.querySelector(".message");
  const panel = { report: element.querySelector(".report"), undo: buttonFor("undo") };
  let messageTimeout = null;
  translate(element);
  ignoreRepeats(primary);
  view.element.appendChild(element);
  panels.push(panel);
  element.addEventListener("click", click);
  ["reset", "finish"].forEach((command) => { setUpHold(buttonFor(command), command); });
  session.on("link", refresh);
  session.watch(view.name, refresh);
  refresh();

  // A button that would be refused stays reachable: disabling the button with the focus would send a keyboard user to
  // the top of the page.
  function refresh() {
    const state = session.state(view.name);
    element.hidden = session.role !== "control";
    setAttribute(element, "data-status", statusOf(state));
    setText(primary, primaryWords(state));
    setAttribute(primary, "data-command", primaryCommand(state));
    Array.from(element.querySelectorAll("button:not([data-command=undo])")).forEach((button) => {
      const isUseful = session.mayControl && hasUse(button.dataset.command, state);
      setAttribute(button, "aria-disabled", String(!isUseful));
    });
  }

  function click(event) {
    const button = event.target.closest("button");
    const command = button === null ? null : button.dataset.command;
    if (command === "undo") {
      used = panel;
      commands.undo();
    } else if (command !== null && !["reset", "finish"].includes(command)) {
      ifFinal(command, event, () => { ask(command, event); });
    }
  }

  function buttonFor(command) {
    return element.querySelector("[data-command=" + command + "]");
  }

  function setUpHold(button, command) {
    holdToPress(button, {
      // The press counts from when the button was held long enough, for the run that was seen when it came down.
      held: (down) => { press(command, down, { ifRun: session.runs.at(view.name, pressedAt(down)) }); },
      tapped: (event) => { ifFinal(command, event, () => { showMessage(t("hold." + command)); }); },
      pressed: (event) => { ifFinal(command, event, () => { ask(command, event); }); }
    });
  }

  function ifFinal(command, event, run) {
    const state = session.state(view.name);
    if (session.mayControl && hasUse(command, state) && isFinal(command, state)) {
      run();
    } else {
      press(command, event);
    }
  }

  function ask(command, event) {
    const { ifRun } = pressFields(event, session, view.name);
    loadDialogs().then(() => {
      used = panel;
      askBefore(command, titleOf(session.state(view.name), view.name), () => {
        return commands.change(command, view.name, {}, { ifRun });
      });
    });
  }

  function press(button, event, pressed) {
    const state = session.state(view.name);
    showMessage("");
    if (session.mayControl && !hasUse(button, state)) {
      const status = t("status." + statusOf(state));
      showMessage(t("display.useless", { name: view.name, status, verb: t("display.verb." + button) }));
      return;
    }
    const isStep = STEPS[button] !== undefined && state !== undefined;
    const { command, fields } = isStep ? adjustment(state, STEPS[button]) : { command: button, fields: {} };
    used = panel;
    commands.change(command, view.name, fields, pressed || pressFields(event, session, view.name))
      .catch((refusal) => { showMessage(refusal.message); });
  }

  function showMessage(words) {
    clearTimeout(messageTimeout);
    message.textContent = words;
    messageTimeout = setTimeout(() => { message.textContent = ""; }, MESSAGE_STAYS * 1000);
  }
}

// Shows the report at the timer that was used.
function showReport(report) {
  writeReport(report);
  clearTimeout(reportTimeout);
  reportTimeout = setTimeout(endReport, MESSAGE_STAYS * 1000);
}

// Undo stays as long as the focus or the pointer is on it.
function endReport() {
  const { undo } = used || panels[0];
  const isWanted = document.activeElement === undo || undo.matches(":hover");
  if (isWanted && undo.getAttribute("aria-disabled") === "false") {
    reportTimeout = setTimeout(endReport, MESSAGE_STAYS * 1000);
  } else {
    writeReport({ words: "", canUndo: false });
  }
}

// The Undo button stays while it has the focus.
function writeReport({ words, canUndo }) {
  panels.forEach((panel) => {
    const isUsed = panel === used;
    setText(panel.report, isUsed ? words : "");
    setAttribute(panel.undo, "aria-disabled", String(!(isUsed && canUndo)));
    panel.undo.hidden = !(isUsed && canUndo) && document.activeElement !== panel.undo;
  });
}

// A display needs dialogs for a question by keyboard only.
function loadDialogs() {
  return Promise.all([prepareDialogs(), addStyle("dialogs/dialogs.css")]);
}

function hasUse(command, state) {
  if (!state) {
    return command === "start";
  }
  if (command === "reset") {
    return state.status !== "idle";
  }
  return isActive(state) || !["subtract", "add", "finish"].includes(command);
}

// — the tools of the screen —

function setUpTools() {
  find("all").href = linkTo("dashboard", [], session.token);
  find("fullscreen").hidden = !document.fullscreenEnabled;
  find("fullscreen").addEventListener("click", () => {
    const isFull = document.fullscreenElement !== null;
    (isFull ? document.exitFullscreen() : document.documentElement.requestFullscreen()).catch(() => {});
  });
  showSavingTrouble(session, find("saving"));
  session.on("clock", showTools);
  session.on("beat", showTools);
  showTools();
  if (isOn("sound") || isOn("speech")) {
    addModule("display/alarm.js");
  } else {
    find("sound").addEventListener("click", loadAlarm);
  }
}

// The first press loads the module for sound, which listens to the button from then on.
function loadAlarm() {
  find("sound").removeEventListener("click", loadAlarm);
  page.options.set("sound", "1");
  addModule("display/alarm.js");
}

function showTools() {
  const reason = whyNotAwake();
  setText(find("sync"), agreement(session.clock));
  find("wake-lock").hidden = reason === null;
  setText(find("wake-lock"), reason === null ? "" : t(reason));
}

// The offset is wrong by half the round trip at most.
function agreement(clock) {
  const n = Math.max(1, Math.ceil(clock.roundTrip * 500));
  return clock.isSynced ? t("freshness.sync", { n, age: age(clock.monotonic() - clock.syncedAt) }) : "";
}

function reveal(event) {
  if (event.type === "pointermove" && event.movementX === 0 && event.movementY === 0) {
    return; // the page has moved below the pointer
  }
  isByKeyboard = event.type === "keydown" || (isByKeyboard && event.type === "focusin");
  document.body.classList.add("show-controls");
  clearTimeout(fading);
  fading = setTimeout(fade, VISIBLE_FOR * 1000);
}

// Waits while a pointer or the keyboard's focus is on the controls.
function fade() {
  const isHovered = isDialogOpen() || main.querySelector("nav:hover, footer:hover") !== null;
  if (isHovered || (isByKeyboard && main.contains(document.activeElement))) {
    fading = setTimeout(fade, VISIBLE_FOR * 1000);
  } else {
    document.body.classList.remove("show-controls");
  }
}

function find(id) {
  return document.getElementById(id);
}
