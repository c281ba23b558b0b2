// The protocol client: it follows timers and asks for changes. No DOM. How another page uses it
// is told in timersync.md.

import { change } from "./client/changes.js";
import { Follower } from "./client/follower.js";

export { Refusal } from "./client/changes.js";

const MOST_ENDS = 1000;

export class TimerSync extends Follower {
  constructor(wish) {
    super(wish);
    this.ends = new Set(); // that were told, the latest of them
  }

  // A button was pressed. Resolves with the reply, rejects with a Refusal.
  change(command, timer, fields) {
    return change(this, command, timer, fields);
  }

  // An end that is told late to one connection may have been told to another: it rings once.
  takeSnapshot(snapshot) {
    super.takeSnapshot(this.isAgain(snapshot) ? Object.assign({}, snapshot, { cause: "updated" }) : snapshot);
  }

  // — inside —

  isAgain(snapshot) {
    if (snapshot.cause !== "ended" || snapshot.endedAt === undefined) {
      return false;
    }
    const end = snapshot.timers.map((state) => state.timer).concat([snapshot.endedAt]).join("/");
    const isAgain = this.ends.has(end);
    this.ends.add(end);
    if (this.ends.size > MOST_ENDS) {
      this.ends.delete(this.ends.values().next().value);
    }
    return isAgain;
  }
}
