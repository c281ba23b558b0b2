"""The wall clock is moved under the server: no timer moves.

Debian's `faketime` gives the process a wall clock of ours, by a file that may change while it runs, and leaves the
monotonic and the boot-time clock alone.
"""

import asyncio
import json
import os
import subprocess
import time
import urllib.request
from datetime import datetime
from decimal import Decimal as D
from pathlib import Path

import pytest
import pytest_asyncio

from stamped import assert_went_on, look
from timer_client import Client
from timer_server import BINARY, Server

HOUR = 3600


class WallClock:
    """A wall clock for one process, with an offset from the real one."""

    def __init__(self, folder: Path):
        self.file = folder / "wall-clock"
        self.zone = "UTC"
        self.move(0)

    @property
    def environment(self) -> dict[str, str]:
        libraries = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        assert libraries, "Debian's package `faketime` is needed"
        return {
            "LD_PRELOAD": str(libraries[0]), "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1",
            "TZ": self.zone,
        }

    def server(self, data: Path) -> Server:
        # The library adds to the environment of the first program that it is loaded into, and thereby hides the
        # arguments from Swift, which looks for them beside the environment. So let that be `env`, which becomes the
        # server in the same process.
        return Server(data, environment=self.environment, launcher=("/usr/bin/env",))

    @staticmethod
    def clean_up(server: Server) -> None:
        """Removes what the library leaves of a killed process, and would stumble over when its id comes again."""
        for process_id in server.process_ids:
            for path in Path("/dev/shm").glob(f"*faketime_*_{process_id}"):
                path.unlink()

    def move(self, seconds: float) -> None:
        fresh = self.file.with_suffix(".new")
        fresh.write_text(f"{seconds:+.3f}\n")
        os.replace(fresh, self.file)


@pytest.fixture
def wall_clock(tmp_path):
    return WallClock(tmp_path)


@pytest.fixture
def server(tmp_path, wall_clock):
    """A server whose wall clock can be moved."""
    server = wall_clock.server(tmp_path / "data").start()
    yield server
    server.kill()
    wall_clock.clean_up(server)


@pytest_asyncio.fixture
async def client(server, connect):
    return await connect(server)


async def test_the_wall_clock_is_ours(tmp_path, wall_clock, connect):
    """A server that starts an hour ahead says so: the tool works."""
    wall_clock.move(HOUR)
    server = wall_clock.server(tmp_path / "ahead").start()
    try:
        client = await connect(server)
        assert abs(float(client.hello["now"]) - time.time() - HOUR) < 60
    finally:
        server.kill()
        wall_clock.clean_up(server)


