// Addresses of this page's views.

// `token`, if given, goes along: a new tab may not know ours.
export function linkTo(view, timers, token) {
  const query = timers.map((name) => "timer=" + encodeURIComponent(name));
  if (view === "control") {
    query.push("control");
  }
  if (token) {
    query.push("token=" + encodeURIComponent(token));
  }
  return query.length > 0 ? "./?" + query.join("&") : "./";
}
