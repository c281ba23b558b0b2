// A session over Debian's `ws`: node session.js ws://HOST:PORT/ws. Prints one JSON line with what it saw.
'use strict';
const WebSocket = require('ws');

const socket = new WebSocket(process.argv[2], ['timersync.v1']);
const seen = { protocol: null, hello: null, replies: {}, events: [], close: null };
const giveUp = setTimeout(() => fail('nothing more came within 30 s'), 30000);

function fail(why) {
  console.error(why, JSON.stringify(seen));
  process.exit(1);
}

function send(request) {
  socket.send(JSON.stringify(request));
}

socket.on('error', (error) => fail(String(error)));
socket.on('open', () => { seen.protocol = socket.protocol; });
socket.on('close', (code) => {
  clearTimeout(giveUp);
  seen.close = code;
  console.log(JSON.stringify(seen));
});
socket.on('message', (bytes, isBinary) => {
  if (isBinary) fail('a binary message came');
  const message = JSON.parse(bytes.toString());
  if (message.event === 'hello') {
    seen.hello = message;
    send({ id: 'subscribe', command: 'subscribe', timer: 'node 🍵', interval: 2 });
    send({ id: 'start', command: 'start', timer: 'node 🍵', duration: 2.5 });
  } else if (message.event) {
    seen.events.push([message.cause, message.timers.map((state) => state.time)]);
    if (message.cause === 'ended') send({ id: 'finish', command: 'finish', timer: 'node 🍵', resetTime: true });
    if (message.cause === 'finished') socket.close(1000);
  } else {
    seen.replies[message.reply] = message.ok;
  }
});
