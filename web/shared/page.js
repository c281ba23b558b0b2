// What the address of this page asks for.

const TOKEN_IN = "timersync.token";

export const token = takeToken(); // first, so that it is gone from the address

// `view`: "dashboard" · "display" (?timer=A&timer=B) · "control" (?timer=A&control).
// `timers`: the names asked for, none on the dashboard. `options`: everything else.
export const page = read(new URLSearchParams(location.search));

export function socketURL() {
  const url = new URL("ws", location.href);
  url.protocol = location.protocol.replace("http", "ws");
  return url.href;
}

function read(options) {
  const timers = options.getAll("timer").filter((name, index, all) => {
    return name !== "" && all.indexOf(name) === index;
  });
  const view = timers.length === 0 ? "dashboard" : options.has("control") ? "control" : "display";
  return { view: view, timers: timers, options: options };
}

// Taken from the address, where others could read it over a shoulder or find it in a history, and kept for this tab.
// A browser that keeps nothing for us still shows the page until it is loaded anew.
function takeToken() {
  const here = new URL(location.href);
  const given = here.searchParams.get("token");
  if (given !== null) {
    here.searchParams.delete("token");
    history.replaceState(history.state, "", here.href);
  }
  try {
    if (given !== null) {
      sessionStorage.setItem(TOKEN_IN, given);
    }
    return sessionStorage.getItem(TOKEN_IN);
  } catch (error) {
    return given;
  }
}
