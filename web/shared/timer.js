// Facts that follow from a timer's state. A state is null or undefined while nobody has started the timer.

export const statusOf = (state) => state ? state.status : "unknown";

export const titleOf = (state, name) => state && state.title || name;

export const isRunning = (state) => statusOf(state) === "running";

// There is a run, to be finished or changed.
export const isActive = (state) => isRunning(state) || statusOf(state) === "paused";

// `shown` is the reading (see countdown.js).
export const isOvertime = (state, shown) => isRunning(state) && shown.level === "overtime";

export const isBlackout = (state) => Boolean(state && state.signal && state.signal.kind === "blackout");

export const lapsOf = (state) => state && state.laps || [];

// The command of the first button.
export const primaryCommand = (state) => ({ running: "pause", paused: "resume" })[statusOf(state)] || "start";

// The command that adds seconds, or takes them.
export const adjustment = (state, seconds) => ({
  command: state.type === "stopwatch" ? "addElapsedTime" : "addRemainingTime", fields: { seconds, clamp: true }
});
