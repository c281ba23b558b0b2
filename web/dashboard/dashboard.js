// Every timer at a glance.

import { ACTIONS, isRun, openActions, whyNot } from "../dialogs/actions.js";
import { Bulletin } from "./toast.js";
import { Card } from "./card.js";
import { bindingsOf } from "./shortcuts.js";
import { Desk } from "../shared/commands.js";
import { confirm, prepareDialogs } from "../dialogs/dialog.js";
import { openHelp } from "../dialogs/help.js";
import { listen } from "../shared/shortcuts.js";
import { define, languageReady, t, translate } from "../languages/language.js";
import { titleOf } from "../dialogs/message.js";
import { setUpMaking } from "./new-timer.js";
import { fill } from "../shared/loader.js";
import { matches, sorted } from "./order.js";
import { Painter } from "./painter.js";
import { pressOf } from "../shared/press.js";
import { Session } from "../shared/control-session.js";
import { keepSetting, setting } from "../shared/settings.js";
import { tellOfSaving } from "../shared/saving.js";
import { announce, setText, surround } from "../shared/shell.js";
import { StatePanel, stateOf } from "../shared/placeholder.js";
import "../shared/words.js";

define({
  "dashboard.title": "Timers",
  "dashboard.count": { one: "{n} timer, {running} running", other: "{n} timers, {running} running" },
  "dashboard.search": "Search",
  "dashboard.found": { one: "{n} timer found", other: "{n} timers found" },
  "dashboard.sort": "Sort by",
  "dashboard.layout": "Layout",
  "dashboard.finishMany": "Finish…",
  "dashboard.help": "Keys and settings",
  "layout.large": "Large",
  "layout.compact": "Compact",
  "sort.name": "Name",
  "sort.time": "Time left",
  "sort.status": "Status",
  "many.title": "Finish timers",
  "many.question": "The runs of these timers end on every screen. This can't be undone.",
  "many.yes": { one: "Finish {n} timer", other: "Finish {n} timers" },
  "many.none": "No timer runs: there is nothing to finish."
});

const REORDER_EVERY = 5000; // milliseconds, as setInterval counts, and the two below
const PRESS_MOST = 3000; // who holds on longer does not mean a press
const CLICK_WITHIN = 300; // from lifting the finger

const main = document.getElementById("view");
const session = new Session("*");
const cards = new Map(); // name → Card
let desk = null;
let painter = null;
let bulletin = null;
let panel = null;
let list = null;
let search = "";
let isReordering = false;
let isPressed = false;
let stillness = null; // the timeout that ends it
let lastPress = null; // name of the timer that single keys are about when no card has the focus

Promise.all([fill(main, "dashboard/dashboard.html"), languageReady, prepareDialogs()]).then(start);

function start() {
  translate(main);
  document.title = t("dashboard.title");
  list = find("#timers");
  bulletin = new Bulletin(find("#bulletin"), undo);
  desk = new Desk(session, function (told) {
    bulletin.tell(told);
    find("#undo").setAttribute("aria-disabled", String(!told.canUndo));
  });
  painter = new Painter(session);
  panel = new StatePanel(find("#state"), session, clearSearch);
  setUpMaking(find("#make"), session, desk);
  setUpTools();
  listen(bindings);
  surround(session);
  tellOfSaving(session, find("#saving"));
  session.on("timer", hearTimer);
  session.on("removed", function (event) { removeCard(event.timer); });
  session.on("link", showLink);
  list.addEventListener("focusin", function (event) { lastPress = nameAt(event.target); });
  list.addEventListener("pointerdown", function () { holdStill(PRESS_MOST); });
  ["pointerup", "pointercancel"].forEach(function (type) { document.addEventListener(type, letGo); });
  setInterval(reorder, REORDER_EVERY);
  showAll();
  session.start();
}

