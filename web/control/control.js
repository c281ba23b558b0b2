// One timer's remote control, for a thumb.

import { ACTIONS, isRun, openActions, whyNot } from "../dialogs/actions.js";
import { page } from "../shared/links.js";
import { noteOf, statusWords } from "../dashboard/card.js";
import { Desk } from "../shared/commands.js";
import { prepareDialogs } from "../dialogs/dialog.js";
import { openHelp } from "../dialogs/help.js";
import { holdToPress, tick } from "./hold.js";
import { listen } from "../shared/shortcuts.js";
import { lapText } from "../dialogs/laps.js";
import { define, languageReady, t, translate } from "../languages/language.js";
import { fill } from "../shared/loader.js";
import { pressedAt, pressOf, pressOnce } from "../shared/press.js";
import { tellOfSaving } from "../shared/saving.js";
import { Session } from "../shared/control-session.js";
import { announce, setAttribute, setText, surround } from "../shared/shell.js";
import { StatePanel, stateOf } from "../shared/placeholder.js";
import "../shared/words.js";

define({
  "control.pad": "Controls",
  "control.title": "Remote: {name}",
  "control.line": "Message",
  "control.more": "All actions, keys and settings",
  "control.holdHint": "Hold it to finish. By keyboard, press Enter and confirm.",
  "control.hold": "Hold the button to finish.",
  "control.nobody": "Nobody has started “{name}” yet. Choose how long:",
  "control.lastLap": "last {time}",
  "control.secondsMore": "{n} seconds more",
  "control.secondsLess": "{n} seconds less",
  "control.minutesMore": { one: "{n} minute more", other: "{n} minutes more" },
  "control.minutesLess": { one: "{n} minute less", other: "{n} minutes less" }
});

const PRESETS = [1, 5, 10, 15, 20, 30, 45, 60]; // minutes
const PRIMARY = { idle: "start", running: "pause", paused: "resume", finished: "start" };

const main = document.getElementById("view");
const name = page.timers[0];
const session = new Session([name]);
const desk = new Desk(session, showTold);
let panel = null;

Promise.all([fill(main, "control/control.html"), languageReady, prepareDialogs()]).then(start);

function start() {
  translate(main);
  panel = new StatePanel(find("#state"), session, function () {});
  setUpButtons();
  setUpPresets();
  listen(bindings);
  surround(session);
  tellOfSaving(session, find("#saving"));
  session.watch(name, show);
  session.on("timer", hearTimer);
  session.on("link", showLink);
  show(null, null);
  session.start();
}

function setUpButtons() {
  Array.from(main.querySelectorAll("[data-seconds]")).forEach(function (button) {
    const seconds = Number(button.getAttribute("data-seconds"));
    button.textContent = stepWords(seconds);
    button.setAttribute("aria-label", stepSpoken(seconds));
    button.addEventListener("click", function (event) { adjust(seconds, event); });
  });
  pressOnce(find(".main"));
  find(".main").addEventListener("click", function (event) { press(find(".main").getAttribute("data-command"), event); });
  find(".lap").addEventListener("click", function (event) { press("lap", event); });
  find(".line").addEventListener("click", function (event) { act("line", event); });
  find(".undo").addEventListener("click", function () { tick(); desk.undo(); });
  find(".more").addEventListener("click", openMore);
  holdToPress(find(".finish"), {
    held: finishHeld,
    tapped: function () { say(session.mayControl && isRun(session.state(name)) ? t("control.hold") : whyUseless("finish")); },
    pressed: function (event) { act("finish", event); }
  });
}

function setUpPresets() {
  const place = find(".begin");
  const words = document.createElement("p");
  words.textContent = t("control.nobody", { name: name });
  place.appendChild(words);
  PRESETS.map(function (minutes) { return { words: t("preset.minutes", { n: minutes }), fields: { duration: minutes * 60 } }; })
    .concat([{ words: t("preset.stopwatch"), fields: { type: "stopwatch" } }])
    .forEach(function (preset) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = preset.words;
      button.addEventListener("click", function (event) { press("start", event, 12, preset.fields); });
      place.appendChild(button);
    });
}

