// One timer's controls, for a phone.

import { page } from "./address.js";
import { fill } from "./markup.js";
import { Session } from "./session.js";
import { setText, surround } from "./shell.js";

const main = document.getElementById("view");
const name = page.timers[0];
const session = new Session({ timers: [name] });

fill(main, "control.html").then(function () {
  surround(session);
  session.watch(name, show);
  session.start();
});

function show(state, shown) {
  setText(main.querySelector("h1"), state === null ? name : state.title || name);
  setText(main.querySelector(".digits"), state === null ? "" : shown.text);
}
