"""Everything survives: every state over a crash, ends that were missed, odd names, and the files themselves."""

import asyncio
import json
import resource
import statistics
import time
from decimal import Decimal as D

import pytest

from stamped import TO_TEN_MILLISECONDS, assert_went_on, look

ODD_NAMES = [
    "a_b", "a/b", "..", ".", "%2F", "'", "?#", "🍵", "\u00e9", "e\u0301", "/" * 128, "🍵" * 32, "a b", ".hidden",
    "../up", "con", "A", "a", "%", "\\", '"', "x.json", "-", "~", "a%00b",
]


SETTLED = (
    "timer", "revision", "status", "type", "duration", "elapsedTime", "time", "addedTime", "atZero", "title",
    "warnings")


def settled(state):
    """The fields that must be the same after a restart of a timer that does not run."""
    return {field: state.get(field) for field in SETTLED}


async def test_every_state_survives_a_crash(server, connect):
    """A server is killed with running, paused, finished and idle timers: 3 s later each is right to 10 ms."""
    client = await connect(server)
    await client.ok("start", "runs", duration=600, title="Tea 🍵", warnings=[60, 10], atZero="finish")
    await client.ok("start", "counts up")
    await client.ok("addElapsedTime", "counts up", seconds=100.25)
    await client.ok("start", "runs after a pause", duration=600)
    await client.ok("pause", "runs after a pause")
    await client.ok("addRemainingTime", "runs after a pause", seconds=30.5)
    await asyncio.sleep(0.2)
    await client.ok("resume", "runs after a pause")
    await client.ok("start", "stands", duration=60)
    await client.ok("start", "over", duration=60)
    await client.ok("start", "shown as nothing", duration=60)
    await client.ok("start", "idle", duration=60, title="later")
    await asyncio.sleep(0.1)
    await client.ok("pause", "stands")
    await client.ok("finish", "over")
    await client.ok("finish", "shown as nothing", resetTime=True)
    await client.ok("reset", "idle")
    running = ("runs", "counts up", "runs after a pause")
    still = ("stands", "over", "shown as nothing", "idle")
    before = {name: await look(client, name) for name in running + still}

    server.restart(down_for=3)

    client = await connect(server)
    for name in running:
        after = await look(client, name)
        assert_went_on(before[name], after)
        for field in ("revision", "status", "type", "addedTime", "atZero", "title", "warnings"):
            assert after.state[field] == before[name].state[field], (name, field)
        assert after.state.get("duration") == before[name].state.get("duration")
        moved = after.state["startDate"] - before[name].state["startDate"]
        assert abs(float(moved)) <= TO_TEN_MILLISECONDS, "the start moved against the clock"
    for name in still:
        assert settled((await look(client, name)).state) == settled(before[name].state), name


async def test_a_clean_stop_loses_nothing(server, connect):
    """After SIGTERM all timers are as after a crash."""
    client = await connect(server)
    await client.ok("start", "runs", duration=600)
    await client.ok("start", "stands", duration=60)
    await client.ok("pause", "stands")
    before = {name: await look(client, name) for name in ("runs", "stands")}

    assert server.stop() == 0
    server.start()

    client = await connect(server)
    assert_went_on(before["runs"], await look(client, "runs"))
    assert settled((await look(client, "stands")).state) == settled(before["stands"].state)


async def test_ticks_go_on_after_a_restart(server, connect, punctual):
    """A countdown that ran before ticks on its own whole seconds after."""
    client = await connect(server)
    await client.ok("start", "tea", duration=600)

    server.restart(down_for=0.3)

    client = await connect(server, timers=["tea"])
    seen = [await client.snapshot("tick", "tea") for _ in range(2)]
    punctual.all_multiples(seen, [-a.state("tea")["time"] for a in seen], 1)


