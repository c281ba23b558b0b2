// Routing: the address says which view this is, and only that view's files are loaded.

import { page } from "./page.js";
import { addModule, addStyle, markup } from "./markup.js";

document.body.classList.add(page.view); // `body.display`, say, for the style sheets
if (page.view !== "display") {
  addStyle("forms.css");
}
addStyle(page.view + ".css");
markup(page.view + ".html"); // on its way while the module loads
addModule(page.view + ".js");
setTimeout(addModule, 10000, "offline.js"); // when everything else is done
