"""A small model of the protocol page: what a request is, and what becomes of timers, in whole microseconds.

It is written from the page alone, without a look at the server's code, so that the two can disagree. The model has no
clock: each call passes the instant at which the server says that something was true.
"""

import copy
import json
import re
from collections import deque
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

SECOND = 1_000_000
YEAR = 31_536_000 * SECOND
REPEAT_MIN = SECOND // 10
PRESS_AGE_MAX = 2 * SECOND
PAUSES_MAX = 64
LAPS_MAX = 1000
# The age at which an idempotency key is forgotten.
NAME_AGE_MAX = 600 * SECOND
DEPTH_MAX, MEMBERS_MAX = 16, 64
POLICIES = {"overtime", "finish", "reset", "repeat"}
SIGNALS = {"flash", "blackout", "none"}
# HISTORY:REVISION.
SINCE = re.compile(r".+:[0-9]{1,18}", re.DOTALL)

CONDITIONS = {"ifRevision", "ifRun", "at", "requestId"}
FIELDS = {
    "start": {"timer", "duration", "type", "atZero", "title", "warnings", "force"} | CONDITIONS,
    "update": {"timer", "title", "warnings", "atZero"} | CONDITIONS,
    "pause": {"timer"} | CONDITIONS, "resume": {"timer"} | CONDITIONS, "reset": {"timer"} | CONDITIONS,
    "remove": {"timer"} | CONDITIONS, "finish": {"timer", "resetTime"} | CONDITIONS,
    "finishAll": {"at", "requestId"},
    "addRemainingTime": {"timer", "seconds", "clamp"} | CONDITIONS,
    "addElapsedTime": {"timer", "seconds", "clamp"} | CONDITIONS,
    "lap": {"timer"} | CONDITIONS, "message": {"timer", "text"} | CONDITIONS,
    "signal": {"timer", "signal"} | CONDITIONS,
    "get": {"timer"}, "list": {"limit", "after"}, "unsubscribe": {"timer", "timers"},
    "subscribe": {"timer", "timers", "interval", "since", "parts"},
    "sync": {"clientTime"}, "authenticate": {"token"},
}
CHANGES = {name for name, fields in FIELDS.items() if "requestId" in fields}


def microseconds(value) -> int:
    """Seconds of the wire as the nearest whole microseconds; a number beyond the precision of a double is clamped."""
    held = min(max(float(value), -9_007_199_254.0), 9_007_199_254.0)
    return int(Decimal(held * SECOND).to_integral_value(ROUND_HALF_UP))


# Requests


@dataclass
class Request:
    """A request as far as it can be read, with the errors that may be named for it."""

    tag: object = None
    command: str | None = None
    fields: dict = field(default_factory=dict)
    # The codes of which a server may name any: the page does not say which fault comes first.
    faults: set[str] = field(default_factory=set)
    # The timer whose state comes with a refusal.
    timer: str | None = None

    @property
    def is_change(self) -> bool:
        return self.command in CHANGES


class _NotJSON(Exception):
    pass


def _unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs) or len(pairs) > MEMBERS_MAX:
        raise _NotJSON
    return members


def _refuse(_):
    raise _NotJSON