async def test_a_run_goes_on_to_its_end_after_a_restart(server, connect, punctual):
    """A countdown that ran over a restart ends once, at its zero, and not as a late one."""
    client = await connect(server)
    started = await client.state("start", "tea", duration=2)

    server.restart(down_for=0.3)

    client = await connect(server, timers=["tea"], interval=0)
    await client.calibrate()
    await client.snapshot("subscribed", "tea")
    ended = await client.snapshot("ended", "tea")
    assert "late" not in ended
    assert ended.state("tea")["time"] == 0
    assert abs(float(ended["endedAt"] - started["startDate"]) - 2) <= TO_TEN_MILLISECONDS
    punctual([client.lateness(ended, ended["endedAt"])], "the end")
    assert [a["cause"] for a in await client.collect(0.3)] == []


async def test_overtime_that_was_paused_stays(server, connect):
    """A countdown that is paused below zero is the same after a restart, and does not end again."""
    client = await connect(server)
    await client.subscribe("tea", interval=0)
    await client.ok("start", "tea", duration=0.2)
    await client.snapshot("ended", "tea")
    await asyncio.sleep(0.5)
    paused = await client.state("pause", "tea")
    assert paused["time"] <= D("-0.5")

    server.restart(down_for=0.5)

    client = await connect(server, timers=["tea"], interval=0)
    state = (await client.snapshot("subscribed")).state("tea")
    assert (state["status"], state["time"], state["revision"]) == ("paused", paused["time"], paused["revision"])
    await client.ok("resume", "tea")
    assert [a["cause"] for a in await client.collect(0.3)] == ["resumed"]


async def test_overtime_that_runs_goes_on(server, connect):
    """A countdown in overtime before and after a restart sends no second `ended`."""
    client = await connect(server)
    await client.subscribe("tea", interval=0)
    await client.ok("start", "tea", duration=0.2)
    await client.snapshot("ended", "tea")
    before = await look(client, "tea")

    server.restart(down_for=0.5)

    client = await connect(server, timers=["tea"], interval=0)
    assert_went_on(before, await look(client, "tea"))
    assert [a["cause"] for a in await client.collect(0.3)] == ["subscribed"]


@pytest.mark.parametrize(
    ("policy", "status"),
    [("overtime", "running"), ("finish", "finished"), ("reset", "idle"), ("repeat", "running")])
async def test_an_end_while_the_server_was_down_is_told_once(server, connect, policy, status):
    """After `subscribed` come a `restored` snapshot and one late `ended`, with the instant of the crossing."""
    client = await connect(server)
    started = await client.state("start", "tea", duration=1, atZero=policy)

    server.restart(down_for=1.4)

    client = await connect(server, timers=["tea"], interval=0)
    subscribed = await client.snapshot()
    restored = await client.snapshot(timer="tea")
    ended = await client.snapshot(timer="tea")
    assert [a["cause"] for a in (subscribed, restored, ended)] == ["subscribed", "restored", "ended"]
    assert ended["late"] is True
    assert abs(float(ended["endedAt"] - started["startDate"]) - 1) <= TO_TEN_MILLISECONDS
    state = await client.state("get", "tea")
    assert state["status"] == status
    if policy == "overtime":
        assert state["time"] < D("-0.4")
    elif policy == "finish":
        assert (state["time"], state["elapsedTime"]) == (0, 1)
        assert state["stopDate"] == ended["endedAt"]
    elif policy == "reset":
        assert (state["time"], state["elapsedTime"]) == (1, 0)
    else:
        assert (state["startDate"] - ended["endedAt"]) % 1 == 0
    await client.ok("remove", "tea")
    assert [a for a in await client.collect(0.3) if a.get("late")] == []


async def test_a_late_end_is_sent_to_clients_that_connect_within_the_minute(server, connect):
    """Each connection receives the late end once, whether it subscribes by query or request, by name or `*`."""
    client = await connect(server)
    await client.ok("start", "tea", duration=1, atZero="finish")
    await client.ok("start", "later", duration=600)

    server.restart(down_for=1.2)

    by_query = await connect(server, timers=["tea"], interval=0)
    by_star = await connect(server, timers=["*"], interval=0)
    by_request = await connect(server)
    await by_request.ok("subscribe", "tea", interval=0)
    other = await connect(server, timers=["later"], interval=0)
    for watcher in (by_query, by_star, by_request):
        causes = [(a["cause"], a.has("tea")) for a in [await watcher.snapshot() for _ in range(3)]]
        assert causes == [("subscribed", True), ("restored", True), ("ended", True)], causes
        assert await watcher.collect(0.2) == []
    await other.snapshot("subscribed")
    assert await other.collect(0.1) == []


