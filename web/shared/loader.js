// Loads parts of the page when they are needed, once each. A part that failed to load is tried again.

const parts = new Map(); // path → promise

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

// Resolves when the module has run. Browsers of 2018 don't all know import().
export function addModule(path) {
  return once(path, () => add("script", { type: "module", src: path }));
}

function once(path, load) {
  if (!parts.has(path)) {
    parts.set(path, load());
    parts.get(path).catch(() => { parts.delete(path); });
  }
  return parts.get(path);
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
  template.innerHTML = text; // one of our files, never text from the server
  return template.content;
}
