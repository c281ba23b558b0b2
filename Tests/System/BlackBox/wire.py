"""The wire as the protocol page has it: exact numbers, the shape of every message, what holds in each state."""

import json
from decimal import Decimal

MICROSECOND = Decimal("0.000001")
STATE_FIELDS = {
    "timer", "revision", "status", "type", "elapsedTime", "time", "startDate", "stopDate", "pausePeriods",
    "lastElapsedTimeCalculatedAt", "addedTime", "atZero", "title", "warnings",
}
STATUSES = {"idle", "running", "paused", "finished"}
POLICIES = {"overtime", "finish", "reset", "repeat"}
CAUSES = {
    "subscribed", "tick", "started", "paused", "resumed", "finished", "reset", "adjusted", "updated", "lapped", "ended",
    "restored", "external", "continued",
}
# No part of a snapshot is longer than this.
PART_BYTES_MAX = 60_000
ERROR_CODES = {
    "timerHasNotStarted",
    "timerHasNotPaused",
    "timerAlreadyPaused",
    "timerAlreadyStarted",
    "invalidTimerType",
    "badRequest",
    "outOfRange",
    "unknownCommand",
    "unknownTimer",
    "revisionMismatch",
    "runMismatch",
    "unauthorized",
    "forbidden",
    "tooManyTimers",
    "tooManySubscriptions",
    "rateLimited",
    "storageFailed",
    "shuttingDown",
}
# These come back as the client wrote them, so the rules for the server's own numbers do not hold for them.
ECHOED = {"reply", "clientTime"}


class WireNumber(Decimal):
    """A number with a fraction, exact, that remembers its own token."""

    token: str


def _number(token: str) -> WireNumber:
    number = WireNumber(token)
    number.token = token
    return number


def _refuse_constant(token: str):
    raise AssertionError(f"{token} is not JSON")


