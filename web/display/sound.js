// Tones, speech and vibration. The audio clock gets its tones ahead of time, so that neither a busy page nor a late
// message delays them.

const AHEAD = 600; // seconds; a hidden page may not run for long
const REPLAN_EVERY = 240; // no message may come for hours
const TONES = {
  warning: [{ hertz: 880, from: 0, length: 0.12 }, { hertz: 880, from: 0.2, length: 0.12 }],
  zero: [
    { hertz: 988, from: 0, length: 0.25 },
    { hertz: 784, from: 0.3, length: 0.25 },
    { hertz: 659, from: 0.6, length: 0.7 }
  ]
};
const LATE = 0.5; // seconds that the audio clock may be behind
const Context = window.AudioContext || window.webkitAudioContext;
const VIBRATIONS = { warning: [120, 80, 120], zero: [400, 150, 400, 150, 400] }; // milliseconds

export class Sound {
  // Calls `onChange()` when `status` has changed.
  constructor(onChange) {
    this.onChange = onChange;
    this.audio = null;
    this.planned = new Map(); // key → {due, tones}
    this.sounded = new Set(); // keys: a clock that is set back a little repeats no alert
    this.wanted = [];
  }

  // "off" · "blocked" until somebody touches the page · "on" · "none" without audio
  get status() {
    if (!Context) {
      return "none";
    }
    return this.audio === null ? "off" : this.audio.state === "running" ? "on" : "blocked";
  }

  // Browsers block the sound of a page that nobody has touched.
  turnOn() {
    if (this.status === "none") {
      return;
    }
    if (this.audio === null) {
      this.audio = new Context();
      this.audio.onstatechange = () => { this.refresh(); };
    }
    this.audio.resume().then(() => { this.refresh(); }, () => {});
    this.refresh();
  }

  turnOff() {
    if (this.audio !== null) {
      this.cancelAll();
      this.audio.onstatechange = null;
      this.audio.close();
      this.audio = null;
      this.onChange();
    }
  }

  // alerts: [{key, in, kind}], where `in` is in seconds and `kind` is "warning" or "zero".
  plan(alerts) {
    const now = performance.now() / 1000;
    this.wanted = alerts.map((alert) => ({ key: alert.key, kind: alert.kind, due: now + alert.in }));
    this.schedule();
  }

  // — inside —

  refresh() {
    if (this.audio === null) {
      return; // turned off meanwhile
    }
    this.cancelAll();
    this.schedule();
    this.onChange();
  }

  schedule() {
    if (this.status !== "on") {
      return;
    }
    const now = performance.now() / 1000;
    this.cancelAll();
    clearTimeout(this.replanning);
    if (this.wanted.some(({ due }) => due - now >= AHEAD)) {
      this.replanning = setTimeout(() => { this.schedule(); }, REPLAN_EVERY * 1000);
    }
    this.wanted.forEach(({ key, kind, due }) => {
      const wait = due - now;
      if (wait > 0 && wait < AHEAD && !this.sounded.has(key)) {
        this.planned.set(key, { due, tones: this.play(TONES[kind], this.audio.currentTime + wait) });
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
      return { source, from };
    });
  }

  // Tones that are due sound to their end, though the audio clock may be behind.
  cancelAll() {
    const now = performance.now() / 1000;
    const latest = this.audio.currentTime + LATE;
    this.planned.forEach(({ due, tones }, key) => {
      if (due > now || tones[0].from > latest) {
        tones.forEach((tone) => { tone.source.disconnect(); });
      } else {
        this.sounded.add(key);
      }
    });
    this.planned.clear();
  }
}

export function vibrate(kind) {
  if (navigator.vibrate) {
    navigator.vibrate(VIBRATIONS[kind]);
  }
}

// Reads words aloud, in the page's language.
export function speak(words) {
  if (!window.speechSynthesis) {
    return;
  }
  const utterance = new SpeechSynthesisUtterance(words);
  utterance.lang = document.documentElement.lang;
  window.speechSynthesis.speak(utterance);
}
