"""The server behind proxies that are configured as the article on access says."""

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time

import pytest
import websockets
import websockets.sync.client

from timer_server import REPOSITORY, Server, server_argv

WITHIN = 30.0
NAME = "timer.example"
ARTICLE = (REPOSITORY / "Sources/timersync/timersync.docc/Access.md").read_text()
SECTION = ARTICLE.partition("\n### Behind a proxy\n")[2].partition("\n## ")[0]


def block(language: str) -> str:
    """The article's configuration of this program."""
    found = re.findall(rf"\n```{language}\n(.*?)```\n", SECTION, re.DOTALL)
    assert len(found) == 1, f"the article should have one block of {language}"
    return found[0]


def put(lines: str, **places: str) -> str:
    """The article's configuration, with the values that differ here."""
    for name, (before, after) in places.items():
        assert before in lines, f"the article's {name} is {before!r} no more"
        lines = lines.replace(before, after)
    return lines


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def certificate(folder) -> tuple:
    """A file with a certificate and its key, and a client's context that trusts the certificate."""
    path, key = folder / f"{NAME}.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
         "-out", path, "-days", "2", "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"],
        check=True, capture_output=True, timeout=WITHIN)
    context = ssl.create_default_context(cafile=str(path))
    # HAProxy needs both in one file, and the others accept one file for both.
    path.write_text(path.read_text() + key.read_text())
    return path, context


class Proxy:
    """A proxy in front of a server, which ends TLS."""

    def __init__(self, kind: str, folder, server_port: int):
        self.port = free_port()
        self.folder = folder
        self.pem, self.context = certificate(folder)
        self.upstream = ("127.0.0.1:8080", f"127.0.0.1:{server_port}")
        program = shutil.which(kind, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        if program is None:
            pytest.fail(f"{kind} is not installed; deploy/install.sh test does so")
        self.output = open(folder / "output", "w+")
        self.process = subprocess.Popen(
            [program, *getattr(self, kind)()], stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output,
            env={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)})
        self._await()

    def nginx(self) -> list[str]:
        lines = put(
            block("nginx"),
            upstream=self.upstream,
            port=("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
            certificate=("/etc/ssl/timer.example.pem", str(self.pem)),
            key=("/etc/ssl/timer.example.key", str(self.pem)),
        )
        folders = "".join(
            f"{kind}_temp_path {self.folder}/{kind};\n" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        )
        config = self.folder / "nginx.conf"
        config.write_text(
            f"daemon off; master_process off; pid {self.folder}/pid; error_log stderr;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{folders}{lines}}}\n")
        return ["-p", str(self.folder), "-e", "stderr", "-c", str(config)]

    def caddy(self) -> list[str]:
        lines = put(
            block("caddyfile"), upstream=self.upstream,
            site=(f"{NAME} {{", f"https://{NAME}:{self.port} {{\nbind 127.0.0.1\ntls {self.pem} {self.pem}"))
        config = self.folder / "Caddyfile"
        config.write_text(f"{{\nadmin off\nauto_https disable_redirects\n}}\n{lines}")
        return ["run", "--adapter", "caddyfile", "--config", str(config)]

    def haproxy(self) -> list[str]:
        lines = put(
            block("haproxy"), upstream=self.upstream, port=("bind :443", f"bind 127.0.0.1:{self.port}"),
            certificate=("/etc/ssl/timer.example.pem", str(self.pem)))
        config = self.folder / "haproxy.cfg"
        config.write_text(lines)
        return ["-db", "-f", str(config)]

    def _await(self) -> None:
        end = time.monotonic() + WITHIN
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), WITHIN):
                return
            assert self.process.poll() is None and time.monotonic() < end, self.log
            time.sleep(0.02)

    @property
    def log(self) -> str:
        return (self.folder / "output").read_text()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(WITHIN)
        self.output.close()

    @property
    def origin(self) -> str:
        return f"https://{NAME}:{self.port}"

    def socket(self, source: str = "127.0.0.1") -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), WITHIN, source_address=(source, 0))

    def ask(self, method: str, path: str, body: dict | None = None, **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(NAME, self.port, timeout=WITHIN)
        with contextlib.closing(connection):
            connection.sock = self.context.wrap_socket(self.socket(), server_hostname=NAME)
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, json.dumps(body) if body is not None else None, names)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def web_socket(self, query: str = "", source: str = "127.0.0.1", **options):
        return websockets.sync.client.connect(
            f"wss://{NAME}:{self.port}/ws{query}", sock=self.socket(source), ssl=self.context, open_timeout=WITHIN,
            compression=None, **options)


