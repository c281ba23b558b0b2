"""The test vectors of "Writing a client", read out of that chapter, against the client that was written by it."""

import json
import re
from pathlib import Path

import pytest

from client_rules import (
    WITHIN,
    Clock,
    Follower,
    changes_in,
    digits,
    intersect,
    longest_delay,
    next_step,
    next_step_after_loss,
    shown,
    time_of,
)
from timer_server import REPOSITORY

CHAPTER = REPOSITORY / "Sources/TimerProtocol/TimerProtocol.docc/WritingAClient.md"
NOTHING = "–"


def vectors(name: str) -> list[dict]:
    """The rows of the table below a heading, by the names of its columns."""
    section = re.search(rf"^### Vectors: {re.escape(name)}\n(.*?)(?=^#|\Z)", CHAPTER.read_text(), re.M | re.S)
    assert section, f"the chapter has no vectors called {name!r}"
    lines = [line.strip("| \n").split("|") for line in section[1].splitlines() if line.startswith("|")]
    names, _, *rows = [[cell.strip().strip("`") for cell in line] for line in lines]
    assert rows, f"no rows in {name!r}"
    return [dict(zip(names, row + [""] * (len(names) - len(row)), strict=True)) for row in rows]


def each(name: str):
    """Parameters that run a test once for each row."""
    rows = vectors(name)
    return pytest.mark.parametrize("row", rows, ids=[" ".join(row.values()) for row in rows])


def numbers(row: dict, *names: str) -> list[float]:
    return [float(row[name]) for name in names]


class HandTurned:
    """A machine's two clocks, which the test sets."""

    def __init__(self, monotonic: float = 100.0, ahead: float = 4900.0):
        self.monotonic, self.ahead = monotonic, ahead
        self.clock = Clock(lambda: self.monotonic, lambda: self.monotonic + self.ahead)

    def exchange(self, offset: float) -> None:
        """A clock exchange that takes no time."""
        now = self.monotonic
        self.clock.learn(now, now + offset, now + offset, now)


# The clock

@each("exchange")
def test_an_exchange_bounds_the_offset(row):
    t0, t1, t2, t3 = numbers(row, "T0", "T1", "T2", "T3")
    machine = HandTurned(t3)

    machine.clock.learn(t0, t1, t2, t3)

    assert machine.clock.samples[0][:2] == pytest.approx(numbers(row, "least", "most"))
    assert [machine.clock.offset, machine.clock.error] == pytest.approx(numbers(row, "offset", "error"))


@each("exchanges that count")
def test_an_exchange_over_a_sleep_does_not_count(row):
    machine = HandTurned()
    machine.exchange(1000)
    sent, back, offset, error = numbers(row, "T0", "T3", "offset after", "error after")
    machine.monotonic = back
    machine.clock.learn(sent, sent + 1000, sent + 1000, back)

    assert machine.clock.samples[-1][2] == (back if row["counts"] == "yes" else 100)
    assert (machine.clock.target, machine.clock.error) == pytest.approx((offset, error), abs=0.000001)


@each("intersection")
def test_exchanges_are_intersected(row):
    samples = [tuple(sample) for sample in json.loads(row["samples"])]

    assert intersect(samples, float(row["now"])) == pytest.approx(numbers(row, "offset", "error"), abs=1e-6)


@each("slewing")
def test_small_corrections_are_slewed(row):
    in_force, new, after, used = numbers(row, "in force", "new", "after", "used")
    machine = HandTurned()
    machine.clock.target = in_force

    machine.clock.aim(new, is_first=row["first of the epoch"] == "yes")
    machine.monotonic += after

    assert machine.clock.offset == pytest.approx(used)


def test_a_slewed_clock_never_goes_back():
    machine = HandTurned()
    machine.clock.aim(1000, is_first=True)
    machine.clock.aim(999.97, is_first=False)
    instants = []
    for _ in range(200):
        instants.append(machine.clock.now())
        machine.monotonic += 0.01

    assert all(later > earlier for earlier, later in zip(instants, instants[1:], strict=False))


