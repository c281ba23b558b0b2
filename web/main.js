// Routing: the address says which view this is, and only that view's files are loaded.

import { page } from "./address.js";
import { markup } from "./markup.js";

document.body.classList.add(page.view); // `body.display`, say, for the style sheets
addStyle(page.view + ".css");
markup(page.view + ".html"); // on its way while the module loads
addModule(page.view + ".js");

function addStyle(path) {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = path;
  document.head.appendChild(link);
}

// Screens built in 2018 know no import() yet.
function addModule(path) {
  const script = document.createElement("script");
  script.type = "module";
  script.src = path;
  document.head.appendChild(script);
}
