"""Ticks: on the timer's own seconds or on the server clock's, in time, and only for what runs."""

import asyncio
from decimal import Decimal as D

import pytest

from punctuality import Lateness


def ticks(arrivals, timer=None):
    return [a for a in arrivals if a.get("cause") == "tick" and (timer is None or a.has(timer))]


def instant(arrival, timer):
    return arrival.state(timer)["lastElapsedTimeCalculatedAt"]


async def test_tea_for_five_seconds_on_two_sockets(server, connect, punctual):
    """Both see `started`, ticks 4, 3, 2, 1, `ended` at zero and ticks of overtime, exact and in time."""
    clients = [await connect(server, name="left"), await connect(server, name="right")]
    for client in clients:
        await client.calibrate()
        await client.subscribe("tea")
    started = await clients[0].state("start", "tea", duration=5)
    zero = started["startDate"] + 5

    late = []
    for client in clients:
        expected = await client.snapshot("started", "tea")
        assert expected.state("tea")["revision"] == started["revision"]
        arrivals, times = [], []
        while not times or times[-1] > -2:
            arrivals.append(await client.snapshot(timer="tea"))
            state, cause = arrivals[-1].state("tea"), arrivals[-1]["cause"]
            times.append(state["time"])
            assert cause == ("ended" if state["time"] == 0 else "tick")
            assert cause == "tick" or (arrivals[-1]["endedAt"] == zero and "late" not in arrivals[-1])
            assert state["lastElapsedTimeCalculatedAt"] == zero - state["time"]
            assert state["status"] == "running" and (state["time"] <= 0 or state["revision"] == started["revision"])
            late.append(client.lateness(arrivals[-1], zero - state["time"]))
        assert 0 in times
        punctual.in_step(arrivals, times, [4, 3, 2, 1, 0, -1, -2])

    punctual(late, "ticks and ends")


async def test_thirty_steps_none_missing_none_twice(server, connect, punctual):
    """3 s at a tenth: 2.9, 2.8, … 0.1, the end, -0.1: each once, in order, in time."""
    client = await connect(server)
    await client.calibrate()
    await client.subscribe("tea", interval=0.1)
    started = await client.state("start", "tea", duration=3)

    arrivals = [await client.snapshot("started", timer="tea")]
    while arrivals[-1].state("tea")["time"] > D("-0.3"):
        arrivals.append(await client.snapshot(timer="tea"))

    del arrivals[0]
    times = [a.state("tea")["time"] for a in arrivals]
    punctual.in_step(arrivals, times, [D(30 - n) / 10 for n in range(1, 34)])
    assert [a["cause"] for a in arrivals] == ["tick" if time else "ended" for time in times] and 0 in times
    zero = started["startDate"] + 3
    punctual([client.lateness(a, zero - a.state("tea")["time"]) for a in arrivals])


@pytest.mark.parametrize("interval", ["0.1", "0.25", "0.3", "0.7"])
async def test_each_interval_ticks_on_its_own_multiples(shared_server, connect, name, interval, punctual):
    """A countdown ticks where its time left is a whole multiple of the interval."""
    client = await connect(shared_server)
    await client.calibrate()
    await client.subscribe(name, interval=float(interval))
    await client.ok("start", name, duration=60.05)
    await client.snapshot("started", name)

    seen = [await client.snapshot("tick", name) for _ in range(5)]

    first = D("60.05") // D(interval)
    times = [a.state(name)["time"] for a in seen]
    punctual.in_step(seen, times, [(first - n) * D(interval) for n in range(5)])
    punctual([client.lateness(a, instant(a, name)) for a in seen])


async def test_a_broken_duration_ticks_on_whole_seconds(client, name, punctual):
    """2.4 s tick at 2 and 1, and -1 after the end."""
    await client.subscribe(name)
    await client.ok("start", name, duration=2.4)
    await client.snapshot("started", name)

    seen = [await client.snapshot(timer=name)]
    while seen[-1].state(name)["time"] > -1:
        seen.append(await client.snapshot(timer=name))

    times = [a.state(name)["time"] for a in seen]
    punctual.in_step(seen, times, [2, 1, 0, -1])
    assert [a["cause"] for a in seen] == ["tick" if time else "ended" for time in times] and 0 in times


