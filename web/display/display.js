// One timer, or several side by side, on a whole screen.

import { page } from "../shared/page.js";
import { keepAwake } from "./wake-lock.js";
import { Follower } from "../client/follower.js";
import { define, languageReady, translate } from "../languages/language.js";
import { addModule, addStyle, fill } from "../shared/loader.js";
import { Session } from "../shared/session.js";
import { showConnection } from "../shared/shell.js";
import { titleOf } from "../shared/timer.js";
import { TimerView } from "./timer-view.js";

const TOUCHES = ["pointermove", "pointerdown", "touchstart", "keydown", "focusin"];
const LEAST_URGENT = ["display/announcements.js", "display/tab-icon.js"];

define({
  "display.controls": "Controls", "display.time": "Time of {name}", "display.waiting": "Waiting to start",
  "status.idle": "ready", "status.running": "running", "status.paused": "paused", "status.finished": "finished",
  "status.overtime": "overtime"
});

export const session = new Session(Follower, page.timers);
export const views = [];
const main = document.getElementById("view");
const isPlain = Array.from(page.options.keys()).every((name) => name === "timer");

Promise.all([
  fill(main, "display/display.html"), addStyle("display/display.css").catch(() => {}), languageReady
]).then(start);

function start() {
  translate(main);
  views.push(...page.timers.map((name) => new TimerView(name)));
  views.forEach((view) => { document.getElementById("grid").appendChild(view.element); });
  TOUCHES.forEach((type) => { document.addEventListener(type, openControls); });
  document.getElementById("open-controls").addEventListener("click", openControls);
  const extras = [isPlain ? null : "display/appearance.js", views.length > 1 ? "display/grid.js" : null];
  Promise.all(extras.filter(Boolean).map(addModule)).then(follow);
}

function follow() {
  main.classList.add("ready");
  showConnection(session);
  views.forEach((view) => { session.watch(view.name, (state, shown) => { show(view, state, shown); }); });
  session.start();
  keepAwake();
  setTimeout(() => { LEAST_URGENT.forEach(addWithPatience); }, 3000);
  setTimeout(openControls, 10000);
}

// A part that failed to load is tried again when the connection changes.
function addWithPatience(path) {
  addModule(path).catch(() => {
    const stop = session.on("link", () => {
      stop();
      addWithPatience(path);
    });
  });
}

function show(view, state, shown) {
  view.show(state, shown);
  showSignal(view);
  if (view === views[0]) {
    document.title = (state === null ? "" : shown.text + " · ") + titleOf(state, view.name);
  }
}

// A flash ends by the server's clock, and a page that loads later does not repeat it.
function showSignal(view) {
  clearTimeout(view.flashEnd);
  const state = session.state(view.name);
  const left = view.showSignal(state && state.signal, session.now());
  if (left !== null) {
    view.flashEnd = setTimeout(showSignal, left * 1000 + 1, view);
  }
}

// The controls load with the first movement, or after a while.
export function openControls(event) {
  const isStill = event && event.type === "pointermove" && event.movementX === 0 && event.movementY === 0;
  if (!isStill) { // else the page has moved below the pointer
    if (event) {
      document.body.classList.add("show-controls");
    }
    addModule("display/controls.js").catch(() => {}); // the next movement tries again
  }
}
