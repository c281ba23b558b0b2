// Keeps the page's files for a time without network, where the browser allows it: on localhost and
// over https.

if (navigator.serviceWorker) {
  navigator.serviceWorker.register("sw.js").catch(() => {});
}