@pytest.fixture(scope="module", params=["nginx", "caddy", "haproxy"])
def proxied(request, tmp_path_factory):
    """A proxy, the server behind it, as the article starts both, and a token that controls."""
    folder = tmp_path_factory.mktemp("proxied")
    data = folder / "data"
    token = subprocess.run(
        server_argv("token", "add", "--name", "stage", "--role", "control", "--data", str(data)),
        capture_output=True, text=True, check=True).stdout.split()[-1]
    command = block("sh").split()
    assert command[:2] == ["timersync", "serve"]
    server = Server(data, *command[2:], "--log-level", "debug").start()
    proxy = None
    try:
        proxy = Proxy(request.param, folder, server.port)
        yield proxy, server, token
    finally:
        if proxy is not None:
            proxy.stop()
        server.kill()


def test_the_page_and_its_changes_come_through(proxied):
    """The server's own page is shown, reads and changes; another site's page changes nothing."""
    proxy, _, token = proxied
    bearer = {"Authorization": f"Bearer {token}"}

    assert proxy.ask("GET", "/")[0] == 200
    assert proxy.ask("GET", "/readyz")[0] == 200
    start = {"duration": 60, "force": True}
    assert proxy.ask("POST", "/api/timers/tea/start", start, Origin=proxy.origin, **bearer)[0] == 200
    for origin in ["https://evil.example", f"https://{NAME}:1", "null"]:
        assert proxy.ask("POST", "/api/timers/tea/pause", {}, Origin=origin, **bearer)[0] == 403
    status, body = proxy.ask("GET", "/api/timers/tea")
    assert (status, json.loads(body)["timer"]["status"]) == (200, "running")


def test_its_socket_comes_through(proxied):
    """The server's own page opens a WebSocket and receives changes; another site's page can't."""
    proxy, _, token = proxied

    with proxy.web_socket(f"?token={token}", origin=proxy.origin) as ws:
        assert json.loads(ws.recv(WITHIN))["role"] == "control"
        ws.send('{"id":1,"command":"start","timer":"stage","duration":60,"force":true}')
        assert json.loads(ws.recv(WITHIN))["ok"]
    with proxy.web_socket("?timer=stage", origin=proxy.origin) as ws:
        assert json.loads(ws.recv(WITHIN))["role"] == "view"
        assert json.loads(ws.recv(WITHIN))["cause"] == "subscribed"
    with pytest.raises(websockets.InvalidStatus) as refused, proxy.web_socket(origin="https://evil.example"):
        pass
    assert refused.value.response.status_code == 403


def test_the_server_learns_the_address_of_the_client(proxied):
    """The proxy passes on the client's real address, and not the one that the client claims."""
    proxy, server, token = proxied

    made_up = {"X-Forwarded-For": "198.51.100.7", "Forwarded": "for=198.51.100.7"}
    with proxy.web_socket(f"?token={token}", "127.0.0.9", additional_headers=made_up) as ws:
        ws.recv(WITHIN)

    assert server.logged("from 127.0.0.9 has token stage")
    assert "198.51.100.7" not in server.log


@pytest.mark.parametrize("host, is_held", [
    (NAME, True), (f"{NAME}:8443", True), ("localhost", False), ("127.0.0.1:8443", False), ("[::1]", False),
    ("elsewhere.example", False),
])
def test_without_a_proxy_browsers_are_held_to_tls(secure, host, is_held):
    """A server with TLS sends HSTS under its own names, with every status."""
    server, context = secure
    for path, status in [("/", 200), ("/nothing", 404), ("/api/timers", 200), ("/ws", 426), ("/healthz", 200)]:
        with context.wrap_socket(
                socket.create_connection(("127.0.0.1", server.port), WITHIN), server_hostname=NAME) as stream:
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            answer = http.client.HTTPResponse(stream)
            answer.begin()
            told = answer.headers.get_all("Strict-Transport-Security")
            assert told == (["max-age=31536000"] if is_held else None)
            assert answer.status in (status, 403) and (answer.status == status or host == "elsewhere.example")


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secure")
    path, context = certificate(folder)
    files = ["--tls-cert", str(path), "--tls-key", str(path)]
    server = Server(folder / "data", "--host", NAME, "--anonymous", "view", *files).start()
    yield server, context
    server.kill()


def test_without_tls_there_is_no_hsts(proxied):
    """A server without TLS sends no HSTS, because only its proxy can promise TLS."""
    _, server, _ = proxied
    for host in [NAME, "localhost"]:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WITHIN)
        with contextlib.closing(connection):
            connection.request("GET", "/", headers={"Host": host})
            assert connection.getresponse().headers["Strict-Transport-Security"] is None
