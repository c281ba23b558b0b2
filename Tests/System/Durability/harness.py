#!/usr/bin/env python3
"""Ends a server at random instants while clients change timers, and judges what came of it.

    harness.py [--server BINARY] [--kills 20] [--clients 8] [--seed N] [--seconds-between 0.8] [--data FOLDER]
        [--ends "kill; vanish"]

Clients send changes, each with a `requestId`, and keep every answer; watchers keep every push. Of twenty ends about
half are kills. The others are stops, with and without clients that do not answer the close frame, two ends in a row
before any watcher is back, and kills and stops while the disk hangs (a library makes it). Now and then the data folder
is moved away for a while. After each end the server starts again on the same port and folder, and clients send their
unanswered requests again, unchanged. Watchers come back with `since`, the last revision that they received, if `hello`
has a `history`. At the end the referee (`referee.py`) checks that no answered change is missing, none is made twice, no
revision goes back, and each crossing of zero is sent once. Exits with 1 when a check fails, and prints the events
around it.
"""

import argparse
import asyncio
import json
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "BlackBox"))

import timer_server
from faults import Faults, build_library
from history import History, Life, Push, Request
from model import micros
from referee import Referee, Verdict
from stalls import Stalls, Stopwatch

WATCHERS = 2
SHARED = [f"shared {number}" for number in range(6)]
# Timers that are seldom changed, so that their countdowns reach zero.
QUIET = [f"quiet {number}" for number in range(12)]
QUIET_SHARE = 0.025
OWNERS = 4
ENDINGS = ["overtime", "finish", "reset", "repeat"]
# The ends of twenty lives; their order is random.
DECK = 9 * ["kill"] + 4 * ["stop"] + 2 * ["deaf stop"] + 2 * ["double"] + 2 * ["hang, kill"] + ["hang, stop"]
# The number of these lives in which the data folder is removed for a while.
VANISHED = 2
DRAIN_SECONDS = 1
DISK_SILENT = 74
UPGRADE = (
    b"GET /ws?timer=* HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhpcyBpcyBhIG5vbmNlIQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")


class Unmade(Exception):
    """The server refused a request with a retryable error, so no change was made."""


async def dial(server: timer_server.Server, query: str = ""):
    return await connect(
        server.url + query, compression=None, proxy=None, ping_interval=None, max_size=None, max_queue=None,
        open_timeout=30, close_timeout=0.1)


