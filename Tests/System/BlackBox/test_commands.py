"""Every row of the command table: what it does, what it refuses, and every field."""

import asyncio
import time
from decimal import Decimal as D

import pytest

from wire import seconds

YEAR = 31_536_000


async def until(client, state, elapsed: float):
    """Waits until a running timer has counted this far."""
    await client.calibrate()
    await client.sleep_until(
        float(state["lastElapsedTimeCalculatedAt"]) + elapsed - float(state["elapsedTime"]))


def assert_fresh(state, duration):
    """A run of this duration has just begun."""
    assert (state["status"], state["duration"], state["addedTime"]) == ("running", duration, 0), state
    # The state is that of the answer, which comes when the disk has the change.
    assert 0 <= state["elapsedTime"] == state["lastElapsedTimeCalculatedAt"] - state["startDate"] < 20, state
    assert state["pausePeriods"] == [] and state["stopDate"] is None, state


# start


async def test_start_with_a_duration_is_a_countdown(client, name):
    """A started countdown runs from now; fields that were not given have their defaults."""
    before = time.time()
    state = await client.state("start", name, duration=90.5)

    assert before - 1 < float(state["startDate"]) < time.time() + 1
    assert_fresh(state, D("90.5"))
    assert state["run"] == state["revision"]
    for field in ("revision", "run", "startDate", "lastElapsedTimeCalculatedAt", "elapsedTime", "time"):
        del state[field]
    assert state == {
        "timer": name, "status": "running", "type": "timer", "duration": D("90.5"), "stopDate": None,
        "pausePeriods": [], "addedTime": 0, "atZero": "overtime", "title": "", "warnings": [],
    }


async def test_start_of_a_new_name_without_duration_is_a_stopwatch(client, name):
    """A new name without duration counts up."""
    state = await client.state("start", name)

    assert (state["type"], state["status"]) == ("stopwatch", "running")
    assert state["elapsedTime"] == state["lastElapsedTimeCalculatedAt"] - state["startDate"] < 20
    assert "duration" not in state


async def test_start_without_a_name_means_default(client):
    """A missing name means `default`."""
    state = await client.state("start", duration=60, force=True)

    assert state["timer"] == "default"
    assert (await client.state("get"))["revision"] == state["revision"]
    await client.ok("remove")


@pytest.mark.parametrize(("kind", "fields"), [("timer", {"duration": 60}), ("stopwatch", {})])
async def test_start_type_says_it_outright(client, name, kind, fields):
    """`type` names what to start."""
    assert (await client.state("start", name, type=kind, **fields))["type"] == kind


async def test_start_type_timer_needs_a_duration(client, name):
    """A new countdown without duration is refused, naming the field, and makes nothing."""
    reply = await client.refused("badRequest", "start", name, type="timer")

    assert "duration" in reply["error"]["message"]
    assert "timer" not in reply
    await client.refused("unknownTimer", "get", name)


async def test_start_type_stopwatch_takes_no_duration(client, name):
    """A stopwatch with a duration is refused, naming the field."""
    reply = await client.refused("badRequest", "start", name, type="stopwatch", duration=60)

    assert "duration" in reply["error"]["message"]


@pytest.mark.parametrize("kind", ["countdown", "Timer", ""])
async def test_start_of_an_unknown_type_is_refused(client, name, kind):
    """Another `type` is refused, naming the field."""
    reply = await client.refused("badRequest", "start", name, type=kind, duration=60)

    assert "type" in reply["error"]["message"]


@pytest.mark.parametrize("duration", [0.000001, 0.1, 90.500001, 86_399, 86_400, 86_401, 360_000, YEAR])
async def test_start_keeps_any_duration_to_the_microsecond(client, name, duration):
    """Every length up to a year is accepted and comes back unchanged."""
    state = await client.state("start", name, duration=duration)

    assert state["duration"] == D(str(duration)).quantize(D("0.000001"))


async def test_start_of_a_year_does_not_end_at_once(client, name, punctual):
    """The longest countdown runs."""
    await client.subscribe(name)
    await client.ok("start", name, duration=YEAR)

    tick = await client.snapshot("tick", name)
    punctual.in_step([tick], [tick.state(name)["time"]], [YEAR - 1, YEAR - 2])
    assert (await client.state("get", name))["status"] == "running"


@pytest.mark.parametrize("duration", [0, -1, -0.000001, YEAR + 0.000001, YEAR + 1, 1e12])
async def test_start_refuses_a_duration_out_of_range(client, name, duration):
    """A duration of zero or less, or of more than a year, is refused with the bound."""
    reply = await client.refused("outOfRange", "start", name, duration=duration)

    limit = seconds(reply["error"]["limit"])
    assert limit == YEAR if duration > 0 else 0 <= limit <= D("0.000001")
    await client.refused("unknownTimer", "get", name)


async def test_start_sets_title_warnings_and_policy(client, name):
    """`title`, `warnings` and `atZero` are taken, and shown by each state."""
    given = {"title": "Pasta 🍝", "warnings": [60, 10, 0.5], "atZero": "finish"}

    state = await client.state("start", name, duration=300, **given)

    given["warnings"][2] = D("0.5")
    assert {key: state[key] for key in given} == given
    seen = await client.state("get", name)
    assert {key: seen[key] for key in given} == given


async def test_start_leaves_what_is_not_given(client, name):
    """Title, warnings and end policy stay as they were."""
    await client.ok("start", name, duration=300, title="Pasta", warnings=[60], atZero="finish")
    await client.ok("finish", name)

    state = await client.state("start", name, duration=200)

    assert (state["title"], state["warnings"], state["atZero"], state["duration"]) == ("Pasta", [60], "finish", 200)


