// The remote control of one timer, for a thumb.

import { ACTIONS, openActions, whyUseless } from "../dialogs/actions.js";
import { isFinal } from "../dialogs/ask.js";
import { Commands } from "../shared/commands.js";
import { ControlSession } from "../shared/control-session.js";
import { prepareDialogs } from "../dialogs/dialog.js";
import { openHelp } from "../dialogs/help.js";
import { holdToPress, vibrate } from "../shared/hold.js";
import { lapText } from "../dialogs/laps.js";
import { define, languageReady, t, translate } from "../languages/language.js";
import { fill } from "../shared/loader.js";
import { page } from "../shared/page.js";
import { Placeholder, placeholderFor } from "../shared/placeholder.js";
import { ignoreRepeats, pressedAt, pressFields } from "../shared/press.js";
import { whyNoChanges } from "../shared/refusals.js";
import { showSavingTrouble } from "../shared/saving.js";
import { announce, setAttribute, setText, showConnection } from "../shared/shell.js";
import { listenToKeys } from "../shared/shortcuts.js";
import { adjustment, isActive, isRunning, lapsOf, primaryCommand, statusOf, titleOf } from "../shared/timer.js";
import { PRESET_MINUTES } from "../shared/timer-settings.js";
import { lengthOf, noteWords, primaryWords, statusWords, stepWords } from "../shared/timer-words.js";
import "../shared/words.js";

define({
  "control.pad": "Controls",
  "control.title": "Remote: {name}",
  "control.message": "Message",
  "control.more": "All actions, shortcuts and settings",
  "control.holdHint": "Hold to finish. With a keyboard, press Enter and confirm.",
  "control.notStarted": "Nobody has started “{name}” yet. Choose a duration:",
  "control.lastLap": "last {time}",
  "control.addSeconds": "Add {n} seconds",
  "control.subtractSeconds": "Subtract {n} seconds",
  "control.addMinutes": { one: "Add {n} minute", other: "Add {n} minutes" },
  "control.subtractMinutes": { one: "Subtract {n} minute", other: "Subtract {n} minutes" }
});

const main = document.getElementById("view");
const name = page.timers[0];
const session = new ControlSession([name]);
const commands = new Commands(session, showReport);
let placeholder = null;

Promise.all([fill(main, "control/control.html"), languageReady, prepareDialogs()]).then(start);

function start() {
  translate(main);
  placeholder = new Placeholder(find("#placeholder"), session, () => {});
  setUpButtons();
  setUpPresets();
  listenToKeys(bindings);
  showConnection(session);
  showSavingTrouble(session, find("#saving"));
  session.watch(name, show);
  session.on("timer", hearTimer);
  session.on("link", () => { showButtons(session.state(name)); });
  show(null, null);
  session.start();
}

function setUpButtons() {
  Array.from(main.querySelectorAll("[data-seconds]")).forEach((button) => {
    const seconds = Number(button.getAttribute("data-seconds"));
    button.textContent = stepWords(seconds);
    button.setAttribute("aria-label", spokenStep(seconds));
    button.addEventListener("click", (event) => { adjust(seconds, event); });
  });
  ignoreRepeats(find(".main"));
  find(".main").addEventListener("click", pressPrimary);
  find(".lap").addEventListener("click", (event) => { press("lap", event); });
  find(".message-button").addEventListener("click", (event) => { act("message", event); });
  find(".undo").addEventListener("click", () => {
    vibrate();
    commands.undo();
  });
  find(".more").addEventListener("click", openMore);
  holdToPress(find(".finish"), {
    held: finishHeld,
    tapped: () => { showMessage(whyNot("finish") || t("hold.finish")); },
    pressed: (event) => { act("finish", event); }
  });
}

function setUpPresets() {
  const place = find(".presets");
  const words = document.createElement("p");
  words.textContent = t("control.notStarted", { name });
  place.appendChild(words);
  PRESET_MINUTES.forEach((minutes) => { addPreset(t("preset.minutes", { n: minutes }), { duration: minutes * 60 }); });
  addPreset(t("preset.stopwatch"), { type: "stopwatch" });

  function addPreset(label, fields) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", (event) => { press("start", event, fields); });
    place.appendChild(button);
  }
}

// — what is shown —

// Both are null while nobody has started it.
function show(state, shown) {
  const title = titleOf(state, name);
  const { text, level, fraction } = shown || { text: "", level: "calm", fraction: null };
  setText(find("h1"), title);
  document.title = state === null ? t("control.title", { name: title }) : text + " · " + title;
  setText(find(".digits"), text);
  setAttribute(find(".digits"), "aria-label", t("card.time", { name: title }));
  setAttribute(find(".digits"), "data-length", lengthOf(text));
  setText(find(".status"), state === null ? "" : statusWords(state, shown));
  setText(find(".note"), state === null ? "" : noteAndLastLap(state, shown));
  setAttribute(find(".face"), "data-status", statusOf(state));
  setAttribute(find(".face"), "data-level", level);
  find(".progress").classList.toggle("endless", fraction === null);
  find(".progress").firstElementChild.style.transform = fraction === null ? "" : "scaleX(" + fraction.toFixed(4) + ")";
  showButtons(state);
}

