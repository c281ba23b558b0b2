// Picks the view that the address asks for, and loads that view's files only.

import { page } from "./shared/page.js";
import { addModule, addStyle, markup } from "./shared/loader.js";

const path = page.view + "/" + page.view; // "display/display", say

document.body.classList.add(page.view); // style sheets go by `body.display`
if (page.view !== "display") {
  addStyle("shared/forms.css");
}
addStyle(path + ".css");
markup(path + ".html"); // downloads while the module does
addModule(path + ".js");
setTimeout(addModule, 10000, "shared/offline.js"); // once everything else is done
