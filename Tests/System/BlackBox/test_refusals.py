"""Refusals in the log: the first at once, the others in a summary, with the option that would allow them."""

import contextlib
import socket
import subprocess

import pytest

from raw_socket import BINARY, RawSocket, frame, handshake, text
from timer_server import Server, server_argv


@contextlib.contextmanager
def serving(folder, *options: str):
    server = Server(folder / "data", *options).start()
    try:
        yield server
    finally:
        server.kill()


def ask(server, path: str = "/api/timers", *headers: str, method: str = "GET", version: str = "HTTP/1.1") -> tuple:
    """Status, headers and body of one answer, on a connection of its own; no header is added."""
    with RawSocket(server.port) as one:
        one.send("\r\n".join([f"{method} {path} {version}", *headers, "", ""]).encode())
        return one.answer()


def lines(server, words: str) -> list[str]:
    return [line for line in server.log.splitlines() if words in line]


def test_a_host_is_named_with_its_option_once_and_then_counted(tmp_path):
    """Fourteen requests under an unknown name make one line at once, and another one at the end with their count."""
    with serving(tmp_path) as server:
        for port in range(14):
            assert ask(server, "/", f"Host: Timer.Example:{port}")[0] == 403
        advice = 'refused for the Host "timer.example"; if that is this server, start it with --host timer.example'
        assert f"warning a request was {advice}" in server.logged("timer.example")
        assert server.stop() == 0

    told = lines(server, "timer.example")
    assert len(told) == 2 and f"warning 14 requests in the last minute were {advice}" in told[1]


def test_the_option_that_is_named_lets_in(tmp_path):
    """The option that the log names has its effect: for a name, for a site, and for an app's page."""
    options = ["--host", "timer.example", "--origin", "https://show.example", "--origin", "tauri://localhost"]
    with serving(tmp_path, *options) as server:
        assert ask(server, "/", "Host: timer.example.:81")[0] == 200
        for origin in ["https://show.example", "https://show.example:443", "tauri://localhost"]:
            with RawSocket(server.port) as one:
                one.send(handshake(origin=origin))
                assert one.answer()[0] == 101


def test_what_clients_send_breaks_no_line(tmp_path):
    """Many, long and invalid names: each is one line, truncated, and the number of separate subjects is limited."""
    with serving(tmp_path) as server:
        for number in range(30):
            assert ask(server, "/", f'Host: "{number}\\{"x" * 5000}\u202e\u0085')[0] in (400, 403)
            assert ask(server, "/ws", "Host: localhost", f"Origin: https://o{number}.example")[0] in (403, 426)
            with RawSocket(server.port) as one:
                one.send(handshake(origin=f"https://o{number}.example"))
                assert one.answer()[0] == 403
        assert server.stop() == 0

    assert len(lines(server, "for the Host")) == 8
    assert len(lines(server, "for the Origin")) == 8
    assert len(lines(server, "22 requests in the last minute were refused for other")) == 2
    assert max(len(line) for line in server.log.splitlines()) < 300
    assert not any(character in server.log for character in "\u202e\u0085")


