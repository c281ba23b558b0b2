"""Too many, too slow and too long-winded clients: the transport closes them and serves the others."""

import contextlib
import resource
import socket
import struct
import subprocess
import time

import pytest

from echo_server import (
    WITHIN,
    Server,
    ask,
    closing,
    connect,
    counters,
    eventually,
    frame,
    handshake,
    read_answer,
    read_frame,
    read_head,
    running,
)
from stalls import Stopwatch

PAGE = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class SmallServer(Server):
    """With few descriptors."""

    def __init__(self, count, *arguments):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        run = subprocess.Popen

        def limited(*positional, **named):
            return run(*positional, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_NOFILE, (count, count)), **named)

        subprocess.Popen = limited
        try:
            super().__init__(*arguments)
        finally:
            subprocess.Popen = run


def raise_own_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192), hard))


class TestPerAddress:
    few = ("--connections-per-address", "3", "--loopback-bounded", "yes")

    def test_one_web_socket_too_many_is_closed_with_1013(self):
        with running(*self.few) as server:
            with contextlib.ExitStack() as stack:
                for _ in range(3):
                    ws = stack.enter_context(connect(server.url))
                    ws.send("hi")
                    assert ws.recv(timeout=WITHIN) == "hi"
                with connect(server.url) as ws:
                    code, reason = closing(ws)
                    assert code == 1013 and "address" in reason
            # Closed connections no longer count against the limit.
            for _ in range(10):
                with connect(server.url) as ws:
                    ws.send("hi")
                    assert ws.recv(timeout=WITHIN) == "hi"

    def test_one_request_too_many_is_answered_with_503(self):
        with running(*self.few) as server:
            held = [server.socket() for _ in range(3)]
            status, headers, body = ask(server, PAGE)
            assert (status, headers["connection"], headers["retry-after"]) == (503, "close", "5")
            assert b"address" in body and headers["x-content-type-options"] == "nosniff"
            held.pop().close()
            eventually(lambda: ask(server, PAGE)[0] == 200)
            for plain in held:
                plain.close()
            eventually(lambda: counters(server)["http"] == 1)

    def test_far_too_many_are_not_read(self):
        with running(*self.few) as server:
            held = [server.socket() for _ in range(40)]
            for plain in held:
                plain.setblocking(False)
            eventually(lambda: sum(map(self.is_closed, held)) >= 40 - 3 - 16)
            # A client with another address is served; by then all of the first have been looked at.
            with contextlib.closing(socket.create_connection(
                    ("127.0.0.1", server.port), timeout=WITHIN, source_address=("127.0.0.2", 0))) as other:
                other.sendall(PAGE.encode())
                assert read_answer(other)[0] == 200
            assert sum(map(self.is_closed, held)) == 40 - 3 - 16

    def is_closed(self, plain):
        try:
            return plain.recv(10) == b""
        except BlockingIOError:
            return False
        except ConnectionError:
            return True

    def test_loopback_is_not_bounded(self):
        with running("--connections-per-address", "3") as server, contextlib.ExitStack() as stack:
            for _ in range(30):
                ws = stack.enter_context(connect(server.url))
                ws.send("hi")
                assert ws.recv(timeout=WITHIN) == "hi"


