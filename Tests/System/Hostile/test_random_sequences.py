"""The real server against a small model of the protocol, by random sequences."""

import json
import os

import pytest

import timer_server
from protocol_model import SECOND, Answered, Model, Refusal, read
from random_sequences import sequences

SECONDS = float(os.environ.get("SEQUENCES_SECONDS", "60"))
# The same seeds each time, so that a failure comes again; random_sequences.py itself takes new ones.
SEEDS = [1, 2]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_server_does_what_the_model_does(tmp_path, seed):
    """For half a minute each, random sequences are answered as the model answers them."""
    assert os.access(timer_server.BINARY, os.X_OK), f"no server at {timer_server.BINARY}"

    counts = sequences(tmp_path, seed, 1_000_000, SECONDS / len(SEEDS))

    assert counts["steps"] > 500, counts
    # Requests that met a zero on their way are not counted as differences, so they have to be few.
    assert counts["ambiguous"] < counts["steps"] / 200 + 5, counts
    assert counts["accepted"] > 100 and counts["refused"] > 100 and counts["ill-formed"] > 50, counts


# The model is a program too


def made(model: Model, message: dict, now: int):
    """The timer after a message was carried out."""
    request = read(json.dumps(message))
    assert not request.faults, request
    after = model.change(request, now)
    for name, timer in after.items():
        model.keep(name, timer)
    return model.timers.get(request.fields.get("timer"))


def test_the_model_counts_down():
    """A countdown of 5 s shows 3.5 s after 1.5 s, and stands still in a pause."""
    model = Model()
    timer = made(model, {"command": "start", "timer": "tea", "duration": 5}, 0)
    assert timer.state(1_500_000)["time"] == 3_500_000

    timer = made(model, {"command": "pause", "timer": "tea"}, 2_000_000)
    assert timer.state(9_000_000)["time"] == 3_000_000


def test_the_model_crosses_zero():
    """Each end has its way of going on at the exact zero."""
    statuses = {}
    for policy in ("overtime", "finish", "reset", "repeat"):
        model = Model()
        made(model, {"command": "start", "timer": "tea", "duration": 1, "atZero": policy}, 0)
        model.cross(SECOND * 5 // 2)
        timer = model.timers["tea"]
        statuses[policy] = (timer.status, timer.state(SECOND * 5 // 2)["time"])

    assert statuses == {
        "overtime": ("running", -1_500_000), "finish": ("finished", 0), "reset": ("idle", SECOND),
        "repeat": ("running", 500_000)}


def test_the_model_looks_beyond_a_zero_without_crossing_it():
    """A state that waited for the disk may be from after a zero, and the next answer from before it."""
    model = Model()
    made(model, {"command": "start", "timer": "tea", "duration": 1, "atZero": "finish"}, 0)
    shown, present = model.versions("tea", 2 * SECOND)[:2]
    assert (shown.status, present.status) == ("finished", "running")

    timer = made(model, {"command": "update", "timer": "tea", "title": "Pasta"}, SECOND // 2)
    assert (timer.status, timer.title) == ("running", "Pasta")

    model.seen_crossings["tea", SECOND] = 7
    model.cross(2 * SECOND)
    assert (model.timers["tea"].status, model.timers["tea"].revision) == ("finished", 7)


def test_the_model_forgets_names():
    """A key stands for one request for ten minutes; near the end of that time it may or may not be known."""
    model = Model()
    model.answered["r"] = Answered("asked", {"ok": True}, 0)
    request = read('{"command":"pause","requestId":"r"}')

    forgetting = [model.is_forgetting(request, second * SECOND) for second in (0, 598, 600)]
    assert forgetting == [False, False, True]
    model.forget_names(600 * SECOND)
    assert "r" in model.answered
    model.forget_names(602 * SECOND)
    assert model.answered == {}


def test_the_model_refuses():
    """A request that the rules refuse gets the protocol's code."""
    model = Model()
    made(model, {"command": "start", "timer": "tea", "duration": 5}, 0)
    codes = {}
    for message in ({"command": "start"}, {"command": "resume"}, {"command": "addElapsedTime", "seconds": 1},
                    {"command": "addRemainingTime", "seconds": -6}, {"command": "pause", "at": -3}):
        with pytest.raises(Refusal) as refusal:
            made(model, {**message, "timer": "tea"}, SECOND)
        codes[message["command"]] = (refusal.value.code, refusal.value.limit)

    assert codes == {
        "start": ("timerAlreadyStarted", None), "resume": ("timerHasNotPaused", None),
        "addElapsedTime": ("invalidTimerType", None), "addRemainingTime": ("outOfRange", -4 * SECOND),
        "pause": ("outOfRange", None)}


def test_the_model_keeps_laps():
    """Laps hold elapsed times, limit what may be subtracted, and go with the run."""
    model = Model()
    made(model, {"command": "start", "timer": "run"}, 0)
    made(model, {"command": "lap", "timer": "run"}, SECOND)
    timer = made(model, {"command": "lap", "timer": "run"}, 2 * SECOND)
    assert timer.state(3 * SECOND)["laps"] == [SECOND, 2 * SECOND]

    with pytest.raises(Refusal) as refusal:
        made(model, {"command": "addElapsedTime", "timer": "run", "seconds": -2}, 3 * SECOND)
    assert (refusal.value.code, refusal.value.limit) == ("outOfRange", -SECOND)

    assert "laps" not in made(model, {"command": "reset", "timer": "run"}, 3 * SECOND).state(3 * SECOND)


def test_the_model_keeps_what_the_speaker_is_shown():
    """A message and a signal outlast the run until they are taken away."""
    model = Model()
    made(model, {"command": "start", "timer": "tea"}, 0)
    made(model, {"command": "message", "timer": "tea", "text": "Wrap up"}, 1)
    made(model, {"command": "signal", "timer": "tea", "signal": "flash"}, 2)
    timer = made(model, {"command": "reset", "timer": "tea"}, 3)
    assert timer.state(4)["message"] == {"text": "Wrap up", "sentAt": 1}
    assert timer.state(4)["signal"] == {"kind": "flash", "sentAt": 2}

    made(model, {"command": "message", "timer": "tea", "text": None}, 5)
    timer = made(model, {"command": "signal", "timer": "tea", "signal": "none"}, 6)
    assert not {"message", "signal"} & set(timer.state(7))


@pytest.mark.parametrize("text", ["{", "[]", '{"command":"list","command":"list"}', '{"id":NaN,"command":"list"}',
                                  '{"command":"start","timer":"\\ud800"}', '{"command":"list","x":1}'])
def test_the_model_reads_strictly(text):
    """A text that is no request is none for the model either."""
    assert read(text).faults == {"badRequest"}
