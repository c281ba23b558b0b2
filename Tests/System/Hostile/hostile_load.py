#!/usr/bin/env python3
"""Measures what honest subscribers get beside hostile clients, and how much memory those cost the server.

    python3 Tests/System/Hostile/hostile_load.py --server .build/release/timersync [--seconds 60] [-- SERVER OPTIONS]

One thousand subscribers get a tick a second. First they are alone. Then 200 connections subscribe to everything and
never read, 200 send requests as fast as they can and reconnect when they are closed, 200 send half a handshake, again
and again, 200 ask for lists and send pings without ever reading, 64 ask for lists and QR codes, 64 for ticks of
everything and of a thousand names at intervals that no other client has, and 16 try tokens. Prints the delay of ticks
against the server's own clock, and the server's memory. Exits with 0 when the 99th percentile is under 50 ms, the
memory under 150 MiB, and no honest connection was lost.

It needs a C compiler, for a client that costs next to nothing. Every connection is a loopback one; each kind comes from
addresses of its own (127.0.16.1 on, 127.0.32.1 on, …). On a machine with two processors the flooding client takes part
of what is measured.
"""

import argparse
import contextlib
import json
import os
import re
import resource
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
DELAY_MAX = 0.050
MEMORY_MAX = 150 * 1024 * 1024
ALONE_SECONDS = 10.0
KEY = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\n" + KEY + "\r\n")


