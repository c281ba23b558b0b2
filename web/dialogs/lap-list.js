// A dialog for the laps of a stopwatch, the newest first, which also copies them for a spreadsheet.

import { copy } from "./clipboard.js";
import { focusFirst, openDialog } from "./dialog.js";
import { extremes, lapRows, lapsCSV, lapText } from "./laps.js";
import { define, t } from "../languages/language.js";
import { pressFields } from "../shared/press.js";
import { isRunning, lapsOf, titleOf } from "../shared/timer.js";

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
  "laps.notCopied": "The browser doesn't allow copying."
});

export function openLaps(timer, session, commands) {
  const stops = [
    session.on("timer", (event) => { refreshFor(event.state.timer); }),
    session.on("removed", (event) => { refreshFor(event.timer); })
  ];
  const dialog = openDialog({
    title: t("laps.of", { name: titleOf(session.state(timer), timer) }), template: "laps",
    closed: () => { stops.forEach((stop) => { stop(); }); }
  });
  dialog.find(".lap").addEventListener("click", (event) => {
    dialog.find(".message").textContent = "";
    commands.change("lap", timer, {}, pressFields(event, session, timer)).catch((refusal) => {
      dialog.find(".message").textContent = refusal.message;
    });
  });
  dialog.find(".copy").addEventListener("click", () => {
    const laps = lapsOf(session.state(timer));
    copy(lapsCSV(laps)).then((isDone) => {
      dialog.find(".report").textContent = isDone ? t("laps.copied", { n: laps.length }) : t("laps.notCopied");
    });
  });
  refresh();
  focusFirst(dialog, ".lap");

  function refreshFor(name) {
    if (name === timer) {
      refresh();
    }
  }

  function refresh() {
    const state = session.state(timer);
    const laps = lapsOf(state);
    const focused = dialog.frame.contains(document.activeElement) ? document.activeElement : null;
    dialog.find(".lap").hidden = !session.mayControl || !isRunning(state);
    dialog.find(".copy").hidden = laps.length === 0;
    dialog.find(".none").hidden = laps.length > 0;
    dialog.find(".scroll").hidden = laps.length === 0;
    fillRows(dialog.find("tbody"), laps);
    if (focused !== null && focused.getClientRects().length === 0) {
      focusFirst(dialog, "h2"); // a hidden button loses the focus
    }
  }
}

// Only missing rows are made: there may be a thousand.
function fillRows(body, laps) {
  const rows = lapRows(laps);
  const best = extremes(rows);
  const isLonger = body.children.length <= rows.length &&
    (body.children.length === 0 || body.lastElementChild.getAttribute("data-split") === String(laps[0]));
  if (!isLonger) {
    body.textContent = "";
  }
  rows.slice(body.children.length).forEach((row) => { body.insertBefore(rowOf(row), body.firstChild); });
  Array.from(body.children).forEach((row) => {
    const number = Number(row.getAttribute("data-number"));
    mark(row, number === best.fastest ? "fastest" : number === best.slowest ? "slowest" : null);
  });
}

function rowOf(row) {
  const element = document.createElement("tr");
  element.setAttribute("data-number", row.number);
  element.setAttribute("data-split", row.split);
  [["th", row.number], ["td", lapText(row.lap)], ["td", lapText(row.split)]].forEach(([name, text]) => {
    element.appendChild(document.createElement(name)).textContent = text;
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
