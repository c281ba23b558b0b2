// All timers at a glance.

import { ACTIONS, openActions, whyUseless } from "../dialogs/actions.js";
import { isFinal } from "../dialogs/ask.js";
import { Card } from "./card.js";
import { Commands } from "../shared/commands.js";
import { ControlSession } from "../shared/control-session.js";
import { confirm, prepareDialogs } from "../dialogs/dialog.js";
import { openHelp } from "../dialogs/help.js";
import { define, languageReady, t, translate } from "../languages/language.js";
import { fill } from "../shared/loader.js";
import { setUpNewTimer } from "./new-timer.js";
import { matches, sorted } from "./order.js";
import { Placeholder, placeholderFor } from "../shared/placeholder.js";
import { pressFields } from "../shared/press.js";
import { whyNoChanges } from "../shared/refusals.js";
import { showSavingTrouble } from "../shared/saving.js";
import { setting, storeSetting } from "../shared/settings.js";
import { announce, setText, showConnection } from "../shared/shell.js";
import { bindingsOf } from "./shortcuts.js";
import { listenToKeys } from "../shared/shortcuts.js";
import { adjustment, isActive, isRunning, titleOf } from "../shared/timer.js";
import { Toast } from "./toast.js";
import "../shared/words.js";

define({
  "dashboard.title": "Timers",
  "dashboard.count": { one: "{n} timer, {running} running", other: "{n} timers, {running} running" },
  "dashboard.search": "Search",
  "dashboard.found": { one: "{n} timer found", other: "{n} timers found" },
  "dashboard.sort": "Sort by",
  "dashboard.layout": "Layout",
  "dashboard.finishMany": "Finish…",
  "layout.large": "Large",
  "layout.compact": "Compact",
  "sort.name": "Name",
  "sort.time": "Time left",
  "sort.status": "Status",
  "finishMany.title": "Finish timers",
  "finishMany.question": "This ends the runs of these timers on every screen. It can't be undone.",
  "finishMany.yes": { one: "Finish {n} timer", other: "Finish {n} timers" },
  "finishMany.none": "No timer is running. There is nothing to finish."
});

const REORDER_EVERY = 5000; // milliseconds, like the three below
const LONGEST_PRESS = 3000; // holding a button longer is no press
const CLICK_WITHIN = 300; // after the finger is lifted
const KEEP_AFTER = 200; // Safari refuses more than a hundred changes of the history in half a minute
const STEPS = { add: 60, subtract: -60 }; // seconds

const main = document.getElementById("view");
const session = new ControlSession("*");
const cards = new Map(); // name → {card, unwatch, revision}
let commands = null;
let toast = null;
let placeholder = null;
let list = null;
let search = "";
let started = null; // the name of a timer that was started here: it is shown, whatever the search finds
let touches = 0; // how often a person has touched, typed or scrolled
let keeping = null; // the timeout that saves the search and the scroll position
let scrollY = 0; // the position to scroll to once all cards are there
let isRefreshing = false; // a refresh is due at the end of this task
let isPressed = false;
let pressTimeout = null;
let lastPressed = null; // the name that keys are about when no card has the focus

Promise.all([fill(main, "dashboard/dashboard.html"), languageReady, prepareDialogs()]).then(start);

function start() {
  translate(main);
  document.title = t("dashboard.title");
  list = find("#timers");
  toast = new Toast(find("#toast"), undo);
  commands = new Commands(session, (report) => {
    toast.show(report);
    find("#undo").setAttribute("aria-disabled", String(!report.canUndo));
  });
  placeholder = new Placeholder(find("#placeholder"), session, clearSearch);
  setUpNewTimer(find("#new-timer"), session, commands, revealing);
  setUpTools();
  restorePlace();
  listenToKeys(bindings);
  showConnection(session);
  showSavingTrouble(session, find("#saving"));
  session.on("timer", hearTimer);
  session.on("removed", (event) => { removeCard(event.timer); });
  session.on("link", showAccess);
  list.addEventListener("focusin", (event) => { lastPressed = nameAt(event.target); });
  list.addEventListener("pointerdown", () => { holdStill(LONGEST_PRESS); });
  ["pointerup", "pointercancel"].forEach((type) => { document.addEventListener(type, endPress); });
  ["pointerdown", "keydown", "wheel", "scroll"].forEach((type) => {
    document.addEventListener(type, () => { touches += 1; }, { capture: true, passive: true });
  });
  setInterval(reorder, REORDER_EVERY);
  refresh();
  session.start();
}