async def test_start_replaces_what_is_given(client, name):
    """A new title, warnings and end policy replace the old ones, even if they are empty."""
    await client.ok("start", name, duration=300, title="Pasta", warnings=[60], atZero="finish")

    state = await client.state("start", name, duration=200, title="", warnings=[], atZero="reset", force=True)

    assert (state["title"], state["warnings"], state["atZero"]) == ("", [], "reset")


@pytest.mark.parametrize("policy", ["overtime", "finish", "reset", "repeat"])
async def test_start_takes_each_policy(client, name, policy):
    """Each end policy is taken."""
    assert (await client.state("start", name, duration=60, atZero=policy))["atZero"] == policy


@pytest.mark.parametrize("policy", ["stop", "Overtime", ""])
async def test_start_refuses_an_unknown_policy(client, name, policy):
    """Another end policy is refused, naming the field."""
    reply = await client.refused("badRequest", "start", name, duration=60, atZero=policy)

    assert "atZero" in reply["error"]["message"]


async def test_repeat_needs_a_tenth_of_a_second(client, name):
    """A shorter run may not repeat; a tenth of a second may."""
    reply = await client.refused("outOfRange", "start", name, duration=0.09, atZero="repeat")
    assert reply["error"]["limit"] == D("0.1")

    assert (await client.state("start", name, duration=0.1, atZero="repeat"))["atZero"] == "repeat"
    await client.ok("remove", name)


@pytest.mark.parametrize("ending", ["finish", "reset"])
async def test_start_again_counts_the_starting_duration(client, name, ending):
    """An ended countdown starts again with its starting duration, without what was added."""
    await client.ok("start", name, duration=60)
    assert (await client.state("addRemainingTime", name, seconds=30))["duration"] == 90
    await client.ok(ending, name)

    state = await client.state("start", name)

    assert_fresh(state, 60)


@pytest.mark.parametrize("ending", ["finish", "reset"])
async def test_start_again_of_a_stopwatch_counts_from_zero(client, name, ending):
    """An ended stopwatch starts again as a stopwatch from zero."""
    first = await client.state("start", name)
    await client.ok(ending, name)

    state = await client.state("start", name)

    assert state["type"] == "stopwatch"
    assert state["elapsedTime"] == state["lastElapsedTimeCalculatedAt"] - state["startDate"] < 20
    assert state["startDate"] > first["startDate"]


async def test_start_turns_a_stopwatch_into_a_countdown_and_back(client, name):
    """With a duration an ended stopwatch becomes a countdown; `type` makes it a stopwatch again."""
    await client.ok("start", name)
    await client.ok("finish", name)
    assert (await client.state("start", name, duration=60))["type"] == "timer"
    await client.ok("finish", name)

    state = await client.state("start", name, type="stopwatch")

    assert state["type"] == "stopwatch" and "duration" not in state


@pytest.mark.parametrize("before", [[], ["pause"]])
@pytest.mark.parametrize("force", [{}, {"force": False}])
async def test_start_of_one_that_runs_or_is_paused_is_refused(client, name, before, force):
    """A second start changes nothing, and the answer carries the state."""
    state = await client.state("start", name, duration=60)
    for command in before:
        state = await client.state(command, name)

    reply = await client.refused("timerAlreadyStarted", "start", name, duration=10, **force)

    assert reply["timer"]["revision"] == state["revision"]
    assert (reply["timer"]["duration"], reply["timer"]["status"]) == (60, state["status"])


@pytest.mark.parametrize("before", [[], ["pause"]])
async def test_forced_start_begins_anew(client, name, before):
    """With `force` a running or paused timer shows its full new duration at once."""
    await client.subscribe(name, interval=0)
    first = await client.state("start", name, duration=60)
    await client.ok("addRemainingTime", name, seconds=5)
    for command in before:
        await client.ok(command, name)

    state = await client.state("start", name, duration=10, force=True)

    assert_fresh(state, 10)
    assert state["startDate"] > first["startDate"]
    seen = await client.snapshot("started", name, where=lambda snapshot: snapshot.state(name)["duration"] == 10)
    assert seen.state(name)["revision"] == state["revision"]


async def test_forced_start_without_duration_counts_the_starting_one(client, name):
    """`force` alone runs the same countdown again, without what was added."""
    await client.ok("start", name, duration=60)
    await client.ok("addRemainingTime", name, seconds=30)

    assert_fresh(await client.state("start", name, force=True), 60)


# update


@pytest.mark.parametrize("before", [[], ["pause"], ["finish"], ["reset"]])
async def test_update_changes_these_alone_in_any_status(client, name, before):
    """Title, warnings and policy change; the time does not; subscribers get `updated`."""
    state = await client.state("start", name, duration=60, title="Tea", warnings=[5])
    for command in before:
        state = await client.state(command, name)
    await client.subscribe(name, interval=0)

    updated = await client.state("update", name, title="Coffee")
    assert (updated["title"], updated["warnings"], updated["atZero"]) == ("Coffee", [5], "overtime")
    updated = await client.state("update", name, warnings=[9, 3])
    assert (updated["title"], updated["warnings"], updated["atZero"]) == ("Coffee", [9, 3], "overtime")
    updated = await client.state("update", name, atZero="finish")
    assert (updated["title"], updated["warnings"], updated["atZero"]) == ("Coffee", [9, 3], "finish")

    for field in ("status", "startDate", "stopDate", "duration", "pausePeriods", "addedTime"):
        assert updated[field] == state[field], field
    if state["status"] != "running":
        assert updated["elapsedTime"] == state["elapsedTime"]
    assert updated["revision"] > state["revision"]
    seen = [(await client.snapshot("updated", name)).state(name)["revision"] for _ in range(3)]
    assert seen == sorted(set(seen)) and seen[-1] == updated["revision"]


