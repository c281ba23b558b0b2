// What a timer's card looks like. DOM only: no socket, no clock. Every word from the wire goes
// in as text.

import { announce, setAttribute, setText } from "./shell.js";

const MESSAGE_STAYS = 10000; // milliseconds, as setTimeout counts
const REALLY_STAYS = 4000;

const PRIMARY = {
  unknown: { command: "start", label: "Start as a stopwatch" },
  idle: { command: "start", label: "Start" },
  running: { command: "pause", label: "Pause" },
  paused: { command: "resume", label: "Resume" },
  finished: { command: "start", label: "Start again" }
};
const NEEDS_RUN = ["subtract", "add", "finish"];

// One timer, as a card of the dashboard.
export class TimerView {
  // options: `name`, `press(command)`, and the link below: `href` and `linkText`.
  constructor(options) {
    const template = document.getElementById("timer");
    this.name = options.name;
    this.element = document.importNode(template.content, true).firstElementChild;
    this.digits = this.find(".digits");
    this.digits.setAttribute("data-timer", options.name);
    this.digits.setAttribute("aria-label", "Time of " + options.name);
    this.find("a").textContent = options.linkText;
    this.find("a").setAttribute("href", options.href);
    this.element.addEventListener("click", this.click.bind(this, options.press));
    this.find(".name").textContent = options.name;
    this.status = null;
    this.showWaiting();
  }

  // state: as the server sent it; reading: what of it is shown now (see countdown.js).
  show(state, reading) {
    this.status = state.status;
    setText(this.find("h2"), state.title || state.timer);
    this.find(".name").hidden = !state.title || state.title === state.timer;
    this.find(".waiting").hidden = true;
    this.digits.hidden = false;
    setText(this.find(".status"), statusWords(state, reading));
    setText(this.digits, reading.text);
    this.digits.classList.toggle("long", reading.text.length > 7);
    setAttribute(this.element, "data-status", state.status);
    setAttribute(this.element, "data-level", reading.level);
    this.showProgress(reading);
    this.showControls();
  }

  // Nobody has started this timer yet.
  showWaiting() {
    this.status = null;
    setText(this.find("h2"), this.name);
    this.find(".name").hidden = true;
    setText(this.find(".status"), "not started yet");
    setText(this.find(".waiting strong"), this.name);
    this.find(".waiting").hidden = false;
    this.digits.hidden = true;
    setText(this.digits, "");
    setAttribute(this.element, "data-status", "unknown");
    setAttribute(this.element, "data-level", "calm");
    this.find(".progress").hidden = true;
    this.showControls();
  }

  // Why a button did not do what was wished.
  say(words) {
    const message = this.find(".message");
    clearTimeout(this.messageEnd);
    message.textContent = words;
    this.messageEnd = setTimeout(function () { message.textContent = ""; }, MESSAGE_STAYS);
  }

  // Controls that would be refused say so and stay reachable: a button that is disabled
  // while it has the focus drops a keyboard user at the top of the page.
  enable(isEnabled) {
    if (isEnabled !== this.isEnabled) {
      this.isEnabled = isEnabled;
      this.showControls();
    }
  }

  // — inside —

  showProgress(reading) {
    const bar = this.find(".progress");
    const isEndless = reading.fraction === null;
    bar.hidden = false;
    bar.classList.toggle("endless", isEndless);
    if (!isEndless) {
      bar.firstElementChild.style.transform = "scaleX(" + reading.fraction.toFixed(4) + ")";
    }
  }

  showControls() {
    const primary = this.find(".primary");
    const meaning = PRIMARY[this.status || "unknown"];
    setText(primary, meaning.label);
    setAttribute(primary, "data-command", meaning.command);
    for (const button of this.element.querySelectorAll("button")) {
      setAttribute(button, "aria-disabled", String(!this.isUseful(button.dataset.command)));
    }
  }

  isUseful(command) {
    if (!this.isEnabled) {
      return false;
    }
    if (this.status === null) {
      return command === "start";
    }
    const isRun = this.status === "running" || this.status === "paused";
    return command === "reset" ? this.status !== "idle" : isRun || NEEDS_RUN.indexOf(command) < 0;
  }

  click(press, event) {
    const button = event.target.closest("button");
    if (button === null) {
      return;
    }
    const command = button.dataset.command;
    if (this.isEnabled && !this.isUseful(command)) {
      this.say("“" + this.name + "” is " + (this.status || "not started yet") + ": there is nothing to " + verb(command) + ".");
    } else if (command === "remove" && this.isEnabled && !button.classList.contains("really")) {
      this.askAgain(button);
    } else {
      this.calmDown();
      press(command);
    }
  }

  // Removing takes a second press on the same button.
  askAgain(button) {
    button.classList.add("really");
    setText(button, "Really?");
    announce("Press again to remove " + this.name);
    button.addEventListener("blur", this.calmDown.bind(this), { once: true });
    this.reallyEnd = setTimeout(this.calmDown.bind(this), REALLY_STAYS);
  }

  calmDown() {
    const button = this.find("[data-command=remove]");
    clearTimeout(this.reallyEnd);
    button.classList.remove("really");
    setText(button, "Remove");
  }

  find(selector) {
    return this.element.querySelector(selector);
  }
}

function statusWords(state, reading) {
  if (state.status === "idle") {
    return "ready";
  }
  return state.status === "running" && reading.level === "overtime" ? "overtime" : state.status;
}

function verb(command) {
  return { add: "add to", subtract: "take from" }[command] || command;
}
