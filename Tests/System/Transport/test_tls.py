"""TLS on the transport's port, with several clients."""

import asyncio
import contextlib
import socket
import ssl
import struct
import subprocess

import aiohttp
import pytest
import websockets

from certificates import Certificate
from echo_server import WITHIN, closing, counters, eventually, frame, handshake, read_answer, read_frame, read_head
from scenes import large_answers_are_whole
from secure_server import secure
from stalls import Stopwatch


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return Certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def server(certificate):
    with secure(certificate) as server:
        yield server
        eventually(lambda: counters(server)["tls"] == 0)


class TestSecureMessages:
    def test_text_comes_back_whole_or_in_fragments(self, server):
        with server.connect() as ws:
            for message in ["hi", "", "é" * 60, "x" * 16_384, ["a", "bé", "c"], ["x" * 8_192] * 2]:
                ws.send(message)
                assert ws.recv(timeout=WITHIN) == "".join(message)

    @pytest.mark.parametrize("size", [125, 16_384, 65_536, 2_000_000])
    def test_answers_may_be_large(self, server, size):
        with server.connect(max_size=None) as ws:
            ws.send(f"large:{size}")
            assert ws.recv(timeout=WITHIN) == "x" * size

    def test_many_messages_keep_their_order(self, server):
        async def talk():
            async with websockets.connect(server.url, ssl=server.context) as ws:
                async def speak():
                    for number in range(2_000):
                        await ws.send(f"{number} " + "x" * (number % 700))
                speaking = asyncio.create_task(speak())
                for number in range(2_000):
                    assert await asyncio.wait_for(ws.recv(), WITHIN) == f"{number} " + "x" * (number % 700)
                await speaking

        asyncio.run(talk())

    @pytest.mark.parametrize("message, code", [(b"binary", 1003), ("x" * 16_385, 1009), ("close", 1001)])
    def test_the_close_code_says_why(self, server, message, code):
        with server.connect() as ws:
            ws.send(message)
            assert closing(ws)[0] == code

    def test_frames_may_come_along_with_the_handshake(self, server):
        with contextlib.closing(server.socket()) as stream:
            stream.sendall(handshake() + b"".join(frame(1, b"%05d" % n * 200) for n in range(55)))
            assert read_head(stream).startswith(b"HTTP/1.1 101")
            for number in range(55):
                assert read_frame(stream) == (1, b"%05d" % number * 200)

    def test_a_close_that_is_not_answered_ends_after_a_second(self, server):
        with contextlib.closing(server.web_socket()) as stream, Stopwatch() as watch:
            stream.sendall(frame(1, b"close"))
            assert read_frame(stream)[0] == 8
            assert stream.recv(10) == b""
            assert 0.5 < watch.all_seconds and watch.seconds < 3

    def test_clients_may_break_off_anywhere(self, server):
        before = counters(server)["http"]
        for request in [b"", b"GET / HT", handshake()[:60], handshake(), handshake() + frame(1, b"large:1000000")]:
            for _ in range(3):
                stream = server.socket()
                stream.sendall(request)
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                stream.close()
        eventually(lambda: counters(server)["webSockets"] == 0 and counters(server)["tls"] == 0)
        eventually(lambda: counters(server)["http"] <= before)

    def test_the_end_is_told_to_the_client(self, server):
        with contextlib.closing(server.web_socket()) as stream:
            stream.sendall(frame(8, struct.pack("!H", 1000)))
            assert read_frame(stream) == (8, struct.pack("!H", 1000))
            # A `close_notify` has come; without one this would raise.
            stream.suppress_ragged_eofs = False
            assert stream.recv(10) == b""


