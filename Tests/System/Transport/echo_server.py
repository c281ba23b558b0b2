"""The echo program, run for a test, and raw sockets that talk to it.

TIMERSYNC_ECHO names the program; ports are picked by the system.
"""

import base64
import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time

import pytest
import websockets
import websockets.sync.client

import stalls

# A bound for messages that come at once on an idle machine, and late when the machine stands still.
WITHIN = 30
ECHO = os.environ["TIMERSYNC_ECHO"]
KEY = base64.b64encode(b"0123456789abcdef").decode()


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [ECHO, "--port", "0", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        stalls.watched.add(self.process.pid)
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line)
            if found := re.match(r"listening on .*:(\d+)$", line):
                self.port = int(found[1])
                self.reader = threading.Thread(target=self.read, daemon=True)
                self.reader.start()
                return
        raise RuntimeError("".join(self.lines))

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    @property
    def url(self):
        return f"ws://127.0.0.1:{self.port}/ws"

    is_told = False

    def tell(self, signal_number=signal.SIGTERM):
        """Sends SIGTERM."""
        self.is_told = True
        self.process.send_signal(signal_number)

    def stop(self, signal_number=signal.SIGTERM):
        """Stops the server and returns its exit code and last line; a second signal would end it at once."""
        if self.process.poll() is None and not self.is_told:
            self.tell(signal_number)
        code = self.process.wait(2 * WITHIN)
        self.reader.join(WITHIN)
        self.process.stdout.close()
        stalls.watched.discard(self.process.pid)
        return code, self.lines[-1].strip()

    @contextlib.contextmanager
    def standing_still(self):
        """Stops the process until the end of the block, so that it reads nothing meanwhile."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            eventually(lambda: self._state() == "T")
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def _state(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0]

    def socket(self, receive_buffer=None):
        plain = socket.socket()
        if receive_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.settimeout(WITHIN)
        plain.connect(("127.0.0.1", self.port))
        return plain

    def web_socket(self, receive_buffer=None, more=""):
        """A raw socket after its handshake."""
        plain = self.socket(receive_buffer)
        plain.sendall(handshake(more=more))
        assert read_head(plain).startswith(b"HTTP/1.1 101")
        return plain


def connect(url, **options):
    """A client whose calls block."""
    return websockets.sync.client.connect(url, open_timeout=WITHIN, **options)


@contextlib.contextmanager
def running(*arguments, kind=Server):
    server = kind(*arguments)
    try:
        yield server
    finally:
        code, last = server.stop()
        assert code == 0, server.lines
        counts = re.match(r"stopped opened=(\d+) closed=(\d+)", last)
        assert counts and counts[1] == counts[2], server.lines


def handshake(method="GET", path="/ws", version="HTTP/1.1", more="", **headers):
    fields = {
        "Host": "x", "Upgrade": "websocket", "Connection": "Upgrade",
        "Sec_WebSocket_Version": "13", "Sec_WebSocket_Key": KEY} | headers
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items() if value is not None]
    return "\r\n".join([f"{method} {path} {version}", *lines, "", ""]).encode() + frame_bytes(more)


def frame_bytes(text):
    return frame(1, text.encode()) if text else b""


def frame(opcode, payload=b"", final=True):
    """A client's frame, masked with zeros."""
    head = bytes([opcode | (0x80 if final else 0)])
    if len(payload) < 126:
        head += bytes([0x80 | len(payload)])
    else:
        head += bytes([0x80 | 126]) + struct.pack("!H", len(payload))
    return head + bytes(4) + payload


def read_exactly(plain, count):
    got = b""
    while len(got) < count:
        piece = plain.recv(count - len(got))
        if not piece:
            raise EOFError(got)
        got += piece
    return got


def read_head(plain):
    got = b""
    while not got.endswith(b"\r\n\r\n"):
        got += read_exactly(plain, 1)
    return got


def read_frame(plain):
    first, length = read_exactly(plain, 2)
    if length == 126:
        length, = struct.unpack("!H", read_exactly(plain, 2))
    elif length == 127:
        length, = struct.unpack("!Q", read_exactly(plain, 8))
    return first & 0x0F, read_exactly(plain, length)


def read_pong(plain):
    """The payload of the next pong. Pings, which come when a machine stood still for a second, are not answered."""
    opcode, payload = read_frame(plain)
    while opcode == 9:
        opcode, payload = read_frame(plain)
    assert opcode == 10
    return payload


def read_answer(plain, method="GET"):
    """Status, headers and body of one HTTP answer."""
    lines = read_head(plain).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
    length = int(headers.get("content-length", 0))
    body = b"" if method == "HEAD" else read_exactly(plain, length)
    return int(lines[0].split()[1]), headers, body


def counters(server):
    """The counters of the transport, read again while closed connections are still counted."""
    def is_told():
        nonlocal body
        status, _, body = ask(server, "GET /api/counters HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert status in (200, 503)
        return status == 200

    body = b""
    eventually(is_told)
    return {name: int(count) for name, count in (line.split() for line in body.decode().splitlines())}


def eventually(condition, seconds=WITHIN):
    """Waits until `condition` holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to hold in time"
        time.sleep(0.02)


def ask(server, request):
    with contextlib.closing(server.socket()) as plain:
        plain.sendall(request if isinstance(request, bytes) else request.encode())
        return read_answer(plain, "HEAD" if request[:4] in (b"HEAD", "HEAD") else "GET")


def end_of_a_late_reader(serve):
    """The end of a slow reader that begins to read 2 MB in time; `serve` runs an echo server with options."""
    end = None
    while end is None:
        with serve("--unsent-bytes-max", "20000") as server, \
                contextlib.closing(server.web_socket(4_096)) as slow:
            slow.sendall(frame(1, b"join"))
            assert read_frame(slow) == (1, b"joined")
            slow.sendall(frame(1, b"flood:2000:1000"))

            end = end_in_time(server, slow)
    return end


def end_in_time(server, slow):
    """The close frame that a slow reader receives when it reads on before the close timeout of a second; None when the
    machine took that second."""
    eventually(lambda: counters(server).get("slowWebSocket") == 1)
    begun = time.monotonic()
    try:
        opcode, body = read_frame(slow)
        while opcode == 1:
            opcode, body = read_frame(slow)
        return opcode, body
    except (EOFError, OSError):
        if time.monotonic() - begun < 0.8:
            raise
        return None


def closing(ws):
    """The code and reason with which the server ends the connection."""
    with pytest.raises(websockets.ConnectionClosed) as caught:
        for _ in range(100_000):
            ws.recv(timeout=WITHIN)
    received = caught.value.rcvd
    return (received.code, received.reason) if received else (1006, "")
