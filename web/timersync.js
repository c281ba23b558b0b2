// The protocol client: it follows timers and asks for changes. No DOM. How another page uses it
// is told in timersync.md.

import { change } from "./changes.js";
import { Follower } from "./follower.js";

export { Refusal } from "./changes.js";

export class TimerSync extends Follower {
  // A button was pressed. Resolves with the reply, rejects with a Refusal.
  change(command, timer, fields) {
    return change(this, command, timer, fields);
  }
}
