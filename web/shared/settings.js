// What this device remembers of how its person likes the page. A browser that keeps nothing forgets it.

const PREFIX = "timersync.";

export function setting(name, otherwise) {
  try {
    const kept = localStorage.getItem(PREFIX + name);
    return kept === null ? otherwise : kept;
  } catch (error) {
    return otherwise;
  }
}

export function keepSetting(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch (error) {
    return;
  }
}
