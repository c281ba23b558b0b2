// The server's clock, as well as it can be known from here. No DOM, no socket.
//
// Local instants come from a monotonic clock: the wall clock of a screen may be hours wrong
// and may be set while we count. All times are seconds.

const SAMPLE_LIFE = 180;
const STEP_FROM = 0.05; // a smaller correction is slewed, so that no digit jumps
const SLEW_RATE = 0.05; // seconds of correction per second: too slow to be seen
const SLEEP_GAP = 1;
const DRIFT = 15e-6; // how far two cheap clocks part per second, as RFC 5905 assumes

export class ServerClock {
  constructor(monotonic, wall) {
    this.monotonic = monotonic || function () { return performance.now() / 1000; };
    this.wall = wall || function () { return Date.now() / 1000; };
    this.epoch = null;
    this.forget();
    this.wallAhead = this.wall() - this.monotonic();
  }

  // Throws away what was learnt: another server process, or a sleep that stopped our clock.
  forget() {
    this.samples = [];
    this.best = null;
    this.syncedAt = null; // when the last exchange was answered
    this.target = null;
    this.slew = { amount: 0, since: 0 };
  }

  // `hello` comes with the server's time of sending. It is late by the way here, so it only
  // serves until the first exchange has been answered.
  greet(epoch, serverNow) {
    if (epoch !== this.epoch) {
      this.epoch = epoch;
      this.forget();
    }
    if (!this.isSynced) {
      this.target = serverNow - this.monotonic();
    }
  }

  // One exchange: sent at t0 and answered at t3 by our clock, received at t1 and answered
  // at t2 by the server's.
  learn(t0, t1, t2, t3) {
    const sample = {
      offset: ((t1 - t0) + (t2 - t3)) / 2,
      roundTrip: Math.max(0, (t3 - t0) - (t2 - t1)),
      at: t3
    };
    if (!isFinite(sample.offset) || !isFinite(sample.roundTrip)) {
      return;
    }
    const isFirst = !this.isSynced;
    this.syncedAt = t3;
    this.samples = this.samples.filter(function (old) { return t3 - old.at < SAMPLE_LIFE; });
    this.samples.push(sample);
    this.best = this.samples.reduce(function (best, next) {
      return uncertainty(next, t3) <= uncertainty(best, t3) ? next : best;
    });
    this.aim(this.best.offset, isFirst);
  }

  // Server clock minus ours; null before the server has said anything.
  get offset() {
    return this.target === null ? null : this.target + this.slewLeft();
  }

  get roundTrip() {
    return this.best === null ? null : this.best.roundTrip;
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

  // The monotonic clock of a browser may stand still while the machine sleeps. Then the wall
  // clock has moved on without it. Setting the wall clock looks the same: either way, don't
  // trust the offset before the next exchange. True when that has just been found out.
  noticeSleep() {
    const wallAhead = this.wall() - this.monotonic();
    const gap = wallAhead - this.wallAhead;
    this.wallAhead = wallAhead;
    if (Math.abs(gap) <= SLEEP_GAP) {
      return false;
    }
    this.samples = [];
    this.best = null;
    return true;
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

// The truth lies within half the round trip, and drifts away from an old sample. A mean
// would be dragged along by a congested link.
function uncertainty(sample, now) {
  return sample.roundTrip / 2 + DRIFT * (now - sample.at);
}
