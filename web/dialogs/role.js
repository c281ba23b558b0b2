// Asks what the holder of a token may do, on a connection of its own. This file has no DOM.

const ANSWER_WITHIN = 5000; // milliseconds

// `token` may be null, for a visitor without one. Resolves with {role, maySee}: the role is "none", "view" or
// "control", or null without an answer; `maySee` is whether the token is for that timer.
export function askRole(url, token, timer) {
  return new Promise((resolve) => {
    const answer = { role: null, maySee: false };
    const socket = new WebSocket(url, token === null ? ["timersync.v1"] : ["timersync.v1", "token." + token]);
    const timeout = setTimeout(end, ANSWER_WITHIN);
    socket.onclose = end;
    socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.event === "hello") {
        answer.role = message.role;
        socket.send(JSON.stringify({ id: 1, command: "get", timer }));
      } else if (message.reply === 1) {
        answer.maySee = message.ok || message.error.code === "unknownTimer";
        end();
      }
    };

    function end() {
      clearTimeout(timeout);
      socket.onclose = socket.onmessage = null;
      socket.close();
      resolve(answer);
    }
  });
}
