"""The log and the first line: a slow reader of them delays no thread and no client, and clients can't fill a disk with
log lines."""

import contextlib
import fcntl
import os
import re
import select
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest

from session import WITHIN, Session
from test_startup import put, record
from timer_server import READY, Server, server_argv

PIPE_BYTES = 4096


@contextlib.contextmanager
def full_pipe(blocking: bool = True):
    """A full pipe: a write to it waits, or fails if the pipe is non-blocking."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"." * 512)
    os.set_blocking(writer, blocking)
    try:
        yield SimpleNamespace(reader=reader, writer=writer)
    finally:
        for end in (reader, writer):
            with contextlib.suppress(OSError):
                os.close(end)


def rest_of(pipe) -> str:
    """The rest of the output, read until all other writers have closed the pipe."""
    os.close(pipe.writer)
    os.set_blocking(pipe.reader, True)
    found = b""
    while part := os.read(pipe.reader, 65_536):
        found += part
    return found.decode().lstrip(".")


def serve(data: Path, *options: str, stdout=subprocess.PIPE, stderr=subprocess.PIPE) -> subprocess.Popen:
    return subprocess.Popen(
        server_argv("serve", "--listen", "127.0.0.1", "--port", "0", "--data", str(data), *options),
        stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, text=True)


def first_line(process: subprocess.Popen) -> SimpleNamespace:
    """The URLs of a server, once its first line says where it listens."""
    ready, _, _ = select.select([process.stdout], [], [], 20)
    assert ready, "it has not started after 20 s"
    port = int(READY.fullmatch(process.stdout.readline()).group(1))
    return SimpleNamespace(url=f"ws://127.0.0.1:{port}/ws", http=f"http://127.0.0.1:{port}")


def last_words(process: subprocess.Popen, pipe) -> str:
    """The output of a server from SIGTERM until its end."""
    process.send_signal(signal.SIGTERM)
    said = rest_of(pipe)
    assert process.wait(WITHIN) == 0
    return said


def present(http: str, token: str) -> None:
    """Sends a request with an unknown token."""
    request = urllib.request.Request(f"{http}/api/timers", headers={"Authorization": f"Bearer {token}"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=WITHIN)
    assert refused.value.code == 401


def add_token(data: Path) -> str:
    return subprocess.run(
        server_argv("token", "add", "--name", "desk", "--role", "control", "--data", str(data)),
        capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("blocking", [True, pytest.param(False, marks=pytest.mark.long)])
def test_an_unread_log_delays_nothing(tmp_path, blocking):
    """The server starts, answers, ticks and stops; a later reader finds every line, in order and with its own time."""
    data = tmp_path / "data"
    token = add_token(data)
    with full_pipe(blocking) as pipe:
        process = serve(data, "--log-level", "debug", stderr=pipe.writer)
        try:
            server = first_line(process)
            with Session(server, f"?token={token}&timer=tea") as session:
                session.ok("start", "tea", duration=600)
                for _ in range(50):
                    present(server.http, "timersync_wrong")
                session.hear(lambda push: push.get("cause") == "tick", within=5)
            said = last_words(process, pipe)
        finally:
            process.kill()
            process.communicate()
    lines = said.splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (error|warning|info|debug) ", line) for line in lines), lines
    assert [line[:20] for line in lines] == sorted(line[:20] for line in lines)
    order = ["1 tokens are known", "timers loaded", "an unknown or ended token", "stopping"]
    places = [next(place for place, line in enumerate(lines) if text in line) for text in order]
    assert places == sorted(places), lines


def test_a_stuck_log_does_not_keep_the_process(tmp_path):
    """Nobody reads the log at a stop, or at a stop with a second signal: the process ends, with its exit code."""
    for signals in (1, 2):
        with full_pipe() as pipe:
            process = serve(tmp_path / "data", stderr=pipe.writer)
            try:
                first_line(process)
                start = time.monotonic()
                for _ in range(signals):
                    process.send_signal(signal.SIGTERM)
                assert process.wait(10) == 0
                assert time.monotonic() - start < 5
            finally:
                process.kill()
                process.communicate()


@pytest.mark.parametrize(("arguments", "code"), [
    (["serve", "--port", "0", "--data", "/proc/none/data"], 69),
    pytest.param(["serve", "--port", "no"], 64, marks=pytest.mark.long),
    pytest.param(["token", "remove", "nobody", "--data", "/nowhere"], 65, marks=pytest.mark.long),
])
def test_a_failure_has_its_exit_code_though_its_reason_is_not_read(arguments, code):
    with full_pipe() as pipe:
        process = subprocess.Popen(
            server_argv(*arguments), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=pipe.writer)
        try:
            assert process.wait(10) == code
        finally:
            process.kill()
            process.wait()


def test_an_unread_first_line_delays_no_start(tmp_path):
    """Standard output is full: the server serves, and says where as soon as there is room."""
    with full_pipe() as pipe:
        process = serve(tmp_path / "data", stdout=pipe.writer)
        try:
            assert "timers loaded" in process.stderr.readline()
            process.send_signal(signal.SIGHUP)
            # The server has handled SIGHUP, so the loop runs.
            assert "no token file" in process.stderr.readline()
            said = last_words(process, pipe)
            assert said == "" or READY.fullmatch(said)
        finally:
            process.kill()
            process.communicate()


# Repeats

@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "data", "--log-level", "info")
    yield server
    server.kill()


def told(server: Server, text: str) -> list[str]:
    return [line for line in server.log.splitlines() if text in line]


def test_wrong_tokens_are_one_line_with_a_count(server):
    """A client that tries a hundred tokens fills no disk, and the count is logged when the process ends."""
    add_token(server.data)
    server.start()
    for number in range(100):
        present(server.http, f"timersync_wrong{number}")
    server.logged("an unknown or ended token")
    assert len(told(server, "an unknown or ended token")) == 1

    assert server.stop() == 0

    first, last = told(server, "an unknown or ended token")
    assert "a request was refused" in first
    assert "100 requests in the last minute were refused" in last


def test_connections_that_lose_their_token_are_one_line(server):
    """Lines that differ only in the connection's number count as the same line."""
    token = add_token(server.data)
    server.start()
    sessions = [Session(server, f"?token={token}") for _ in range(20)]
    (server.data / ".timersync/tokens.json").write_text('{"version":1,"tokens":[]}')
    server.logged("was removed, changed or ended")

    assert server.stop() == 0

    lines = told(server, "was removed, changed or ended")
    assert len(lines) == 2 and "(19 more like it in the last minute)" in lines[1], lines
    for session in sessions:
        session.close()


