// A line to the speaker: what stands on the screens of a timer beside its time, and what makes people look up.

import { define, t } from "../languages/language.js";
import { focusFirst, openDialog } from "./dialog.js";
import { bytesOf } from "../dashboard/new-timer.js";
import { pressOf } from "../shared/press.js";
import { setAttribute } from "../shared/shell.js";

define({
  "line.title": "Message to {name}",
  "line.label": "Message",
  "line.phrases": "Quick phrases: sent at once",
  "line.room": { one: "{n} byte left", other: "{n} bytes left" },
  "line.over": { one: "{n} byte too long", other: "{n} bytes too long" },
  "line.tooLong": "A message is at most 500 bytes, about 500 letters. Shorten it.",
  "line.empty": "There is no message to send. Type one, or press a phrase.",
  "line.send": "Send",
  "line.clear": "Clear",
  "line.standing": "On the screens: “{text}”",
  "line.nothing": "No message is on the screens.",
  "line.screens": "Screens",
  "line.flash": "Flash",
  "line.blackout": "Blackout",
  "line.light": "End blackout",
  "line.screensHint": "A flash lasts three seconds. A blackout stays until it is ended.",
  "phrase.wrapUp": "Wrap up",
  "phrase.timeIsUp": "Time is up",
  "phrase.slower": "Slower, please",
  "phrase.louder": "Louder, please",
  "phrase.questions": "Questions now",
  "phrase.wait": "Please wait"
});

const TEXT_BYTES = 500;
const TELL_FROM = 100; // as long as there is much room nobody needs to know how much
const PHRASES = ["phrase.wrapUp", "phrase.timeIsUp", "phrase.slower", "phrase.louder", "phrase.questions", "phrase.wait"];

export function openLine(timer, session, desk) {
  const dialog = openDialog({ title: t("line.title", { name: titleOf(session, timer) }), template: "message", closed: function () { stop(); } });
  const text = dialog.find("#line-text");
  PHRASES.forEach(addPhrase);
  text.addEventListener("input", showRoom);
  dialog.find("form").addEventListener("submit", function (event) {
    event.preventDefault();
    send(text.value.trim(), event);
  });
  text.addEventListener("keydown", function (event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send(text.value.trim(), event);
    }
  });
  dialog.find(".clear").addEventListener("click", function (event) { change("message", { text: "" }, event); });
  dialog.find(".flash").addEventListener("click", function (event) { change("signal", { signal: "flash" }, event); });
  dialog.find(".blackout").addEventListener("click", function (event) {
    change("signal", { signal: isDark() ? "none" : "blackout" }, event);
  });
  const stop = session.on("timer", refresh);
  refresh({ state: { timer: timer } });
  showRoom();
  focusFirst(dialog, "#line-text");

  function addPhrase(key) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = t(key);
    button.addEventListener("click", function (event) { send(t(key), event); });
    dialog.find(".phrases").appendChild(button);
  }

  function send(words, event) {
    if (words === "" || bytesOf(words) > TEXT_BYTES) {
      say(t(words === "" ? "line.empty" : "line.tooLong"));
      text.focus();
      return;
    }
    change("message", { text: words }, event);
  }

  function change(command, fields, event) {
    const typed = text.value;
    say("");
    desk.change(command, timer, fields, pressOf(event, session, timer)).then(function () {
      if (command === "message" && text.value === typed) { // else the next one is being typed
        text.value = "";
        showRoom();
      }
    }, function (refusal) { say(refusal.message); });
  }

  function say(words) {
    dialog.find("#line-problem").textContent = words;
  }

  function showRoom() {
    const left = TEXT_BYTES - bytesOf(text.value.trim());
    dialog.find("#line-room").textContent = left > TELL_FROM ? "" : t(left < 0 ? "line.over" : "line.room", { n: Math.abs(left) });
    setAttribute(text, "aria-invalid", String(left < 0));
  }

  function refresh(event) {
    const state = event.state.timer === timer ? session.state(timer) : undefined;
    if (state !== undefined) {
      dialog.find(".standing").textContent = state.message ? t("line.standing", { text: state.message.text }) : t("line.nothing");
      dialog.find(".blackout").textContent = t(isDark() ? "line.light" : "line.blackout");
    }
  }

  function isDark() {
    const state = session.state(timer);
    return state !== undefined && state.signal !== undefined && state.signal.kind === "blackout";
  }
}

export function titleOf(session, timer) {
  const state = session.state(timer);
  return state && state.title || timer;
}