function showButtons(state) {
  const count = state ? 1 : 0;
  const kind = placeholderFor(session, count, count);
  const mayControl = session.mayControl;
  const isViewOnly = session.isOnline && session.role === "view";
  const focused = document.activeElement;
  placeholder.show(kind === "empty" && mayControl ? null : kind, 0, "");
  find(".presets").hidden = Boolean(state) || kind !== "empty" || !mayControl;
  find(".pad").hidden = !state;
  find("#view-only").hidden = !isViewOnly;
  [".steps", ".run", ".rest"].forEach((part) => { find(part).hidden = isViewOnly; });
  if (main.contains(focused) && focused.getClientRects().length === 0) { // a hidden button loses the focus
    find(state && !isViewOnly ? ".main" : "h1").focus();
  }
  if (state) {
    setText(find(".main"), primaryWords(state));
    setAttribute(find(".main"), "data-command", primaryCommand(state));
    find(".lap").hidden = state.type !== "stopwatch";
    enable(find(".main"), mayControl);
    enable(find(".lap"), mayControl && isRunning(state));
    enable(find(".finish"), mayControl && isActive(state));
    enable(find(".message-button"), mayControl);
    main.querySelectorAll("[data-seconds]").forEach((button) => { enable(button, mayControl && isActive(state)); });
  }
}

function noteAndLastLap(state, shown) {
  const laps = lapsOf(state);
  const [last = 0, before = 0] = laps.slice().reverse();
  const lap = laps.length === 0 ? "" : t("control.lastLap", { time: lapText(last - before) });
  return [noteWords(state, shown, session.client.wallOffset), lap].filter(Boolean).join(" · ");
}

function enable(button, isEnabled) {
  setAttribute(button, "aria-disabled", String(!isEnabled));
}

function showReport({ words, canUndo }) {
  setText(find(".report"), words);
  enable(find(".undo"), canUndo);
}

function showMessage(words) {
  setText(find(".pad .message"), words);
}

function hearTimer({ state, cause }) {
  const key = "announce." + cause;
  if (t(key) !== key && !commands.isOwn(state)) {
    announce(t(key, { name: titleOf(state, name) }));
  }
}

// — presses —

function pressPrimary(event) {
  const state = session.state(name);
  const command = primaryCommand(state);
  if (isFinal(command, state)) {
    act(command, event);
  } else {
    press(command, event);
  }
}

function press(command, event, fields) {
  const isUselessLap = command === "lap" && !isRunning(session.state(name));
  const reason = whyNoChanges(session) || (isUselessLap ? t("refusal.timerHasNotStarted") : "");
  vibrate();
  showMessage(reason);
  if (reason === "") {
    send(command, fields || {}, pressFields(event, session, name));
  }
}

// The press counts from when the button was held long enough. It is about the run that was on the screen when the
// finger came down.
function finishHeld(down) {
  const reason = whyNot("finish");
  showMessage(reason);
  if (reason === "") {
    vibrate(40);
    send("finish", { ifRun: session.runs.at(name, pressedAt(down)) }, {});
  }
}

function adjust(seconds, event) {
  const state = session.state(name);
  if (session.mayControl && !isActive(state)) {
    showMessage(t("cannot.add", { name: titleOf(state, name) }));
    return;
  }
  const { command, fields } = adjustment(state, seconds);
  press(command, event, fields);
}

function send(command, fields, pressed) {
  commands.change(command, name, fields, pressed).catch((refusal) => { showMessage(refusal.message); });
}

function act(action, event) {
  const reason = whyNot(action);
  showMessage(reason);
  if (reason === "") {
    vibrate();
    ACTIONS[action](name, session, commands, event);
  }
}

// Empty when the action makes sense.
function whyNot(action) {
  return whyNoChanges(session) || whyUseless(action, name, session) || "";
}

function openMore() {
  openActions(name, session, commands, showHelp);
}

function showHelp() {
  openHelp(bindings);
}

function spokenStep(seconds) {
  const size = Math.abs(seconds);
  const verb = seconds < 0 ? "subtract" : "add";
  return size < 60 ? t("control." + verb + "Seconds", { n: size }) : t("control." + verb + "Minutes", { n: size / 60 });
}

// — keys —

function ifStarted(run) {
  return (event) => {
    if (session.state(name) !== undefined) {
      run(event);
    }
  };
}

const acting = (action) => ifStarted((event) => { act(action, event); });
const adjusting = (seconds) => ifStarted((event) => { adjust(seconds, event); });
const undo = () => { commands.undo(); };

const bindings = [
  { key: "?", shown: ["?"], words: "key.help", run: showHelp },
  { key: "p", shown: ["P"], words: "key.pause", run: ifStarted(pressPrimary) },
  { key: "+", also: ["="], shown: ["+", "−"], words: "key.minutes", mayRepeat: true, run: adjusting(60) },
  { key: "-", shown: [], words: null, mayRepeat: true, run: adjusting(-60) },
  { key: "l", shown: ["L"], words: "key.lap", run: ifStarted((event) => { press("lap", event); }) },
  { key: "i", shown: ["I"], words: "key.laps", run: ifStarted(() => {
    if (session.state(name).type === "stopwatch") {
      ACTIONS.laps(name, session, commands);
    }
  }) },
  { key: "f", shown: ["F"], words: "key.finish", run: acting("finish") },
  { key: "r", shown: ["R"], words: "key.reset", run: acting("reset") },
  { key: "m", shown: ["M"], words: "key.message", run: acting("message") },
  { key: "s", shown: ["S"], words: "key.share", run: ifStarted(() => { ACTIONS.share(name, session); }) },
  { key: "e", shown: ["E"], words: "key.edit", run: acting("edit") },
  { key: ".", shown: ["."], words: "key.more", run: ifStarted(openMore) },
  { key: "u", shown: ["U", "Ctrl Z"], words: "key.undo", run: undo },
  { key: "mod+z", shown: [], words: null, run: undo }
];

function find(selector) {
  return main.querySelector(selector);
}
