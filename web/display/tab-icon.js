// The first timer as the icon of the browser's tab.

import { session, views } from "./display.js";

const SIZE = 64;
const COLORS = { calm: "#0b6b4d", warning: "#945400", urgent: "#b23a00", overtime: "#a80f1a" };

let drawn = null; // what the icon shows

session.watch(views[0].name, (state, shown) => {
  const { isMasked, fraction, level } = shown || { isMasked: true, fraction: null, level: "calm" };
  const text = isMasked ? "" : shortened(shown.text);
  const part = Math.ceil(24 * (fraction === null ? 1 : fraction));
  const wanted = [text, part, level].join();
  if (wanted !== drawn) {
    drawn = wanted;
    const icon = document.querySelector("link[rel=icon]");
    icon.type = "image/png";
    icon.href = draw(text, part / 24, COLORS[level]);
  }
});

// Hours, minutes or seconds: only two characters are legible.
function shortened(text) {
  const parts = text.replace("-", "").split(":").map(Number);
  return parts.length === 3 ? parts[0] + "h" : String(parts[0] || parts[1]);
}

function draw(text, part, color) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIZE;
  const pen = canvas.getContext("2d");
  const middle = SIZE / 2;
  pen.fillStyle = color;
  pen.beginPath();
  pen.arc(middle, middle, middle, 0, 2 * Math.PI);
  pen.fill();
  pen.strokeStyle = pen.fillStyle = "#ffffff";
  pen.lineWidth = 6;
  pen.beginPath();
  pen.arc(middle, middle, middle - 4, -Math.PI / 2, (2 * part - 0.5) * Math.PI);
  pen.stroke();
  pen.font = "bold " + (text.length > 2 ? 24 : 34) + "px sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(text, middle, middle + 2);
  return canvas.toDataURL("image/png");
}
