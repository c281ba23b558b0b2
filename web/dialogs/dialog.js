// One dialog over the page at a time: the focus goes in, stays in, and comes back to where it was.
// (Browsers of 2018 don't all know the element that does this.)

import { define, t, translate } from "../languages/language.js";
import { markup } from "../shared/loader.js";

define({
  "dialog.close": "Close",
  "dialog.cancel": "Cancel",
  "confirm.none": "Nothing is ticked. Tick what is meant, or cancel."
});

const FOCUSABLE = "a[href], button:not([disabled]), input:not([disabled]), select, textarea, [tabindex='0']";

let open = null;
let templates = null;

// On the page, since the focus is nowhere when what had it has gone.
document.addEventListener("keydown", function (event) {
  if (open !== null) {
    pressKey(event);
  }
});

// To be awaited once, before the first dialog.
export function prepareDialogs() {
  return markup("dialogs/dialogs.html").then(function (fragment) { templates = fragment; });
}

// A copy of a template of dialogs.html, in the reader's language.
export function copyOf(id) {
  const copy = document.importNode(templates.querySelector("#" + id).content, true);
  translate(copy);
  return copy;
}

// options: `title`, `template` (its id without "dialog-"), and `closed()` if wanted. Gives {find, close}.
export function openDialog(options) {
  closeDialog();
  const frame = copyOf("dialog").firstElementChild;
  frame.querySelector("h2").textContent = options.title;
  frame.querySelector(".dialog").classList.add(options.template);
  frame.querySelector(".content").appendChild(copyOf("dialog-" + options.template));
  frame.querySelector(".close").addEventListener("click", closeDialog);
  frame.addEventListener("mousedown", function (event) {
    if (event.target === frame) {
      event.preventDefault();
      closeDialog();
    }
  });
  open = { frame: frame, from: document.activeElement, closed: options.closed };
  document.body.appendChild(frame);
  shutOut(true);
  return { find: function (selector) { return frame.querySelector(selector); }, close: closeThis, frame: frame };

  // What was asked here may be answered when another dialog is open.
  function closeThis() {
    if (open !== null && open.frame === frame) {
      closeDialog();
    }
  }
}

// To be called when the dialog is filled: what a keyboard reaches first.
export function focusFirst(dialog, selector) {
  const first = selector && dialog.find(selector) || dialog.find(".content").querySelector(FOCUSABLE) || dialog.find("h2");
  first.focus();
}

export function closeDialog() {
  if (open === null) {
    return;
  }
  const was = open;
  open = null;
  was.frame.remove();
  shutOut(false);
  focusAgain(was.from);
  if (was.closed) {
    was.closed();
  }
}

export function isDialogOpen() {
  return open !== null;
}

// Asks before what can't be taken back. `choices`: [{value, words}], each to be ticked off, if wanted. Calls
// `go(values)` on yes; its promise's refusal is shown and the dialog stays.
export function confirm(options) {
  const dialog = openDialog({ title: options.title, template: "confirm" });
  const yes = dialog.find(".yes");
  dialog.find(".question").textContent = options.question;
  const chosen = fillChoices(dialog, options, yes);
  yes.textContent = options.yes(chosen().length);
  dialog.find(".no").addEventListener("click", closeDialog);
  yes.addEventListener("click", function () {
    const values = chosen();
    if (options.choices && values.length === 0) {
      dialog.find(".message").textContent = t("confirm.none");
      return;
    }
    options.go(values).then(dialog.close, function (refusal) {
      dialog.find(".message").textContent = refusal.message;
    });
  });
  focusFirst(dialog, ".no");
}

// — inside —

function fillChoices(dialog, options, yes) {
  const list = dialog.find(".choices");
  (options.choices || []).forEach(function (choice, index) {
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
  list.addEventListener("change", function () { yes.textContent = options.yes(chosen().length); });
  return chosen;

  function chosen() {
    return Array.from(list.querySelectorAll("input")).filter(function (box) { return box.checked; })
      .map(function (box) { return box.value; });
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
  const all = Array.from(open.frame.querySelectorAll(FOCUSABLE)).filter(function (element) {
    return element.getClientRects().length > 0;
  });
  const last = all[all.length - 1];
  const isOut = event.shiftKey ? document.activeElement === all[0] || all.indexOf(document.activeElement) < 0 :
    document.activeElement === last || !open.frame.contains(document.activeElement);
  if (isOut) {
    event.preventDefault();
    (event.shiftKey ? last : all[0]).focus();
  }
}

// What is behind is not there, for a screen reader either.
function shutOut(isOut) {
  const view = document.getElementById("view");
  document.body.classList.toggle("behind", isOut);
  if (isOut) {
    view.setAttribute("aria-hidden", "true");
    view.setAttribute("inert", "");
  } else {
    view.removeAttribute("aria-hidden");
    view.removeAttribute("inert");
  }
}

// The button may be gone meanwhile, with its timer, or not be there to be seen.
function focusAgain(element) {
  if (element && element !== document.body) {
    element.focus({ preventScroll: true });
  }
  if (!element || document.activeElement !== element || element === document.body) {
    document.querySelector("h1").focus();
  }
}