function setUpTools() {
  find("#search").addEventListener("input", (event) => {
    search = event.target.value;
    started = null;
    arrange();
    keepPlaceSoon();
    announce(search === "" ? "" : t("dashboard.found", { n: shownCards().length }));
  });
  find("#sort").value = setting("sort", "name");
  find("#sort").addEventListener("change", (event) => {
    storeSetting("sort", event.target.value);
    arrange();
  });
  find(".switch").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button !== null) {
      useLayout(button.getAttribute("data-layout"));
    }
  });
  useLayout(setting("layout", "large"));
  find("#undo").addEventListener("click", undo);
  find("#finish-many").addEventListener("click", finishMany);
  find("#help").addEventListener("click", showHelp);
}

// — cards —

function hearTimer(event) {
  const { state, cause } = event;
  const entry = cards.get(state.timer) || addCard(state.timer);
  if (entry.revision !== state.revision) {
    entry.revision = state.revision;
    refresh(); // a tick moves no card
  }
  const key = "announce." + cause;
  if (t(key) !== key && !commands.isOwn(state)) {
    announce(t(key, { name: titleOf(state, state.timer) }));
  }
}

function addCard(name) {
  const card = new Card(name, (command, event) => { press(name, command, event); });
  const entry = { card, revision: null, unwatch: null };
  card.enable(session.mayControl);
  cards.set(name, entry);
  entry.unwatch = session.watch(name, (state, reading) => {
    if (state !== null) {
      card.show(state, reading, session.client.wallOffset);
    }
  });
  return entry;
}

function removeCard(name) {
  const entry = cards.get(name);
  if (entry !== undefined) {
    const { element } = entry.card;
    const hadFocus = element.contains(document.activeElement);
    const next = element.nextElementSibling || element.previousElementSibling;
    entry.unwatch();
    element.remove();
    cards.delete(name);
    refresh();
    if (hadFocus) {
      (next || find("h1")).focus();
    }
  }
}

// Many changes may come together; one refresh serves them all.
function refresh() {
  if (!isRefreshing) {
    isRefreshing = true;
    Promise.resolve().then(() => {
      isRefreshing = false;
      showCount();
      if (!isPressed) {
        arrange();
      }
    });
  }
}

// Puts the cards that the search finds into their order. Only cards that are out of place are touched.
function arrange() {
  const states = session.states().filter((state) => cards.has(state.timer) && isFound(state));
  const order = sorted(states, find("#sort").value, session.now() || 0);
  const wanted = new Set(order.map((state) => state.timer));
  const focused = document.activeElement;
  const place = shownCards().findIndex((element) => element.contains(focused));
  cards.forEach(({ card }, name) => {
    if (!wanted.has(name)) {
      card.element.remove();
    }
  });
  order.forEach((state, index) => {
    const { element } = cards.get(state.timer).card;
    if (list.children[index] !== element) {
      list.insertBefore(element, list.children[index] || null);
    }
  });
  if (place >= 0 && focused !== document.activeElement) { // a card that moves or goes loses the focus
    const target = list.contains(focused) ? focused : list.children[Math.min(place, order.length - 1)];
    (target || find("h1")).focus({ preventScroll: true });
  }
  placeholder.show(placeholderFor(session, cards.size, order.length), cards.size, search.trim());
  if (scrollY > 0 && session.isComplete) {
    window.scrollTo(0, scrollY);
    scrollY = 0;
  }
}

function isFound(state) {
  return matches(state, search) || state.timer === started;
}

// A timer that was started here must not be out of sight. To be called when it is started; returns a function for when
// the answer has come. By then the person may have gone on: then nothing moves, and the toast reports the start.
function revealing() {
  const before = touches;
  return (name) => {
    started = name;
    if (isPressed) {
      refresh();
      return;
    }
    arrange();
    if (touches === before && isShown(name)) {
      cards.get(name).card.element.scrollIntoView({ block: "nearest" });
    }
  };
}

// No card moves away from under a finger.
function holdStill(milliseconds) {
  isPressed = true;
  clearTimeout(pressTimeout);
  pressTimeout = setTimeout(() => {
    isPressed = false;
    arrange();
  }, milliseconds);
}

function endPress() {
  if (isPressed) {
    holdStill(CLICK_WITHIN);
  }
}

// An order by time changes without a message from the server, but not under a pointer or the focus.
function reorder() {
  if (find("#sort").value !== "name" && !list.matches(":hover") && !list.contains(document.activeElement)) {
    arrange();
  }
}

function showAccess() {
  const isViewOnly = session.isOnline && session.role === "view";
  cards.forEach(({ card }) => { card.enable(session.mayControl); });
  document.body.classList.toggle("view-only", isViewOnly);
  find("#view-only").hidden = !isViewOnly;
  find("#new-timer").hidden = isViewOnly || (session.isOnline && session.role === "none");
  refresh();
}

