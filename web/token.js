// The token that the page was opened with: taken from its address, where others could read it over
// a shoulder or find it in a history, and kept for this tab.

const KEY = "timersync.token";

export function takeToken() {
  const here = new URL(location.href);
  const given = here.searchParams.get("token");
  if (given === null) {
    return kept();
  }
  here.searchParams.delete("token");
  history.replaceState(history.state, "", here.href);
  keep(given);
  return given;
}

// A browser that keeps nothing for us still shows the page until it is loaded anew.
function kept() {
  try {
    return sessionStorage.getItem(KEY);
  } catch (error) {
    return null;
  }
}

function keep(token) {
  try {
    sessionStorage.setItem(KEY, token);
  } catch (error) {
    return;
  }
}
