"""Judges lateness by the median of many messages, with a generous bound for the worst.

Time that the machine took from the server and from the tests while a message was due does not count (see `stalls`).
"""

import os

from stalls import Stalls

# The most by which a message may be late, without stalls of the machine. A busy machine may widen both bounds.
MEDIAN_LATENESS = float(os.environ.get("TIMERSYNC_MEDIAN_LATENESS_MS", "20")) / 1000
MAX_LATENESS = float(os.environ.get("TIMERSYNC_MAX_LATENESS_MS", "60")) / 1000
# An instant is known to about a millisecond on this side; a message that comes earlier than this was sent early.
EARLY = 0.005
# The median of fewer messages says no more than the worst one.
ENOUGH_FOR_A_MEDIAN = 5


class TooLate(AssertionError):
    """Right messages that were late, or missing in a series. A stall explains this, unless it happens every time."""


class Lateness(float):
    """The seconds from an instant to the message's arrival, the possible error, and the arrival on the local monotonic
    clock."""

    at: float
    doubt: float

    def __new__(cls, seconds: float, at: float, doubt: float = 0.0) -> "Lateness":
        lateness = super().__new__(cls, seconds)
        lateness.at, lateness.doubt = at, doubt
        return lateness


class Punctuality:
    """Judges messages by their times of arrival."""

    all_seconds: list[float] = []

    def __init__(self, stalls: Stalls):
        self.stalls = stalls

    def __call__(self, lateness: list[Lateness], what: str = "messages") -> None:
        """Checks how many seconds after their instants messages came."""
        assert lateness, f"no {what} to judge"
        is_early = any(late < -EARLY - late.doubt for late in lateness)
        assert not is_early, f"{what} came before their instant (ms): {in_milliseconds(lateness)}"
        blamed = [
            late - late.doubt - self.stalls.between(late.at - late, late.at) if late > 0 else late for late in lateness]
        ordered = sorted(blamed)
        self.all_seconds.extend(ordered)
        middle, worst = ordered[len(ordered) // 2], ordered[-1]
        shown = f"{in_milliseconds(blamed)}; with the machine's stalls: {in_milliseconds(lateness)}"
        if len(ordered) >= ENOUGH_FOR_A_MEDIAN and middle > MEDIAN_LATENESS:
            raise TooLate(f"{what} came too late, the middle one by {middle * 1000:.1f} ms: {shown}")
        if worst > MAX_LATENESS:
            raise TooLate(f"{what} came far too late, the worst one by {worst * 1000:.1f} ms: {shown}")

    def in_step(self, arrivals: list, values: list, expected: list) -> None:
        """Checks a series with one value a message: the same values in the same order, none missing, none twice.

        A server that wakes late sends only the newest message. So a missing message counts as late as the
        next one that came.
        """
        if values == expected:
            return
        assert len(arrivals) == len(values) and len(expected) > 1
        step = expected[1] - expected[0]
        places = [(value - expected[0]) / step for value in values]
        follows = [int(later) - int(earlier) for earlier, later in zip([-1, *places], places)]
        if not all(place == int(place) for place in places) or min(follows) < 1:
            raise AssertionError(f"{show(values)} instead of {show(expected)}")
        seconds = abs(float(step))
        for number, follow in enumerate(follows):
            missed = (follow - 1) * seconds
            # The due instant of the first message is unknown here, but it was not before this.
            since = arrivals[number - 1].at if number else arrivals[0].at - follow * seconds
            if missed and missed - self.stalls.between(since, arrivals[number].at) > MAX_LATENESS:
                raise TooLate(f"some are missing: {show(values)} instead of {show(expected)}")

    def all_multiples(self, arrivals: list, values: list, step) -> None:
        """Judges a series of instants: whole multiples of the step, each the next one."""
        assert values and all(value % step == 0 for value in values), f"not all multiples of {step}: {show(values)}"
        self.in_step(arrivals, values, [values[0] + step * number for number in range(max(2, len(values)))])


def in_milliseconds(seconds: list[float]) -> str:
    return ", ".join(f"{one * 1000:.1f}" for one in seconds)


def show(values: list) -> str:
    return "[" + ", ".join(str(value) for value in values) + "]"
