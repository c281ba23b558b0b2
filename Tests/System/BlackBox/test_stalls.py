"""Stalls of the machine: which ones count, and which lateness they excuse."""

from decimal import Decimal as D

import pytest

from punctuality import Lateness, Punctuality, TooLate
from stalls import Stopwatch


class Arrival:
    """A message as far as the judges of a series need it: its instant, and its arrival."""

    def __init__(self, at: float):
        self.at = at


class Known:
    """A stall that a test makes up: its instant and its seconds."""

    def __init__(self, at: float = 0.0, seconds: float = 0.0):
        self.at, self.seconds = at, seconds

    def between(self, begin: float, end: float) -> float:
        return self.seconds if begin <= self.at <= end else 0.0


def test_while_this_process_stands_still_no_time_passes():
    """The stopwatch stands still; the wall clock goes on."""
    with Stopwatch() as watch:
        # During this one call no other thread of this process runs.
        sum(range(20_000_000))

    assert watch.all_seconds > 0.1
    assert watch.seconds < watch.all_seconds / 2


def test_a_late_message_is_excused_by_a_stall_in_its_time_alone():
    """A stall excuses as much lateness as it lasted."""
    late = [Lateness(0.5, at=100.0)]

    Punctuality(Known(99.7, 0.48))(late)
    for stalls in (Known(), Known(99.4, 0.48), Known(100.1, 0.48), Known(99.7, 0.4)):
        with pytest.raises(TooLate, match="500.0"):
            Punctuality(stalls)(late)


def test_an_early_message_has_no_excuse():
    """No stall excuses a message that came too early."""
    with pytest.raises(AssertionError, match="before"):
        Punctuality(Known(100.0, 1.0))([Lateness(-0.1, at=100.0)])


def tenths(*numbers: int) -> list[D]:
    return [D(number) / 10 for number in numbers]


def test_missing_messages_are_excused_by_a_stall_as_long():
    """The second and the third message of a series are missing: 0.2 s until the fourth came."""
    arrivals = [Arrival(at) for at in (100.0, 100.3, 100.4)]
    series = tenths(1, 4, 5), tenths(1, 2, 3)

    Punctuality(Known(100.2, 0.19)).in_step(arrivals, *series)
    for stalls in (Known(), Known(100.2, 0.1), Known(100.35, 0.19)):
        with pytest.raises(TooLate, match="missing"):
            Punctuality(stalls).in_step(arrivals, *series)


@pytest.mark.parametrize("values", [(2, 1, 3), (1, 1, 2), (0, 1, 2)])
def test_a_wrong_series_has_no_excuse(values):
    """Messages are out of order, come twice, or come before the first."""
    arrivals = [Arrival(at) for at in (100.0, 100.1, 100.2)]

    with pytest.raises(AssertionError, match="instead of") as caught:
        Punctuality(Known(100.1, 9)).in_step(arrivals, tenths(*values), tenths(1, 2, 3))
    assert not isinstance(caught.value, TooLate)
