// Changes a display's look as its address says: colors, a local font and a few shapes, but nothing else that a
// stranger's link could ask for. Invalid options are ignored.

import { extremeOn, isTooClose, paletteOn } from "./contrast.js";
import { page } from "../shared/page.js";
import { openControls, session, views } from "./display.js";
import { define, t } from "../languages/language.js";
import { addStyle } from "../shared/loader.js";
import { isOn } from "./options.js";
import { setText } from "../shared/shell.js";
import { timeOfDay } from "../shared/time-of-day.js";

const SVG = "http://www.w3.org/2000/svg";

define({ "display.clock": "Time of day" });

const body = document.body;
const root = document.documentElement;
const clock = document.createElement("p");
let nextSecond = null;

// Stands in for a ProgressBar.
class ProgressRing {
  constructor(element) {
    const ring = document.createElementNS(SVG, "svg");
    ring.setAttribute("class", "ring");
    ring.setAttribute("viewBox", "0 0 100 100");
    ring.setAttribute("aria-hidden", "true");
    ring.appendChild(circle("edge"));
    ring.appendChild(circle("whole"));
    this.left = ring.appendChild(circle("left"));
    element.appendChild(ring);
  }

  // A timer without an end leaves the ring empty.
  show(fraction) {
    this.left.style.strokeDashoffset = (100 - 100 * fraction).toFixed(2);
  }

  roomIn(element) {
    const side = 0.74 * Math.min(element.clientWidth, element.clientHeight);
    return { width: side, height: side };
  }
}

addStyle("display/appearance.css");
setColors();
setFont();
setProgress();
body.classList.toggle("mirrored", isOn("mirror"));
body.classList.toggle("show-sync", isOn("sync"));
if (isOn("clock")) {
  addClock();
}
if (["sync", "sound", "speech"].some(isOn)) {
  openControls();
}

// Everything follows the ground. A color for the ink alone fixes the ground too, at one on which it can be read: the
// usual ground may turn dark or light at any time.
function setColors() {
  const asked = colorOf(page.options.get("background"));
  const ink = colorOf(page.options.get("color"));
  const ground = asked === null && ink !== null ? groundFor(ink) : asked;
  if (ground !== null) {
    root.style.setProperty("--ground", ground);
    setPalette(bytesOf(ground), ink);
  }
  if (ink !== null) {
    body.style.setProperty("--ink", ink);
  }
}

function groundFor(ink) {
  const usual = getComputedStyle(root).getPropertyValue("--ground").trim();
  return isTooClose(bytesOf(ink), bytesOf(usual)) ? toCSS(extremeOn(bytesOf(ink))) : usual;
}

// The page behind a transparent ground is unknown: text is light, or as the ground wants it, and outlined.
function setPalette(color, ink) {
  const [red, green, blue, alpha] = color;
  const ground = alpha < 128 ? [0, 0, 0] : [red, green, blue];
  const palette = paletteOn(ground);
  const text = ink === null ? palette.ink : bytesOf(ink);
  const isOverlay = alpha < 255;
  Object.keys(palette).filter((name) => !isOverlay || name !== "line").forEach((name) => {
    body.style.setProperty("--" + name, toCSS(palette[name]));
  });
  body.style.setProperty("--outline", toCSS(extremeOn(text)));
  body.classList.toggle("outlined", isOverlay || isTooClose(text, ground, ink === null ? undefined : 3));
  if (isOverlay) {
    // A browser paints a page with a dark scheme on black, whatever its background is.
    document.querySelector("meta[name=color-scheme]").content = "normal";
    root.style.colorScheme = "normal";
    body.classList.add("transparent");
  }
}

// [red, green, blue, alpha], from 0 to 255. A canvas writes most colors as #rrggbb or rgba(…). It has to paint the
// others, which a browser that guards against fingerprints falsifies.
function bytesOf(color) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = color;
  const opaque = /^#(..)(..)(..)$/.exec(pen.fillStyle);
  const clear = /^rgba\((\d+), (\d+), (\d+), ([\d.]+)\)$/.exec(pen.fillStyle);
  if (opaque !== null) {
    return opaque.slice(1).map((digits) => parseInt(digits, 16)).concat(255);
  }
  if (clear !== null) {
    return clear.slice(1, 4).map(Number).concat(Math.round(255 * clear[4]));
  }
  pen.fillRect(0, 0, 1, 1);
  return Array.from(pen.getImageData(0, 0, 1, 1).data);
}

function toCSS(color) {
  return "rgb(" + color.slice(0, 3).join(", ") + ")";
}

function setFont() {
  const font = page.options.get("font");
  if (font !== null && /^[^"'\\;:{}()<>,]{1,60}$/.test(font)) {
    root.style.setProperty("--digits", '"' + font + '"');
    views.forEach((view) => { view.writeDigits = writeCells; });
  }
}

// Few fonts have digits of equal width, so each digit gets a cell.
function writeCells(element, text) {
  if (element.textContent !== text) {
    element.textContent = "";
    Array.from(text).forEach((character) => {
      const cell = document.createElement(/[0-9–]/.test(character) ? "b" : "span");
      cell.textContent = character;
      element.appendChild(cell);
    });
  }
}

function setProgress() {
  const shape = page.options.get("progress");
  if (shape === "ring" || shape === "none") {
    body.setAttribute("data-progress", shape);
  }
  if (shape === "ring") {
    views.forEach((view) => { view.progress = new ProgressRing(view.center); });
  }
}

function circle(name) {
  const element = document.createElementNS(SVG, "circle");
  element.setAttribute("class", name);
  element.setAttribute("cx", "50");
  element.setAttribute("cy", "50");
  element.setAttribute("r", "48");
  element.setAttribute("pathLength", "100");
  return element;
}

// The server's time of day, in the time zone of this screen.
function addClock() {
  clock.id = "clock";
  clock.title = t("display.clock");
  document.getElementById("view").insertBefore(clock, document.getElementById("grid"));
  session.on("link", showClock);
  showClock();
}

function showClock() {
  const isKnown = session.now() !== null;
  const now = session.now() + session.client.wallOffset;
  if (isKnown) {
    setText(clock, timeOfDay(now, { hour: "numeric", minute: "2-digit", second: "2-digit" }));
  }
  clearTimeout(nextSecond);
  nextSecond = setTimeout(showClock, isKnown ? Math.ceil(1000 - now * 1000 % 1000) : 100);
}

// "red", "rgb(0 0 0 / 50%)", "#0f0", and also "0f0", because an address has to escape the #.
function colorOf(text) {
  if (text === null || text.length > 40 || /var|url|inherit|initial|unset|revert|current/i.test(text)) {
    return null;
  }
  const value = /^([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(text) ? "#" + text : text;
  return CSS.supports("color", value) ? value : null;
}
