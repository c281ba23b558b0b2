// How fresh what the screen shows is, in words. No DOM, no socket.

const DOUBT_AFTER = 3; // seconds

// `words` are for the stale mark, null while everything is confirmed; `sync` says how well
// the clocks agree, null before they were compared. `refusal` is what the server says over
// HTTP when it lets no socket in.
export function freshness(client, refusal) {
  return { words: trouble(client, refusal), sync: agreement(client.clock) };
}

// Half the round trip is what the offset may be wrong by.
function agreement(clock) {
  if (!clock.isSynced) {
    return null;
  }
  const milliseconds = Math.max(1, Math.ceil(clock.roundTrip * 500));
  return "± " + milliseconds + " ms, synced " + age(clock.monotonic() - clock.syncedAt) + " ago";
}

function trouble(client, refusal) {
  const link = client.link;
  const now = client.clock.monotonic();
  const confirmed = link.confirmedAt === null ? "" : " — last confirmed " + age(now - link.confirmedAt) + " ago";
  if (link.status === "refused") {
    return "Not connected: " + link.problem;
  }
  if (link.status !== "online") {
    return offline(now - link.offlineSince, confirmed, refusal);
  }
  if (client.problem !== null) {
    return "The server says: " + client.problem;
  }
  if (link.waitingSince !== null && now - link.waitingSince > DOUBT_AFTER) {
    return "No answer for " + age(now - link.waitingSince) + confirmed;
  }
  return client.clock.isSynced || !client.isComplete ? null : "Checking the clock…";
}

// Opening the page takes a moment, which is no trouble worth a word.
function offline(seconds, confirmed, refusal) {
  if (refusal !== null) {
    return "The server does not let this page in: " + refusal;
  }
  return confirmed === "" && seconds < 1.5 ? null : "Offline for " + age(seconds) + confirmed;
}

function age(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 120) {
    return whole + " s";
  }
  return whole < 7200 ? Math.floor(whole / 60) + " min" : Math.floor(whole / 3600) + " h";
}
