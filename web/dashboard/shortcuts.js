// The dashboard's keyboard shortcuts.

import { linkTo } from "../shared/links.js";
import { primaryCommand } from "../shared/timer.js";

// A key acts on the card that has the focus, or had it last. The order is that of the list under `?`.
export function bindingsOf(board) {
  return [
    { key: "?", shown: ["?"], words: "key.help", run: board.openHelp },
    { key: "j", also: ["ArrowDown", "ArrowRight"], shown: ["J", "K"], words: "key.next", mayRepeat: true,
      run: step(1) },
    { key: "k", also: ["ArrowUp", "ArrowLeft"], shown: [], words: null, mayRepeat: true, run: step(-1) },
    { key: "n", shown: ["N"], words: "key.new", run: () => { board.find("#duration").focus(); } },
    { key: "/", shown: ["/"], words: "key.search", run: () => { board.find("#search").focus(); } },
    { key: "p", shown: ["P"], words: "key.pause", run: onCurrent((name, event) => {
      board.press(name, primaryCommand(board.session.state(name)), event);
    }) },
    { key: "+", also: ["="], shown: ["+", "−"], words: "key.minutes", mayRepeat: true, run: press("add") },
    { key: "-", shown: [], words: null, mayRepeat: true, run: press("subtract") },
    { key: "l", shown: ["L"], words: "key.lap", run: press("lap") },
    { key: "i", shown: ["I"], words: "key.laps", run: onCurrent((name, event) => {
      if (board.session.state(name).type === "stopwatch") {
        board.act("laps", name, event);
      }
    }) },
    { key: "f", shown: ["F"], words: "key.finish", run: act("finish") },
    { key: "r", shown: ["R"], words: "key.reset", run: act("reset") },
    { key: "m", shown: ["M"], words: "key.message", run: act("message") },
    { key: "s", shown: ["S"], words: "key.share", run: act("share") },
    { key: "e", shown: ["E"], words: "key.edit", run: act("edit") },
    { key: "o", shown: ["O"], words: "key.open", run: onCurrent((name) => {
      location.href = linkTo("display", [name], board.session.token);
    }) },
    { key: ".", shown: ["."], words: "key.more", run: onCurrent(board.openMore) },
    { key: "v", shown: ["V"], words: "key.layout", run: board.switchLayout },
    { key: "u", shown: ["U", "Ctrl Z"], words: "key.undo", run: board.undo },
    { key: "mod+z", shown: [], words: null, run: board.undo }
  ];

  function act(action) {
    return onCurrent((name, event) => { board.act(action, name, event); });
  }

  function press(command) {
    return onCurrent((name, event) => { board.press(name, command, event); });
  }

  function onCurrent(run) {
    return (event) => {
      const name = board.currentName();
      if (name !== null && board.session.state(name) !== undefined) {
        run(name, event);
      }
    };
  }

  // Left and right are as the cards stand, so they swap in a language that is written from the right.
  function step(by) {
    return (event) => {
      const isSwapped = document.documentElement.dir === "rtl" && /Left|Right/.test(event.key);
      focusNext(isSwapped ? -by : by);
    };
  }

  function focusNext(by) {
    const all = board.shownCards();
    const here = all.findIndex((element) => element.contains(document.activeElement));
    const first = by > 0 ? 0 : all.length - 1;
    const next = all[here < 0 ? first : Math.min(all.length - 1, Math.max(0, here + by))];
    if (next !== undefined) {
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    }
  }
}
