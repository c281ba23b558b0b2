// Sound, speech and a shake on a display: loaded when they are wanted.

import { page } from "./page.js";
import { called, upcoming } from "./alerts.js";
import { session } from "./display.js";
import { t } from "./language.js";
import { setAttribute, setText } from "./shell.js";
import { Sound, shake, speak } from "./sound.js";

const TRUE_FOR = 2; // seconds in which "one minute left" may still be said

const button = document.getElementById("sound");
const sound = new Sound(showStatus);
let next = null;

button.addEventListener("click", toggle);
["pointerdown", "keydown"].forEach((type) => { document.addEventListener(type, unblock); });
["timer", "removed", "clock"].forEach((type) => { session.on(type, plan); });
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

// All moments of all timers of this page, reckoned from their states.
function plan() {
  clearTimeout(next);
  const now = session.now();
  if (now === null) {
    return;
  }
  const moments = page.timers.map(session.state, session)
    .filter((state) => state !== undefined)
    .reduce((all, state) => all.concat(upcoming(state, now).map(named, state)), [])
    .sort((one, other) => one.at - other.at);
  sound.plan(moments.filter((moment) => moment.isWarning).map((moment) => {
    return { key: moment.key, in: moment.at - now, kind: moment.kind };
  }));
  if (moments.length > 0 && moments[0].at - now < 86400) {
    next = setTimeout(reach, Math.ceil((moments[0].at - now) * 1000), moments[0]);
  }
}

function named(moment) {
  return Object.assign({}, moment, {
    key: [this.timer, this.revision, moment.left].join("/"),
    kind: moment.left === 0 ? "zero" : "warning",
    title: this.title || this.timer
  });
}

function reach(moment) {
  const isTrue = session.now() - moment.at < TRUE_FOR;
  const words = called(moment.left);
  if (isTrue && moment.isWarning && sound.status === "on") {
    shake(moment.kind);
  }
  if (isTrue && isOn("speech")) {
    speak(moment.title + ": " + t(words.key, { n: words.n }));
  }
  plan();
}

function isOn(name) {
  return page.options.has(name) && page.options.get(name) !== "0";
}
