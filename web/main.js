// Wiring: the address says which page this is, the client brings states, the views show
// them at the right instant.

import { ServerClock } from "./clock.js";
import { parseDuration, reading } from "./countdown.js";
import { freshness } from "./freshness.js";
import { TimerSync } from "./timersync.js";
import { takeToken } from "./token.js";
import { TimerView, announce, showLink } from "./view.js";

const MOST_DELAY = 30; // seconds
const SPOKEN = { started: "started", paused: "paused", resumed: "resumed", finished: "finished", reset: "reset", ended: "time is up" };

const parameters = new URLSearchParams(location.search);
const shownName = parameters.get("timer") || null;
const token = takeToken();

const views = new Map(); // name → TimerView
const clock = new ServerClock();
const client = new TimerSync({
  url: socketURL(),
  token: token,
  clock: clock,
  timers: shownName === null ? "*" : [shownName],
  interval: 10, // the page counts by itself, and changes come at once
  listener: hear
});
let wasOnline = null; // null before the first connection
let refusal = null; // why the server lets no socket in, as far as it says

start();

function start() {
  if (shownName === null) {
    openDashboard();
  } else {
    openDisplay();
  }
  window.addEventListener("online", function () { client.hurry(); });
  document.addEventListener("visibilitychange", becomeVisible);
  setInterval(beat, 1000);
  window.timersync = Object.freeze({
    get offset() { return clock.offset; },
    get roundTrip() { return clock.roundTrip; }
  });
  client.connect();
}

// — what happens —

function hear(event) {
  switch (event.type) {
    case "timer": return showTimer(event.state, event.cause);
    case "removed": return removeTimer(event.timer);
    case "clock": return useClock();
    case "link": return showLinkState();
    case "unheard": return askWhy();
  }
}

function showTimer(state, cause) {
  const view = views.get(state.timer) || (shownName === null ? addCard(state.timer) : null);
  if (view === null) {
    return;
  }
  paint(view);
  if (SPOKEN[cause]) {
    announce((state.title || state.timer) + ": " + SPOKEN[cause]);
  }
}

function removeTimer(name) {
  const view = views.get(name);
  if (view === undefined) {
    return;
  }
  clearTimeout(view.nextPaint);
  if (shownName === null) {
    view.element.parentElement.remove();
    views.delete(name);
    showWhetherEmpty();
  } else {
    view.showWaiting();
    document.title = name;
  }
}

// A refused handshake tells a page nothing. The same wish over HTTP is refused in words.
function askWhy() {
  const path = shownName === null ? "api/timers" : "api/timers/" + encodeURIComponent(shownName);
  fetch(path, { cache: "no-store", headers: token === null ? {} : { Authorization: "Bearer " + token } })
    .then(function (answer) { return answer.status === 401 || answer.status === 403 ? answer.json() : null; })
    .then(function (reply) { refusal = reply === null ? null : reply.error.message; })
    .catch(function () { refusal = null; })
    .then(showLinkState);
}

function useClock() {
  paintAll();
  showLinkState();
}

function becomeVisible() {
  if (document.visibilityState === "visible") {
    watchSleep();
    client.hurry();
    paintAll();
    keepAwake();
  }
}

// Ages of the stale mark, and sleep that no repaint has noticed because nothing runs.
function beat() {
  watchSleep();
  showLinkState();
}

function watchSleep() {
  if (clock.noticeSleep()) {
    client.resync();
  }
}

// — painting —

function paintAll() {
  views.forEach(paint);
}

// Shows a timer and comes back at the instant at which its text changes.
function paint(view) {
  const state = client.timers.get(view.name);
  clearTimeout(view.nextPaint);
  if (state === undefined || clock.offset === null) {
    return;
  }
  watchSleep();
  const shown = reading(state, clock.now());
  view.show(state, shown);
  if (shownName !== null) {
    document.title = shown.text + " · " + (state.title || state.timer);
  }
  if (shown.changesIn !== null) {
    const delay = Math.min(shown.changesIn, clock.isSlewing ? 0.1 : MOST_DELAY);
    view.nextPaint = setTimeout(paint, Math.ceil(delay * 1000), view);
  }
}

