// A dialog for the keyboard shortcuts and this device's settings of the page.

import { focusFirst, openDialog } from "./dialog.js";
import { define, language, LANGUAGES, t } from "../languages/language.js";
import { storeSetting } from "../shared/settings.js";
import { areSingleKeysOn, turnSingleKeys } from "../shared/shortcuts.js";

const NAMES = { en: "English", de: "Deutsch", es: "Español", fr: "Français", ar: "العربية" };

define({
  "help.title": "Shortcuts and settings",
  "help.keys": "Keyboard shortcuts",
  "help.singleKeys": "Use single-key shortcuts",
  "help.settings": "Settings",
  "help.language": "Language",
  "help.apply": "Apply"
});

// `bindings` is what `listenToKeys` takes.
export function openHelp(bindings) {
  const dialog = openDialog({ title: t("help.title"), template: "help" });
  bindings.filter((binding) => binding.shown.length > 0)
    .forEach((binding) => { dialog.find("tbody").appendChild(rowOf(binding)); });
  const box = dialog.find("#single-keys");
  box.checked = areSingleKeysOn();
  box.addEventListener("change", () => { turnSingleKeys(box.checked); });
  const select = dialog.find("#language");
  LANGUAGES.forEach((code) => {
    const option = document.createElement("option");
    option.value = code;
    option.lang = code;
    option.textContent = NAMES[code];
    option.selected = code === language();
    select.appendChild(option);
  });
  dialog.find("form").addEventListener("submit", (event) => {
    event.preventDefault();
    useLanguage(select.value);
  });
  focusFirst(dialog, ".close");
}

// Every part of the page has words, so the page loads again.
function useLanguage(code) {
  const here = new URL(location.href);
  storeSetting("language", code);
  here.searchParams.delete("lang");
  if (here.href === location.href) {
    location.reload();
  } else {
    location.href = here.href;
  }
}

function rowOf(binding) {
  const row = document.createElement("tr");
  const head = document.createElement("th");
  const words = document.createElement("td");
  head.scope = "row";
  binding.shown.forEach((key) => {
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