async def test_a_stopwatch_ticks_on_whole_seconds(client, name, punctual):
    """A stopwatch shows 1, 2 exactly; after adding a fraction it still ticks on whole seconds."""
    await client.calibrate()
    await client.subscribe(name)
    started = await client.state("start", name)
    seen = [await client.snapshot("tick", name) for _ in range(2)]
    times = [a.state(name)["time"] for a in seen]
    punctual.in_step(seen, times, [1, 2])
    assert [instant(a, name) for a in seen] == [started["startDate"] + time for time in times]

    added = await client.state("addElapsedTime", name, seconds=0.4)

    whole = added["elapsedTime"] // 1
    third = await client.snapshot("tick", name, where=lambda a: a.state(name)["time"] > whole)
    time = third.state(name)["time"]
    punctual.in_step([third], [time], [whole + 1, whole + 2])
    assert instant(third, name) == added["lastElapsedTimeCalculatedAt"] + time - added["elapsedTime"]
    punctual([client.lateness(a, instant(a, name)) for a in (*seen, third)])


async def test_ticks_follow_what_was_added(client, name, punctual):
    """After adding a fraction, a countdown still ticks on whole seconds of its time left."""
    await client.subscribe(name)
    await client.ok("start", name, duration=10)
    await client.ok("addRemainingTime", name, seconds=0.3)
    adjusted = (await client.snapshot("adjusted", name)).state(name)

    seen = [await client.snapshot("tick", name, where=lambda a: a.state(name)["revision"] == adjusted["revision"])
            for _ in range(2)]

    first = adjusted["time"] // 1
    punctual.in_step(seen, [a.state(name)["time"] for a in seen], [first, first - 1])


async def test_ticks_follow_a_pause(client, name, punctual):
    """After a pause a countdown goes on ticking on whole seconds of its time left."""
    await client.subscribe(name)
    await client.ok("start", name, duration=10)
    await client.snapshot("tick", name)
    await asyncio.sleep(0.3)
    await client.ok("pause", name)
    await asyncio.sleep(0.4)
    resumed = await client.state("resume", name)

    tick = await client.snapshot("tick", name, where=lambda a: a.state(name)["revision"] == resumed["revision"])

    time, first = tick.state(name)["time"], resumed["time"] // 1
    punctual.in_step([tick], [time], [first, first - 1])
    assert instant(tick, name) == resumed["lastElapsedTimeCalculatedAt"] + resumed["time"] - time


@pytest.mark.parametrize("before", [["pause"], ["finish"], ["reset"], ["remove"]])
async def test_what_does_not_run_does_not_tick(client, name, before):
    """No tick for a paused, finished, idle or forgotten timer."""
    await client.subscribe(name, interval=0.1)
    await client.ok("start", name, duration=60)
    await client.snapshot("tick", name)
    for command in before:
        await client.ok(command, name)
    await client.drain(0.05)

    assert await client.collect(0.4) == []


async def test_interval_zero_sends_changes_and_the_end(client, name):
    """With interval 0 there is no tick, but each change and the end itself."""
    await client.subscribe(name, interval=0)
    await client.ok("start", name, duration=1.2)
    await client.ok("update", name, title="x")

    causes = [a["cause"] for a in await client.collect(2.4)]

    assert causes == ["started", "updated", "ended"]


async def test_all_timers_tick_together_on_the_clock(server, connect, punctual):
    """`*` ticks on whole multiples of the server clock, all running timers in one message, sorted."""
    client = await connect(server)
    await client.calibrate()
    await client.ok("start", "b", duration=60.3)
    await client.ok("start", "a")
    await client.ok("start", "c", duration=60)
    await client.ok("pause", "c")
    await client.ok("start", "d", duration=60)
    await client.ok("finish", "d")
    await client.subscribe("*", interval=0.5)

    seen = [await client.snapshot("tick") for _ in range(5)]

    for tick in seen:
        assert [state["timer"] for state in tick["timers"]] == ["a", "b"]
        assert len({state["lastElapsedTimeCalculatedAt"] for state in tick["timers"]}) == 1
    instants = [instant(tick, "a") for tick in seen]
    punctual.all_multiples(seen, instants, D("0.5"))
    punctual([client.lateness(tick, at) for tick, at in zip(seen, instants)])


async def test_all_timers_tick_each_second_by_default(server, connect, punctual):
    """Without interval `*` ticks on whole seconds of the server clock."""
    client = await connect(server)
    await client.ok("start", "a", duration=60.3)
    await client.subscribe("*")

    seen = [await client.snapshot("tick") for _ in range(2)]

    punctual.all_multiples(seen, [instant(tick, "a") for tick in seen], 1)


async def test_all_timers_do_not_tick_when_none_runs(server, connect):
    """`*` is silent while nothing runs."""
    client = await connect(server)
    await client.ok("start", "a", duration=60)
    await client.ok("pause", "a")
    await client.subscribe("*", interval=0.1)

    assert await client.collect(0.4) == []


