// Announces the time left to screen readers, at a few alerts and never each second.

import { AlertScheduler, alertsToCome, inWords, onAlertsChange } from "./alerts.js";
import { page } from "../shared/page.js";
import { session } from "./display.js";
import { announce } from "../shared/shell.js";

const scheduler = new AlertScheduler(session, (reached) => { announce(reached.map(inWords).join(". ")); });

onAlertsChange(session, plan);
plan();

function plan() {
  scheduler.plan(alertsToCome(session, page.timers).filter((alert) => alert.isSpoken));
}