class TestSecureHTTP:
    def test_a_connection_carries_many_requests(self, server):
        with contextlib.closing(server.socket()) as stream:
            for number in range(50):
                stream.sendall(f"GET /api/{number} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                status, headers, body = read_answer(stream)
                assert status == 200 and f"api|{number}\n" in body.decode()
                assert headers["x-content-type-options"] == "nosniff"
            stream.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert read_answer(stream)[1]["connection"] == "close"
            assert stream.recv(10) == b""

    def test_requests_may_be_sent_ahead(self, server):
        with contextlib.closing(server.socket()) as stream:
            requests = [f"POST /api/{n} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{n:05}" for n in range(1_000)]
            stream.sendall("".join(requests).encode() + handshake())
            for number in range(1_000):
                assert f"\n{number:05}\n" in read_answer(stream)[2].decode()
            assert read_head(stream).startswith(b"HTTP/1.1 101")
            stream.sendall(frame(1, b"now a socket"))
            assert read_frame(stream) == (1, b"now a socket")

    @pytest.mark.parametrize("path, size", [("/big.bin", 3_000_000), ("/api/large", 2_000_000)])
    def test_large_answers_go_out_in_parts(self, server, path, size):
        with contextlib.closing(server.socket(4_096)) as stream:
            large_answers_are_whole(stream, path, size)

    def test_a_request_may_come_byte_by_byte(self, server):
        with contextlib.closing(server.socket()) as stream:
            for byte in b"POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc":
                stream.sendall(bytes([byte]))
            assert b"\nabc\n" in read_answer(stream)[2]

    def test_aiohttp_and_curl_get_along(self, server):
        async def session():
            async with aiohttp.ClientSession(f"https://localhost:{server.port}") as client:
                async def one(number):
                    body = f"{number:05}" * 3_000
                    async with client.post(f"/api/{number}", data=body, ssl=server.context) as answer:
                        return answer.status, body in await answer.text()
                return await asyncio.gather(*[one(number) for number in range(200)])

        assert set(asyncio.run(session())) == {(200, True)}
        url = f"https://localhost:{server.port}/big.bin"
        for extra in [[], ["--http2"], ["--tlsv1.3"], ["--tls-max", "1.2"], ["--http1.0"], ["--no-alpn"]]:
            done = subprocess.run(
                [
                    "curl",
                    "-s",
                    "-o",
                    "/dev/null",
                    "-o",
                    "/dev/null",
                    "-w",
                    "%{http_code} %{size_download} %{http_version}",
                    *extra,
                    "--cacert",
                    server.certificate.path,
                    url,
                    url,
                ],
                capture_output=True,
                text=True,
                timeout=WITHIN,
            )
            assert done.stdout.startswith("200 3000000 1."), (extra, done)


class TestSecureHandshake:
    @pytest.mark.parametrize(
        "version, is_spoken", [("TLSv1", False), ("TLSv1_1", False), ("TLSv1_2", True), ("TLSv1_3", True)]
    )
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_tls_is_spoken_from_1_2_on(self, server, version, is_spoken):
        context = server.certificate.context()
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
        if is_spoken:
            with contextlib.closing(server.socket(context=context)) as stream:
                assert stream.version() == version.replace("_", ".")
                assert "GCM" in stream.cipher()[0] or "CHACHA" in stream.cipher()[0]
        else:
            with pytest.raises(ssl.SSLError, match="PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS"):
                server.socket(context=context)

    @pytest.mark.parametrize("ciphers", ["AES128-SHA", "AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA", "NULL", "aNULL"])
    def test_weak_ciphers_are_refused(self, server, ciphers):
        context = server.certificate.context()
        context.set_ciphers(f"{ciphers}:@SECLEVEL=0")
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with pytest.raises(ssl.SSLError):
            server.socket(context=context)

    @pytest.mark.parametrize(
        "offered, chosen", [(["h2", "http/1.1"], "http/1.1"), (["http/1.1"], "http/1.1"), ([], None)]
    )
    def test_http_1_1_is_chosen(self, server, offered, chosen):
        context = server.certificate.context()
        context.set_alpn_protocols(offered)
        with contextlib.closing(server.socket(context=context)) as stream:
            assert stream.selected_alpn_protocol() == chosen

    def test_other_protocols_are_refused(self, server):
        context = server.certificate.context()
        context.set_alpn_protocols(["h2"])
        with pytest.raises(ssl.SSLError, match="(?i)application.protocol"):
            server.socket(context=context)

    @pytest.mark.parametrize(
        "text", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", handshake(), b"\x00\x01\x02", b"\x80\x2e\x01"]
    )
    def test_a_client_without_tls_gets_an_explanation(self, server, text):
        before = counters(server).get("tlsHandshake", 0)
        with contextlib.closing(server.plain_socket()) as plain:
            plain.sendall(text)
            status, headers, body = read_answer(plain)
            assert status == 400 and b"TLS" in body and headers["connection"] == "close"
            assert headers["x-content-type-options"] == "nosniff"
            assert plain.recv(10) == b""
        assert counters(server)["tlsHandshake"] == before + 1

    @pytest.mark.parametrize(
        "text", [b"\x16", b"\x16\x03\x01\xff\xff" + b"x" * 100, b"\x16\x03\x01\x00\x05hello", b"\x16" * 5_000]
    )
    def test_nonsense_is_dropped(self, server, text):
        with contextlib.closing(server.plain_socket()) as plain:
            plain.sendall(text)
            plain.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                while plain.recv(1_000):
                    pass
        assert counters(server)["accepted"] > 0

    def test_a_session_may_be_resumed(self, server):
        with contextlib.closing(server.socket()) as stream:
            stream.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            read_answer(stream)
            session = stream.session
        plain = server.plain_socket()
        with contextlib.closing(server.context.wrap_socket(
                plain, server_hostname="localhost", session=session)) as stream:
            stream.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert read_answer(stream)[0] == 200 and stream.session_reused

    def test_it_may_come_byte_by_byte(self, server):
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = server.context.wrap_bio(incoming, outgoing, server_hostname="localhost")
        with contextlib.closing(server.plain_socket()) as plain:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            done = False
            while not done:
                try:
                    session.do_handshake()
                    done = True
                except ssl.SSLWantReadError:
                    pass
                for byte in outgoing.read():
                    plain.sendall(bytes([byte]))
                if not done:
                    incoming.write(plain.recv(10_000))
            session.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            for byte in outgoing.read():
                plain.sendall(bytes([byte]))
            while piece := plain.recv(10_000):
                incoming.write(piece)
            assert session.read(1_000).startswith(b"HTTP/1.1 200")

    @pytest.mark.parametrize("algorithm", ["EC", "RSA:2048"])
    def test_a_chain_leads_to_its_root(self, tmp_path, algorithm):
        kind = algorithm.replace("RSA:2048", "rsa:2048")
        authority = Certificate(tmp_path, "authority", algorithm=kind)
        leaf = Certificate(tmp_path, "leaf", authority=authority, algorithm=kind)
        with secure(leaf) as server, contextlib.closing(server.socket()) as stream:
            stream.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert read_answer(stream)[0] == 200
