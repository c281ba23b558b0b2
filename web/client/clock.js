// The server's clock, as exactly as it can be known from here. Local instants come from a monotonic clock: a screen's
// wall clock may be wrong, and may be set. All times are in seconds.

const SAMPLE_LIFE = 180;
const EXCHANGE_MAX = 8; // a link that answers later is given up: the machine slept in between
const STEP_FROM = 0.05; // a smaller correction is slewed, so that no digit jumps
const SLEW_RATE = 0.02; // seconds of correction per second
const SLEEP_GAP = 1;
const GRAIN = 0.001; // browsers measure time no finer than this
const DRIFT = 15e-6; // how far two cheap clocks drift apart per second (RFC 5905)

export class ServerClock {
  constructor(monotonic, wall) {
    this.monotonic = monotonic || (() => performance.now() / 1000);
    this.wall = wall || (() => Date.now() / 1000);
    this.epoch = null;
    this.reset();
    this.wallAhead = this.wall() - this.monotonic();
    this.trustedFrom = -Infinity;
  }

  // Another server process has another clock.
  reset() {
    this.samples = [];
    this.best = null;
    this.syncedAt = null; // when the last exchange was answered
    this.target = null;
    this.slew = { amount: 0, since: 0 };
    this.slept = 0; // seconds for which our clock may have stood still
  }

  // The time in `hello` is late, but serves until the first exchange is answered.
  startEpoch(epoch, serverNow) {
    if (epoch !== this.epoch) {
      this.epoch = epoch;
      this.reset();
    }
    if (!this.isSynced) {
      this.target = serverNow - this.monotonic();
      this.slept = 0;
    }
  }

  // Sent at t0 and answered at t3 by our clock, received at t1 and answered at t2 by the server's.
  addExchange(t0, t1, t2, t3) {
    const sample = { least: t2 - t3, most: t1 - t0, at: t3 }; // no message takes less than no time
    const isUsable = t0 >= this.trustedFrom && t3 - t0 <= EXCHANGE_MAX;
    if (!isFinite(sample.least) || !isFinite(sample.most) || !isUsable) {
      return;
    }
    const isFirst = !this.isSynced;
    this.syncedAt = t3;
    this.samples = this.samples.filter((old) => t3 - old.at < SAMPLE_LIFE);
    this.samples.push(sample);
    this.best = intersection(this.samples, t3);
    this.setTarget((this.best.least + this.best.most) / 2, isFirst);
  }

  // The server's clock minus ours; null before the server has said anything.
  get offset() {
    return this.target === null ? null : this.target + this.slewLeft();
  }

  // Half of the best trip bounds the error.
  get roundTrip() {
    return this.best === null ? null : Math.max(0, this.best.most - this.best.least);
  }

  get isSynced() {
    return this.best !== null;
  }

  get isSlewing() {
    return this.slewLeft() !== 0;
  }

  // The instant on the server's clock.
  now() {
    return this.monotonic() + this.offset;
  }

  // A monotonic clock may stand still while the machine sleeps; the wall clock moves on, as if it were set. True when
  // that was just found: the offset can't be trusted before the next exchange.
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
    this.trustedFrom = this.monotonic(); // an exchange that began before spans the sleep
    return true;
  }

  // Without an exchange, a clock that stood still is likelier than one that was set.
  assumeSleep() {
    if (!this.isSynced && this.target !== null) {
      this.target += this.slept;
      this.slept = 0;
    }
  }

  setTarget(offset, isFirst) {
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

// Each exchange bounds the offset, and the truth lies where all bounds agree. If they don't, the closest bounds count.
function intersection(samples, now) {
  const bounds = samples.map((sample) => {
    const drift = DRIFT * (now - sample.at);
    return { least: sample.least - drift, most: sample.most + drift };
  });
  const least = Math.max(...bounds.map((bound) => bound.least));
  const most = Math.min(...bounds.map((bound) => bound.most));
  return least - most < GRAIN ? { least, most } : bounds.reduce((best, next) => {
    return next.most - next.least <= best.most - best.least ? next : best;
  });
}