class TestSlowness:
    @pytest.mark.parametrize(
        "said", ["GET / HTTP/1.1\r\nHo", "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nlies", "G",
                 "POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"])
    def test_half_a_request_is_answered_with_408(self, said):
        with running("--handshake-seconds", "1") as server, Stopwatch() as watch, \
                contextlib.closing(server.socket()) as plain:
            plain.sendall(said.encode())
            status, headers, _ = read_answer(plain)
            assert (status, headers["connection"]) == (408, "close")
            assert headers["x-content-type-options"] == "nosniff"
            assert plain.recv(10) == b""
            assert 0.9 < watch.all_seconds and watch.seconds < 2.5
            eventually(lambda: counters(server)["slowRequest"] == 1)

    def test_a_client_that_sends_no_body_after_100_continue_gets_408(self):
        with running("--handshake-seconds", "0.5") as server:
            # The whole head has arrived when the server first reads.
            with server.standing_still():
                plain = server.socket()
                plain.sendall(
                    b"POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
            with contextlib.closing(plain):
                assert read_head(plain) == b"HTTP/1.1 100 Continue\r\n\r\n"
                assert read_answer(plain)[0] == 408
                assert plain.recv(10) == b""

    def test_a_connection_that_sends_nothing_is_closed_without_a_response(self):
        with running("--handshake-seconds", "1") as server, contextlib.closing(server.socket()) as plain:
            assert plain.recv(10) == b""
            assert counters(server)["slowRequest"] == 1

    def test_dripping_headers_do_not_buy_time(self):
        with running("--handshake-seconds", "1") as server, Stopwatch() as watch, \
                contextlib.closing(server.socket()) as plain:
            with pytest.raises(ConnectionError):
                for byte in handshake(X="y" * 1_000):
                    plain.sendall(bytes([byte]))
                    time.sleep(0.02)
            assert watch.seconds < 4
            assert counters(server)["slowRequest"] == 1

    def test_an_idle_connection_is_closed_without_a_response(self):
        with running("--handshake-seconds", "1") as server, contextlib.closing(server.socket()) as plain:
            plain.sendall(PAGE.encode())
            assert read_answer(plain)[0] == 200
            assert plain.recv(10) == b""
            assert "slowRequest" not in counters(server)

    def test_an_answer_that_is_not_read_is_cut(self):
        with running("--handshake-seconds", "1") as server, contextlib.closing(server.socket(4_096)) as plain:
            plain.sendall(b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n")
            eventually(lambda: counters(server).get("slowReader") == 1)
            assert counters(server)["http"] == 1

    def test_a_refused_client_that_stays_is_closed_soon(self):
        with running() as server, Stopwatch() as watch, contextlib.closing(server.socket()) as plain:
            plain.sendall(b"nonsense\r\n\r\n")
            assert read_answer(plain)[0] == 400
            eventually(lambda: counters(server)["http"] == 1)
            assert watch.seconds < 4

    def test_a_web_socket_may_take_its_time(self):
        with running("--handshake-seconds", "1") as server, connect(server.url) as ws:
            time.sleep(1.5)
            ws.send("hi")
            assert ws.recv(timeout=WITHIN) == "hi"


class TestRoom:
    def test_incomplete_requests_are_evicted_first(self):
        with running("--http-connections", "10", "--handshake-seconds", "60") as server:
            half = server.socket()
            half.sendall(b"GET / HTTP/1.1\r\nHo")
            eventually(lambda: counters(server)["http"] == 2)
            held = [server.socket() for _ in range(9)]
            for _ in range(30):
                assert ask(server, PAGE)[0] == 200
                with connect(server.url) as ws:
                    ws.send("hi")
                    assert ws.recv(timeout=WITHIN) == "hi"
            assert read_answer(half)[0] == 503
            assert counters(server)["tooManyHTTPConnections"] >= 1
            for plain in held:
                plain.close()

    def test_a_connection_with_a_response_under_way_is_not_evicted(self):
        with running("--http-connections", "2") as server, contextlib.closing(server.socket()) as first, \
                contextlib.closing(server.socket()) as second:
            for plain in [first, second]:
                # Both requests are in one packet: the answer to the first shows that the second has arrived.
                plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /api/never HTTP/1.1\r\nHost: x\r\n\r\n")
                assert read_answer(plain)[0] == 200
            time.sleep(0.2)
            with contextlib.closing(server.socket()) as third, contextlib.suppress(ConnectionError):
                third.sendall(PAGE.encode())
                assert third.recv(10) == b""
            first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            first.close()
            eventually(lambda: self.answers(server))

    def answers(self, server):
        with contextlib.suppress(EOFError, ConnectionError):
            return ask(server, PAGE)[0] == 200
        return False

    def test_a_flood_of_half_handshakes_blocks_no_other_client(self):
        raise_own_limit()
        with running("--http-connections", "100") as server:
            held = []
            for _ in range(500):
                plain = server.socket()
                plain.sendall(handshake()[:-10])
                held.append(plain)
                if len(held) % 50 == 0:
                    with connect(server.url) as ws:
                        ws.send("hi")
                        assert ws.recv(timeout=WITHIN) == "hi"
            assert counters(server)["http"] <= 101
            for plain in held:
                plain.close()

    @pytest.mark.parametrize("count", [160, 256])
    def test_few_descriptors_are_never_used_up(self, count):
        raise_own_limit()
        with running(count, "--handshake-seconds", "60", kind=SmallServer) as server:
            assert any("descriptor limit" in line for line in server.lines)
            held = []
            with connect(server.url) as ws:
                for _ in range(400):
                    plain = server.socket()
                    with contextlib.suppress(ConnectionError):
                        plain.sendall(handshake() if len(held) % 2 else b"GET")
                    held.append(plain)
                time.sleep(0.3)
                ws.send("hi")
                assert ws.recv(timeout=WITHIN) == "hi"
            for plain in held:
                plain.close()
            eventually(lambda: self.answers(server))


class TestSizes:
    @pytest.mark.parametrize("size, status", [(1_000, 200), (1_001, 431)])
    def test_the_bound_of_a_head_can_be_set(self, size, status):
        head = b"GET /api HTTP/1.1\r\nHost: x\r\nX: " + b"y" * (size - 35) + b"\r\n\r\n"
        with running("--head-bytes-max", "1000") as server:
            got, headers, body = ask(server, head)
            assert got == status and headers["x-content-type-options"] == "nosniff"
            assert status == 200 or b"1000 bytes" in body
            assert counters(server).get("headTooLong", 0) == (status == 431)

    def test_the_bound_of_a_body_can_be_set(self):
        with running("--body-bytes-max", "10") as server:
            for length, status in [(10, 200), (11, 413)]:
                request = f"POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n" + "x" * length
                assert ask(server, request)[0] == status
            assert counters(server)["bodyTooLong"] == 1

    def test_a_message_counts_across_its_fragments(self):
        with running("--message-bytes-max", "1000") as server:
            for pieces in [["x" * 1_001], ["x" * 500] * 3, ["x"] * 1_001]:
                with connect(server.url) as ws:
                    with contextlib.suppress(Exception):
                        ws.send(pieces if len(pieces) > 1 else pieces[0])
                    assert closing(ws)[0] == 1009
            with connect(server.url) as ws:
                ws.send(["x" * 100] * 10)
                assert ws.recv(timeout=WITHIN) == "x" * 1_000
            assert counters(server)["messageTooLong"] == 3

    def test_a_message_that_never_ends_is_not_kept(self):
        with running() as server, contextlib.closing(server.web_socket()) as plain:
            with contextlib.suppress(ConnectionError):
                plain.sendall(frame(1, b"x" * 1_000, final=False))
                for _ in range(16 * 1_024):
                    plain.sendall(frame(0, b"x" * 1_000, final=False))
            opcode, body = read_frame(plain)
            assert (opcode, body[:2]) == (8, struct.pack("!H", 1009))

    def test_what_was_refused_is_counted(self):
        with running() as server:
            ask(server, "nonsense\r\n\r\n")
            ask(server, handshake(path="/ws?refuse=yes"))
            with connect(server.url) as ws:
                ws.send(b"binary")
                assert closing(ws)[0] == 1003
            got = counters(server)
            assert (got["malformedRequest"], got["webSocketHandshake"], got["binaryMessage"]) == (1, 1, 1)
