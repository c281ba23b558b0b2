"""The rules of "Writing a client" that need no socket, written by that chapter alone."""

import time
from math import ceil, floor, inf

# Seconds of silence after which a link is given up: rules 2 and 48.
WITHIN = {"hello": 8, "first sync": 3, "reply": 8}
DRIFT, SAMPLE_LIFE, GRAIN, STEP, SLEW_RATE, SLEEP_GAP = 15e-6, 180, 0.001, 0.05, 0.02, 1
EXCHANGE_MAX = 8
DOUBT_FOR, REPEAT_FOR = 1, 30


# The text to show: rules 16 to 20.

def whole_seconds(seconds: float, kind: str) -> int:
    milliseconds = floor(floor(abs(seconds) * 1e6 + 0.5) / 1e3 + 0.5) * (-1 if seconds < 0 else 1)
    return floor(milliseconds / 1000) if kind == "stopwatch" else ceil(milliseconds / 1000)


def digits(seconds: float, kind: str) -> str:
    shown = whole_seconds(seconds, kind)
    minutes, second = divmod(abs(shown), 60)
    hours, minute = divmod(minutes, 60)
    text = f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
    return "-" + text if shown < 0 else text


def time_of(state: dict, now: float) -> float:
    passed = max(0, now - state["lastElapsedTimeCalculatedAt"]) if state["status"] == "running" else 0
    elapsed = state["elapsedTime"] + passed
    if state["type"] == "stopwatch":
        return elapsed
    left = state["duration"] - elapsed
    return max(0, left) if state["status"] == "running" and state["atZero"] != "overtime" else left


def shown(state: dict, now: float) -> str:
    return digits(time_of(state, now), state["type"])


def changes_in(seconds: float, kind: str) -> float:
    shown = whole_seconds(seconds, kind)
    return shown + 1 - seconds if kind == "stopwatch" else seconds - (shown - 1)


# The clock: rules 8 to 15.

def intersect(samples: list[tuple], now: float) -> tuple[float, float]:
    """The offset and its error."""
    ages = [(low, high, DRIFT * (now - at)) for low, high, at in samples if now - at < SAMPLE_LIFE]
    wide = [(low - drift, high + drift) for low, high, drift in ages]
    low, high = max(low for low, _ in wide), min(high for _, high in wide)
    if low - high >= GRAIN:
        low, high = min(reversed(wide), key=lambda sample: sample[1] - sample[0])
    return (low + high) / 2, max(0.0, high - low) / 2


class Clock:
    def __init__(self, monotonic=lambda: time.clock_gettime(time.CLOCK_BOOTTIME), wall=time.time):
        self.monotonic, self.wall = monotonic, wall
        self.epoch, self.samples, self.error = None, [], inf
        self.target, self.slew, self.slewed_from, self.trusted_from, self.slept = None, 0.0, 0.0, -inf, 0.0
        self.ahead = wall() - monotonic()

    @property
    def exchanged(self) -> bool:
        return bool(self.samples)

    @property
    def is_in_doubt(self) -> bool:
        """Whether a sleep was noticed, and no clock exchange was answered since."""
        return not self.exchanged and self.monotonic() - self.trusted_from < DOUBT_FOR

    @property
    def offset(self) -> float | None:
        rest = max(0.0, abs(self.slew) - SLEW_RATE * (self.monotonic() - self.slewed_from))
        return None if self.target is None else self.target + (rest if self.slew > 0 else -rest)

    def now(self) -> float:
        return self.monotonic() + self.offset

    def greet(self, epoch: str, server_now: float) -> None:
        if epoch != self.epoch:
            self.epoch, self.samples, self.error = epoch, [], inf
        if not self.exchanged:
            self.target, self.slew, self.slept = server_now - self.monotonic(), 0.0, 0.0

    def learn(self, t0: float, t1: float, t2: float, t3: float) -> None:
        if t0 < self.trusted_from or t3 - t0 > EXCHANGE_MAX:
            return
        is_first = not self.exchanged
        self.samples = [sample for sample in self.samples if t3 - sample[2] < SAMPLE_LIFE] + [(t2 - t3, t1 - t0, t3)]
        offset, self.error = intersect(self.samples, t3)
        self.aim(offset, is_first)

    def aim(self, offset: float, is_first: bool) -> None:
        difference = 0.0 if self.target is None else self.offset - offset
        self.slew = difference if abs(difference) < STEP and not is_first else 0.0
        self.target, self.slewed_from = offset, self.monotonic()

    def notice_sleep(self) -> bool:
        ahead = self.wall() - self.monotonic()
        grown, self.ahead = ahead - self.ahead, ahead
        if abs(grown) <= SLEEP_GAP:
            return False
        self.samples, self.error, self.slept, self.trusted_from = [], inf, max(0.0, grown), self.monotonic()
        return True

    def assume_sleep(self) -> None:
        if not self.exchanged and self.target is not None:
            self.target, self.slept = self.target + self.slept, 0.0


