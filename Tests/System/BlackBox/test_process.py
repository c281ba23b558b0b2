"""The process itself: its command line, its first line, and its end."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import urllib.request

import pytest

from stalls import Stopwatch
from timer_client import Client
from timer_server import READY, Server, server_argv


def run(*arguments: str, within: float = 30) -> subprocess.CompletedProcess:
    """Runs the command to its end."""
    return subprocess.run(
        server_argv(*arguments), capture_output=True, text=True, timeout=within, stdin=subprocess.DEVNULL)


def one_line(text: str) -> str:
    """The only line of a text."""
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) == 1, f"one clear line was expected: {text!r}"
    return lines[0]


def test_ready_is_one_line(tmp_path):
    """Once the server is ready it prints one line with its address on stdout, and nothing else."""
    process = subprocess.Popen(
        server_argv("serve", "--listen", "127.0.0.1", "--port", "0", "--data", str(tmp_path / "data")),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        match = READY.fullmatch(line)
        assert match, line
        with socket.create_connection(("127.0.0.1", int(match.group(1))), timeout=30):
            pass
    finally:
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=30)
    assert rest == ""
    assert process.returncode == 0


def test_port_zero_picks_another_port_each(tmp_path):
    """Two servers with port 0 run side by side."""
    servers = [Server(tmp_path / str(number)).start() for number in range(2)]
    try:
        assert servers[0].port != servers[1].port
    finally:
        for server in servers:
            server.kill()


def test_a_taken_port_is_one_clear_line(tmp_path):
    """A port that is taken is named, and the code is not zero."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        done = run("serve", "--listen", "127.0.0.1", "--port", str(port), "--data", str(tmp_path / "data"))

    assert done.returncode != 0
    assert str(port) in one_line(done.stderr)
    assert done.stdout == ""


def test_a_port_taken_by_another_server_is_one_clear_line(tmp_path):
    """A second server on the same port does not share it."""
    first = Server(tmp_path / "first").start()
    try:
        done = run("serve", "--listen", "127.0.0.1", "--port", str(first.port), "--data", str(tmp_path / "second"))
        assert done.returncode != 0
        assert str(first.port) in one_line(done.stderr)
    finally:
        first.kill()


@pytest.mark.parametrize("kind", ["a file", "below a file", "on a kernel's file system"])
def test_an_unusable_data_folder_is_one_clear_line(tmp_path, kind):
    """A folder that cannot be made or written is named, and the code is not zero."""
    file = tmp_path / "file"
    file.write_text("not a folder")
    folder = {"a file": file, "below a file": file / "data", "on a kernel's file system": "/proc/self/fd/none"}[kind]

    done = run("serve", "--listen", "127.0.0.1", "--port", "0", "--data", str(folder))

    assert done.returncode != 0
    assert str(folder) in one_line(done.stderr)
    assert done.stdout == ""


def test_a_missing_web_folder_is_one_clear_line(tmp_path):
    """A web folder that is not there is named, and the code is not zero."""
    done = run(
        "serve", "--listen", "127.0.0.1", "--port", "0", "--data", str(tmp_path / "data"), "--web",
        str(tmp_path / "nowhere"))

    assert done.returncode != 0
    assert str(tmp_path / "nowhere") in one_line(done.stderr)


def test_web_serves_the_folder(tmp_path):
    """`--web` names the folder that is served at `/`."""
    web = tmp_path / "web"
    web.mkdir()
    (web / "index.html").write_text("<!doctype html><title>ours</title>")
    server = Server(tmp_path / "data", "--web", str(web)).start()
    try:
        done = subprocess.run(
            ["curl", "-sS", "-i", "--max-time", "30", f"{server.http}/?timer=tea"], capture_output=True, text=True)
        assert "200" in done.stdout.splitlines()[0] and "<title>ours</title>" in done.stdout
        assert re.search(r"(?im)^content-type: *text/html", done.stdout)
        secret = tmp_path / "secret"
        secret.write_text("not to be served")
        for path in ("/../secret", "/%2e%2e/secret", "/..%2fsecret", "/nothing.html"):
            done = subprocess.run(
                ["curl", "-sS", "-o", "-", "-w", "%{http_code}", "--path-as-is", "--max-time", "30",
                 server.http + path], capture_output=True, text=True)
            assert "not to be served" not in done.stdout
            assert done.stdout[-3:-2] == "4", (path, done.stdout)
    finally:
        server.kill()


def test_help_is_for_a_person():
    """`--help` names the commands, on stdout, with code 0."""
    done = run("--help")

    assert done.returncode == 0 and done.stderr == ""
    assert "serve" in done.stdout and "USAGE" in done.stdout.upper()


def test_help_of_serve_names_each_option():
    """`serve --help` names each option with its default."""
    done = run("serve", "--help")

    assert done.returncode == 0 and done.stderr == ""
    for option in ("--listen", "--port", "--data", "--web", "--log-level"):
        assert option in done.stdout, option
    assert "127.0.0.1" in done.stdout