function setUpTools() {
  find("#search").addEventListener("input", function (event) {
    search = event.target.value;
    arrange();
    announce(search === "" ? "" : t("dashboard.found", { n: shownCards().length }));
  });
  find("#sort").value = setting("sort", "name");
  find("#sort").addEventListener("change", function (event) {
    keepSetting("sort", event.target.value);
    arrange();
  });
  find(".switch").addEventListener("click", function (event) {
    const button = event.target.closest("button");
    if (button !== null) {
      useLayout(button.getAttribute("data-layout"));
    }
  });
  useLayout(setting("layout", "large"));
  find("#undo").addEventListener("click", undo);
  find("#finish-many").addEventListener("click", finishMany);
  find("#help").addEventListener("click", function () { openHelp(bindings); });
}

// — cards —

function hearTimer(event) {
  const name = event.state.timer;
  const known = cards.has(name) ? cards.get(name).shown.state : undefined;
  if (!cards.has(name)) {
    addCard(name);
  }
  painter.paintNow(name);
  if (known === undefined || known.revision !== event.state.revision) {
    showAll(); // a tick is no reason to move a card
  }
  const words = "heard." + event.cause;
  if (t(words) !== words && !desk.isOwn(event.state)) {
    announce(t(words, { name: event.state.title || name }));
  }
}

function addCard(name) {
  const card = new Card(name, function (command, event) { press(name, command, event); });
  card.enable(session.mayControl);
  cards.set(name, card);
  painter.add(name, card.show.bind(card));
}

function removeCard(name) {
  const card = cards.get(name);
  if (card !== undefined) {
    const hadFocus = card.element.contains(document.activeElement);
    const next = card.element.nextElementSibling || card.element.previousElementSibling;
    painter.remove(name);
    card.element.remove();
    cards.delete(name);
    showAll();
    if (hadFocus) {
      (next || find("h1")).focus();
    }
  }
}

// Many changes may come in one go; the list is looked through once.
function showAll() {
  if (!isReordering) {
    isReordering = true;
    Promise.resolve().then(function () {
      isReordering = false;
      showCount();
      if (!isPressed) {
        arrange();
      }
    });
  }
}

// Puts the cards that the search finds into their order, and touches only those that are out of place.
function arrange() {
  const states = session.states().filter(function (state) { return cards.has(state.timer) && matches(state, search); });
  const order = sorted(states, find("#sort").value, session.now() || 0);
  const wanted = new Set(order.map(function (state) { return state.timer; }));
  const focused = document.activeElement;
  const place = shownCards().findIndex(function (element) { return element.contains(focused); });
  cards.forEach(function (card, name) {
    if (!wanted.has(name)) {
      card.element.remove();
    }
  });
  order.forEach(function (state, index) {
    const element = cards.get(state.timer).element;
    if (list.children[index] !== element) {
      list.insertBefore(element, list.children[index] || null);
    }
  });
  if (place >= 0 && focused !== document.activeElement) {
    focusAt(list.contains(focused) ? focused : list.children[Math.min(place, order.length - 1)]);
  }
  panel.show(stateOf(session, cards.size, order.length, search), cards.size, search.trim());
}

// What is moved in the page, or taken out of it, loses the focus.
function focusAt(element) {
  (element || find("h1")).focus({ preventScroll: true });
}

// A press ends where it began, or it is none: no card moves away from under a finger.
function holdStill(milliseconds) {
  isPressed = true;
  clearTimeout(stillness);
  stillness = setTimeout(function () {
    isPressed = false;
    arrange();
  }, milliseconds);
}

function letGo() {
  if (isPressed) {
    holdStill(CLICK_WITHIN);
  }
}

// By the clock alone an order changes too, but never under a finger or a pointer.
function reorder() {
  if (find("#sort").value !== "name" && !list.matches(":hover") && !list.contains(document.activeElement)) {
    arrange();
  }
}

function showLink() {
  const mayControl = session.mayControl;
  cards.forEach(function (card) { card.enable(mayControl); });
  const looksOn = session.isOnline && session.role === "view";
  document.body.classList.toggle("looks-on", looksOn);
  find("#looks-on").hidden = !looksOn;
  find("#make").hidden = looksOn || session.isOnline && session.role === "none";
  showAll();
}

