// What surrounds every view.

import { define, t } from "../languages/language.js";

define({ "shell.again": "Connected again", "shell.lost": "Connection lost" });

// For those who listen: what has changed, never each second.
export function announce(words) {
  document.getElementById("announcer").textContent = words;
}

// Touching the DOM costs layout, even for what is there already.
export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) {
    element.setAttribute(name, value);
  }
}

// Keeps the mark and the announcements of a session up to date.
export function surround(session) {
  const mark = document.getElementById("link");
  let wasOnline = null; // null before the first connection
  ["link", "clock", "beat"].forEach((type) => { session.on(type, refresh); });

  function refresh() {
    const words = session.trouble();
    mark.hidden = words === null;
    setText(mark, words || "");
    document.body.classList.toggle("stale", words !== null);
    const isOnline = session.isOnline;
    if (wasOnline !== null && isOnline !== wasOnline) {
      announce(t(isOnline ? "shell.again" : "shell.lost"));
    }
    wasOnline = isOnline || wasOnline !== null ? isOnline : null;
  }
}
