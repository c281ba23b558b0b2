#!/usr/bin/env python3
"""Measures what other clients get while one client's countdowns reach zero all the time, and what the server needs.

    python3 Tests/System/Hostile/storm.py --server .build/release/timersync [--seconds 60] [--timers 5000]

One client starts 5000 countdowns of 0.1 s that repeat, over the WebSocket and within its budgets. Meanwhile a second
client compares its clock, and a third receives ten ticks a second of another timer. The time that the machine took
from them is left out (`BlackBox/stalls.py`). Then the server is asked to stop, is started again, and has to serve as
well as before. Exits with 0 when memory, round trips, ticks, the stop and the new start are within their bounds.
"""

import argparse
import asyncio
import json
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "BlackBox"))

import timer_server
from stalls import Stalls, Stopwatch

MEMORY_MAX = 100 * 1024 * 1024
DELAY_MAX = 0.050
# The default drain, and the most that a stop may take after it.
STOP_MAX = 2 + 5
START_MAX = 10.0
# The time in which all countdowns have to be started, however busy the server is.
STARTED_WITHIN = 60.0
# The number of requests that a connection may always send.
IN_A_ROW = 32
CALM_SECONDS = 5.0
TICK = 0.1
# The pause between an answer to a clock comparison and the next request.
PAUSE = 0.02


@dataclass
class Samples:
    """The messages of the other clients: when each message was due and when it came, on the local monotonic clock."""

    trips: list[tuple[float, float]] = field(default_factory=list)
    ticks: list[tuple[float, float]] = field(default_factory=list)
    memory: int = 0

    @staticmethod
    def p99(samples: list[tuple[float, float]], stalls: Stalls | None = None) -> float:
        """The 99th percentile of the delays in seconds, without the time that the machine took if `stalls` is given."""
        late = sorted(
            max(0.0, came - due - (max(0.0, stalls.between(due, came)) if stalls else 0)) for due, came in samples)
        return late[int(len(late) * 0.99)] if late else float("inf")


async def dial(server: timer_server.Server, query: str = ""):
    socket = await connect(
        server.url + query, compression=None, proxy=None, ping_interval=None, max_size=None, max_queue=None,
        open_timeout=30, close_timeout=0.1)
    return socket, json.loads(await asyncio.wait_for(socket.recv(), 30))


async def start_all(server: timer_server.Server, count: int) -> list[str]:
    """Starts the countdowns. Returns the codes of refused starts, `unanswered` for those without a reply in time."""
    socket, _ = await dial(server)
    answered, refused = 0, []
    room = asyncio.Semaphore(IN_A_ROW)

    async def send() -> None:
        for number in range(count):
            await room.acquire()
            await socket.send(json.dumps({
                "id": number, "command": "start", "timer": f"storm {number}", "duration": 0.1, "atZero": "repeat",
                "force": True}))

    sender = asyncio.create_task(send())
    try:
        async with asyncio.timeout(STARTED_WITHIN):
            while answered < count:
                reply = json.loads(await socket.recv())
                answered += 1
                room.release()
                if not reply["ok"]:
                    refused.append(reply["error"]["code"])
    except (TimeoutError, ConnectionClosed) as end:
        refused += [f"unanswered ({type(end).__name__})"] * (count - answered)
    sender.cancel()
    await asyncio.gather(sender, return_exceptions=True)
    await socket.close()
    return refused


class Observers:
    """Clients that have nothing to do with the storm; they reconnect when their connection ends."""

    def __init__(self, server: timer_server.Server, samples: Samples):
        self.server = server
        self.samples = samples
        # The server's clock minus the local one.
        self.offset = 0.0
        self.known_to = float("inf")
        self.tasks: list[asyncio.Task] = []

    async def __aenter__(self) -> "Observers":
        # Known well before the storm, or of the best round trips in it.
        self.tasks = [asyncio.create_task(one()) for one in (self.compare, self.hear, self.weigh)]
        return self

    async def __aexit__(self, *_) -> None:
        for task in self.tasks:
            task.cancel()
        results = await asyncio.gather(*self.tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, ConnectionClosed):
                raise result

    async def compare(self) -> None:
        socket, _ = await dial(self.server)
        while True:
            sent = time.monotonic()
            await socket.send(json.dumps({"command": "sync", "clientTime": sent}))
            reply = json.loads(await socket.recv())
            came = time.monotonic()
            self.samples.trips.append((sent, came))
            if came - sent < self.known_to:
                self.known_to = came - sent
                self.offset = (reply["receivedAt"] - sent + reply["sentAt"] - came) / 2
            await asyncio.sleep(PAUSE)

    async def hear(self) -> None:
        socket, _ = await dial(self.server, f"?timer=watched&interval={TICK}")
        async for text in socket:
            came = time.monotonic()
            message = json.loads(text)
            if message.get("cause") == "tick" and self.known_to < 1:
                due = message["timers"][0]["lastElapsedTimeCalculatedAt"] - self.offset
                self.samples.ticks.append((min(due, came), came))

    async def weigh(self) -> None:
        while True:
            self.samples.memory = max(self.samples.memory, memory(self.server))
            await asyncio.sleep(0.2)


