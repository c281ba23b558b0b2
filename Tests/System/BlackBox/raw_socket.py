"""A TCP connection that can send invalid input, and reads frames and answers byte by byte."""

import base64
import contextlib
import os
import select
import socket
import struct
import time

# A bound for messages that come at once on an idle machine, and late when the machine stands still.
WITHIN = 30.0
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def frame(
    opcode: int, payload: bytes = b"", *, last: bool = True, reserved: int = 0,
    mask: bytes | None = b"\x01\x02\x03\x04", length: bytes | None = None,
) -> bytes:
    """A frame, which may be invalid; `length` replaces the right length."""
    head = bytes([(0x80 if last else 0) | reserved << 4 | opcode])
    if length is None:
        if len(payload) < 126:
            length = bytes([len(payload)])
        elif len(payload) < 1 << 16:
            length = b"\x7e" + struct.pack("!H", len(payload))
        else:
            length = b"\x7f" + struct.pack("!Q", len(payload))
    if mask is None:
        return head + length + payload
    repeated = mask * (len(payload) // 4 + 1)
    masked = (int.from_bytes(payload) ^ int.from_bytes(repeated[:len(payload)])).to_bytes(len(payload))
    return head + bytes([length[0] | 0x80]) + length[1:] + mask + masked


def text(message: str | bytes, **options) -> bytes:
    """A text frame."""
    return frame(TEXT, message.encode() if isinstance(message, str) else message, **options)


def handshake(
    target: str = "/ws", *, method: str = "GET", version: str = "HTTP/1.1", host: str | None = "127.0.0.1",
    without: tuple[str, ...] = (), extra: tuple[str, ...] = (), **replaced: str,
) -> bytes:
    """A request for a WebSocket; headers may be replaced (`sec_websocket_version="12"`) or left out."""
    headers = {
        "upgrade": "websocket", "connection": "Upgrade", "sec-websocket-version": "13",
        "sec-websocket-key": base64.b64encode(os.urandom(16)).decode(),
    }
    if host is not None:
        headers = {"host": host, **headers}
    headers |= {name.replace("_", "-"): value for name, value in replaced.items()}
    lines = [f"{name}: {value}" for name, value in headers.items() if name not in without]
    return "\r\n".join([f"{method} {target} {version}", *lines, *extra, "", ""]).encode("latin-1")


class RawSocket:
    """A TCP connection to a server; every wait has a bound."""

    def __init__(self, port: int):
        self.socket = socket.create_connection(("127.0.0.1", port), WITHIN)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.received = b""
        self.is_over = False

    def __enter__(self) -> "RawSocket":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    # Sending

    def send(self, data: bytes, within: float = WITHIN) -> None:
        """Sends all bytes, and reads meanwhile, until the server accepts no more."""
        view = memoryview(data)
        end = time.monotonic() + within
        while view and not self.is_over:
            left = end - time.monotonic()
            assert left > 0, f"the server took only {len(data) - len(view)} of {len(data)} bytes in {within} s"
            readable, writable, _ = select.select([self.socket], [self.socket], [], left)
            if readable:
                self._receive()
            if writable:
                try:
                    view = view[self.socket.send(view[:65536]):]
                except (ConnectionResetError, BrokenPipeError):
                    # Bytes that the server sent before may still be there to read.
                    return

    def end_sending(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def open(self, target: str = "/ws") -> "RawSocket":
        """Opens a WebSocket, and reads `hello`."""
        self.send(handshake(target))
        status, _, _ = self.answer()
        assert status == 101, f"the handshake was answered {status}"
        opcode, payload = self.frame()
        assert opcode == TEXT and b'"hello"' in payload, payload
        return self

    # Receiving

    def frame(self, within: float = WITHIN) -> tuple[int, bytes]:
        """The next frame: its opcode and payload."""
        head = self._take(2, within)
        count = head[1] & 0x7f
        assert head[1] < 0x80, "a server does not mask"
        if count == 126:
            count = struct.unpack("!H", self._take(2, within))[0]
        elif count == 127:
            count = struct.unpack("!Q", self._take(8, within))[0]
        return head[0] & 0x0f, self._take(count, within)

    def message(self, within: float = WITHIN) -> str:
        """The next text message."""
        opcode, payload = self.frame(within)
        assert opcode == TEXT, f"not a text but opcode {opcode}: {payload!r}"
        return payload.decode()

    def close_code(self, within: float = WITHIN) -> int | None:
        """Discards messages until the close frame; returns its code, or None if the connection ends without one."""
        try:
            while True:
                opcode, payload = self.frame(within)
                if opcode == CLOSE:
                    return struct.unpack("!H", payload[:2])[0] if payload else 1005
        except EOFError:
            return None

    def answer(self, within: float = WITHIN, *, is_to_head: bool = False) -> tuple[int, dict[str, str], bytes]:
        """The next HTTP answer: status, headers by lowercase name, body; one to HEAD has none."""
        end = time.monotonic() + within
        while b"\r\n\r\n" not in self.received:
            self._wait(end)
        head, _, self.received = self.received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        status = int(first.split(" ")[1])
        count = 0 if is_to_head or status in (101, 304) else int(headers.get("content-length", 0))
        return status, headers, self._take(count, within)

    def is_ended(self, within: float = WITHIN) -> bool:
        """Whether the server ends the connection in this time; messages before the end are discarded."""
        end = time.monotonic() + within
        try:
            while True:
                self.received = b""
                self._wait(end)
        except EOFError:
            return True
        except TimeoutError:
            return False

    # Inside

    def _take(self, count: int, within: float) -> bytes:
        end = time.monotonic() + within
        while len(self.received) < count:
            self._wait(end)
        taken, self.received = self.received[:count], self.received[count:]
        return taken

    def _wait(self, end: float) -> None:
        if self.is_over:
            raise EOFError(f"the server ended the connection after {self.received!r}")
        left = end - time.monotonic()
        if left <= 0 or not select.select([self.socket], [], [], left)[0]:
            raise TimeoutError(f"nothing more from the server; so far {self.received!r}")
        self._receive()

    def _receive(self) -> None:
        try:
            data = self.socket.recv(65536)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        self.received += data
        self.is_over = not data
