// A session that also sends changes.

import { TimerSync } from "../timersync.js";
import { RunHistory } from "../client/runs.js";
import { Session } from "./session.js";

export class ControlSession extends Session {
  // `timers`: names, or "*".
  constructor(timers) {
    super(TimerSync, timers);
    this.runs = new RunHistory(this);
  }

  // The wall time at an instant of the server's clock.
  wallTime(instant) {
    return instant === null ? null : instant + this.client.wallOffset;
  }

  states() {
    return Array.from(this.client.timers.values());
  }

  // Resolves with the reply, rejects with a Refusal, whose message is for people.
  change(command, timer, fields) {
    return this.client.change(command, timer, fields || {});
  }
}
