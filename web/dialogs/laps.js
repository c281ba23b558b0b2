// Laps of a stopwatch, as rows and as a file for a spreadsheet. No DOM.

// `laps` are the elapsed times at each press, oldest first. A row's `split` is that, its `lap` what was needed since
// the press before.
export function lapRows(laps) {
  return laps.map(function (split, index) {
    const before = index === 0 ? 0 : laps[index - 1];
    return { number: index + 1, lap: toMicroseconds(split - before), split: split };
  });
}

// The fastest and the slowest, when there are enough of them to say so.
export function extremes(rows) {
  if (rows.length < 3) {
    return { fastest: null, slowest: null };
  }
  const times = rows.map(function (row) { return row.lap; });
  const least = Math.min.apply(null, times);
  const most = Math.max.apply(null, times);
  return least === most ? { fastest: null, slowest: null } :
    { fastest: rows[times.indexOf(least)].number, slowest: rows[times.indexOf(most)].number };
}

// RFC 4180: lines end in CR LF. Seconds with a point, whatever the language, so that any program reads them.
export function lapsCSV(laps) {
  const rows = lapRows(laps).map(function (row) { return [row.number, plain(row.lap), plain(row.split)].join(","); });
  return ["lap,lap_seconds,split_seconds"].concat(rows).join("\r\n") + "\r\n";
}

// m:ss.cc; hundredths go down like a stopwatch's seconds, so that a lap never reads longer than it was.
export function lapText(seconds) {
  const hundredths = Math.floor(Math.round(seconds * 1000) / 10);
  const hours = Math.floor(hundredths / 360000);
  const minutes = Math.floor(hundredths / 6000) % 60;
  const tail = twoDigits(Math.floor(hundredths / 100) % 60) + "." + twoDigits(hundredths % 100);
  return hours > 0 ? hours + ":" + twoDigits(minutes) + ":" + tail : minutes + ":" + tail;
}

function twoDigits(number) {
  return number < 10 ? "0" + number : String(number);
}

function toMicroseconds(seconds) {
  return Math.round(seconds * 1e6) / 1e6;
}

// Never with an exponent.
function plain(seconds) {
  return seconds.toFixed(6).replace(/\.?0+$/, "");
}
