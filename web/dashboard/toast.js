// A bar at the foot of the page: what was just done, and the way back. Screen readers hear it too.

import { define, t } from "../languages/language.js";

define({ "bulletin.undo": "Undo" });

const STAYS = 8000; // milliseconds; the page's own Undo button stays

export class Bulletin {
  constructor(element, undo) {
    this.element = element;
    this.button = element.querySelector("button");
    this.button.textContent = t("bulletin.undo");
    this.button.addEventListener("click", undo);
    this.end = null;
  }

  tell(told) {
    const bulletin = this;
    clearTimeout(this.end);
    this.element.querySelector("p").textContent = told.words;
    this.button.hidden = !told.canUndo && document.activeElement !== this.button; // what is hidden loses the focus
    this.button.setAttribute("aria-disabled", String(!told.canUndo));
    this.element.classList.add("up");
    this.end = setTimeout(function () { bulletin.settle(); }, STAYS);
  }

  // — inside —

  // Not while it is being used.
  settle() {
    const bulletin = this;
    if (this.element.contains(document.activeElement) || this.element.matches(":hover")) {
      this.end = setTimeout(function () { bulletin.settle(); }, STAYS);
      return;
    }
    this.element.classList.remove("up");
    this.element.querySelector("p").textContent = "";
    this.button.hidden = true;
  }
}
