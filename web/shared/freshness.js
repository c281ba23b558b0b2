// Why what the screen shows may not be fresh, in words. No DOM, no socket.

import { define, t } from "../languages/language.js";

const DOUBT_AFTER = 3; // seconds

define({
  "fresh.confirmed": "{words} — last confirmed {age} ago", "fresh.ended": "Not connected: {why}", "fresh.says": "The server says: {why}",
  "fresh.refused": "The server does not let this page in: {why}", "fresh.offline": "Offline for {age}",
  "fresh.unanswered": "No answer for {age}", "fresh.checking": "Checking the clock…"
});

// Null while everything is confirmed. `refusal` is what the server says over HTTP when it lets no
// socket in.
export function trouble(client, refusal) {
  const link = client.link;
  const now = client.clock.monotonic();
  if (link.status === "refused") {
    return t("fresh.ended", { why: link.problem });
  }
  if (link.status !== "online" && refusal !== null) {
    return t("fresh.refused", { why: refusal });
  }
  if (link.status !== "online") {
    const seconds = now - link.offlineSince;
    // Opening the page takes a moment, which is no trouble worth a word.
    return link.confirmedAt === null && seconds < 1.5 ? null : since("fresh.offline", seconds, link, now);
  }
  if (client.problem !== null) {
    return t("fresh.says", { why: client.problem });
  }
  if (link.waitingSince !== null && now - link.waitingSince > DOUBT_AFTER) {
    return since("fresh.unanswered", now - link.waitingSince, link, now);
  }
  return client.clock.isSynced || !client.isComplete ? null : t("fresh.checking");
}

function since(key, seconds, link, now) {
  const words = t(key, { age: age(seconds) });
  return link.confirmedAt === null ? words : t("fresh.confirmed", { words: words, age: age(now - link.confirmedAt) });
}

export function age(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 120) {
    return whole + " s";
  }
  return whole < 7200 ? Math.floor(whole / 60) + " min" : Math.floor(whole / 3600) + " h";
}
