// Reads the view, the timers and the options from the address of this page.

const TOKEN_KEY = "timersync.token";

export const token = takeToken(); // first, so that it leaves the address at once

// `view`: "dashboard" · "display" (?timer=A&timer=B) · "control" (?timer=A&control).
// `timers`: the names in the address, none on the dashboard. `options`: everything else.
export const page = read(new URLSearchParams(location.search));

export function socketURL() {
  const url = new URL("ws", location.href);
  url.protocol = location.protocol.replace("http", "ws");
  return url.href;
}

function read(options) {
  const timers = options.getAll("timer").filter((name, index, all) => name !== "" && all.indexOf(name) === index);
  const view = timers.length === 0 ? "dashboard" : options.has("control") ? "control" : "display";
  return { view, timers, options };
}

// Moves the token from the address, where others could read it, into this tab's storage. Without storage, it lasts
// until the page is loaded again.
function takeToken() {
  const here = new URL(location.href);
  const given = here.searchParams.get("token");
  if (given !== null) {
    here.searchParams.delete("token");
    history.replaceState(history.state, "", here.href);
  }
  try {
    if (given !== null) {
      sessionStorage.setItem(TOKEN_KEY, given);
    }
    return sessionStorage.getItem(TOKEN_KEY);
  } catch (error) {
    return given;
  }
}
