// What people type for a length of time, or for a time of day until which to count. No DOM; time is an argument.
// Every Error's message is for the person who typed, and says what would be right.

import { define, t } from "../languages/language.js";

define({
  "duration.bad": "“{typed}” is no duration. Write 5m, 1:30:00, 90 or 1h30m; or until 20:30.",
  "duration.negative": "“{typed}” is less than nothing. Write a duration without a sign: 5m.",
  "duration.comma": "“{typed}” has a comma. Write a point: 1.5h.",
  "duration.unit": "“{typed}” could mean two things. Name the last unit too: 1h30m.",
  "duration.colons": "“{typed}” is no duration. After a colon come two digits, 00 to 59: 1:30 or 1:30:00.",
  "duration.range": "A countdown lasts more than no time and at most 365 days: 1s to 8760h.",
  "duration.until": "“{typed}” is no time of day. Write until 20:30, or until 8:30 pm.",
  "duration.noClock": "The server's clock is not known yet. Try again in a moment, or write a duration: 5m.",
  "duration.timeOfDay": "There is no “{typed}” on a clock. Write a time from 0:00 to 23:59: until 20:30."
});

const LONGEST_SECONDS = 31536000;
const UNTIL = /^(?:until|till|til|bis|hasta(?: las?)?|jusqu['’]?[aà]|حتى) *(.*)$/;
const HOURS = "(?:h|hrs?|hours?|std|stunden?|heures?|horas?|س|ساعة|ساعات)";
const MINUTES = "(?:m|mins?|minutes?|minuten?|minutos?|د|دقيقة|دقائق)";
const SECONDS = "(?:s|secs?|seconds?|sek|sekunden?|secondes?|segundos?|ث|ثانية|ثوان)";
const NUMBER = "([0-9]+(?:\\.[0-9]+)?)";
const UNITS = new RegExp("^(?:" + NUMBER + " *" + HOURS + ")?" +
  " *(?:" + NUMBER + " *" + MINUTES + ")?" + " *(?:" + NUMBER + " *" + SECONDS + ")?$");
const LACKS_UNIT = new RegExp("^[0-9.]+ *(?:" + HOURS + "|" + MINUTES + ") *[0-9.]+$");

// "5m", "1:30:00", "90", "1h30m" in seconds; null for nothing, which asks for a stopwatch. "until 20:30" is the time
// left to that time of day where the viewer is, reckoned from `now`, the server's wall time, since this device's clock may
// be wrong.
export function parseDuration(typed, now) {
  const text = tidy(typed);
  if (text === "") {
    return null;
  }
  const until = UNTIL.exec(text);
  if (until !== null) {
    return secondsUntil(until[1], now);
  }
  return within(firstOf([readNumber, readColons, readUnits], text), typed);
}

// "5m, 1m, 10s": each a length. What stands between commas is one, so a decimal comma is not understood.
export function parseWarnings(typed) {
  return typed.split(/[,;،]/).map(function (part) {
    return UNTIL.test(tidy(part)) ? refuse("duration.bad", { typed: part.trim() }) : parseDuration(part, 0);
  }).filter(function (seconds) { return seconds !== null; });
}

// A length as it would be typed, for a field that holds one already.
export function writeDuration(seconds) {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = Math.round((seconds - hours * 3600 - minutes * 60) * 1e6) / 1e6;
  return ((hours > 0 ? hours + "h" : "") + (minutes > 0 ? minutes + "m" : "") + (rest > 0 ? rest + "s" : "")) || "0s";
}

// — inside —

function tidy(typed) {
  return typed.trim().toLowerCase().replace(/[٠-٩]/g, function (digit) {
    return String(digit.charCodeAt(0) - 0x660);
  });
}

function firstOf(readers, text) {
  return readers.map(function (read) { return read(text); }).find(function (seconds) { return seconds !== null; });
}

function within(seconds, typed) {
  if (seconds === undefined) {
    refuse(whatIsWrong(tidy(typed)), { typed: typed.trim() });
  }
  if (!(seconds > 0 && seconds <= LONGEST_SECONDS)) {
    refuse("duration.range");
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
  const found = UNITS.exec(text);
  return found && Number(found[1] || 0) * 3600 + Number(found[2] || 0) * 60 + Number(found[3] || 0);
}

function whatIsWrong(text) {
  if (/^[-−]/.test(text)) {
    return "duration.negative";
  }
  if (/^[0-9]+,[0-9]+/.test(text)) {
    return "duration.comma";
  }
  if (LACKS_UNIT.test(text)) {
    return "duration.unit";
  }
  return /^[0-9.]+(?::[0-9.]*)+$/.test(text) ? "duration.colons" : "duration.bad";
}

// The next time that clocks show it where the viewer is: tomorrow's, when today's is over.
function secondsUntil(text, now) {
  const found = /^([0-9]{1,2})(?:[:.h]([0-9]{2}))?(?::([0-9]{2}))? *(?:uhr|h)? *(am|pm|a\.m\.|p\.m\.)?$/.exec(text);
  if (!found) {
    refuse("duration.until", { typed: text });
  }
  const hour = hourOfDay(Number(found[1]), found[4]);
  const minute = Number(found[2] || 0);
  const second = Number(found[3] || 0);
  if (hour === null || minute > 59 || second > 59) {
    refuse("duration.timeOfDay", { typed: text });
  }
  if (now === null) {
    refuse("duration.noClock");
  }
  const today = timeOnDay(now, 0, hour, minute, second);
  const due = [today, shownAgain(today), timeOnDay(now, 1, hour, minute, second)]
    .find(function (date) { return date !== null && date.getTime() > now * 1000; });
  return Math.round((due.getTime() / 1000 - now) * 1e6) / 1e6;
}

// Each time the hours are set on that day's date: a day on which clocks change may have moved them.
function timeOnDay(now, day, hour, minute, second) {
  const date = new Date(now * 1000);
  date.setDate(date.getDate() + day);
  date.setHours(hour, minute, second, 0);
  return date;
}

// Where clocks go back they show an hour of that night twice; a date stands for the first. Null when there is no other.
function shownAgain(date) {
  const later = new Date(date.getTime() + 3 * 3600000);
  const again = new Date(date.getTime() + (later.getTimezoneOffset() - date.getTimezoneOffset()) * 60000);
  return again.getHours() === date.getHours() && again.getMinutes() === date.getMinutes() ? again : null;
}

function hourOfDay(hour, half) {
  if (half === undefined) {
    return hour < 24 ? hour : null;
  }
  return hour < 1 || hour > 12 ? null : hour % 12 + (half.charAt(0) === "p" ? 12 : 0);
}

function refuse(key, fields) {
  throw new Error(t(key, fields));
}
