"""Faults of the disk: a library of ours makes chosen calls of the server fail or hang, as long as a test wants."""

import mmap
import shutil
import struct
import subprocess
import time
from pathlib import Path

from timer_server import Server

HERE = Path(__file__).resolve().parent
FOREVER = 1 << 62


def build_library(folder: Path) -> Path:
    """The library that is loaded into the server under test."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "the fault tests need a C compiler (gcc or cc)"
    library = folder / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, HERE / "faults.c", "-ldl"], check=True)
    return library


class Faults:
    """The calls that are to fail, shared with the server under test."""

    SHAPE = struct.Struct("=24siiqqqq")

    def __init__(self, library: Path, folder: Path, data: Path):
        self.library = library
        self.data = data.resolve()
        self.path = folder / "faults"
        self.path.write_bytes(bytes(self.SHAPE.size))
        with self.path.open("r+b") as file:
            self.shared = mmap.mmap(file.fileno(), self.SHAPE.size)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(self.library), "FAULTS_CONTROL": str(self.path), "FAULTS_FOLDER": str(self.data)}

    def server(self, *options: str) -> Server:
        return Server(self.data, "--log-level", "info", *options, environment=self.environment)

    def arm(self, function: str, error: int, first: int, last: int | None = None, every: int = 1) -> None:
        """From now on the calls `first` to `last` (that one alone when left out) fail, or each second, third… one."""
        self.disarm()
        self.shared[24:] = self.SHAPE.pack(b"", error, every, first, first if last is None else last, 0, 0)[24:]
        # The name last: with it the counting begins.
        self.shared[:24] = function.encode().ljust(24, b"\0")

    def hang(self, function: str = "sync", first: int = 1) -> None:
        """From now on the calls from `first` on do not come back until `disarm`, as of a disk that is gone."""
        self.arm(function, 0, first, FOREVER)

    def await_hanging(self, count: int = 1) -> None:
        """Returns when `count` calls hang."""
        end = time.monotonic() + 30
        while self.failed < count:
            assert time.monotonic() < end, f"{self.failed} calls hang after 30 s, not {count}"
            time.sleep(0.005)

    def disarm(self) -> None:
        self.shared[:24] = bytes(24)

    @property
    def calls(self) -> int:
        return self.SHAPE.unpack(self.shared[:])[5]

    @property
    def failed(self) -> int:
        return self.SHAPE.unpack(self.shared[:])[6]
