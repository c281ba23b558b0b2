// A calm bar for those who may control, while the server can't save what they would change.

import { define, t } from "../languages/language.js";
import { setText } from "./shell.js";

define({
  "saving.stopped": "Changes can't be saved right now.",
  "saving.why": "Changes can't be saved right now: {why}"
});

export function tellOfSaving(session, bar) {
  session.on("link", refresh);
  refresh();

  function refresh() {
    const server = session.client.server;
    const isStopped = session.role === "control" && server.writable === false;
    const words = t(server.reason ? "saving.why" : "saving.stopped", { why: server.reason });
    setText(bar, isStopped ? words : "");
    bar.hidden = !isStopped;
  }
}