def _check_value(value, depth: int = 0) -> None:
    if depth > DEPTH_MAX:
        raise _NotJSON
    if isinstance(value, str) and any(0xD800 <= ord(character) < 0xE000 for character in value):
        raise _NotJSON
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_value(name, depth)
            _check_value(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check_value(inner, depth + 1)


def read(text: str) -> Request:
    """Reads a message as the page has it."""
    try:
        value = json.loads(
            text, parse_constant=_refuse, object_pairs_hook=_unique, parse_float=float, parse_int=_whole)
        _check_value(value)
    except (ValueError, _NotJSON, RecursionError):
        return Request(faults={"badRequest"})
    if not isinstance(value, dict):
        return Request(faults={"badRequest"})
    return _Reader(value).request


def _whole(token: str):
    # A number of thousands of digits is infinite for a double, and Python would not turn it into an integer.
    return float(token) if len(token) > 300 else int(token)


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_control(character: str) -> bool:
    """Whether the page counts the character as a control character."""
    return ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 or character in "\u2028\u2029"


def is_name(text) -> bool:
    """Whether a text may be a timer's name."""
    if not isinstance(text, str) or text == "*" or not 1 <= len(text.encode()) <= 128:
        return False
    return not any(map(is_control, text))


class _Reader:
    """Reads the members of an object, and collects what is wrong with them."""

    def __init__(self, members: dict):
        self.members = members
        self.request = Request()
        self._read()

    def _read(self) -> None:
        request, members = self.request, self.members
        identifier = members.get("id")
        if isinstance(identifier, str) or identifier is None or _is_number(identifier):
            request.tag = identifier
        else:
            # The rest of the request need not be read, but its faults may be named.
            request.faults.add("badRequest")
        name = members.get("timer")
        command = members.get("command")
        if is_name(name):
            request.timer = name
        if not isinstance(command, str):
            request.faults.add("badRequest")
            return
        if command not in FIELDS:
            request.faults.add("unknownCommand")
            return
        known = FIELDS[command]
        if "timer" not in members and "timer" in known and "timers" not in members:
            request.timer = "default"
        if set(members) - known - {"id", "command"}:
            request.faults.add("badRequest")
            return
        if request.faults:
            return
        request.command = command
        for field_name in known & set(members):
            reader = getattr(self, f"_{field_name}")
            request.fields[field_name] = reader(members[field_name])
        if "timer" in known and "timer" not in members:
            request.fields["timer"] = "default"
        self._check_together(command)

    def _fault(self, code: str = "badRequest"):
        self.request.faults.add(code)

    def _check_together(self, command: str) -> None:
        members = self.members
        if command == "update" and not {"title", "warnings", "atZero"} & set(members):
            self._fault()
        if command in {"addRemainingTime", "addElapsedTime"} and "seconds" not in members:
            self._fault()
        if command == "message" and "text" not in members or command == "signal" and "signal" not in members:
            self._fault()
        if command == "authenticate" and "token" not in members:
            self._fault()
        if command in {"subscribe", "unsubscribe"} and {"timer", "timers"} <= set(members):
            self._fault()
        if command in {"subscribe", "unsubscribe"} and "timers" in members:
            self.request.fields.pop("timer", None)

    # The fields

    def _timer(self, value):
        if self.members.get("command") in {"subscribe", "unsubscribe"} and value == "*":
            return value
        if not is_name(value):
            self._fault()
        return value

    def _timers(self, value):
        if value in ("*", ["*"]):
            return "*"
        if not isinstance(value, list) or not all(is_name(name) for name in value):
            self._fault()
        return value

    def _number(self, value) -> bool:
        if not _is_number(value):
            self._fault()
            return False
        return True

    def _duration(self, value):
        if not self._number(value):
            return None
        length = max(microseconds(value), 1) if value > 0 else 0
        if not 0 < length <= YEAR:
            self._fault("outOfRange")
        return length

    def _seconds(self, value):
        return microseconds(value) if self._number(value) else None

    def _interval(self, value):
        if not self._number(value):
            return None
        length = 0 if value == 0 else microseconds(value)
        if value != 0 and not SECOND // 10 <= length <= 3600 * SECOND:
            self._fault("outOfRange")
        return length

    def _limit(self, value):
        if not self._number(value):
            return None
        if abs(value) != float("inf") and value != int(value):
            self._fault()
        elif not 1 <= value <= 10_000:
            self._fault("outOfRange")
        return value

    def _after(self, value):
        if not is_name(value):
            self._fault()
        return value

    def _warnings(self, value):
        if not isinstance(value, list) or len(value) > 16 or not all(_is_number(item) for item in value):
            self._fault()
            # With a number out of range before one of a wrong type, either may be named.
            if isinstance(value, list) and any(
                    _is_number(item) and not 0 <= microseconds(item) <= YEAR for item in value):
                self._fault("outOfRange")
            return None
        lengths = [microseconds(item) for item in value]
        if not all(0 <= length <= YEAR for length in lengths):
            self._fault("outOfRange")
        return lengths

    def _at(self, value):
        return microseconds(value) if self._number(value) else None

    def _ifRevision(self, value):
        if not self._number(value) or not 0 <= value < 2**63 or value != int(value):
            self._fault()
            return None
        return int(value)

    _ifRun = _ifRevision

    def _since(self, value):
        if not isinstance(value, str) or not SINCE.fullmatch(value):
            self._fault()
        return value

    def _clientTime(self, value):
        self._number(value)
        return value

    def _bounded(self, value, shortest: int, longest: int):
        if not isinstance(value, str) or not shortest <= len(value.encode()) <= longest:
            self._fault()
        return value

    def _title(self, value):
        return self._bounded(value, 0, 256)

    def _text(self, value):
        if value is None:
            return None
        self._bounded(value, 0, 500)
        if isinstance(value, str) and any(is_control(character) for character in value if character != "\n"):
            self._fault()
        return value

    def _signal(self, value):
        return self._choice(value, SIGNALS)

    def _requestId(self, value):
        return self._bounded(value, 1, 64)

    def _token(self, value):
        return self._bounded(value, 0, 1 << 20)

    def _choice(self, value, choices):
        if not isinstance(value, str) or value not in choices:
            self._fault()
        return value

    def _type(self, value):
        return self._choice(value, {"timer", "stopwatch"})

    def _atZero(self, value):
        return self._choice(value, POLICIES)

    def _flag(self, value):
        if not isinstance(value, bool):
            self._fault()
        return value

    _force = _clamp = _resetTime = _parts = _flag


# Timers


class Refusal(Exception):
    """A refusal of a request by the rules."""

    def __init__(self, code: str, limit: int | None = None):
        super().__init__(code)
        self.code = code
        self.limit = limit


@dataclass
class Run:
    """The time that counts: from a start to a stop, without the pauses."""

    start: int
    duration: int | None
    pauses: list = field(default_factory=list)
    stop: int | None = None
    laps: list = field(default_factory=list)
    # The revision that began the run; None until a reply shows it.
    revision: int | None = None

    @property
    def status(self) -> str:
        if self.stop is not None:
            return "finished"
        return "paused" if self.pauses and self.pauses[-1][1] is None else "running"

    @property
    def paused(self) -> int:
        return sum(resumed - paused for paused, resumed in self.pauses if resumed is not None)

    def elapsed(self, now: int) -> int:
        if self.pauses and self.pauses[-1][1] is None:
            now = self.pauses[-1][0]
        elif self.stop is not None:
            now = self.stop
        return max(0, now - self.start - self.paused)


@dataclass
class Timer:
    """A timer. `revision` is None while the model can't know it, because no reply has shown that of a crossing."""

    name: str
    duration: int | None
    at_zero: str = "overtime"
    title: str = ""
    warnings: list = field(default_factory=list)
    # The prompt for the speaker: the words or the kind, and when they were sent.
    message: tuple | None = None
    signal: tuple | None = None
    run: Run | None = None
    ended_at: int | None = None
    changed_at: int = 0
    # The last change of the counted time. A press before it is refused, but not one before a later title or lap.
    run_changed_at: int = 0
    revision: int | None = None

    @property
    def status(self) -> str:
        return self.run.status if self.run else "idle"

    @property
    def is_active(self) -> bool:
        return self.status in {"running", "paused"}

    @property
    def zero(self) -> int | None:
        """The instant of the next crossing of zero, past or to come."""
        run = self.run
        if self.ended_at is not None or run is None or run.duration is None:
            return None
        if run.status == "running":
            return run.start + run.paused + run.duration
        if run.status == "paused" and run.elapsed(self.run_changed_at) == run.duration:
            return self.run_changed_at
        return None

    def state(self, now: int) -> dict:
        """Its state on the wire at an instant, times in microseconds, without the revision."""
        run = self.run
        seen = now
        if self.at_zero != "overtime" and self.zero is not None:
            seen = min(now, self.zero)
        elapsed = run.elapsed(seen) if run else 0
        duration = run.duration if run else self.duration
        shown = {
            "timer": self.name, "status": self.status, "type": "stopwatch" if duration is None else "timer",
            "elapsedTime": elapsed, "time": elapsed if duration is None else duration - elapsed,
            "startDate": run.start if run else None, "stopDate": run.stop if run else None,
            "pausePeriods": [{"pause": paused, "start": resumed} for paused, resumed in run.pauses] if run else [],
            "lastElapsedTimeCalculatedAt": now,
            "addedTime": run.duration - self.duration if run and run.duration is not None else 0,
            "atZero": self.at_zero, "title": self.title, "warnings": self.warnings,
            "run": run.revision if run else None,
        }
        if duration is not None:
            shown["duration"] = duration
        if self.message:
            shown["message"] = {"text": self.message[0], "sentAt": self.message[1]}
        if self.signal:
            shown["signal"] = {"kind": self.signal[0], "sentAt": self.signal[1]}
        if run and run.laps:
            shown["laps"] = run.laps
        return shown

    def crossed(self, now: int) -> "Timer | None":
        """The timer after its next crossing, if that crossing is due."""
        zero = self.zero
        if zero is None or zero > now:
            return None
        after = copy.deepcopy(self)
        after.revision = None
        after.changed_at = max(zero, self.changed_at)
        after.run_changed_at = after.ended_at = zero
        if self.at_zero == "finish":
            after.run.stop = zero
        elif self.at_zero == "reset":
            after.run = None
        elif self.at_zero == "repeat":
            after.ended_at = None
            pauses = [[zero, None]] if self.run.status == "paused" else []
            after.run = Run(zero, self.duration, pauses, revision=self.run.revision)
        return after

    def shift(self, by: int) -> None:
        """Moves the timer to a clock that is ahead by `by`."""
        self.changed_at += by
        self.run_changed_at += by
        if self.ended_at is not None:
            self.ended_at += by
        if self.run is None:
            return
        if self.run.stop is not None:
            self.run.stop += by
        self.run.start += by
        self.run.pauses = [
            [paused + by, None if resumed is None else resumed + by] for paused, resumed in self.run.pauses]


# Changes of timers


@dataclass
class Answered:
    """A change with an idempotency key."""

    # The request without its tag.
    asked: str
    # The answer, without its tag.
    reply: dict
    at: int
    # Whether the server that made the change has been killed since.
    is_of_earlier_server: bool = False


class Model:
    """The timers of a server, and its answers to requests with an idempotency key."""

    def __init__(self):
        self.timers: dict[str, Timer] = {}
        # The earlier states of each timer, newest last: the state in a reply may be older than a crossing that is on
        # its way to the disk.
        self.past: dict[str, deque[Timer | None]] = {}
        self.answered: dict[str, Answered] = {}
        # The crossings of zero: timer, instant, and whether the timer repeats.
        self.crossings: list[tuple[str, int, bool]] = []
        # Revisions of crossings that a reply has shown before the model made them.
        self.seen_crossings: dict[tuple[str, int], int] = {}

    def keep(self, name: str, timer: Timer | None) -> None:
        """Replaces a timer's state; None removes the timer."""
        past = self.past.setdefault(name, deque(maxlen=8))
        past.append(self.timers.get(name))
        if timer is None:
            self.timers.pop(name, None)
        else:
            self.timers[name] = timer

    def cross(self, now: int) -> None:
        """Makes the crossings that are due up to an instant."""
        for name in list(self.timers):
            for after in self.crossed(name, now):
                self.crossings.append((name, after.run_changed_at, after.at_zero == "repeat"))
                self.keep(name, after)

    def crossed(self, name: str, now: int) -> list[Timer]:
        """The timer after the crossings that are due up to an instant, oldest first; nothing is kept."""
        found: list[Timer] = []
        timer = self.timers.get(name)
        while timer and (timer := timer.crossed(now)):
            timer.revision = self.seen_crossings.get((name, timer.run_changed_at))
            found.append(timer)
        return found

    def versions(self, name: str, now: int) -> list[Timer | None]:
        """The states in which the server may show a timer, newest first: after the crossings that are due, the present
        one, and those before changes that are on their way to the disk."""
        return [*reversed(self.crossed(name, now)), self.timers.get(name), *reversed(self.past.get(name, ()))]

    def active(self) -> list[str]:
        """The names of timers that run or are paused, in the order of their bytes."""
        return sorted((name for name, timer in self.timers.items() if timer.is_active), key=str.encode)

    def names(self) -> list[str]:
        return sorted(self.timers, key=str.encode)

    def page(self, limit: int | None, after: str | None) -> tuple[list[str], str | None]:
        """The names on a page of the list, and the `after` of the next one."""
        names = [name for name in self.names() if after is None or name.encode() > after.encode()]
        shown = names[:int(limit or 10_000)]
        return (shown, shown[-1] if len(shown) < len(names) else None)

    @staticmethod
    def interval_of_all(interval: int) -> int:
        """The interval at which every timer ticks: the nearest multiple of 0.05 s, the greater one of two."""
        step = SECOND // 20
        return max((interval + step // 2) // step * step, SECOND // 10) if interval else 0

    # Idempotency keys

    def forget_names(self, now: int) -> None:
        """Forgets keys that are too old, a second late: see `is_forgetting`."""
        oldest = now - NAME_AGE_MAX - SECOND
        self.answered = {key: answered for key, answered in self.answered.items() if answered.at > oldest}

    def is_forgetting(self, request: Request, now: int) -> bool:
        """Whether the request's key is about to be forgotten, so that the server may or may not know it on arrival."""
        answered = None if request.faults else self.answered.get(request.fields.get("requestId"))
        return answered is not None and answered.at < now - NAME_AGE_MAX + SECOND

    # Changes

    def change(self, request: Request, now: int) -> dict[str, Timer | None]:
        """The timers as a change makes them, or its refusal; nothing is kept yet."""
        fields = request.fields
        if request.command == "finishAll":
            return {name: self._change_one(self._finish_of(fields, name, now), name, now) for name in self.active()}
        return {fields["timer"]: self._change_one(request, fields["timer"], now)}

    def _finish_of(self, fields: dict, name: str, now: int) -> Request:
        """The request that `finishAll` makes of one timer. A run that changed after the press ends at that change."""
        press = fields.get("at")
        if press is not None and press >= now - PRESS_AGE_MAX:
            press = max(press, self.timers[name].run_changed_at)
        return Request(command="finish", fields={} if press is None else {"at": press})

    def _change_one(self, request: Request, name: str, now: int) -> Timer | None:
        fields, timer = request.fields, self.timers.get(name)
        if (expected := fields.get("ifRevision")) is not None:
            if expected != (timer.revision if timer else 0):
                raise Refusal("revisionMismatch")
        if (expected := fields.get("ifRun")) is not None:
            if expected != (timer.run.revision if timer and timer.run else 0):
                raise Refusal("runMismatch")
        if (press := fields.get("at")) is not None:
            earliest = max(now - PRESS_AGE_MAX, timer.run_changed_at if timer else now - PRESS_AGE_MAX)
            if not earliest <= press <= now:
                raise Refusal("outOfRange")
            now = press
        if request.command == "start":
            return self._start(fields, name, timer, now)
        if timer is None:
            raise Refusal(
                "unknownTimer" if request.command in {"update", "message", "signal", "remove"} else "timerHasNotStarted"
            )
        if request.command == "remove":
            return None
        after = copy.deepcopy(timer)
        if request.command in {"pause", "finish"}:
            now = self._not_before_last_lap(timer, now)
        after.changed_at = max(now, timer.changed_at)
        if request.command not in {"update", "lap", "message", "signal"}:
            after.run_changed_at = now
        after.revision = None
        getattr(self, f"_{request.command}")(after, fields, now)
        return after

    @staticmethod
    def _not_before_last_lap(timer: Timer, press: int) -> int:
        """The instant from which a press counts that stops a run: that of the last lap, if the lap came first."""
        if timer.status != "running" or not timer.run.laps:
            return press
        return press + max(0, timer.run.laps[-1] - timer.run.elapsed(press))

    def _start(self, fields: dict, name: str, timer: Timer | None, now: int) -> Timer:
        if timer and timer.is_active and not fields.get("force"):
            raise Refusal("timerAlreadyStarted")
        kind, duration = fields.get("type"), fields.get("duration")
        if kind is None and duration is None:
            duration = timer.duration if timer else None
        elif kind == "stopwatch":
            if duration is not None:
                raise Refusal("badRequest")
        else:
            duration = duration if duration is not None else timer.duration if timer else None
            if duration is None:
                raise Refusal("badRequest")
        after = copy.deepcopy(timer) if timer else Timer(name, duration)
        after.duration = duration
        after.revision = after.ended_at = None
        after.changed_at = max(now, timer.changed_at if timer else now)
        after.run_changed_at = now
        self._settings(after, fields)
        after.run = Run(now, duration)
        return after

    def _settings(self, after: Timer, fields: dict) -> None:
        after.at_zero = fields.get("atZero", after.at_zero)
        after.title = fields.get("title", after.title)
        after.warnings = fields.get("warnings", after.warnings)
        if after.at_zero == "repeat" and after.duration is not None and after.duration < REPEAT_MIN:
            raise Refusal("outOfRange", REPEAT_MIN)

    def _update(self, after: Timer, fields: dict, _: int) -> None:
        self._settings(after, fields)

    def _pause(self, after: Timer, _: dict, now: int) -> None:
        if not after.is_active:
            raise Refusal("timerHasNotStarted")
        if after.status == "paused":
            raise Refusal("timerAlreadyPaused")
        pauses = after.run.pauses
        pauses.append([now, None])
        while len(pauses) > PAUSES_MAX:
            first, second = pauses.pop(0), pauses[0]
            if second[1] is not None:
                pauses[0] = [first[0], first[0] + (first[1] - first[0]) + (second[1] - second[0])]

    def _resume(self, after: Timer, _: dict, now: int) -> None:
        if not after.is_active:
            raise Refusal("timerHasNotStarted")
        if after.status == "running":
            raise Refusal("timerHasNotPaused")
        after.run.pauses[-1][1] = now

    def _finish(self, after: Timer, fields: dict, now: int) -> None:
        if not after.is_active:
            raise Refusal("timerHasNotStarted")
        if fields.get("resetTime"):
            after.run = Run(now, after.run.duration, revision=after.run.revision)
        after.run.stop = now

    def _reset(self, after: Timer, _: dict, __: int) -> None:
        if after.run is None:
            raise Refusal("timerHasNotStarted")
        after.run = None
        after.ended_at = None

    def _addRemainingTime(self, after: Timer, fields: dict, now: int) -> None:
        if not after.is_active:
            raise Refusal("timerHasNotStarted")
        if after.run.duration is None:
            raise Refusal("invalidTimerType")
        after.run.duration += self._allowed(fields, after.run.duration - after.run.elapsed(now))
        after.ended_at = None

    def _addElapsedTime(self, after: Timer, fields: dict, now: int) -> None:
        if not after.is_active:
            raise Refusal("timerHasNotStarted")
        if after.run.duration is not None:
            raise Refusal("invalidTimerType")
        elapsed = after.run.elapsed(now)
        after.run.start -= self._allowed(fields, elapsed, min(after.run.laps[-1], elapsed) if after.run.laps else 0)

    def _lap(self, after: Timer, _: dict, now: int) -> None:
        if not after.is_active:
            raise Refusal("timerHasNotStarted")
        if after.run.duration is not None:
            raise Refusal("invalidTimerType")
        if after.status == "paused":
            raise Refusal("timerAlreadyPaused")
        if len(after.run.laps) == LAPS_MAX:
            raise Refusal("outOfRange", LAPS_MAX * SECOND)
        after.run.laps = sorted([*after.run.laps, after.run.elapsed(now)])

    def _message(self, after: Timer, fields: dict, now: int) -> None:
        after.message = (fields["text"], now) if fields["text"] else None

    def _signal(self, after: Timer, fields: dict, now: int) -> None:
        after.signal = None if fields["signal"] == "none" else (fields["signal"], now)

    def _allowed(self, fields: dict, value: int, floor: int = 0) -> int:
        wanted = fields["seconds"]
        nearest = min(max(wanted, floor - value), max(YEAR - value, 0))
        if nearest != wanted and not fields.get("clamp"):
            raise Refusal("outOfRange", nearest)
        return nearest
