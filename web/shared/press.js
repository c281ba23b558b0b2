// The instant at which a button was pressed: that of the finger, not that of the event's handler.

const CLICK_FOLLOWS = 0.5; // seconds; a longer press counts when it ends
const TRUST_WITHIN = 2;
const EXACT_TO = 1;

let down = null; // {target, at} of the latest pointerdown

document.addEventListener("pointerdown", (event) => {
  down = { target: event.target, at: localInstant(event) };
}, true);

// For a button whose meaning changes with each press: a double click, or a key that is held, would undo what the first
// press has done. To be called before the button gets other listeners.
export function ignoreRepeats(button) {
  button.addEventListener("click", (event) => {
    if (event.detail > 1) {
      event.stopImmediatePropagation();
    }
  });
  button.addEventListener("keydown", (event) => {
    if (event.repeat && event.key === "Enter") {
      event.preventDefault();
    }
  });
}

// The fields with which a change of that timer describes its press: the instant, and the run on the screen.
export function pressFields(event, session, timer) {
  return { at: serverInstant(event, session.clock), ifRun: session.runs.at(timer, pressedAt(event)) };
}

// The press on the server's clock; undefined while that isn't known well enough.
export function serverInstant(event, clock) {
  if (!clock.isSynced || clock.roundTrip / 2 >= EXACT_TO) {
    return undefined;
  }
  return Math.round((pressedAt(event) + clock.offset) * 1e6) / 1e6;
}

// The press on the local clock. A click comes when the finger is lifted; a click by keyboard has no finger.
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
