// A person's settings of the page, kept on this device. Without storage, the defaults stay.

const PREFIX = "timersync.";

export function setting(name, otherwise) {
  try {
    const stored = localStorage.getItem(PREFIX + name);
    return stored === null ? otherwise : stored;
  } catch (error) {
    return otherwise;
  }
}

export function storeSetting(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch (error) {
    // The setting lasts until the page is loaded again.
  }
}
