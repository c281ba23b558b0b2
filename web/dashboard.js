// Every timer at a glance.

import { linkTo } from "./address.js";
import { parseDuration } from "./duration.js";
import { fill } from "./markup.js";
import { Session } from "./session.js";
import { announce, surround } from "./shell.js";
import { TimerView } from "./card.js";

const SPOKEN = { started: "started", paused: "paused", resumed: "resumed", finished: "finished", reset: "reset", ended: "time is up" };

const main = document.getElementById("view");
const views = new Map(); // name → {view, stop}
const session = new Session({ timers: "*" });

fill(main, "dashboard.html").then(start);

function start() {
  surround(session);
  document.getElementById("make").addEventListener("submit", submit);
  session.on("timer", hearTimer);
  session.on("removed", function (event) { removeCard(event.timer); });
  session.on("link", enableAll);
  session.start();
}

function hearTimer(event) {
  if (!views.has(event.state.timer)) {
    addCard(event.state.timer);
  }
  if (SPOKEN[event.cause]) {
    announce((event.state.title || event.state.timer) + ": " + SPOKEN[event.cause]);
  }
}

function addCard(name) {
  const view = new TimerView({
    name: name,
    press: press.bind(null, name),
    href: linkTo("display", [name], session.token),
    linkText: "Full screen"
  });
  const item = document.createElement("li");
  const after = Array.from(views.keys()).filter(function (other) { return other > name; }).sort()[0];
  item.appendChild(view.element);
  view.enable(session.mayControl);
  document.getElementById("timers").insertBefore(item, after === undefined ? null : views.get(after).view.element.parentElement);
  views.set(name, { view: view, stop: session.watch(name, function (state, shown) {
    if (state !== null) {
      view.show(state, shown);
    }
  }) });
  showWhetherEmpty();
}

function removeCard(name) {
  const known = views.get(name);
  if (known !== undefined) {
    known.stop();
    known.view.element.parentElement.remove();
    views.delete(name);
    showWhetherEmpty();
  }
}

function enableAll() {
  views.forEach(function (known) { known.view.enable(session.mayControl); });
  showWhetherEmpty();
}

function showWhetherEmpty() {
  document.getElementById("none").hidden = views.size > 0 || !session.isOnline || !session.isComplete;
}

function press(name, command) {
  const view = views.get(name).view;
  view.say("");
  wish(name, command).catch(function (refusal) { view.say(refusal.message); });
}

function wish(name, command) {
  if (command !== "add" && command !== "subtract") {
    return session.change(command, name, {});
  }
  const adjust = session.state(name).type === "stopwatch" ? "addElapsedTime" : "addRemainingTime";
  return session.change(adjust, name, { seconds: command === "add" ? 60 : -60, clamp: true });
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
  session.change("start", form.elements.name.value, fields).then(function () {
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