async def test_update_of_all_three_is_one_change(client, name):
    """Title, warnings and policy may be given together."""
    await client.ok("start", name)
    await client.subscribe(name, interval=0)

    await client.ok("update", name, title="x", warnings=[1], atZero="finish")

    state = (await client.snapshot("updated", name)).state(name)
    assert (state["title"], state["warnings"], state["atZero"]) == ("x", [1], "finish")


async def test_update_with_nothing_to_change_is_refused(client, name):
    """An `update` without any field changes nothing."""
    state = await client.state("start", name, duration=60)

    await client.refused("badRequest", "update", name)

    assert (await client.state("get", name))["revision"] == state["revision"]


async def test_update_of_an_unknown_timer_is_refused(client, name):
    """`update` makes no timer."""
    reply = await client.refused("unknownTimer", "update", name, title="x")

    assert "timer" not in reply


@pytest.mark.parametrize("field", ["duration", "type", "force", "status"])
async def test_update_changes_nothing_else(client, name, field):
    """A field of `start` is unknown to `update`, and named."""
    await client.ok("start", name, duration=60)

    reply = await client.refused("badRequest", "update", name, title="x", **{field: 5})

    assert field in reply["error"]["message"]
    assert (await client.state("get", name))["title"] == ""


# pause and resume


async def test_pause_stops_the_time(client, name):
    """A paused countdown keeps its time, and says since when."""
    await client.subscribe(name, interval=0)
    started = await client.state("start", name, duration=60)
    await until(client, started, 0.1)

    paused = await client.state("pause", name)

    assert paused["status"] == "paused" and paused["stopDate"] is None
    [period] = paused["pausePeriods"]
    assert period["start"] is None
    assert period["pause"] - paused["startDate"] == paused["elapsedTime"]
    assert (await client.snapshot("paused", name)).state(name)["time"] == paused["time"]
    await asyncio.sleep(0.1)
    assert (await client.state("get", name))["time"] == paused["time"]


async def test_resume_goes_on_where_it_stood(client, name):
    """Two seconds, paused at a half, waited, resumed: the time left is as it was."""
    started = await client.state("start", name, duration=2)
    await until(client, started, 0.5)
    paused = await client.state("pause", name)
    await asyncio.sleep(0.4)
    await client.subscribe(name, interval=0)

    resumed = await client.state("resume", name)

    assert resumed["status"] == "running"
    [period] = resumed["pausePeriods"]
    assert period["start"] - period["pause"] > D("0.39")
    since = resumed["lastElapsedTimeCalculatedAt"] - period["start"]
    assert resumed["time"] == paused["time"] - since
    assert (await client.snapshot("resumed", name)).state(name)["revision"] == resumed["revision"]
    ended = await client.snapshot("ended", name)
    assert ended["endedAt"] == period["start"] + paused["time"]


async def test_pause_and_resume_a_stopwatch(client, name):
    """A stopwatch stands still while it is paused."""
    started = await client.state("start", name)
    await until(client, started, 0.1)
    paused = await client.state("pause", name)
    await asyncio.sleep(0.1)
    asked = time.monotonic()

    resumed = await client.state("resume", name)

    gone = resumed["elapsedTime"] - paused["elapsedTime"]
    assert gone == resumed["lastElapsedTimeCalculatedAt"] - resumed["pausePeriods"][0]["start"]
    assert gone < time.monotonic() - asked + 0.05


async def test_resume_at_the_very_instant_of_the_pause(client, name):
    """A pause of length zero costs no time."""
    await client.calibrate()
    started = await client.state("start", name, duration=60)
    instant = float(started["startDate"]) + 0.02
    await client.sleep_until(instant)

    paused = await client.state("pause", name, at=instant)
    resumed = await client.state("resume", name, at=instant)

    assert paused["elapsedTime"] == D("0.02")
    assert resumed["status"] == "running"
    assert resumed["elapsedTime"] == resumed["lastElapsedTimeCalculatedAt"] - resumed["startDate"]


@pytest.mark.parametrize("fields", [{}, {"duration": 60}])
async def test_pause_of_a_paused_one_is_refused(client, name, fields):
    """A second pause changes nothing, and the answer carries the state."""
    await client.ok("start", name, **fields)
    paused = await client.state("pause", name)

    reply = await client.refused("timerAlreadyPaused", "pause", name)

    assert reply["timer"] == {**paused, "lastElapsedTimeCalculatedAt": reply["timer"]["lastElapsedTimeCalculatedAt"]}


@pytest.mark.parametrize("fields", [{}, {"duration": 60}])
async def test_resume_of_a_running_one_is_refused(client, name, fields):
    """A resume without pause changes nothing, and the answer carries the state."""
    started = await client.state("start", name, **fields)

    reply = await client.refused("timerHasNotPaused", "resume", name)

    assert reply["timer"]["revision"] == started["revision"] and reply["timer"]["status"] == "running"


NEED_A_RUN = [
    ("pause", {}), ("resume", {}), ("finish", {}), ("addRemainingTime", {"seconds": 1}),
]


