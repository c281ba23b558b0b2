// A notice for people with control, while the server can't save their changes.

import { define, t } from "../languages/language.js";
import { setText } from "./shell.js";

define({
  "saving.stopped": "Changes can't be saved right now.",
  "saving.why": "Changes can't be saved right now: {why}"
});

export function showSavingTrouble(session, notice) {
  session.on("link", refresh);
  refresh();

  function refresh() {
    const server = session.client.server;
    const isStopped = session.role === "control" && server.writable === false;
    const words = t(server.reason ? "saving.why" : "saving.stopped", { why: server.reason });
    setText(notice, isStopped ? words : "");
    notice.hidden = !isStopped;
  }
}
