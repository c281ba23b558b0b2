// Parts of a page that are loaded when they are needed, once; what has failed may be asked for again.

const asked = new Map();

// The HTML of a view.
export function markup(path) {
  return once(path, () => fetch(path).then((answer) => answer.text()).then(parse));
}

// Puts a view's HTML into the page.
export function fill(element, path) {
  return markup(path).then((fragment) => {
    element.appendChild(document.importNode(fragment, true));
  });
}

export function addStyle(path) {
  return once(path, () => add("link", { rel: "stylesheet", href: path }));
}

// Screens built in 2018 know no import() yet. Resolved when the module has run.
export function addModule(path) {
  return once(path, () => add("script", { type: "module", src: path }));
}

function once(path, load) {
  if (!asked.has(path)) {
    asked.set(path, load());
    asked.get(path).catch(() => { asked.delete(path); });
  }
  return asked.get(path);
}

function add(name, properties) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(name), properties);
    element.onload = resolve;
    element.onerror = reject;
    document.head.appendChild(element);
  });
}

function parse(text) {
  const template = document.createElement("template");
  template.innerHTML = text; // our own file, no word from the wire
  return template.content;
}
