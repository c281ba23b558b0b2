// The HTML of a view, from a file of its own. Asked for twice, it is fetched once.

const asked = new Map();

export function markup(path) {
  if (!asked.has(path)) {
    asked.set(path, fetch(path).then(function (answer) { return answer.text(); }).then(parse));
  }
  return asked.get(path);
}

// Puts a view's HTML into the page.
export function fill(element, path) {
  return markup(path).then(function (fragment) {
    element.appendChild(document.importNode(fragment, true));
  });
}

function parse(text) {
  const template = document.createElement("template");
  template.innerHTML = text; // our own file, no word from the wire
  return template.content;
}
