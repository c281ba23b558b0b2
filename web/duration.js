// Durations as people type them. Pure functions: no DOM, no socket.

const LONGEST_SECONDS = 31536000;

// "5m", "1:30", "90", "1h30m", "1:30:00" in seconds; null for an empty text, which asks for
// a stopwatch. Throws an Error whose message is meant for the person who typed.
export function parseDuration(typed) {
  const text = typed.trim().toLowerCase();
  if (text === "") {
    return null;
  }
  const seconds = [readNumber, readColons, readUnits].map(function (read) {
    return read(text);
  }).find(function (read) { return read !== null; });
  if (seconds === undefined) {
    throw new Error("“" + typed.trim() + "” is no duration. Write 5m, 1:30, 90, 1h30m or 1:30:00.");
  }
  if (seconds <= 0 || seconds > LONGEST_SECONDS) {
    throw new Error("A countdown lasts more than no time and at most 365 days.");
  }
  return seconds;
}

function readNumber(text) {
  return /^[0-9]+(?:\.[0-9]+)?$/.test(text) ? Number(text) : null;
}

// h:mm:ss or m:ss. Minutes alone may run past 59, what follows a colon may not.
function readColons(text) {
  const found = /^(?:([0-9]+):)?([0-9]+):([0-5][0-9](?:\.[0-9]+)?)$/.exec(text);
  if (!found || (found[1] !== undefined && !/^[0-5][0-9]$/.test(found[2]))) {
    return null;
  }
  return Number(found[1] || 0) * 3600 + Number(found[2]) * 60 + Number(found[3]);
}

// Units from the largest to the smallest, each of them named: "1h30" could mean two things.
function readUnits(text) {
  const found = /^(?:([0-9.]+) *h)? *(?:([0-9.]+) *m(?:in)?)? *(?:([0-9.]+) *s)?$/.exec(text);
  if (!found) {
    return null;
  }
  const seconds = Number(found[1] || 0) * 3600 + Number(found[2] || 0) * 60 + Number(found[3] || 0);
  return isNaN(seconds) ? null : seconds;
}
