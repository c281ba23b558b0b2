"""Several loops on one port look like one server to clients."""

import contextlib
import shutil
import signal
import ssl

import pytest

from certificates import Certificate
from echo_server import (
    WITHIN,
    Server,
    ask,
    closing,
    connect,
    counters,
    eventually,
    handshake,
    read_answer,
    read_frame,
    running,
)
from secure_server import secure
from stalls import Stopwatch

# The kernel picks the loop by the client's port. That one of three loops gets none of 40 has a probability under 10^-6.
MANY = 40
THREE = ("--threads", "3")


def say(ws, text):
    ws.send(text)
    return ws.recv(timeout=WITHIN)


@contextlib.contextmanager
def crowd(server, count=MANY, open_one=lambda server: connect(server.url)):
    """Connections to all three loops, with their loops' numbers."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(open_one(server)) for _ in range(count)]
        loops = [say(ws, "loop") for ws in sockets]
        assert set(loops) == {"loop 0", "loop 1", "loop 2"}
        yield sockets, loops


@pytest.fixture(scope="module")
def server():
    with running(*THREE) as server:
        yield server


class TestMessages:
    def test_identities_are_never_shared(self, server):
        with crowd(server) as (sockets, _):
            assert len({say(ws, "name") for ws in sockets}) == MANY

    def test_a_broadcast_reaches_members_on_every_loop_in_order(self, server):
        with crowd(server) as (sockets, _):
            assert {say(ws, "join") for ws in sockets} == {"joined"}

            sockets[0].send("flood:300:20")

            for ws in sockets:
                numbers = [int(ws.recv(timeout=WITHIN).split()[0]) for _ in range(300)]
                assert numbers == list(range(numbers[0], numbers[0] + 300))
            assert {say(ws, "leave") for ws in sockets} == {"left"}

    def test_a_connection_that_left_a_group_gets_no_broadcast(self, server):
        with crowd(server) as (sockets, loops):
            assert {say(ws, "join") for ws in sockets} == {"joined"}
            leaver = sockets[loops.index("loop 2")]
            assert say(leaver, "leave") == "left"

            sockets[loops.index("loop 1")].send("flood:10:20")

            for ws in sockets:
                if ws is not leaver:
                    assert len([ws.recv(timeout=WITHIN) for _ in range(10)]) == 10
            assert say(leaver, "still") == "still"

    def test_frames_that_replace_each_other_end_with_the_newest(self):
        with running(*THREE) as server, crowd(server) as (sockets, _):
            assert {say(ws, "join") for ws in sockets} == {"joined"}

            sockets[0].send("broadcast:1000:50")

            for ws in sockets:
                numbers = [0]
                while numbers[-1] < 1_000:
                    numbers.append(int(ws.recv(timeout=WITHIN).split()[0]))
                    assert numbers[-1] > numbers[-2]

    def test_large_messages_go_both_ways(self, server):
        with crowd(server) as (sockets, _):
            for ws in sockets:
                assert say(ws, "x" * 16_000) == "x" * 16_000
            for ws in sockets[:10]:
                ws.close()
        with crowd(server, open_one=lambda server: connect(server.url, max_size=None)) as (sockets, _):
            for ws in sockets:
                assert say(ws, "large:200000") == "x" * 200_000

    def test_another_loops_connection_is_closed_as_asked(self, server):
        with crowd(server) as (sockets, loops):
            judge = sockets[loops.index("loop 1")]
            for number in "loop 0", "loop 2":
                other = sockets[loops.index(number)]
                name = say(other, "name")
                judge.send(f"end:{name}")
                assert closing(other) == (1008, "as another wishes")
            assert say(judge, "still here") == "still here"

    def test_the_clock_and_the_mailbox_answer_on_every_loop(self, server):
        with crowd(server) as (sockets, _):
            assert {say(ws, "post") for ws in sockets} == {"posted"}
            assert {say(ws, "wake:1000") for ws in sockets} == {"woken"}

    def test_wrong_messages_are_refused_on_every_loop(self, server):
        with crowd(server) as (sockets, _):
            for ws in sockets:
                ws.send(b"binary")
                assert closing(ws)[0] == 1003


class TestHTTP:
    def test_every_loop_answers(self, server):
        for number in range(MANY):
            status, _, body = ask(server, f"GET /api/{number} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert status == 200 and body.decode().splitlines()[1] == f"api|{number}"
            status, _, body = ask(server, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert status == 200 and b"echo" in body

    def test_answers_go_to_the_requesting_connection(self, server):
        with contextlib.ExitStack() as stack:
            plains = [stack.enter_context(contextlib.closing(server.socket())) for _ in range(MANY)]
            for _ in range(3):
                for number, plain in enumerate(plains):
                    plain.sendall(f"GET /api/{number} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                for number, plain in enumerate(plains):
                    assert read_answer(plain)[2].decode().splitlines()[1] == f"api|{number}"

    def test_handshakes_are_refused_on_every_loop(self, server):
        for _ in range(20):
            assert ask(server, handshake(path="/ws?refuse=yes"))[0] == 403


def ends_of_ten_beside(count, server):
    """Opens this many accepted connections, and returns how each of ten more ends."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            ws = stack.enter_context(connect(server.url))
            assert say(ws, "hi") == "hi"
        ends = []
        for _ in range(10):
            with connect(server.url) as ws:
                ends.append(closing(ws))
    return ends


