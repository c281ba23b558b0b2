// Keyboard shortcuts. They work neither in a text field nor below a dialog, and a person can turn single keys off
// (WCAG 2.1.4).

import { isDialogOpen } from "../dialogs/dialog.js";
import { setting, storeSetting } from "./settings.js";

const TEXT_FIELDS = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";

export function areSingleKeysOn() {
  return setting("keys", "on") === "on";
}

export function turnSingleKeys(isOn) {
  storeSetting("keys", isOn ? "on" : "off");
}

// bindings: [{key, words, run(event)}]. `key` is the browser's name for it; "mod+z" is Z with Ctrl or ⌘. A key that is
// held runs once, unless its binding `mayRepeat`: nobody who leans on a key starts and stops a timer ten times a
// second.
export function listenToKeys(bindings) {
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches && event.target.matches(TEXT_FIELDS);
    if (event.defaultPrevented || isDialogOpen() || isTyping) {
      return;
    }
    const binding = bindings.find((one) => isPressed(one, event));
    if (binding !== undefined) {
      event.preventDefault();
      if (!event.repeat || binding.mayRepeat) {
        binding.run(event);
      }
    }
  });
}

function isPressed(binding, event) {
  if (event.altKey || event.isComposing) {
    return false;
  }
  const isModified = event.ctrlKey || event.metaKey;
  if (binding.key.startsWith("mod+")) {
    return isModified && !event.shiftKey && event.key.toLowerCase() === binding.key.slice(4);
  }
  const keys = [binding.key].concat(binding.also || []);
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return !isModified && areSingleKeysOn() && keys.includes(key);
}