// — what is shown —

function show(state, shown) {
  const face = find(".face");
  const title = state === null ? name : state.title || name;
  setText(find("h1"), title);
  document.title = state === null ? t("control.title", { name: title }) : shown.text + " · " + title;
  setText(find(".digits"), state === null ? "" : shown.text);
  setAttribute(find(".digits"), "aria-label", t("card.time", { name: title }));
  setAttribute(find(".digits"), "data-length", state !== null && shown.text.length > 7 ? "long" : state !== null && shown.text.length > 5 ? "middle" : "short");
  setText(find(".status"), state === null ? "" : statusWords(state, shown));
  setText(find(".note"), state === null ? "" : noteWords(state, shown));
  setAttribute(face, "data-status", state === null ? "unknown" : state.status);
  setAttribute(face, "data-level", state === null ? "calm" : shown.level);
  find(".progress").classList.toggle("endless", state === null || shown.fraction === null);
  find(".progress").firstElementChild.style.transform =
    state === null || shown.fraction === null ? "" : "scaleX(" + shown.fraction.toFixed(4) + ")";
  showButtons(state);
}

function showButtons(state) {
  const isThere = state !== null;
  const why = stateOf(session, isThere ? 1 : 0, isThere ? 1 : 0, "");
  const mayControl = session.mayControl;
  const looksOn = session.isOnline && session.role === "view";
  const focused = document.activeElement;
  panel.show(why === "empty" && mayControl ? null : why, 0, "");
  find(".begin").hidden = isThere || why !== "empty" || !mayControl;
  find(".pad").hidden = !isThere;
  find("#looks-on").hidden = !looksOn;
  ["steps", "run", "rest"].forEach(function (part) { find("." + part).hidden = looksOn; });
  if (main.contains(focused) && focused.getClientRects().length === 0) {
    find(isThere && !looksOn ? ".main" : "h1").focus(); // what is hidden loses it
  }
  if (!isThere) {
    return;
  }
  const command = PRIMARY[state.status];
  setText(find(".main"), t(state.status === "finished" ? "press.again" : "press." + command));
  setAttribute(find(".main"), "data-command", command);
  find(".lap").hidden = state.type !== "stopwatch";
  disable(find(".main"), !mayControl);
  disable(find(".lap"), !mayControl || state.status !== "running");
  disable(find(".finish"), !mayControl || !isRun(state));
  disable(find(".line"), !mayControl);
  Array.from(main.querySelectorAll("[data-seconds]")).forEach(function (button) { disable(button, !mayControl || !isRun(state)); });
}

function noteWords(state, shown) {
  const laps = state.laps || [];
  const last = laps.length === 0 ? "" : t("control.lastLap", { time: lapText(laps[laps.length - 1] - (laps[laps.length - 2] || 0)) });
  return [noteOf(state, shown, session.client.wallOffset), last].filter(Boolean).join(" · ");
}

function disable(button, isDisabled) {
  setAttribute(button, "aria-disabled", String(isDisabled));
}

function showLink() {
  showButtons(session.state(name) || null);
}

function showTold(told) {
  setText(find(".told"), told.words);
  setAttribute(find(".undo"), "aria-disabled", String(!told.canUndo));
}

function hearTimer(event) {
  const words = "heard." + event.cause;
  if (t(words) !== words && !desk.isOwn(event.state)) {
    announce(t(words, { name: event.state.title || name }));
  }
}

// — presses —

