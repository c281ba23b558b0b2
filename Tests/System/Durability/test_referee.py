"""The judge of the kill harness sees what is wrong: a real history is spoiled in each way that it looks for."""

import copy

import pytest

import harness
from history import History, Life, Push
from model import View
from referee import Referee, is_beyond_kept, is_folded, is_zero_of


@pytest.fixture(scope="module")
def history():
    """A few lives of a real server, with a run that survives a kill unchanged: by timing, not every seed has one."""
    for seed in range(6, 12):
        history, verdict = lives(seed)
        if any(state["status"] in HAS_RUN for _, state in later_states(history)):
            break
    return history, verdict


HAS_RUN = ("running", "paused", "finished")


def lives(seed: int) -> tuple[History, harness.Verdict]:
    options = harness.parse_options(
        ["--kills", "4", "--seconds-between", "0.8", "--seed", str(seed), "--pause", "0.02", "--ends", "kill"])
    runs = []
    original = harness.Run.__init__

    def keep(run, *arguments):
        original(run, *arguments)
        runs.append(run)

    harness.Run.__init__ = keep
    try:
        verdict = harness.run(options)
    finally:
        harness.Run.__init__ = original
    return runs[0].history, verdict


@pytest.fixture
def spoiled(history):
    """A copy of the history, for a test to spoil."""
    return copy.deepcopy(history[0])


def complaints(history) -> list[str]:
    for request in history.requests:
        request.done_to.clear()
    return [violation.splitlines()[0] for violation in Referee(history, harness.WATCHERS, 0.05).judge().violations]


def snapshots(history, cause: str, life: int | None = None) -> list:
    return [
        push for push in history.pushes
        if push.cause == cause and push.watcher == 0 and life in (None, push.life) and push.message.get("timers")]


def later_states(history) -> list[tuple]:
    """Timers in the first snapshot after a kill whose last change was answered before it, and that crossed no zero."""
    ends = {(push.life, push.message["timers"][0]["timer"]) for push in history.pushes if push.cause == "ended"}
    found = []
    for first in snapshots(history, "subscribed"):
        if first.life == 0:
            continue
        for state in first.message["timers"]:
            asked = [r for r in history.requests if r.concerns(state["timer"]) and r.was_unanswered_in(first.life - 1)]
            if not asked and not {(first.life, state["timer"]), (first.life - 1, state["timer"])} & ends:
                found.append((first, state))
    return found


def test_nothing_is_wrong_with_it_as_it_is(history):
    assert history[1].violations == []


def test_a_lost_timer(spoiled):
    first, state = later_states(spoiled)[0]
    for push in snapshots(spoiled, "subscribed", first.life):
        push.message["timers"].remove(state)

    assert any("is lost" in line for line in complaints(spoiled))


def test_a_revision_that_goes_back(spoiled):
    _, state = later_states(spoiled)[0]
    state["revision"] -= 1

    assert any("went back" in line for line in complaints(spoiled))


@pytest.mark.parametrize("field", ["title", "status", "addedTime", "elapsedTime"])
def test_a_state_that_is_another_after_the_kill(spoiled, field):
    _, state = next((push, state) for push, state in later_states(spoiled) if state["status"] in HAS_RUN)
    state[field] = {"title": "no", "status": "odd", "addedTime": 77, "elapsedTime": state["elapsedTime"] + 1}[field]
    if field == "elapsedTime":
        state["time"] -= 1

    assert any("is not what it was" in line for line in complaints(spoiled))


def test_a_change_that_nobody_asked_for(spoiled):
    _, state = later_states(spoiled)[0]
    state["revision"] += 1_000_000

    assert any("nobody had asked" in line for line in complaints(spoiled))


def test_a_sum_that_is_wrong(spoiled):
    reply = next(
        r.reply["timer"] for r in spoiled.requests
        if r.command == "addRemainingTime" and r.is_accepted and not r.was_repeated)
    for push in spoiled.pushes:
        for state in push.message.get("timers", []):
            if state["revision"] == reply["revision"]:
                state["addedTime"] += 0.000001
    reply["addedTime"] += 0.000001

    assert any("added is" in line for line in complaints(spoiled))


