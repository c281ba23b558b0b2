// What happens on the way of a countdown, and when. Pure: no DOM, and time is an argument.

const SPOKEN = [300, 60, 10, 0]; // seconds left that are worth a word

// {left, at, isWarning, isSpoken} for each moment to come, the next one first. `at` is reckoned
// from the state alone, on the server's clock, so that a late message moves nothing.
export function upcoming(state, serverNow) {
  if (state.type === "stopwatch" || state.status !== "running") {
    return [];
  }
  const zero = state.lastElapsedTimeCalculatedAt + state.duration - state.elapsedTime;
  const warnings = state.warnings || [];
  return warnings.concat(SPOKEN)
    .filter((left, index, all) => {
      return all.indexOf(left) === index && left < state.duration && zero - left > serverNow;
    })
    .sort((one, other) => other - one)
    .map((left) => {
      return {
        left: left,
        at: zero - left,
        isWarning: left === 0 || warnings.indexOf(left) >= 0,
        isSpoken: SPOKEN.indexOf(left) >= 0
      };
    });
}

// How a moment is called: a key of language.js and its number.
export function called(left) {
  if (left === 0) {
    return { key: "alert.zero", n: 0 };
  }
  return left % 60 === 0 ? { key: "alert.minutes", n: left / 60 } : { key: "alert.seconds", n: left };
}