@pytest.mark.parametrize(("command", "fields"), NEED_A_RUN)
@pytest.mark.parametrize("ending", ["finish", "reset"])
async def test_a_countdown_that_does_not_run_is_refused(client, name, command, fields, ending):
    """A command that needs a run is refused for an idle and a finished countdown, with the state."""
    await client.ok("start", name, duration=60)
    state = await client.state(ending, name)

    reply = await client.refused("timerHasNotStarted", command, name, **fields)

    assert reply["timer"]["revision"] == state["revision"]
    assert reply["timer"]["elapsedTime"] == state["elapsedTime"]


@pytest.mark.parametrize("ending", ["finish", "reset"])
async def test_elapsed_time_needs_a_run(client, name, ending):
    """`addElapsedTime` is refused for an idle and a finished stopwatch."""
    await client.ok("start", name)
    await client.ok(ending, name)

    await client.refused("timerHasNotStarted", "addElapsedTime", name, seconds=1)


@pytest.mark.parametrize(("command", "fields"), [*NEED_A_RUN, ("reset", {}), ("addElapsedTime", {"seconds": 1})])
async def test_an_unknown_timer_has_not_started(client, name, command, fields):
    """A command that needs a run is refused for an unknown timer, and makes none."""
    reply = await client.refused("timerHasNotStarted", command, name, **fields)

    assert "timer" not in reply
    await client.refused("unknownTimer", "get", name)


# finish, finishAll, reset


@pytest.mark.parametrize("fields", [{}, {"duration": 60}])
async def test_finish_keeps_the_final_state(client, name, fields):
    """A finished timer stands at what it showed, with the instant of its end."""
    await client.subscribe(name, interval=0)
    started = await client.state("start", name, **fields)
    await until(client, started, 0.1)

    finished = await client.state("finish", name)

    assert finished["status"] == "finished"
    assert finished["elapsedTime"] == finished["stopDate"] - finished["startDate"] >= D("0.1")
    assert (await client.snapshot("finished", name)).state(name)["stopDate"] == finished["stopDate"]
    await asyncio.sleep(0.05)
    assert (await client.state("get", name))["elapsedTime"] == finished["elapsedTime"]


async def test_finish_of_a_paused_one_keeps_its_elapsed_time(client, name):
    """Finishing a paused timer charges it nothing; a second finish is refused."""
    started = await client.state("start", name, duration=60)
    await until(client, started, 0.05)
    paused = await client.state("pause", name)
    await asyncio.sleep(0.1)

    finished = await client.state("finish", name)

    assert finished["elapsedTime"] == paused["elapsedTime"] and finished["time"] == paused["time"]
    assert finished["stopDate"] is not None
    reply = await client.refused("timerHasNotStarted", "finish", name)
    assert reply["timer"]["status"] == "finished"


@pytest.mark.parametrize("fields", [{}, {"duration": 60}])
async def test_finish_with_reset_time_shows_nothing_elapsed(client, name, fields):
    """`resetTime` ends the run at zero elapsed."""
    started = await client.state("start", name, **fields)
    await until(client, started, 0.05)

    finished = await client.state("finish", name, resetTime=True)

    assert finished["status"] == "finished" and finished["elapsedTime"] == 0
    assert finished["time"] == fields.get("duration", 0)


async def test_finish_without_reset_time_keeps_it(client, name):
    """`resetTime` false is the same as none."""
    started = await client.state("start", name, duration=60)
    await until(client, started, 0.05)

    assert (await client.state("finish", name, resetTime=False))["elapsedTime"] >= D("0.05")


async def test_finish_all_ends_those_that_run_or_are_paused(server, connect):
    """`finishAll` ends each run, lists those in its reply, sorted, and leaves the others alone."""
    client = await connect(server)
    await client.ok("start", "c runs", duration=60)
    await client.ok("start", "b stands")
    paused = await client.state("pause", "b stands")
    await client.ok("start", "a idle", duration=60)
    idle = await client.state("reset", "a idle")
    await client.ok("start", "d over", duration=60)
    over = await client.state("finish", "d over")
    await client.subscribe("*", interval=0)

    reply = await client.ok("finishAll")

    assert [state["timer"] for state in reply["timers"]] == ["b stands", "c runs"]
    assert all(state["status"] == "finished" for state in reply["timers"])
    assert reply["timers"][0]["elapsedTime"] == paused["elapsedTime"]
    seen = {}
    while len(seen) < 2:
        seen |= {state["timer"]: state["revision"] for state in (await client.snapshot("finished"))["timers"]}
    assert seen == {state["timer"]: state["revision"] for state in reply["timers"]}
    assert (await client.state("get", "a idle"))["revision"] == idle["revision"]
    assert (await client.state("get", "d over"))["revision"] == over["revision"]


async def test_finish_all_of_nothing_says_so(server, connect):
    """`finishAll` with nothing to finish succeeds, with an empty list."""
    client = await connect(server)

    assert (await client.ok("finishAll"))["timers"] == []


@pytest.mark.parametrize("before", [[], ["pause"], ["finish"]])
async def test_reset_goes_back_to_the_start_value(client, name, before):
    """A running, paused or finished countdown shows its starting duration again, without what was added."""
    await client.subscribe(name, interval=0)
    await client.ok("start", name, duration=60, title="Tea", warnings=[5], atZero="finish")
    await client.ok("addRemainingTime", name, seconds=30)
    for command in before:
        await client.ok(command, name)

    state = await client.state("reset", name)

    assert type(state.pop("revision")) is int
    state.pop("lastElapsedTimeCalculatedAt")
    assert state == {
        "timer": name, "status": "idle", "type": "timer", "duration": 60, "elapsedTime": 0, "time": 60,
        "startDate": None, "stopDate": None, "pausePeriods": [], "addedTime": 0, "atZero": "finish", "title": "Tea",
        "warnings": [5], "run": None,
    }
    assert (await client.snapshot("reset", name)).state(name)["status"] == "idle"


