// Sound, speech and vibration on a display. This module loads when they are wanted.

import { AlertScheduler, alertsToCome, inWords, onAlertsChange } from "./alerts.js";
import { session } from "./display.js";
import { t } from "../languages/language.js";
import { isOn } from "./options.js";
import { page } from "../shared/page.js";
import { setAttribute, setText } from "../shared/shell.js";
import { Sound, speak, vibrate } from "./sound.js";

const button = document.getElementById("sound");
const sound = new Sound(showStatus);
const scheduler = new AlertScheduler(session, signal);

button.addEventListener("click", toggle);
["pointerdown", "keydown"].forEach((type) => { document.addEventListener(type, unblock); });
onAlertsChange(session, plan);
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

// Browsers allow sound after any touch of the page.
function unblock(event) {
  if (sound.status === "blocked" && event.target !== button) {
    sound.turnOn();
  }
}

function showStatus() {
  const isBlocked = sound.status === "blocked";
  setAttribute(button, "aria-pressed", String(sound.status === "on"));
  setText(button, t(isBlocked ? "display.blocked" : "display.sound"));
  document.body.classList.toggle("sound-blocked", isBlocked);
}

function plan() {
  const all = alertsToCome(session, page.timers);
  const now = session.now();
  sound.plan(all.filter(isAudible).map((alert) => {
    const { state, left, at } = alert;
    return { key: [state.timer, state.revision, left].join("/"), in: at - now, kind: kindOf(alert) };
  }));
  scheduler.plan(all);
}

function signal(reached) {
  const kinds = reached.filter(isAudible).map(kindOf);
  if (kinds.length > 0 && sound.status === "on") {
    vibrate(kinds.includes("zero") ? "zero" : "warning");
  }
  if (isOn("speech")) {
    reached.map(inWords).forEach(speak);
  }
}

function isAudible({ left, state }) {
  return left === 0 || (state.warnings || []).includes(left);
}

function kindOf({ left }) {
  return left === 0 ? "zero" : "warning";
}
