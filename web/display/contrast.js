// Colors that can be read on a ground. A color is [red, green, blue], from 0 to 255 each. This file has no DOM.

const ENOUGH = 7; // WCAG 2.1, 1.4.6
const WHITE = [255, 255, 255];
const BLACK = [0, 0, 0];
const BASES = {
  ink: [128, 128, 128], muted: [128, 132, 136], accent: [31, 168, 118],
  warning: [224, 138, 0], urgent: [240, 90, 20], overtime: [229, 48, 60]
};

// From 1 to 21 (WCAG 2.1).
export function contrast(one, other) {
  const [least, most] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (most + 0.05) / (least + 0.05);
}

// Black or white, whichever reads better.
export function extremeOn(ground) {
  return contrast(WHITE, ground) > contrast(BLACK, ground) ? WHITE : BLACK;
}

// Whether text in this color needs an outline to be read. On a few grounds of medium lightness every color does.
export function isTooClose(color, ground, atLeast) {
  return contrast(color, ground) < (atLeast || ENOUGH);
}

// The custom properties of style.css and controls.css for this ground, as colors.
export function paletteOn(ground) {
  const extreme = extremeOn(ground);
  const card = mix(ground, extreme === WHITE ? BLACK : WHITE, 0.4);
  const accent = readable(BASES.accent, ground);
  return {
    ink: mix(extreme, BASES.ink, isTooClose(extreme, ground, 2 * ENOUGH) ? 0 : 0.05),
    muted: readable(BASES.muted, ground),
    line: mix(ground, extreme, 0.2),
    accent,
    "on-accent": extremeOn(accent),
    warning: readable(BASES.warning, ground),
    urgent: readable(BASES.urgent, ground),
    overtime: readable(BASES.overtime, ground),
    card,
    "card-ink": extreme,
    hover: mix(card, extreme, 0.1)
  };
}

// The color itself, or nearer to black or white until it reads well.
function readable(color, ground) {
  const extreme = extremeOn(ground);
  const part = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    .find((share) => !isTooClose(mix(color, extreme, share), ground));
  return mix(color, extreme, part === undefined ? 1 : part);
}

function mix(one, other, share) {
  return one.map((value, index) => Math.round(value + (other[index] - value) * share));
}

function luminance(color) {
  const [red, green, blue] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
