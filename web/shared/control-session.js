// A page's tie to the server that asks for changes, too.

import { Runs } from "../client/runs.js";
import { TimerSync } from "../timersync.js";
import { Watch } from "./session.js";

export { withoutGoingBack } from "./session.js";

export class Session extends Watch {
  // `timers`: names, or "*".
  constructor(timers) {
    super(TimerSync, timers);
    this.runs = new Runs(this);
  }

  // What clocks on walls show at an instant of the server's clock.
  wallTime(instant) {
    return instant === null ? null : instant + this.client.wallOffset;
  }

  states() {
    return Array.from(this.client.timers.values());
  }

  // A press. Resolves with the reply, rejects with a Refusal, whose message is for people.
  change(command, timer, fields) {
    return this.client.change(command, timer, fields || {});
  }
}
