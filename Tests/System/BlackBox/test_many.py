"""Many at once: sockets on one timer, timers on one socket, requests in a row."""

import asyncio
import socket
import time
from decimal import Decimal as D

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import connect as dial

import wire
from punctuality import TooLate
from timer_client import WITHIN, Client
from timer_server import Server


async def test_two_sockets_pause_and_resume_two_hundred_times(server, connect, punctual):
    """Replies, final state and one series of ticks agree when two sockets press within a second."""
    clients = [await connect(server, name="left"), await connect(server, name="right")]
    for client in clients:
        await client.subscribe("tea", interval=0.1)
    started = await clients[0].state("start", "tea", duration=600)

    async def press(client):
        begun = time.monotonic()
        for number in range(200):
            command = "pause" if number % 2 == 0 else "resume"
            await client.send({"id": f"p{number}", "command": command, "timer": "tea"})
            await asyncio.sleep(max(0.0, begun + number / 250 - time.monotonic()))
        return [await client.reply(f"p{number}") for number in range(200)]

    replies = await asyncio.gather(*(press(client) for client in clients))

    changes = []
    for of_one in replies:
        for reply in of_one:
            if reply["ok"]:
                changes.append(reply["timer"])
            else:
                assert reply["error"]["code"] in {"timerAlreadyPaused", "timerHasNotPaused"}, reply
                fits = "paused" if reply["error"]["code"] == "timerAlreadyPaused" else "running"
                assert reply["timer"]["status"] == fits
    changes.sort(key=lambda state: state["revision"])
    assert len({state["revision"] for state in changes}) == len(changes)
    statuses = [state["status"] for state in changes]
    assert statuses == (["paused", "running"] * 200)[:len(statuses)], "pauses and resumes take turns"
    assert len(changes) >= 100
    final = await clients[0].state("get", "tea")
    assert (final["status"], final["revision"]) == (changes[-1]["status"], changes[-1]["revision"])
    stood = D(0)
    for paused, resumed in zip(changes[0::2], changes[1::2]):
        stood += resumed["pausePeriods"][-1]["start"] - paused["pausePeriods"][-1]["pause"]
    if final["status"] == "paused":
        expected = changes[-1]["pausePeriods"][-1]["pause"] - started["startDate"] - stood
    else:
        expected = final["lastElapsedTimeCalculatedAt"] - started["startDate"] - stood
    assert abs(final["elapsedTime"] - expected) < D("0.001")

    for client in clients:
        await client.drain(0.05) if final["status"] == "paused" else client.take()
    if final["status"] == "paused":
        await clients[0].ok("resume", "tea")
    series = [[await client.snapshot("tick", "tea") for _ in range(5)] for client in clients]
    for ticks in series:
        times = [tick.state("tea")["time"] for tick in ticks]
        assert times[0] % D("0.1") == 0
        punctual.in_step(ticks, times, [times[0] - D(n) / 10 for n in range(5)])


async def test_commands_on_one_timer_never_change_another(server, connect):
    """Whatever happens to one timer, state and revision of another stay."""
    client = await connect(server)
    await client.ok("start", "tea", duration=600, title="Tea")
    standing = await client.state("pause", "tea")
    await client.ok("start", "tea ", duration=600)
    watcher = await connect(server, timers=["tea"], interval=0)
    await watcher.snapshot("subscribed")

    for command, fields in [
        ("start", {"duration": 0.1}), ("pause", {}), ("resume", {}), ("update", {"title": "x"}),
        ("addRemainingTime", {"seconds": 5}), ("finish", {}), ("start", {"type": "stopwatch"}),
        ("addElapsedTime", {"seconds": 5}), ("reset", {}), ("start", {"force": True}), ("remove", {}),
    ]:
        for other in ("Tea", "te", "tea2", "coffee"):
            await client.ok(command, other, **fields)
    await client.ok("finish", "tea ")

    state = await client.state("get", "tea")
    assert state == {**standing, "lastElapsedTimeCalculatedAt": state["lastElapsedTimeCalculatedAt"]}
    assert await watcher.collect(0.1) == []


