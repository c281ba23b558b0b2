// One timer of the dashboard. DOM only: no socket, no clock. Every word from the wire goes in as text.

import { define, t } from "../languages/language.js";
import { pressOnce } from "../shared/press.js";
import { setAttribute, setText } from "../shared/shell.js";

define({
  "card.running": "Running",
  "card.paused": "Paused",
  "card.idle": "Ready",
  "card.finished": "Finished",
  "card.overtime": "Overtime",
  "press.start": "Start",
  "press.again": "Start again",
  "press.pause": "Pause",
  "press.resume": "Resume",
  "press.lap": "Lap",
  "press.minutes": "{sign}{n} min",
  "press.seconds": "{sign}{n} s",
  "card.time": "Time of {name}",
  "card.more": "More for {name}",
  "card.ends": "ends at {time}",
  "card.ended": "ended at {time}",
  "card.laps": { one: "{n} lap", other: "{n} laps" },
  "card.dark": "screens are dark"
});

const PRIMARY = { idle: "start", running: "pause", paused: "resume", finished: "start" };
const DAY = 86400; // seconds
const STEPS = 400; // what a bar is drawn in: less cannot be seen

let count = 0;

export class Card {
  // `press(command, event)` is called for each button.
  constructor(name, press) {
    const template = document.getElementById("timer");
    this.name = name;
    this.element = document.importNode(template.content, true).firstElementChild;
    this.parts = {};
    ["h2", ".name", ".status", ".digits", ".note", ".message", ".progress", ".main"].forEach(function (selector) {
      this.parts[selector] = this.element.querySelector(selector);
    }, this);
    this.article = this.element.firstElementChild;
    this.bar = this.parts[".progress"].firstElementChild;
    this.shown = {};
    this.setUp();
    this.element.addEventListener("click", function (event) {
      const button = event.target.closest("button");
      if (button !== null) {
        press(button.getAttribute("data-command"), event);
      }
    });
  }

  // state: as the server sent it; reading: what of it is shown now (see countdown.js); wallOffset: what a time of day is
  // ahead of the server's clock. Only what differs is touched: two hundred cards are painted each second.
  show(state, reading, wallOffset) {
    if (state !== this.shown.state) {
      this.showState(state);
    }
    if (reading.text !== this.shown.text) {
      this.shown.text = reading.text;
      this.parts[".digits"].textContent = reading.text;
      setAttribute(this.parts[".digits"], "data-length", reading.text.length > 7 ? "long" : reading.text.length > 5 ? "middle" : "short");
    }
    if (reading.level !== this.shown.level || state !== this.shown.state || wallOffset !== this.shown.wallOffset) {
      this.shown.level = reading.level;
      this.shown.wallOffset = wallOffset;
      setAttribute(this.article, "data-level", reading.level);
      setText(this.parts[".status"], statusWords(state, reading));
      setText(this.parts[".note"], noteOf(state, reading, wallOffset));
    }
    this.showProgress(reading);
    this.shown.state = state;
  }

  // What the first button does now.
  get primary() {
    return this.parts[".main"].getAttribute("data-command");
  }

  // Why a button did not do what was wished.
  say(words) {
    this.parts[".message"].textContent = words;
  }

  // A control that would be refused says so and stays reachable: a button that is disabled while it has the focus
  // drops a keyboard user at the top of the page.
  enable(isEnabled) {
    if (isEnabled !== this.isEnabled) {
      this.isEnabled = isEnabled;
      this.showButtons();
    }
  }

  // — inside —

  setUp() {
    count += 1;
    this.parts["h2"].id = "timer-" + count;
    this.article.setAttribute("aria-labelledby", "timer-" + count);
    this.element.setAttribute("data-name", this.name);
    this.parts[".digits"].setAttribute("data-timer", this.name);
    this.parts[".digits"].setAttribute("aria-label", t("card.time", { name: this.name }));
    this.button("subtract").textContent = t("press.minutes", { sign: "−", n: 1 });
    this.button("add").textContent = t("press.minutes", { sign: "+", n: 1 });
    pressOnce(this.parts[".main"]);
    this.button("lap").textContent = t("press.lap");
    this.button("more").setAttribute("aria-label", t("card.more", { name: this.name }));
  }

  showState(state) {
    setText(this.parts["h2"], state.title || state.timer);
    this.parts[".name"].hidden = !state.title || state.title === state.timer;
    setText(this.parts[".name"], state.timer);
    setAttribute(this.article, "data-status", state.status);
    setAttribute(this.article, "data-type", state.type);
    this.status = state.status;
    this.showButtons();
  }

  showButtons() {
    if (!this.status) {
      return;
    }
    const command = PRIMARY[this.status];
    const isRun = this.status === "running" || this.status === "paused";
    setText(this.parts[".main"], t(this.status === "finished" ? "press.again" : "press." + command));
    setAttribute(this.parts[".main"], "data-command", command);
    setAttribute(this.parts[".main"], "aria-disabled", String(!this.isEnabled));
    setAttribute(this.button("subtract"), "aria-disabled", String(!this.isEnabled || !isRun));
    setAttribute(this.button("add"), "aria-disabled", String(!this.isEnabled || !isRun));
    setAttribute(this.button("lap"), "aria-disabled", String(!this.isEnabled || this.status !== "running"));
  }

  showProgress(reading) {
    const step = reading.fraction === null ? null : Math.round(reading.fraction * STEPS);
    if (step !== this.shown.step) {
      this.shown.step = step;
      this.parts[".progress"].classList.toggle("endless", step === null);
      this.bar.style.transform = step === null ? "" : "scaleX(" + step / STEPS + ")";
    }
  }

  button(command) {
    return this.element.querySelector("[data-command=" + command + "]");
  }
}

export function statusWords(state, reading) {
  return t(state.status === "running" && reading.level === "overtime" ? "card.overtime" : "card." + state.status);
}

// What is worth knowing beside the time: a message that stands, when it ends, how many laps.
export function noteOf(state, reading, wallOffset) {
  return [
    state.signal && state.signal.kind === "blackout" ? t("card.dark") : "",
    state.message ? "“" + state.message.text.replace(/\s+/g, " ") + "”" : "",
    state.laps ? t("card.laps", { n: state.laps.length }) : "",
    state.status === "running" && state.type === "timer" ? endWords(state, reading, wallOffset) : ""
  ].filter(Boolean).join(" · ");
}

// Time of day where the viewer is.
function endWords(state, reading, wallOffset) {
  const endsAt = state.lastElapsedTimeCalculatedAt + state.duration - state.elapsedTime + wallOffset;
  return t(reading.level === "overtime" ? "card.ended" : "card.ends", { time: timeOfDay(endsAt, Math.abs(reading.time) >= DAY) });
}

// By wall time. A time of day alone would be taken for the next one.
function timeOfDay(instant, isFar) {
  const day = isFar ? { weekday: "short", day: "numeric", month: "short" } : {};
  return new Date(instant * 1000).toLocaleString(document.documentElement.lang + "-u-nu-latn",
    Object.assign({ hour: "numeric", minute: "2-digit" }, day));
}
