// The laps of a stopwatch, newest first, and as a file for a spreadsheet.

import { copy } from "./clipboard.js";
import { focusFirst, openDialog } from "./dialog.js";
import { extremes, lapRows, lapsCSV, lapText } from "./laps.js";
import { define, t } from "../languages/language.js";
import { titleOf } from "./message.js";
import { pressOf } from "../shared/press.js";

define({
  "laps.title": "Laps",
  "laps.of": "Laps of {name}",
  "laps.none": "No laps yet.",
  "laps.number": "Lap",
  "laps.lap": "Lap time",
  "laps.split": "Split",
  "laps.fastest": "fastest",
  "laps.slowest": "slowest",
  "laps.press": "Lap",
  "laps.copy": "Copy as CSV",
  "laps.copied": { one: "Copied {n} lap.", other: "Copied {n} laps." },
  "laps.notCopied": "The browser does not let this page copy."
});

export function openLaps(timer, session, desk) {
  const dialog = openDialog({
    title: t("laps.of", { name: titleOf(session, timer) }), template: "laps", closed: function () { stops.forEach(function (stop) { stop(); }); }
  });
  dialog.find(".lap").addEventListener("click", function (event) {
    dialog.find(".message").textContent = "";
    desk.change("lap", timer, {}, pressOf(event, session, timer)).catch(function (refusal) {
      dialog.find(".message").textContent = refusal.message;
    });
  });
  dialog.find(".copy").addEventListener("click", function () {
    const laps = lapsOf(session, timer);
    copy(lapsCSV(laps)).then(function (isDone) {
      dialog.find(".told").textContent = isDone ? t("laps.copied", { n: laps.length }) : t("laps.notCopied");
    });
  });
  const stops = [
    session.on("timer", function (event) { return event.state.timer === timer ? refresh() : null; }),
    session.on("removed", function (event) { return event.timer === timer ? refresh() : null; })
  ];
  refresh();
  focusFirst(dialog, ".lap");

  function refresh() {
    const laps = lapsOf(session, timer);
    const focused = dialog.frame.contains(document.activeElement) ? document.activeElement : null;
    dialog.find(".lap").hidden = !session.mayControl || !session.state(timer) || session.state(timer).status !== "running";
    dialog.find(".copy").hidden = laps.length === 0;
    dialog.find(".none").hidden = laps.length > 0;
    dialog.find(".scroll").hidden = laps.length === 0;
    fillLaps(dialog.find("tbody"), laps);
    if (focused !== null && focused.getClientRects().length === 0) {
      focusFirst(dialog, "h2"); // what is hidden loses it
    }
  }
}

export function lapsOf(session, timer) {
  const state = session.state(timer);
  return state && state.laps || [];
}

// Only rows that are not there yet are made: there may be a thousand.
export function fillLaps(body, laps) {
  const rows = lapRows(laps);
  const best = extremes(rows);
  const isLonger = body.children.length <= rows.length &&
    (body.children.length === 0 || body.lastElementChild.getAttribute("data-split") === String(laps[0]));
  if (!isLonger) {
    body.textContent = "";
  }
  rows.slice(body.children.length).forEach(function (row) { body.insertBefore(lapRow(row), body.firstChild); });
  Array.from(body.children).forEach(function (row) {
    const number = Number(row.getAttribute("data-number"));
    mark(row, number === best.fastest ? "fastest" : number === best.slowest ? "slowest" : null);
  });
}

function lapRow(row) {
  const element = document.createElement("tr");
  element.setAttribute("data-number", row.number);
  element.setAttribute("data-split", row.split);
  [["th", row.number], ["td", lapText(row.lap)], ["td", lapText(row.split)]].forEach(function (cell) {
    const made = document.createElement(cell[0]);
    made.textContent = cell[1];
    element.appendChild(made);
  });
  element.firstChild.scope = "row";
  return element;
}

function mark(row, kind) {
  if (row.getAttribute("data-mark") === String(kind)) {
    return;
  }
  row.setAttribute("data-mark", String(kind));
  const old = row.querySelector("small");
  if (old !== null) {
    old.remove();
  }
  if (kind !== null) {
    const words = document.createElement("small");
    words.textContent = t("laps." + kind);
    row.children[1].insertBefore(words, row.children[1].firstChild);
  }
}
