// Arranges several timers on one screen.

import { views } from "./display.js";
import { onResize } from "./timer-view.js";

const WIDE = 2.7; // the width of digits for their height, with the space around them
const HIGH = 1.8;

const grid = document.getElementById("grid");

views.forEach((view) => { view.onFit = equalize; });
arrange();
onResize(grid, arrange);

// As many columns as make the digits largest.
function arrange() {
  const { clientWidth, clientHeight } = grid;
  const count = views.length;
  const sizes = views.map((_, index) => {
    return Math.min(clientWidth / (index + 1) / WIDE, clientHeight / Math.ceil(count / (index + 1)) / HIGH);
  });
  const columns = sizes.indexOf(Math.max(...sizes)) + 1;
  const rows = Math.ceil(count / columns);
  grid.style.gridTemplate = "repeat(" + rows + ", minmax(0, 1fr)) / repeat(" + columns + ", minmax(0, 1fr))";
  grid.style.setProperty("--unit", Math.min(clientWidth / columns, clientHeight / rows) / 100 + "px");
}

// All timers take the smallest size: sizes that differ by chance would look like a ranking.
function equalize() {
  const shown = views.filter((view) => !view.digits.hidden);
  const size = Math.min(...shown.map((view) => view.size)) + "px";
  shown.filter((view) => view.digits.style.fontSize !== size).forEach((view) => { view.digits.style.fontSize = size; });
}
