// Several timers on one screen, side by side.

import { stages } from "./display.js";

const WIDE = 2.7; // what digits take for their height, with the air around them
const HIGH = 1.8;

const grid = document.getElementById("stages");

// Sizes that differ by chance look like an order of rank: all take that of the smallest.
stages.forEach((stage) => {
  const fit = stage.fit;
  stage.fit = (state) => {
    fit.call(stage, state);
    even();
  };
});
arrange();
window.addEventListener("resize", arrange);

// As many columns as make the digits largest.
function arrange() {
  const width = grid.clientWidth;
  const height = grid.clientHeight;
  const count = stages.length;
  const sizes = stages.map((_, index) => Math.min(width / (index + 1) / WIDE, height / Math.ceil(count / (index + 1)) / HIGH));
  const columns = sizes.indexOf(Math.max.apply(null, sizes)) + 1;
  const rows = Math.ceil(count / columns);
  grid.style.gridTemplate = "repeat(" + rows + ", minmax(0, 1fr)) / repeat(" + columns + ", minmax(0, 1fr))";
  grid.style.setProperty("--unit", Math.min(width / columns, height / rows) / 100 + "px");
  stages.forEach((stage) => { stage.fit(); });
}

function even() {
  const shown = stages.filter((stage) => !stage.digits.hidden);
  const size = Math.min.apply(null, shown.map((stage) => stage.size)) + "px";
  shown.filter((stage) => stage.digits.style.fontSize !== size).forEach((stage) => { stage.digits.style.fontSize = size; });
}
