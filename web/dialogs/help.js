// The keys, and how this device likes the page.

import { closeDialog, focusFirst, openDialog } from "./dialog.js";
import { areKeysOn, switchKeys } from "../shared/shortcuts.js";
import { CHOSEN_IN, LANGUAGES, define, language, t } from "../languages/language.js";

const NAMES = { en: "English", de: "Deutsch", es: "Español", fr: "Français", ar: "العربية" };

define({
  "help.title": "Keys and settings",
  "help.keys": "Keys",
  "help.singleKeys": "Keys without Ctrl work",
  "help.settings": "Settings",
  "help.language": "Language",
  "help.use": "Use"
});

export function openHelp(bindings) {
  const dialog = openDialog({ title: t("help.title"), template: "help" });
  bindings.filter(function (binding) { return binding.shown.length > 0; })
    .forEach(function (binding) { dialog.find("tbody").appendChild(rowOf(binding)); });
  const box = dialog.find("#single-keys");
  box.checked = areKeysOn();
  box.addEventListener("change", function () { switchKeys(box.checked); });
  const select = dialog.find("#language");
  LANGUAGES.forEach(function (code) {
    const option = document.createElement("option");
    option.value = code;
    option.lang = code;
    option.textContent = NAMES[code];
    option.selected = code === language();
    select.appendChild(option);
  });
  dialog.find("form").addEventListener("submit", function (event) {
    event.preventDefault();
    change(select.value);
  });
  focusFirst(dialog, ".close");
}

// The page is made of words everywhere: it is loaded anew.
function change(code) {
  const here = new URL(location.href);
  remember(code);
  here.searchParams.delete("lang");
  closeDialog();
  if (here.href === location.href) {
    location.reload();
  } else {
    location.href = here.href;
  }
}

function remember(code) {
  try {
    localStorage.setItem(CHOSEN_IN, code);
  } catch (error) {
    return; // the address still says it
  }
}

function rowOf(binding) {
  const row = document.createElement("tr");
  const head = document.createElement("th");
  const words = document.createElement("td");
  head.scope = "row";
  binding.shown.forEach(function (key) {
    const cap = document.createElement("kbd");
    cap.textContent = key;
    cap.dir = "ltr";
    head.appendChild(cap);
  });
  words.textContent = t(binding.words);
  row.appendChild(head);
  row.appendChild(words);
  return row;
}
