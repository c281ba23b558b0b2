"""A fault has the same close code wherever it occurs: in the packet of the handshake, after valid messages, or
later."""

import contextlib
import struct
import time

import pytest

from certificates import Certificate
from echo_server import frame, handshake, read_frame, read_head, running
from secure_server import secure

RESERVED = 0x40
FAULTS = {
    "a reserved bit": (frame(1 | RESERVED, b"x"), 1002),
    "a reserved bit of a ping": (frame(9 | RESERVED, b"x"), 1002),
    "an opcode of data": (frame(3, b"x"), 1002),
    "an opcode of control": (frame(11), 1002),
    "a ping in fragments": (frame(9, b"x", final=False), 1002),
    "a continuation of nothing": (frame(0, b"x"), 1002),
    "a text within a text": (frame(1, b"x", final=False) + frame(1, b"y"), 1002),
    "no UTF-8": (frame(1, b"\xff\xfe"), 1007),
    "half a character": (frame(1, b"a\xc3"), 1007),
    "half a character in fragments": (frame(1, b"\xe2", final=False) + frame(0, b"\x82"), 1007),
    "too long": (frame(1, b"x" * 17_000), 1009),
    "binary": (frame(2, b"x"), 1003),
    "close code 999": (frame(8, struct.pack("!H", 999)), 1002),
    "close code 1005": (frame(8, struct.pack("!H", 1005) + b"why"), 1002),
    "a close, and no frame": (frame(8, struct.pack("!H", 1000)) + frame(3), 1000),
}


@pytest.fixture(scope="module")
def plain_server():
    with running() as server:
        yield server


@pytest.fixture(scope="module")
def secure_server(tmp_path_factory):
    with secure(Certificate(tmp_path_factory.mktemp("certificate"))) as server:
        yield server


@pytest.fixture(params=["plain", "TLS"])
def server(request, plain_server):
    return plain_server if request.param == "plain" else request.getfixturevalue("secure_server")


def code_of_end(plain):
    """The code of the close frame, after messages that are discarded; only the end follows it."""
    opcode, body = read_frame(plain)
    while opcode != 8:
        assert (opcode, body) == (1, b"good")
        opcode, body = read_frame(plain)
    with contextlib.suppress(OSError):
        plain.sendall(frame(8, body[:2]))
    with contextlib.suppress(ConnectionError):
        assert plain.recv(100) == b""
    return struct.unpack("!H", body[:2])[0]


@pytest.mark.parametrize("fault, code", FAULTS.values(), ids=FAULTS)
class TestFaults:
    def test_in_the_packet_of_the_handshake(self, server, fault, code):
        with contextlib.closing(server.socket()) as plain:
            plain.sendall(handshake() + fault)
            assert read_head(plain).startswith(b"HTTP/1.1 101")
            assert code_of_end(plain) == code

    def test_behind_good_messages_in_that_packet_and_before_more(self, server, fault, code):
        with contextlib.closing(server.socket()) as plain:
            plain.sendall(handshake(more="good") + frame(1, b"good") + fault + frame(1, b"never"))
            assert read_head(plain).startswith(b"HTTP/1.1 101")
            assert code_of_end(plain) == code

    @pytest.mark.parametrize("count", [1, 3])
    def test_split_between_that_packet_and_the_next(self, plain_server, fault, code, count):
        with contextlib.closing(plain_server.socket()) as plain:
            plain.sendall(handshake() + fault[:count])
            assert read_head(plain).startswith(b"HTTP/1.1 101")
            plain.sendall(fault[count:])
            assert code_of_end(plain) == code

    def test_later(self, server, fault, code):
        with contextlib.closing(server.web_socket()) as plain:
            plain.sendall(frame(1, b"good") + fault)
            assert code_of_end(plain) == code


class TestWhatWaited:
    @pytest.mark.parametrize("name", ["a reserved bit", "no UTF-8", "too long"])
    def test_the_code_is_that_of_a_fault_in_deferred_input(self, server, name):
        fault, code = FAULTS[name]
        with contextlib.closing(server.web_socket()) as plain:
            plain.sendall(frame(1, b"hold:50000") + frame(1, b"good") + fault)
            assert code_of_end(plain) == code

    @pytest.mark.parametrize("name", ["a reserved bit", "no UTF-8", "an opcode of control", "too long"])
    @pytest.mark.parametrize("is_ahead", [True, False])
    def test_our_own_close_is_the_only_one(self, server, name, is_ahead):
        with contextlib.closing(server.socket()) as plain:
            sent = frame(1, b"close") + FAULTS[name][0] + frame(1, b"never")
            plain.sendall(handshake() + (sent if is_ahead else b""))
            assert read_head(plain).startswith(b"HTTP/1.1 101")
            if not is_ahead:
                plain.sendall(frame(1, b"close"))
                time.sleep(0.01)
                with contextlib.suppress(ConnectionError):
                    plain.sendall(sent)
            assert code_of_end(plain) in ({1001, FAULTS[name][1]} if is_ahead else {1001})
