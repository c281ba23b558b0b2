// One timer as a stage: its part of the screen. DOM only; words from the wire go in as text.

import { t, translate } from "../languages/language.js";
import { setAttribute, setText } from "../shared/shell.js";

const FLASH_LASTS = 3; // seconds from its `sentAt`

export class Stage {
  constructor(name) {
    const template = document.getElementById("timer");
    this.name = name;
    this.element = document.importNode(template.content, true).firstElementChild;
    this.digits = this.find(".digits");
    this.shape = null;
    this.warnings = "";
    translate(this.element);
    setText(this.find("h1"), name);
    this.digits.setAttribute("data-timer", name);
    this.digits.setAttribute("aria-label", t("display.time", { name: name }));
  }

  // Both null when nobody has started it.
  show(state, shown) {
    const known = state || { status: "unknown" };
    const seen = shown || { text: "", level: "calm", fraction: null };
    setText(this.find("h1"), known.title || this.name);
    setText(this.find(".status"), state === null ? "" : statusWords(known, seen));
    setText(this.find(".waiting strong"), this.name);
    this.find(".waiting").hidden = state !== null;
    this.digits.hidden = state === null;
    this.write(seen.text);
    setAttribute(this.element, "data-status", known.status);
    setAttribute(this.element, "data-level", seen.level);
    this.showProgress(seen.fraction, state);
    this.showLine(known.message ? known.message.text : "");
    this.fit(state);
  }

  write(text) {
    setText(this.digits, text);
  }

  // A flash is over by itself: gives the seconds after which this is to be called again.
  showSignal(signal, serverNow) {
    const left = signal && signal.kind === "flash" ? signal.sentAt + FLASH_LASTS - serverNow : 0;
    const kind = !signal || (signal.kind === "flash" && left <= 0) ? "none" : signal.kind;
    setAttribute(this.element, "data-signal", kind);
    return left > 0 ? left : null;
  }

  // The largest digits for the space there is, measured anew when their number changes or
  // the space does. From 10:00 to 9:59 they stay as they are.
  fit(state) {
    if (state !== undefined) {
      const shape = this.digits.textContent.replace(/[0-9–]/g, "0");
      const isPadded = shape === "0:00" && state !== null && state.duration >= 600;
      if (shape === this.shape && isPadded === this.isPadded) {
        return;
      }
      const wasAsWide = isPadded && this.shape === "00:00";
      this.shape = shape;
      this.isPadded = isPadded;
      if (wasAsWide) {
        return;
      }
    }
    if (this.digits.hidden) {
      return;
    }
    this.digits.style.fontSize = "100px";
    const size = this.digits.getBoundingClientRect();
    const width = size.width * (this.isPadded ? 1.28 : 1);
    const room = this.room(this.digits.parentElement);
    this.size = Math.floor(100 * Math.min(room.width / width, room.height / size.height));
    this.digits.style.fontSize = this.size + "px";
  }

  // What the digits may fill.
  room(stage) {
    return { width: stage.clientWidth, height: stage.clientHeight };
  }

  // — inside —

  // fraction: null when there is no end.
  showProgress(fraction, state) {
    const bar = this.find(".progress");
    bar.hidden = fraction === null;
    if (fraction !== null) {
      bar.firstElementChild.style.transform = "scaleX(" + fraction.toFixed(4) + ")";
      this.showMarks(bar, state);
    }
  }

  // Where on the bar the warnings are.
  showMarks(bar, state) {
    const marks = (state.warnings || []).filter((warning) => warning < state.duration);
    const wish = marks.join() + "/" + state.duration;
    if (wish === this.warnings) {
      return;
    }
    this.warnings = wish;
    Array.from(bar.querySelectorAll("i")).forEach((old) => { old.remove(); });
    marks.forEach((warning) => {
      const mark = document.createElement("i");
      mark.style.left = (100 * warning / state.duration).toFixed(3) + "%";
      bar.appendChild(mark);
    });
  }

  // The word to the speaker. The longer it is, the smaller its letters.
  showLine(text) {
    const line = this.find(".line");
    if (line.textContent === text) {
      return;
    }
    line.textContent = text;
    line.hidden = text === "";
    setAttribute(line, "data-length", text.length < 24 ? "short" : text.length < 90 ? "middle" : text.length < 250 ? "long" : "full");
  }

  find(selector) {
    return this.element.querySelector(selector);
  }
}

function statusWords(state, shown) {
  const isOver = state.status === "running" && shown.level === "overtime";
  return t(isOver ? "status.overtime" : "status." + state.status);
}