@each("hello")
def test_an_epoch_is_a_clock(row):
    machine = HandTurned()
    if row["epoch"] != NOTHING:
        offset = float(row["offset"])
        machine.clock.greet(row["epoch"], machine.monotonic + offset)
        if row["exchanged"] == "yes":
            machine.exchange(offset)

    machine.clock.greet(row["epoch in hello"], float(row["now in hello"]))

    assert machine.clock.offset == pytest.approx(float(row["offset after"]))
    assert machine.clock.exchanged == (row["exchanged after"] == "yes")


@each("sleep")
def test_a_sleep_is_noticed_and_assumed(row):
    machine = HandTurned(ahead=float(row["last look"]))
    machine.clock.greet("a", machine.monotonic + 1000)
    machine.exchange(1000)

    machine.ahead = float(row["now"])
    slept = machine.clock.notice_sleep()

    assert (slept, machine.clock.is_in_doubt, machine.clock.exchanged) == (
        row["slept"] == "yes", row["slept"] == "yes", row["slept"] == "no")
    machine.clock.assume_sleep()
    machine.clock.assume_sleep()
    assert machine.clock.offset == pytest.approx(float(row["offset if nothing is answered"]))


def test_an_exchange_that_spans_a_sleep_is_ignored():
    machine = HandTurned()
    machine.clock.greet("a", 1100)
    machine.exchange(1000)
    asked = machine.monotonic
    machine.monotonic += 1
    machine.ahead += 20
    assert machine.clock.notice_sleep()

    machine.clock.learn(asked, asked + 1000, asked + 1000, machine.monotonic)
    assert not machine.clock.exchanged

    machine.exchange(1020)
    assert (machine.clock.offset, machine.clock.exchanged) == (pytest.approx(1020), True)


# The text to show

@each("digits")
def test_digits(row):
    assert digits(float(row["seconds"]), row["type"]) == row["text"]


def test_thirty_seconds_have_thirty_one_texts():
    texts = [digits(milliseconds / 1000, "timer") for milliseconds in range(30_000, -1, -1)]

    assert list(dict.fromkeys(texts)) == [f"0:{second:02}" for second in range(30, -1, -1)]


@each("present")
def test_the_present(row):
    state = {
        "type": row["type"], "status": row["status"], "atZero": row["atZero"], "lastElapsedTimeCalculatedAt": 1000,
        "elapsedTime": float(row["elapsedTime"])}
    if row["type"] == "timer":
        state["duration"] = 300

    assert time_of(state, float(row["now"])) == pytest.approx(float(row["time"]))
    assert shown(state, float(row["now"])) == row["text"]


@each("next change")
def test_when_the_text_changes(row):
    seconds, after = numbers(row, "time", "changes in")

    assert changes_in(seconds, row["type"]) == pytest.approx(after)
    direction = 1 if row["type"] == "stopwatch" else -1
    assert digits(seconds + direction * (after + 0.001), row["type"]) != digits(seconds, row["type"])


# States, parts, ends

def hello(text: str) -> dict:
    epoch, history, revision = re.fullmatch(
        r"hello(?:, epoch (\w))?, history (\w)(?:, revision (\d+))?", text).groups()
    return {"event": "hello", "epoch": epoch or "e", "history": history, "revision": int(revision or 0)}


def state(name: str, revision: int, instant: float = 1000, **fields) -> dict:
    return {"timer": name, "revision": revision, "lastElapsedTimeCalculatedAt": instant, **fields}


def snapshot(cause: str, *states: dict, **fields) -> dict:
    return {"event": "snapshot", "cause": cause, "timers": list(states), **fields}


def test_states_are_never_stale():
    follower = Follower()
    for row in vectors("states"):
        message = row["message"]
        now = state("tea", int(row["revision"]), float(row["instant"])) if row["revision"] else None
        if message.startswith("hello"):
            follower.hello(hello(message))
        elif message == "removed":
            follower.remove("tea")
        elif message == "reply":
            follower.take(now)
        elif message.startswith("snapshot"):
            cause = message.removeprefix("snapshot ").split(",")[0]
            follower.snapshot(snapshot(cause, *([now] if now else [])))
        else:
            assert message == "reply to a repeated request"  # The client ignores it.
        known = follower.timers.get("tea")
        text = f"{known['revision']} at {known['lastElapsedTimeCalculatedAt']:g}" if known else NOTHING
        assert text == row["known after"], row


