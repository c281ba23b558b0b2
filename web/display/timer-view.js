// One timer on a display. Text from the server never becomes HTML.

import { t, translate } from "../languages/language.js";
import { setAttribute, setText } from "../shared/shell.js";
import { isOvertime, statusOf, titleOf } from "../shared/timer.js";

const FLASH_LASTS = 3; // seconds from its `sentAt`

// Calls `run()` whenever the element has another size, whatever the reason.
export function onResize(element, run) {
  if (window.ResizeObserver) {
    new ResizeObserver(run).observe(element);
  } else {
    window.addEventListener("resize", run);
  }
}

export class TimerView {
  constructor(name) {
    const template = document.getElementById("timer");
    this.name = name;
    this.element = document.importNode(template.content, true).firstElementChild;
    this.center = this.find(".center");
    this.digits = this.find(".digits");
    this.writeDigits = setText; // (element, text)
    this.progress = new ProgressBar(this.find(".progress"));
    this.onFit = () => {}; // called when the digits may have another size
    translate(this.element);
    this.digits.setAttribute("data-timer", name);
    this.digits.setAttribute("aria-label", t("display.time", { name }));
    setText(this.find("h1"), name);
    setText(this.find("strong"), name);
    onResize(this.center, () => { this.fit(); });
  }

  // Both are null while nobody has started it.
  show(state, shown) {
    const { text, level, fraction } = shown || { text: "", level: "calm", fraction: null };
    setText(this.find("h1"), titleOf(state, this.name));
    setText(this.find(".status"), state === null ? "" : statusWords(state, shown));
    this.find(".waiting").hidden = state !== null;
    this.digits.hidden = state === null;
    this.writeDigits(this.digits, text);
    setAttribute(this.element, "data-status", statusOf(state));
    setAttribute(this.element, "data-level", level);
    this.progress.show(fraction, state);
    this.showMessage(state && state.message ? state.message.text : "");
    this.fitShape(state);
  }

  // A flash ends by itself: returns the seconds after which to call this again, or null.
  showSignal(signal, serverNow) {
    const isFlash = signal && signal.kind === "flash";
    const left = isFlash ? signal.sentAt + FLASH_LASTS - serverNow : 0;
    setAttribute(this.element, "data-signal", !signal || (isFlash && left <= 0) ? "none" : signal.kind);
    return left > 0 ? left : null;
  }

  // Gives the digits the largest size that fits.
  fit() {
    if (!this.digits.hidden) {
      this.digits.style.fontSize = "100px";
      const size = this.digits.getBoundingClientRect();
      const room = this.progress.roomIn(this.center);
      const width = size.width * (this.isPadded ? 1.28 : 1);
      this.size = Math.floor(100 * Math.min(room.width / width, room.height / size.height));
      this.digits.style.fontSize = this.size + "px";
    }
    this.onFit();
  }

  find(selector) {
    return this.element.querySelector(selector);
  }

  // — inside —

  // The size changes with the number of digits, but not from 10:00 to 9:59.
  fitShape(state) {
    const shape = this.digits.textContent.replace(/[0-9–]/g, "0");
    const isPadded = shape === "0:00" && state !== null && state.duration >= 600;
    const isSame = shape === this.shape && isPadded === this.isPadded;
    const isAsWide = isPadded && this.shape === "00:00";
    this.shape = shape;
    this.isPadded = isPadded;
    if (isSame || isAsWide) {
      this.onFit();
    } else {
      this.fit();
    }
  }

  // A longer message has smaller letters.
  showMessage(text) {
    const message = this.find(".speaker-message");
    const length = text.length < 24 ? "short" : text.length < 90 ? "middle" : text.length < 250 ? "long" : "full";
    setText(message, text);
    message.hidden = text === "";
    setAttribute(message, "data-length", length);
  }
}

class ProgressBar {
  constructor(element) {
    this.element = element;
  }

  // `fraction` is what is left, null for a timer without an end.
  show(fraction, state) {
    this.element.hidden = fraction === null;
    if (fraction !== null) {
      this.element.firstElementChild.style.transform = "scaleX(" + fraction.toFixed(4) + ")";
      this.showMarks(state);
    }
  }

  // The space of an element for its digits.
  roomIn(element) {
    return { width: element.clientWidth, height: element.clientHeight };
  }

  // A mark for each warning.
  showMarks({ warnings, duration }) {
    const places = (warnings || []).filter((left) => left < duration)
      .map((left) => (100 * left / duration).toFixed(3) + "%");
    if (places.join() !== this.marks) {
      this.marks = places.join();
      Array.from(this.element.querySelectorAll("i")).forEach((mark) => { mark.remove(); });
      places.forEach((place) => {
        this.element.appendChild(document.createElement("i")).style.left = place;
      });
    }
  }
}

function statusWords(state, shown) {
  return t("status." + (isOvertime(state, shown) ? "overtime" : state.status));
}