@pytest.mark.parametrize("moves", [[HOUR], [-HOUR], [HOUR, -HOUR, 0]])
async def test_no_timer_moves(client, wall_clock, moves, punctual):
    """Moved by an hour either way: running ones go on, paused ones stand, and the server clock runs on."""
    await client.ok("start", "runs", duration=600)
    await client.ok("start", "counts up")
    await client.ok("start", "stands", duration=600)
    await client.ok("pause", "stands")
    await client.subscribe("runs", interval=0.1)
    doubt = await client.calibrate()
    offset = client.offset
    before = {name: await look(client, name) for name in ("runs", "counts up", "stands")}
    revision = before["runs"].state["revision"]

    for seconds in moves:
        wall_clock.move(seconds)
        await asyncio.sleep(0.35)

    for name in ("runs", "counts up"):
        assert_went_on(before[name], await look(client, name))
    after = (await look(client, "stands")).state
    assert after["elapsedTime"] == before["stands"].state["elapsedTime"]
    assert after["pausePeriods"] == before["stands"].state["pausePeriods"]
    doubt += await client.calibrate()
    assert abs(client.offset - offset) < 0.01 + doubt
    arrivals = [a for a in client.take() if a.get("cause") == "tick"]
    ticks = [a.state("runs") for a in arrivals]
    assert len(ticks) >= len(moves)
    punctual.all_multiples(arrivals, [-state["time"] for state in ticks], D("0.1"))
    assert {state["revision"] for state in ticks} == {revision}


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
async def test_the_end_comes_in_its_time(client, wall_clock, seconds, punctual):
    """A countdown ends once, when its time has really passed."""
    await client.calibrate()
    await client.subscribe("tea", interval=0)
    started = await client.state("start", "tea", duration=1)

    wall_clock.move(seconds)

    ended = await client.snapshot("ended", "tea")
    assert ended["endedAt"] == started["startDate"] + 1
    punctual([client.lateness(ended, ended["endedAt"])], "the end")
    assert [a for a in await client.collect(0.2) if a.get("cause") == "ended"] == []


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
async def test_a_pause_over_a_step_costs_its_real_length(client, wall_clock, seconds):
    """A pause over a step of the clock, as at a change of summer time set by hand, is as long as it was."""
    await client.ok("start", "tea", duration=600)
    paused = await client.state("pause", "tea")
    wall_clock.move(seconds)
    await asyncio.sleep(0.3)

    resumed = await client.state("resume", "tea")

    length = resumed["pausePeriods"][0]["start"] - paused["pausePeriods"][0]["pause"]
    assert 0.29 < length < 60
    since = resumed["lastElapsedTimeCalculatedAt"] - resumed["pausePeriods"][0]["start"]
    assert resumed["elapsedTime"] - paused["elapsedTime"] == since < 60


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
async def test_a_step_while_the_server_is_down_moves_nothing(server, client, connect, wall_clock, seconds):
    """In the same boot the boot-time clock counts, whatever the wall clock says meanwhile."""
    await client.ok("start", "runs", duration=600)
    await client.ok("start", "counts up")
    await client.ok("start", "stands", duration=600)
    await asyncio.sleep(0.2)
    await client.ok("pause", "stands")
    before = {name: await look(client, name) for name in ("runs", "counts up", "stands")}
    server.kill()

    wall_clock.move(seconds)
    server.start()

    client = await connect(server)
    assert abs(float(client.hello["now"]) - time.time() - seconds) < 60
    for name in ("runs", "counts up"):
        after = await look(client, name)
        assert_went_on(before[name], after)
        assert after.state["status"] == "running"
    after = (await look(client, "stands")).state
    assert (after["status"], after["elapsedTime"]) == ("paused", before["stands"].state["elapsedTime"])


async def paused_before(instant, wall_clock, folder, connect):
    """A server on which a countdown was paused a second before a moment; more where the machine takes longer for it."""
    for lead in (1, 2, 5, 20):
        wall_clock.move(instant - time.time() - lead)
        server = wall_clock.server(folder / f"{lead} s before").start()
        client = await connect(server)
        assert abs(float(client.hello["now"]) - instant) < 60, "the wall clock is ours"
        await client.ok("start", "tea", duration=600)
        paused = await client.state("pause", "tea")
        if paused["pausePeriods"][0]["pause"] < instant:
            return server, client, paused
        server.kill()
        wall_clock.clean_up(server)
    raise AssertionError("nothing was started and paused within 20 s")


@pytest.mark.parametrize(
    ("zone", "moment"),
    [
        ("Pacific/Apia", "2026-11-30T00:00:00+13:00"), ("America/New_York", "2026-12-31T00:00:00-05:00"),
        ("Europe/Berlin", "2026-03-29T02:00:00+01:00"), ("Europe/Berlin", "2026-10-25T03:00:00+02:00"),
        ("Asia/Kathmandu", "2027-01-01T00:00:00+05:45"),
    ])
async def test_a_pause_over_midnight_or_a_change_of_summer_time(tmp_path, connect, wall_clock, zone, moment):
    """A pause over such a moment is as long as it was, and leaves the time left as it is."""
    instant = datetime.fromisoformat(moment).timestamp()
    wall_clock.zone = zone
    server, client, paused = await paused_before(instant, wall_clock, tmp_path, connect)
    try:
        await client.calibrate()
        await client.sleep_until(instant + 0.1)
        resumed = await client.state("resume", "tea")
    finally:
        server.kill()
        wall_clock.clean_up(server)

    [period] = resumed["pausePeriods"]
    assert period["pause"] < instant < period["start"]
    assert 0 < period["start"] - period["pause"] < 60
    assert resumed["time"] == paused["time"] - (resumed["lastElapsedTimeCalculatedAt"] - period["start"])