async def test_reset_of_a_stopwatch_shows_zero(client, name):
    """A reset stopwatch shows zero and does not run."""
    await client.ok("start", name)
    await client.ok("addElapsedTime", name, seconds=30)

    state = await client.state("reset", name)

    assert (state["status"], state["time"], state["elapsedTime"]) == ("idle", 0, 0)


async def test_reset_of_an_idle_one_is_refused(client, name):
    """A second reset changes nothing."""
    await client.ok("start", name, duration=60)
    state = await client.state("reset", name)

    reply = await client.refused("timerHasNotStarted", "reset", name)

    assert reply["timer"]["revision"] == state["revision"]


# addRemainingTime


@pytest.mark.parametrize("seconds_added", [30, -30, 10.25, -59, 0.000001])
async def test_remaining_time_is_added_while_running(client, name, seconds_added):
    """The time left and the duration grow by the seconds; what elapsed does not change."""
    await client.subscribe(name, interval=0)
    started = await client.state("start", name, duration=60)
    added = D(str(seconds_added)).quantize(D("0.000001"))

    state = await client.state("addRemainingTime", name, seconds=seconds_added)

    assert state["duration"] == 60 + added and state["addedTime"] == added
    assert state["elapsedTime"] == state["lastElapsedTimeCalculatedAt"] - started["startDate"]
    assert state["startDate"] == started["startDate"]
    seen = (await client.snapshot("adjusted", name)).state(name)
    assert (seen["revision"], seen["addedTime"]) == (state["revision"], added)


async def test_remaining_time_adds_up(client, name):
    """Additions add up, in `addedTime` too."""
    await client.ok("start", name, duration=60)
    await client.ok("addRemainingTime", name, seconds=30)

    state = await client.state("addRemainingTime", name, seconds=-10)

    assert (state["duration"], state["addedTime"]) == (80, 20)


async def test_remaining_time_is_exact_in_reply_snapshot_and_tick(client, name, punctual):
    """300 s, +10 after 0.2 s: the reply, the snapshot and the next tick agree to the microsecond."""
    await client.subscribe(name)
    started = await client.state("start", name, duration=300)
    await client.calibrate()
    instant = float(started["startDate"]) + 0.2
    await client.sleep_until(instant)

    reply = await client.state("addRemainingTime", name, seconds=10, at=instant)

    snapshot = (await client.snapshot("adjusted", name)).state(name)
    for state in (reply, snapshot):
        assert state["time"] == 310 - (state["lastElapsedTimeCalculatedAt"] - started["startDate"])
    arrival = await client.snapshot("tick", name)
    tick = arrival.state(name)
    punctual.in_step([arrival], [tick["time"]], [309, 308])
    assert tick["lastElapsedTimeCalculatedAt"] == started["startDate"] + 310 - tick["time"]


async def test_remaining_time_is_added_while_paused(client, name):
    """A paused countdown accepts more time, stays paused, and ends that much later."""
    started = await client.state("start", name, duration=1)
    await until(client, started, 0.2)
    paused = await client.state("pause", name)
    await client.subscribe(name, interval=0)

    state = await client.state("addRemainingTime", name, seconds=0.3)
    assert state["status"] == "paused" and state["time"] == paused["time"] + D("0.3")
    assert state["elapsedTime"] == paused["elapsedTime"]
    assert state["pausePeriods"] == paused["pausePeriods"]

    await client.sleep_until(float(started["startDate"]) + 1.2)
    resumed = await client.state("resume", name)
    ended = await client.snapshot("ended", name)
    assert ended["endedAt"] == resumed["pausePeriods"][0]["start"] + paused["time"] + D("0.3")


async def test_remaining_time_in_overtime_counts_from_the_true_time(client, name):
    """In overtime the time left is negative, and seconds are added to that."""
    await client.subscribe(name, interval=0)
    await client.ok("start", name, duration=0.1)
    await client.snapshot("ended", name)
    await asyncio.sleep(0.1)
    before = await client.state("get", name)
    assert before["time"] < 0

    state = await client.state("addRemainingTime", name, seconds=60)

    passed = state["lastElapsedTimeCalculatedAt"] - before["lastElapsedTimeCalculatedAt"]
    assert state["time"] == before["time"] + 60 - passed
    assert state["duration"] == D("60.1")


async def test_remaining_time_below_zero_is_refused_with_the_bound(client, name):
    """A result under zero is refused, and the bound is exactly what may be taken."""
    started = await client.state("start", name, duration=60)
    paused = await client.state("pause", name)

    reply = await client.refused("outOfRange", "addRemainingTime", name, seconds=-60.5)

    assert reply["error"]["limit"] == -paused["time"]
    assert reply["timer"]["revision"] == paused["revision"] > started["revision"]
    assert reply["timer"]["duration"] == 60


async def test_remaining_time_below_zero_while_running_is_refused(client, name):
    """The bound of a running countdown is its time left at the instant of the answer."""
    await client.ok("start", name, duration=60)

    reply = await client.refused("outOfRange", "addRemainingTime", name, seconds=-61)

    assert reply["error"]["limit"] == -reply["timer"]["time"]
    assert -60 <= reply["error"]["limit"] <= -40


