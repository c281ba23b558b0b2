// What surrounds every view.

import { define, t } from "./language.js";

define({ "shell.again": "Connected again", "shell.lost": "Connection lost" });

// How fresh what the screen shows is. Null hides the mark.
export function showLink(words) {
  const mark = document.getElementById("link");
  mark.hidden = words === null;
  setText(mark, words || "");
  document.body.classList.toggle("stale", words !== null);
}

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
  let wasOnline = null; // null before the first connection
  session.on("link", refresh);
  session.on("clock", refresh);
  session.on("beat", refresh);

  function refresh() {
    showLink(session.freshness().words);
    const isOnline = session.isOnline;
    if (wasOnline !== null && isOnline !== wasOnline) {
      announce(t(isOnline ? "shell.again" : "shell.lost"));
    }
    wasOnline = isOnline || wasOnline !== null ? isOnline : null;
  }
}
