// What the holder of a token may do, asked on a connection of its own that is closed again. No DOM.

const ANSWER_WITHIN = 5000; // milliseconds, as setTimeout counts

// `token` may be null: a visitor without one. Resolves with {role, maySee}: the role is "none", "view" or "control",
// null when nobody answered; `maySee` tells whether that timer is within reach.
export function askRole(url, token, timer) {
  return new Promise(function (resolve) {
    const answer = { role: null, maySee: false };
    const socket = new WebSocket(url, token === null ? ["timersync.v1"] : ["timersync.v1", "token." + token]);
    const alarm = setTimeout(end, ANSWER_WITHIN);
    socket.onclose = end;
    socket.onmessage = function (event) {
      const message = JSON.parse(event.data);
      if (message.event === "hello") {
        answer.role = message.role;
        socket.send(JSON.stringify({ id: 1, command: "get", timer: timer }));
      } else if (message.reply === 1) {
        answer.maySee = message.ok || message.error.code === "unknownTimer";
        end();
      }
    };

    function end() {
      clearTimeout(alarm);
      socket.onclose = socket.onmessage = null;
      socket.close();
      resolve(answer);
    }
  });
}
