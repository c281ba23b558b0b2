// A page's tie to the server that asks for changes, too.

import { TimerSync } from "./timersync.js";
import { Watch } from "./watch.js";

export { withoutGoingBack } from "./watch.js";

export class Session extends Watch {
  // wish: `timers` (names, or "*") and `interval`, as for `subscribe`.
  constructor(wish) {
    super(TimerSync, wish);
  }

  states() {
    return Array.from(this.client.timers.values());
  }

  // A press. Resolves with the reply, rejects with a Refusal, whose message is for people.
  change(command, timer, fields) {
    return this.client.change(command, timer, fields || {});
  }
}
