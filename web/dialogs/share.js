// A dialog with two links to a timer, a view-only one and one for control, each as text and as a QR code.
//
// A link hands over the token in it. A token for control must not reach people who may only view, so this page asks for
// another token when it has no other.

import { linkTo } from "../shared/links.js";
import { copy } from "./clipboard.js";
import { copyOf, focusFirst, openDialog } from "./dialog.js";
import { define, t } from "../languages/language.js";
import { socketURL } from "../shared/page.js";
import { askRole } from "./role.js";
import { titleOf } from "../shared/timer.js";

define({
  "share.title": "Share {name}",
  "share.view": "View-only link",
  "share.viewHint": "For screens, and for everyone who needs to see the time.",
  "share.viewOpen": "On this server everyone has control, and so has anyone with this link.",
  "share.viewNeeds": "Your token has control, so it isn't part of this link. " +
    "Create a view-only token on the server, and enter it here:",
  "share.viewToken": "View-only token",
  "share.control": "Control link",
  "share.controlHint": "For people who start, pause and finish the timer. Don't share it with anyone else.",
  "share.controlNeeds": "Your token is view-only. Create a token with control on the server, and enter it here:",
  "share.controlToken": "Token with control",
  "share.create": "Create link",
  "share.copy": "Copy",
  "share.copied": "Copied.",
  "share.notCopied": "The browser doesn't allow copying. The link is selected: copy it with your keyboard.",
  "share.address": "Link",
  "share.qr": "QR code of the view-only link to {name}",
  "share.qrControl": "QR code of the control link to {name}",
  "share.noQR": "No QR code: {why}",
  "share.checking": "Checking…",
  "share.unknown": "The server doesn't know this token.",
  "share.hasControl": "This token has control. A view-only link needs a token with the role “view”.",
  "share.isViewOnly": "This token is view-only. A control link needs a token with the role “control”.",
  "share.others": "This token is for other timers.",
  "share.noAnswer": "The server didn't answer. Try again.",
  "share.local": "You have opened this page on the server itself. " +
    "For other devices, open it by the server's network address, and share that link."
});

const entered = { view: null, control: null }; // tokens that a person has entered, while the page is open

export function openShare(timer, session) {
  const name = titleOf(session.state(timer), timer);
  const dialog = openDialog({ title: t("share.title", { name }), template: "share" });
  dialog.find(".local").hidden = !["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  showControl();
  showView();
  focusFirst(dialog, "h2");

  // Without a token, the role is everyone's, and the link needs none.
  function showControl() {
    if (session.role === "control") {
      showLink("control", session.token);
    } else {
      useEnteredToken("control", "share.controlNeeds");
    }
  }

  function showView() {
    if (session.role !== "control") {
      showLink("view", session.token);
    } else if (session.token === null) {
      showOpenLink();
    } else {
      askRole(socketURL(), null, timer).then((visitor) => {
        if (visitor.role === "control") {
          showOpenLink();
        } else if (visitor.maySee) {
          showLink("view", null);
        } else {
          useEnteredToken("view", "share.viewNeeds");
        }
      });
    }
  }

  function showOpenLink() {
    dialog.find(".link.view .hint").textContent = t("share.viewOpen");
    showLink("view", null);
  }

  // A token that was entered for another timer may be for that timer only.
  function useEnteredToken(role, reason) {
    const token = entered[role];
    if (token === null) {
      askForToken(role, reason);
      return;
    }
    askRole(socketURL(), token, timer).then((holder) => {
      if (objection(role, holder) === null) {
        showLink(role, token);
      } else {
        askForToken(role, reason);
      }
    });
  }

  function askForToken(role, reason) {
    const form = dialog.find(".link." + role + " .token-form");
    form.hidden = false;
    form.querySelector(".reason").textContent = t(reason);
    form.querySelector("code").textContent =
      "timersync token add --name " + role + "-" + randomWord() + " --role " + role + " --timer " + quoted(timer);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      check(role, form);
    });
  }

  function check(role, form) {
    const token = form.querySelector("input").value.trim();
    const message = form.querySelector(".message");
    message.textContent = t("share.checking");
    askRole(socketURL(), token, timer).then((holder) => {
      const problem = objection(role, holder);
      message.textContent = problem === null ? "" : t(problem);
      if (problem === null) {
        entered[role] = token;
        form.hidden = true;
        showLink(role, token);
        dialog.find(".link." + role + " .address").focus();
      }
    });
  }

  function showLink(role, token) {
    const place = dialog.find(".link." + role + " .ready");
    const address = new URL(linkTo(role === "view" ? "display" : "control", [timer], token), location.href).href;
    place.hidden = false;
    place.textContent = "";
    place.appendChild(copyOf("share-link"));
    const field = place.querySelector(".address");
    field.value = address;
    field.setAttribute("aria-label", t("share.address") + ": " + t("share." + role));
    field.addEventListener("focus", () => { field.select(); });
    place.querySelector(".copy").addEventListener("click", () => {
      copy(address).then((isDone) => {
        place.querySelector(".report").textContent = t(isDone ? "share.copied" : "share.notCopied");
        if (!isDone) {
          field.select();
        }
      });
    });
    showCode(place.querySelector(".qr"), address, t(role === "view" ? "share.qr" : "share.qrControl", { name }));
  }

  // The server's answer becomes an image, because an image runs no script, whatever it holds.
  function showCode(place, address, words) {
    const headers = session.token === null ? {} : { Authorization: "Bearer " + session.token };
    fetch("api/qr", { method: "POST", headers, body: JSON.stringify({ text: address }) }).then((answer) => {
      const isImage = answer.ok && /^image\/svg\+xml/.test(answer.headers.get("Content-Type") || "");
      return isImage ? answer.text() : Promise.reject(new Error(String(answer.status)));
    }).then((svg) => {
      const image = document.createElement("img");
      image.alt = words;
      image.src = "data:image/svg+xml," + encodeURIComponent(svg);
      place.appendChild(image);
    }).catch((error) => {
      place.classList.add("missing");
      place.textContent = t("share.noQR", { why: error.message });
    });
  }
}

// — inside —

function objection(role, holder) {
  if (holder.role === null) {
    return "share.noAnswer";
  }
  if (holder.role === "none") {
    return "share.unknown";
  }
  if (holder.role !== role) {
    return role === "view" ? "share.hasControl" : "share.isViewOnly";
  }
  return holder.maySee ? null : "share.others";
}

// The names of tokens have to differ on the server.
function randomWord() {
  return Math.random().toString(36).slice(2, 6);
}

// For a POSIX shell.
function quoted(text) {
  return "'" + text.replace(/'/g, "'\\''") + "'";
}
