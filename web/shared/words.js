// Words of the dashboard and of the remote control alike.

import { define } from "../languages/language.js";

define({
  "dashboard.undo": "Undo",
  "dashboard.looksOn": "You may look, but not change anything.",
  "useless.add": "{name} does not run: there is no time to change.",
  "useless.lap": "{name} does not run: it takes no laps.",
  "heard.started": "{name} started",
  "heard.paused": "{name} paused",
  "heard.resumed": "{name} goes on",
  "heard.finished": "{name} finished",
  "heard.reset": "{name} reset",
  "heard.ended": "{name}: time is up",
  "key.next": "Next timer, timer before",
  "key.new": "New timer",
  "key.search": "Search",
  "key.pause": "Start, pause, resume",
  "key.minutes": "A minute more, a minute less",
  "key.lap": "Lap",
  "key.laps": "List of laps",
  "key.finish": "Finish",
  "key.reset": "Reset",
  "key.line": "Message, flash, blackout",
  "key.share": "Share",
  "key.edit": "Title, warnings, at zero",
  "key.open": "Open as a display",
  "key.more": "All actions",
  "key.layout": "Other layout",
  "key.help": "This list",
  "key.undo": "Undo the last change"
});