class TestLimits:
    def test_connections_are_bounded_over_all_loops(self):
        with running(*THREE, "--connections-max", "10") as server:
            for code, reason in ends_of_ten_beside(10, server):
                assert (code, reason) == (1013, "too many connections")
            # Closed connections no longer count against the limit.
            def one_is_let_in():
                with connect(server.url) as ws:
                    ws.send("hi")
                    try:
                        return ws.recv(timeout=WITHIN) == "hi"
                    except Exception:
                        return False
            for _ in range(10):
                eventually(one_is_let_in)

    def test_an_address_is_bounded_over_all_loops(self):
        few = ("--connections-per-address", "5", "--loopback-bounded", "yes")
        with running(*THREE, *few) as server:
            for code, reason in ends_of_ten_beside(5, server):
                assert code == 1013 and "address" in reason

    def test_http_connections_are_bounded_over_all_loops(self):
        with running(*THREE, "--http-connections", "30") as server:
            with contextlib.ExitStack() as stack:
                for _ in range(100):
                    stack.enter_context(contextlib.closing(server.socket()))
                eventually(lambda: counters(server)["accepted"] >= 100)
                eventually(lambda: counters(server).get("tooManyHTTPConnections", 0) >= 70)
                assert counters(server)["http"] <= 30

    def test_the_figures_are_sums(self, server):
        with crowd(server) as (sockets, _):
            figures = counters(server)
            assert figures["loops"] == 3
            eventually(lambda: counters(server)["webSockets"] == MANY)
            before = counters(server).get("binaryMessage", 0)
            for ws in sockets:
                ws.send(b"binary")
                assert closing(ws)[0] == 1003
            eventually(lambda: counters(server)["binaryMessage"] == before + MANY)
        eventually(lambda: counters(server)["webSockets"] == 0)


class TestPort:
    @pytest.mark.parametrize("threads", ["1", "3"])
    def test_a_port_in_use_is_refused(self, server, threads):
        with pytest.raises(RuntimeError, match="addressInUse"):
            Server("--port", str(server.port), "--threads", threads)

    def test_it_is_free_again_at_once(self):
        port = "0"
        for _ in range(3):
            with running(*THREE, "--port", port) as server:
                port = str(server.port)
                with crowd(server):
                    pass

    def test_loops_may_be_made_and_dropped(self):
        with running(*THREE, "--rehearsals", "3") as server:
            with crowd(server):
                pass

    def test_as_many_loops_as_there_may_be(self):
        with running("--threads", "64") as server:
            with contextlib.ExitStack() as stack:
                sockets = [stack.enter_context(connect(server.url)) for _ in range(64)]
                assert len({say(ws, "loop") for ws in sockets}) > 16


