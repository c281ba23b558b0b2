// Words that the dashboard and the remote control share.

import { define } from "../languages/language.js";

define({
  "viewOnly": "You have view-only access.",
  "cannot.add": "{name} isn't running. There is no time to change.",
  "cannot.lap": "{name} isn't running. There is no lap to record.",
  "announce.started": "{name} started",
  "announce.paused": "{name} paused",
  "announce.resumed": "{name} resumed",
  "announce.finished": "{name} finished",
  "announce.reset": "{name} reset",
  "announce.ended": "{name}: time is up",
  "key.next": "Next or previous timer",
  "key.new": "New timer",
  "key.search": "Search",
  "key.pause": "Start, pause or resume",
  "key.minutes": "Add or subtract a minute",
  "key.lap": "Lap",
  "key.laps": "Show laps",
  "key.finish": "Finish",
  "key.reset": "Reset",
  "key.message": "Message, flash, blackout",
  "key.share": "Share",
  "key.edit": "Edit settings",
  "key.open": "Open display",
  "key.more": "All actions",
  "key.layout": "Switch layout",
  "key.help": "Show this list",
  "key.undo": "Undo the last change"
});
