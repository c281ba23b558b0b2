"""Processes that a benchmark starts: on a core of their own, ended with it."""

import contextlib
import re
import subprocess
from pathlib import Path


def start(words, core: int | None = None, **options) -> subprocess.Popen:
    """Starts a program on one core; its input and output are lines of text."""
    held = [] if core is None else ["taskset", "-c", str(core)]
    return subprocess.Popen(
        [*held, *map(str, words)], stdin=options.pop("stdin", subprocess.PIPE), stdout=subprocess.PIPE, text=True,
        **options)


@contextlib.contextmanager
def ended(process: subprocess.Popen):
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def with_children(process: int) -> list[int]:
    """A process and all that descend from it."""
    found = [process]
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        for child in thread.read_text().split():
            found += with_children(int(child))
    return found


def resident_kib(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1))
