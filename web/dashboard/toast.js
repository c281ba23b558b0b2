// A bar at the foot of the page that reports what was just done, with a button to undo it. Screen readers read it, too.

import { t } from "../languages/language.js";

const STAYS = 8000; // milliseconds; the Undo button of the header stays longer

export class Toast {
  constructor(element, undo) {
    this.element = element;
    this.text = element.querySelector("p");
    this.button = element.querySelector("button");
    this.button.textContent = t("undo.button");
    this.button.addEventListener("click", undo);
    this.timeout = null;
  }

  show({ words, canUndo }) {
    this.text.textContent = words;
    this.button.hidden = !canUndo && document.activeElement !== this.button; // a hidden button would lose the focus
    this.button.setAttribute("aria-disabled", String(!canUndo));
    this.element.classList.add("visible");
    this.hideLater();
  }

  // — inside —

  hideLater() {
    clearTimeout(this.timeout);
    this.timeout = setTimeout(() => { this.hide(); }, STAYS);
  }

  // A bar stays while it has the focus or the pointer.
  hide() {
    if (this.element.contains(document.activeElement) || this.element.matches(":hover")) {
      this.hideLater();
    } else {
      this.element.classList.remove("visible");
      this.text.textContent = "";
      this.button.hidden = true;
    }
  }
}
