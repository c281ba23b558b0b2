// Shortcuts of one key. They never fire in a text field or over a dialog, and can be switched off for those whom they
// hinder (WCAG 2.1.4).

import { isDialogOpen } from "../dialogs/dialog.js";
import { keepSetting, setting } from "./settings.js";

const TYPED_INTO = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";

export function areKeysOn() {
  return setting("keys", "on") === "on";
}

export function switchKeys(isOn) {
  keepSetting("keys", isOn ? "on" : "off");
}

// bindings: [{key, words, run(event)}]. `key` is what the browser calls it; "mod+z" is Ctrl or ⌘ and Z. A key that is
// held runs once, unless it `mayRepeat`: who leans on one shall not start and stop a timer ten times a second.
export function listen(bindings) {
  document.addEventListener("keydown", function (event) {
    const binding = event.defaultPrevented || isDialogOpen() || event.target.matches && event.target.matches(TYPED_INTO) ?
      undefined : bindings.find(function (one) { return isMeant(one, event); });
    if (binding !== undefined) {
      event.preventDefault();
      if (!event.repeat || binding.mayRepeat) {
        binding.run(event);
      }
    }
  });
}

function isMeant(binding, event) {
  if (event.altKey || event.isComposing) {
    return false;
  }
  const isModified = event.ctrlKey || event.metaKey;
  if (binding.key.indexOf("mod+") === 0) {
    return isModified && !event.shiftKey && event.key.toLowerCase() === binding.key.slice(4);
  }
  const keys = [binding.key].concat(binding.also || []);
  return !isModified && areKeysOn() && keys.indexOf(event.key.length === 1 ? event.key.toLowerCase() : event.key) >= 0;
}
