// What stands in place of timers while there are none to show, and why.

import { linkTo, page } from "./links.js";
import { define, t } from "../languages/language.js";
import { setText } from "./shell.js";

define({
  "state.loading": "Loading timers…",
  "state.empty": "No timers yet",
  "state.emptyWhy": "Type a duration above, or press one of the presets. It shows on every screen at the same second.",
  "state.emptyLook": "Nobody has started one. It shows here as soon as somebody does.",
  "state.offline": "No connection to the server",
  "state.offlineWhy": "This page tries again by itself. Timers that run go on meanwhile; the server keeps them.",
  "state.forbidden": "The server does not let this page in",
  "state.forbiddenWhy": "Ask whoever runs the server for a link, or put in the token that you were given.",
  "state.token": "Token",
  "state.open": "Open",
  "state.noMatch": "No timer is called “{search}”",
  "state.noMatchWhy": { one: "There is {n} timer under another name.", other: "There are {n} timers under other names." },
  "state.clear": "Show all"
});

// Which of them it is: null while there are timers to show. `shown` and `all` count timers.
export function stateOf(session, all, shown, search) {
  if (session.refusal !== null && !session.isOnline || session.client.link.status === "refused" || session.client.problem !== null || session.role === "none") {
    return "forbidden";
  }
  if (all > 0) {
    return shown > 0 ? null : "noMatch";
  }
  if (session.isComplete && session.isOnline) {
    return "empty";
  }
  return session.client.link.status === "waiting" || session.client.link.attempts > 0 ? "offline" : "loading";
}

export class StatePanel {
  // `clear()` ends the search.
  constructor(element, session, clear) {
    this.element = element;
    this.session = session;
    this.button = element.querySelector(":scope > button");
    this.button.textContent = t("state.clear");
    this.button.addEventListener("click", clear);
    element.querySelector("form").addEventListener("submit", function (event) {
      event.preventDefault();
      reopen(element.querySelector("input").value.trim());
    });
  }

  show(state, all, search) {
    const why = { empty: this.session.mayControl ? "state.emptyWhy" : "state.emptyLook" }[state] || "state." + state + "Why";
    this.element.hidden = state === null;
    this.element.setAttribute("data-state", String(state));
    this.button.hidden = state !== "noMatch";
    this.element.querySelector("form").hidden = state !== "forbidden";
    if (state !== null) {
      setText(this.element.querySelector("h2"), t("state." + state, { search: search }));
      setText(this.element.querySelector("p"), state === "loading" ? "" : t(why, { n: all }));
    }
  }
}

// The same page with another token. What stands behind # alone loads nothing.
function reopen(token) {
  location.href = linkTo(page.view, page.timers, token);
  if (location.hash !== "") {
    location.reload();
  }
}