async def test_remaining_time_too_small_for_overtime_is_refused(client, name):
    """Seconds that leave the countdown in overtime are refused; the bound is the amount that brings it to zero."""
    await client.subscribe(name, interval=0)
    await client.ok("start", name, duration=0.1)
    await client.snapshot("ended", name)
    await asyncio.sleep(0.2)
    paused = await client.state("pause", name)

    reply = await client.refused("outOfRange", "addRemainingTime", name, seconds=0.01)

    assert reply["error"]["limit"] == -paused["time"] > D("0.1")


async def test_remaining_time_taken_with_clamp_ends_it(client, name):
    """With `clamp` the time left becomes exactly zero, which ends it, once."""
    await client.subscribe(name, interval=0)
    await client.ok("start", name, duration=60, atZero="finish")

    state = await client.state("addRemainingTime", name, seconds=-100, clamp=True)

    ended = await client.snapshot("ended", name)
    assert ended.state(name)["time"] == 0 and ended.state(name)["status"] == "finished"
    assert ended.state(name)["elapsedTime"] == ended.state(name)["duration"] < 20
    assert state["elapsedTime"] < 20 and state["time"] == 0
    assert [a["cause"] for a in await client.collect(0.2) if a["cause"] == "ended"] == []


async def test_remaining_time_taken_with_clamp_goes_into_overtime(client, name):
    """With `clamp` and overtime the countdown passes zero and goes on."""
    await client.subscribe(name, interval=0)
    await client.ok("start", name, duration=60)

    await client.ok("addRemainingTime", name, seconds=-100, clamp=True)

    ended = await client.snapshot("ended", name)
    assert ended.state(name)["time"] == 0 and ended.state(name)["status"] == "running"
    await asyncio.sleep(0.05)
    assert (await client.state("get", name))["time"] < 0


async def test_clamp_changes_nothing_when_there_is_enough(client, name):
    """`clamp` matters only for a result under zero."""
    await client.ok("start", name, duration=60)

    assert (await client.state("addRemainingTime", name, seconds=-10, clamp=True))["duration"] == 50


@pytest.mark.parametrize("seconds_added", [31_536_001, 1e12])
async def test_remaining_time_has_an_upper_bound(client, name, seconds_added):
    """No countdown grows past a year."""
    await client.ok("start", name, duration=60)

    reply = await client.refused("outOfRange", "addRemainingTime", name, seconds=seconds_added)

    assert reply["timer"]["duration"] == 60
    assert reply["error"]["limit"] == YEAR - reply["timer"]["time"]


@pytest.mark.parametrize("clamp", [{}, {"clamp": True}])
async def test_remaining_time_is_not_for_stopwatches(client, name, clamp):
    """A stopwatch has no time left."""
    started = await client.state("start", name)

    reply = await client.refused("invalidTimerType", "addRemainingTime", name, seconds=5, **clamp)

    assert reply["timer"]["revision"] == started["revision"]


@pytest.mark.parametrize(("command", "fields"), [("addRemainingTime", {"duration": 60}), ("addElapsedTime", {})])
async def test_adding_needs_seconds(client, name, command, fields):
    """A request without `seconds` is refused, naming the field."""
    await client.ok("start", name, **fields)

    reply = await client.refused("badRequest", command, name)

    assert "seconds" in reply["error"]["message"]


# addElapsedTime


@pytest.mark.parametrize("before", [[], ["pause"]])
async def test_elapsed_time_is_added_at_once(client, name, before):
    """A stopwatch shows the new value at once, and goes on from it."""
    await client.subscribe(name, interval=0)
    started = await client.state("start", name)
    for command in before:
        await client.ok(command, name)
    previous = await client.state("get", name)

    state = await client.state("addElapsedTime", name, seconds=30.25)

    passed = 0
    if not before:
        passed = state["lastElapsedTimeCalculatedAt"] - previous["lastElapsedTimeCalculatedAt"]
    assert state["elapsedTime"] == previous["elapsedTime"] + D("30.25") + passed
    assert state["status"] == previous["status"] and state["revision"] > started["revision"]
    assert (await client.snapshot("adjusted", name)).state(name)["revision"] == state["revision"]
    await asyncio.sleep(0.05)
    later = await client.state("get", name)
    gone = later["elapsedTime"] - state["elapsedTime"]
    assert gone == (later["lastElapsedTimeCalculatedAt"] - state["lastElapsedTimeCalculatedAt"] if not before else 0)


async def test_elapsed_time_is_taken(client, name):
    """Seconds under zero are taken from what has elapsed."""
    await client.ok("start", name)
    await client.ok("addElapsedTime", name, seconds=100)

    state = await client.state("addElapsedTime", name, seconds=-40)

    assert 60 <= state["elapsedTime"] < 80


async def test_elapsed_time_below_zero_is_refused_with_the_bound(client, name):
    """A result under zero is refused, and the bound is exactly what may be taken."""
    await client.ok("start", name)
    paused = await client.state("pause", name)

    reply = await client.refused("outOfRange", "addElapsedTime", name, seconds=-5)

    assert reply["error"]["limit"] == -paused["elapsedTime"]
    assert reply["timer"]["elapsedTime"] == paused["elapsedTime"]


async def test_elapsed_time_taken_with_clamp_is_zero(client, name):
    """With `clamp` the elapsed time becomes exactly zero, and counts from there when the stopwatch runs."""
    await client.ok("start", name)
    await client.ok("addElapsedTime", name, seconds=10)
    await client.ok("pause", name)

    state = await client.state("addElapsedTime", name, seconds=-100, clamp=True)
    assert state["elapsedTime"] == 0 and state["status"] == "paused"

    await client.ok("resume", name)
    await asyncio.sleep(0.05)
    assert D("0.04") < (await client.state("get", name))["elapsedTime"] < 9


