// Says why the screen may be out of date.

import { define, t } from "../languages/language.js";

const LATE_AFTER = 3; // seconds

define({
  "freshness.confirmed": "{words}. Last update {age} ago.", "freshness.ended": "Not connected: {why}",
  "freshness.problem": "The server refused the subscription: {why}",
  "freshness.refused": "The server refused this page: {why}", "freshness.offline": "Offline for {age}",
  "freshness.unanswered": "No answer for {age}", "freshness.syncing": "Syncing the clock…"
});

// Null while everything is up to date. `refusal` is the server's reason, by HTTP, for accepting no socket.
export function trouble({ link, clock, problem, isComplete }, refusal) {
  const now = clock.monotonic();
  if (link.status === "refused") {
    return t("freshness.ended", { why: link.problem });
  }
  if (link.status !== "online" && refusal !== null) {
    return t("freshness.refused", { why: refusal });
  }
  if (link.status !== "online") {
    const isOpening = link.lastMessageAt === null && now - link.offlineSince < 1.5; // opening the page takes a moment
    return isOpening ? null : since("freshness.offline", link.offlineSince);
  }
  if (problem !== null) {
    return t("freshness.problem", { why: problem });
  }
  if (link.waitingSince !== null && now - link.waitingSince > LATE_AFTER) {
    return since("freshness.unanswered", link.waitingSince);
  }
  return clock.isSynced || !isComplete ? null : t("freshness.syncing");

  function since(key, instant) {
    const words = t(key, { age: age(now - instant) });
    const last = link.lastMessageAt;
    return last === null ? words : t("freshness.confirmed", { words, age: age(now - last) });
  }
}

export function age(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 120) {
    return whole + " s";
  }
  return whole < 7200 ? Math.floor(whole / 60) + " min" : Math.floor(whole / 3600) + " h";
}
