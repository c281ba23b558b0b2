// Keeps the screen on, where the browser allows it.

let reason = null;

// Why this screen may turn off, as a key of words; null while it is kept on.
export function whyNotAwake() {
  return reason;
}

export function keepAwake() {
  if (!navigator.wakeLock) {
    reason = window.isSecureContext ? "wakeLock.unknown" : "wakeLock.insecure";
    return;
  }
  document.addEventListener("visibilitychange", request); // a hidden page loses the lock
  request();
}

function request() {
  if (document.visibilityState === "visible") {
    navigator.wakeLock.request("screen").then(() => { reason = null; }, () => { reason = "wakeLock.refused"; });
  }
}