def test_version_is_one_line():
    """`--version` is one line with a version."""
    done = run("--version")

    assert done.returncode == 0
    assert re.search(r"\d+\.\d+", one_line(done.stdout))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["serve", "--prot", "0"], "--port"),
        (["serve", "--nonsense"], "--nonsense"),
        (["sevre"], "serve"),
        (["serve", "--port"], "--port"),
        (["serve", "--port", "http"], "--port"),
        (["serve", "--port", "65536"], "--port"),
        (["serve", "--port", "-1"], "--port"),
        (["serve", "--log-level", "loud"], "warning"),
        (["--nonsense"], "serve|--help"),
        (["serve", "stray"], "stray"),
        (["serve", "--title-bytes", "257"], "0 to 256"),
        (["serve", "--warnings", "17"], "0 to 16"),
        (["serve", "--replies", "0"], "1 to"),
        (["serve", "--origin", "https://show.example/"], "--origin"),
        (["serve", "--origin", "show.example"], "--origin"),
        (["serve", "--host", "timer.example:8080"], "--host"),
        (["serve", "--host", "http://timer.example"], "--host"),
        (["serve", "--drain", "3601"], "0 to 3600"),
        (["serve", "--drain", "-1"], "0 to 3600"),
        (["serve", "--pending", "no"], "--pending"),
        (["serve", "--http-requests", "0"], "1 to"),
    ],
)
def test_unknown_options_end_with_64(arguments, word):
    """A command line that is wrong ends with 64, and a line that says what would be right."""
    done = run(*arguments)

    assert done.returncode == 64
    assert done.stdout == ""
    assert re.search(word, done.stderr), done.stderr


@pytest.mark.parametrize("level", ["error", "warning", "info", "debug"])
def test_log_levels_are_taken(tmp_path, level):
    """Each level is taken; the log is on stderr."""
    server = Server(tmp_path / "data", "--log-level", level).start()

    assert server.stop() == 0


@pytest.mark.parametrize("with_signal", [signal.SIGTERM, signal.SIGINT])
async def test_a_stop_says_goodbye_to_every_client(server, with_signal):
    """Each of 50 clients gets 1001, and the process ends with 0, soon."""
    clients = []
    for number in range(50):
        client = await Client.open(server, timers=["tea"] if number % 2 else None)
        clients.append(client)
    await clients[0].ok("start", "tea", duration=60)

    with Stopwatch() as watch:
        server.process.send_signal(with_signal)

        codes = await asyncio.gather(*(client.wait_closed() for client in clients))
        code = await asyncio.to_thread(server.wait_ended)
    assert codes == [1001] * 50
    assert code == 0
    assert watch.seconds < 5


async def test_a_stop_answers_what_came_before(server, connect):
    """Requests that were sent before the stop are answered or refused as `shuttingDown`; what was answered stays."""
    client = await connect(server)
    await client.ok("start", "tea", duration=60)
    for number in range(200):
        await client.send({"id": f"n{number}", "command": "update", "timer": "tea", "title": str(number)})
    await client.reply("n0")

    server.process.send_signal(signal.SIGTERM)

    close_code = await client.wait_closed()
    assert await asyncio.to_thread(server.wait_ended) == 0
    assert close_code == 1001
    done = -1
    for arrival in client.arrivals:
        if isinstance(arrival.get("reply"), str):
            if arrival["ok"]:
                done = int(arrival["timer"]["title"])
            else:
                assert arrival["error"]["code"] == "shuttingDown" and arrival["error"]["retryable"] is True
    server.start()
    client = await connect(server)
    assert int((await client.state("get", "tea"))["title"]) >= done >= 0


async def test_a_client_that_does_not_answer_delays_the_stop_but_little(server):
    """A client that does not answer the close frame does not keep the process from ending."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as deaf:
        deaf.sendall(
            b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
        assert b"101" in deaf.recv(64)

        with Stopwatch() as watch:
            code = await asyncio.to_thread(server.stop)

        assert code == 0
        assert watch.seconds < 8


@contextlib.contextmanager
def speaking_into(tmp_path, stderr, **options):
    """A server of which only the first line is read; it has to end when it is asked to."""
    process = subprocess.Popen(
        server_argv("serve", "--listen", "127.0.0.1", "--port", "0", "--data", str(tmp_path / "data")),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, text=True, **options)
    try:
        match = READY.fullmatch(process.stdout.readline())
        assert match, "it did not start"
        yield f"http://127.0.0.1:{match.group(1)}"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.communicate()


def start_tea(http):
    request = urllib.request.Request(f"{http}/api/timers/tea/start", data=b"", method="POST")
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200


def test_a_log_without_room_is_no_reason_to_end(tmp_path):
    """When the log's disk is full, the timers go on."""
    with open("/dev/full", "w") as full, speaking_into(tmp_path, full) as http:
        start_tea(http)


def test_an_unread_log_does_not_end_the_process(tmp_path):
    """The program at the other end of the pipe is gone."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe, speaking_into(tmp_path, pipe) as http:
        start_tea(http)


def test_a_log_without_a_place_goes_into_no_other_file(tmp_path):
    """Started without standard error, a server opens its own files under other numbers."""
    with speaking_into(tmp_path, None, preexec_fn=lambda: os.closerange(2, 3)) as http:
        start_tea(http)

    for path in (tmp_path / "data").rglob("*"):
        assert not path.is_file() or b"stopping" not in path.read_bytes(), path


def test_a_first_line_without_room_is_no_reason_to_end(tmp_path):
    """When stdout has no room for the first line, the server starts, and its log says so."""
    with open("/dev/full", "w") as full:
        process = subprocess.Popen(
            server_argv("serve", "--listen", "127.0.0.1", "--port", "0", "--data", str(tmp_path / "data")),
            stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True)
    try:
        assert "timers loaded" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=30)
        assert (process.returncode, "stopping" in rest) == (0, True)
    finally:
        process.kill()
        process.communicate()
