// Laps of a stopwatch, as rows and as a file for a spreadsheet. This file has no DOM.

// `laps` are the elapsed times at each press, oldest first. A row's `split` is that time, its `lap` the time since the
// press before.
export function lapRows(laps) {
  return laps.map((split, index) => {
    const before = index === 0 ? 0 : laps[index - 1];
    return { number: index + 1, lap: toMicroseconds(split - before), split };
  });
}

// The numbers of the fastest and the slowest lap, when there are enough laps to say so.
export function extremes(rows) {
  const times = rows.map((row) => row.lap);
  const least = Math.min(...times);
  const most = Math.max(...times);
  if (rows.length < 3 || least === most) {
    return { fastest: null, slowest: null };
  }
  return { fastest: rows[times.indexOf(least)].number, slowest: rows[times.indexOf(most)].number };
}

// Lines end in CR LF (RFC 4180). Seconds have a decimal point in every language, so that any program reads them.
export function lapsCSV(laps) {
  const rows = lapRows(laps).map((row) => [row.number, plain(row.lap), plain(row.split)].join(","));
  return ["lap,lap_seconds,split_seconds"].concat(rows).join("\r\n") + "\r\n";
}

// m:ss.cc. Hundredths round down, as a stopwatch's seconds do, so that a lap never reads longer than it was.
export function lapText(seconds) {
  const hundredths = Math.floor(Math.round(seconds * 1000) / 10);
  const hours = Math.floor(hundredths / 360000);
  const minutes = Math.floor(hundredths / 6000) % 60;
  const tail = twoDigits(Math.floor(hundredths / 100) % 60) + "." + twoDigits(hundredths % 100);
  return (hours > 0 ? hours + ":" + twoDigits(minutes) : minutes) + ":" + tail;
}

function twoDigits(number) {
  return String(number).padStart(2, "0");
}

function toMicroseconds(seconds) {
  return Math.round(seconds * 1e6) / 1e6;
}

// Never with an exponent.
function plain(seconds) {
  return seconds.toFixed(6).replace(/\.?0+$/, "");
}
