// A button that wants to be held, so that no pocket and no slip of the thumb presses it.

export const HOLD = 900; // milliseconds, as setTimeout counts; control.css fills the button as long

// options: `held(event)`, with that of the finger that came down; `tapped()`, when it was let go too soon; `pressed(event)`, by keyboard or by whatever else
// can't hold.
export function holdToPress(button, options) {
  let alarm = null;
  let isDone = false;

  button.addEventListener("pointerdown", function (event) {
    if (event.button !== 0) {
      return;
    }
    letGo(); // by another finger
    isDone = false;
    button.classList.add("holding");
    alarm = setTimeout(function () {
      isDone = true;
      letGo();
      options.held(event);
    }, HOLD);
  });
  ["pointerup", "pointercancel", "pointerleave"].forEach(function (type) { button.addEventListener(type, letGo); });
  button.addEventListener("contextmenu", function (event) { event.preventDefault(); }); // what a long touch would open
  button.addEventListener("click", function (event) {
    if (event.detail === 0 || !window.PointerEvent) {
      options.pressed(event);
    } else if (!isDone) {
      options.tapped();
    }
  });

  function letGo() {
    clearTimeout(alarm);
    button.classList.remove("holding");
  }
}

// A tick that can be felt, where there is one.
export function tick(milliseconds) {
  if (navigator.vibrate) {
    navigator.vibrate(milliseconds || 12);
  }
}
