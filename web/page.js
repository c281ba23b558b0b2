// What the address of this page asks for.

import { takeToken } from "./token.js";

export const token = takeToken(); // first, so that it is gone from the address

// `view`: "dashboard" · "display" (?timer=A&timer=B) · "control" (?timer=A&control).
// `timers`: the names asked for, none on the dashboard. `options`: everything else.
export const page = read(new URLSearchParams(location.search));

export function socketURL() {
  const url = new URL("ws", location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

function read(options) {
  const timers = options.getAll("timer").filter((name, index, all) => {
    return name !== "" && all.indexOf(name) === index;
  });
  const view = timers.length === 0 ? "dashboard" : options.has("control") ? "control" : "display";
  return { view: view, timers: timers, options: options };
}