def test_a_change_done_twice(spoiled):
    """The push of a change occurs twice, and only one request asked for the change."""
    push = snapshots(spoiled, "paused")[0]
    again = copy.deepcopy(push)
    again.message["timers"][0]["revision"] += 500_000
    again.at += 1e-9
    spoiled.pushes.insert(spoiled.pushes.index(push) + 1, again)

    assert any("nobody had asked for it, or it was done before" in line for line in complaints(spoiled))


def test_two_answers_with_one_revision(spoiled):
    first, second = [r for r in spoiled.requests if r.is_accepted and r.command == "pause" and not r.was_repeated][:2]
    second.reply["timer"]["revision"] = first.reply["timer"]["revision"]

    assert any("both answered with revision" in line for line in complaints(spoiled))


def test_an_end_that_was_not_told(history):
    """An end far from the kill is removed: a crossing close to the kill, or on a busy machine, would be excused."""
    lives = history[0].lives
    ends = [push for push in snapshots(history[0], "ended") if push.life < lives[-1].number]
    ends.sort(key=lambda push: push.at - lives[push.life].killed_at)

    # Some ends are uncertain: a change was under way, or no watcher saw the state before.
    assert any(complaints_untold(history, end) for end in ends if not end.message.get("late"))


def complaints_untold(history, end) -> list[str]:
    """The referee's complaints about a history in which nobody was sent this end."""
    spoiled = copy.deepcopy(history[0])
    timer, instant = end.message["timers"][0]["timer"], end.message["endedAt"]
    spoiled.pushes = [
        push for push in spoiled.pushes
        if not (push.cause == "ended" and push.message["timers"][0]["timer"] == timer
                and push.message["endedAt"] == instant)]
    for life in spoiled.lives:
        life.stalls = None
    return [line for line in complaints(spoiled) if "not told" in line]


def state(revision: int, **fields) -> dict:
    return {
        "timer": "egg", "revision": revision, "status": "running", "atZero": "overtime", "title": "", "duration": 5,
        "elapsedTime": 0, "time": 5, "addedTime": 0, "lastElapsedTimeCalculatedAt": 1000, "startDate": 1000,
        "stopDate": None, "pausePeriods": [], **fields}


def killed_at_a_zero(has_history: bool, told: int = 0, is_seen_between: bool = True) -> History:
    """A countdown reaches zero a millisecond before the kill; each watcher is sent `told` ends of it after the kill."""
    lives = [Life(number, 10.0 * number, killed_at=10.0 * number + 5.001) for number in range(3)]
    for life in lives:
        life.killed_wall = 1_005_001_000 + 10_000_000 * life.number
    seen = state(2, elapsedTime=15, time=-10, lastElapsedTimeCalculatedAt=1015)
    history = History(lives=lives)
    for watcher in range(harness.WATCHERS):
        def pushed(life: int, at: float, **message) -> None:
            history.pushes.append(Push(watcher, life, at, {"event": "snapshot", **message}))

        for life in (0, 1, 2) if is_seen_between else (0, 2):
            hello = {"history": "h", "revision": 2} if has_history else {}
            history.pushes.append(Push(watcher, life, 10 * life, {"event": "hello", **hello}))
            base = [state(1) if life == 0 else seen]
            pushed(life, 10 * life + 0.1, cause="subscribed", timers=base)
        for time in range(told):
            pushed(2, 20.2 + time, cause="ended", endedAt=1005, late=True, timers=[seen])
    return history


@pytest.mark.parametrize("is_seen_between", [True, False])
@pytest.mark.parametrize("told, complaint", [(0, "was not told"), (1, None), (2, "was told twice")])
def test_a_kill_excuses_nothing_where_there_is_a_history(told, complaint, is_seen_between):
    """A watcher that reconnects with `since` is sent a crossing at the moment of the kill, once."""
    found = complaints(killed_at_a_zero(True, told, is_seen_between))

    assert len(found) == (harness.WATCHERS if complaint else 0), found
    assert all(complaint in line for line in found)


def test_a_kill_excuses_what_is_between_the_disk_and_the_socket():
    assert complaints(killed_at_a_zero(False)) == []


