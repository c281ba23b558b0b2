// The options that a display's address sets by name: `?sound`, `?mirror=1`, but not `?mirror=0`.

import { page } from "../shared/page.js";

export function isOn(option) {
  const text = page.options.get(option);
  return text !== null && !["0", "no", "false"].includes(text);
}
