"""The transport, tested from outside: the echo program is run, and several clients talk to it.

TIMERSYNC_ECHO names the program; pytest, websockets and aiohttp are needed. The system picks the ports, and no test
waits longer than necessary.
"""

import asyncio
import contextlib
import os
import signal
import socket
import struct
import subprocess
import time

import aiohttp
import pytest
import websockets

from echo_server import (
    ECHO,
    WITHIN,
    Server,
    ask,
    closing,
    connect,
    counters,
    end_of_a_late_reader,
    eventually,
    frame,
    handshake,
    read_answer,
    read_frame,
    read_head,
    running,
)
from scenes import (
    connection_ends_within_the_flood,
    flood,
    large_answers_are_whole,
    pings_are_life,
    pongs_are_life,
    silent_client_is_dropped,
    slow_reader_gets_the_newest,
)
from stalls import Stopwatch


@pytest.fixture(scope="module")
def server():
    with running() as server:
        yield server


class TestHandshake:
    @pytest.mark.parametrize(
        "request_bytes, status, words",
        [
            (handshake(path="/other"), 404, "/ws"),
            (handshake(path="/"), 404, "/ws"),
            (handshake("POST"), 405, "GET"),
            (handshake(version="HTTP/1.0"), 400, "HTTP/1.1"),
            (handshake(Sec_WebSocket_Version="12"), 426, "13"),
            (handshake(Sec_WebSocket_Version=None), 426, "13"),
            (handshake(Upgrade="h2c"), 426, "websocket"),
            (handshake(Connection="keep-alive"), 426, "websocket"),
            (handshake(Sec_WebSocket_Key="c2hvcnQ="), 400, "16 bytes"),
            (handshake(Sec_WebSocket_Key=None), 400, "16 bytes"),
            (handshake(Sec_WebSocket_Key="!" * 22 + "=="), 400, "16 bytes"),
            (handshake(Sec_WebSocket_Protocol="other, token.abc"), 400, "timersync.v1"),
            (handshake(path="/ws?refuse=yes"), 403, "go away"),
            (handshake(path="/ws?timer=%ff"), 400, "UTF-8"),
            (handshake(Host=None), 400, "Host"),
        ])
    def test_a_wrong_one_is_refused_and_told_why(self, server, request_bytes, status, words):
        got, headers, body = ask(server, request_bytes)

        assert (got, headers.get("sec-websocket-version")) == (status, "13" if status == 426 else None)
        assert words in body.decode() and body.count(b"\n") <= 1
        assert headers["x-content-type-options"] == "nosniff"

    def test_h2c_on_another_path_is_passed_over(self, server):
        status, headers, _ = ask(server, handshake(path="/index.html", Upgrade="h2c", HTTP2_Settings="AAMAAABk"))

        assert status == 200 and "upgrade" not in headers

    @pytest.mark.parametrize("asked", [["timersync.v1"], ["token.abc", "timersync.v1"], None])
    def test_the_subprotocol_is_selected_when_asked_for(self, server, asked):
        with connect(server.url, subprotocols=asked) as ws:
            assert ws.subprotocol == ("timersync.v1" if asked else None)

    def test_no_extension_is_offered(self, server):
        with connect(server.url, compression="deflate") as ws:
            assert ws.response.headers.get("Sec-WebSocket-Extensions") is None

    def test_the_query_is_decoded_as_a_form(self, server):
        with connect(f"{server.url}?say=a+b%2Bc%26d&say=%C3%A9%20100%&x") as ws:
            assert [ws.recv(timeout=WITHIN), ws.recv(timeout=WITHIN)] == ["a b+c&d", "é 100%"]

    def test_a_message_may_come_along_with_the_handshake(self, server):
        with contextlib.closing(server.web_socket(more="early")) as plain:
            assert read_frame(plain) == (1, b"early")

    def test_many_messages_may_come_along(self, server):
        with contextlib.closing(server.socket()) as plain:
            plain.sendall(handshake() + b"".join(frame(1, b"%05d" % n * 200) for n in range(55)))
            assert read_head(plain).startswith(b"HTTP/1.1 101")
            for number in range(55):
                assert read_frame(plain) == (1, b"%05d" % number * 200)

    def test_a_handshake_may_come_byte_by_byte(self, server):
        with contextlib.closing(server.socket()) as plain:
            for byte in handshake():
                plain.sendall(bytes([byte]))
            assert read_head(plain).startswith(b"HTTP/1.1 101")


