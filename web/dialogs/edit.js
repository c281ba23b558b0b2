// A dialog for the settings of a timer: title, warnings and what happens at zero.

import { closeDialog, focusFirst, openDialog } from "./dialog.js";
import { writeDuration } from "../shared/duration.js";
import { define, t } from "../languages/language.js";
import { titleOf } from "../shared/timer.js";
import { settingsOf } from "../shared/timer-settings.js";

define({
  "edit.title": "Settings of {name}",
  "edit.save": "Save"
});

export function openEdit(timer, session, commands) {
  let seen = session.state(timer); // the settings that the person knows of
  const isStopwatch = seen.type === "stopwatch";
  const dialog = openDialog({ title: t("edit.title", { name: titleOf(seen, timer) }), template: "edit" });
  const form = dialog.find("form");
  const shown = fieldsOf(seen);
  Object.keys(shown).forEach((name) => {
    form.elements[name].value = shown[name];
    form.elements[name].defaultValue = shown[name];
  });
  form.elements.atZero.parentElement.hidden = isStopwatch;
  form.elements.warnings.parentElement.hidden = isStopwatch;
  dialog.find(".no").addEventListener("click", closeDialog);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save().then(dialog.close, (error) => { dialog.find(".message").textContent = error.message; });
  });
  focusFirst(dialog, "input");

  // Sends only what the person has changed, because others may have changed the rest. When they have changed the same
  // setting, the person is told first. `ifRevision` is for changes that have not arrived here yet.
  function save() {
    return new Promise((resolve) => {
      const wanted = settingsOf(form.elements, true);
      const latest = session.state(timer);
      const before = fieldsOf(seen);
      const changed = Object.keys(wanted).filter((name) => {
        return form.elements[name].value.trim() !== shown[name] && !(isStopwatch && name !== "title");
      });
      if (changed.length === 0) {
        resolve();
        return;
      }
      seen = latest || seen;
      if (changed.some((name) => fieldsOf(seen)[name] !== before[name])) {
        throw new Error(t("refusal.revisionMismatch"));
      }
      const fields = latest ? { ifRevision: latest.revision } : {};
      changed.forEach((name) => { fields[name] = wanted[name]; });
      resolve(commands.change("update", timer, fields));
    });
  }
}

// Each setting as the text of its field.
function fieldsOf(state) {
  const warnings = (state.warnings || []).map(writeDuration).join(", ");
  return { title: state.title || "", warnings, atZero: state.atZero || "overtime" };
}
