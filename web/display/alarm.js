// Sound, speech and a shake on a display: loaded when they are wanted.

import { page } from "../shared/page.js";
import { Bell, inWords } from "./alerts.js";
import { moments, onChange, session } from "./display.js";
import { t } from "../languages/language.js";
import { setAttribute, setText } from "../shared/shell.js";
import { Sound, shake, speak } from "./sound.js";

const button = document.getElementById("sound");
const sound = new Sound(showStatus);
const bell = new Bell(session.sureNow.bind(session), reach);

button.addEventListener("click", toggle);
["pointerdown", "keydown"].forEach((type) => { document.addEventListener(type, unblock); });
onChange(plan);
if (isOn("sound")) {
  sound.turnOn();
}
plan();

function toggle() {
  if (sound.status === "on") {
    sound.turnOff();
  } else {
    sound.turnOn();
  }
}

// Any touch of the page is what the browser was waiting for.
function unblock(event) {
  if (sound.status === "blocked" && event.target !== button) {
    sound.turnOn();
  }
}

function showStatus() {
  setAttribute(button, "aria-pressed", String(sound.status === "on"));
  setText(button, t(sound.status === "blocked" ? "display.blocked" : "display.sound"));
  document.body.classList.toggle("blocked", sound.status === "blocked");
}

function plan() {
  const all = moments();
  const now = session.now();
  sound.plan(all.filter(isWarning).map((moment) => {
    const state = moment.state;
    return { key: [state.timer, state.revision, moment.left].join("/"), in: moment.at - now, kind: kindOf(moment) };
  }));
  bell.plan(all);
}

function reach(reached) {
  const warnings = reached.filter(isWarning).map(kindOf);
  if (warnings.length > 0 && sound.status === "on") {
    shake(warnings.indexOf("zero") >= 0 ? "zero" : "warning");
  }
  if (isOn("speech")) {
    reached.map(inWords).forEach(speak);
  }
}

function isWarning(moment) {
  return moment.left === 0 || (moment.state.warnings || []).indexOf(moment.left) >= 0;
}

function kindOf(moment) {
  return moment.left === 0 ? "zero" : "warning";
}

function isOn(name) {
  return page.options.has(name) && page.options.get(name) !== "0";
}