class TestMessages:
    def test_text_comes_back_whole_or_in_fragments(self, server):
        with connect(server.url) as ws:
            for message in ["hi", "", "é" * 60, "x" * 16_384, ["a", "bé", "c"], ["x" * 8_192] * 2]:
                ws.send(message)
                assert ws.recv(timeout=WITHIN) == "".join(message)

    def test_a_ping_between_fragments_is_answered(self, server):
        with contextlib.closing(server.web_socket()) as plain:
            plain.sendall(frame(1, b"a", final=False) + frame(9, b"p") + frame(0, b"b"))
            assert sorted([read_frame(plain), read_frame(plain)]) == [(1, b"ab"), (10, b"p")]

    @pytest.mark.parametrize("message", [b"", b"binary", bytes(range(256)) * 40, "text"])
    def test_binary_comes_back_where_it_is_taken(self, message):
        with running("--binary", "yes") as server, connect(server.url) as ws:
            ws.send(message)
            assert ws.recv(timeout=WITHIN) == message

    def test_a_paused_connection_is_read_later_and_in_order(self, server):
        with contextlib.closing(server.web_socket()) as plain:
            began = time.monotonic()
            texts = [b"%d" % number for number in range(5_000)]
            plain.sendall(frame(1, b"hold:300000") + b"".join(frame(1, text) for text in texts[:20]))
            plain.sendall(b"".join(frame(1, text) for text in texts[20:]))
            got = []
            while len(got) < len(texts):
                got.append(read_frame(plain))
                # libwebsockets may have read 1 KiB with the first message, and another 1 KiB may come at once.
                assert len(got) < 400 or time.monotonic() - began > 0.25
            assert got == [(1, text) for text in texts]

    def test_a_paused_connection_delays_no_other(self):
        # Longer than any test waits for an answer.
        with running() as server, contextlib.closing(server.web_socket()) as held, connect(server.url) as ws:
            held.sendall(frame(1, b"hold:60000000"))
            ws.send("x")
            assert ws.recv(timeout=WITHIN) == "x"
            server.tell()

    def test_a_paused_connection_receives_and_may_close(self):
        with running() as server, connect(server.url) as ws:
            with contextlib.closing(server.web_socket()) as held:
                held.sendall(frame(1, b"join"))
                assert read_frame(held) == (1, b"joined")
                held.sendall(frame(1, b"hold:60000000"))
                ws.send("broadcast:1:20")
                assert read_frame(held)[0] == 1
            # The client closed while its connection was not read, which the server notices at the stop at the latest.
            server.tell()

    def test_a_paused_connection_gets_the_close_frame(self):
        with running() as server, contextlib.closing(server.web_socket()) as held:
            held.sendall(frame(1, b"hold:60000000"))
            time.sleep(0.1)
            server.tell()
            opcode, body = read_frame(held)
            assert (opcode, body[:2]) == (8, struct.pack("!H", 1001))
            held.sendall(frame(8, body[:2]))
            assert held.recv(10) == b""

    @pytest.mark.parametrize("size", [125, 126, 65_535, 65_536, 1_000_000])
    def test_answers_may_be_large(self, server, size):
        with connect(server.url, max_size=None) as ws:
            ws.send(f"large:{size}")
            assert len(ws.recv(timeout=WITHIN)) == size

    def test_the_mailbox_and_the_deadline_wake_the_loop(self, server):
        with connect(server.url) as ws:
            ws.send("post")
            assert ws.recv(timeout=WITHIN) == "posted"
            with Stopwatch() as watch:
                ws.send("wake:50000")
                assert ws.recv(timeout=WITHIN) == "woken"
            assert 0.05 <= watch.all_seconds and watch.seconds < 1

    def test_a_deadline_is_counted_from_its_event_not_from_when_it_is_asked_for(self, server):
        with connect(server.url) as ws:
            with Stopwatch() as watch:
                ws.send("wake:600000:500000")
                assert ws.recv(timeout=WITHIN) == "woken"
            # Counted from the request for it, the deadline would come after 1.1 s.
            assert 0.6 <= watch.all_seconds and watch.seconds < 1

    @pytest.mark.parametrize(
        "message, code",
        [
            (b"binary", 1003), ("x" * 16_385, 1009), (["x" * 9_000] * 2, 1009), (["x" * 5_000] * 100, 1009),
            ("close", 1001),
        ])
    def test_the_close_code_says_why(self, server, message, code):
        with connect(server.url) as ws:
            with contextlib.suppress(websockets.ConnectionClosed):
                ws.send(message)
            got, reason = closing(ws)
            assert got == code and reason

    @pytest.mark.parametrize("payload", [b"\xff", b"ab\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"])
    def test_what_is_not_utf8_is_closed_with_1007(self, server, payload):
        with contextlib.closing(server.web_socket()) as plain:
            plain.sendall(frame(1, payload))
            opcode, body = read_frame(plain)
            assert (opcode, body[:2]) == (8, struct.pack("!H", 1007))

    def test_nothing_is_delivered_after_a_close(self, server):
        with contextlib.closing(server.web_socket()) as plain:
            plain.sendall(frame(1, b"close") + frame(1, b"more") * 3)
            opcode, body = read_frame(plain)
            assert (opcode, body[:2]) == (8, struct.pack("!H", 1001))
            plain.sendall(frame(8, struct.pack("!H", 1001)))
            assert plain.recv(10) == b""

    def test_a_close_that_is_not_answered_ends_after_a_second(self, server):
        with contextlib.closing(server.web_socket()) as plain, Stopwatch() as watch:
            plain.sendall(frame(1, b"close"))
            assert read_frame(plain)[0] == 8
            assert plain.recv(10) == b""
            assert 0.5 < watch.all_seconds and watch.seconds < 3

    def test_the_last_messages_of_a_leaving_client_are_received(self, server):
        with connect(server.url) as listener:
            listener.send("join")
            listener.recv(timeout=WITHIN)
            with contextlib.closing(server.web_socket()) as plain:
                plain.sendall(frame(1, b"broadcast:1:10") + frame(8, struct.pack("!H", 1000)))
                assert read_frame(plain) == (8, struct.pack("!H", 1000))
            assert listener.recv(timeout=WITHIN).split()[0].isdigit()