function showCount() {
  const running = session.states().filter(isRunning).length;
  setText(find(".count"), cards.size === 0 ? "" : t("dashboard.count", { n: cards.size, running }));
  find("#finish-many").setAttribute("aria-disabled", String(!session.mayControl));
}

// — presses —

function press(name, button, event) {
  const state = session.state(name);
  const { card } = cards.get(name);
  lastPressed = name;
  card.showMessage("");
  if (button === "more") {
    openActions(name, session, commands);
    return;
  }
  const reason = session.mayControl ? whyUselessButton(button, state) : null;
  if (reason !== null) {
    card.showMessage(reason);
    return;
  }
  if (session.mayControl && isFinal(button, state)) {
    ACTIONS[button](name, session, commands, event);
    return;
  }
  const { command, fields } = STEPS[button] ? adjustment(state, STEPS[button]) : { command: button, fields: {} };
  commands.change(command, name, fields, pressFields(event, session, name))
    .catch((refusal) => { card.showMessage(refusal.message); });
}

function whyUselessButton(button, state) {
  const name = titleOf(state, state.timer);
  if (STEPS[button] && !isActive(state)) {
    return t("cannot.add", { name });
  }
  return button === "lap" && !isRunning(state) ? t("cannot.lap", { name }) : null;
}

function act(action, name, event) {
  const isForViewers = action === "share" || action === "laps";
  const reason = (isForViewers ? null : whyNoChanges(session)) || whyUseless(action, name, session);
  if (reason === null) {
    ACTIONS[action](name, session, commands, event);
  } else {
    cards.get(name).card.showMessage(reason);
  }
}

function undo() {
  commands.undo();
}

function finishMany() {
  const active = session.states().filter((state) => isActive(state) && isFound(state));
  const reason = whyNoChanges(session) || (active.length === 0 ? t("finishMany.none") : null);
  if (reason !== null) {
    toast.show({ words: reason, canUndo: false });
    return;
  }
  confirm({
    title: t("finishMany.title"),
    question: t("finishMany.question"),
    choices: sorted(active, "name", 0).map((state) => ({ value: state.timer, words: titleOf(state, state.timer) })),
    yes: (n) => t("finishMany.yes", { n }),
    go: (names) => commands.finishMany(active.filter((state) => names.includes(state.timer)))
  });
}

// — tools —

function useLayout(layout) {
  list.setAttribute("data-layout", layout);
  storeSetting("layout", layout);
  Array.from(find(".switch").children).forEach((button) => {
    button.setAttribute("aria-pressed", String(button.getAttribute("data-layout") === layout));
  });
}

// The search and the place on the page stay with the entry in the browser's history: a page that has a socket is
// loaded again after Back.
function keepPlace() {
  clearTimeout(keeping);
  try {
    history.replaceState(Object.assign({}, history.state, { search, scrollY: window.scrollY }), "");
  } catch (error) {
    // Safari refuses too many changes; a later one saves the place.
  }
}

function keepPlaceSoon() {
  clearTimeout(keeping);
  keeping = setTimeout(keepPlace, KEEP_AFTER);
}

function restorePlace() {
  const kept = history.state || {};
  history.scrollRestoration = "manual";
  find("#search").value = search = kept.search || "";
  scrollY = kept.scrollY || 0;
  window.addEventListener("pagehide", keepPlace);
  window.addEventListener("scroll", keepPlaceSoon, { passive: true });
}

function clearSearch() {
  find("#search").value = search = "";
  arrange();
  keepPlaceSoon();
  find("#search").focus();
}

function showHelp() {
  openHelp(bindings);
}

// The keys use these (see shortcuts.js).
const bindings = bindingsOf({
  session,
  find,
  shownCards,
  press,
  act,
  undo,
  currentName: () => nameAt(document.activeElement) || (isShown(lastPressed) ? lastPressed : null),
  openMore: (name) => { openActions(name, session, commands); },
  openHelp: showHelp,
  switchLayout: () => { useLayout(list.getAttribute("data-layout") === "large" ? "compact" : "large"); }
});

function nameAt(element) {
  const item = element && element.closest ? element.closest("#timers > li") : null;
  return item === null ? null : item.getAttribute("data-name");
}

function isShown(name) {
  return cards.has(name) && list.contains(cards.get(name).card.element);
}

function shownCards() {
  return Array.from(list.children);
}

function find(selector) {
  return main.querySelector(selector);
}
