// What the address of a page asks for, and addresses of other pages.

import { takeToken } from "./token.js";

export const token = takeToken(); // first, so that it is gone from the address

// `view`: "dashboard" · "display" (?timer=A&timer=B) · "control" (?timer=A&control).
// `timers`: the names asked for, none on the dashboard. `options`: everything else.
export const page = read(new URLSearchParams(location.search));

// The address of a view, to be opened in a tab that may not know our token yet.
export function linkTo(view, timers, withToken) {
  const query = (timers || []).map(function (name) { return "timer=" + encodeURIComponent(name); });
  if (view === "control") {
    query.push("control");
  }
  if (withToken) {
    query.push("token=" + encodeURIComponent(withToken));
  }
  return query.length > 0 ? "./?" + query.join("&") : "./";
}

export function socketURL() {
  const url = new URL("ws", location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

function read(options) {
  const timers = options.getAll("timer").filter(function (name, index, all) {
    return name !== "" && all.indexOf(name) === index;
  });
  const view = timers.length === 0 ? "dashboard" : options.has("control") ? "control" : "display";
  return { view: view, timers: timers, options: options };
}
