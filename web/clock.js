// `ServerClock` for other pages; its file is one of client/.

export { ServerClock } from "./client/clock.js";
