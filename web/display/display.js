// One timer, or several side by side, filling a screen.

import { page } from "../shared/page.js";
import { Bell, inWords, upcoming } from "./alerts.js";
import { keepAwake } from "./wake-lock.js";
import { Follower } from "../client/follower.js";
import { define, languageReady, translate } from "../languages/language.js";
import { addModule, addStyle, fill } from "../shared/loader.js";
import { announce, surround } from "../shared/shell.js";
import { Stage } from "./timer-view.js";
import { showInTab } from "./tab.js";
import { Watch } from "../shared/session.js";

const WAKERS = ["pointermove", "pointerdown", "touchstart", "keydown", "focusin"];

define({
  "display.open": "Controls", "display.time": "Time of {name}", "display.waiting": "Waiting for the start of",
  "status.idle": "ready", "status.running": "running", "status.paused": "paused", "status.finished": "finished",
  "status.overtime": "overtime"
});

export const session = new Watch(Follower, page.timers);
export const stages = [];
const bell = new Bell(session.sureNow.bind(session), say);
const main = document.getElementById("view");
const isPlain = Array.from(page.options.keys()).every((name) => name === "timer");

Promise.all([fill(main, "display/display.html"), addStyle("display/display.css").catch(() => {}), languageReady]).then(start);

function start() {
  translate(main);
  page.timers.forEach(addStage);
  window.addEventListener("resize", () => { stages.forEach((stage) => { stage.fit(); }); });
  WAKERS.forEach((type) => { document.addEventListener(type, openControls); });
  document.getElementById("open").addEventListener("click", openControls);
  const extras = [isPlain ? null : "display/appearance.js", stages.length > 1 ? "display/grid.js" : null].filter(Boolean);
  Promise.all(extras.map(addModule)).then(begin);
}

function begin() {
  main.classList.add("ready");
  surround(session);
  onChange(plan);
  session.start();
  keepAwake();
  setTimeout(openControls, 10000);
}

// — stages —

function addStage(name, index) {
  const stage = new Stage(name);
  stages.push(stage);
  document.getElementById("stages").appendChild(stage.element);
  session.watch(name, (state, shown) => {
    stage.show(state, shown);
    showSignal(stage);
    if (index === 0) {
      showInTab(state, shown, name);
    }
  });
}

// A flash ends by itself, on the server's clock; after a reload it does not begin anew.
function showSignal(stage) {
  clearTimeout(stage.signalEnd);
  const state = session.state(stage.name);
  const left = stage.showSignal(state === undefined ? null : state.signal, session.now());
  if (left !== null) {
    stage.signalEnd = setTimeout(showSignal, left * 1000 + 1, stage);
  }
}

// — words for those who listen, never each second —

function plan() {
  bell.plan(moments().filter((moment) => moment.isSpoken));
}

function say(reached) {
  announce(reached.map(inWords).join(". "));
}

// What is to come on this page's timers.
export function moments() {
  return upcoming(page.timers.map(session.state, session).filter(Boolean), session.now());
}

// Whenever that may have changed.
export function onChange(plan) {
  ["timer", "removed", "clock"].forEach((type) => { session.on(type, plan); });
}

// — controls: loaded with the first movement, or after a while —

export function openControls(event) {
  const isStill = event && event.type === "pointermove" && event.movementX === 0 && event.movementY === 0;
  if (event && !isStill) { // or the page has moved below the pointer
    document.body.classList.add("touched");
  }
  if (!isStill) {
    addModule("display/controls.js").catch(() => {}); // the next movement tries again
  }
}