def test_another_history(spoiled):
    for push in spoiled.pushes:
        if push.cause == "hello":
            push.message["history"] = f"h{push.life}"

    assert any("another history" in line for line in complaints(spoiled))


def test_what_the_harness_saw_itself(spoiled):
    spoiled.faults.append("a stop took 9.0 s")

    assert "a stop took 9.0 s" in complaints(spoiled)


def test_an_end_that_was_told_twice(spoiled):
    end = snapshots(spoiled, "ended")[0]
    again = copy.deepcopy(end)
    again.at += 0.3
    spoiled.pushes.insert(spoiled.pushes.index(end) + 1, again)

    assert any("told twice" in line for line in complaints(spoiled))


def test_an_answer_without_a_change(spoiled):
    """A request that was sent again is answered well, and no trace of it is anywhere."""
    request = next(r for r in spoiled.requests if r.is_accepted and r.command == "update" and not r.was_repeated)
    revision = request.reply["timer"]["revision"]
    request.sent.insert(0, request.sent[0])
    spoiled.pushes = [
        push for push in spoiled.pushes
        if not any(state["revision"] == revision for state in push.message.get("timers", []))]
    request.reply["timer"]["revision"] = 1

    assert any("never done" in line for line in complaints(spoiled))


def test_an_impossible_state(spoiled):
    snapshots(spoiled, "started")[0].message["timers"][0]["time"] += 1

    assert any("is not duration" in line for line in complaints(spoiled))


def test_a_refusal_that_should_not_be(spoiled):
    request = next(r for r in spoiled.requests if r.reply is not None)
    request.reply = {"reply": 1, "ok": False, "error": {"code": "storageFailed", "message": "", "retryable": True}}

    assert any("was refused with storageFailed" in line for line in complaints(spoiled))


@pytest.mark.parametrize("behind, at_zero, is_right", [
    (0, "repeat", True), (15_000, "repeat", True), (25_000, "repeat", False), (15 * 200_000, "repeat", False),
    (16 * 200_000, "repeat", True), (40 * 200_000, "repeat", True), (40 * 200_000 + 50_000, "repeat", False),
    (40 * 200_000, "overtime", False)])
def test_a_countdown_far_behind_is_told_its_last_crossing(behind, at_zero, is_right):
    state = View({
        "timer": "egg", "revision": 1, "status": "running", "atZero": at_zero, "title": "", "duration": 0.2,
        "elapsedTime": 0, "time": 0.2, "addedTime": 0, "lastElapsedTimeCalculatedAt": 1000, "startDate": 1000,
        "stopDate": None, "pausePeriods": []})

    assert is_zero_of(state, state.zero + behind, 20_000) == is_right


@pytest.mark.parametrize("repeats, late, at_zero, is_right", [
    (16, True, "repeat", True), (20, True, "repeat", True), (15, True, "repeat", False), (20, False, "repeat", False),
    (20, True, "overtime", False), (16.5, True, "repeat", False)])
def test_an_end_stands_for_those_long_before_it(repeats, late, at_zero, is_right):
    zero = 1_000_000_000
    told = Push(0, 0, 0.0, {
        "event": "snapshot", "cause": "ended", "endedAt": 0, **({"late": True} if late else {}), "timers": [{
            "timer": "egg", "revision": 1, "status": "running", "atZero": at_zero, "title": "", "duration": 0.2,
            "elapsedTime": 0, "time": 0.2, "addedTime": 0, "lastElapsedTimeCalculatedAt": 1000, "startDate": 1000,
            "stopDate": None, "pausePeriods": []}]})

    assert is_folded(zero, [(zero + int(repeats * 200_000), told)]) == is_right


@pytest.mark.parametrize(
    "later, late, is_right", [(16, True, True), (15, True, False), (16, False, False), (0, True, False)]
)
def test_an_end_that_is_kept_no_more(later, late, is_right):
    """The last sixteen crossings of a timer are kept: a watcher that is sent sixteen on return misses older ones."""
    zero = 1_000_000_000
    told = [
        (
            zero + number * 200_000,
            Push(0, 3, 0.0, {"event": "snapshot", "cause": "ended", **({"late": True} if late else {})}),
        )
        for number in range(1, later + 1)
    ]

    assert is_beyond_kept(zero, told) == is_right
