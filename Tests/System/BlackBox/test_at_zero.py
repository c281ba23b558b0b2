"""A countdown at zero: each effect comes once, at the crossing itself, by the policy."""

import asyncio
from decimal import Decimal as D

import pytest

from timer_client import WITHIN


def ends(arrivals):
    return [a for a in arrivals if a.get("cause") == "ended"]


async def watch(client, name, **fields):
    """Starts a countdown with its changes alone in view; returns its starting state."""
    await client.calibrate()
    await client.subscribe(name, interval=0)
    started = await client.state("start", name, **fields)
    await client.snapshot("started", name)
    return started


async def test_overtime_goes_on_below_zero(client, name, punctual):
    """`ended` comes at zero with the running state; after that the time is negative."""
    started = await watch(client, name, duration=0.3)

    ended = await client.snapshot("ended", name)

    state = ended.state(name)
    assert ended["endedAt"] == state["lastElapsedTimeCalculatedAt"] == started["startDate"] + D("0.3")
    assert (state["status"], state["time"], state["elapsedTime"]) == ("running", 0, D("0.3"))
    punctual([client.lateness(ended, ended["endedAt"])], "the end")
    await asyncio.sleep(0.1)
    later = await client.state("get", name)
    assert later["time"] == ended["endedAt"] - later["lastElapsedTimeCalculatedAt"] < 0
    assert later["status"] == "running"


async def test_finish_stands_at_zero(client, name, punctual):
    """With `finish` the run ends at the exact zero and stays there."""
    started = await watch(client, name, duration=0.3, atZero="finish")

    ended = await client.snapshot("ended", name)

    zero = started["startDate"] + D("0.3")
    state = ended.state(name)
    assert (ended["endedAt"], state["status"], state["time"], state["stopDate"]) == (zero, "finished", 0, zero)
    assert state["elapsedTime"] == D("0.3") and state["revision"] > started["revision"]
    punctual([client.lateness(ended, zero)], "the end")
    assert await client.collect(0.2) == []
    assert (await client.state("get", name))["time"] == 0
    await client.refused("timerHasNotStarted", "pause", name)


async def test_reset_is_idle_at_the_start_value(client, name, punctual):
    """With `reset` the countdown shows its starting duration again, without what was added."""
    await watch(client, name, duration=20, atZero="reset")
    # However late this request arrives, `clamp` leaves zero or more.
    await client.ok("addRemainingTime", name, seconds=-19.7, clamp=True)
    await client.snapshot("adjusted", name)

    ended = await client.snapshot("ended", name)

    state = ended.state(name)
    assert (state["status"], state["duration"], state["time"], state["addedTime"]) == ("idle", 20, 20, 0)
    punctual([client.lateness(ended, ended["endedAt"])], "the end")
    assert await client.collect(0.3) == []
    assert (await client.state("get", name))["status"] == "idle"


async def test_repeat_starts_at_the_exact_zero(client, name, punctual):
    """With `repeat` at a tenth of a second, run n starts exactly n tenths after the first."""
    started = await watch(client, name, duration=0.1, atZero="repeat")

    late, revision = [], started["revision"]
    for number in range(1, 41):
        ended = await client.snapshot("ended", name)
        zero = started["startDate"] + number * D("0.1")
        state = ended.state(name)
        assert ended["endedAt"] == zero
        assert (state["status"], state["startDate"], state["duration"]) == ("running", zero, D("0.1"))
        assert state["elapsedTime"] == 0 and state["pausePeriods"] == []
        assert state["revision"] > revision
        revision = state["revision"]
        late.append(client.lateness(ended, zero))

    punctual(late, "ends")
    await client.ok("remove", name)


async def test_repeat_runs_on_without_what_was_added(client, name):
    """Added time counts for one run; the next run has the starting duration."""
    started = await watch(client, name, duration=1.2, atZero="repeat")
    await client.ok("addRemainingTime", name, seconds=-0.2)

    first = await client.snapshot("ended", name)
    second = await client.snapshot("ended", name)

    assert first["endedAt"] == started["startDate"] + 1
    assert first.state(name)["duration"] == D("1.2") and first.state(name)["addedTime"] == 0
    assert second["endedAt"] == started["startDate"] + D("2.2")
    await client.ok("remove", name)


async def test_repeat_ticks_through_its_runs(client, name, punctual):
    """Ticks of a repeating countdown are of the run that counts."""
    await client.subscribe(name, interval=0.1)
    started = await client.state("start", name, duration=0.3, atZero="repeat")
    await client.snapshot("started", name)

    seen = []
    while len(ends(seen)) < 2:
        seen.append(await client.snapshot(timer=name))

    length = D("0.3")
    passed = [a.state(name)["lastElapsedTimeCalculatedAt"] - started["startDate"] for a in seen]
    punctual.in_step(seen, passed, [D(number) / 10 for number in range(1, 7)])
    assert [a["cause"] for a in seen] == ["tick" if since % length else "ended" for since in passed]
    assert [a.state(name)["time"] for a in seen] == [length - since % length for since in passed]
    await client.ok("remove", name)