class Run:
    """A server that is ended again and again, its clients, and what they saw."""

    def __init__(self, options: argparse.Namespace, folder: Path):
        self.options = options
        self.random = random.Random(options.seed)
        self.data = options.data or folder / "data"
        self.faults = Faults(build_library(folder), folder, self.data)
        knows_drain = "--drain" in subprocess.run(
            timer_server.server_argv("serve", "--help"), capture_output=True, text=True, check=True).stdout
        drain = ("--drain", str(DRAIN_SECONDS)) if knows_drain else ()
        self.server = timer_server.Server(
            self.data, "--log-level", "warning", *drain, environment=self.faults.environment)
        self.history = History()
        # Set while the server runs and every watcher is subscribed; clients send no change before.
        self.is_watched = asyncio.Event()
        # Set while watchers may come back.
        self.is_open = asyncio.Event()
        self.is_over = False
        self.watching = 0
        self.numbers = iter(range(1, 1 << 60))
        self.stalls = Stalls()

    @property
    def life(self) -> int:
        return len(self.history.lives) - 1

    async def go(self) -> Verdict:
        await self.start()
        watchers = [asyncio.create_task(self.watch(number)) for number in range(WATCHERS)]
        clients = [asyncio.create_task(Client(self, number).go()) for number in range(self.options.clients)]
        for number, (end, vanishes) in enumerate(self.ends(), 1):
            await asyncio.wait_for(self.is_watched.wait(), 60)
            await self.work(self.random.uniform(0.05, 2 * self.options.seconds_between), clients)
            if vanishes:
                await self.vanish(clients)
            await self.end(end, clients)
            if number % 20 == 0:
                print(f"{number} kills", file=sys.stderr, flush=True)
            # A pause without a server makes crossings late.
            await asyncio.sleep(self.random.choice([0, 0, 0.1, 0.4]))
            await self.start()
        await asyncio.wait_for(self.is_watched.wait(), 60)
        await self.work(self.options.seconds_between, clients)
        self.is_over = True
        await asyncio.wait(clients, timeout=30)
        await asyncio.sleep(0.3)
        self.kill()
        for task in watchers + clients:
            task.cancel()
        await asyncio.gather(*watchers, *clients, return_exceptions=True)
        return Referee(self.history, WATCHERS, self.options.window).judge()

    def ends(self) -> list[tuple[str, bool]]:
        """The end of each life, and whether its data folder is moved away for a while before."""
        ends: list[tuple[str, bool]] = []
        wanted = self.options.ends or {*DECK, "vanish"}
        cards = [end for end in DECK if end in wanted]
        while len(ends) < self.options.kills:
            deck = self.random.sample(cards, len(cards))
            vanishing = self.random.sample(range(len(deck)), VANISHED) if "vanish" in wanted else []
            ends += [(end, place in vanishing) for place, end in enumerate(deck)]
        return ends[:self.options.kills]

    async def work(self, seconds: float, clients: list[asyncio.Task]) -> None:
        done, _ = await asyncio.wait(clients, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
            raise AssertionError("a client ended before its time")
        assert self.server.process.poll() is None, f"the server died by itself\n{self.server.log[-4000:]}"

    # Lives

    async def start(self, is_open: bool = True) -> None:
        self.watching = 0
        self.history.lives.append(Life(len(self.history.lives), time.monotonic(), stalls=self.stalls))
        await asyncio.to_thread(self.server.start)
        if is_open:
            self.is_open.set()

    async def end(self, how: str, clients: list[asyncio.Task]) -> None:
        self.history.lives[-1].end = how
        match how:
            case "kill":
                self.kill()
            case "stop":
                await self.stop()
            case "deaf stop":
                await self.stop(deaf=2)
            case "double":
                await self.end_somehow()
                # No watcher may be back before the second end.
                await self.start(is_open=False)
                self.history.lives[-1].end = "double"
                await asyncio.sleep(self.random.choice([0, 0.05, 0.3]))
                await self.end_somehow()
            case "hang, kill" | "hang, stop":
                self.faults.hang()
                await self.work(self.random.uniform(0.05, 0.5), clients)
                if how == "hang, kill":
                    self.kill()
                else:
                    await self.stop(code=DISK_SILENT)
                self.faults.disarm()

    async def end_somehow(self) -> None:
        if self.random.random() < 0.5:
            self.kill()
        else:
            await self.stop()

    def kill(self) -> None:
        life = self.close()
        self.server.process.kill()
        life.killed_at, life.killed_wall = time.monotonic(), micros(time.time())
        self.server.kill()

    async def stop(self, deaf: int = 0, code: int = 0) -> None:
        """Sends SIGTERM. The server has to end in time, although `deaf` clients do not answer its close frame."""
        sockets = [await asyncio.to_thread(self.dial_deaf) for _ in range(deaf)]
        life = self.close()
        # The end of a countdown that reaches zero from now on is sent by the next server.
        life.killed_at, life.killed_wall = time.monotonic(), micros(time.time())
        with Stopwatch() as watch:
            self.server.process.send_signal(signal.SIGTERM)
            try:
                found = await asyncio.to_thread(self.server.wait_ended)
            except AssertionError:
                found = "nothing, and was killed"
        for one in sockets:
            one.close()
        if found != code:
            self.history.faults.append(f"a stop ended with {found}, not with {code} [life {life.number}, {life.end}]")
        if watch.seconds > DRAIN_SECONDS + 5:
            self.history.faults.append(f"a stop took {watch.seconds:.1f} s [life {life.number}, {life.end}]")
        self.history.stops.append(watch.all_seconds)

    def close(self) -> Life:
        """Keeps watchers and clients away until the next start."""
        self.is_watched.clear()
        self.is_open.clear()
        return self.history.lives[-1]

    def dial_deaf(self) -> socket.socket:
        one = socket.create_connection(("127.0.0.1", self.server.port), timeout=30)
        one.sendall(UPGRADE)
        assert b"101" in one.recv(64)
        return one

    async def vanish(self, clients: list[asyncio.Task]) -> None:
        """Moves the data folder away and back; meanwhile changes may be refused, but none may be lost."""
        away = self.data.with_name(self.data.name + " away")
        self.data.rename(away)
        await self.work(self.random.uniform(0.05, 1.5), clients)
        # A server must not make a new folder in its place.
        if self.data.exists():
            self.history.faults.append(f"a folder was made where the data had been [life {self.life}]")
            shutil.rmtree(self.data)
        away.rename(self.data)
        await self.work(self.random.uniform(0.05, 0.5), clients)

    # Watchers

    async def watch(self, number: int) -> None:
        """Records every push. A watcher sends one request, right after `hello`, and nothing later, so that it reads all
        that it was sent, even after a kill."""
        place = Place()
        while True:
            await self.is_open.wait()
            try:
                life, socket = self.life, await dial(self.server, f"?timer=*&interval=0{place.query}")
            except (OSError, InvalidHandshake, ConnectionClosed, TimeoutError):
                await asyncio.sleep(0.005)
                continue
            try:
                async for text in socket:
                    message = json.loads(text)
                    if place.take(message) == Place.ASKS:
                        await socket.send(json.dumps({"id": "place", "command": "sync"}))
                    if "reply" in message:
                        continue
                    self.history.pushes.append(Push(number, life, time.monotonic(), message))
                    if message.get("cause") == "subscribed":
                        self.watching += 1
                        if self.watching == WATCHERS:
                            self.is_watched.set()
            except ConnectionClosed:
                pass
            place.lose()


class Place:
    """A watcher's place in a history: the revision up to which it has received everything.

    After `hello` a server sends the missed changes to a client that comes back. They are complete when it answers the
    client's next request.
    """

    ASKS = "asks"

    def __init__(self):
        self.history: str | None = None
        self.revision = 0
        self.heard = 0
        self.is_whole = False

    @property
    def query(self) -> str:
        return "" if self.history is None else f"&since={self.history}:{self.revision}"

    def take(self, message: dict) -> str | None:
        """Moves the place on by a message; returns `ASKS` when the watcher has to send a request now."""
        if message.get("event") == "hello":
            self.heard = message.get("revision", 0)
            if "history" not in message:
                return None
            self.history = message["history"]
            return self.ASKS
        if "reply" in message:
            self.is_whole = True
        self.heard = max([self.heard, *(state["revision"] for state in message.get("timers", []))])
        if self.is_whole:
            self.revision = self.heard
        return None

    def lose(self) -> None:
        """Ends a connection: on the next one, the missed changes are incomplete until its request is answered."""
        self.is_whole = False


class Client:
    """Sends one change after another, and sends an unanswered one again after a kill."""

    def __init__(self, run: Run, number: int):
        self.run = run
        self.number = number
        self.random = random.Random(f"{run.options.seed} {number}")

    async def go(self) -> None:
        request: Request | None = None
        while True:
            await self.run.is_watched.wait()
            if self.run.is_over:
                return
            try:
                life, socket = self.run.life, await dial(self.run.server)
                while not self.run.is_over or request:
                    request = request or self.wish()
                    await self.ask(socket, life, request)
                    request = None
                    await asyncio.sleep(self.random.expovariate(1 / self.run.options.pause))
            except (OSError, InvalidHandshake, ConnectionClosed, TimeoutError):
                await asyncio.sleep(0.005)
            except Unmade:
                await socket.close()
                await asyncio.sleep(0.05)

    async def ask(self, socket, life: int, request: Request) -> None:
        message = {"id": request.number, "command": request.command, "requestId": request.request_id, **request.fields}
        if request.timer is not None:
            message["timer"] = request.timer
        request.sent.append((life, time.monotonic()))
        await socket.send(json.dumps(message))
        while True:
            reply = json.loads(await asyncio.wait_for(socket.recv(), 60))
            if "reply" in reply:
                break
        assert reply["reply"] == request.number, f"{request} was answered with {reply}"
        if not reply["ok"] and reply["error"]["retryable"]:
            # The server made no change, so this attempt counts as not sent.
            request.sent.pop()
            self.run.history.postponed += 1
            raise Unmade
        request.reply, request.reply_life, request.reply_at = reply, life, time.monotonic()

    def wish(self) -> Request:
        number = next(self.run.numbers)
        timer = self.timer()
        command = "start" if timer in QUIET and self.random.random() < 0.7 else self.random.choices(
            ["start", "pause", "resume", "addRemainingTime", "update", "finish", "reset", "remove", "finishAll"],
            [24, 14, 14, 22, 10, 5, 4, 4, 0.05])[0]
        request = Request(
            number, self.number, command, timer, self.fields(command, number),
            f"{self.run.options.seed}-{self.number}-{number}")
        if command == "finishAll":
            request.timer = None
        self.run.history.requests.append(request)
        return request

    def timer(self) -> str:
        """A random timer. Each of the first clients has one that no other client changes."""
        if self.random.random() < QUIET_SHARE:
            return self.random.choice(QUIET)
        if self.number < OWNERS and self.random.random() < 0.6:
            return f"own {self.number}"
        return self.random.choice(SHARED)

    def fields(self, command: str, number: int) -> dict:
        match command:
            case "start":
                # Random microseconds identify each start by its duration.
                fields = {
                    "duration": round(self.random.choice([0.2, 0.2, 0.2, 0.5, 1]) + self.random.uniform(0, 0.3), 6),
                    "atZero": self.random.choice(ENDINGS), "force": self.random.random() < 0.6}
                return fields | ({"title": f"title {number}"} if self.random.random() < 0.3 else {})
            case "addRemainingTime":
                fields = {"seconds": round(self.random.uniform(-0.2, 0.6), 6)}
                return fields | ({"clamp": True} if self.random.random() < 0.1 else {})
            case "update":
                return {"title": f"title {number}"} | (
                    {"atZero": self.random.choice(ENDINGS)} if self.random.random() < 0.2 else {})
            case "finish":
                return {"resetTime": True} if self.random.random() < 0.3 else {}
        return {}


def parse_options(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, help="the binary (default $TIMERSYNC_SERVER, else the debug build)")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=None, help="the same seed asks for the same changes")
    parser.add_argument("--seconds-between", type=float, default=0.8, help="from a start to a kill, in the mean")
    parser.add_argument("--pause", type=float, default=0.004, help="of a client between changes, in the mean")
    parser.add_argument(
        "--window",
        type=float,
        default=0.05,
        help="how long after a crossing, beside the time that the disk and the machine took, a kill may keep it from "
        "being told",
    )
    parser.add_argument(
        "--ends", type=lambda words: {word.strip() for word in words.split(";")}, default=None,
        help=f"how lives may end, as in 'kill; vanish' (default all: {'; '.join(dict.fromkeys(DECK))}; vanish)")
    parser.add_argument("--data", type=Path, help="an empty data folder to use and keep (default: a temporary one)")
    options = parser.parse_args(words)
    if options.seed is None:
        options.seed = random.randrange(1 << 32)
    if options.server:
        timer_server.BINARY = options.server.resolve()
    return options


def run(options: argparse.Namespace) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="timersync-harness-") as folder:
        driver = Run(options, Path(folder))
        try:
            return asyncio.run(driver.go())
        finally:
            driver.faults.disarm()
            driver.server.kill()
            driver.stalls.close()


def main() -> int:
    options = parse_options()
    verdict = run(options)
    for violation in verdict.violations:
        print(f"VIOLATION: {violation}")
    print(f"seed {options.seed}: {verdict.figures(options.kills, options.clients)}")
    return 1 if verdict.violations else 0


if __name__ == "__main__":
    sys.exit(main())
