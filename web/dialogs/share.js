// Two links to a timer, one to look and one to control, each as text and as a QR code.
//
// A link hands over the token that stands in it. Whoever has only a token that controls must not hand that over to
// those who shall look, so this asks for another one.

import { linkTo, socketURL } from "../shared/links.js";
import { copy } from "./clipboard.js";
import { copyOf, focusFirst, openDialog } from "./dialog.js";
import { define, t } from "../languages/language.js";
import { titleOf } from "./message.js";
import { askRole } from "./role.js";

define({
  "share.title": "Share {name}",
  "share.view": "To look",
  "share.viewHint": "For screens and for everybody who shall see the time.",
  "share.viewOpen": "This server lets everybody control, so whoever opens this link may control too.",
  "share.viewNeeds": "Your own token controls, so it does not go into this link. Make a token that only looks, on the server, and put it in here:",
  "share.viewToken": "Token that looks",
  "share.control": "To control",
  "share.controlHint": "For those who shall start, pause and finish it. Give it to nobody else.",
  "share.controlNeeds": "Your token only looks. Make one that controls, on the server, and put it in here:",
  "share.controlToken": "Token that controls",
  "share.make": "Make link",
  "share.copy": "Copy",
  "share.copied": "Copied.",
  "share.notCopied": "The browser does not let this page copy. The address is selected: copy it by hand.",
  "share.address": "Link",
  "share.qr": "QR code of the link to look at {name}",
  "share.qrControl": "QR code of the link that controls {name}",
  "share.noQR": "No QR code: {why}",
  "share.checking": "Checking…",
  "share.unknown": "The server does not know this token.",
  "share.controls": "This token controls. A link to look wants one with the role “view”.",
  "share.looks": "This token only looks. A link that controls wants one with the role “control”.",
  "share.others": "This token is held to other timers.",
  "share.noAnswer": "The server did not answer. Try again.",
  "share.local": "This page was opened on the server's own machine. On other devices these links work only with its address in the network."
});

const given = { view: null, control: null }; // tokens that were put in, for as long as the page is open

export function openShare(timer, session) {
  const dialog = openDialog({ title: t("share.title", { name: titleOf(session, timer) }), template: "share" });
  dialog.find(".local").hidden = ["localhost", "127.0.0.1", "[::1]"].indexOf(location.hostname) < 0;
  showControl();
  showView();
  focusFirst(dialog, "h2");

  // Who controls without a token gives no token away.
  function showControl() {
    if (session.role === "control") {
      showLink("control", session.token);
    } else {
      ask("control", "share.controlNeeds");
    }
  }

  function showView() {
    if (session.role !== "control") {
      showLink("view", session.token);
    } else if (session.token === null) {
      showOpen();
    } else {
      askRole(socketURL(), null, timer).then(function (visitor) {
        if (visitor.role === "control") {
          showOpen();
        } else if (visitor.maySee) {
          showLink("view", null);
        } else {
          ask("view", "share.viewNeeds");
        }
      });
    }
  }

  function showOpen() {
    dialog.find(".link.view .hint").textContent = t("share.viewOpen");
    showLink("view", null);
  }

  // The one that was put in for another timer may be held to that.
  function ask(role, why) {
    if (given[role] === null) {
      askForToken(role, why);
      return;
    }
    askRole(socketURL(), given[role], timer).then(function (holder) {
      if (objection(role, holder) === null) {
        showLink(role, given[role]);
      } else {
        askForToken(role, why);
      }
    });
  }

  function askForToken(role, why) {
    const form = dialog.find(".link." + role + " .ask");
    form.hidden = false;
    form.querySelector(".why").textContent = t(why);
    form.querySelector("code").textContent =
      "timersync token add --name " + role + "-" + randomWord() + " --role " + role + " --timer " + quoted(timer);
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      take(role, form);
    });
  }

  function take(role, form) {
    const token = form.querySelector("input").value.trim();
    const problem = form.querySelector(".message");
    problem.textContent = t("share.checking");
    askRole(socketURL(), token, timer).then(function (holder) {
      const wrong = objection(role, holder);
      problem.textContent = wrong === null ? "" : t(wrong);
      if (wrong === null) {
        given[role] = token;
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
    place.querySelector(".copy").addEventListener("click", function () {
      copy(address).then(function (isDone) {
        place.querySelector(".told").textContent = t(isDone ? "share.copied" : "share.notCopied");
        if (!isDone) {
          field.select();
        }
      });
    });
    field.addEventListener("focus", function () { field.select(); });
    showCode(place.querySelector(".qr"), address, t(role === "view" ? "share.qr" : "share.qrControl", { name: titleOf(session, timer) }));
  }

  // As an image from the text that the server answers: an image runs no script, whatever is in it.
  function showCode(place, address, words) {
    const headers = session.token === null ? {} : { Authorization: "Bearer " + session.token };
    fetch("api/qr", { method: "POST", headers: headers, body: JSON.stringify({ text: address }) }).then(function (answer) {
      const isImage = answer.ok && /^image\/svg\+xml/.test(answer.headers.get("Content-Type") || "");
      return isImage ? answer.text() : Promise.reject(new Error(String(answer.status)));
    }).then(function (svg) {
      const image = document.createElement("img");
      image.alt = words;
      image.src = "data:image/svg+xml," + encodeURIComponent(svg);
      place.appendChild(image);
    }).catch(function (error) {
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
    return role === "view" ? "share.controls" : "share.looks";
  }
  return holder.maySee ? null : "share.others";
}

// Names of tokens are told apart on the server.
function randomWord() {
  return Math.random().toString(36).slice(2, 6);
}

// For a shell of the POSIX kind.
function quoted(text) {
  return "'" + text.replace(/'/g, "'\\''") + "'";
}
