"""A loaded server whose file calls and answers are recorded: eight clients that change twenty timers in bursts."""

import asyncio
import errno
import itertools
import json
import random
import time
from dataclasses import dataclass
from pathlib import Path

from websockets.asyncio.client import connect

from promises import Asked
from recording import Call, Kind, Recorder
from timer_server import Server

CLIENTS = 8
TIMERS = 20
# Timers that have 64 pauses, and those that have laps, so that their files are longer than a page.
LONG = 2
STOPWATCHES = 3
WITHIN = 30.0
# Limits are so high that no request is refused because of one.
OPTIONS = ("--log-level", "warning", "--requests", "1000000", "--replies", "100000", "--unread-bytes", "100000000")
# No countdown reaches zero before all images are judged.
HOURS = 3600


@dataclass
class Recorded:
    """The recording of a scene, and the changes that clients asked for in it."""

    calls: list[Call]
    asked: list[Asked]
    # The folder as the recorded servers left it.
    data: Path


class Load:
    """Clients and the server that is recorded; a scene calls its methods one after the other."""

    def __init__(self, recorder: Recorder, seed: object, pauses: int = 64):
        self.recorder = recorder
        self.random = random.Random(f"{seed}")
        self.pauses = pauses
        self.server = Server(recorder.data, *OPTIONS, environment=recorder.environment)
        self.asked: list[Asked] = []
        self.numbers = itertools.count(1)
        self.sockets: list = []
        self.watcher: asyncio.Task | None = None
        self.has_pauses = False
        self.share_of_long = LONG / TIMERS

    # The steps of scenes

    async def start(self) -> None:
        await asyncio.to_thread(self.server.start)
        self.watcher = asyncio.create_task(self._watch(await self._dial("?timer=*&interval=0")))
        self.sockets = [await self._dial() for _ in range(CLIENTS)]
        if not self.has_pauses:
            self.has_pauses = True
            await asyncio.gather(*(
                self._burst(socket, self._long_history(number)) for number, socket in enumerate(self.sockets[:LONG])))

    async def work(self, seconds: float, burst: int = 16, pause: float = 0.05) -> None:
        """Lets all clients change timers for `seconds`, and returns when every request is answered."""
        end = time.monotonic() + seconds

        async def go(socket) -> None:
            while time.monotonic() < end:
                await self._burst(socket, [self._wish() for _ in range(self.random.randint(1, burst))])
                await asyncio.sleep(self.random.uniform(0, 2 * pause))

        await asyncio.gather(*(go(socket) for socket in self.sockets))

    async def rest(self, at_most: float = 4.0) -> None:
        """Waits until the log is empty."""
        end = time.monotonic() + at_most
        log = self.recorder.data / ".timersync/log"
        while time.monotonic() < end and log.stat().st_size:
            await asyncio.sleep(0.02)

    async def has_failed(self, count: int = 1, at_most: float = 6.0) -> None:
        """Waits until `count` calls have failed on purpose."""
        end = time.monotonic() + at_most
        while self.recorder.failed < count:
            assert time.monotonic() < end, "no call was made that was to fail"
            await asyncio.sleep(0.02)

    async def kill(self) -> None:
        self.server.process.kill()
        await self._leave()
        self.server.kill()

    async def stop(self) -> None:
        await asyncio.to_thread(self.server.stop)
        await self._leave()

    # Clients

    async def _dial(self, query: str = ""):
        return await connect(
            self.server.url + query, compression=None, proxy=None, ping_interval=None, max_size=None, max_queue=None,
            open_timeout=WITHIN, close_timeout=0.1)

    async def _watch(self, socket) -> None:
        async for _ in socket:
            pass

    async def _leave(self) -> None:
        self.watcher.cancel()
        await asyncio.gather(self.watcher, *(socket.close() for socket in self.sockets), return_exceptions=True)

    async def _burst(self, socket, wishes: list[Asked]) -> None:
        """Sends all requests at once, and waits for all answers."""
        for request in wishes:
            request.at, request.seconds = self.recorder.now, time.monotonic()
            self.asked.append(request)
            await socket.send(json.dumps(request.message))
        waiting = {request.number for request in wishes}
        while waiting:
            message = json.loads(await asyncio.wait_for(socket.recv(), WITHIN))
            waiting.discard(message.get("reply"))

    # Requests

    def _ask(self, command: str, timer: str | None, **fields) -> Asked:
        number = next(self.numbers)
        name = f"{self.random.getrandbits(64):016x}" if self.random.random() < 0.3 else None
        return Asked(number, command, timer, fields, name, at=0)

    def _long_history(self, number: int) -> list[Asked]:
        timer = f"timer {number}"
        pauses = [self._ask(command, timer) for _ in range(self.pauses) for command in ("pause", "resume")]
        return [self._ask("start", timer, duration=9 * HOURS), *pauses]

    def _wish(self) -> Asked:
        is_long = self.random.random() < self.share_of_long
        number = self.random.randrange(*((0, LONG) if is_long else (LONG, TIMERS)))
        timer = f"timer {number}"
        if self.random.random() < 0.003:
            return self._ask("finishAll", None)
        if number < LONG:
            # These timers keep their runs, and so their pauses.
            commands, weights = ["pause", "resume", "update", "message", "addRemainingTime"], [2, 2, 3, 2, 2]
        elif number < LONG + STOPWATCHES:
            commands, weights = ["stopwatch", "lap", "update", "pause", "resume"], [1, 12, 2, 1, 1]
        else:
            commands = [
                "start", "pause", "resume", "update", "message", "addRemainingTime", "finish", "reset", "remove"]
            weights = [24, 8, 8, 8, 8, 12, 5, 4, 6]
        match self.random.choices(commands, weights)[0]:
            case "start":
                return self._ask(
                    "start", timer, duration=self.random.randint(4, 9) * HOURS, force=self.random.random() < 0.7,
                    title=f"title {self.random.random()}")
            case "stopwatch":
                return self._ask("start", timer, type="stopwatch", force=self.random.random() < 0.3)
            case "update":
                return self._ask("update", timer, title=f"title {self.random.random()}"[:20], warnings=[60, 10])
            case "message":
                return self._ask("message", timer, text=f"{self.random.random()} " * self.random.randint(0, 20))
            case "addRemainingTime":
                return self._ask("addRemainingTime", timer, seconds=self.random.randint(-60, 600))
            case command:
                return self._ask(command, timer)


