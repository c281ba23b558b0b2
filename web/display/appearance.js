// How a display shall look, as its address says: loaded when that says anything. What makes no
// sense is left out, so that a stranger's link can ask for nothing but colours, a local font
// and the shapes we have.

import { page } from "../shared/page.js";
import { openControls, session, stages } from "./display.js";
import { define, t } from "../languages/language.js";
import { addStyle } from "../shared/loader.js";
import { setText } from "../shared/shell.js";

const SVG = "http://www.w3.org/2000/svg";

define({ "display.clock": "Time of day" });

const body = document.body;
const root = document.documentElement;
const clock = document.createElement("p");
let nextSecond = null;

addStyle("display/appearance.css");
dress();
progress();
body.classList.toggle("mirrored", isOn("mirror"));
body.classList.toggle("synced", isOn("sync"));
if (isOn("clock")) {
  addClock();
}
if (["sync", "sound", "speech"].some(isOn)) {
  openControls();
}

function dress() {
  const ground = colour(page.options.get("background"));
  const ink = colour(page.options.get("color"));
  const font = page.options.get("font");
  if (ground !== null) {
    root.style.setProperty("--ground", ground);
  }
  if (ground === "transparent") {
    // A page that is dark by its scheme is painted on black, whatever its background is.
    document.querySelector("meta[name=color-scheme]").content = "normal";
    root.style.colorScheme = "normal";
    body.classList.add("transparent");
  }
  if (ink !== null) {
    body.style.setProperty("--ink", ink);
    body.classList.add("inked");
  }
  if (font !== null && /^[^"'\\;:{}()<>,]{1,60}$/.test(font)) {
    root.style.setProperty("--digits", '"' + font + '"');
    stages.forEach((stage) => { stage.write = writeCells; });
  }
}

// Few fonts have digits of one width; then each gets a cell of its own.
function writeCells(text) {
  if (this.digits.textContent !== text) {
    this.digits.textContent = "";
    Array.from(text).forEach((character) => {
      const cell = document.createElement(/[0-9–]/.test(character) ? "b" : "span");
      cell.textContent = character;
      this.digits.appendChild(cell);
    });
  }
}

function progress() {
  const shape = page.options.get("progress");
  if (shape === "ring" || shape === "none") {
    body.setAttribute("data-progress", shape);
  }
  if (shape === "ring") {
    stages.forEach(addRing);
  }
}

function addRing(stage) {
  const ring = document.createElementNS(SVG, "svg");
  ring.setAttribute("class", "ring");
  ring.setAttribute("viewBox", "0 0 100 100");
  ring.setAttribute("aria-hidden", "true");
  ring.appendChild(circle("whole"));
  const left = ring.appendChild(circle("left"));
  stage.find(".stage").appendChild(ring);
  stage.room = roomInRing;
  stage.showProgress = (fraction) => {
    left.style.strokeDashoffset = (100 - 100 * fraction).toFixed(2); // nothing is left of what has no end
  };
}

function roomInRing(stage) {
  const side = 0.74 * Math.min(stage.clientWidth, stage.clientHeight);
  return { width: side, height: side };
}

function circle(name) {
  const circle = document.createElementNS(SVG, "circle");
  circle.setAttribute("class", name);
  circle.setAttribute("cx", "50");
  circle.setAttribute("cy", "50");
  circle.setAttribute("r", "48");
  circle.setAttribute("pathLength", "100");
  return circle;
}

// The server's, in the time zone of this place.
function addClock() {
  clock.id = "clock";
  clock.title = t("display.clock");
  document.getElementById("view").insertBefore(clock, document.getElementById("stages"));
  session.on("link", showClock);
  showClock();
}

function showClock() {
  const isKnown = session.now() !== null;
  const now = (session.now() + session.client.wallOffset) * 1000;
  if (isKnown) {
    setText(clock, new Date(now).toLocaleTimeString(root.lang));
  }
  clearTimeout(nextSecond);
  nextSecond = setTimeout(showClock, isKnown ? Math.ceil(1000 - now % 1000) : 100);
}

// "red", "rgb(0 0 0 / 50%)", "#0f0", and "0f0" since a # has to be escaped in an address.
function colour(text) {
  if (text === null || text.length > 40 || /var|url|inherit|initial|unset|revert|current/i.test(text)) {
    return null;
  }
  const value = /^([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(text) ? "#" + text : text;
  return CSS.supports("color", value) ? value : null;
}

function isOn(name) {
  const text = page.options.get(name);
  return text !== null && ["0", "no", "false"].indexOf(text) < 0;
}