class TestGreeting:
    def test_comes_in_one_segment_with_the_answer_to_the_handshake(self, server):
        with contextlib.closing(server.socket()) as plain:
            plain.sendall(handshake(path="/ws?say=hello"))
            head, _, rest = plain.recv(4_096).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 101 ") and rest == b"\x81\x05hello"

    def test_waits_for_no_handshake_that_comes_in_pieces(self, server):
        with contextlib.closing(server.socket()) as plain:
            for byte in handshake(path="/ws?say=hello"):
                plain.sendall(bytes([byte]))
            assert read_head(plain).startswith(b"HTTP/1.1 101 ")
            assert read_frame(plain) == (1, b"hello")


class TestBroadcast:
    def test_a_slow_reader_gets_the_newest_and_others_get_all(self):
        with running() as server, contextlib.closing(server.web_socket(4_096)) as slow, \
                connect(server.url) as quick, connect(server.url) as asker:
            slow_reader_gets_the_newest(slow, quick, asker)

    def test_a_slow_reader_whose_frames_are_no_neighbours_gets_whole_ones(self):
        with running() as server, contextlib.closing(server.web_socket(4_096)) as slow, \
                connect(server.url, max_size=None) as other:
            slow.sendall(frame(1, b"join"))
            assert read_frame(slow) == (1, b"joined")
            other.send("beside")
            other.recv(timeout=WITHIN)

            # One batch has ten times what the kernel holds, so the socket is full in the middle of it.
            other.send("weave:100:100000")
            while other.recv(timeout=WITHIN).split()[0] != "100":
                pass

            got = []
            while not got or got[-1] != 99:
                opcode, text = read_frame(slow)
                assert opcode == 1 and len(text) == 100_000
                got.append(int(text.split()[0]))
            assert got == sorted(set(got)) and len(got) < 50 and all(number % 2 for number in got)

    def test_a_reader_too_slow_for_what_can_not_be_replaced_is_closed(self):
        with running() as server, contextlib.closing(server.web_socket(4_096)) as slow, \
                connect(server.url) as quick:
            flood(slow, quick)
            # The client does not answer the close frame, so its connection ends a second later.
            eventually(lambda: counters(server)["webSockets"] == 1)
            connection_ends_within_the_flood(slow)

    def test_a_reader_that_wakes_in_time_sees_1013(self):
        end = end_of_a_late_reader(running)
        assert (end[0], end[1][:2]) == (8, struct.pack("!H", 1013))

    def test_members_that_leave_or_go_hear_nothing_more(self, server):
        with connect(server.url) as stays, connect(server.url) as leaves:
            for ws in [stays, leaves]:
                ws.send("join")
                assert ws.recv(timeout=WITHIN) == "joined"
            with connect(server.url) as goes:
                goes.send("join")
                goes.recv(timeout=WITHIN)
            leaves.send("leave")
            assert leaves.recv(timeout=WITHIN) == "left"
            stays.send("broadcast:1:20")
            assert stays.recv(timeout=WITHIN).split()[0].isdigit()
            leaves.send("still here")
            assert leaves.recv(timeout=WITHIN) == "still here"


