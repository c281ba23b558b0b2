// A wall display must not fall asleep. Browsers allow that on localhost and over https only, and
// may refuse; then the screen says so.

let why = null;

// A key of language.js for why this screen may fall asleep; null while it is kept awake.
export function sleepiness() {
  return why;
}

export function keepAwake() {
  if (!navigator.wakeLock) {
    why = window.isSecureContext ? "awake.unknown" : "awake.insecure";
    return;
  }
  document.addEventListener("visibilitychange", ask); // the lock is gone while the page is hidden
  ask();
}

function ask() {
  if (document.visibilityState === "visible") {
    navigator.wakeLock.request("screen").then(() => { why = null; }, () => { why = "awake.refused"; });
  }
}
