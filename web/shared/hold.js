// A button that has to be held, so that neither a pocket nor a slip of the thumb presses it.

import { define } from "../languages/language.js";

export const HOLD = 900; // milliseconds; control.css and controls.css fill the button in the same time

define({ "hold.finish": "Hold the button to finish.", "hold.reset": "Hold the button to reset." });

// Calls `held(event)` with the pointerdown, `tapped(event)` when the button was released too soon, and `pressed(event)`
// for a keyboard and other devices that can't hold.
export function holdToPress(button, { held, tapped, pressed }) {
  let timeout = null;
  let isDone = false;

  button.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) {
      return;
    }
    letGo(); // of another finger
    isDone = false;
    button.classList.add("holding");
    timeout = setTimeout(() => {
      isDone = true;
      letGo();
      held(event);
    }, HOLD);
  });
  ["pointerup", "pointercancel", "pointerleave"].forEach((type) => { button.addEventListener(type, letGo); });
  button.addEventListener("contextmenu", (event) => { event.preventDefault(); }); // a long touch would open it
  button.addEventListener("click", (event) => {
    if (event.detail === 0 || !window.PointerEvent) {
      pressed(event);
    } else if (!isDone) {
      tapped(event);
    }
  });

  function letGo() {
    clearTimeout(timeout);
    button.classList.remove("holding");
  }
}

// A short vibration, where there is one.
export function vibrate(milliseconds) {
  if (navigator.vibrate) {
    navigator.vibrate(milliseconds || 12);
  }
}