class TestLife:
    def test_silence_is_pinged_and_then_dropped(self):
        with running("--ping-seconds", "1") as server, Stopwatch() as watch, \
                contextlib.closing(server.web_socket()) as plain:
            silent_client_is_dropped(plain, watch)

    def test_a_pong_is_life(self):
        # A busy machine may take most of a second to answer.
        with running("--ping-seconds", "1") as server, contextlib.closing(server.web_socket()) as plain:
            pongs_are_life(plain)

    def test_the_peers_own_pings_are_life(self):
        with running("--ping-seconds", "1") as server, contextlib.closing(server.web_socket()) as plain:
            pings_are_life(plain)

    def test_one_connection_too_many_is_closed_with_1013(self):
        with running("--connections-max", "3") as server:
            with contextlib.ExitStack() as stack:
                for _ in range(3):
                    stack.enter_context(connect(server.url))
                with connect(server.url) as ws:
                    assert closing(ws)[0] == 1013
                # HTTP still works.
                assert ask(server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")[0] == 200
            for _ in range(50):
                with connect(server.url) as ws:
                    ws.send("back")
                    with contextlib.suppress(websockets.ConnectionClosed):
                        assert ws.recv(timeout=WITHIN) == "back"
                        return
                time.sleep(0.05)
            raise AssertionError("the places were not given back")

    def test_everybody_is_told_when_it_stops(self):
        async def many(server):
            clients = await asyncio.gather(*[websockets.connect(server.url) for _ in range(200)])
            server.tell()
            await asyncio.gather(*[client.wait_closed() for client in clients])
            return {client.close_code for client in clients}

        with running() as server:
            assert asyncio.run(many(server)) == {1001}
            with Stopwatch() as watch:
                assert server.stop()[0] == 0
            assert watch.seconds < 2

    def test_silent_clients_do_not_hold_up_the_end(self):
        server = Server("--drain-seconds", "1")
        held = [server.web_socket() for _ in range(3)] + [server.socket()]
        with Stopwatch() as watch:
            code, last = server.stop()
        assert code == 0 and last == "stopped opened=3 closed=3" and watch.seconds < 3
        assert read_frame(held[0])[1][:2] == struct.pack("!H", 1001)

    def test_a_client_has_all_of_the_drain_to_answer(self):
        with running("--drain-seconds", "60") as server:
            with contextlib.closing(server.web_socket()) as late:
                server.tell()
                assert read_frame(late)[0] == 8
                # Longer than the close timeout.
                with pytest.raises(subprocess.TimeoutExpired):
                    server.process.wait(1.5)
                late.sendall(frame(8, struct.pack("!H", 1001)))
                with Stopwatch() as watch:
                    assert server.process.wait(WITHIN) == 0
                assert watch.seconds < 1
        assert server.lines[-1].strip() == "stopped opened=1 closed=1"

    @pytest.mark.parametrize("seconds", ["0", "0.2"])
    def test_the_drain_may_be_short(self, seconds):
        server = Server("--drain-seconds", seconds)
        held = [server.web_socket() for _ in range(3)]
        with Stopwatch() as watch:
            code, last = server.stop()
        assert code == 0 and last == "stopped opened=3 closed=3" and watch.seconds < 1
        assert read_frame(held[0])[1][:2] == struct.pack("!H", 1001)

    def test_a_second_signal_ends_at_once(self):
        server = Server("--drain-seconds", "10")
        held = [server.web_socket() for _ in range(3)]
        with Stopwatch() as watch:
            server.process.send_signal(signal.SIGINT)
            assert read_frame(held[0])[0] == 8
            code, _ = server.stop()
        assert code == 0 and watch.seconds < 0.8


class TestListening:
    def test_loops_can_be_made_and_dropped_one_after_another(self):
        first = Server()
        first.stop()
        # All loops use one port, so that a loop that is left would be in the way of the next.
        with running("--rehearsals", "5", "--port", str(first.port)) as server:
            with connect(server.url) as ws:
                ws.send("hi")
                assert ws.recv(timeout=WITHIN) == "hi"

    def test_a_port_in_use_is_an_error(self, server):
        with pytest.raises(RuntimeError, match="addressInUse"):
            Server("--port", str(server.port))

    def test_other_failures_have_their_names(self):
        with pytest.raises(RuntimeError, match="addressNotAvailable"):
            Server("--address", "192.0.2.1")
        with pytest.raises(RuntimeError, match="addressNotAvailable"):
            Server("--address", "no address")
        if os.geteuid() != 0:
            with pytest.raises(RuntimeError, match="permissionDenied"):
                Server("--port", "1")

    def test_a_killed_server_can_be_started_again_at_once(self):
        first = Server()
        with contextlib.closing(first.web_socket()) as plain:
            plain.sendall(frame(1, b"hi"))
            read_frame(plain)
            first.process.kill()
            first.process.wait()
            with running("--port", str(first.port)) as second:
                assert ask(second, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")[0] == 200

    @pytest.mark.parametrize("address, host", [("::1", "[::1]"), ("localhost", "127.0.0.1"), ("::", "127.0.0.1")])
    def test_other_addresses_work(self, address, host):
        with running("--address", address) as server:
            with connect(f"ws://{host}:{server.port}/ws") as ws:
                ws.send("hi")
                assert ws.recv(timeout=WITHIN) == "hi"

    def test_the_peer_has_its_own_kind_of_address(self):
        with running("--address", "::") as server:
            _, _, body = ask(server, "GET /api HTTP/1.1\r\nHost: x\r\n\r\n")
            assert body.decode().splitlines()[-1] == "127.0.0.1"


class TestHTTP:
    def test_a_file_is_read_in_every_permitted_way(self, server):
        for path in ["/", "/index.html", "/?x=1", "http://x/index.html"]:
            status, headers, body = ask(server, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
            assert (status, body) == (200, b"<!doctype html><title>echo</title>")
            assert headers["etag"] == '"page1"' and headers["cache-control"] == "no-cache"
            assert headers["content-type"] == "text/html; charset=utf-8"
            assert headers["x-content-type-options"] == "nosniff" and "date" in headers

        status, headers, body = ask(server, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (status, headers["content-length"], body) == (200, "34", b"")

        for tag in ['"page1"', 'W/"page1"', '"other", "page1"', "*"]:
            status, headers, body = ask(
                server, f"GET / HTTP/1.1\r\nHost: x\r\nIf-None-Match: {tag}\r\n\r\n")
            assert (status, headers["etag"], body) == (304, '"page1"', b"")
        assert ask(server, 'GET / HTTP/1.1\r\nHost: x\r\nIf-None-Match: "no"\r\n\r\n')[0] == 200

    @pytest.mark.parametrize(
        "request_line, status",
        [
            ("GET /nothing", 404),
            ("GET /../etc/passwd", 404),
            ("GET /%2e%2e/index.html", 404),
            ("GET //index.html", 404),
            ("GET /index.html/", 404),
            ("GET /a%", 400),
            ("GET /%ff", 400),
            ("GET /%2findex.html", 404),
            ("POST /", 405),
            ("DELETE /index.html", 405),
            ("BREW /", 501),
            ("TRACE /", 405),
            ("CONNECT example.com:80", 405),
            ("GET /ws", 426),
            ("GET *", 400),
            ("POST *", 400),
        ],
    )
    def test_what_is_not_there_is_said(self, server, request_line, status):
        got, headers, body = ask(server, f"{request_line} HTTP/1.1\r\nHost: x\r\n\r\n")
        assert got == status and body.endswith(b"\n")
        assert (got != 405) or "get" in headers["allow"]

    @pytest.mark.parametrize(
        "target, allowed", [("*", "get, head, post, put, patch, delete, options"), ("/", "get, head, options")]
    )
    @pytest.mark.parametrize("version", ["HTTP/1.0\r\n", "HTTP/1.1\r\nHost: x\r\n", "HTTP/1.1\r\nHost: elsewhere\r\n"])
    def test_options_are_told_under_any_name(self, server, target, allowed, version):
        status, headers, body = ask(server, f"OPTIONS {target} {version}\r\n")
        assert (status, headers["allow"], body) == (204, allowed, b"")

    @pytest.mark.parametrize(
        "text, status",
        [
            ("GET /\r\n\r\n", 400), ("nonsense\r\n\r\n", 400), ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505), ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400),
            ("POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
            ("POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            ("POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
            ("POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\nX: " + "y" * 17_000 + "\r\n\r\n", 431),
            ("GET /" + "y" * 40_000, 431),
        ])
    def test_a_malformed_request_is_refused_and_the_connection_closed(self, server, text, status):
        with contextlib.closing(server.socket()) as plain:
            plain.sendall(text.encode())
            got, headers, _ = read_answer(plain)
            assert (got, headers["connection"]) == (status, "close")
            assert plain.recv(10) == b""

    @pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    @pytest.mark.parametrize("body", [None, "", '{"a":1}'])
    def test_every_method_reaches_the_service(self, server, method, body):
        length = "" if body is None else f"Content-Length: {len(body)}\r\n"
        status, headers, answer = ask(
            server, f"{method} /api/timers/a%2Fb;c&d/x+y?q=1+2&q=%2B HTTP/1.1\r\nHost: h:1\r\n{length}"
            "Authorization: Bearer T\r\nCookie: no\r\nX-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n"
            f"\r\n{body or ''}")
        lines = answer.decode().split("\n")
        assert (status, lines[0]) == (200, method)
        assert lines[1] == "api|timers|a/b;c&d|x+y" and lines[2] == "q=1 2|q=+"
        assert lines[3] == "authorization=Bearer T|host=h:1|x-forwarded-for=1.1.1.1, 2.2.2.2"
        assert lines[4] == (body or "") and lines[5] == "127.0.0.1"

    def test_head_of_a_service_has_no_body(self, server):
        with contextlib.closing(server.socket()) as plain:
            plain.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            status, headers, _ = read_answer(plain, "HEAD")
            assert status == 200 and int(headers["content-length"]) > 0
            assert read_answer(plain)[2].startswith(b"GET\nhealthz")

    def test_a_body_may_come_in_chunks(self, server):
        status, _, body = ask(
            server, "POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nTrailer: x\r\n\r\n")
        assert status == 200 and b"\nabcdefg\n" in body

    def test_expecting_continue_is_answered(self, server):
        with contextlib.closing(server.socket()) as plain:
            plain.sendall(b"PUT /api HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
            assert read_head(plain) == b"HTTP/1.1 100 Continue\r\n\r\n"
            plain.sendall(b"abc")
            assert b"\nabc\n" in read_answer(plain)[2]

    @pytest.mark.parametrize(
        "head, body",
        [
            ("Content-Length: 16385", "x" * 16_385), ("Content-Length: 99999999999999999999", ""),
            ("Transfer-Encoding: chunked", "4001\r\n" + "x" * 0x4001),
            ("Transfer-Encoding: chunked", "1000\r\n" + "x" * 0x1000 + "\r\n3001\r\n"),
        ])
    def test_a_body_over_the_limit_is_413(self, server, head, body):
        status, headers, answer = ask(server, f"POST /api/x HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n{body}")
        assert status == 413 and headers["content-type"].startswith("application/json")
        assert answer.startswith(b'{"reply":null,"ok":false,"error":{"code":"badRequest","message":"')
        assert answer.endswith(b'"retryable":false}}')

    def test_a_body_at_the_limit_is_taken(self, server):
        body = "x" * 16_384
        assert body in ask(
            server, f"POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 16384\r\n\r\n{body}")[2].decode()

    def test_a_connection_carries_many_requests(self, server):
        with contextlib.closing(server.socket()) as plain:
            for number in range(50):
                plain.sendall(f"GET /api/{number} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                status, _, body = read_answer(plain)
                assert status == 200 and f"api|{number}\n" in body.decode()
            plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert read_answer(plain)[1]["connection"] == "close"
            assert plain.recv(10) == b""

    def test_requests_may_be_sent_ahead(self, server):
        with contextlib.closing(server.socket()) as plain:
            requests = [f"POST /api/{n} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{n:05}" for n in range(1_000)]
            plain.sendall("".join(requests[:500]).encode())
            for number in range(500):
                assert f"\n{number:05}\n" in read_answer(plain)[2].decode()
            plain.sendall("".join(requests[500:]).encode() + handshake())
            for number in range(500, 1_000):
                assert f"\n{number:05}\n" in read_answer(plain)[2].decode()
            assert read_head(plain).startswith(b"HTTP/1.1 101")
            plain.sendall(frame(1, b"now a socket"))
            assert read_frame(plain) == (1, b"now a socket")

    @pytest.mark.parametrize("path, size", [("/big.bin", 3_000_000), ("/api/large", 2_000_000)])
    def test_large_answers_go_out_in_parts(self, server, path, size):
        with contextlib.closing(server.socket(4_096)) as plain:
            large_answers_are_whole(plain, path, size)

    def test_a_client_may_be_gone_before_its_answer(self, server):
        for path in ["/api/x", "/api/large", "/api/never"]:
            for _ in range(5):
                plain = server.socket()
                plain.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                plain.close()
        assert ask(server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")[0] == 200

    def test_a_client_that_has_ended_its_side_gets_its_answer(self, server):
        with contextlib.closing(server.socket()) as plain:
            plain.sendall(b"GET /api/x HTTP/1.1\r\nHost: x\r\n\r\n")
            plain.shutdown(socket.SHUT_WR)
            assert read_answer(plain)[0] == 200
            assert plain.recv(10) == b""

    def test_open_requests_get_503_when_it_stops(self):
        server = Server()
        with contextlib.closing(server.socket()) as plain, contextlib.closing(server.socket()) as idle:
            plain.sendall(b"GET /api/never HTTP/1.1\r\nHost: x\r\n\r\n")
            assert ask(server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")[0] == 200
            server.tell()
            status, headers, body = read_answer(plain)
            assert status == 503 and b'"shuttingDown"' in body and headers["connection"] == "close"
            assert idle.recv(10) == b""
        assert server.stop()[0] == 0

    def test_aiohttp_and_curl_get_along(self, server):
        async def session():
            async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}") as client:
                async def one(number):
                    async with client.post(f"/api/{number}", json={"n": number}) as answer:
                        return answer.status, f'{{"n": {number}}}' in await answer.text()
                return await asyncio.gather(*[one(number) for number in range(200)])

        assert set(asyncio.run(session())) == {(200, True)}
        url = f"http://127.0.0.1:{server.port}/api/timers/tea"
        for extra in [["-X", "POST"], ["-X", "DELETE"], ["--http2", "-d", "{}"], ["-T", ECHO, "--max-time", "30"]]:
            done = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", *extra, url],
                                  capture_output=True, text=True, timeout=2 * WITHIN)
            assert done.stdout == ("413" if "-T" in extra else "200")


CHUNKED = "POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


class TestFraming:
    """The end of each request is unambiguous: a server that is unsure of it is open to request smuggling."""

    def test_a_request_may_come_byte_by_byte(self, server):
        with contextlib.closing(server.socket()) as plain:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in b"POST /api/x%2Fy?q=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nOrigin:  o \r\n\r\nabc":
                plain.sendall(bytes([byte]))
                time.sleep(0.0005)
            lines = read_answer(plain)[2].decode().split("\n")
            assert lines[:5] == ["POST", "api|x/y", "q=1", "host=h|origin=o", "abc"]

    def test_a_burst_is_answered_one_by_one_wherever_it_is_cut(self, server):
        burst = (
            b"\r\nPOST /api/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /"
            + CHUNKED.replace("/api", "/api/2").encode() + b"2\r\nab\r\n0\r\n\r\n"
            + b"GET http://x/api/3?a=b HTTP/1.1\r\nHost: x\r\n\r\n"
            + b"GET /api/4 HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"
            + b"GET /api/5 HTTP/1.1\r\nHost: x\r\n\r\n")
        for cut in range(0, len(burst), 5):
            with contextlib.closing(server.socket()) as plain:
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                plain.sendall(burst[:cut])
                time.sleep(0.002)
                plain.sendall(burst[cut:])
                answers = [read_answer(plain)[2].decode().split("\n") for _ in range(5)]
                assert [lines[1] for lines in answers] == [f"api|{n}" for n in range(1, 6)]
                assert [lines[4] for lines in answers] == ["GET /", "ab", "", "", ""]

    def test_chunks_may_be_cut_anywhere(self, server):
        body = b"3\r\nabc\r\n00A;x=1\r\n\r\n0\r\n\r\nd\r\n\r\n0\r\nTrailer: x\r\n\r\n"
        for cut in range(len(body)):
            with contextlib.closing(server.socket()) as plain:
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                plain.sendall(CHUNKED.encode() + body[:cut])
                time.sleep(0.002)
                plain.sendall(body[cut:] + b"GET /api/next HTTP/1.1\r\nHost: x\r\n\r\n")
                assert read_answer(plain)[2].startswith(
                    b"POST\napi\n\nhost=x\nabc\r\n0\r\n\r\nd\r\n\n")
                assert read_answer(plain)[2].startswith(b"GET\napi|next")

    @pytest.mark.parametrize("cut", [None, 1, 60, 130])
    def test_frames_right_behind_a_handshake_wait_for_it(self, server, cut):
        wanted = handshake() + frame(1, b"one") + frame(1, b"two") + frame(9, b"p")
        with contextlib.closing(server.socket()) as plain:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.sendall(b"GET /api/1 HTTP/1.1\r\nHost: x\r\n\r\n" + wanted[:cut])
            assert read_answer(plain)[0] == 200
            plain.sendall(b"" if cut is None else wanted[cut:])
            assert read_head(plain).startswith(b"HTTP/1.1 101")
            assert sorted(read_frame(plain) for _ in range(3)) == [(1, b"one"), (1, b"two"), (10, b"p")]

    @pytest.mark.parametrize(
        "target, path, query",
        [
            ("http://x/api/a?b=c", "api|a", "b=c"), ("HTTP://u.example:80/api?", "api", ""),
            ("https://[::1]:9/api?a=b?c", "api", "a=b?c"), ("/api//a/", "api||a|", ""),
        ])
    def test_a_target_may_be_absolute(self, server, target, path, query):
        lines = ask(server, f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n")[2].decode().split("\n")
        assert lines[1:3] == [path, query]

    @pytest.mark.parametrize("target", ["http://x", "http://x?a=b", "https://x:1/"])
    def test_an_absolute_target_without_a_path_is_the_page(self, server, target):
        assert ask(server, f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n")[2].startswith(b"<!doctype html>")

    @pytest.mark.parametrize("size, status", [(16_384, 200), (16_385, 431)])
    @pytest.mark.parametrize("step", [100_000, 1_000])
    def test_the_limit_of_a_head_is_exact(self, server, size, status, step):
        head = b"GET /api HTTP/1.1\r\nHost: x\r\nX: " + b"y" * (size - 35) + b"\r\n\r\n"
        assert len(head) == size
        with contextlib.closing(server.socket()) as plain:
            for start in range(0, size, step):
                plain.sendall(head[start:start + step])
            assert read_answer(plain)[0] == status

    def test_many_small_chunks_come_to_an_end(self, server):
        with contextlib.closing(server.socket()) as plain:
            with contextlib.suppress(ConnectionError):
                plain.sendall(CHUNKED.encode() + (b"1;" + b"x" * 1_000 + b"\r\na\r\n") * 1_000)
            assert read_answer(plain)[0] in (400, 413)

    @pytest.mark.parametrize(
        "text",
        [
            # RFC 9112 §5.1: no white space is allowed before the colon.
            "GET / HTTP/1.1\r\nHost: x\r\nX : y\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nX Y: z\r\n\r\n",
            "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length : 3\r\n\r\nabc",
            "POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
            # RFC 9112 §2.2: a carriage return alone ends no line.
            "GET / HTTP/1.1\r\nHost: x\r\n\rGET /api HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\rX: y\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nX:\rY: z\r\n\r\n",
            CHUNKED + "3\rxabc\r\n0\r\n\r\n", CHUNKED + "3\r\nabcxy0\r\n\r\n", CHUNKED + "3\r\nabcd\r\n0\r\n\r\n",
            CHUNKED + "\r\n0\r\n\r\n", CHUNKED + "-1\r\n\r\n", CHUNKED + "0x1\r\na\r\n0\r\n\r\n",
            CHUNKED + "ffffffffffffffffff\r\n",
            # RFC 9112 §6.3: a message with two lengths is invalid.
            "POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
            "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 2\r\n\r\na",
            "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n 2\r\n\r\na",
            "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na",
            "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
            "POST /api HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            # Bytes that are valid nowhere in a request.
            "GET / HTTP/1.1\r\nHost: x\r\nOrigin: \x01\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nOrigin: a\0\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\"a\": y\r\n\r\n",
            "GET /a\tb HTTP/1.1\r\nHost: x\r\n\r\n", "GET /é HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /#a HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HXYZ/1.1\r\nHost: x\r\n\r\n",
        ])
    def test_what_can_be_read_in_two_ways_is_not_read(self, server, text):
        with contextlib.closing(server.socket()) as plain:
            plain.sendall(text.encode())
            status, headers, _ = read_answer(plain)
            assert (status, headers["connection"]) in [(400, "close"), (413, "close")]
            assert plain.recv(10) == b""

    @pytest.mark.parametrize("coding", ["gzip, chunked", "chunked, gzip", "xchunked", "identity", "chunked, chunked"])
    def test_other_codings_are_not_known(self, server, coding):
        status, headers, _ = ask(server, CHUNKED.replace("chunked", coding) + "0\r\n\r\n")
        assert status in (400, 501) and headers["connection"] == "close"
