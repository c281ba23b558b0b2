// Addresses of this page and of others.

export { page, socketURL, token } from "./page.js";

// The address of a view, to be opened in a tab that may not know our token yet.
export function linkTo(view, timers, withToken) {
  const query = (timers || []).map((name) => "timer=" + encodeURIComponent(name));
  if (view === "control") {
    query.push("control");
  }
  if (withToken) {
    query.push("token=" + encodeURIComponent(withToken));
  }
  return query.length > 0 ? "./?" + query.join("&") : "./";
}