async def test_elapsed_time_is_not_for_countdowns(client, name):
    """A countdown's elapsed time is not to be changed."""
    started = await client.state("start", name, duration=60)

    reply = await client.refused("invalidTimerType", "addElapsedTime", name, seconds=5)

    assert reply["timer"]["revision"] == started["revision"]


async def test_elapsed_time_stays_through_pause_and_finish(client, name):
    """Added time stays when the stopwatch pauses, resumes and finishes."""
    await client.ok("start", name)
    await client.ok("addElapsedTime", name, seconds=100)
    await client.ok("pause", name)
    await client.ok("resume", name)

    finished = await client.state("finish", name)

    assert 100 <= finished["elapsedTime"] < 120


# remove, get, list


@pytest.mark.parametrize("before", [[], ["pause"], ["finish"], ["reset"]])
async def test_remove_forgets_the_timer(client, name, before):
    """A timer is removed in any status, and subscribers get `removed`."""
    await client.subscribe(name, interval=0)
    await client.ok("start", name, duration=60)
    for command in before:
        await client.ok(command, name)

    await client.ok("remove", name)

    await client.removed(name)
    reply = await client.refused("unknownTimer", "get", name)
    assert "timer" not in reply
    assert name not in [state["timer"] for state in (await client.ok("list"))["timers"]]


async def test_remove_of_an_unknown_timer_is_refused(client, name):
    """A second removal is refused."""
    await client.ok("start", name)
    await client.ok("remove", name)

    await client.refused("unknownTimer", "remove", name)


async def test_a_removed_name_starts_afresh(client, name):
    """Nothing of a removed timer comes back with its name, and the subscription goes on."""
    await client.subscribe(name, interval=0)
    await client.ok("start", name, duration=60, title="Tea", warnings=[5], atZero="finish")
    await client.ok("remove", name)
    await client.removed(name)

    state = await client.state("start", name)

    assert (state["type"], state["title"], state["warnings"], state["atZero"]) == ("stopwatch", "", [], "overtime")
    assert (await client.snapshot("started", name, where=lambda s: s.state(name)["type"] == "stopwatch"))


async def test_a_removed_timer_never_ends(client, name):
    """No crossing is sent of a countdown that was removed before its zero."""
    await client.calibrate()
    await client.subscribe(name, interval=0)
    started = await client.state("start", name, duration=0.8)
    await client.ok("remove", name)
    await client.removed(name)

    await client.sleep_until(float(started["startDate"]) + 1)
    assert [a.message for a in client.take() if a.get("cause") != "started"] == []


async def test_get_is_one_state_now(client, name):
    """`get` computes the state at the instant of the answer, and subscribes to nothing."""
    started = await client.state("start", name, duration=60)
    await asyncio.sleep(0.1)

    state = await client.state("get", name)

    assert state["elapsedTime"] == state["lastElapsedTimeCalculatedAt"] - started["startDate"] >= D("0.1")
    assert state["revision"] == started["revision"]
    await client.ok("pause", name)
    assert await client.collect(0.1) == []


async def test_get_of_an_unknown_timer_is_refused(client, name):
    """`get` makes no timer."""
    await client.refused("unknownTimer", "get", name)
    await client.refused("unknownTimer", "get", name)


async def test_list_is_sorted_by_name(server, connect):
    """`list` has every timer, sorted by the bytes of its name, with one reading of the clock."""
    client = await connect(server)
    names = ["b", "a", "Z", "é", "e\u0301", "🍵", "～", "a b", "a/b", "10", "9"]
    for timer in names:
        await client.ok("start", timer)

    states = (await client.ok("list"))["timers"]

    assert [state["timer"] for state in states] == sorted(names, key=lambda timer: timer.encode())
    assert len({state["lastElapsedTimeCalculatedAt"] for state in states}) == 1


async def test_list_subscribes_to_nothing(client, name):
    """`list` is no subscription."""
    await client.ok("list")
    await client.ok("start", name)

    assert await client.collect(0.1) == []


# subscribe, unsubscribe, sync


async def test_subscribe_replies_then_shows_then_follows(client, name):
    """The reply comes first, then the whole state, then changes."""
    await client.ok("start", name, duration=60)
    await client.send({"id": "s", "command": "subscribe", "timer": name, "interval": 0})
    await client.send({"id": "p", "command": "pause", "timer": name})
    await client.reply("s")
    await client.reply("p")
    await client.snapshot("paused", name)

    kinds = [a.get("reply", a.get("cause")) for a in client.arrivals[-4:]]

    assert kinds[:2] == ["s", "subscribed"]
    assert sorted(kinds[2:]) == ["p", "paused"]


@pytest.mark.parametrize("fields", [{"timer": "*"}, {"timers": "*"}])
async def test_subscribe_to_all(server, connect, fields):
    """`*` stands for every timer, as `timer` and as `timers`, and those to come."""
    client = await connect(server)
    await client.ok("start", "one")
    identifier = client.next_id()

    await client.send({"id": identifier, "command": "subscribe", "interval": 0, **fields})

    assert (await client.reply(identifier))["ok"] is True
    assert [state["timer"] for state in (await client.snapshot("subscribed"))["timers"]] == ["one"]
    await client.ok("start", "two")
    assert (await client.snapshot("started")).has("two")