def test_what_an_operator_asks_for_is_always_answered(server):
    """Each SIGHUP is answered, even if nothing has changed."""
    add_token(server.data)
    server.start()
    for count in (1, 2, 3):
        before = server.log.count("1 tokens are known")
        server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + WITHIN
        while server.log.count("1 tokens are known") <= before:
            assert time.monotonic() < end, f"the {count}. SIGHUP is not answered\n{server.log}"
            time.sleep(0.01)


def test_edits_are_told_each_time(server):
    """Good and bad edits are logged each time, so that the last line is right."""
    put(server.data, "tea.json", record("tea"))
    server.start()
    good, bad = "was edited and reloaded", "was edited and can't be loaded"
    for number in (1, 2):
        put(server.data, "tea.json", record("tea", title=f"good {number}"))
        until_told(server, good, number)
        put(server.data, "tea.json", b"{")
        until_told(server, bad, number)


def test_tokens_that_come_and_go_are_told_each_time(server):
    server.start()
    for number in (1, 2):
        add_token(server.data)
        until_told(server, "1 tokens are known now", number)
        subprocess.run(server_argv("token", "remove", "desk", "--data", str(server.data)), check=True)
        until_told(server, "0 tokens are known now", number)


def until_told(server: Server, text: str, count: int) -> None:
    end = time.monotonic() + WITHIN
    while len(told(server, text)) < count:
        assert time.monotonic() < end, f"{text} is not told {count} times\n{server.log}"
        time.sleep(0.01)


# Standard output of other commands

def closed_pipe() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize("output", [lambda: os.open("/dev/full", os.O_WRONLY), closed_pipe], ids=["full", "closed"])
def test_a_token_that_can_not_be_shown_is_not_kept(tmp_path, output):
    data = str(tmp_path / "data")
    writer = output()
    try:
        done = subprocess.run(
            server_argv("token", "add", "--name", "desk", "--role", "view", "--data", data),
            stdout=writer, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 74, done
        assert "standard output" in done.stderr and "no token was made" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        listed = subprocess.run(server_argv("token", "list", "--data", data), capture_output=True, text=True)
        assert listed.returncode == 0 and "desk" not in listed.stdout
        assert subprocess.run(server_argv("token", "list", "--data", data), stdout=writer).returncode == 74
        assert subprocess.run(server_argv("--version"), stdout=writer).returncode == 74
    finally:
        os.close(writer)


def test_a_token_without_standard_output_is_not_kept(tmp_path):
    """Without standard output the token could be printed into another file, so none is made."""
    arguments = server_argv("token", "add", "--name", "desk", "--role", "view", "--data", str(tmp_path / "data"))
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *arguments], stderr=subprocess.PIPE, text=True)

    assert done.returncode == 74 and "no token was made" in done.stderr
    add_token(tmp_path / "data")


@pytest.mark.long
def test_what_finds_no_room_is_counted(tmp_path):
    """A start logs more than the buffer holds while nobody reads: dropped lines are counted where they are missing."""
    data = tmp_path / "data"
    count = 650
    for number in range(count):
        put(data, f"{number}{'x' * 180}.json", b'{"version": 1, "timer": "')
    with full_pipe() as pipe:
        process = serve(data, stderr=pipe.writer)
        try:
            first_line(process)
            said = last_words(process, pipe)
        finally:
            process.kill()
            process.communicate()
    lines = said.splitlines()
    dropped = sum(int(found) for found in re.findall(r" (\d+) lines? (?:was|were) dropped", said))
    loaded = sum("was not loaded" in line for line in lines)
    assert dropped > 20 and loaded > 100
    # Further lines are about the quarantine, the loaded timers, and the stop.
    assert count <= loaded + dropped <= count + 4