async def test_a_late_end_is_not_told_after_another_restart(server, connect):
    """A late end that was sent after one restart is not sent again after the next."""
    client = await connect(server)
    await client.ok("start", "tea", duration=1)
    server.restart(down_for=1.2)
    client = await connect(server, timers=["tea"], interval=0)
    await client.snapshot("ended", "tea")
    # The mark that the end was delivered is stored after it is sent, and before a change that is requested then.
    await client.ok("start", "other", duration=600)

    server.restart()

    client = await connect(server, timers=["tea"], interval=0)
    await client.snapshot("subscribed")
    assert await client.collect(0.3) == []


async def test_a_told_end_is_not_told_again_by_a_restart(server, connect):
    """An `ended` that went out before the crash is the only one."""
    client = await connect(server)
    await client.subscribe("tea", interval=0)
    await client.ok("start", "tea", duration=0.3, atZero="finish")
    await client.snapshot("ended", "tea")

    server.restart()

    client = await connect(server, timers=["tea"], interval=0)
    await client.snapshot("subscribed")
    assert await client.collect(0.3) == []


async def test_what_was_removed_stays_away(server, connect):
    """A removed timer does not come back, nor does its file."""
    client = await connect(server)
    await client.ok("start", "tea", duration=60)
    await client.ok("start", "coffee", duration=60)
    await client.ok("remove", "tea")

    server.restart()

    client = await connect(server)
    assert [state["timer"] for state in (await client.ok("list"))["timers"]] == ["coffee"]


async def test_everything_answered_is_durable(server, connect):
    """A kill in the middle of a burst loses no answered change."""
    client = await connect(server)
    await client.ok("start", "tea", duration=600)
    for number in range(300):
        await client.send({"id": f"n{number}", "command": "update", "timer": "tea", "title": str(number)})
    await client.reply("n40")
    server.kill()
    await client.wait_closed()
    answered = [a for a in client.arrivals if isinstance(a.get("reply"), str)]
    newest = max(answered, key=lambda a: a["timer"]["revision"])

    server.start()

    client = await connect(server)
    state = await client.state("get", "tea")
    assert state["revision"] >= newest["timer"]["revision"]
    assert int(state["title"]) >= int(newest["timer"]["title"])


async def test_odd_names_start_list_restart_and_remove(server, connect, tmp_path):
    """A timer with any valid name can be used and removed, and its file stays inside the data folder."""
    around = set(tmp_path.iterdir())
    client = await connect(server)
    for name in ODD_NAMES:
        state = await client.state("start", name, duration=600, title=f"title of {name}")
        assert state["timer"] == name
    expected = sorted(ODD_NAMES, key=lambda name: name.encode())
    assert [state["timer"] for state in (await client.ok("list"))["timers"]] == expected

    server.restart()

    client = await connect(server)
    states = (await client.ok("list"))["timers"]
    assert [state["timer"] for state in states] == expected
    assert [state["title"] for state in states] == [f"title of {name}" for name in expected]
    assert set(tmp_path.iterdir()) == around
    for name in ODD_NAMES:
        await client.ok("remove", name)
    server.restart()
    client = await connect(server)
    assert (await client.ok("list"))["timers"] == []


def timer_files(server):
    return {path for path in server.files() if path.suffix == ".json"}


