// The text in place of timers while there are none to show, which says why.

import { linkTo } from "./links.js";
import { page } from "./page.js";
import { define, t } from "../languages/language.js";
import { setText } from "./shell.js";

define({
  "placeholder.loading": "Loading timers…",
  "placeholder.empty": "No timers yet",
  "placeholder.emptyWhy": "Enter a duration above, or choose a preset. " +
    "Every screen shows the timer in the same second.",
  "placeholder.emptyViewOnly": "A timer appears here as soon as someone starts one.",
  "placeholder.offline": "No connection to the server",
  "placeholder.offlineWhy": "This page reconnects by itself. Running timers continue on the server.",
  "placeholder.forbidden": "The server refused this page",
  "placeholder.forbiddenWhy": "Ask the server's operator for a link, or enter your token.",
  "placeholder.token": "Token",
  "placeholder.open": "Open",
  "placeholder.noMatch": "No timer matches “{search}”",
  "placeholder.noMatchWhy": { one: "There is {n} other timer.", other: "There are {n} other timers." },
  "placeholder.clear": "Show all"
});

// "forbidden", "noMatch", "empty", "offline" or "loading"; null while there are timers to show. `shown` and `all` count
// timers.
export function placeholderFor(session, all, shown) {
  const link = session.client.link;
  const isRefused = link.status === "refused" || (session.refusal !== null && !session.isOnline);
  if (isRefused || session.client.problem !== null || session.role === "none") {
    return "forbidden";
  }
  if (all > 0) {
    return shown > 0 ? null : "noMatch";
  }
  if (session.isComplete && session.isOnline) {
    return "empty";
  }
  return link.status === "waiting" || link.attempts > 0 ? "offline" : "loading";
}

export class Placeholder {
  // `clearSearch()` is for when no timer matches.
  constructor(element, session, clearSearch) {
    this.element = element;
    this.session = session;
    this.button = element.querySelector(":scope > button");
    this.button.textContent = t("placeholder.clear");
    this.button.addEventListener("click", clearSearch);
    element.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      openWithToken(element.querySelector("input").value.trim());
    });
  }

  // `kind` is what `placeholderFor` says.
  show(kind, all, search) {
    const isViewOnly = kind === "empty" && !this.session.mayControl;
    const why = isViewOnly ? "placeholder.emptyViewOnly" : "placeholder." + kind + "Why";
    this.element.hidden = kind === null;
    this.element.setAttribute("data-kind", String(kind));
    this.button.hidden = kind !== "noMatch";
    this.element.querySelector("form").hidden = kind !== "forbidden";
    if (kind !== null) {
      setText(this.element.querySelector("h2"), t("placeholder." + kind, { search }));
      setText(this.element.querySelector("p"), kind === "loading" ? "" : t(why, { n: all }));
    }
  }
}

// A change behind the # alone would load nothing.
function openWithToken(token) {
  location.href = linkTo(page.view, page.timers, token);
  if (location.hash !== "") {
    location.reload();
  }
}
