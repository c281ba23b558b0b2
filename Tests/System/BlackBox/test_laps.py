"""Laps of a stopwatch: kept, shown, bounded, left out of ticks."""

import asyncio
import json
from decimal import Decimal as D

import pytest

from wire import seconds


async def test_a_lap_is_the_elapsed_time_of_the_press(client, name, connect, shared_server):
    """Each press is kept, oldest first, and shown to all."""
    watcher = await connect(shared_server)
    await client.ok("start", name)
    await watcher.subscribe(name, interval=0)

    first = await client.state("lap", name)
    second = await client.state("lap", name)

    assert first["laps"] == [first["elapsedTime"]]
    assert second["laps"] == [first["elapsedTime"], second["elapsedTime"]]
    assert second["status"] == "running"
    for state in (first, second):
        assert (await watcher.snapshot("lapped", name)).state(name) == state


async def test_a_lap_counts_at_the_press(client, name):
    """A lap counts from the press, without the latency."""
    started = await client.state("start", name)
    await asyncio.sleep(0.3)

    state = await client.state("lap", name, at=started["startDate"])

    assert state["laps"] == [0]


async def test_ticks_leave_laps_out(client, name):
    """Laps that have not changed are not sent again with each tick."""
    await client.ok("start", name)
    lapped = await client.state("lap", name)
    snapshot = await client.subscribe(name, interval=0.1)

    tick = (await client.snapshot("tick", name)).state(name)

    assert snapshot.state(name)["laps"] == lapped["laps"]
    assert "laps" not in tick and tick["revision"] == lapped["revision"]


@pytest.mark.parametrize("command", ["pause", "finish"])
async def test_laps_stay(client, name, command):
    """A paused or finished run shows its laps."""
    await client.ok("start", name)
    laps = (await client.state("lap", name))["laps"]

    assert (await client.state(command, name))["laps"] == laps
    assert (await client.state("get", name))["laps"] == laps


@pytest.mark.parametrize(("command", "fields"), [
    ("reset", {}), ("finish", {"resetTime": True}), ("start", {"force": True}),
    ("start", {"duration": 60, "force": True})])
async def test_laps_are_cleared(client, name, command, fields):
    """A new run, or none, has no laps."""
    await client.ok("start", name)
    await client.ok("lap", name)

    assert "laps" not in await client.state(command, name, **fields)


@pytest.mark.parametrize(("before", "code"), [
    ([], "timerHasNotStarted"), ([("start", {}), ("reset", {})], "timerHasNotStarted"),
    ([("start", {}), ("finish", {})], "timerHasNotStarted"), ([("start", {}), ("pause", {})], "timerAlreadyPaused"),
    ([("start", {"duration": 60})], "invalidTimerType"),
    ([("start", {"duration": 60}), ("pause", {})], "invalidTimerType")])
async def test_a_lap_needs_a_stopwatch_that_runs(client, name, before, code):
    """A timer that is no running stopwatch takes no lap."""
    for command, fields in before:
        await client.ok(command, name, **fields)

    reply = await client.refused(code, "lap", name)

    assert "laps" not in reply.get("timer", {})


async def test_a_lap_takes_no_fields(client, name):
    """A field that `lap` does not have is refused, not ignored."""
    await client.ok("start", name)

    assert '"time"' in (await client.refused("badRequest", "lap", name, time=5))["error"]["message"]


async def test_a_stopwatch_is_set_back_to_its_last_lap_at_most(client, name):
    """Laps are presses and stay true: below the last one `outOfRange` with the nearest amount, or clamped to it."""
    await client.ok("start", name)
    await client.ok("addElapsedTime", name, seconds=100)
    lap = (await client.state("lap", name))["laps"][0]
    await client.ok("pause", name)
    elapsed = (await client.state("addElapsedTime", name, seconds=10))["elapsedTime"]

    reply = await client.refused("outOfRange", "addElapsedTime", name, seconds=-50)
    clamped = await client.state("addElapsedTime", name, seconds=-50, clamp=True)

    assert seconds(reply["error"]["limit"]) == seconds(lap) - seconds(elapsed)
    assert clamped["elapsedTime"] == lap and clamped["laps"] == [lap]


async def test_a_thousand_laps_and_no_more(client, name):
    """The error names the limit, and a stopwatch that has reached it continues."""
    await client.ok("start", name)
    for _ in range(5):
        for _ in range(200):
            await client.send({"command": "lap", "timer": name})
        for _ in range(200):
            assert (await client.wait_for(lambda arrival: "reply" in arrival, "a reply"))["ok"]

    reply = await client.refused("outOfRange", "lap", name)
    state = await client.state("pause", name)

    assert reply["error"]["limit"] == 1000 and "1000" in reply["error"]["message"]
    assert len(reply["timer"]["laps"]) == len(state["laps"]) == 1000


async def test_laps_survive_a_crash(server, connect):
    """Each lap that was answered is there after a crash."""
    client = await connect(server)
    await client.ok("start", "run")
    for _ in range(3):
        laps = (await client.state("lap", "run"))["laps"]

    server.restart()

    client = await connect(server)
    assert (await client.state("get", "run"))["laps"] == laps
    assert (await client.state("lap", "run"))["laps"][:3] == laps


async def test_laps_may_be_edited_by_hand(server, connect):
    """The file's laps are loaded; ones that go back are not, and the timer stays as it was."""
    client = await connect(server)
    await client.subscribe("run", interval=0)
    await client.ok("start", "run")
    await client.ok("addElapsedTime", "run", seconds=100)
    await client.ok("lap", "run")
    path = server.data / "run.json"
    for _ in range(300):
        record = json.loads(path.read_text()) if path.exists() else {}
        if "laps" in record.get("run", {}):
            break
        await asyncio.sleep(0.1)

    record["run"]["laps"] = [1, 2.5]
    path.write_text(json.dumps(record))
    edited = await client.snapshot("external", "run")
    record["run"]["laps"] = [2, 1]
    path.write_text(json.dumps(record))
    await asyncio.sleep(1.5)

    assert edited.state("run")["laps"] == [1, D("2.5")]
    assert (await client.state("get", "run"))["laps"] == [1, D("2.5")]
