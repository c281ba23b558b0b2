"""A recording of what servers did to one data folder and sent to their clients, in one order over all their threads."""

import errno
import mmap
import os
import shutil
import struct
import subprocess
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Servers append their changes to this file, below the recorded folder.
LOG = ".timersync/log"


class Kind(IntEnum):
    """The effect of a call; the order is that of `enum kind` in recorder.c."""

    NONE = 0
    OPEN = 1
    WRITE = 2
    CUT = 3
    GROW = 4
    RENAME = 5
    LINK = 6
    UNLINK = 7
    MKDIR = 8
    RMDIR = 9
    SYNC = 10
    SYNC_ALL = 11
    SEND = 12
    # A call that the model does not know.
    OTHER = 13


@dataclass(frozen=True, slots=True)
class Call:
    """One call: it was under way from `begin` to `end`, which is None when the process ended before it did."""

    kind: Kind
    begin: int
    end: int | None
    # The value that it returned; below zero it is a negated errno.
    result: int
    # The offset of a write, the length of a cut, the flags of an open.
    number: int = 0
    inode: int = 0
    is_folder: bool = False
    # The path below the recorded folder; "" is the folder itself.
    path: str = ""
    # The bytes that were written or sent.
    bytes: bytes = b""
    # The new path of a rename or a link.
    target: str = ""

    @property
    def failed(self) -> bool:
        return self.end is not None and self.result < 0

    def __str__(self) -> str:
        what = {
            Kind.WRITE: f"{len(self.bytes)} bytes at {self.number}", Kind.CUT: f"to {self.number}",
            Kind.RENAME: f"to {self.target}", Kind.SEND: f"{len(self.bytes)} bytes on {self.inode}",
        }.get(self.kind, "")
        fault = f" = {errno.errorcode.get(-self.result, self.result)}" if self.failed else ""
        return f"{self.begin}–{self.end} {self.kind.name} {self.path} {what}".rstrip() + fault


def build_recorder(folder: Path) -> Path:
    """The library that is loaded into the server under test."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "the recorder needs a C compiler (gcc or cc)"
    library = folder / "recorder.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, HERE / "recorder.c", "-ldl"], check=True)
    return library


class Recorder:
    """The trace that recorded servers write to; several may do so, one after the other."""

    HEADER = struct.Struct("=QQQiiqq64s")
    ENTRY = struct.Struct("=IIQQqqQiiII")

    def __init__(self, library: Path, trace: Path, data: Path, trace_bytes: int = 1 << 30):
        """Makes the trace, a sparse file: unwritten parts take no room."""
        self.library = library
        self.path = trace
        self.data = data.resolve()
        with trace.open("wb") as file:
            file.truncate(trace_bytes)
            file.write(self.HEADER.pack(trace_bytes, self.HEADER.size, 0, 0, 0, 0, 0, b""))
        with trace.open("r+b") as file:
            self.shared = mmap.mmap(file.fileno(), trace_bytes)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(self.library), "RECORDER_TRACE": str(self.path), "RECORDER_FOLDER": str(self.data)}

    @property
    def now(self) -> int:
        """The last instant that was given; calls from here on begin later."""
        return struct.unpack_from("=Q", self.shared, 16)[0]

    def fail(self, kind: Kind, error: int = errno.EIO, *, count: int = 1, ending: str = "") -> None:
        """Makes the next `count` calls of this kind fail, on paths with this ending."""
        struct.pack_into("=iiqq64s", self.shared, 24, 0, error, count, 0, ending.encode())
        # The kind is set last, because the failures begin with it.
        struct.pack_into("=i", self.shared, 24, kind)

    @property
    def failed(self) -> int:
        """The number of calls that have failed since `fail` was called."""
        return struct.unpack_from("=q", self.shared, 40)[0]

    def close(self) -> None:
        self.shared.close()
        os.unlink(self.path)

    def calls(self) -> list[Call]:
        """All recorded calls, in the order in which they began; not while a server runs."""
        used = struct.unpack_from("=Q", self.shared, 8)[0]
        calls = []
        at = self.HEADER.size
        while at < used:
            size, *fields = self.ENTRY.unpack_from(self.shared, at)
            assert size, "a process was killed in the middle of an entry"
            call = self._call(at + self.ENTRY.size, *fields)
            if call:
                calls.append(call)
            at += size
        return sorted(calls, key=lambda call: call.begin)

    def _call(
        self, at: int, kind, begin, end, result, number, inode, process, is_folder, path_length, bytes_length,
    ) -> Call | None:
        if kind == Kind.NONE:
            # The process was killed before the call.
            return None
        path = os.fsdecode(self.shared[at:at + path_length])
        rest = self.shared[at + path_length:at + path_length + bytes_length]
        has_target = kind in (Kind.RENAME, Kind.LINK)
        return Call(
            Kind(kind), begin, end or None, result, number, inode, bool(is_folder), self._inside(path),
            b"" if has_target else rest, self._inside(os.fsdecode(rest)) if has_target else "")

    def _inside(self, path: str) -> str:
        # A file that has no name any more is known by its inode.
        path = path.removesuffix(" (deleted)")
        if not path or path == str(self.data):
            return ""
        assert path.startswith(f"{self.data}/"), f"{path} leads out of the data folder"
        return os.path.normpath(path[len(str(self.data)) + 1:])
