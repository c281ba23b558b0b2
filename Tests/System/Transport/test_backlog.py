"""Unsent bytes of clients that do not read: the limits for each and for all together, and for how long."""

import contextlib
import struct
import time

import pytest

from certificates import Certificate
from echo_server import WITHIN, connect, counters, eventually, frame, read_exactly, read_frame, read_head, running
from secure_server import secure

LARGE = 1_000_000
ASK = frame(1, b"large:%d" % LARGE)
BOUND = ("--unsent-bytes-max", "65536")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return Certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(params=["plain", "TLS"])
def serve(request, certificate):
    return running if request.param == "plain" else lambda *options: secure(certificate, *options)


def memory(server):
    """The bytes of the process that are in memory."""
    with open(f"/proc/{server.process.pid}/statm") as statm:
        return int(statm.read().split()[1]) * 4_096


class TestOneReader:
    def test_a_late_reader_with_many_requests_gets_all_answers_one_by_one(self, serve):
        with serve(*BOUND) as server, contextlib.closing(server.web_socket(4_096)) as slow:
            before = memory(server)
            slow.sendall(ASK * 10 + frame(1, b"last"))
            time.sleep(0.3)
            assert memory(server) - before < 8 * LARGE
            for _ in range(10):
                opcode, body = read_frame(slow)
                assert opcode == 1 and len(body) == LARGE
            assert read_frame(slow) == (1, b"last")
            assert "slowWebSocket" not in counters(server)

    def test_two_requests_at_once_are_answered_by_any_loop(self):
        with running(*BOUND, "--threads", "3") as server, contextlib.ExitStack() as stack:
            for _ in range(8):
                one = stack.enter_context(contextlib.closing(server.web_socket(4_096)))
                one.sendall(ASK * 2)
                assert [len(read_frame(one)[1]) for _ in range(2)] == [LARGE] * 2

    def test_what_waits_beside_a_large_message_is_bounded(self, serve):
        with serve(*BOUND) as server, contextlib.closing(server.web_socket(4_096)) as slow, \
                contextlib.closing(server.web_socket()) as other:
            slow.sendall(frame(1, b"join"))
            assert read_frame(slow) == (1, b"joined")
            slow.sendall(ASK)
            time.sleep(0.2)
            other.sendall(frame(1, b"flood:40:1000"))
            time.sleep(0.2)
            assert "slowWebSocket" not in counters(server)
            other.sendall(frame(1, b"flood:40:1000"))
            eventually(lambda: counters(server).get("slowWebSocket") == 1)

    def test_requests_of_a_leaving_client_are_carried_out(self):
        with running(*BOUND) as server, contextlib.closing(server.web_socket()) as hears:
            hears.sendall(frame(1, b"join"))
            assert read_frame(hears) == (1, b"joined")
            with contextlib.closing(server.web_socket(4_096)) as goes:
                goes.sendall(ASK + frame(1, b"broadcast:1:20"))
                time.sleep(0.2)
            assert read_frame(hears)[0] == 1


class TestStalls:
    options = ("--stall-seconds", "0.6", "--ping-seconds", "60")

    @pytest.mark.parametrize("sent", [frame(9, b"?"), frame(1, b"hi") + ASK], ids=["pings", "requests"])
    def test_a_client_that_sends_and_never_reads_is_dropped(self, serve, sent):
        with serve(*self.options) as server, contextlib.closing(server.web_socket(4_096)) as deaf:
            deaf.sendall(ASK)
            began = time.monotonic()
            deaf.settimeout(0.5)
            with contextlib.suppress(OSError):
                while time.monotonic() - began < WITHIN:
                    deaf.sendall(sent)
                    time.sleep(0.05)
                    if counters(server).get("stalled"):
                        break
            assert time.monotonic() - began > 0.5
            eventually(lambda: counters(server).get("stalled") == 1 and counters(server)["webSockets"] == 0)

    def test_a_reader_that_makes_progress_is_kept(self, serve):
        with serve(*self.options) as server, contextlib.closing(server.web_socket(4_096)) as slow:
            slow.sendall(ASK)
            got = 0
            while got < LARGE:
                got += len(read_exactly(slow, min(LARGE // 4, LARGE - got)))
                time.sleep(0.2)
            assert "stalled" not in counters(server)
            slow.sendall(frame(1, b"hi"))
            read_exactly(slow, 10)
            assert read_frame(slow) == (1, b"hi")

    def test_two_loops_end_theirs_too(self):
        with running("--threads", "2", *self.options) as server, contextlib.ExitStack() as stack:
            for _ in range(20):
                deaf = stack.enter_context(contextlib.closing(server.web_socket(4_096)))
                deaf.sendall(ASK)
            eventually(lambda: counters(server).get("stalled") == 20)


class TestAllReaders:
    @pytest.mark.parametrize("threads", ["1", "2"])
    def test_those_with_the_most_are_closed(self, threads):
        with running("--unsent-bytes-total-max", "8000000", "--threads", threads, *BOUND) as server, \
                contextlib.ExitStack() as stack:
            honest = stack.enter_context(connect(server.url))
            before = memory(server)
            for _ in range(40):
                deaf = stack.enter_context(contextlib.closing(server.web_socket(4_096)))
                deaf.sendall(ASK * 3)
                honest.send("hi")
                assert honest.recv(timeout=WITHIN) == "hi"
            eventually(lambda: counters(server).get("unreadBytesTotal", 0) >= 20)
            assert memory(server) - before < 30_000_000

    def test_one_that_reads_on_sees_1013(self):
        with running("--unsent-bytes-total-max", "1000000", *BOUND) as server:
            with contextlib.closing(server.web_socket(4_096)) as first, \
                    contextlib.closing(server.web_socket(4_096)) as second:
                first.sendall(ASK)
                eventually(lambda: counters(server)["webSockets"] == 2)
                second.sendall(frame(1, b"large:2000000"))
                opcode, body = read_frame(second)
                assert opcode == 1 and len(body) == 2_000_000
                opcode, body = read_frame(second)
                assert (opcode, body[:2]) == (8, struct.pack("!H", 1013))
                assert read_frame(first)[0] == 1

    def test_answers_by_http_are_counted(self, serve):
        with serve("--unsent-bytes-total-max", "4000000") as server, contextlib.ExitStack() as stack:
            for _ in range(10):
                deaf = stack.enter_context(contextlib.closing(server.socket(4_096)))
                deaf.sendall(b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n")
            eventually(lambda: counters(server).get("unreadBytesTotal", 0) >= 8)

    def test_the_only_reader_keeps_what_it_was_sent(self):
        with running("--unsent-bytes-total-max", "100000") as server, \
                contextlib.closing(server.web_socket(4_096)) as slow:
            slow.sendall(ASK)
            time.sleep(0.3)
            opcode, body = read_frame(slow)
            assert opcode == 1 and len(body) == LARGE


class TestAnswers:
    def test_one_that_is_read_slowly_and_steadily_is_not_cut(self, serve):
        with serve("--handshake-seconds", "0.4") as server, contextlib.closing(server.socket(4_096)) as slow:
            slow.sendall(b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b" 200 " in read_head(slow)
            got = 0
            while got < 3_000_000:
                got += len(read_exactly(slow, min(750_000, 3_000_000 - got)))
                time.sleep(0.2)
            assert "slowReader" not in counters(server)