async def test_repeat_stops_when_paused_and_goes_on(client, name):
    """A paused repeating countdown does not end; resumed, it ends that much later, and repeats from there."""
    started = await watch(client, name, duration=0.3, atZero="repeat")
    paused = await client.state("pause", name)
    await client.snapshot("paused", name)
    client.take()
    assert ends(await client.collect(0.5)) == []

    resumed = await client.state("resume", name)

    zero = resumed["pausePeriods"][0]["start"] + paused["time"]
    assert (await client.snapshot("ended", name))["endedAt"] == zero
    assert (await client.snapshot("ended", name))["endedAt"] == zero + D("0.3")
    assert started["startDate"] < zero
    await client.ok("remove", name)


async def test_repeat_ends_by_another_policy(client, name):
    """`update` ends the repeating at the next zero."""
    await watch(client, name, duration=0.2, atZero="repeat")
    await client.snapshot("ended", name)

    await client.ok("update", name, atZero="finish")

    ended = await client.snapshot("ended", name, where=lambda a: a.state(name)["status"] == "finished")
    assert ended.state(name)["time"] == 0
    client.take()
    assert ends(await client.collect(0.5)) == []


async def test_more_time_before_the_end_moves_the_end(client, name):
    """1 s, +0.2 at 0.3: one `ended`, at 1.2."""
    started = await watch(client, name, duration=1)
    await client.sleep_until(float(started["startDate"]) + 0.3)
    await client.ok("addRemainingTime", name, seconds=0.2)

    ended = await client.snapshot("ended", name)

    assert ended["endedAt"] == started["startDate"] + D("1.2")
    assert ends(client.take()) == []
    assert ends(await client.collect(0.3)) == []


async def test_less_time_moves_the_end(client, name, punctual):
    """610 s, -609: `ended` once, at the new zero."""
    started = await watch(client, name, duration=610)
    await client.ok("addRemainingTime", name, seconds=-609)

    ended = await client.snapshot("ended", name)

    assert ended["endedAt"] == started["startDate"] + 1
    punctual([client.lateness(ended, ended["endedAt"])], "the end")
    assert ends(await client.collect(0.3)) == []


async def test_less_time_to_exactly_zero_ends_at_once(client, name):
    """Taking exactly what is left of a paused countdown ends it once."""
    started = await watch(client, name, duration=600)
    paused = await client.state("pause", name)
    assert paused["time"] <= 600 == started["duration"]

    state = await client.state("addRemainingTime", name, seconds=-paused["time"])

    assert state["time"] == 0
    ended = await client.snapshot("ended", name)
    assert ended.state(name)["time"] == 0
    assert ends(await client.collect(0.3)) == []


async def test_time_added_to_a_paused_one_moves_the_end(client, name):
    """1 s, pause at 0.2, +0.1, wait, resume: 0.9 left, and `ended` 0.9 s later."""
    started = await watch(client, name, duration=1)
    instant = float(started["startDate"]) + 0.2
    await client.sleep_until(instant)
    await client.ok("pause", name, at=instant)
    await client.ok("addRemainingTime", name, seconds=0.1)
    await client.sleep_until(float(started["startDate"]) + 1.2)
    assert ends(client.take()) == []

    resumed = await client.state("resume", name)

    begun = resumed["pausePeriods"][-1]["start"]
    assert resumed["time"] == D("0.9") - (resumed["lastElapsedTimeCalculatedAt"] - begun)
    assert (await client.snapshot("ended", name))["endedAt"] == begun + D("0.9")


async def test_a_pause_before_the_end_puts_it_off(client, name):
    """2 s, pause at 0.5, wait 0.5, resume: 1.5 left to the microsecond."""
    started = await watch(client, name, duration=2)
    pause, resume = float(started["startDate"]) + 0.5, float(started["startDate"]) + 1
    await client.sleep_until(pause)
    paused = await client.state("pause", name, at=pause)
    assert paused["time"] == D("1.5")
    await client.sleep_until(resume)

    await client.ok("resume", name, at=resume)

    assert (await client.snapshot("ended", name))["endedAt"] == started["startDate"] + D("2.5")


async def test_time_added_in_overtime_ends_again(client, name):
    """A second zero is a second crossing."""
    await watch(client, name, duration=0.2)
    first = await client.snapshot("ended", name)
    state = await client.state("addRemainingTime", name, seconds=0.6)
    assert state["time"] > 0

    second = await client.snapshot("ended", name)

    assert second["endedAt"] == first["endedAt"] + D("0.6")
    assert ends(await client.collect(0.2)) == []


