"""Measures this project's messages once, so that all contestants send as many bytes."""

import json
import socket
import struct

from contestants import Sizes, TimerSync, Work


def measure_sizes(setting) -> Sizes:
    with TimerSync(setting, Work(interval=0.1), sizes=Sizes(0, 0, 0, 0)) as server:
        server.go()
        with Probe(server.port) as probe:
            hello = len(probe.receive())
            probe.send(server.question)
            state = len(probe.receive())
            probe.send(server.greeting)
            reply = len(probe.receive())
            probe.receive()
            ticks = [len(probe.receive()) for _ in range(10)]
    return Sizes(hello, reply, state, round(sum(ticks) / len(ticks)))


class Probe:
    """A minimal WebSocket client (RFC 6455), for messages under 64 KiB."""

    def __init__(self, port: int):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket.sendall(
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: bG9vayBhdCBpdCBvbmNlIQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.file = self.socket.makefile("rb")
        while self.file.readline() not in (b"\r\n", b""):
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def send(self, text: str) -> None:
        payload = text.encode()
        assert len(payload) < 126
        self.socket.sendall(bytes([0x81, 0x80 | len(payload), 0, 0, 0, 0]) + payload)  # the mask may be zeros

    def receive(self) -> bytes:
        _, count = self.file.read(2)
        if count == 126:
            count = struct.unpack(">H", self.file.read(2))[0]
        payload = self.file.read(count)
        json.loads(payload)
        return payload
