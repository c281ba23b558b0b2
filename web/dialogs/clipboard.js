// Copies text, also where the browser keeps its clipboard from pages without https.

// Resolves with whether the text was copied.
export function copy(text) {
  if (navigator.clipboard && navigator.clipboard.writeText) {
    return navigator.clipboard.writeText(text).then(() => true, () => copyBySelection(text));
  }
  return Promise.resolve(copyBySelection(text));
}

function copyBySelection(text) {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
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
  focused.focus();
  return isDone;
}
