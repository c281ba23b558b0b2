// A dialog for a message to the speaker, and for the flash and the blackout that make people look up.

import { define, t } from "../languages/language.js";
import { focusFirst, openDialog } from "./dialog.js";
import { pressFields } from "../shared/press.js";
import { setAttribute } from "../shared/shell.js";
import { isBlackout, titleOf } from "../shared/timer.js";
import { bytesOf } from "../shared/timer-settings.js";

define({
  "message.title": "Message for {name}",
  "message.label": "Message",
  "message.phrases": "Quick messages: sent at once",
  "message.left": { one: "{n} byte left", other: "{n} bytes left" },
  "message.over": { one: "{n} byte too long", other: "{n} bytes too long" },
  "message.tooLong": "A message has at most 500 bytes (about 500 letters). Shorten it.",
  "message.empty": "The message is empty. Type one, or choose a quick message.",
  "message.send": "Send",
  "message.clear": "Clear",
  "message.current": "On the screens: “{text}”",
  "message.none": "No message on the screens.",
  "message.screens": "Screens",
  "message.flash": "Flash",
  "message.blackout": "Blackout",
  "message.endBlackout": "End blackout",
  "message.screensHint": "A flash lasts three seconds. A blackout lasts until you end it.",
  "phrase.wrapUp": "Wrap up",
  "phrase.timeIsUp": "Time is up",
  "phrase.slower": "Slower, please",
  "phrase.louder": "Louder, please",
  "phrase.questions": "Questions now",
  "phrase.wait": "Please wait"
});

const TEXT_BYTES = 500;
const COUNT_FROM = 100; // bytes left; before that, no count is shown
const PHRASES = [
  "phrase.wrapUp", "phrase.timeIsUp", "phrase.slower", "phrase.louder", "phrase.questions", "phrase.wait"
];

export function openMessage(timer, session, commands) {
  const stop = session.on("timer", (event) => {
    if (event.state.timer === timer) {
      refresh();
    }
  });
  const title = t("message.title", { name: titleOf(session.state(timer), timer) });
  const dialog = openDialog({ title, template: "message", closed: stop });
  const text = dialog.find("#message-text");
  PHRASES.forEach(addPhrase);
  text.addEventListener("input", showRoom);
  dialog.find("form").addEventListener("submit", (event) => { sendTyped(event); });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      sendTyped(event);
    }
  });
  dialog.find(".clear").addEventListener("click", (event) => { change("message", { text: "" }, event); });
  dialog.find(".flash").addEventListener("click", (event) => { change("signal", { signal: "flash" }, event); });
  dialog.find(".blackout").addEventListener("click", (event) => {
    change("signal", { signal: isBlackout(session.state(timer)) ? "none" : "blackout" }, event);
  });
  refresh();
  showRoom();
  focusFirst(dialog, "#message-text");

  function addPhrase(key) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = t(key);
    button.addEventListener("click", (event) => { change("message", { text: t(key) }, event); });
    dialog.find(".phrases").appendChild(button);
  }

  function sendTyped(event) {
    const words = text.value.trim();
    event.preventDefault();
    if (words === "" || bytesOf(words) > TEXT_BYTES) {
      showProblem(t(words === "" ? "message.empty" : "message.tooLong"));
      text.focus();
    } else {
      change("message", { text: words }, event);
    }
  }

  function change(command, fields, event) {
    showProblem("");
    commands.change(command, timer, fields, pressFields(event, session, timer)).then(() => {
      if (command === "message" && text.value.trim() === fields.text) { // else the field has another text by now
        text.value = "";
        showRoom();
      }
    }, (refusal) => { showProblem(refusal.message); });
  }

  function showProblem(words) {
    dialog.find("#message-problem").textContent = words;
  }

  function showRoom() {
    const left = TEXT_BYTES - bytesOf(text.value.trim());
    const words = left > COUNT_FROM ? "" : t(left < 0 ? "message.over" : "message.left", { n: Math.abs(left) });
    dialog.find("#message-room").textContent = words;
    setAttribute(text, "aria-invalid", String(left < 0));
  }

  function refresh() {
    const state = session.state(timer);
    if (state !== undefined) {
      const { message } = state;
      dialog.find(".current").textContent = message ? t("message.current", { text: message.text }) : t("message.none");
      dialog.find(".blackout").textContent = t(isBlackout(state) ? "message.endBlackout" : "message.blackout");
    }
  }
}