async def test_subscribe_without_a_name_means_default(server, connect):
    """A subscription without name is to `default`."""
    client = await connect(server)
    await client.ok("subscribe")
    await client.snapshot("subscribed")

    await client.ok("start")
    await client.ok("start", "other")

    assert [a["timers"][0]["timer"] for a in await client.drain() if a["cause"] == "started"] == ["default"]


async def test_subscribe_to_a_list_of_names(client, name):
    """`timers` is a list of names; those that exist are shown, and no others."""
    names = [f"{name} {letter}" for letter in "abc"]
    for timer in names[:2]:
        await client.ok("start", timer, duration=60)
    await client.ok("start", f"{name} other", duration=60)

    subscribed = await client.subscribe(*names, interval=0)

    assert [state["timer"] for state in subscribed["timers"]] == names[:2]
    await client.ok("start", names[2])
    await client.snapshot("started", names[2])


async def test_subscribe_to_nothing_there_says_so(client, name):
    """A name that does not exist yet is shown as an empty list."""
    assert (await client.subscribe(name))["timers"] == []


@pytest.mark.parametrize("interval", [0, 0.1, 1, 3600])
async def test_subscribe_takes_each_interval(client, name, interval):
    """Intervals from a tenth of a second to an hour are taken, and 0."""
    assert (await client.subscribe(name, interval=interval))["timers"] == []


@pytest.mark.parametrize("interval", [0.099999, -1, 3600.000001, 1e9])
async def test_subscribe_refuses_an_interval_out_of_range(client, name, interval):
    """Other intervals are refused with the bound, and subscribe to nothing."""
    reply = await client.refused("outOfRange", "subscribe", name, interval=interval)

    assert reply["error"]["limit"] in (0, D("0.1"), 3600)
    await client.ok("start", name)
    assert await client.collect(0.1) == []


@pytest.mark.parametrize(
    "fields", [{"timers": "tea"}, {"timers": ["a", 5]}, {"timers": ["a", ""]}, {"timers": {"a": 1}}])
async def test_subscribe_refuses_what_is_no_list_of_names(client, fields):
    """`timers` is a list of names or `*`; else it is refused, naming the field."""
    reply = await client.refused("badRequest", "subscribe", **fields)

    assert "timer" in reply["error"]["message"]


async def test_subscribe_takes_a_timer_or_timers(client, name):
    """A request with both `timer` and `timers` is ambiguous, and refused."""
    await client.refused("badRequest", "subscribe", name, timers=[name])


async def test_unsubscribe_ends_it(client, name):
    """After `unsubscribe` nothing more comes."""
    await client.subscribe(name, interval=0.1)
    await client.ok("start", name, duration=60)
    await client.snapshot("tick", name)

    await client.ok("unsubscribe", name)

    client.take()
    await client.ok("pause", name)
    assert await client.collect(0.3) == []


async def test_unsubscribe_from_one_of_a_list_leaves_the_others(client, name):
    """The other subscriptions go on."""
    first, second = f"{name} a", f"{name} b"
    await client.subscribe(first, second, interval=0)

    await client.ok("unsubscribe", timers=[first])

    await client.ok("start", first)
    await client.ok("start", second)
    assert [a["timers"][0]["timer"] for a in await client.drain()] == [second]


@pytest.mark.parametrize("fields", [{"timer": "*"}, {"timers": "*"}])
async def test_unsubscribe_from_all(client, name, fields):
    """`*` ends the subscription to every timer."""
    await client.subscribe("*", interval=0)
    identifier = client.next_id()

    await client.send({"id": identifier, "command": "unsubscribe", **fields})

    assert (await client.reply(identifier))["ok"] is True
    await client.ok("start", name)
    assert await client.collect(0.1) == []


async def test_unsubscribe_from_what_was_not_subscribed_changes_nothing(client, name):
    """An `unsubscribe` too many is answered."""
    reply = await client.request("unsubscribe", name)

    assert reply["ok"] is True
    assert (await client.ok("list"))["timers"] is not None


async def test_sync_exchanges_clocks(client):
    """`sync` gives the client's instant back, and the instants of arrival and answer."""
    before = time.time()
    reply = await client.ok("sync", clientTime=1764480000.000001)

    assert reply["clientTime"] == D("1764480000.000001")
    assert reply["receivedAt"] <= reply["sentAt"] < reply["receivedAt"] + 1
    assert before - 1 < float(reply["receivedAt"]) < time.time() + 1
    assert {"reply", "ok", "clientTime", "receivedAt", "sentAt"} == set(reply)


async def test_sync_without_a_client_time(client):
    """`clientTime` may be left out."""
    reply = await client.ok("sync")

    assert reply["receivedAt"] <= reply["sentAt"]
    assert reply.get("clientTime") is None


async def test_sync_is_one_clock_for_all(shared_server, connect, client, name):
    """Instants of `sync`, `hello` and states are on the same clock."""
    before = (await client.ok("sync"))["receivedAt"]
    started = await client.state("start", name)
    hello = (await connect(shared_server)).hello["now"]
    after = (await client.ok("sync"))["receivedAt"]

    assert before <= started["startDate"] <= hello <= after


async def test_authenticate_is_answered(client):
    """`authenticate` gets a reply, whatever its token, and the connection stays."""
    reply = await client.request("authenticate", token="x")

    assert reply["ok"] is True or reply["error"]["code"] in {"unauthorized", "unknownCommand", "badRequest"}
    assert (await client.ok("list"))["timers"] is not None
