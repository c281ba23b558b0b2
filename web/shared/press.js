// The instant of a press on the server's clock: that of the finger, not that of the program that hears of it.

const CLICK_FOLLOWS = 0.5; // seconds; a longer press is meant when it ends
const TRUST_WITHIN = 2;
const EXACT_TO = 1;

let down = null; // {target, at} of the latest finger or button

document.addEventListener("pointerdown", function (event) {
  down = { target: event.target, at: localInstant(event) };
}, true);

// For a button that means another thing once it is pressed: the second half of a double click, and a key that is held,
// would take back what the first has done. To be called before it gets its own listeners.
export function pressOnce(button) {
  button.addEventListener("click", function (event) {
    if (event.detail > 1) {
      event.stopImmediatePropagation();
    }
  });
  button.addEventListener("keydown", function (event) {
    if (event.repeat && event.key === "Enter") {
      event.preventDefault();
    }
  });
}

// What goes along with a change of that timer: when it was pressed, and which run was seen then.
export function pressOf(event, session, timer) {
  return { at: pressInstant(event, session.clock), ifRun: session.runs.at(timer, pressedAt(event)) };
}

// Undefined when the clocks have not been compared well enough to say.
export function pressInstant(event, clock) {
  if (!clock.isSynced || clock.roundTrip / 2 >= EXACT_TO) {
    return undefined;
  }
  return Math.round((pressedAt(event) + clock.offset) * 1e6) / 1e6;
}

// On the local clock. A click comes when the finger is lifted. One by the keyboard has no finger.
export function pressedAt(event) {
  const at = localInstant(event);
  const isSame = down !== null && event.type === "click" && event.detail > 0 && event.target.contains &&
    (event.target.contains(down.target) || down.target.contains(event.target));
  return isSame && at - down.at >= 0 && at - down.at < CLICK_FOLLOWS ? down.at : at;
}

// Some browsers of 2018 count `timeStamp` from another zero.
function localInstant(event) {
  const now = performance.now() / 1000;
  const stamped = event.timeStamp / 1000;
  return Math.abs(now - stamped) < TRUST_WITHIN ? stamped : now;
}
