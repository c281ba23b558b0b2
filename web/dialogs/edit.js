// Title, warnings and what happens at zero of a timer that is there already.

import { closeDialog, focusFirst, openDialog } from "./dialog.js";
import { writeDuration } from "../shared/duration.js";
import { define, t } from "../languages/language.js";
import { titleOf } from "./message.js";
import { settingsOf } from "../dashboard/new-timer.js";

define({
  "edit.title": "Settings of {name}",
  "edit.save": "Save"
});

export function openEdit(timer, session, desk) {
  let seen = session.state(timer); // what stood in the fields, or has been told of since
  const isStopwatch = seen.type === "stopwatch";
  const dialog = openDialog({ title: t("edit.title", { name: titleOf(session, timer) }), template: "edit" });
  const form = dialog.find("form");
  const shown = settingsShown(seen);
  Object.keys(shown).forEach(function (name) { form.elements[name].value = shown[name]; });
  form.elements.atZero.parentElement.hidden = isStopwatch;
  form.elements.warnings.parentElement.hidden = isStopwatch;
  dialog.find(".no").addEventListener("click", closeDialog);
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    save().then(dialog.close, function (error) { dialog.find(".message").textContent = error.message; });
  });
  focusFirst(dialog, "input");

  // Only what is not as it was: the rest may be another's by now. Who has changed the same as another is told so first.
  // `ifRevision` for what has not come here yet.
  function save() {
    return new Promise(function (resolve) {
      const wished = settingsOf(form.elements, true);
      const now = session.state(timer);
      const before = settingsShown(seen);
      const changed = Object.keys(wished).filter(function (name) {
        return form.elements[name].value.trim() !== shown[name] && !(isStopwatch && name !== "title");
      });
      if (changed.length === 0) {
        resolve();
        return;
      }
      seen = now || seen;
      if (changed.some(function (name) { return settingsShown(seen)[name] !== before[name]; })) {
        throw new Error(t("refusal.revisionMismatch"));
      }
      const fields = now ? { ifRevision: now.revision } : {};
      changed.forEach(function (name) { fields[name] = wished[name]; });
      resolve(desk.change("update", timer, fields));
    });
  }
}

// Each setting as its field holds it.
function settingsShown(state) {
  return {
    title: state.title || "", warnings: (state.warnings || []).map(writeDuration).join(", "), atZero: state.atZero || "overtime"
  };
}
