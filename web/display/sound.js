// Tones, words and a shake at the moments of a countdown. Tones are given to the audio clock
// ahead of time, so that neither a busy page nor a late message can delay them.

const AHEAD = 600; // seconds: a hidden page may not be asked again for long
const TONES = {
  warning: [{ hertz: 880, from: 0, length: 0.12 }, { hertz: 880, from: 0.2, length: 0.12 }],
  zero: [{ hertz: 988, from: 0, length: 0.25 }, { hertz: 784, from: 0.3, length: 0.25 }, { hertz: 659, from: 0.6, length: 0.7 }]
};
const LATE = 0.5; // seconds that the audio clock may be behind
const Context = window.AudioContext || window.webkitAudioContext;
const SHAKES = { warning: [120, 80, 120], zero: [400, 150, 400, 150, 400] }; // milliseconds

export class Sound {
  // `changed()` whenever `status` did.
  constructor(changed) {
    this.changed = changed;
    this.audio = null;
    this.planned = new Map(); // key → {due, tones}
    this.sounded = new Set(); // keys: a clock that is set back a little brings no moment twice
    this.wanted = [];
  }

  // "off" · "blocked" until somebody touches the page · "on" · "none": no audio here
  get status() {
    if (!Context) {
      return "none";
    }
    return this.audio === null ? "off" : this.audio.state === "running" ? "on" : "blocked";
  }

  // Browsers let no page make noise that nobody has touched.
  turnOn() {
    if (this.status === "none") {
      return;
    }
    if (this.audio === null) {
      this.audio = new Context();
      this.audio.onstatechange = this.refresh.bind(this);
    }
    this.audio.resume().then(this.refresh.bind(this), () => {});
    this.refresh();
  }

  turnOff() {
    if (this.audio !== null) {
      this.cancelAll();
      this.audio.onstatechange = null;
      this.audio.close();
      this.audio = null;
      this.changed();
    }
  }

  // moments: {key, in, kind} with `in` the seconds from now and `kind` "warning" or "zero".
  plan(moments) {
    const now = performance.now() / 1000;
    this.wanted = moments.map((moment) => {
      return { key: moment.key, kind: moment.kind, due: now + moment.in };
    });
    this.schedule();
  }

  // — inside —

  refresh() {
    if (this.audio === null) {
      return; // turned off meanwhile
    }
    this.cancelAll();
    this.schedule();
    this.changed();
  }

  schedule() {
    if (this.status !== "on") {
      return;
    }
    const now = performance.now() / 1000;
    this.cancelAll();
    this.wanted.forEach((moment) => {
      const wait = moment.due - now;
      if (wait > 0 && wait < AHEAD && !this.sounded.has(moment.key)) {
        const tones = this.play(TONES[moment.kind], this.audio.currentTime + wait);
        this.planned.set(moment.key, { due: moment.due, tones: tones });
      }
    });
  }

  play(tones, at) {
    const audio = this.audio;
    return tones.map((tone) => {
      const source = audio.createOscillator();
      const volume = audio.createGain();
      const from = at + tone.from;
      source.frequency.value = tone.hertz;
      volume.gain.setValueAtTime(0, from);
      volume.gain.linearRampToValueAtTime(0.4, from + 0.01); // no click
      volume.gain.setValueAtTime(0.4, from + tone.length - 0.03);
      volume.gain.linearRampToValueAtTime(0, from + tone.length);
      source.connect(volume);
      volume.connect(audio.destination);
      source.start(from);
      source.stop(from + tone.length);
      return { source: source, from: from };
    });
  }

  // What is due sounds to its end, though the audio clock may not be there yet.
  cancelAll() {
    const now = performance.now() / 1000;
    const latest = this.audio.currentTime + LATE;
    const sounded = this.sounded;
    this.planned.forEach(({ due, tones }, key) => {
      if (due > now || tones[0].from > latest) {
        tones.forEach((tone) => { tone.source.disconnect(); });
      } else {
        sounded.add(key);
      }
    });
    this.planned.clear();
  }
}

export function shake(kind) {
  if (navigator.vibrate) {
    navigator.vibrate(SHAKES[kind]);
  }
}

// Words aloud, in the page's language.
export function speak(words) {
  if (!window.speechSynthesis) {
    return;
  }
  const utterance = new SpeechSynthesisUtterance(words);
  utterance.lang = document.documentElement.lang;
  window.speechSynthesis.speak(utterance);
}
