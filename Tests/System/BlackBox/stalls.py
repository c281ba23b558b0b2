"""Measures the time in which a server and its tests were ready to run, but the machine did not run them.

A test with a time limit measures this time beside its own, and subtracts it. So a machine that stands still makes no
server late, and a slow server has no excuse: the time that it uses itself is not counted here.
"""

import os
import threading
import time
from pathlib import Path

# The servers under test, by their process ids.
watched: set[int] = set()

STEP = 0.01
# The seconds by which a sleep is late on an idle machine.
USUAL = 0.002
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Stalls:
    """Counts stalls while it is open, on a thread of its own; each is measured to some hundredths of a second.

    A stall is the time by which this process wakes late, in which its threads or threads of the servers were ready and
    had no core, or that the host gave to other machines. Two of these at once count twice.
    """

    def __init__(self):
        self._known: dict[str, int] = {}
        self._stolen = _stolen_ticks()
        self._is_over = threading.Event()
        self._look()
        self._sums = [(time.monotonic(), 0.0)]
        self._counter = threading.Thread(target=self._count, daemon=True)
        self._counter.start()

    def __enter__(self) -> "Stalls":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __deepcopy__(self, _) -> "Stalls":
        """Copies of a history share the stalls, since the past is the same for all."""
        return self

    def close(self) -> None:
        self._is_over.set()
        self._counter.join()

    def between(self, begin: float, end: float) -> float:
        """The seconds that were lost between two instants of the monotonic clock."""
        while self._sums[-1][0] < end and self._counter.is_alive():
            time.sleep(STEP / 2)
        sums = self._sums[:]
        before = next((lost for at, lost in reversed(sums) if at <= begin), 0.0)
        after = next((lost for at, lost in sums if at >= end), sums[-1][1])
        return after - before

    # Inside

    def _count(self) -> None:
        last, lost = self._sums[0]
        is_over = False
        while not is_over:
            is_over = self._is_over.wait(STEP)
            now = time.monotonic()
            own, others = self._look()
            lost += max(now - last - STEP - USUAL, own) + others
            self._sums.append((now, lost))
            last = now

    def _look(self) -> tuple[float, float]:
        """The stalls that the kernel has counted since the last look: for this process, and for all others."""
        own = sum(map(self._grown, _tasks(os.getpid()))) / 1e9
        servers = sum(self._grown(task) for process in tuple(watched) for task in _tasks(process)) / 1e9
        stolen = _stolen_ticks()
        grown, self._stolen = stolen - self._stolen, stolen
        return own, servers + max(0, grown) / TICKS_PER_SECOND

    def _grown(self, task: str) -> int:
        """The growth of a thread's time in the queue for a core; 0 for the counter itself, whose lateness counts."""
        if task.endswith(f"/{threading.get_native_id()}"):
            return 0
        try:
            waited = int(Path(task, "schedstat").read_text(encoding="ascii").split()[1])
        except (OSError, IndexError, ValueError):
            # The thread has ended, or this kernel does not count.
            return 0
        grown = waited - self._known.get(task, 0)
        self._known[task] = waited
        return max(0, grown)


class Stopwatch:
    """Measures a time without the machine's stalls: `with Stopwatch() as watch: …; watch.seconds`."""

    def __enter__(self) -> "Stopwatch":
        self._stalls = Stalls()
        self._begun = time.monotonic()
        self._ended: float | None = None
        return self

    def __exit__(self, *_) -> None:
        self._ended = time.monotonic()
        self._stalls.close()

    @property
    def seconds(self) -> float:
        """The measured time without stalls."""
        end = self._ended or time.monotonic()
        return end - self._begun - self._stalls.between(self._begun, end)

    @property
    def all_seconds(self) -> float:
        """The measured time with stalls, for events that must not come too soon."""
        return (self._ended or time.monotonic()) - self._begun


def _tasks(process: int) -> list[str]:
    folder = f"/proc/{process}/task"
    try:
        return [f"{folder}/{task}" for task in os.listdir(folder)]
    except OSError:
        return []


def _stolen_ticks() -> int:
    """The time that the host gave to other machines, in the kernel's ticks, for all cores together."""
    words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    return int(words[8]) if len(words) > 8 else 0