@pytest.mark.parametrize("zone", ["Pacific/Apia", "America/St_Johns", "Asia/Kathmandu"])
async def test_a_time_zone_is_nothing_to_a_timer(tmp_path, connect, zone):
    """In any time zone instants are the same seconds."""
    server = Server(tmp_path / "zoned", environment={"TZ": zone}).start()
    try:
        client = await connect(server)
        assert abs(float(client.hello["now"]) - time.time()) < 60
        state = await client.state("start", "tea", duration=60)
        assert abs(float(state["startDate"]) - time.time()) < 60
    finally:
        server.kill()


# Reports about the clock

async def status_of(client, offset: float) -> None:
    """Waits until the server reports this offset of its wall clock."""
    told = await client.wait_for(lambda arrival: arrival.get("event") == "server", "the event `server`")
    assert abs(float(told["wallOffset"]) - offset) < 0.1
    assert told["writable"] is True


@pytest.mark.parametrize("start, steps", [(-9 * HOUR, [9 * HOUR]), (0, [HOUR, -HOUR, 0])])
async def test_each_step_is_told(tmp_path, connect, wall_clock, start, steps):
    """Each step is sent to all connections, and to new ones in `hello`; log, metrics and health page have it too."""
    wall_clock.move(start)
    server = wall_clock.server(tmp_path / "data").start()
    try:
        client = await connect(server)
        assert float(client.hello["wallOffset"]) == 0
        for number, step in enumerate(steps, 1):
            wall_clock.move(start + step)
            await status_of(client, step)
            newcomer = await connect(server)
            assert abs(float(newcomer.hello["wallOffset"]) - step) < 0.1
            wall = float(newcomer.hello["now"] + newcomer.hello["wallOffset"])
            assert abs(wall - time.time() - start - step) < 60
            with urllib.request.urlopen(f"{server.http}/healthz", timeout=30) as answer:
                health = json.load(answer)
            assert health["status"] == "ok"
            assert abs(health["clock"]["wallOffset"] - step) < 0.1 and health["clock"]["steps"] == number
        with urllib.request.urlopen(f"{server.http}/metrics", timeout=30) as answer:
            figures = dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if line[0] != "#")
        assert int(figures["timersync_wall_clock_steps_total"]) == len(steps)
        assert abs(float(figures["timersync_wall_clock_offset_seconds"]) - steps[-1]) < 0.1
        assert "level with the server clock" in server.logged("the wall clock was")
    finally:
        server.kill()
        wall_clock.clean_up(server)


async def test_a_clock_that_was_not_set_is_in_hello_alone(client):
    """Without a step there is no event."""
    assert [a for a in await client.collect(1.6) if a.get("event") == "server"] == []
    assert client.hello["wallOffset"] == 0


@pytest.fixture
def guest(tmp_path, wall_clock):
    """A server whose wall clock can be moved, with a token that ends half an hour from now."""
    made = subprocess.run(
        [BINARY, "token", "add", "--data", tmp_path / "data", "--name", "guest", "--role", "view",
         "--expires-in", "30m"], capture_output=True, text=True, check=True)
    server = wall_clock.server(tmp_path / "data").start()
    yield server, made.stdout.strip()
    server.kill()
    wall_clock.clean_up(server)


async def opens(server, token: str) -> bool:
    client = await Client.open(server, query=f"token={token}")
    try:
        return client.hello["role"] == "view"
    finally:
        await client.close()


async def test_a_token_ends_by_the_wall_clock(guest, connect, wall_clock):
    """Set past its end, the clock ends it within a second; set back, it lets newcomers in again."""
    server, token = guest
    client = await connect(server, query=f"token={token}")
    assert client.hello["role"] == "view"

    moved = time.monotonic()
    wall_clock.move(HOUR)
    assert await client.wait_closed() == 1008
    assert time.monotonic() - moved < 5, "within a second, and a little more on a busy machine"
    assert not await opens(server, token)

    wall_clock.move(0)
    async with asyncio.timeout(30):
        while not await opens(server, token):
            await asyncio.sleep(0.1)