# MARK: - Scenes


async def plain(load: Load) -> None:
    """Bursts, a rest in which the log is emptied, more bursts, a kill, and a stop."""
    await load.start()
    await load.work(0.8)
    await load.rest()
    await load.work(0.4)
    await load.kill()
    await load.start()
    await load.work(0.3)
    await load.stop()


async def short(load: Load) -> None:
    """The scene `plain` within a second."""
    await load.start()
    await load.work(0.3)
    await load.kill()
    await load.start()
    await load.work(0.2)
    await load.stop()


async def short_checkpoint_fails(load: Load) -> None:
    """The first sync of all files fails, and the next ones empty the log."""
    await load.start()
    load.recorder.fail(Kind.SYNC_ALL)
    await load.work(0.1)
    await load.has_failed()
    await load.rest()
    await load.work(0.1)
    await load.kill()


async def checkpoint_fails(load: Load) -> None:
    """The sync of all files fails once, as on a full thin volume, and the next one succeeds."""
    await load.start()
    await load.work(0.3)
    load.recorder.fail(Kind.SYNC_ALL)
    await load.has_failed()
    await load.rest()
    await load.work(0.2)
    await load.kill()


async def append_fails(load: Load) -> None:
    """Six times a single sync of the log fails while clients change timers."""
    await load.start()
    for _ in range(6):
        await load.work(0.1)
        load.recorder.fail(Kind.SYNC, ending="/log")
        await load.work(0.1)
    await load.rest()
    await load.work(0.2)
    await load.kill()


async def log_in_doubt(load: Load) -> None:
    """The sync of the log fails twice: that of the append, and that of its rollback."""
    await load.start()
    for count in (2, 3, 4):
        await load.work(0.1)
        load.recorder.fail(Kind.SYNC, ending="/log", count=count)
        await load.work(0.3)
    await load.rest()
    await load.work(0.2)
    await load.kill()


async def disk_is_full(load: Load) -> None:
    """Writes fail for want of room, of the log and of files."""
    await load.start()
    for ending, count in (("/log", 1), ("/log", 3), (".new", 4), ("", 5)):
        await load.work(0.1)
        load.recorder.fail(Kind.WRITE, errno.ENOSPC, ending=ending, count=count)
        await load.work(0.2)
    await load.rest()
    await load.work(0.2)
    await load.kill()


async def names_fail(load: Load) -> None:
    """Renames and unlinks fail for a while."""
    await load.start()
    for kind, count in ((Kind.RENAME, 3), (Kind.UNLINK, 1), (Kind.OPEN, 5), (Kind.CUT, 1)):
        await load.work(0.1)
        load.recorder.fail(kind, count=count)
        await load.work(0.3)
    await load.rest()
    await load.work(0.2)
    await load.kill()


async def busy(load: Load) -> None:
    """Clients change so much that the log begins anew in the same bytes, with an entry that holds no files."""
    await load.start()
    log = load.recorder.data / ".timersync/log"
    end = time.monotonic() + 120

    def is_anew() -> bool:
        with log.open("rb") as file:
            return file.read(12) == b'{"files":[],'

    # Long records of one timer for each client, so that few changes are enough.
    load.share_of_long = 0.95
    while not is_anew():
        assert time.monotonic() < end, "the log did not begin anew"
        await load.work(0.2, burst=48, pause=0.001)
    load.share_of_long = 0.1
    await load.work(0.5)
    await load.kill()
    await load.start()
    await load.work(0.3)
    await load.kill()


SCENES = {
    scene.__name__: scene
    for scene in (
        short, short_checkpoint_fails, plain, checkpoint_fails, append_fails, log_in_doubt, disk_is_full, names_fail,
        busy)}


def record(scene, library: Path, folder: Path, seed: object, pauses: int = 64) -> Recorded:
    """Plays a scene in a folder of its own."""
    data = folder / "data"
    data.parent.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(library, folder / "trace", data)
    load = Load(recorder, seed, pauses)
    try:
        asyncio.run(scene(load))
        return Recorded(recorder.calls(), load.asked, data)
    finally:
        load.server.kill()
        recorder.close()