function showLinkState() {
  const isOnline = client.isOnline;
  showLink(freshness(client, refusal));
  views.forEach(function (view) { view.enable(client.mayControl); });
  if (isOnline !== wasOnline && wasOnline !== null) {
    announce(isOnline ? "Connected again" : "Connection lost");
  }
  wasOnline = isOnline || wasOnline !== null ? isOnline : null;
  if (shownName === null) {
    showWhetherEmpty();
  }
}

// — the two pages —

function openDashboard() {
  document.getElementById("dashboard").hidden = false;
  document.getElementById("make").addEventListener("submit", submit);
}

function openDisplay() {
  const display = document.getElementById("display");
  const view = new TimerView({ name: shownName, press: press.bind(null, shownName), href: address({}), linkText: "All timers" });
  document.body.classList.add("full");
  display.hidden = false;
  display.appendChild(view.element);
  view.fill();
  views.set(shownName, view);
  document.title = shownName;
  keepAwake();
}

function addCard(name) {
  const view = new TimerView({ name: name, press: press.bind(null, name), href: address({ timer: name }), linkText: "Full screen" });
  const item = document.createElement("li");
  const after = Array.from(views.keys()).filter(function (other) { return other > name; }).sort()[0];
  item.appendChild(view.element);
  view.enable(client.mayControl);
  document.getElementById("timers").insertBefore(item, after === undefined ? null : views.get(after).element.parentElement);
  views.set(name, view);
  showWhetherEmpty();
  return view;
}

function showWhetherEmpty() {
  document.getElementById("none").hidden = views.size > 0 || !client.isOnline || !client.isComplete;
}

// A wall display must not fall asleep. Browsers allow this on localhost and over TLS only.
function keepAwake() {
  if (shownName !== null && navigator.wakeLock) {
    navigator.wakeLock.request("screen").catch(function () {});
  }
}

// — wishes —

function press(name, command) {
  const view = views.get(name);
  view.say("");
  wish(name, command).catch(function (refusal) { view.say(refusal.message); });
}

function wish(name, command) {
  if (command !== "add" && command !== "subtract") {
    return client.change(command, name, {});
  }
  const state = client.timers.get(name);
  const adjust = state.type === "stopwatch" ? "addElapsedTime" : "addRemainingTime";
  return client.change(adjust, name, { seconds: command === "add" ? 60 : -60, clamp: true });
}

function submit(event) {
  event.preventDefault();
  const form = event.target;
  const message = form.querySelector(".message");
  message.textContent = "";
  let fields;
  try {
    fields = startFields(form.elements);
  } catch (error) {
    message.textContent = error.message;
    form.elements.duration.focus();
    return;
  }
  client.change("start", form.elements.name.value, fields).then(function () {
    form.reset();
    form.elements.name.focus();
  }, function (refusal) {
    message.textContent = refusal.message;
  });
}

// What is left empty is not sent: the timer keeps what it had.
function startFields(elements) {
  const duration = parseDuration(elements.duration.value);
  const fields = duration === null ? { type: "stopwatch" } : { duration: duration };
  const warnings = elements.warnings.value.split(",").map(parseDuration).filter(function (warning) { return warning !== null; });
  if (elements.title.value !== "") {
    fields.title = elements.title.value;
  }
  if (warnings.length > 0) {
    fields.warnings = warnings;
  }
  if (elements.atZero.value !== "") {
    fields.atZero = elements.atZero.value;
  }
  return fields;
}

// — addresses —

function address(page) {
  const query = [];
  if (page.timer !== undefined) {
    query.push("timer=" + encodeURIComponent(page.timer));
  }
  if (token !== null) {
    query.push("token=" + encodeURIComponent(token));
  }
  return query.length > 0 ? "./?" + query.join("&") : "./";
}

function socketURL() {
  const url = new URL("ws", location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