class Server:
    """The server under load, and its use of memory and processor."""

    def __init__(self, program: str, data: str, options: list[str]):
        self.log = open(Path(data) / "log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [program, "serve", "--port", "0", "--data", str(Path(data) / "timers"),
             # The token file doesn't exist; without the option the server would ignore tokens in handshakes.
             "--anonymous", "control", "--tokens", str(Path(data) / "tokens.json"), *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        match = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if not match:
            self.stop()
            sys.exit(f"the server did not start: {line!r} {(Path(data) / 'log').read_text()}")
        self.port = int(match[1])
        self.memory_max = 0

    def status(self, name: str) -> int:
        """A figure of /proc/PID/status in bytes."""
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)[1]) * 1024

    def memory(self) -> int:
        now = self.status("VmRSS")
        self.memory_max = max(self.memory_max, now)
        return now

    def processor_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, message: str) -> dict:
        """Sends one request by HTTP, to set things up."""
        command, timer, body = message.split(" ", 2)
        with socket.create_connection(("127.0.0.1", self.port), 10) as one:
            one.sendall(
                f"POST /api/timers/{timer}/{command} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
            with one.makefile("rb") as answer:
                text = answer.read()
        assert b" 200 " in text.split(b"\r\n")[0], text
        return json.loads(text.partition(b"\r\n\r\n")[2])

    def stop(self) -> int | None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        finally:
            self.log.close()
            self.process.stdout.close()


class Crowd:
    """A process with many connections."""

    def __init__(self, program: Path, kind: str, port: int, count: int, seconds: float, path: str):
        self.process = subprocess.Popen(
            [program, kind, str(port), str(count), str(seconds), path], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit(f"the {kind} could not connect; does the server let in so many? Options go behind --")

    def begin(self) -> None:
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def figures(self, within: float) -> dict:
        output, _ = self.process.communicate(timeout=within)
        return json.loads(output)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def dial(port: int, own: str, small: bool = False) -> socket.socket:
    """A connection from one of the loopback network's addresses."""
    one = socket.socket()
    one.settimeout(10)
    if small:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    one.bind((own, 0))
    one.connect(("127.0.0.1", port))
    return one


class Idlers(threading.Thread):
    """Connections that never read, and others that send half a handshake; those that are closed reconnect."""

    def __init__(self, port: int, never_reading: int, half: int):
        super().__init__(daemon=True)
        self.port = port
        self.wanted = {"never reading": never_reading, "half a handshake": half}
        self.dropped = dict.fromkeys(self.wanted, 0)
        self.refused = dict.fromkeys(self.wanted, 0)
        self.over = threading.Event()
        self.selector = selectors.DefaultSelector()
        for kind, count in self.wanted.items():
            for number in range(count):
                self._open(kind, number)

    def _open(self, kind: str, number: int) -> None:
        try:
            if kind == "never reading":
                one = dial(self.port, f"127.0.48.{1 + number // 50}", small=True)
                one.sendall(HANDSHAKE.format(path="/ws?timer=*&interval=0.1").encode())
                # The socket is registered for errors only and never read, so that its buffer stays full.
                events = selectors.EVENT_WRITE
            else:
                one = dial(self.port, f"127.0.64.{1 + number // 50}")
                one.sendall(HANDSHAKE.format(path="/ws").encode()[:-20])
                events = selectors.EVENT_READ
        except OSError:
            self.refused[kind] += 1
            return
        one.setblocking(False)
        self.selector.register(one, events, (kind, number))

    def run(self) -> None:
        while not self.over.wait(0.25):
            for key, _ in self.selector.select(0):
                kind, number = key.data
                if kind == "never reading":
                    # A writeable socket says nothing, but an error says that the server has closed the connection.
                    if not key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) and not hung_up(key.fileobj):
                        continue
                else:
                    with contextlib.suppress(BlockingIOError, ConnectionResetError):
                        if key.fileobj.recv(4096):
                            continue
                self.dropped[kind] += 1
                self.selector.unregister(key.fileobj)
                key.fileobj.close()
                self._open(kind, number)

    def end(self) -> None:
        self.over.set()
        self.join(10)
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()

    def summary(self) -> str:
        return "; ".join(
            f"{kind}: dropped {self.dropped[kind]} times, refused {self.refused[kind]}" for kind in self.wanted)


def client_frame(opcode: int, payload: bytes) -> bytes:
    """A short frame with a mask of zeros."""
    return bytes([0x80 | opcode, 0x80 | len(payload), 0, 0, 0, 0]) + payload


class DeafAskers(threading.Thread):
    """Connections that ask for lists and send pings, and never read; those that are closed reconnect."""

    SENT = client_frame(1, b'{"command":"list"}') * 4 + client_frame(9, b"?")

    def __init__(self, port: int, count: int):
        super().__init__(daemon=True)
        self.port = port
        self.thrown_out = 0
        self.refused = 0
        self.asked = 0
        self.over = threading.Event()
        self.askers = [self._open(number) for number in range(count)]

    def _open(self, number: int) -> socket.socket | None:
        try:
            one = dial(self.port, f"127.0.80.{1 + number // 50}", small=True)
            one.sendall(HANDSHAKE.format(path="/ws").encode())
        except OSError:
            self.refused += 1
            return None
        one.setblocking(False)
        return one

    def run(self) -> None:
        while not self.over.wait(0.1):
            for number, one in enumerate(self.askers):
                if one is None or not self._ask(one):
                    self.askers[number] = self._open(number)

    def _ask(self, one: socket.socket) -> bool:
        """Sends as much as the socket takes, and returns whether it is still connected."""
        try:
            one.send(self.SENT)
            self.asked += 1
        except BlockingIOError:
            pass
        except OSError:
            self.thrown_out += 1
            one.close()
            return False
        return True

    def end(self) -> None:
        self.over.set()
        self.join(10)
        for one in self.askers:
            if one is not None:
                one.close()

    def summary(self) -> str:
        return f"deaf and asking: {self.asked} times, thrown out {self.thrown_out}, refused {self.refused}"


def masked(message: str) -> bytes:
    """A client's text frame, with a mask of zeros, which changes nothing."""
    payload = message.encode()
    length = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
    return b"\x81" + length + bytes(4) + payload


class Insistent(threading.Thread):
    """Connections that send something at each of their turns, ignore the answers, and reconnect when they are closed.
    Each subclass says what is sent."""

    name_of_kind = ""
    # The addresses of this kind, and the seconds between two turns.
    network, every = "", 0.1

    def __init__(self, port: int, count: int):
        super().__init__(daemon=True)
        self.port = port
        self.sockets: list[socket.socket | None] = [None] * count
        self.sent = self.lost = 0
        self.over = threading.Event()

    def target(self, number: int) -> str | None:
        """The target of the WebSocket; None for plain HTTP."""
        return "/ws"

    def message(self, number: int) -> bytes | None:
        """The bytes to send at a turn; None to send only the handshake, again and again."""
        raise NotImplementedError

    def run(self) -> None:
        while not self.over.wait(self.every):
            for number in range(len(self.sockets)):
                try:
                    self._take_turn(number)
                except OSError:
                    self._lose(number)

    def _take_turn(self, number: int) -> None:
        one = self.sockets[number]
        if one is None:
            one = dial(self.port, f"{self.network}.{1 + number // 50}")
            self.sockets[number] = one
            if target := self.target(number):
                one.sendall(HANDSHAKE.format(path=target).encode())
            one.setblocking(False)
        while True:
            try:
                if not one.recv(1 << 16):
                    raise ConnectionResetError
            except BlockingIOError:
                break
        message = self.message(number)
        if message is None:
            return
        with contextlib.suppress(BlockingIOError):
            # After part of a frame the connection is of no use, and a new one takes its place.
            if one.send(message) < len(message):
                raise ConnectionResetError
            self.sent += 1

    def _lose(self, number: int) -> None:
        self.lost += 1
        if one := self.sockets[number]:
            one.close()
        self.sockets[number] = None

    def end(self) -> None:
        self.over.set()
        self.join(10)
        for one in self.sockets:
            if one:
                one.close()

    def summary(self) -> str:
        return f"{self.name_of_kind}: sent {self.sent} times, thrown out {self.lost} times"


class CostlyRequests(Insistent):
    """Requests for lists of all timers, and for QR codes, each of another text."""

    name_of_kind, network = "costly requests", "127.0.88"

    def target(self, number: int) -> str | None:
        return "/ws" if number % 2 else None

    def message(self, number: int) -> bytes:
        if number % 2:
            return masked('{"command":"list"}') * 4
        body = json.dumps({"text": f"{self.sent:08}" + "x" * 1000})
        return (f"POST /api/qr HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}").encode()


class CostlySubscriptions(Insistent):
    """Subscriptions to everything, and to a thousand names, at ever new intervals that no other client has."""

    name_of_kind, network, every = "costly subscriptions", "127.0.96", 0.5

    def message(self, number: int) -> bytes:
        interval = 0.1 + (self.sent % 9973 + 1) / 100_000
        timers: str | list[str] = "*"
        if number % 2:
            timers = [f"extra-{one}" for one in range(1000)]
        return masked(json.dumps({"command": "subscribe", "timers": timers, "interval": interval}))


class WrongTokens(Insistent):
    """Handshakes with tokens that do not exist."""

    name_of_kind, network, every = "wrong tokens", "127.0.112", 0.01

    def __init__(self, port: int, count: int):
        super().__init__(port, count)
        self.tried: dict[int, bool] = {}

    def target(self, number: int) -> str:
        return f"/ws?token=nobody-{self.lost}"

    def message(self, number: int) -> None:
        """Waits one turn for each answer, then reconnects with another token."""
        self.tried[number] = not self.tried.get(number)
        if not self.tried[number]:
            raise ConnectionResetError
        self.sent += 1


INSISTENT = [CostlyRequests, CostlySubscriptions, WrongTokens]


def hung_up(one: socket.socket) -> bool:
    """Whether the peer has closed, without reading: TCP_INFO's first byte is the state, 1 is established."""
    return one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != 1


def compiled(folder: str) -> Path:
    """The client in C, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        sys.exit("a C compiler is needed")
    program = Path(folder) / "crowd"
    sources = [HERE / "crowd.c", HERE.parent.parent / "Benchmarks" / "samples.c"]
    subprocess.run([compiler, "-O2", "-Wall", "-o", program, *sources], check=True)
    return program


def milliseconds(figures: dict) -> str:
    return ", ".join(f"{name} {figures[name] * 1000:.1f} ms" for name in ("p50", "p90", "p99", "p999", "max"))


def measure(server: Server, ticks: Crowd, seconds: float, others: list[Crowd]) -> dict:
    """Runs the subscribers and the other crowds, and measures the server meanwhile."""
    server.memory_max = 0
    processor = server.processor_seconds()
    for crowd in [*others, ticks]:
        crowd.begin()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        server.memory()
        time.sleep(0.2)
    figures = ticks.figures(seconds + 30)
    figures["memory"] = server.memory_max
    figures["processor"] = (server.processor_seconds() - processor) / seconds
    return figures


def show(title: str, figures: dict, count: int, seconds: float) -> None:
    print(f"{title}: {figures['ticks']} ticks of about {count * seconds:.0f}, {figures['lost']} connections lost")
    print(f"  delay: {milliseconds(figures)}")
    print(f"  server: {figures['memory'] / 2**20:.1f} MiB at most, {figures['processor'] * 100:.0f} % of a processor")


def run(options: argparse.Namespace, folder: str) -> bool:
    program = compiled(folder)
    server = Server(options.server, folder, options.options)
    crowds: list[Crowd] = []
    kinds: list[Idlers | DeafAskers | Insistent] = []
    try:
        server.ask('start main {"type":"stopwatch"}')
        for number in range(options.timers):
            server.ask(f'start extra-{number} {{"duration":86400,"title":"{"x" * 200}"}}')
        path = "/ws?timer=main&interval=1"
        honest = options.honest

        crowds.append(Crowd(program, "ticks", server.port, honest, ALONE_SECONDS, path))
        alone = measure(server, crowds[-1], ALONE_SECONDS, [])
        show("alone", alone, honest, ALONE_SECONDS)

        crowds.append(Crowd(program, "ticks", server.port, honest, options.seconds, path))
        flood = Crowd(program, "flood", server.port, options.flood, options.seconds, "/ws")
        crowds.append(flood)
        kinds.append(Idlers(server.port, options.mute, options.half))
        kinds.append(DeafAskers(server.port, options.deaf))
        counts = [options.costly, options.costly, options.tokens]
        kinds += [kind(server.port, count) for kind, count in zip(INSISTENT, counts)]
        for kind in kinds:
            kind.start()
        among = measure(server, crowds[-2], options.seconds, [flood])
        show("among hostile ones", among, honest, options.seconds)
        sent = flood.figures(30)
        print(f"  flood: {sent['messagesSent']} messages ({sent['bytesSent'] / 2**20:.0f} MiB), "
              f"{sent['bytesRead'] / 2**20:.0f} MiB read, thrown out {sent['thrownOut']} times")
        for kind in kinds:
            print("  " + kind.summary())
    finally:
        for kind in kinds:
            kind.end()
        for crowd in crowds:
            crowd.end()
        code = server.stop()
        log = (Path(folder) / "log").read_text(encoding="utf-8", errors="replace").splitlines()
        print(f"  the server ended with {code}; its log has {len(log)} lines")
    is_well = (
        among["p99"] < DELAY_MAX and among["memory"] < MEMORY_MAX and among["lost"] == 0 and code == 0
        and among["ticks"] >= honest * (options.seconds - 2))
    print("well" if is_well else f"NOT WELL: wanted are p99 under {DELAY_MAX * 1000:.0f} ms, memory under "
          f"{MEMORY_MAX / 2**20:.0f} MiB, no honest connection lost and a tick a second for each")
    return is_well


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the program, built in release")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--honest", type=int, default=1000, help="subscribers")
    parser.add_argument("--mute", type=int, default=200, help="connections that never read")
    parser.add_argument("--flood", type=int, default=200, help="connections that send as fast as they can")
    parser.add_argument("--half", type=int, default=200, help="connections in half a handshake")
    parser.add_argument("--deaf", type=int, default=200, help="connections that ask for lists and never read")
    parser.add_argument("--costly", type=int, default=64, help="connections of each costly kind")
    parser.add_argument("--tokens", type=int, default=16, help="connections that try tokens")
    parser.add_argument("--timers", type=int, default=50, help="timers that run beside the one that is watched")
    parser.add_argument("options", nargs="*", help="options of `timersync serve`, behind --")
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        return 0 if run(options, folder) else 1


if __name__ == "__main__":
    sys.exit(main())