async def test_one_readable_file_a_timer(server, connect):
    """Each timer is one JSON file that a person can read; removing it removes the file."""
    client = await connect(server)
    await client.ok("start", "before")
    others = timer_files(server)

    await client.ok("start", "tea", duration=300, title="Green tea 🍵", atZero="finish")

    [path] = timer_files(server) - others
    text = path.read_text(encoding="utf-8")
    assert isinstance(json.loads(text), dict)
    for words in ("tea", "Green tea 🍵", "300", "finish"):
        assert words in text, f"{words!r} cannot be read in {text}"
    assert text.count("\n") > 3, f"one long line is not for a person: {text}"
    await client.ok("pause", "tea")
    assert timer_files(server) == others | {path}
    await client.ok("remove", "tea")
    assert timer_files(server) == others


async def test_no_scraps_are_left(server, connect):
    """After many changes the folder has the same files as after the first one."""
    client = await connect(server)
    await client.ok("start", "tea", duration=300)
    before = server.files()

    for _ in range(20):
        await client.ok("start", "tea", force=True)

    assert server.files() == before


async def timed(client, command, timer="tea"):
    """The state after a command, and how long its reply took to arrive."""
    identifier = client.next_id()
    sent = time.monotonic()
    await client.send({"id": identifier, "command": command, "timer": timer})
    arrival = await client.wait_for(lambda arrival: arrival.get("reply") == identifier, f"the reply to {command}")
    assert arrival["ok"] is True, arrival.message
    return arrival["timer"], arrival.at - sent


async def test_a_thousand_pauses_cost_nothing(server, connect):
    """1 000 pauses and resumes: under 1 ms of error, a file under 10 kB, the last pair as quick as the first."""
    client = await connect(server)
    started = await client.state("start", "tea", duration=100_000)
    stood, last, first = D(0), [], []
    for number in range(1000):
        paused, pause_cost = await timed(client, "pause")
        resumed, resume_cost = await timed(client, "resume")
        stood += resumed["pausePeriods"][-1]["start"] - paused["pausePeriods"][-1]["pause"]
        if number >= 900:
            # The first pair of another timer, at the same time: a machine that is busy now is busy for both.
            last.append(pause_cost + resume_cost)
            await client.ok("start", "fresh", duration=100_000, force=True)
            first.append((await timed(client, "pause", "fresh"))[1] + (await timed(client, "resume", "fresh"))[1])
    await client.ok("remove", "fresh")

    state = await client.state("get", "tea")
    expected = state["lastElapsedTimeCalculatedAt"] - started["startDate"] - stood
    assert abs(state["elapsedTime"] - expected) < D("0.001")
    assert len(state["pausePeriods"]) <= 64
    assert max(path.stat().st_size for path in timer_files(server)) < 10_000
    first, last = statistics.median(first), statistics.median(last)
    # 64 pauses are kept and written, which costs a processor something; a thousand would cost it ten times as much.
    assert last <= 2 * first + 0.001, f"a pair took {first * 1000:.2f} ms at first, {last * 1000:.2f} at last"
    before = await look(client, "tea")

    server.restart()

    client = await connect(server)
    assert_went_on(before, await look(client, "tea"))


async def test_what_the_disk_refuses_is_not_shown(server, connect):
    """When the disk refuses writes, a change gets `storageFailed`, is broadcast to nobody, and may be repeated."""
    client = await connect(server)
    await client.subscribe("tea", interval=0)
    started = await client.state("start", "tea", duration=600)
    await client.snapshot("started", "tea")
    _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (0, hard))

    reply = await client.refused("storageFailed", "pause", "tea")

    assert reply["error"]["retryable"] is True
    assert (reply["timer"]["status"], reply["timer"]["revision"]) == ("running", started["revision"])
    # Subscribers are sent that changes are refused (`server`), but not the refused change.
    told = [arrival.message for arrival in await client.collect(0.1)]
    assert [(message["event"], message["writable"]) for message in told] == [("server", False)]
    assert (await client.state("get", "tea"))["status"] == "running"
    await client.refused("storageFailed", "start", "new", duration=60)
    await client.refused("unknownTimer", "get", "new")
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, hard))
    assert (await client.state("pause", "tea"))["status"] == "paused"
    server.restart()
    client = await connect(server)
    assert [(s["timer"], s["status"]) for s in (await client.ok("list"))["timers"]] == [("tea", "paused")]