async def test_subscribing_again_replaces_the_interval(client, name, punctual):
    """The old ticks stop, the new ones come, and the state is shown again."""
    await client.ok("start", name, duration=60)
    await client.subscribe(name, interval=0.1)
    await client.snapshot("tick", name)

    shown = await client.subscribe(name, interval=0.5)

    await asyncio.sleep(1.3)
    seen = ticks(client.arrivals[client.arrivals.index(shown):])
    punctual.all_multiples(seen, [-a.state(name)["time"] for a in seen], D("0.5"))


async def test_subscribing_again_with_zero_ends_the_ticks(client, name):
    """Interval 0 replaces ticks by changes alone."""
    await client.ok("start", name, duration=60)
    await client.subscribe(name, interval=0.1)
    await client.snapshot("tick", name)

    await client.subscribe(name, interval=0)
    client.take()

    assert await client.collect(0.4) == []


async def test_each_connection_has_its_own_interval(shared_server, connect, name, punctual):
    """Two connections tick at their own pace."""
    slow, quick = await connect(shared_server), await connect(shared_server)
    await slow.subscribe(name, interval=0.5)
    await quick.subscribe(name, interval=0.1)
    await quick.ok("start", name, duration=60)

    first = [await slow.snapshot("tick", name) for _ in range(2)]
    second = [await quick.snapshot("tick", name) for _ in range(3)]

    punctual.in_step(first, [a.state(name)["time"] for a in first], [D("59.5"), D("59")])
    punctual.in_step(second, [a.state(name)["time"] for a in second], [D("59.9"), D("59.8"), D("59.7")])


async def test_timers_of_one_subscription_tick_each_on_its_own(client, name, punctual):
    """Two countdowns started apart tick apart, each at its own whole seconds."""
    first, second = f"{name} a", f"{name} b"
    await client.subscribe(first, second)
    await client.ok("start", first, duration=10)
    await asyncio.sleep(0.4)
    await client.ok("start", second, duration=20)

    for timer, expected in ((first, [9, 8]), (second, [19, 18])):
        seen = [await client.snapshot("tick", timer) for _ in range(2)]
        punctual.in_step(seen, [a.state(timer)["time"] for a in seen], expected)


async def test_a_late_subscriber_ticks_on_the_same_seconds(shared_server, connect, name, punctual):
    """A subscriber that comes later gets ticks on the timer's seconds, not on its own."""
    early = await connect(shared_server)
    await early.subscribe(name)
    await early.ok("start", name, duration=10)
    await asyncio.sleep(0.35)

    late = await connect(shared_server, timers=[name])

    second = await late.snapshot("tick", name)
    first = await early.snapshot("tick", name, where=lambda a: instant(a, name) == instant(second, name))
    punctual([Lateness(abs(first.at - second.at), max(first.at, second.at))], "the second tick")


async def test_ticks_carry_what_was_changed(client, name):
    """A tick has the title, the policy and the revision of the last change."""
    await client.subscribe(name, interval=0.1)
    await client.ok("start", name, duration=60)

    updated = await client.state("update", name, title="Tea")

    await client.snapshot("updated", name)
    tick = await client.snapshot("tick", name, where=lambda a: a.state(name)["revision"] >= updated["revision"])
    assert tick.state(name)["title"] == "Tea"
    assert tick.state(name)["revision"] == updated["revision"]


async def test_ticks_do_not_drift(client, name, punctual):
    """Thirty ticks at a tenth of a second are as near to their instants at the end as at the start."""
    await client.calibrate()
    await client.subscribe(name, interval=0.1)
    await client.ok("start", name)

    ticks = [await client.snapshot("tick", name) for _ in range(30)]

    times = [tick.state(name)["time"] for tick in ticks]
    punctual.in_step(ticks, times, [D(number) / 10 for number in range(1, 31)])
    late = [client.lateness(tick, instant(tick, name)) for tick in ticks]
    punctual(late)
    punctual(late[-10:], "the last ten ticks")


async def test_ticks_of_one_instant_reach_everybody_whole(server, connect, punctual):
    """Five timers that tick together are sent together, to a client of all and to a client of some in between."""
    names = ["a", "b", "c", "d", "e"]
    whole, some = await connect(server, name="whole"), await connect(server, name="some")
    chosen = {whole: names, some: ["a", "c", "d"]}
    for client, timers in chosen.items():
        await client.calibrate()
        for name in timers:
            await client.subscribe(name, interval=0.1)
    at = (await whole.state("start", "clock", duration=10))["startDate"]
    for name in names:
        await whole.state("start", name, duration=10, at=at)

    await asyncio.sleep(1)
    for client, timers in chosen.items():
        for name in timers:
            seen = ticks(client.arrivals, name)
            assert len(seen) >= 2
            punctual.all_multiples(seen, [-a.state(name)["time"] for a in seen], D("0.1"))
        assert not any(a.has(name) for a in client.arrivals for name in set(names) - set(timers) if "timers" in a)