def test_a_tick_keeps_the_run_and_the_laps_of_its_revision():
    follower = Follower()
    follower.hello(hello("hello, epoch a, history h"))
    follower.snapshot(snapshot("subscribed", state("tea", 4, 1000, run=3, laps=[1.5])))

    follower.snapshot(snapshot("tick", state("tea", 4, 1001)))
    assert (follower.timers["tea"]["run"], follower.timers["tea"]["laps"]) == (3, [1.5])

    follower.snapshot(snapshot("reset", state("tea", 5, 1002, run=None)))
    assert follower.timers["tea"] == state("tea", 5, 1002, run=None)


def test_parts_count_together():
    follower = Follower()
    follower.hello(hello("hello, epoch a, history h"))
    for revision, row in enumerate(vectors("parts"), start=1):
        part = {} if row["part"] == NOTHING else {"part": int(row["part"]), "parts": int(row["parts"])}
        taken = follower.snapshot(
            snapshot(row["cause"], *(state(name, revision) for name in row["timers"].split()), **part))
        assert (f"{taken[0]}: {' '.join(taken[1])}" if taken else NOTHING) == row["taken"], row


def test_half_a_set_is_dropped_with_its_connection():
    follower = Follower()
    follower.hello(hello("hello, epoch a, history h"))
    follower.snapshot(snapshot("subscribed", state("a", 1), part=1, parts=2))

    follower.hello(hello("hello, epoch a, history h"))
    follower.snapshot(snapshot("subscribed", state("b", 2)))

    assert list(follower.timers) == ["b"]


def test_the_point_for_since():
    follower = Follower()
    for row in vectors("since"):
        message = row["message"]
        if message.startswith("hello"):
            follower.hello(hello(message))
            assert (follower.since or NOTHING) == row["since"], row
        elif message == "reply to sync":
            follower.catch_up()
        else:
            follower.take(state("tea", int(message.removeprefix("state, revision "))))
        assert "{}:{}".format(*follower.point) == row["point after"], row


def test_a_bell_rings_once():
    follower = Follower()
    follower.hello(hello("hello, epoch a, history h"))
    for revision, row in enumerate(vectors("bells"), start=1):
        before = len(follower.bells)
        late = {"late": True} if row["late"] == "yes" else {}
        follower.snapshot(snapshot("ended", state(row["timer"], revision), endedAt=float(row["endedAt"]), **late))
        assert (len(follower.bells) > before) == (row["rings"] == "yes"), row


# Changes and links

@each("replies")
def test_what_a_client_does_with_an_outcome(row):
    outcome = row["outcome"]
    if outcome.startswith("link lost"):
        age = 30 if outcome.endswith("30 s over") else 1
        assert next_step_after_loss("other history" not in outcome, age) == row["do"]
        return
    code, *members = outcome.split()
    error = {} if code == "ok" else {"code": code}
    error |= {name: value or 1 for name, _, value in (member.partition("=") for member in members)}
    assert next_step(error, row["has at"] == "yes") == row["do"]


@each("coming back")
def test_how_long_a_client_stays_away(row):
    delay = longest_delay(int(row["close code"]), int(row["losses before"]), row["stable"] == "yes")

    assert delay == (None if row["longest delay"] == "never" else float(row["longest delay"]))


def test_when_a_link_is_dead():
    assert [float(row["within"]) for row in vectors("dead links")] == [
        WITHIN["hello"], WITHIN["first sync"], WITHIN["reply"]]


def test_the_error_catalogue_is_complete():
    """Each code of the server with its status, its cause and what to do, and no other."""
    source = (REPOSITORY / "Sources/TimerProtocol/ErrorReply.swift").read_text()
    declared = re.findall(r"^  case ([\w, ]+)$", source.partition("isRetryable")[0], re.M)
    codes = {code for line in declared for code in line.split(", ")}
    catalogue = CHAPTER.with_name("Errors.md").read_text()

    assert set(re.findall(r"^\| `(\w+)` \| \d{3} \| (?:yes|no)[^|]*\|$", catalogue, re.M)) == codes
    assert set(re.findall(r"^- \*\*`(\w+)`\*\*", catalogue, re.M)) == codes


def test_every_table_of_the_chapter_is_read():
    headings = set(re.findall(r"^### Vectors: (.*)$", CHAPTER.read_text(), re.M))
    used = set(re.findall(r'(?:each|vectors)\("([^"]+)"\)', Path(__file__).read_text()))

    assert headings == used
