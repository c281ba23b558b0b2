// The dashboard by keys.

import { linkTo } from "../shared/links.js";

// A key is about the card that has the focus, or had it last. The order is that of the list under `?`.
export function bindingsOf(board) {
  return [
    { key: "?", shown: ["?"], words: "key.help", run: board.help },
    { key: "j", also: ["ArrowDown", "ArrowRight"], shown: ["J", "K"], words: "key.next", mayRepeat: true, run: stepping(1) },
    { key: "k", also: ["ArrowUp", "ArrowLeft"], shown: [], words: null, mayRepeat: true, run: stepping(-1) },
    { key: "n", shown: ["N"], words: "key.new", run: function () { board.find("#duration").focus(); } },
    { key: "/", shown: ["/"], words: "key.search", run: function () { board.find("#search").focus(); } },
    { key: "p", shown: ["P"], words: "key.pause", run: onCurrent(function (name, event) {
      board.press(name, board.card(name).primary, event);
    }) },
    { key: "+", also: ["="], shown: ["+", "−"], words: "key.minutes", mayRepeat: true, run: pressing("add") },
    { key: "-", shown: [], words: null, mayRepeat: true, run: pressing("subtract") },
    { key: "l", shown: ["L"], words: "key.lap", run: pressing("lap") },
    { key: "i", shown: ["I"], words: "key.laps", run: onCurrent(function (name, event) {
      if (board.session.state(name).type === "stopwatch") {
        board.act("laps", name, event);
      }
    }) },
    { key: "f", shown: ["F"], words: "key.finish", run: acting("finish") },
    { key: "r", shown: ["R"], words: "key.reset", run: acting("reset") },
    { key: "m", shown: ["M"], words: "key.line", run: acting("line") },
    { key: "s", shown: ["S"], words: "key.share", run: acting("share") },
    { key: "e", shown: ["E"], words: "key.edit", run: acting("edit") },
    { key: "o", shown: ["O"], words: "key.open", run: onCurrent(function (name) {
      location.href = linkTo("display", [name], board.session.token);
    }) },
    { key: ".", shown: ["."], words: "key.more", run: onCurrent(board.more) },
    { key: "v", shown: ["V"], words: "key.layout", run: board.otherLayout },
    { key: "u", shown: ["U", "Ctrl Z"], words: "key.undo", run: board.undo },
    { key: "mod+z", shown: [], words: null, run: board.undo }
  ];

  function acting(action) {
    return onCurrent(function (name, event) { board.act(action, name, event); });
  }

  function pressing(command) {
    return onCurrent(function (name, event) { board.press(name, command, event); });
  }

  function onCurrent(run) {
    return function (event) {
      const name = board.current();
      if (name !== null && board.card(name) !== undefined) {
        run(name, event);
      }
    };
  }

  // Left and right as the cards stand, which is the other way in a language that is written from the right.
  function stepping(by) {
    return function (event) {
      const isTurned = document.documentElement.dir === "rtl" && /Left|Right/.test(event.key);
      step(isTurned ? -by : by);
    };
  }

  function step(by) {
    const all = board.cards();
    const here = all.findIndex(function (element) { return element.contains(document.activeElement); });
    const next = all[here < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, here + by))];
    if (next !== undefined) {
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    }
  }
}
