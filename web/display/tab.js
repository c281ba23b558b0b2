// The time in the tab: title and icon.

const SIZE = 64;
const COLOURS = { calm: "#0b6b4d", warning: "#945400", urgent: "#b23a00", overtime: "#a80f1a" };

let drawn = null; // what the icon shows

export function showInTab(state, shown, name) {
  document.title = state === null ? name : shown.text + " · " + (state.title || name);
  const seen = shown || { isMasked: true, fraction: null, level: "calm" };
  const text = seen.isMasked ? "" : short(seen);
  const part = Math.ceil(24 * (seen.fraction === null ? 1 : seen.fraction));
  const colour = COLOURS[seen.level];
  const wish = [text, part, colour].join();
  if (wish !== drawn) {
    drawn = wish;
    const icon = document.querySelector("link[rel=icon]");
    icon.type = "image/png";
    icon.href = draw(text, part / 24, colour);
  }
}

// Hours, minutes or seconds, as the digits say: two characters can be read.
function short(shown) {
  const parts = shown.text.replace("-", "").split(":").map(Number);
  return parts.length === 3 ? parts[0] + "h" : String(parts[0] || parts[1]);
}

function draw(text, part, colour) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIZE;
  const pen = canvas.getContext("2d");
  const middle = SIZE / 2;
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(middle, middle, middle, 0, 2 * Math.PI);
  pen.fill();
  pen.strokeStyle = "#ffffff";
  pen.lineWidth = 6;
  pen.beginPath();
  pen.arc(middle, middle, middle - 4, -Math.PI / 2, (2 * part - 0.5) * Math.PI);
  pen.stroke();
  pen.fillStyle = "#ffffff";
  pen.font = "bold " + (text.length > 2 ? 24 : 34) + "px sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(text, middle, middle + 2);
  return canvas.toDataURL("image/png");
}
