// Serves the page's files when there is no network, or no server behind a proxy. The cache never holds a state: answers
// of the API pass by, and no address with a token is remembered.

const CACHE = "timersync-shell";
const LIST = "files.json"; // the server's list of the files that it serves
const BAD_GATEWAY = [502, 503, 504]; // what a proxy answers when its server is down

let precaching = null; // the promise, while files are being fetched

self.addEventListener("install", (event) => {
  event.waitUntil(precache().then(() => self.skipWaiting()));
});

self.addEventListener("fetch", (event) => {
  const path = cachePath(event.request);
  if (path !== null) {
    event.respondWith(networkFirst(event, path));
  }
});

// The page is then never older than its server.
function networkFirst(event, path) {
  return fetch(event.request).then((answer) => {
    if (answer.status === 200 && !answer.redirected) {
      event.waitUntil(precacheIfChanged(path, answer.clone()));
    }
    return BAD_GATEWAY.includes(answer.status) ? fromCache(path, answer) : answer;
  }, () => fromCache(path, Response.error()));
}

function fromCache(path, otherwise) {
  return caches.open(CACHE).then((cache) => cache.match(path)).then((found) => found || otherwise);
}

// Files of two versions must not meet: when one file has changed, all are fetched. A file that is new comes with
// another one that has changed to use it.
function precacheIfChanged(path, answer) {
  return fromCache(path, null).then((known) => {
    const isSame = known === null || known.headers.get("ETag") === answer.headers.get("ETag");
    return isSame ? null : precache();
  });
}

// Several changed files are found at about the same time; they start one download together.
function precache() {
  if (precaching === null) {
    const end = () => { precaching = null; };
    precaching = Promise.all([caches.open(CACHE), listedPaths()]).then(([cache, paths]) => {
      return cache.addAll(paths.map(asRequest)).then(() => removeOthers(cache, paths));
    });
    precaching.then(end, end);
  }
  return precaching;
}

// The worker itself and the documents are not cached, and the index is requested as `./`.
function listedPaths() {
  return fetch(asRequest(LIST)).then((answer) => answer.json()).then((names) => {
    return names.filter((name) => name !== "sw.js" && !name.endsWith(".md"))
      .map((name) => name === "index.html" ? "./" : name);
  });
}

// Removes the files of an earlier version.
function removeOthers(cache, paths) {
  const wanted = new Set(paths.map((path) => asRequest(path).url));
  return cache.keys().then((requests) => {
    return Promise.all(requests.filter((request) => !wanted.has(request.url)).map((request) => cache.delete(request)));
  });
}

function asRequest(path) {
  return new Request(path, { cache: "no-cache" });
}

// The path by which a request's answer would be in the cache; null for what can't be a file of the page.
function cachePath(request) {
  const here = new URL("./", self.location.href);
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== here.origin || !url.pathname.startsWith(here.pathname)) {
    return null;
  }
  const path = url.pathname.slice(here.pathname.length) || "./";
  const isPage = path === "./" || (url.search === "" && !path.startsWith("api/") && path !== LIST);
  return isPage ? path : null;
}