async def test_replies_come_in_order(server, connect):
    """500 mixed requests without waiting: each is answered, in the order in which they came."""
    client = await connect(server)
    kinds = [
        {"command": "start", "timer": "a", "duration": 600, "force": True}, {"command": "get", "timer": "a"},
        {"command": "pause", "timer": "a"}, {"command": "list"}, {"command": "nonsense"},
        {"command": "start", "timer": "b", "force": True}, {"command": "sync", "clientTime": 1},
        {"command": "get", "timer": "nobody"}, {"command": "resume", "timer": "a"}, {"command": "get", "x": 1},
        {"command": "addElapsedTime", "timer": "b", "seconds": 1}, {"command": "remove", "timer": "b"},
    ]
    for number in range(500):
        await client.send({"id": number, **kinds[number % len(kinds)]})

    await client.reply(499)

    replies = [a for a in client.arrivals if "reply" in a]
    assert [a["reply"] for a in replies] == list(range(500))
    allowed = {4: "unknownCommand", 7: "unknownTimer", 9: "badRequest"}
    for number, arrival in enumerate(replies):
        kind = number % len(kinds)
        assert arrival["ok"] is (kind not in allowed), arrival.message
        if kind in allowed:
            assert arrival["error"]["code"] == allowed[kind]


async def test_later_requests_see_earlier_changes(server, connect):
    """A request sees what the requests before it on its connection did, without waiting for replies."""
    client = await connect(server)
    for number in range(50):
        await client.send({"id": f"u{number}", "command": "start", "timer": "tea", "title": str(number),
                           "duration": 60, "force": True})
        await client.send({"id": f"g{number}", "command": "get", "timer": "tea"})

    for number in range(50):
        assert (await client.reply(f"u{number}"))["timer"]["title"] == str(number)
        assert (await client.reply(f"g{number}"))["timer"]["title"] == str(number)


async def test_a_socket_that_does_not_read_holds_nobody_up(server, connect, punctual):
    """While one subscriber reads nothing, another gets its ticks in time; the first one then gets the newest."""
    watcher = await connect(server)
    await watcher.calibrate()
    for number in range(100):
        await watcher.send({"id": f"s{number}", "command": "start", "timer": f"t{number}", "title": "x" * 250})
    await watcher.reply("s99")
    await watcher.subscribe("t0", interval=0.1)
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    narrow.connect(("127.0.0.1", server.port))
    narrow.setblocking(False)
    async with dial(
        f"{server.url}?timer=*&interval=0.1", sock=narrow, proxy=None, compression=None, max_size=None, max_queue=1,
    ) as sleeper:
        sleeper.transport.pause_reading()
        late = []
        for _ in range(40):
            tick = await watcher.snapshot("tick", "t0")
            late.append(watcher.lateness(tick, tick.state("t0")["lastElapsedTimeCalculatedAt"]))
        awake, awake_at = watcher.now(), time.monotonic()
        sleeper.transport.resume_reading()

        instants = []
        async with asyncio.timeout(WITHIN):
            while not instants or instants[-1] < awake + 0.2:
                message = wire.parse(await sleeper.recv())
                if message.get("cause") == "tick":
                    instants.append(float(message["timers"][0]["lastElapsedTimeCalculatedAt"]))
    assert instants == sorted(instants)
    stale = [instant for instant in instants if instant < awake]
    assert len(stale) <= 20, f"{len(stale)} stale ticks were kept for a reader that slept through 40"
    done_at = time.monotonic()
    if done_at - awake_at - punctual.stalls.between(awake_at, done_at) >= 3:
        raise TooLate("the newest came only after the reader had been awake for 3 s")
    punctual(late)


async def test_two_hundred_sockets_see_the_same(server, connect):
    """Every one of 200 subscribers gets each change once, with the same state."""
    watchers = await asyncio.gather(*(connect(server, timers=["tea"], interval=0) for _ in range(200)))
    for watcher in watchers:
        await watcher.snapshot("subscribed")
    control = await connect(server)
    revisions = [
        (await control.state(command, "tea", **fields))["revision"]
        for command, fields in [("start", {"duration": 60}), ("pause", {}), ("resume", {}), ("finish", {})]]

    for watcher in watchers:
        seen = [await watcher.snapshot() for _ in range(4)]
        assert [a.state("tea")["revision"] for a in seen] == revisions
        assert [a["cause"] for a in seen] == ["started", "paused", "resumed", "finished"]
    assert await watchers[0].collect(0.05) == []