function showCount() {
  const running = session.states().filter(function (state) { return state.status === "running"; }).length;
  setText(find(".count"), cards.size === 0 ? "" : t("dashboard.count", { n: cards.size, running: running }));
  find("#finish-many").setAttribute("aria-disabled", String(!session.mayControl));
}

// — presses —

function press(name, command, event) {
  const card = cards.get(name);
  const state = session.state(name);
  lastPress = name;
  card.say("");
  if (command === "more") {
    openActions(name, session, desk);
    return;
  }
  const why = session.mayControl ? useless(name, command, state) : null;
  if (why !== null) {
    card.say(why);
    return;
  }
  const wish = wishOf(command, state);
  desk.change(wish.command, name, wish.fields, pressOf(event, session, name))
    .catch(function (refusal) { card.say(refusal.message); });
}

function useless(name, command, state) {
  if ((command === "add" || command === "subtract") && !isRun(state)) {
    return t("useless.add", { name: titleOf(session, name) });
  }
  return command === "lap" && state.status !== "running" ? t("useless.lap", { name: titleOf(session, name) }) : null;
}

function wishOf(command, state) {
  if (command !== "add" && command !== "subtract") {
    return { command: command, fields: {} };
  }
  const adjust = state.type === "stopwatch" ? "addElapsedTime" : "addRemainingTime";
  return { command: adjust, fields: { seconds: command === "add" ? 60 : -60, clamp: true } };
}

function undo() {
  desk.undo();
}

function finishMany() {
  const running = session.states().filter(function (state) { return isRun(state) && matches(state, search); });
  if (running.length === 0 || !session.mayControl) {
    bulletin.tell({ words: session.mayControl ? t("many.none") : whyRefused(), canUndo: false });
    return;
  }
  confirm({
    title: t("many.title"),
    question: t("many.question"),
    choices: sorted(running, "name", 0).map(function (state) { return { value: state.timer, words: state.title || state.timer }; }),
    yes: function (n) { return t("many.yes", { n: n }); },
    go: function (names) { return desk.finishMany(running.filter(function (state) { return names.indexOf(state.timer) >= 0; })); }
  });
}

// — tools —

function useLayout(layout) {
  list.setAttribute("data-layout", layout);
  keepSetting("layout", layout);
  Array.from(find(".switch").children).forEach(function (button) {
    button.setAttribute("aria-pressed", String(button.getAttribute("data-layout") === layout));
  });
}

function clearSearch() {
  find("#search").value = search = "";
  arrange();
  find("#search").focus();
}

// What the keys need (see dashboard-keys.js).
const bindings = bindingsOf({
  session: session,
  find: find,
  current: function () { return nameAt(document.activeElement) || (isShown(lastPress) ? lastPress : null); },
  card: function (name) { return cards.get(name); },
  cards: shownCards,
  press: press,
  act: act,
  more: function (name) { openActions(name, session, desk); },
  help: function () { openHelp(bindings); },
  otherLayout: function () { useLayout(list.getAttribute("data-layout") === "large" ? "compact" : "large"); },
  undo: undo
});

function act(action, name, event) {
  if (!session.mayControl && action !== "share" && action !== "laps") {
    cards.get(name).say(whyRefused());
    return;
  }
  const why = whyNot(action, name, session);
  if (why === null) {
    ACTIONS[action](name, session, desk, event);
  } else {
    cards.get(name).say(why);
  }
}

function whyRefused() {
  return t(session.isOnline ? "refusal.forbidden" : "refusal.offline");
}

function nameAt(element) {
  const item = element && element.closest ? element.closest("#timers > li") : null;
  return item === null ? null : item.getAttribute("data-name");
}

function isShown(name) {
  return cards.has(name) && list.contains(cards.get(name).element);
}

function shownCards() {
  return Array.from(list.children);
}

function find(selector) {
  return main.querySelector(selector);
}
