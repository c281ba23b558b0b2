"""Signals end the process, or don't, whatever the disk, the peers and the log are at."""

import contextlib
import errno
import fcntl
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from faults import FOREVER, Faults
from session import WITHIN, Session
from stalls import Stopwatch
from test_stop import deaf_client, hear_close
from timer_server import READY, REPOSITORY, Server, server_argv

sys.path.insert(0, str(REPOSITORY / "Tests/System/Transport"))

from certificates import Certificate

DISK_SILENT = 74
# The promised time between the end of the drain and that of the process.
ENDED_WITHIN = 5
# The time in which a second signal ends the process, even with a log line that nobody reads.
AT_ONCE = 0.5
UPGRADE = (
    b"GET /ws?timer=* HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhpcyBpcyBhIG5vbmNlIQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
START = b"POST /api/timers/%s/start HTTP/1.1\r\nHost: localhost\r\nContent-Length: 17\r\n\r\n{\"duration\": 600}"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return Certificate(tmp_path_factory.mktemp("certificate"))


class Peers:
    """Different clients: some have sent half a request, and some answer nothing."""

    def __init__(self, server: Server, context: ssl.SSLContext | None = None):
        self.server = server
        self.context = context
        self.stack = contextlib.ExitStack()

    def __enter__(self) -> "Peers":
        return self

    def __exit__(self, *_) -> None:
        self.stack.close()

    def dial(self, first: bytes) -> socket.socket:
        plain = socket.create_connection(("127.0.0.1", self.server.port), timeout=WITHIN)
        peer = self.context.wrap_socket(plain, server_hostname="localhost") if self.context else plain
        self.stack.callback(peer.close)
        peer.sendall(first)
        return peer

    def come(self) -> list[socket.socket]:
        """Two clients that never answer a close frame, and two that never send the rest of their request."""
        deaf = [self.dial(UPGRADE) for _ in range(2)]
        for peer in deaf:
            assert b"101" in peer.recv(4096)
        self.dial(b"")
        self.dial(START[:40])
        return deaf


# A disk that hangs

KINDS = {
    "one loop": (), "two loops": ("--threads", "2"),
    "behind a proxy": ("--trusted-proxy", "127.0.0.1", "--anonymous", "control"), "TLS": None}


def test_a_disk_that_hangs_does_not_keep_the_process(library, tmp_path, certificate):
    """Deaf clients and half requests don't either: the process ends 5 s after the drain, with 74 and no lost answer."""
    def end(kind: str) -> None:
        folder = tmp_path / kind
        folder.mkdir()
        options = KINDS[kind]
        if options is None:
            options = ("--tls-cert", str(certificate.path), "--tls-key", str(certificate.key))
        faults = Faults(library, folder, folder / "data")
        server = faults.server("--drain", "1", *options).start()
        try:
            with Peers(server, certificate.context() if kind == "TLS" else None) as peers:
                deaf = peers.come()
                assert b"200" in peers.dial(START % b"kept").recv(4096)
                faults.hang()
                asked = peers.dial(START % b"tea")
                faults.await_hanging()
                with Stopwatch() as watch:
                    assert server.stop() == DISK_SILENT, server.log
                hear_close(deaf[0])
                # Whether the change was made is unknown, and the error says so.
                assert b"shuttingDown" in asked.recv(4096)
            assert watch.seconds < 1 + ENDED_WITHIN, f"{kind}: {watch.seconds}"
            assert "the disk does not answer" in server.log
            faults.disarm()
            server.start()
            with Peers(server, peers.context) as peers:
                kept = peers.dial(b"GET /api/timers/kept HTTP/1.1\r\nHost: localhost\r\n\r\n").recv(4096)
            assert b'"running"' in kept, kept
        except Exception as fault:
            raise AssertionError(f"{kind}: {fault}") from fault
        finally:
            faults.disarm()
            server.kill()

    with ThreadPoolExecutor() as threads:
        list(threads.map(end, KINDS))


def test_a_disk_that_comes_back_in_time_stores_all(faults):
    """The disk hangs for a moment at the stop: all requests are answered, and the code is 0."""
    server = faults.server().start()
    with Session(server) as session:
        faults.hang()
        number = session.send("start", "tea", duration=600)
        faults.await_hanging()
        server.process.send_signal(signal.SIGTERM)
        server.logged("stopping")
        faults.disarm()
        assert session.reply(number)["ok"]
    assert server.wait_ended() == 0


@pytest.mark.parametrize("function", ["rename", "sync"])
def test_what_the_disk_refuses_last_is_logged(faults, function):
    """The loop has ended before the failure is reported: all answered changes are stored, and the failure is logged."""
    server = faults.server("--drain", "0").start()
    # The shutdown write needs one sync, and no file.
    faults.arm(function, errno.EIO, 1 if function == "rename" else 2, FOREVER)
    assert server.stop() == 0
    assert "a timer's file is behind" in server.log


# A second signal

def await_second(faults: Faults, phase: str, options: tuple[str, ...]) -> tuple[Server, contextlib.ExitStack]:
    """A server that was asked to stop, and waits for the disk or for a client."""
    stack = contextlib.ExitStack()
    server = faults.server("--drain", "60", *options).start()
    stack.callback(server.kill)
    stack.callback(faults.disarm)
    if phase == "drain":
        deaf = deaf_client(server)
        stack.callback(deaf.close)
        server.process.send_signal(signal.SIGTERM)
        hear_close(deaf)
        return server, stack
    # The first call stores the shutdown write, and the second is for the files.
    faults.hang(first=1 if phase == "storing" else 2)
    server.process.send_signal(signal.SIGTERM)
    faults.await_hanging()
    return server, stack


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(("phase", "code"), [("storing", DISK_SILENT), ("drain", 0), ("files", 0)])
def test_a_second_signal_ends_it_at_once_in_each_phase(faults, phase, code, number):
    """The phases are storing, draining and writing files; the code is 74 when a change was not stored."""
    server, stack = await_second(faults, phase, ("--threads", "2") if number == signal.SIGINT else ())
    with stack:
        with Stopwatch() as watch:
            assert server.stop(number) == code
        assert watch.seconds < AT_ONCE


@contextlib.contextmanager
def with_a_stuck_log(tmp_path, *options: str):
    """A server whose log nobody reads, and that has no room for another line."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    process = subprocess.Popen(
        server_argv("serve", "--port", "0", "--data", str(tmp_path / "data"), *options),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=writer, text=True)
    try:
        assert READY.fullmatch(process.stdout.readline())
        # The room that is left may be less than a line.
        for size in (512, 64, 8, 1):
            os.set_blocking(writer, False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(writer, bytes(size))
        os.set_blocking(writer, True)
        yield process
    finally:
        process.kill()
        process.communicate()
        os.close(writer)
        os.close(reader)


def test_an_unread_log_does_not_keep_the_process(tmp_path):
    """The process blocks while it writes its log, and ends all the same; all changes were stored."""
    with with_a_stuck_log(tmp_path, "--drain", "0") as process:
        with Stopwatch() as watch:
            process.send_signal(signal.SIGTERM)
            assert process.wait(WITHIN) == 0
        assert watch.seconds < ENDED_WITHIN


def is_stuck_in_a_pipe(process: subprocess.Popen) -> bool:
    return any("pipe" in thread.read_text() for thread in Path(f"/proc/{process.pid}/task").glob("*/wchan"))


def test_a_second_signal_ends_a_process_that_is_stuck_in_its_log(tmp_path):
    """A thread of the process blocks for ever while it writes a line."""
    with with_a_stuck_log(tmp_path, "--drain", "60") as process:
        process.send_signal(signal.SIGTERM)
        end = time.monotonic() + WITHIN
        while not is_stuck_in_a_pipe(process) and time.monotonic() < end:
            time.sleep(0.01)
        with Stopwatch() as watch:
            process.send_signal(signal.SIGTERM)
            # The disk may not have had the time to store the shutdown write.
            assert process.wait(WITHIN) in (0, DISK_SILENT)
        assert watch.seconds < AT_ONCE


# Before the loop runs

@pytest.fixture
def stuck_at_start(faults):
    """A process that hangs while it reads its folder: it has not begun to listen."""
    faults.data.mkdir()
    faults.hang("open")
    process = subprocess.Popen(
        server_argv("serve", "--port", "0", "--data", str(faults.data)), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **faults.environment},
        # As started from a shell: SIGHUP is not ignored, whatever these tests run under.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    faults.await_hanging()
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_start_that_hangs_can_be_stopped(stuck_at_start, number):
    """The server had no client yet, so nothing has to be stored."""
    with Stopwatch() as watch:
        stuck_at_start.send_signal(number)
        assert stuck_at_start.wait(WITHIN) == 0
    assert watch.seconds < AT_ONCE


def test_a_hang_up_before_the_loop_is_obeyed_by_it(stuck_at_start, faults):
    """SIGHUP does not end the process, and the tokens are read when the loop runs."""
    for _ in range(3):
        stuck_at_start.send_signal(signal.SIGHUP)
    faults.disarm()

    assert READY.fullmatch(stuck_at_start.stdout.readline())
    while "there is no token file" not in (line := stuck_at_start.stderr.readline()):
        assert line, "it ended"
    stuck_at_start.send_signal(signal.SIGTERM)
    assert stuck_at_start.wait(WITHIN) == 0


# Reading anew

def token(server: Server, *arguments: str) -> str:
    done = subprocess.run(
        server_argv("token", *arguments, "--data", str(server.data)), capture_output=True, text=True, check=True,
        timeout=WITHIN)
    return done.stdout.strip()


def count(server: Server, text: str) -> int:
    return server.log.count(text)


def await_count(server: Server, text: str, wanted: int) -> None:
    end = time.monotonic() + WITHIN
    while count(server, text) < wanted:
        assert time.monotonic() < end, f"{text!r} stands {count(server, text)} times in the log\n{server.log}"
        time.sleep(0.01)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_hang_up_reads_the_tokens_anew(tmp_path, threads):
    """SIGHUP reads the tokens without TLS, too: the log says how many there are, or why the old ones stay in force."""
    server = Server(tmp_path / "data", "--log-level", "info", "--threads", threads).start()
    try:
        server.process.send_signal(signal.SIGHUP)
        server.logged("there is no token file at ")
        secret = token(server, "add", "--name", "desk", "--role", "control")
        server.logged("1 tokens are known now")
        told = count(server, "1 tokens are known now")
        server.process.send_signal(signal.SIGHUP)
        await_count(server, "1 tokens are known now", told + 1)

        tokens = server.data / ".timersync/tokens.json"
        good = tokens.read_bytes()
        tokens.write_bytes(b"oops")
        await_count(server, "the previous tokens stay valid", 1)
        told = count(server, "the previous tokens stay valid")
        server.process.send_signal(signal.SIGHUP)
        await_count(server, "the previous tokens stay valid", told + 1)
        with Session(server, f"?token={secret}") as session:
            session.ok("start", "tea", duration=60)

        tokens.write_bytes(good)
        server.process.send_signal(signal.SIGHUP)
        await_count(server, "1 tokens are known now", told + 2)
        assert server.stop() == 0
    finally:
        server.kill()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_hang_up_reads_the_certificate_anew(tmp_path, certificate, threads):
    """The log says which certificate is used, or why the previous one stays in use; the tokens are read as well."""
    other = Certificate(tmp_path, "other")
    used, key = tmp_path / "used.pem", tmp_path / "used.key"
    shutil.copy(certificate.path, used)
    shutil.copy(certificate.key, key)
    server = Server(
        tmp_path / "data", "--log-level", "info", "--tls-cert", str(used), "--tls-key", str(key), "--threads",
        threads).start()

    def served(certificate: Certificate) -> bool:
        with contextlib.suppress(ssl.SSLError), Peers(server, certificate.context()) as peers:
            peers.dial(b"")
            return True
        return False

    try:
        assert served(certificate)
        shutil.copy(other.path, used)
        server.process.send_signal(signal.SIGHUP)
        server.logged("stays in use")
        await_count(server, "there is no token file", 1)
        assert served(certificate)
        shutil.copy(other.key, key)
        server.process.send_signal(signal.SIGHUP)
        server.logged(f"the TLS certificate {used} was reloaded")
        await_count(server, "there is no token file", 2)
        end = time.monotonic() + WITHIN
        while not served(other):
            assert time.monotonic() < end
        assert server.stop() == 0
    finally:
        server.kill()


def test_a_hang_up_does_not_end_a_server_that_stops(faults):
    """The phases are storing, draining, and after the loop."""
    for phase in ("storing", "drain", "files"):
        server, stack = await_second(faults, phase, ())
        with stack:
            for _ in range(3):
                server.process.send_signal(signal.SIGHUP)
            if phase == "files":
                # After the loop no line is logged.
                faults.disarm()
                assert server.wait_ended() == 0
                continue
            await_count(server, "there is no token file", 1)
            assert server.process.poll() is None
            assert server.stop() == (DISK_SILENT if phase == "storing" else 0)
        faults.disarm()
        shutil.rmtree(faults.data)


# Signals that ask for nothing

def test_signals_that_ask_for_nothing_do_not_end_it(tmp_path):
    """SIGUSR1 and SIGUSR2, by which other servers reopen their logs, and the signals of a failed system call."""
    process = subprocess.Popen(
        server_argv("serve", "--port", "0", "--data", str(tmp_path / "data")), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, restore_signals=True)
    try:
        port = int(READY.fullmatch(process.stdout.readline()).group(1))
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE, signal.SIGXFSZ):
            process.send_signal(number)
            with socket.create_connection(("127.0.0.1", port), timeout=WITHIN) as peer:
                peer.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                assert b"200" in peer.recv(4096)
        process.send_signal(signal.SIGTERM)
        assert process.wait(WITHIN) == 0
    finally:
        process.kill()
        process.communicate()