def _unique(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"the server sent a key twice: {keys}"
    return dict(pairs)


def parse(text: str | bytes) -> dict:
    """A message of the server as values; fractions are exact decimals."""
    message = json.loads(
        text, parse_float=_number, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    assert isinstance(message, dict), f"a message must be one JSON object: {text!r}"
    return message


def dump(message: dict) -> str:
    """A request as text."""
    return json.dumps(message, default=float, ensure_ascii=False)


def seconds(value) -> Decimal:
    """A number of the wire as an exact decimal."""
    assert isinstance(value, (int, Decimal)) and not isinstance(value, bool), f"{value!r} is not a number"
    return Decimal(value)


def elapsed_by_dates(state: dict) -> Decimal:
    """The elapsed time by the instants of a state."""
    end = state["stopDate"] if state["stopDate"] is not None else state["lastElapsedTimeCalculatedAt"]
    total = seconds(end) - seconds(state["startDate"])
    for period in state["pausePeriods"]:
        resumed = period.get("start")
        total -= (seconds(resumed) if resumed is not None else seconds(end)) - seconds(period["pause"])
    return total


def check_state(state: dict, in_tick: bool = False) -> None:
    """Asserts all that the protocol page promises of any state."""
    assert isinstance(state, dict), f"a state must be an object: {state!r}"
    expected = STATE_FIELDS | ({"duration"} if state.get("type") == "timer" else set())
    expected |= {"message", "signal"} & set(state)
    if not in_tick:
        expected |= {"run"} | {"laps"} & set(state)
        is_run = state.get("status") != "idle"
        assert (type(state.get("run")) is int) == is_run and (state["run"] is None) != is_run, state
        assert not is_run or 0 < state["run"] <= state["revision"], state
    assert set(state) == expected, f"missing {expected - set(state)}, too many {set(state) - expected}: {state}"
    assert isinstance(state["timer"], str) and state["timer"], state
    assert type(state["revision"]) is int and state["revision"] > 0, state
    assert state["status"] in STATUSES, state
    assert state["type"] in {"timer", "stopwatch"}, state
    assert state["atZero"] in POLICIES, state
    assert isinstance(state["title"], str), state
    assert isinstance(state["warnings"], list), state
    assert isinstance(state["pausePeriods"], list) and len(state["pausePeriods"]) <= 64, state
    for field in ("elapsedTime", "time", "lastElapsedTimeCalculatedAt", "addedTime"):
        seconds(state[field])
    assert seconds(state["elapsedTime"]) >= 0, f"elapsedTime is below zero: {state}"
    for period in state["pausePeriods"]:
        assert set(period) == {"pause", "start"}, f"a pause period has a pause and a start: {state}"

    if state["type"] == "timer":
        assert seconds(state["time"]) + seconds(state["elapsedTime"]) == seconds(state["duration"]), (
            f"time + elapsedTime is not duration: {state}")
    else:
        assert state["time"] == state["elapsedTime"], f"a stopwatch shows what has elapsed: {state}"
        assert state["addedTime"] == 0, state

    if "message" in state:
        assert set(state["message"]) == {"text", "sentAt"}, state
        assert 1 <= len(state["message"]["text"].encode()) <= 500, state
        seconds(state["message"]["sentAt"])
    if "signal" in state:
        assert set(state["signal"]) == {"kind", "sentAt"}, state
        assert state["signal"]["kind"] in {"flash", "blackout"}, state
        seconds(state["signal"]["sentAt"])
    if "laps" in state:
        laps = [seconds(lap) for lap in state["laps"]]
        assert state["type"] == "stopwatch" and state["status"] != "idle", state
        assert 1 <= len(laps) <= 1000 and laps == sorted(laps) and laps[0] >= 0, state
        assert laps[-1] <= seconds(state["elapsedTime"]), f"a lap that is still to come: {state}"

    if state["status"] == "idle":
        assert state["startDate"] is None and state["stopDate"] is None, state
        assert state["pausePeriods"] == [] and state["elapsedTime"] == 0 and state["addedTime"] == 0, state
    else:
        seconds(state["startDate"])
        assert (state["stopDate"] is not None) == (state["status"] == "finished"), state
    open_pauses = [period for period in state["pausePeriods"] if period["start"] is None]
    if state["status"] == "paused":
        assert open_pauses == state["pausePeriods"][-1:], f"a paused timer's last pause alone is open: {state}"
    elif state["status"] == "running":
        assert not open_pauses, state
    if state["type"] == "timer" and state["status"] in {"running", "paused"}:
        # Adding time to a countdown never changes its elapsed time, so the instants always account for that. A
        # countdown that does not go on below zero stays at zero while its end is written to disk.
        by_dates = elapsed_by_dates(state)
        stands_at_zero = state["atZero"] != "overtime" and state["time"] == 0 and by_dates >= state["elapsedTime"]
        assert abs(by_dates - seconds(state["elapsedTime"])) <= MICROSECOND or stands_at_zero, (
            f"the instants say {by_dates} elapsed: {state}")


def check_error(error: dict) -> None:
    """Asserts the shape of an error."""
    assert isinstance(error, dict), error
    assert {"code", "message", "retryable"} <= set(error), f"an error has code, message and retryable: {error}"
    assert error["code"] in ERROR_CODES, f"{error['code']} is no code of the protocol: {error}"
    assert isinstance(error["message"], str) and error["message"].strip(), f"the message is empty: {error}"
    assert isinstance(error["retryable"], bool), error


def _check_numbers(value, path: str = "") -> None:
    if isinstance(value, WireNumber):
        assert "e" not in value.token.lower(), f"{path} is written with an exponent: {value.token}"
        fraction = value.token.partition(".")[2]
        assert len(fraction) <= 6, f"{path} has more than microseconds: {value.token}"
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in ECHOED:
                _check_numbers(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _check_numbers(inner, f"{path}[{index}]")


def check_status(message: dict) -> None:
    """Asserts the members that describe the server itself."""
    seconds(message["wallOffset"])
    assert isinstance(message["writable"], bool), message
    assert ("reason" in message) != message["writable"], f"a reason, and only where no change is taken: {message}"
    assert message["writable"] or message["reason"].strip(), message


def check_message(message: dict) -> None:
    """Asserts the shape of any message of the server."""
    _check_numbers(message)
    if "event" in message:
        event = message["event"]
        if event == "hello":
            assert set(message) - {"reason"} == {
                "event", "server", "protocol", "epoch", "role", "now", "history", "revision", "wallOffset", "writable",
            }, message
            assert message["history"] and type(message["revision"]) is int, message
            check_status(message)
        elif event == "snapshot":
            expected = {"event", "cause", "timers"}
            if message.get("cause") == "ended":
                expected |= {"endedAt"}
                seconds(message["endedAt"])
                assert message.get("late", True) is True, message
            if "part" in message:
                expected |= {"part", "parts"}
                assert 1 <= message["part"] <= message["parts"] and message["parts"] > 1, message
            assert set(message) - {"late"} == expected, message
            assert (message["cause"] == "continued") == (message.get("part", 1) > 1), message
            assert message["cause"] in CAUSES, message
            assert "late" not in message or message["cause"] == "ended", message
            for state in message["timers"]:
                # A part says by its first state whether it continues a tick, whose states have no `run`.
                is_tick = message["cause"] == "tick" or message["cause"] == "continued" and "run" not in state
                check_state(state, in_tick=is_tick)
            if message["cause"] == "tick":
                assert message["timers"], "a tick about nothing"
                assert all(state["status"] == "running" for state in message["timers"]), (
                    f"a tick carries running timers only: {message}")
        elif event == "server":
            assert set(message) - {"reason"} == {"event", "wallOffset", "writable"}, message
            check_status(message)
        elif event == "removed":
            assert set(message) == {"event", "timer"}, message
        else:
            raise AssertionError(f"no such event in the protocol: {message}")
        return
    assert "reply" in message, f"neither an event nor a reply: {message}"
    assert isinstance(message["ok"], bool), message
    if message["ok"]:
        assert "error" not in message, message
        assert "next" not in message or message["timers"][-1]["timer"] == message["next"], message
        assert "interval" not in message or seconds(message["interval"]) % Decimal("0.05") == 0, message
    else:
        assert set(message) <= {"reply", "ok", "error", "timer"}, message
        check_error(message["error"])
    if isinstance(message.get("timer"), dict):
        check_state(message["timer"])
    for state in message.get("timers", []):
        if isinstance(state, dict):
            check_state(state)
