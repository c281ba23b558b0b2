"""Slow, silent and leaving clients that speak TLS."""

import asyncio
import contextlib
import functools
import os
import signal
import struct
import time

import pytest
import websockets

from certificates import Certificate
from echo_server import (
    counters,
    end_of_a_late_reader,
    eventually,
    frame,
    read_answer,
    read_frame,
)
from scenes import (
    connection_ends_within_the_flood,
    flood,
    pings_are_life,
    pongs_are_life,
    silent_client_is_dropped,
    slow_reader_gets_the_newest,
)
from secure_server import SecureServer, secure
from stalls import Stopwatch


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return Certificate(tmp_path_factory.mktemp("certificate"))


class TestSlowSecureReaders:
    def test_one_gets_the_newest_and_others_get_all(self, certificate):
        with secure(certificate) as server, contextlib.closing(server.web_socket(4_096)) as slow, \
                server.connect() as quick, server.connect() as asker:
            slow_reader_gets_the_newest(slow, quick, asker)

    def test_one_too_slow_for_what_can_not_be_replaced_is_closed(self, certificate):
        with secure(certificate) as server, contextlib.closing(server.web_socket(4_096)) as slow, \
                server.connect() as quick:
            flood(slow, quick)
            eventually(lambda: counters(server)["tls"] == 1)
            assert counters(server)["slowWebSocket"] == 1
            connection_ends_within_the_flood(slow)

    def test_one_that_wakes_in_time_sees_1013(self, certificate):
        end = end_of_a_late_reader(functools.partial(secure, certificate))
        assert (end[0], end[1][:2]) == (8, struct.pack("!H", 1013))

    def test_an_answer_that_is_not_read_ends_in_time(self, certificate):
        with secure(certificate, "--handshake-seconds", "1") as server:
            with contextlib.closing(server.socket(4_096)) as slow:
                slow.sendall(b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n")
                eventually(lambda: counters(server).get("slowReader") == 1)
                assert counters(server)["http"] == 1


class TestSecureLife:
    def test_silence_is_pinged_and_then_dropped(self, certificate):
        with secure(certificate, "--ping-seconds", "1") as server:
            with Stopwatch() as watch, contextlib.closing(server.web_socket()) as stream:
                silent_client_is_dropped(stream, watch)
            assert counters(server)["pingTimeout"] == 1

    def test_a_silent_one_that_does_not_read_is_dropped_too(self, certificate):
        with secure(certificate, "--ping-seconds", "0.3", "--unsent-bytes-max", "100000000") as server:
            with contextlib.closing(server.web_socket(4_096)) as stream:
                stream.sendall(frame(1, b"large:2200000"))
                eventually(lambda: counters(server).get("pingTimeout") == 1)
                eventually(lambda: counters(server)["tls"] == 0)
                assert counters(server)["webSockets"] == 0

    def test_a_pong_is_life(self, certificate):
        # A busy machine may take most of a second to answer.
        with secure(certificate, "--ping-seconds", "1") as server:
            with contextlib.closing(server.web_socket()) as stream:
                pongs_are_life(stream)

    def test_the_peers_own_pings_are_life(self, certificate):
        with secure(certificate, "--ping-seconds", "1") as server:
            with contextlib.closing(server.web_socket()) as stream:
                pings_are_life(stream)

    def test_everybody_is_told_when_it_stops(self, certificate):
        async def many(server):
            clients = await asyncio.gather(
                *[websockets.connect(server.url, ssl=server.context, open_timeout=30) for _ in range(200)])
            server.tell()
            await asyncio.gather(*[client.wait_closed() for client in clients])
            return {client.close_code for client in clients}

        with secure(certificate) as server:
            assert asyncio.run(many(server)) == {1001}
            with Stopwatch() as watch:
                assert server.stop()[0] == 0
            assert watch.seconds < 2

    def test_silent_clients_do_not_hold_up_the_end(self, certificate):
        server = SecureServer(certificate, "--drain-seconds", "1")
        held = [server.web_socket() for _ in range(3)] + [server.socket(), server.plain_socket()]
        with Stopwatch() as watch:
            code, last = server.stop()
        assert code == 0 and last == "stopped opened=3 closed=3" and watch.seconds < 4
        assert read_frame(held[0])[1][:2] == struct.pack("!H", 1001)

    def test_a_second_signal_ends_at_once(self, certificate):
        server = SecureServer(certificate, "--drain-seconds", "10")
        held = [server.web_socket() for _ in range(3)] + [server.web_socket(4_096), server.socket()]
        held[3].sendall(frame(1, b"large:2200000"))
        held[4].sendall(b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.2)
        with Stopwatch() as watch:
            server.process.send_signal(signal.SIGINT)
            assert read_frame(held[0])[0] == 8
            code, _ = server.stop()
        assert code == 0 and watch.seconds < 1

    def test_the_last_messages_reach_a_slow_client(self, certificate):
        with secure(certificate, "--unsent-bytes-max", "1000000") as server:
            with contextlib.closing(server.web_socket(4_096)) as stream:
                stream.sendall(frame(1, b"large:220000"))
                stream.sendall(frame(1, b"close"))
                # Longer than the close timeout.
                time.sleep(1.5)
                assert read_frame(stream)[1] == b"x" * 220_000
                assert read_frame(stream)[0] == 8

    def test_no_descriptor_is_left_behind(self, certificate):
        with secure(certificate) as server:
            folder = f"/proc/{server.process.pid}/fd"
            counters(server)
            time.sleep(0.2)
            before = len(os.listdir(folder))
            for _ in range(3):
                with contextlib.ExitStack() as stack:
                    for number in range(20):
                        stream = stack.enter_context(contextlib.closing(
                            server.web_socket() if number % 2 else server.socket()))
                        if number % 4 == 1:
                            stream.sendall(frame(8, struct.pack("!H", 1000)))
                    # A client's own descriptor, and both ends of the relay's pair.
                    assert len(os.listdir(folder)) <= before + 20 + 2 * 10
                eventually(lambda: len(os.listdir(folder)) <= before)

    @pytest.mark.parametrize("said", [b"", b"\x16", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"])
    def test_half_a_handshake_is_dropped_in_time(self, certificate, said):
        with secure(certificate, "--handshake-seconds", "1") as server:
            with Stopwatch() as watch, contextlib.closing(server.plain_socket()) as plain:
                plain.sendall(said)
                assert plain.recv(10) == b""
                assert 0.9 < watch.all_seconds and watch.seconds < 2.5
            assert counters(server)["slowRequest"] == 1

    def test_half_a_request_is_answered_with_408(self, certificate):
        with secure(certificate, "--handshake-seconds", "1") as server:
            with contextlib.closing(server.socket()) as stream:
                stream.sendall(b"GET / HTTP/1.1\r\nHo")
                assert read_answer(stream)[0] == 408
                assert stream.recv(10) == b""
