// One timer, or several side by side, filling a screen.

import { page } from "./address.js";
import { fill } from "./markup.js";
import { Session } from "./session.js";
import { setText, surround } from "./shell.js";

const main = document.getElementById("view");
const session = new Session({ timers: page.timers });

fill(main, "display.html").then(function () {
  surround(session);
  page.timers.forEach(addStage);
  session.start();
});

function addStage(name) {
  const template = document.getElementById("timer");
  const element = document.importNode(template.content, true).firstElementChild;
  main.appendChild(element);
  session.watch(name, function (state, shown) {
    setText(element.querySelector("h1"), state === null ? name : state.title || name);
    setText(element.querySelector(".digits"), state === null ? "" : shown.text);
  });
}
