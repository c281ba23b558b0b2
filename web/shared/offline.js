// Keeps the page's files for times without a network. Browsers allow that on localhost and over https only.

if (navigator.serviceWorker) {
  navigator.serviceWorker.register("sw.js").catch(() => {});
}