class TestStop:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_all_are_told_1001(self, number):
        with running(*THREE) as server:
            with crowd(server) as (sockets, _):
                server.tell(number)
                assert {closing(ws) for ws in sockets} == {(1001, "the server is stopping")}

    def test_open_requests_are_answered(self):
        with running(*THREE) as server:
            with contextlib.ExitStack() as stack:
                plains = [stack.enter_context(contextlib.closing(server.socket())) for _ in range(MANY)]
                for plain in plains:
                    plain.sendall(b"GET /api/never HTTP/1.1\r\nHost: x\r\n\r\n")
                eventually(lambda: counters(server)["http"] == MANY + 1)
                server.tell()
                for plain in plains:
                    assert read_answer(plain)[0] == 503

    def test_a_second_signal_ends_it_at_once(self):
        server = Server(*THREE, "--drain-seconds", "60")
        with contextlib.ExitStack() as stack:
            # The clients do not answer the close frame, and open requests get no answer.
            plains = [stack.enter_context(contextlib.closing(server.web_socket())) for _ in range(MANY)]
            assert len(plains) == MANY
            server.tell()
            # The first signal has been handled, so the second one is not merged with it.
            assert read_frame(plains[0])[0] == 8
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(WITHIN) == 0
        server.stop()

    def test_the_drain_takes_no_longer_than_with_one_loop(self):
        with running(*THREE, "--drain-seconds", "1") as server:
            with contextlib.ExitStack() as stack:
                for _ in range(MANY):
                    stack.enter_context(contextlib.closing(server.web_socket()))
                with Stopwatch() as watch:
                    server.tell()
                    assert server.process.wait(WITHIN) == 0
                assert watch.seconds < 3


class TestSlowReaders:
    def test_they_are_closed_and_the_others_hear_all(self):
        with running(*THREE, "--unsent-bytes-max", "1000000") as server:
            with crowd(server) as (sockets, _), contextlib.ExitStack() as stack:
                slow = [stack.enter_context(contextlib.closing(server.web_socket(4_096, more="join")))
                        for _ in range(12)]
                assert len(slow) == 12
                quick = sockets[:6]
                assert {say(ws, "join") for ws in quick} == {"joined"}
                # 3 MB in all, in portions that are easy for the quick readers.
                for portion in range(10):
                    sockets[-1].send("flood:20:16000")
                    for ws in quick:
                        numbers = [int(ws.recv(timeout=WITHIN).split()[0]) for _ in range(20)]
                        assert numbers == list(range(20 * portion + 1, 20 * portion + 21))
                eventually(lambda: counters(server).get("slowWebSocket", 0) == 12)


class TestTLS:
    def test_every_loop_speaks_it_and_takes_up_a_new_certificate(self, tmp_path):
        first, second = Certificate(tmp_path, "first"), Certificate(tmp_path, "second")
        used = Certificate(tmp_path, "used")

        def put(certificate):
            shutil.copy(certificate.path, used.path)
            shutil.copy(certificate.key, used.key)

        def served(server):
            """The common names of the certificates in 20 handshakes."""
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.load_verify_locations(first.path)
            context.load_verify_locations(second.path)
            names = set()
            for _ in range(20):
                with contextlib.closing(server.socket(context=context)) as stream:
                    names.add(dict(pair[0] for pair in stream.getpeercert()["subject"])["commonName"])
            return names

        put(first)
        with secure(used, *THREE) as server:
            server.context = first.context()
            with crowd(server, open_one=lambda server: server.connect()) as (sockets, _):
                assert {say(ws, "join") for ws in sockets} == {"joined"}
                sockets[0].send("flood:20:2000")
                for ws in sockets:
                    assert len({ws.recv(timeout=WITHIN) for _ in range(20)}) == 20
                assert served(server) == {"first"}

                put(second)
                server.process.send_signal(signal.SIGHUP)
                eventually(lambda: served(server) == {"second"})
                assert {say(ws, "still here") for ws in sockets} == {"still here"}
                server.tell()
                assert {closing(ws)[0] for ws in sockets} == {1001}
        assert len([line for line in server.lines if "reloaded" in line]) == 1
