// The frame of every view: the connection's state and announcements.

import { define, t } from "../languages/language.js";

define({ "connection.restored": "Connected again", "connection.lost": "Connection lost" });

// Announces words to screen readers, but not each second.
export function announce(words) {
  document.getElementById("announcer").textContent = words;
}

// Setting even the same text would cost a layout.
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

export function showConnection(session) {
  const bar = document.getElementById("connection");
  let wasOnline = null; // null before the first connection
  ["link", "clock", "beat"].forEach((type) => { session.on(type, refresh); });

  function refresh() {
    const words = session.trouble();
    bar.hidden = words === null;
    setText(bar, words || "");
    document.body.classList.toggle("stale", words !== null);
    const { isOnline } = session;
    if (wasOnline !== null && isOnline !== wasOnline) {
      announce(t(isOnline ? "connection.restored" : "connection.lost"));
    }
    wasOnline = isOnline || (wasOnline === null ? null : false);
  }
}
