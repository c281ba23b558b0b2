"""In time or not: by the middle of many messages, with a generous bound for the worst."""

import os

# What a message may be late against its instant on an idle machine. A busy one may widen both.
MEDIAN_LATENESS = float(os.environ.get("TIMERSYNC_MEDIAN_LATENESS_MS", "20")) / 1000
MAX_LATENESS = float(os.environ.get("TIMERSYNC_MAX_LATENESS_MS", "60")) / 1000
# An instant is known to about a millisecond on this side; a message that comes earlier than this was sent early.
EARLY = 0.005
# Of fewer messages the middle one says no more than the worst one.
ENOUGH_FOR_A_MEDIAN = 5


class TooLate(AssertionError):
    """What came was right but late, or missing in a series: a hiccup of the machine, unless it comes every time."""


class Punctuality:
    """Judges messages by when they came."""

    all_seconds: list[float] = []

    def __call__(self, lateness: list[float], what: str = "messages") -> None:
        """Judges how many seconds messages came after their instants."""
        ordered = sorted(lateness)
        assert ordered, f"no {what} to judge"
        self.all_seconds.extend(ordered)
        middle, worst = ordered[len(ordered) // 2], ordered[-1]
        shown = ", ".join(f"{seconds * 1000:.1f}" for seconds in lateness)
        assert ordered[0] > -EARLY, f"{what} came before their instant (ms): {shown}"
        if len(ordered) >= ENOUGH_FOR_A_MEDIAN and middle > MEDIAN_LATENESS:
            raise TooLate(f"{what} came too late, the middle one by {middle * 1000:.1f} ms: {shown}")
        if worst > MAX_LATENESS:
            raise TooLate(f"{what} came far too late, the worst one by {worst * 1000:.1f} ms: {shown}")

    def in_step(self, actual: list, expected: list) -> None:
        """Judges a series: the same values in the same order, none missing, none twice."""
        if actual == expected:
            return
        rest = iter(expected)
        fits = bool(actual) and all(any(value == other for other in rest) for value in actual)
        if fits:
            raise TooLate(f"some are missing: {show(actual)} instead of {show(expected)}")
        raise AssertionError(f"{show(actual)} instead of {show(expected)}")

    def all_multiples(self, values: list, step) -> None:
        """Judges a series of instants: whole multiples of the step, each the next one."""
        assert values and all(value % step == 0 for value in values), f"not all multiples of {step}: {show(values)}"
        gaps = [later - earlier for earlier, later in zip(values, values[1:])]
        assert all(gap > 0 for gap in gaps), f"not one after the other: {show(values)}"
        if any(gap != step for gap in gaps):
            raise TooLate(f"some are missing: {show(values)}")


def show(values: list) -> str:
    return "[" + ", ".join(str(value) for value in values) + "]"
