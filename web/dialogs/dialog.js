// Shows one dialog at a time over the page. The focus goes in, stays in, and comes back to where it was. (Browsers of
// 2018 don't all know the <dialog> element.)

import { define, t, translate } from "../languages/language.js";
import { markup } from "../shared/loader.js";

define({
  "dialog.close": "Close",
  "dialog.cancel": "Cancel",
  "confirm.none": "Nothing is selected. Select at least one timer, or cancel."
});

const FOCUSABLE = "a[href], button:not([disabled]), input:not([disabled]), select, textarea, [tabindex='0']";

let open = null; // {frame, from, closed}
let templates = null;
let hasEntry = false; // the browser's history has one for the dialog, so that Back closes it
let isLeavingEntry = false; // until the browser has gone back from it, which it does later

// The document listens, because the focus is nowhere after the element that had it is gone.
document.addEventListener("keydown", (event) => {
  if (open !== null) {
    pressKey(event);
  }
});

window.addEventListener("popstate", () => {
  if (isLeavingEntry) {
    isLeavingEntry = false;
    if (open !== null) { // it was opened meanwhile
      addEntry();
    }
  } else if (hasEntry && !isEntryOfDialog()) {
    hasEntry = false;
    closeDialog();
  }
});

if (isEntryOfDialog()) {
  history.back(); // the page comes from elsewhere, where a link of a dialog led
}

// To be awaited once, before the first dialog.
export function prepareDialogs() {
  return markup("dialogs/dialogs.html").then((fragment) => { templates = fragment; });
}

// A copy of a template of dialogs.html, in the reader's language.
export function copyOf(id) {
  const copy = document.importNode(templates.querySelector("#" + id).content, true);
  translate(copy);
  return copy;
}

// options: `title`, `template` (its id without "dialog-"), and `closed()` if wanted. Returns {find, close, frame}.
export function openDialog({ title, template, closed }) {
  closeDialog();
  const frame = copyOf("dialog").firstElementChild;
  frame.querySelector("h2").textContent = title;
  frame.querySelector(".dialog").classList.add(template);
  frame.querySelector(".content").appendChild(copyOf("dialog-" + template));
  frame.querySelector(".close").addEventListener("click", closeDialog);
  frame.addEventListener("mousedown", (event) => {
    if (event.target === frame) {
      event.preventDefault();
      if (!holdsText(frame)) { // a slip of the finger would lose it
        closeDialog();
      }
    }
  });
  open = { frame, from: document.activeElement, closed };
  document.body.appendChild(frame);
  disablePage(true);
  addEntry();
  return { find: (selector) => frame.querySelector(selector), close: closeThis, frame };

  // An answer may come when another dialog is open.
  function closeThis() {
    if (open !== null && open.frame === frame) {
      closeDialog();
    }
  }
}

// To be called when the dialog is filled.
export function focusFirst(dialog, selector) {
  const wanted = selector && dialog.find(selector);
  (wanted || dialog.find(".content").querySelector(FOCUSABLE) || dialog.find("h2")).focus();
}

export function closeDialog() {
  if (open !== null) {
    const { frame, from, closed } = open;
    open = null;
    frame.remove();
    disablePage(false);
    restoreFocus(from);
    setTimeout(removeEntry); // another dialog may follow at once
    if (closed) {
      closed();
    }
  }
}

export function isDialogOpen() {
  return open !== null;
}

// Asks before something that can't be undone. options: `title`, `question`, `yes(count)` for the words of the button,
// `choices` [{value, words}] to select from, if wanted, and `go(values)`. When the promise of `go` rejects, the dialog
// shows why and stays.
export function confirm(options) {
  const dialog = openDialog({ title: options.title, template: "confirm" });
  const yes = dialog.find(".yes");
  dialog.find(".question").textContent = options.question;
  const selected = fillChoices(dialog, options, yes);
  yes.textContent = options.yes(selected().length);
  dialog.find(".no").addEventListener("click", closeDialog);
  yes.addEventListener("click", () => {
    const values = selected();
    if (options.choices && values.length === 0) {
      dialog.find(".message").textContent = t("confirm.none");
      return;
    }
    options.go(values).then(dialog.close, (refusal) => {
      dialog.find(".message").textContent = refusal.message;
    });
  });
  focusFirst(dialog, ".no");
}

// — inside —

// Whether a person has typed text and not sent it. `defaultValue` is a field's text from before.
function holdsText(frame) {
  return Array.from(frame.querySelectorAll("textarea, input:not([type=checkbox]):not([readonly])"))
    .some((field) => field.getClientRects().length > 0 && field.value.trim() !== field.defaultValue.trim());
}

// Returns a function for the selected values.
function fillChoices(dialog, options, yes) {
  const list = dialog.find(".choices");
  (options.choices || []).forEach((choice, index) => {
    const item = document.createElement("li");
    const box = document.createElement("input");
    const label = document.createElement("label");
    box.type = "checkbox";
    box.checked = true;
    box.id = "choice-" + index;
    box.value = choice.value;
    label.htmlFor = box.id;
    label.textContent = choice.words;
    item.appendChild(box);
    item.appendChild(label);
    list.appendChild(item);
  });
  list.hidden = !options.choices;
  list.addEventListener("change", () => { yes.textContent = options.yes(selected().length); });
  return selected;

  function selected() {
    return Array.from(list.querySelectorAll("input")).filter((box) => box.checked).map((box) => box.value);
  }
}

function isEntryOfDialog() {
  return history.state !== null && history.state.isDialog === true;
}

function addEntry() {
  if (!hasEntry && !isLeavingEntry) {
    hasEntry = true;
    history.pushState(Object.assign({}, history.state, { isDialog: true }), "");
  }
}

function removeEntry() {
  if (hasEntry && open === null) {
    hasEntry = false;
    isLeavingEntry = true;
    history.back();
  }
}

function pressKey(event) {
  if (event.key === "Escape" || event.key === "Esc") {
    event.preventDefault();
    event.stopPropagation();
    closeDialog();
  } else if (event.key === "Tab") {
    stayInside(event);
  }
}

function stayInside(event) {
  const all = Array.from(open.frame.querySelectorAll(FOCUSABLE))
    .filter((element) => element.getClientRects().length > 0);
  const last = all[all.length - 1];
  const active = document.activeElement;
  const isLeaving = event.shiftKey ? active === all[0] || !all.includes(active) :
    active === last || !open.frame.contains(active);
  if (isLeaving) {
    event.preventDefault();
    (event.shiftKey ? last : all[0]).focus();
  }
}

// The page below the dialog, for screen readers too.
function disablePage(isDisabled) {
  const view = document.getElementById("view");
  document.body.classList.toggle("has-dialog", isDisabled);
  if (isDisabled) {
    view.setAttribute("aria-hidden", "true");
    view.setAttribute("inert", "");
  } else {
    view.removeAttribute("aria-hidden");
    view.removeAttribute("inert");
  }
}

// The element may be gone by now, or hidden.
function restoreFocus(element) {
  if (element && element !== document.body) {
    element.focus({ preventScroll: true });
  }
  if (!element || document.activeElement !== element || element === document.body) {
    document.querySelector("h1").focus();
  }
}