# States, parts, ends that were missed, bells: rules 22 to 36.

class Follower:
    def __init__(self):
        self.timers, self.removed, self.bells, self.parts = {}, {}, [], []
        self.epoch = self.history = None
        self.point, self.top, self.is_caught_up, self.is_complete = None, 0, True, False

    @property
    def since(self) -> str | None:
        return None if self.is_caught_up else f"{self.point[0]}:{self.point[1]}"

    def hello(self, message: dict) -> None:
        self.parts = []
        if (message["epoch"], message["history"]) != (self.epoch, self.history):
            self.timers, self.removed, self.is_complete = {}, {}, False
        self.is_caught_up = self.point is None or message["history"] != self.history
        self.epoch, self.history, self.top = message["epoch"], message["history"], 0
        if self.is_caught_up:
            self.point = (self.history, 0)
        self.reach(message["revision"])

    def reach(self, revision: int) -> None:
        self.top = max(self.top, revision)
        if self.is_caught_up:
            self.point = (self.history, max(self.point[1], self.top))

    def catch_up(self) -> None:
        """Handles the answer to a `sync` that was sent after `subscribe`."""
        self.is_caught_up = True
        self.reach(self.top)

    def snapshot(self, message: dict) -> tuple | None:
        """The cause and the timers of a snapshot; None for a part that others follow."""
        self.parts = self.parts + [message] if message.get("part", 1) > 1 else [message]
        if message.get("part") != message.get("parts"):
            return None
        cause, states = self.parts[0]["cause"], [state for part in self.parts for state in part["timers"]]
        if cause == "subscribed":
            self.timers, self.removed, self.is_complete = {}, {}, True
        for state in states:
            self.take(state)
            bell = (state["timer"], message.get("endedAt"))
            if cause == "ended" and bell not in self.bells:
                self.bells = (self.bells + [bell])[-1000:]
        return cause, [state["timer"] for state in states]

    def take(self, state: dict) -> None:
        self.reach(state["revision"])
        name, instant = state["timer"], state["lastElapsedTimeCalculatedAt"]
        known = self.timers.get(name)
        if state["revision"] <= self.removed.get(name, -1):
            return
        if known and (state["revision"], instant) < (known["revision"], known["lastElapsedTimeCalculatedAt"]):
            return
        if known and known["revision"] == state["revision"] and "run" not in state:
            state = {key: known[key] for key in ("run", "laps") if key in known} | state
        self.timers[name] = state

    def remove(self, name: str) -> None:
        if name in self.timers:
            self.removed[name] = self.timers.pop(name)["revision"]


# Changes and coming back: rules 40 to 46.

def next_step(error: dict, has_at: bool) -> str:
    """The reaction to a reply with this `error`; empty for a reply that is `ok`."""
    code = error.get("code")
    is_about_at = error.get("field") == "at" if "field" in error else "limit" not in error
    if code == "outOfRange" and has_at and is_about_at:
        return "send anew without at"
    steps = {None: "done", "rateLimited": "repeat after 1 s", "shuttingDown": "repeat on the next connection"}
    return steps.get(code, "tell")


def next_step_after_loss(is_same_history: bool, age: float) -> str:
    return "repeat on the next connection" if is_same_history and age < REPEAT_FOR else "unknown"


def longest_delay(code: int, losses: int, was_stable: bool) -> float | None:
    """The seconds to wait; None to stay away."""
    if code in (1003, 1007, 1008, 1009):
        return None
    return 3 if code in (1001, 1012) else min(20, 0.5 * 2 ** min(0 if was_stable else losses + 1, 10))
