// The server's clock, as well as it can be known from here. No DOM, no socket.
//
// Local instants come from a monotonic clock: the wall clock of a screen may be hours wrong
// and may be set while we count. All times are seconds.

const SAMPLE_LIFE = 180;
const STEP_FROM = 0.05; // a smaller correction is slewed, so that no digit jumps
const SLEW_RATE = 0.02; // seconds of correction per second: too slow to be seen
const SLEEP_GAP = 1;
const GRAIN = 0.001; // browsers tell the time no finer than this
const DRIFT = 15e-6; // how far two cheap clocks part per second, as RFC 5905 assumes

export class ServerClock {
  constructor(monotonic, wall) {
    this.monotonic = monotonic || (() => performance.now() / 1000);
    this.wall = wall || (() => Date.now() / 1000);
    this.epoch = null;
    this.forget();
    this.wallAhead = this.wall() - this.monotonic();
    this.trustedFrom = -Infinity;
  }

  // Throws away what was learnt of another server process.
  forget() {
    this.samples = [];
    this.best = null;
    this.syncedAt = null; // when the last exchange was answered
    this.target = null;
    this.slew = { amount: 0, since: 0 };
    this.slept = 0; // seconds for which our clock may have stood still
  }

  // `hello` is late by its way here: its time serves until the first exchange is answered.
  greet(epoch, serverNow) {
    if (epoch !== this.epoch) {
      this.epoch = epoch;
      this.forget();
    }
    if (!this.isSynced) {
      this.target = serverNow - this.monotonic();
      this.slept = 0; // it knows of that
    }
  }

  // One exchange: sent at t0 and answered at t3 by our clock, received at t1 and answered
  // at t2 by the server's.
  learn(t0, t1, t2, t3) {
    const sample = { least: t2 - t3, most: t1 - t0, at: t3 }; // no way takes less than no time
    if (!isFinite(sample.least) || !isFinite(sample.most) || t0 < this.trustedFrom) {
      return;
    }
    const isFirst = !this.isSynced;
    this.syncedAt = t3;
    this.samples = this.samples.filter((old) => t3 - old.at < SAMPLE_LIFE);
    this.samples.push(sample);
    this.best = within(this.samples, t3);
    this.aim((this.best.least + this.best.most) / 2, isFirst);
  }

  // Server clock minus ours; null before the server has said anything.
  get offset() {
    return this.target === null ? null : this.target + this.slewLeft();
  }

  // The offset is wrong by half of it at most.
  get roundTrip() {
    return this.best === null ? null : Math.max(0, this.best.most - this.best.least);
  }

  get isSynced() {
    return this.best !== null;
  }

  get isSlewing() {
    return this.slewLeft() !== 0;
  }

  // Now, on the server's clock.
  now() {
    return this.monotonic() + this.offset;
  }

  // A browser's monotonic clock may stand still in a machine's sleep: the wall clock moves on, as if it were set. Don't
  // trust the offset then before the next exchange. True when just found out.
  noticeSleep() {
    const wallAhead = this.wall() - this.monotonic();
    const gap = wallAhead - this.wallAhead;
    this.wallAhead = wallAhead;
    if (Math.abs(gap) <= SLEEP_GAP) {
      return false;
    }
    this.samples = [];
    this.best = null;
    this.slept = Math.max(0, gap);
    this.trustedFrom = this.monotonic(); // an answer to what was asked before spans the sleep
    return true;
  }

  // Nobody could be asked. A clock that stood still is likelier than one that was set.
  assumeSleep() {
    if (!this.isSynced && this.target !== null) {
      this.target += this.slept;
      this.slept = 0;
    }
  }

  aim(offset, isFirst) {
    const amount = this.target === null ? 0 : this.offset - offset;
    const isSmall = Math.abs(amount) < STEP_FROM;
    this.target = offset;
    this.slew = { amount: isSmall && !isFirst ? amount : 0, since: this.monotonic() };
  }

  slewLeft() {
    const done = SLEW_RATE * (this.monotonic() - this.slew.since);
    const left = Math.max(0, Math.abs(this.slew.amount) - done);
    return this.slew.amount < 0 ? 0 - left : left;
  }
}

// Each exchange says between what the offset lies; the truth is where all of them agree. A mean
// would be dragged along by a congested link. If they don't agree, the closest one counts.
function within(samples, now) {
  const wide = samples.map((sample) => {
    const drift = DRIFT * (now - sample.at);
    return { least: sample.least - drift, most: sample.most + drift };
  });
  const least = Math.max.apply(null, wide.map((sample) => sample.least));
  const most = Math.min.apply(null, wide.map((sample) => sample.most));
  return least - most < GRAIN ? { least: least, most: most } : wide.reduce((best, next) => {
    return next.most - next.least <= best.most - best.least ? next : best;
  });
}
