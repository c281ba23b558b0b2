// A timer's card on the dashboard. It touches the DOM only, and text from the server never becomes HTML.

import { define, t } from "../languages/language.js";
import { ignoreRepeats } from "../shared/press.js";
import { setAttribute, setText } from "../shared/shell.js";
import { isActive, isRunning, primaryCommand, titleOf } from "../shared/timer.js";
import { lengthOf, noteWords, primaryWords, statusWords, stepWords } from "../shared/timer-words.js";

define({ "card.more": "More actions for {name}" });

const STEPS = 400; // positions of a progress bar; a smaller step is invisible

let count = 0;

export class Card {
  // Calls `press(command, event)` for each button.
  constructor(name, press) {
    const template = document.getElementById("timer");
    this.name = name;
    this.element = document.importNode(template.content, true).firstElementChild;
    this.article = this.element.firstElementChild;
    this.parts = {};
    ["h2", ".name", ".status", ".digits", ".note", ".message", ".progress", ".main"].forEach((selector) => {
      this.parts[selector] = this.element.querySelector(selector);
    });
    this.bar = this.parts[".progress"].firstElementChild;
    this.shown = {};
    this.setUp();
    this.element.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button !== null) {
        press(button.getAttribute("data-command"), event);
      }
    });
  }

  // `state` is the server's, `reading` what is shown of it now (see countdown.js), and `wallOffset` the wall clock
  // minus the server's clock. Two hundred cards are painted each second, so only differences touch the DOM.
  show(state, reading, wallOffset) {
    const isSameState = state === this.shown.state;
    if (!isSameState) {
      this.shown.state = state;
      this.showState(state);
    }
    if (reading.text !== this.shown.text) {
      this.shown.text = reading.text;
      this.parts[".digits"].textContent = reading.text;
      setAttribute(this.parts[".digits"], "data-length", lengthOf(reading.text));
    }
    if (!isSameState || reading.level !== this.shown.level || wallOffset !== this.shown.wallOffset) {
      this.shown.level = reading.level;
      this.shown.wallOffset = wallOffset;
      setAttribute(this.article, "data-level", reading.level);
      setText(this.parts[".status"], statusWords(state, reading));
      setText(this.parts[".note"], noteWords(state, reading, wallOffset));
    }
    this.showProgress(reading.fraction);
  }

  // Why a button did nothing.
  showMessage(words) {
    this.parts[".message"].textContent = words;
  }

  // A button that would be refused stays reachable: disabling the button with the focus would send a keyboard user to
  // the top of the page.
  enable(isEnabled) {
    if (isEnabled !== this.isEnabled) {
      this.isEnabled = isEnabled;
      this.showButtons();
    }
  }

  // — inside —

  setUp() {
    count += 1;
    this.parts.h2.id = "timer-" + count;
    this.article.setAttribute("aria-labelledby", "timer-" + count);
    this.element.setAttribute("data-name", this.name);
    this.parts[".digits"].setAttribute("data-timer", this.name);
    this.parts[".digits"].setAttribute("aria-label", t("card.time", { name: this.name }));
    ignoreRepeats(this.parts[".main"]);
    this.button("subtract").textContent = stepWords(-60);
    this.button("add").textContent = stepWords(60);
    this.button("lap").textContent = t("press.lap");
    this.button("more").setAttribute("aria-label", t("card.more", { name: this.name }));
  }

  showState(state) {
    setText(this.parts.h2, titleOf(state, state.timer));
    this.parts[".name"].hidden = titleOf(state, state.timer) === state.timer;
    setText(this.parts[".name"], state.timer);
    setAttribute(this.article, "data-status", state.status);
    setAttribute(this.article, "data-type", state.type);
    this.showButtons();
  }

  showButtons() {
    const { state } = this.shown;
    if (state) {
      setText(this.parts[".main"], primaryWords(state));
      setAttribute(this.parts[".main"], "data-command", primaryCommand(state));
      this.enableButton(this.parts[".main"], true);
      this.enableButton(this.button("subtract"), isActive(state));
      this.enableButton(this.button("add"), isActive(state));
      this.enableButton(this.button("lap"), isRunning(state));
    }
  }

  enableButton(button, isUseful) {
    setAttribute(button, "aria-disabled", String(!this.isEnabled || !isUseful));
  }

  showProgress(fraction) {
    const step = fraction === null ? null : Math.round(fraction * STEPS);
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