@pytest.mark.parametrize("threads", ["1", "3"])
def test_bounds_are_named_with_their_options(tmp_path, threads):
    """The transport's own refusals are logged like the others, whichever loop makes them."""
    options = ["--threads", threads, "--message-bytes", "1024", "--header-bytes", "1024", "--http-requests", "1"]
    with serving(tmp_path, *options) as server:
        for _ in range(3):
            assert ask(server, "/", "Host: localhost", f"X: {'y' * 2000}")[0] == 431
            with RawSocket(server.port) as one:
                one.send(b"POST /api/timers/tea/start HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\n")
                assert one.answer()[0] == 413
            with RawSocket(server.port).open() as one:
                one.send(text("x" * 2000))
                assert one.close_code() == 1009
            with RawSocket(server.port).open() as one:
                one.send(frame(BINARY, b"x"))
                assert one.close_code() == 1003
        with RawSocket(server.port) as one:
            one.send(b"GET /api/timers HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
            assert 429 in [one.answer()[0] for _ in range(50)]
        for option in ["--header-bytes", "--message-bytes", "--http-requests", "a binary message"]:
            server.logged(option)
        assert server.stop() == 0

    for words in ["too long a head", "too long a body", "too long a message", "a binary message"]:
        told = lines(server, words)
        assert len(told) == 2 and " 3 " in told[1], told


def test_readers_that_are_closed_are_named_with_the_option(tmp_path):
    """Twelve clients ask for more than their sockets hold and read nothing: the log names the limit for all readers."""
    options = ["--unread-bytes-total", "1048576", "--requests", "100000", "--http-requests", "1000000"]
    with serving(tmp_path, *options) as server, contextlib.ExitStack() as stack:
        with RawSocket(server.port).open() as stage:
            start = '{"command":"start","timer":"t%d","title":"%s"}'
            stage.send(b"".join(text(start % (number, "x" * 200)) for number in range(500)))
            for _ in range(500):
                assert '"ok":true' in stage.message()
        for _ in range(12):
            deaf = stack.enter_context(RawSocket(server.port))
            deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            deaf.send(b"GET /api/timers HTTP/1.1\r\nHost: localhost\r\n\r\n" * 60)
        server.logged("for the most unread bytes of all readers; --unread-bytes-total COUNT allows more")


def test_visitors_without_a_token_are_told_of(tmp_path):
    """Requests without a token and requests with a wrong one have lines of their own."""
    subprocess.run(
        server_argv("token", "add", "--name", "stage", "--role", "view", "--data", str(tmp_path / "data")),
        capture_output=True, check=True)
    with serving(tmp_path) as server:
        assert ask(server, "/api/timers", "Host: localhost")[0] == 401
        assert ask(server, "/api/timers", "Host: localhost", "Authorization: Bearer timersync_no")[0] == 401

        assert "--anonymous view" in server.logged("for a missing token")
        assert "timersync token list" in server.logged("for an unknown or ended token")
        assert len(lines(server, "was refused")) == 2
        assert "timersync_no" not in server.log


def test_preconnects_of_browsers_are_not_logged(tmp_path):
    """A connection that sends nothing is closed without a log line; one that stops within its head is logged."""
    with serving(tmp_path, "--handshake-seconds", "1") as server:
        with RawSocket(server.port) as idle, RawSocket(server.port) as slow:
            slow.send(b"GET / HTTP/1.1\r\nHo")
            assert slow.answer()[0] == 408
            assert idle.close_code() is None
        server.logged("--handshake-seconds")
        assert server.stop() == 0

    assert len(lines(server, "refused")) == 1


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize(
    "version, headers",
    [
        ("HTTP/1.1", ["Host: localhost"]),
        ("HTTP/1.1", ["Host: backend_1.svc.cluster.local:8080"]),
        ("HTTP/1.1", ["Host: "]),
        ("HTTP/1.0", []),
        ("HTTP/1.0", ["Connection: keep-alive"]),
        ("HTTP/1.0", ["Host: elsewhere.example"]),
        ("HTTP/1.1", ["Host: elsewhere.example", "Connection: close"]),
    ],
)
def test_health_is_told_to_whoever_asks(shared_server, path, version, headers):
    """The health page is served under any name or none, to GET, HEAD and OPTIONS, in both versions of HTTP."""
    for method in ["GET", "HEAD", "OPTIONS"]:
        with RawSocket(shared_server.port) as one:
            one.send("\r\n".join([f"{method} {path} {version}", *headers, "", ""]).encode())
            status, told, body = one.answer(is_to_head=method == "HEAD")
            assert status == 200 and told["cache-control"] == "no-store"
            assert ("allow" in told) == (method == "OPTIONS")
            if method != "HEAD":
                assert body.startswith(b'{"status":"')
            if "elsewhere.example" in str(headers) and method != "HEAD":
                assert body in (b'{"status":"ok"}', b'{"status":"ready"}')


@pytest.mark.parametrize("path", ["*", "/", "/index.html"])
@pytest.mark.parametrize("version, headers", [("HTTP/1.0", []), ("HTTP/1.1", ["Host: x"])])
def test_options_of_the_server_are_told(shared_server, path, version, headers):
    """HAProxy's default health check, without a Host, is answered."""
    status, told, body = ask(shared_server, path, *headers, method="OPTIONS", version=version)

    assert (status, body) == (204, b"")
    assert {"GET", "HEAD", "OPTIONS"} <= set(told["allow"].split(", "))


def test_a_flood_makes_no_health_check_fail(tmp_path):
    """Health checks are answered even after an address has used up its requests."""
    with serving(tmp_path, "--http-requests", "1") as server:
        with RawSocket(server.port) as one:
            one.send(b"GET /api/timers HTTP/1.1\r\nHost: localhost\r\n\r\n" * 40)
            assert 429 in [one.answer()[0] for _ in range(40)]
        assert [ask(server, "/healthz", "Host: x")[0] for _ in range(20)] == [200] * 20
        assert ask(server, "/readyz", version="HTTP/1.0")[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        ["Origin: http://localhost", "Origin: http://localhost"], ["Host: localhost"], ["Origin: http://localhost/"],
        ["Origin: x://localhost"], ["Origin: http://localhost:80 http://localhost:80"], ["Origin:"],
    ])
