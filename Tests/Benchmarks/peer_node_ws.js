// Node's `ws` at the work of bare.c: node peer_node_ws.js HELLO_BYTES REPLY_BYTES FRAME_BYTES
'use strict';

const { WebSocketServer } = require('ws');

const [hello, reply, frame] = process.argv.slice(2).map((count) => Buffer.alloc(Number(count), 'x'));
const subscribers = new Set();

function say(socket, bytes) {
  socket.send(bytes, { binary: false });
}

function sayToAll(times) {
  for (const socket of subscribers) for (let i = 0; i < times; i++) say(socket, frame);
}

const server = new WebSocketServer(
  { host: '127.0.0.1', port: 0, backlog: 65535, perMessageDeflate: false, clientTracking: false },
  () => console.log(server.address().port));

server.on('connection', (socket) => {
  say(socket, hello);
  socket.on('error', () => {});
  socket.on('close', () => subscribers.delete(socket));
  socket.on('message', (message) => {
    if (message.includes('change')) sayToAll(1);
    say(socket, reply);
    if (!message.includes('subscribe')) return;
    subscribers.add(socket);
    say(socket, frame);
  });
});

// Sends ticks by the clock: the ticks that a late timer missed follow at once.
let ticksPerSecond = 0;
let framesPerTick = 1;
let begun = 0;
let told = 0;
let run = 0;

function tick(ofRun) {
  if (ofRun !== run) return;
  const due = Math.floor(((performance.now() - begun) / 1000) * ticksPerSecond);
  for (; told < due; told++) sayToAll(framesPerTick);
  setTimeout(tick, begun + ((told + 1) * 1000) / ticksPerSecond - performance.now(), ofRun);
}

require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [order, ticks, frames] = line.split(' ');
  run++;
  if (order !== 'go') return;
  [ticksPerSecond, framesPerTick, begun, told] = [Number(ticks), Number(frames), performance.now(), 0];
  setTimeout(tick, 1000 / ticksPerSecond, run);
}).on('close', () => process.exit(0));
