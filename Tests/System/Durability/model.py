"""A small model of a timer: what a state of the wire is, and what each change and each zero makes of it.

All instants and lengths are whole microseconds.
"""


# Crossings of one timer are distinguished by their instants; no test has two that are closer together than this.
SAME_CROSSING = 50_000


def micros(seconds) -> int:
    return round(seconds * 1_000_000)


class View:
    """A state of the wire in microseconds."""

    def __init__(self, state: dict):
        self.timer = state["timer"]
        self.revision = state["revision"]
        self.status = state["status"]
        self.at_zero = state["atZero"]
        self.title = state["title"]
        self.duration = micros(state["duration"]) if "duration" in state else None
        self.elapsed = micros(state["elapsedTime"])
        self.time = micros(state["time"])
        self.added = micros(state["addedTime"])
        self.as_of = micros(state["lastElapsedTimeCalculatedAt"])
        self.start = None if state["startDate"] is None else micros(state["startDate"])
        self.stop = None if state["stopDate"] is None else micros(state["stopDate"])
        self.pauses = [
            (micros(p["pause"]), None if p["start"] is None else micros(p["start"])) for p in state["pausePeriods"]]

    @property
    def paused_time(self) -> int:
        return sum(start - pause for pause, start in self.pauses if start is not None)

    @property
    def zero(self) -> int | None:
        """The instant at which a countdown reaches zero, or reached it."""
        if self.duration is None:
            return None
        if self.status == "running":
            return self.start + self.paused_time + self.duration
        return self.as_of if self.status == "paused" and self.time == 0 else None

    def elapsed_at(self, instant: int) -> int:
        if self.status != "running":
            return self.elapsed
        elapsed = self.elapsed + instant - self.as_of
        # A countdown that finishes, resets or repeats stands at zero until its end is sent. A countdown that is already
        # past zero counts on, whatever `atZero` was set since.
        stands_at_zero = self.at_zero != "overtime" and self.time > 0
        return min(elapsed, self.duration) if stands_at_zero else elapsed

    def faults(self) -> list[str]:
        """The reasons why this state is impossible."""
        faults = []
        if self.duration is not None and self.time + self.elapsed != self.duration:
            faults.append(f"time {self.time} + elapsedTime {self.elapsed} is not duration {self.duration}")
        if self.elapsed < 0:
            faults.append("elapsedTime is below zero")
        open_pauses = [pause for pause, start in self.pauses if start is None]
        if len(open_pauses) != (1 if self.status == "paused" else 0) and self.status != "finished":
            faults.append(f"{self.status} with {len(open_pauses)} open pauses")
        if (self.stop is not None) != (self.status == "finished"):
            faults.append(f"{self.status} with stopDate {self.stop}")
        if (self.start is None) != (self.status == "idle"):
            faults.append(f"{self.status} with startDate {self.start}")
        return faults

    def expect(self, other: "View", tolerance: int = 0, **wanted) -> list[str]:
        """The differences between `other` and this state changed by `wanted`."""
        differences = []
        for name in ("status", "at_zero", "title", "duration", "elapsed", "added", "start", "stop"):
            value, found = wanted.get(name, getattr(self, name)), getattr(other, name)
            near = tolerance if name in ("elapsed", "start", "stop") else 0
            same = value == found or (None not in (value, found) and near and abs(value - found) <= near)
            if not same:
                differences.append(f"{name} is {found}, not {value}")
        return differences


def after(command: str, fields: dict, before: View | None, found: View) -> list[str]:
    """The differences between `found` and what the command makes of `before`; empty when there are none."""
    at = found.as_of
    if command == "start":
        return after_start(fields, before, found)
    if before is None:
        return [f"{command} was done to no timer"]
    elapsed = before.elapsed_at(at)
    match command:
        case "update":
            return before.expect(
                found, elapsed=elapsed, title=fields.get("title", before.title),
                at_zero=fields.get("atZero", before.at_zero))
        case "pause":
            wrong = [] if before.status == "running" else [f"a pause of one that is {before.status}"]
            return wrong + before.expect(found, status="paused", elapsed=elapsed)
        case "resume":
            wrong = [] if before.status == "paused" else [f"a resumption of one that is {before.status}"]
            return wrong + before.expect(found, status="running")
        case "finish" | "finishAll":
            if fields.get("resetTime"):
                return before.expect(found, status="finished", stop=at, start=at, elapsed=0)
            return before.expect(found, status="finished", stop=at, elapsed=elapsed)
        case "reset":
            return before.expect(
                found, status="idle", start=None, stop=None, elapsed=0, added=0,
                duration=before.duration - before.added)
        case "addRemainingTime":
            seconds = micros(fields["seconds"])
            if fields.get("clamp"):
                seconds = max(seconds, elapsed - before.duration)
            return before.expect(
                found, elapsed=elapsed, duration=before.duration + seconds, added=before.added + seconds)
    return [f"{command} makes no state"]


def after_start(fields: dict, before: View | None, found: View) -> list[str]:
    duration = micros(fields["duration"])
    wanted = {
        "status": "running", "start": found.as_of, "stop": None, "elapsed": 0, "added": 0, "duration": duration}
    if before is None:
        wanted |= {"at_zero": "overtime", "title": ""}
    wanted |= {ours: fields[name] for ours, name in (("at_zero", "atZero"), ("title", "title")) if name in fields}
    if before and before.status in ("running", "paused") and not fields.get("force"):
        return [f"a start without force of one that is {before.status}"]
    return (before or found).expect(found, **wanted)


def after_zero(before: View, found: View, ended_at: int) -> list[str]:
    """The differences between `found` and what a countdown becomes at its zero."""
    if before.duration is None:
        return ["a stopwatch ended"]
    match before.at_zero:
        case "overtime":
            return before.expect(found, elapsed=before.duration)
        case "finish":
            return before.expect(found, elapsed=before.duration, status="finished", stop=ended_at)
        case "reset":
            return before.expect(
                found, status="idle", start=None, stop=None, elapsed=0, added=0,
                duration=before.duration - before.added)
    return before.expect(found, start=ended_at, elapsed=0, added=0, duration=before.duration - before.added)


def zeros(last: View, base: View) -> list[int]:
    """The crossings between two states of a run that nobody touched."""
    if last.at_zero != "repeat" or base.start is None:
        return [last.zero]
    length, ends = last.duration - last.added, [last.zero]
    while ends[-1] + length <= base.start + SAME_CROSSING:
        ends.append(ends[-1] + length)
    # A run that is far behind has only its last crossing sent.
    return ends if len(ends) <= 16 else ends[-1:]