async def test_a_pause_in_overtime_does_not_end_again(client, name):
    """Pausing and resuming below zero crosses nothing."""
    await watch(client, name, duration=0.2)
    await client.snapshot("ended", name)
    await asyncio.sleep(0.1)

    paused = await client.state("pause", name)
    resumed = await client.state("resume", name)

    assert paused["time"] < 0 and resumed["time"] <= paused["time"]
    assert ends(await client.collect(0.3)) == []


@pytest.mark.parametrize("command", ["pause", "finish", "reset"])
async def test_what_stopped_before_zero_does_not_end(client, name, command):
    """A countdown that was paused, finished or reset does not cross zero."""
    started = await watch(client, name, duration=1)
    await client.ok(command, name)

    await client.sleep_until(float(started["startDate"]) + 1.2)
    assert ends(client.take()) == []


async def test_a_new_start_ends_at_its_own_zero(client, name):
    """The zero of a run that was replaced never comes."""
    started = await watch(client, name, duration=1)
    again = await client.state("start", name, duration=0.4, force=True)

    ended = await client.snapshot("ended", name)

    assert ended["endedAt"] == again["startDate"] + D("0.4")
    await client.sleep_until(float(started["startDate"]) + 1.2)
    assert ends(client.take()) == []


@pytest.mark.parametrize("policy", ["overtime", "finish", "reset"])
async def test_start_after_the_end_counts_the_full_duration(client, name, policy):
    """A start after the end is a new run, with its own end."""
    await watch(client, name, duration=0.2, atZero=policy)
    await client.snapshot("ended", name)
    if policy == "overtime":
        await client.ok("finish", name)

    state = await client.state("start", name)

    assert (state["duration"], state["status"], state["addedTime"]) == (D("0.2"), "running", 0)
    assert (await client.snapshot("ended", name))["endedAt"] == state["startDate"] + D("0.2")


@pytest.mark.parametrize(("policy", "status"), [("finish", "finished"), ("reset", "idle")])
async def test_a_policy_set_before_the_end_counts(client, name, policy, status):
    """The policy at the instant of the crossing is the one that counts."""
    await watch(client, name, duration=1)
    await client.ok("update", name, atZero=policy)

    ended = await client.snapshot("ended", name)

    assert ended.state(name)["status"] == status


async def test_a_policy_set_in_overtime_waits_for_the_next_zero(client, name):
    """Changing the policy after the crossing does not end the run."""
    await watch(client, name, duration=0.2)
    await client.snapshot("ended", name)

    updated = await client.state("update", name, atZero="finish")

    assert updated["status"] == "running"
    assert ends(await client.collect(0.2)) == []
    later = await client.state("get", name)
    assert later["status"] == "running" and later["time"] < 0


async def test_every_subscriber_sees_one_end(shared_server, connect, name):
    """Each connection gets one message, the same for all, whichever subscription it has."""
    watchers = [
        await connect(shared_server, timers=[name], interval=0),
        await connect(shared_server, timers=[name], interval=0.1),
        await connect(shared_server, timers=["*"], interval=0),
        await connect(shared_server, timers=["*"], interval=1),
    ]
    await watchers[0].ok("start", name, duration=0.35)

    seen = [await watcher.snapshot("ended", name) for watcher in watchers]

    assert len({a["endedAt"] for a in seen}) == 1
    assert [a.state(name) for a in seen] == [seen[0].state(name)] * 4
    await asyncio.sleep(0.2)
    for watcher in watchers:
        assert [a for a in ends(watcher.take()) if a.has(name)] == []


async def test_the_end_is_told_without_any_subscriber(client, name):
    """A countdown with `finish` ends at its zero also when nobody looks."""
    started = await client.state("start", name, duration=0.2, atZero="finish")

    state = started
    async with asyncio.timeout(WITHIN):
        while state["status"] == "running":
            await asyncio.sleep(0.05)
            state = await client.state("get", name)

    assert (state["status"], state["stopDate"]) == ("finished", started["startDate"] + D("0.2"))


async def test_many_countdowns_end_together(server, connect, punctual):
    """Fifty countdowns with the same zero end each once, in time."""
    client = await connect(server)
    await client.calibrate()
    await client.subscribe("*", interval=0)
    instant = (await client.ok("sync"))["receivedAt"]
    for number in range(50):
        await client.send({
            "id": f"s{number}", "command": "start", "timer": f"t{number}", "duration": 1, "at": float(instant)})
    for number in range(50):
        assert (await client.reply(f"s{number}"))["ok"] is True

    seen = []
    while len(seen) < 50:
        ended = await client.snapshot("ended")
        assert ended["endedAt"] == instant + 1
        seen += [state["timer"] for state in ended["timers"]]
    assert sorted(seen) == sorted(f"t{number}" for number in range(50))
    punctual([client.lateness(a, a["endedAt"]) for a in ends(client.arrivals)], "ends")
    assert ends(await client.collect(0.2)) == []
