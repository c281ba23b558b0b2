// The protocol client: it follows timers and sends changes. It has no DOM. timersync.md is for other pages that use it.

import { change } from "./client/changes.js";
import { Follower } from "./client/follower.js";

export { Refusal } from "./client/changes.js";
export { ServerClock } from "./client/clock.js";

const MOST_ENDS = 1000;

export class TimerSync extends Follower {
  constructor(given) {
    super(given);
    this.ends = new Set(); // the latest ends that were reported, each as "timer/endedAt"
  }

  // Resolves with the reply, rejects with a Refusal.
  change(command, timer, fields) {
    return change(this, command, timer, fields);
  }

  // Each end is reported once, though a new connection may bring it again.
  applySnapshot(snapshot) {
    super.applySnapshot(this.isRepeatedEnd(snapshot) ? Object.assign({}, snapshot, { cause: "updated" }) : snapshot);
  }

  // — inside —

  isRepeatedEnd(snapshot) {
    if (snapshot.cause !== "ended" || snapshot.endedAt === undefined) {
      return false;
    }
    const end = snapshot.timers.map((state) => state.timer).concat([snapshot.endedAt]).join("/");
    const isRepeated = this.ends.has(end);
    this.ends.add(end);
    if (this.ends.size > MOST_ENDS) {
      this.ends.delete(this.ends.values().next().value);
    }
    return isRepeated;
  }
}
