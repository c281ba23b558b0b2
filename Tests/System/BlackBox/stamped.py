"""States with the instants at which they were true, to compare the counted time with the time that passed."""

import time

TO_TEN_MILLISECONDS = 0.010


class Stamped:
    """A state and when it was true by the local monotonic clock, with the possible error."""

    def __init__(self, state: dict, at: float, error: float):
        self.state, self.at, self.error = state, at, error


async def look(client, name: str) -> Stamped:
    """Reads a state, with the shortest of several round trips."""
    best = None
    for _ in range(5):
        sent = time.monotonic()
        state = await client.state("get", name)
        received = time.monotonic()
        if best is None or received - sent < 2 * best.error:
            best = Stamped(state, (sent + received) / 2, (received - sent) / 2)
    return best


def assert_went_on(before: Stamped, after: Stamped) -> None:
    """Checks that the time between two readings was counted, to ten milliseconds."""
    passed = after.at - before.at
    counted = float(after.state["elapsedTime"] - before.state["elapsedTime"])
    allowed = TO_TEN_MILLISECONDS + before.error + after.error
    assert abs(counted - passed) <= allowed, f"{passed:.4f} s passed, {counted:.4f} s were counted"