def memory(server: timer_server.Server) -> int:
    """The process's pages in memory, in bytes."""
    text = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS:")) * 1024


async def observe(server: timer_server.Server, seconds: float, storm: int = 0) -> tuple[Samples, list[str]]:
    samples, refused = Samples(), []
    async with Observers(server, samples):
        if storm:
            refused = await start_all(server, storm)
            # The cost of starting the countdowns is not measured.
            samples.trips.clear()
            samples.ticks.clear()
        await asyncio.sleep(seconds)
    return samples, refused


class Storm:
    def __init__(self, seconds: float, timers: int, folder: Path):
        self.seconds = seconds
        self.timers = timers
        self.server = timer_server.Server(folder / "data", "--log-level", "warning")
        self.faults: list[str] = []

    def run(self) -> list[str]:
        """Runs the storm, and returns the figures that were not within their bounds."""
        with Stalls() as stalls:
            try:
                self.server.start()
                asyncio.run(self.start_watched())
                samples, refused = asyncio.run(observe(self.server, self.seconds, self.timers))
                self.judge("in the storm", samples, self.seconds, stalls)
                if refused:
                    self.faults.append(f"{len(refused)} of {self.timers} starts were refused: {sorted(set(refused))}")
                self.stop("after the storm")
                with Stopwatch() as watch:
                    self.server.start()
                self.bound("a new start", max(0, watch.seconds), START_MAX, "s")
                samples, _ = asyncio.run(observe(self.server, CALM_SECONDS))
                self.judge("after a new start", samples, CALM_SECONDS, stalls)
                self.stop("after a new start")
                lines = self.server.log.count("\n")
                self.bound("the log", lines, 200, "lines")
            except (AssertionError, OSError, ConnectionClosed, InvalidHandshake, TimeoutError) as fault:
                self.faults.append(f"{type(fault).__name__}: {fault}"[:2000])
            finally:
                self.server.kill()
        return self.faults

    async def start_watched(self) -> None:
        socket, _ = await dial(self.server)
        await socket.send(json.dumps({"command": "start", "timer": "watched", "type": "stopwatch"}))
        assert json.loads(await socket.recv())["ok"]
        await socket.close()

    def judge(self, when: str, samples: Samples, seconds: float, stalls: Stalls) -> None:
        self.bound(f"memory {when}", samples.memory / 2**20, MEMORY_MAX / 2**20, "MiB")
        for what, found, wanted in (
            ("round trips", samples.trips, seconds / (PAUSE + DELAY_MAX)), ("ticks", samples.ticks, seconds / TICK)):
            print(f"p99 of {len(found)} {what} {when}, stalls included: {samples.p99(found) * 1000:.1f} ms")
            self.bound(f"p99 of {what} {when}", samples.p99(found, stalls) * 1000, DELAY_MAX * 1000, "ms")
            # A skipped tick has no delay, and a client sends no request while it waits. So both are counted, too.
            if len(found) < 0.9 * wanted:
                self.faults.append(f"{len(found)} {what} {when}, of {wanted:.0f}")

    def stop(self, when: str) -> None:
        with Stopwatch() as watch:
            code = self.server.stop(signal.SIGTERM)
        self.bound(f"the stop {when}", max(0, watch.seconds), STOP_MAX, "s")
        if code != 0:
            self.faults.append(f"it ended with {code} {when}")

    def bound(self, what: str, found: float, most: float, unit: str) -> None:
        print(f"{what}: {found:.1f} {unit} (at most {most:.0f})", flush=True)
        if not found < most:
            self.faults.append(f"{what}: {found:.1f} {unit}, not under {most:.0f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=Path, help="the program (default $TIMERSYNC_SERVER, else the debug build)")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--timers", type=int, default=5_000)
    options = parser.parse_args()
    if options.server:
        timer_server.BINARY = options.server.resolve()
    with tempfile.TemporaryDirectory(prefix="storm-") as folder:
        faults = Storm(options.seconds, options.timers, Path(folder)).run()
    for fault in faults:
        print(f"NOT WELL: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
