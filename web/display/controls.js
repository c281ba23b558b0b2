// A display's controls: loaded with the first movement, touch or key, seen for a while after
// each, there all the time for who listens or tabs.

import { linkTo, page } from "../shared/links.js";
import { sleepiness } from "./wake-lock.js";
import { change } from "../client/changes.js";
import { session, stages } from "./display.js";
import { age } from "../shared/freshness.js";
import { define, t, translate } from "../languages/language.js";
import { addModule, addStyle, fill } from "../shared/loader.js";
import { pressedAt, pressOnce } from "../shared/press.js";
import { refusalWords } from "../shared/refusals.js";
import { Runs } from "../client/runs.js";
import { tellOfSaving } from "../shared/saving.js";
import { setAttribute, setText } from "../shared/shell.js";

const SEEN_FOR = 4; // seconds
const MESSAGE_STAYS = 10;
const PRIMARY = {
  unknown: { command: "start", label: "display.stopwatch" },
  idle: { command: "start", label: "display.start" },
  running: { command: "pause", label: "display.pause" },
  paused: { command: "resume", label: "display.resume" },
  finished: { command: "start", label: "display.again" }
};
const NEEDS_RUN = ["subtract", "add", "finish"];

define({
  "display.tools": "This screen", "display.sound": "Sound", "display.blocked": "Tap to enable sound",
  "display.fullscreen": "Full screen", "display.all": "All timers",
  "display.subtract": "−1 min", "display.add": "+1 min", "display.reset": "Reset", "display.finish": "Finish",
  "display.start": "Start", "display.stopwatch": "Start as a stopwatch", "display.pause": "Pause",
  "display.resume": "Resume", "display.again": "Start again",
  "display.useless": "“{name}” is {status}: there is nothing to {verb}.",
  "display.verb.subtract": "take from", "display.verb.add": "add to", "display.verb.reset": "reset",
  "display.verb.finish": "finish", "status.unknown": "not started yet", "fresh.sync": "± {n} ms, synced {age} ago",
  "awake.insecure": "This screen may fall asleep: to keep it awake takes https.",
  "awake.unknown": "This screen may fall asleep: this browser can't keep it awake.",
  "awake.refused": "This screen may fall asleep: the browser refuses to keep it awake."
});

const view = document.getElementById("view");
const runs = new Runs(session);
let unseen = null; // when the controls go away again
let isByKeyboard = false;

addStyle("display/controls.css").then(() => fill(view, "display/controls.html")).then(start);

function start() {
  const isReachedFor = document.activeElement === find("open");
  find("open").remove();
  translate(view);
  openTools();
  stages.forEach(addControls);
  ["pointermove", "pointerdown", "touchstart", "keydown", "focusin"].forEach((type) => {
    document.addEventListener(type, seen, { passive: true });
  });
  if (document.body.classList.contains("touched")) {
    seen({ type: "keydown" }); // it may have been one
  }
  if (isReachedFor) { // what is removed loses the focus
    (view.querySelector("footer:not([hidden]) .primary") || find("all")).focus();
  }
}

// — the controls of one timer —

function addControls(stage) {
  const template = document.getElementById("controls");
  const element = document.importNode(template.content, true).firstElementChild;
  const message = element.querySelector(".message");
  let status = "unknown";
  let messageEnd = null;
  translate(element);
  pressOnce(element.querySelector(".primary"));
  stage.element.appendChild(element);
  element.addEventListener("click", click);
  session.on("link", refresh);
  session.watch(stage.name, (state) => {
    status = state === null ? "unknown" : state.status;
    refresh();
  });
  refresh();

  // A button that would be refused stays reachable: one that is disabled while it has the
  // focus drops a keyboard user at the top of the page.
  function refresh() {
    const primary = element.querySelector(".primary");
    element.hidden = session.role !== "control";
    setAttribute(element, "data-status", status);
    setText(primary, t(PRIMARY[status].label));
    setAttribute(primary, "data-command", PRIMARY[status].command);
    Array.from(element.querySelectorAll("button")).forEach((button) => {
      const isUseful = session.mayControl && hasUse(button.dataset.command, status);
      setAttribute(button, "aria-disabled", String(!isUseful));
    });
  }

  function click(event) {
    const button = event.target.closest("button");
    if (button === null) {
      return;
    }
    const command = button.dataset.command;
    say("");
    if (session.mayControl && !hasUse(command, status)) {
      say(t("display.useless", { name: stage.name, status: t("status." + status), verb: t("display.verb." + command) }));
    } else {
      send(stage.name, command, { ifRun: runs.at(stage.name, pressedAt(event)) }).catch((refusal) => {
        const state = session.state(stage.name);
        say(refusalWords(refusal, state && state.title || stage.name, state));
      });
    }
  }

  function say(words) {
    clearTimeout(messageEnd);
    message.textContent = words;
    messageEnd = setTimeout(() => { message.textContent = ""; }, MESSAGE_STAYS * 1000);
  }
}

function hasUse(command, status) {
  if (status === "unknown") {
    return command === "start";
  }
  const isRun = status === "running" || status === "paused";
  return command === "reset" ? status !== "idle" : isRun || NEEDS_RUN.indexOf(command) < 0;
}

function send(name, command, fields) {
  if (command !== "add" && command !== "subtract") {
    return change(session.client, command, name, fields);
  }
  const adjust = session.state(name).type === "stopwatch" ? "addElapsedTime" : "addRemainingTime";
  return change(session.client, adjust, name, Object.assign({ seconds: command === "add" ? 60 : -60, clamp: true }, fields));
}

// — the tools of the screen —

function openTools() {
  find("all").href = linkTo("dashboard", [], session.token);
  find("fullscreen").hidden = !document.fullscreenEnabled;
  find("fullscreen").addEventListener("click", () => {
    const change = document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen();
    change.catch(() => {});
  });
  tellOfSaving(session, find("saving"));
  session.on("clock", showTools);
  session.on("beat", showTools);
  showTools();
  if (page.options.has("sound") || page.options.has("speech")) {
    addModule("display/alarm.js");
  } else {
    find("sound").addEventListener("click", turnSound);
  }
}

// The first press brings what makes the noise; from then on it listens itself.
function turnSound() {
  find("sound").removeEventListener("click", turnSound);
  page.options.set("sound", "1");
  addModule("display/alarm.js");
}

function showTools() {
  const why = sleepiness();
  setText(find("sync"), agreement(session.clock));
  find("awake").hidden = why === null;
  setText(find("awake"), why === null ? "" : t(why));
}

// Half the round trip is what the offset may be wrong by.
function agreement(clock) {
  const milliseconds = Math.max(1, Math.ceil(clock.roundTrip * 500));
  return clock.isSynced ? t("fresh.sync", { n: milliseconds, age: age(clock.monotonic() - clock.syncedAt) }) : "";
}

function seen(event) {
  if (event.type === "pointermove" && event.movementX === 0 && event.movementY === 0) {
    return; // the page moved below the pointer
  }
  isByKeyboard = event.type === "keydown" || (isByKeyboard && event.type === "focusin");
  document.body.classList.add("touched");
  clearTimeout(unseen);
  unseen = setTimeout(hide, SEEN_FOR * 1000);
}

// Not from under a pointer or the keyboard's focus.
function hide() {
  if (view.querySelector("nav:hover, footer:hover") !== null || (isByKeyboard && view.contains(document.activeElement))) {
    unseen = setTimeout(hide, SEEN_FOR * 1000);
  } else {
    document.body.classList.remove("touched");
  }
}

function find(id) {
  return document.getElementById(id);
}
