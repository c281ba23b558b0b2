// To the clipboard, also where the browser keeps it to itself because there is no https.

// Resolves with whether it is there.
export function copy(text) {
  if (navigator.clipboard && navigator.clipboard.writeText) {
    return navigator.clipboard.writeText(text).then(function () { return true; }, function () { return copyOldWay(text); });
  }
  return Promise.resolve(copyOldWay(text));
}

function copyOldWay(text) {
  const from = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "heard";
  area.setAttribute("aria-hidden", "true");
  (document.querySelector(".dialog") || document.body).appendChild(area);
  area.select();
  let isDone = false;
  try {
    isDone = document.execCommand("copy");
  } catch (error) {
    isDone = false;
  }
  area.remove();
  from.focus();
  return isDone;
}
