// Serves the page's files when there is no network, or no server behind a proxy. Never a state: what the API says is
// neither kept nor answered from here, and no address with a token is remembered.

const SHELF = "timersync-shell";
const SHELL = [
  "./", "actions.js", "address.js", "alarm.js", "alerts.js", "awake.js", "bulletin.js", "card.js",
  "changes.js", "clock.js", "connection.js", "control.css", "control.html", "control.js", "controls.css",
  "controls.html", "controls.js", "copy.js", "countdown.js", "dashboard-keys.js", "dashboard.css",
  "dashboard.html", "dashboard.js", "desk.js", "dialog.js", "dialogs.css", "dialogs.html", "display.css",
  "display.html", "display.js", "duration.js", "edit.js", "favicon.svg", "follower.js", "forms.css",
  "freshness.js", "help.js", "hold.js", "icon-192.png", "icon-512.png", "icon-maskable.png", "keys.js",
  "language-ar.js", "language-de.js", "language-es.js", "language-fr.js", "language.js", "lap-list.js",
  "laps.js", "line.js", "look.css", "look.js", "main.js", "make.js", "manifest.webmanifest", "markup.js",
  "offline.js", "order.js", "page.js", "painter.js", "press.js", "refusals.js", "role.js", "runs.js",
  "saving.js", "session.js", "settings.js", "several.js", "share.js", "shell.js", "sound.js", "stage.js",
  "state.js", "style.css", "tab.js", "timersync.js", "undo.js", "watch.js", "words.js"
];
const WITHOUT_SERVER = [502, 503, 504]; // what a proxy says in its place

let stocking = null; // while that goes on

self.addEventListener("install", (event) => {
  event.waitUntil(stockUp().then(() => self.skipWaiting()));
});

self.addEventListener("fetch", (event) => {
  const path = shelfPath(event.request);
  if (path !== null) {
    event.respondWith(fresh(event, path));
  }
});

// The network first, so that a page is never older than its server.
function fresh(event, path) {
  return fetch(event.request).then((answer) => {
    if (answer.status === 200 && !answer.redirected) {
      event.waitUntil(compare(path, answer.clone()));
    }
    return WITHOUT_SERVER.indexOf(answer.status) < 0 ? answer : kept(path, answer);
  }, () => kept(path, Response.error()));
}

function kept(path, otherwise) {
  return caches.open(SHELF).then((shelf) => shelf.match(path)).then((found) => found || otherwise);
}

// Files of two versions must not stand side by side: when one has changed, all are fetched.
function compare(path, answer) {
  return caches.open(SHELF).then((shelf) => shelf.match(path)).then((kept) => {
    const isSame = kept !== undefined && kept.headers.get("ETag") === answer.headers.get("ETag");
    return isSame ? null : stockUp();
  });
}

// Once for all files that are found to have changed meanwhile: with a new version that is each.
function stockUp() {
  if (stocking === null) {
    const end = () => { stocking = null; };
    stocking = caches.open(SHELF).then((shelf) => shelf.addAll(SHELL.map((path) => new Request(path, { cache: "no-cache" }))));
    stocking.then(end, end);
  }
  return stocking;
}

// Under which path a request's answer is kept; null for everything but the files of the page.
function shelfPath(request) {
  const here = new URL("./", self.location.href);
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== here.origin || url.pathname.indexOf(here.pathname) !== 0) {
    return null;
  }
  const path = url.pathname.slice(here.pathname.length) || "./";
  return SHELL.indexOf(path) >= 0 && (url.search === "" || path === "./") ? path : null;
}