def test_what_is_no_origin_or_there_twice_is_refused(shared_server, headers):
    """A malformed or repeated Origin is refused, for a WebSocket and for a change: the server does not guess."""
    statuses = []
    for start in [handshake(host="localhost"), b"POST /api/timers/x/start HTTP/1.1\r\nHost: localhost\r\n\r\n"]:
        with RawSocket(shared_server.port) as one:
            one.send(start[:-2] + "".join(f"{header}\r\n" for header in headers).encode() + b"\r\n")
            statuses.append(one.answer()[0])

    assert set(statuses) <= {400, 403}


@pytest.mark.parametrize("host, origin", [
    ("localhost:443", "https://localhost"), ("localhost", "https://localhost"), ("localhost:80", "http://localhost"),
    ("[0:0::1]:8080", "http://[::1]:8080"), ("LOCALHOST.:8080", "http://localhost:8080"),
])
def test_the_own_origin_is_known_in_all_its_spellings(shared_server, host, origin):
    """A proxy before the server may have added the port to the Host."""
    with RawSocket(shared_server.port) as one:
        one.send(handshake(host=host, origin=origin))
        assert one.answer()[0] == 101


@pytest.mark.parametrize(
    "header", ["Sec-Purpose: prefetch;prerender", "Purpose: prefetch", "X-Moz: prefetch", "X-Purpose: preview"]
)
def test_a_browser_that_looks_ahead_presses_nothing(pressed, header):
    """A prefetch is refused with a response that the browser does not store; the press itself is made."""
    server, token = pressed
    path = f"/api/timers/tea/addRemainingTime?seconds=60&clamp=true&token={token}"

    status, told, _ = ask(server, path, "Host: localhost", header)
    before = ask(server, f"/api/timers/tea?token={token}", "Host: localhost")[1]["etag"]
    made = ask(server, path, "Host: localhost")

    assert (status, told["cache-control"]) == (503, "no-store")
    assert made[0] == 200 and made[1]["etag"] != before


@pytest.fixture(scope="module")
def pressed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pressed")
    token = subprocess.run(
        server_argv("token", "add", "--name", "box", "--role", "control", "--data", str(folder / "data")),
        capture_output=True, text=True, check=True).stdout.split()[-1]
    with serving(folder, "--allow-get") as server:
        assert ask(server, f"/api/timers/tea/start?duration=60&token={token}", "Host: localhost")[0] == 200
        yield server, token
