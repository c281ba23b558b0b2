// Durations as people type them, and times of day until which to count. This file has no DOM, and time is an argument.
// Each Error's message is for the person who typed, and says what would be right.

import { define, t } from "../languages/language.js";
import { plainText } from "./typed.js";

define({
  "duration.bad": "“{typed}” isn't a duration. Enter 5m, 1:30:00, 90 or 1h30m, or until 20:30.",
  "duration.negative": "“{typed}” is negative. Enter a duration without a sign, such as 5m.",
  "duration.comma": "“{typed}” has a decimal comma. Use a point: 1.5h.",
  "duration.unit": "“{typed}” is ambiguous. Add the last unit: 1h30m.",
  "duration.colons": "“{typed}” isn't a duration. After a colon, enter two digits from 00 to 59: 1:30 or 1:30:00.",
  "duration.range": "A countdown must be longer than zero and at most 365 days (8760h).",
  "duration.until": "“{typed}” isn't a time of day. Enter until 20:30, or until 8:30 pm.",
  "duration.noClock": "The server's clock isn't known yet. Try again in a moment, or enter a duration such as 5m.",
  "duration.timeOfDay": "“{typed}” isn't a time of day. Enter a time from 0:00 to 23:59, such as until 20:30."
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

// "5m", "1:30:00", "90" and "1h30m" in seconds; null for an empty text, which asks for a stopwatch. "until 20:30" is
// the time left until then in the viewer's time zone, counted from `now`, the server's wall time: this device's clock
// may be wrong.
export function parseDuration(typed, now) {
  const text = normalized(typed);
  if (text === "") {
    return null;
  }
  const until = UNTIL.exec(text);
  if (until !== null) {
    return secondsUntil(until[1], now);
  }
  return checked(firstOf([readNumber, readColons, readUnits], text), typed);
}

// Whether it is the time left until a time of day, which changes as time passes.
export function isUntil(typed) {
  return UNTIL.test(normalized(typed));
}

// "5m, 1m, 10s": durations between commas. A decimal comma is therefore not understood.
export function parseWarnings(typed) {
  return typed.split(/[,;،]/).map((part) => {
    return isUntil(part) ? refuse("duration.bad", { typed: part.trim() }) : parseDuration(part, 0);
  }).filter((seconds) => seconds !== null);
}

// A duration as a person would type it, for a field that holds one already.
export function writeDuration(seconds) {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = Math.round((seconds - hours * 3600 - minutes * 60) * 1e6) / 1e6;
  return ((hours > 0 ? hours + "h" : "") + (minutes > 0 ? minutes + "m" : "") + (rest > 0 ? rest + "s" : "")) || "0s";
}

// — inside —

function normalized(typed) {
  return plainText(typed).toLowerCase();
}

function firstOf(readers, text) {
  return readers.map((read) => read(text)).find((seconds) => seconds !== null);
}

function checked(seconds, typed) {
  if (seconds === undefined) {
    refuse(whatIsWrong(normalized(typed)), { typed: typed.trim() });
  }
  if (!(seconds > 0 && seconds <= LONGEST_SECONDS)) {
    refuse("duration.range");
  }
  return seconds;
}

function readNumber(text) {
  return /^[0-9]+(?:\.[0-9]+)?$/.test(text) ? Number(text) : null;
}

// h:mm:ss or m:ss. Only the first number may be more than 59.
function readColons(text) {
  const found = /^(?:([0-9]+):)?([0-9]+):([0-5][0-9](?:\.[0-9]+)?)$/.exec(text);
  if (!found || (found[1] !== undefined && !/^[0-5][0-9]$/.test(found[2]))) {
    return null;
  }
  return Number(found[1] || 0) * 3600 + Number(found[2]) * 60 + Number(found[3]);
}

// Each number needs its unit, the largest first: "1h30" would be ambiguous.
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

// Counts to the next time of day in the viewer's time zone: tomorrow's, when today's is over.
function secondsUntil(text, now) {
  const found = /^([0-9]{1,2})(?: *[:.h] *([0-9]{2}))?(?::([0-9]{2}))? *(?:uhr|h)? *(am|pm|[ap]\. ?m\.|ص|م)?$/
    .exec(text);
  if (!found) {
    refuse("duration.until", { typed: text });
  }
  const time = [hourOfDay(Number(found[1]), found[4]), Number(found[2] || 0), Number(found[3] || 0)];
  if (time[0] === null || time[1] > 59 || time[2] > 59) {
    refuse("duration.timeOfDay", { typed: text });
  }
  if (now === null) {
    refuse("duration.noClock");
  }
  const today = timeOnDay(now, 0, time);
  const due = [today, shownAgain(today), timeOnDay(now, 1, time)]
    .find((date) => date !== null && date.getTime() > now * 1000);
  return Math.round((due.getTime() / 1000 - now) * 1e6) / 1e6;
}

// The hours are set on that day's own date, because clocks may change before.
function timeOnDay(now, day, [hour, minute, second]) {
  const date = new Date(now * 1000);
  date.setDate(date.getDate() + day);
  date.setHours(hour, minute, second, 0);
  return date;
}

// When clocks go back, an hour comes twice and a date means the first one. Null for all other hours.
function shownAgain(date) {
  const later = new Date(date.getTime() + 3 * 3600000);
  const again = new Date(date.getTime() + (later.getTimezoneOffset() - date.getTimezoneOffset()) * 60000);
  return again.getHours() === date.getHours() && again.getMinutes() === date.getMinutes() ? again : null;
}

function hourOfDay(hour, half) {
  if (half === undefined) {
    return hour < 24 ? hour : null;
  }
  return hour < 1 || hour > 12 ? null : hour % 12 + (["p", "م"].includes(half.charAt(0)) ? 12 : 0);
}

function refuse(key, fields) {
  throw new Error(t(key, fields));
}
