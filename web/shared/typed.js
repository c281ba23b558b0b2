// Text that people type, whatever keyboard they have. This file has no DOM.

// The zeros of the digits that keyboards write: Arabic, Persian, Devanagari, Bengali, Gurmukhi, Gujarati, Odia, Tamil,
// Telugu, Kannada, Malayalam, Thai, Lao, Tibetan, Burmese and Khmer. (NFKC has Latin ones for the wide digits.)
const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040,
  0x17e0];
const INVISIBLE = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

// With Latin digits, plain spaces, colons and points, and without marks that nobody sees.
export function plainText(typed) {
  if (/^[ -~]*$/.test(typed)) {
    return typed.trim(); // nearly always, and two hundred titles are read for a search
  }
  return Array.from(typed.normalize("NFKC").replace(INVISIBLE, ""), latinDigit).join("")
    .replace(/[\u2236\ua789]/g, ":").replace(/\u066b/g, ".").replace(/\s+/g, " ").trim();
}

function latinDigit(character) {
  const code = character.codePointAt(0);
  const zero = ZEROS.find((start) => code >= start && code < start + 10);
  return zero === undefined ? character : String(code - zero);
}