async def test_subscriptions_of_one_connection_are_bounded(server, connect):
    """Names without end are refused with `tooManySubscriptions`; what was subscribed stays, and `*` is one for all."""
    client = await connect(server)
    taken = 0
    for batch in range(100):
        names = [f"{batch} {number}" for number in range(500)]
        reply = await client.request("subscribe", timers=names, interval=0)
        if not reply["ok"]:
            break
        taken += len(names)
    assert reply["ok"] is False, f"{taken} names were taken"
    assert reply["error"]["code"] == "tooManySubscriptions"
    assert taken >= 500
    await client.drain(0.05)

    await client.ok("start", names[0])
    await client.ok("start", "0 0")

    assert [a["timers"][0]["timer"] for a in await client.drain()] == ["0 0"]
    await client.ok("unsubscribe", timers=[f"0 {number}" for number in range(500)])
    await client.ok("subscribe", timers="*", interval=0)


async def test_timers_of_one_server_are_bounded(tmp_path, connect):
    """Names without end are refused with `tooManyTimers`; those that are there go on, and a removal makes room."""
    server = Server(tmp_path / "data", "--requests", "100000").start()
    try:
        await fill_with_timers(await connect(server))
    finally:
        server.kill()


async def fill_with_timers(client):
    made, refused = 0, None
    for batch in range(40):
        for number in range(500):
            await client.send({"id": f"{batch} {number}", "command": "start", "timer": f"{batch} {number}"})
        for number in range(500):
            reply = await client.reply(f"{batch} {number}", within=60)
            made, refused = (made + 1, refused) if reply["ok"] else (made, reply)
        client.arrivals.clear()
        if refused:
            break
    assert refused, f"{made} timers were made"
    assert refused["error"]["code"] == "tooManyTimers" and "timer" not in refused
    await client.refused("tooManyTimers", "start", "one more")
    await client.ok("pause", "0 0")

    await client.ok("remove", "0 1")

    await client.ok("start", "one more")


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["pause", "resume", "finish", "reset", "remove", "get"]), st.just({})),
        st.tuples(st.just("start"), st.fixed_dictionaries({}, optional={
            "duration": st.integers(1, 600_000_000).map(lambda n: n / 1000), "force": st.booleans(),
            "type": st.sampled_from(["timer", "stopwatch"]),
            "atZero": st.sampled_from(["overtime", "finish", "reset", "repeat"])})),
        st.tuples(st.sampled_from(["addRemainingTime", "addElapsedTime"]), st.fixed_dictionaries(
            {"seconds": st.integers(-600_000, 600_000).map(lambda n: n / 1000)}, optional={"clamp": st.booleans()})),
        st.tuples(st.just("finish"), st.just({"resetTime": True})),
    ),
    min_size=1, max_size=25)


@settings(max_examples=25, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_any_series_of_commands_keeps_the_rules(shared_server, steps):
    """Whatever is sent, each reply fits the state before it, and the state afterwards is the one answered."""
    async def run():
        client = await Client.open(shared_server)
        try:
            await client.request("remove", "any")
            known = None
            for command, fields in steps:
                reply = await client.request(command, "any", **fields)
                state = reply.get("timer")
                if not reply["ok"]:
                    assert reply["error"]["code"] not in {"storageFailed", "unauthorized"}, reply
                    if state and known and state["status"] == known["status"]:
                        assert state["type"] == known["type"], (known, reply)
                    continue
                if command == "remove":
                    known = None
                    await client.refused("unknownTimer", "get", "any")
                    continue
                expected = {
                    "pause": {"paused"}, "resume": {"running", "idle", "finished"}, "finish": {"finished"},
                    "reset": {"idle"}, "start": {"running", "finished", "idle"},
                }.get(command)
                assert expected is None or state["status"] in expected, (command, fields, reply)
                if known and command != "get":
                    assert state["revision"] > known["revision"]
                wire.check_state(state)
                known = state
            await client.request("remove", "any")
        finally:
            await client.close()

    asyncio.run(run())
