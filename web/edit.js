// Title, warnings and what happens at zero of a timer that is there already.

import { closeDialog, focusFirst, openDialog } from "./dialog.js";
import { writeDuration } from "./duration.js";
import { define, t } from "./language.js";
import { titleOf } from "./line.js";
import { settingsOf } from "./make.js";

define({
  "edit.title": "Settings of {name}",
  "edit.save": "Save"
});

export function openEdit(timer, session, desk) {
  const state = session.state(timer);
  const dialog = openDialog({ title: t("edit.title", { name: titleOf(session, timer) }), template: "edit" });
  const form = dialog.find("form");
  form.elements.title.value = state.title || "";
  form.elements.warnings.value = (state.warnings || []).map(writeDuration).join(", ");
  form.elements.atZero.value = state.atZero || "overtime";
  form.elements.atZero.parentElement.hidden = state.type === "stopwatch";
  form.elements.warnings.parentElement.hidden = state.type === "stopwatch";
  dialog.find(".no").addEventListener("click", closeDialog);
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    save().then(dialog.close, function (error) { dialog.find(".message").textContent = error.message; });
  });
  focusFirst(dialog, "input");

  // `ifRevision`, so that nobody's change of the same words is lost, here or by undoing it.
  function save() {
    const before = session.state(timer);
    return new Promise(function (resolve) {
      const fields = Object.assign(settingsOf(form.elements, true), before ? { ifRevision: before.revision } : {});
      if (state.type === "stopwatch") {
        delete fields.warnings;
        delete fields.atZero;
      }
      resolve(desk.change("update", timer, fields));
    });
  }
}