function press(command, event, milliseconds, fields) {
  say("");
  tick(milliseconds);
  if (!session.mayControl) {
    say(t(session.isOnline ? "refusal.forbidden" : "refusal.offline"));
    return;
  }
  if (command === "lap" && session.state(name).status !== "running") {
    say(t("refusal.timerHasNotStarted"));
    return;
  }
  desk.change(command, name, fields || {}, event === null ? {} : pressOf(event, session, name)).catch(function (refusal) { say(refusal.message); });
}

// It counts from when it is held long enough, and is about what was seen when the finger came down.
function finishHeld(down) {
  const why = whyUseless("finish");
  if (why === "") {
    press("finish", null, 40, { ifRun: session.runs.at(name, pressedAt(down)) });
  } else {
    say(why);
  }
}

function adjust(seconds, event) {
  const state = session.state(name);
  if (session.mayControl && !isRun(state)) {
    say(t("useless.add", { name: state.title || name }));
    return;
  }
  press(state.type === "stopwatch" ? "addElapsedTime" : "addRemainingTime", event, 12, { seconds: seconds, clamp: true });
}

function act(action, event) {
  const why = whyUseless(action);
  say(why);
  if (why === "") {
    tick();
    ACTIONS[action](name, session, desk, event);
  }
}

function openMore() {
  openActions(name, session, desk, function () { openHelp(bindings); });
}

function whyUseless(action) {
  if (!session.mayControl) {
    return t(session.isOnline ? "refusal.forbidden" : "refusal.offline");
  }
  return whyNot(action, name, session) || "";
}

function say(words) {
  setText(find(".pad .message"), words);
}

// — words of the steps —

function stepWords(seconds) {
  const sign = seconds < 0 ? "−" : "+";
  const size = Math.abs(seconds);
  return size < 60 ? t("press.seconds", { sign: sign, n: size }) : t("press.minutes", { sign: sign, n: size / 60 });
}

function stepSpoken(seconds) {
  const size = Math.abs(seconds);
  const way = seconds < 0 ? "Less" : "More";
  return size < 60 ? t("control.seconds" + way, { n: size }) : t("control.minutes" + way, { n: size / 60 });
}

// — keys —

function whenThere(run) {
  return function (event) {
    if (session.state(name) !== undefined) {
      run(event);
    }
  };
}

const bindings = [
  { key: "?", shown: ["?"], words: "key.help", run: function () { openHelp(bindings); } },
  { key: "p", shown: ["P"], words: "key.pause", run: whenThere(function (event) { press(find(".main").getAttribute("data-command"), event); }) },
  { key: "+", also: ["="], shown: ["+", "−"], words: "key.minutes", mayRepeat: true, run: whenThere(function (event) { adjust(60, event); }) },
  { key: "-", shown: [], words: null, mayRepeat: true, run: whenThere(function (event) { adjust(-60, event); }) },
  { key: "l", shown: ["L"], words: "key.lap", run: whenThere(function (event) { press("lap", event); }) },
  { key: "i", shown: ["I"], words: "key.laps", run: whenThere(function () {
    if (session.state(name).type === "stopwatch") {
      ACTIONS.laps(name, session, desk);
    }
  }) },
  { key: "f", shown: ["F"], words: "key.finish", run: whenThere(function (event) { act("finish", event); }) },
  { key: "r", shown: ["R"], words: "key.reset", run: whenThere(function (event) { act("reset", event); }) },
  { key: "m", shown: ["M"], words: "key.line", run: whenThere(function (event) { act("line", event); }) },
  { key: "s", shown: ["S"], words: "key.share", run: whenThere(function () { ACTIONS.share(name, session); }) },
  { key: "e", shown: ["E"], words: "key.edit", run: whenThere(function (event) { act("edit", event); }) },
  { key: ".", shown: ["."], words: "key.more", run: whenThere(openMore) },
  { key: "u", shown: ["U", "Ctrl Z"], words: "key.undo", run: function () { desk.undo(); } },
  { key: "mod+z", shown: [], words: null, run: function () { desk.undo(); } }
];

function find(selector) {
  return main.querySelector(selector);
}
