"""The possible contents of a disk after a power cut: a model of files that were written, renamed and synced.

The model is a file system that promises no more than Linux does, as ext4 keeps it in its default mode (data=ordered,
the kernel's Documentation/admin-guide/ext4.rst):

- `fdatasync` and `fsync` of a file make its bytes and its length durable as they were when the call began: fsync(2),
  where fdatasync leaves out only what is not needed to read the data. A file that was newly made keeps its name with
  that, and so do newly made folders above it, because ext4's journal commits what made the file together with the file.
  POSIX promises no name before its folder is synced; `keeps_new_names=False` is that reading.
- `fsync` of a folder makes the names in it durable; `syncfs` makes all durable.
- Anything else may be on the disk or not, each for itself and in no order, since the kernel writes back when it likes:
  every page of 4 KiB as it was after any of the writes since the last sync, a page torn between two sectors of 512
  bytes, every length, every name (a rename without the data of the file that it names, an unlink that came back).
  A file that was cut shows nothing of its earlier bytes once the cut is on the disk, and zeros where it then grew.
- A sync that fails leaves the pages that it was to write in doubt for good. Linux marks them clean, returns the error
  once for each open file, and a later sync that succeeds has not written them (fsync(2), EIO); ext4 keeps them in the
  cache, so that they read well until the power goes. Only a page that is written again is synced again. A length or a
  name is in the journal, and a later sync makes it durable.

Left out are disks that lie about their caches, and damage to what was synced long ago.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from recording import Call, Kind

PAGE = 4096
SECTOR = 512
ZEROS = bytes(PAGE)


@dataclass(slots=True)
class Version:
    """A change that was made at an instant and is not durable."""

    at: int
    value: object
    # Of a name: the file or folder was made under it.
    is_birth: bool = False


@dataclass(slots=True)
class Cut:
    """A length that was made shorter at an instant: pages from `keeps` on are gone."""

    at: int
    keeps: int


class File:
    """A file's bytes: those in memory, and those that are durable."""

    def __init__(self, number: int, durable: bytes = b""):
        # The inode's number while it was recorded.
        self.number = number
        self.contents = bytearray(durable)
        self.durable_length = len(durable)
        self.durable_pages = {
            at // PAGE: durable[at:at + PAGE].ljust(PAGE, b"\0") for at in range(0, len(durable), PAGE)}
        self.lengths: list[Version] = []
        self.cuts: list[Cut] = []
        self.pages: dict[int, list[Version]] = {}
        # Pages whose sync failed: versions up to these instants are never made durable by a sync.
        self.doubtful: dict[int, int] = {}
        # The range of the last write's bytes.
        self.last_write = (0, 0)
        # The folder and the name with which the file was created, if that was recorded.
        self.birth: tuple[Folder, Name] | None = None

    # Changing

    def write(self, at: int, offset: int, data: bytes) -> None:
        if not data:
            return
        end = offset + len(data)
        if end > len(self.contents):
            self.contents.extend(bytes(end - len(self.contents)))
            self.lengths.append(Version(at, end))
        self.contents[offset:end] = data
        self.last_write = (offset, end)
        for page in range(offset // PAGE, (end - 1) // PAGE + 1):
            self._note_page(at, page)

    def cut(self, at: int, length: int) -> None:
        if length >= len(self.contents):
            self.grow(at, length)
            return
        del self.contents[length:]
        self.lengths.append(Version(at, length))
        self.cuts.append(Cut(at, -(-length // PAGE)))
        if length % PAGE:
            # The rest of the last page becomes zero in memory.
            self._note_page(at, length // PAGE)

    def grow(self, at: int, length: int) -> None:
        if length > len(self.contents):
            self.contents.extend(bytes(length - len(self.contents)))
            self.lengths.append(Version(at, length))

    def _note_page(self, at: int, page: int) -> None:
        contents = bytes(self.contents[page * PAGE:(page + 1) * PAGE]).ljust(PAGE, b"\0")
        self.pages.setdefault(page, []).append(Version(at, contents))

    # Syncs

    def sync(self, until: int) -> None:
        """Makes all changes up to an instant durable, except those in doubt."""
        is_cut = any(cut.at <= until for cut in self.cuts)
        for page in {*self.pages, *self.durable_pages} if is_cut else list(self.pages):
            self._sync_page(page, until)
        self.cuts = [cut for cut in self.cuts if cut.at > until]
        self.durable_length = latest(self.lengths, until, self.durable_length)
        self.lengths = [length for length in self.lengths if length.at > until]

    def _sync_page(self, page: int, until: int) -> None:
        dropped = self._dropped_at(page, until)
        if dropped:
            self.durable_pages.pop(page, None)
        versions = [version for version in self.pages.pop(page, []) if version.at > dropped]
        due = [version for version in versions if version.at <= until]
        if due and due[-1].at > self.doubtful.get(page, 0):
            self.durable_pages[page] = due[-1].value
            self.doubtful.pop(page, None)
            versions = versions[len(due):]
        if versions:
            self.pages[page] = versions

    def _dropped_at(self, page: int, until: int) -> int:
        """The instant of the last cut, up to `until`, that took this page away; 0 if none did."""
        return max((cut.at for cut in self.cuts if cut.at <= until and page >= cut.keeps), default=0)

    def fail_sync(self, until: int) -> None:
        """Leaves all changes up to an instant in doubt."""
        for page, versions in self.pages.items():
            failed = [version.at for version in versions if version.at <= until]
            if failed:
                self.doubtful[page] = failed[-1]

    # Possible contents

    def possible_lengths(self) -> list[tuple[int, int]]:
        """Lengths, each with the instant since which it is so; the durable one first."""
        return [(0, self.durable_length)] + [(length.at, length.value) for length in self.lengths]

    def possible_pages(self, page: int, since: int) -> list[bytes]:
        """The possible contents of a page, given the file's length at `since`; the durable one is first."""
        dropped = self._dropped_at(page, since)
        next_cut = min((cut.at for cut in self.cuts if cut.at > since and page >= cut.keeps), default=None)
        base = ZEROS if dropped else self.durable_pages.get(page, ZEROS)
        versions = self.pages.get(page, [])
        return [base] + [
            version.value for version in versions
            if version.at > dropped and (next_cut is None or version.at < next_cut)]


class Folder:
    """A folder's names: what they name now, and what they may name after a power cut."""

    def __init__(self, number: int = 0):
        self.number = number
        self.names: dict[str, Name] = {}
        self.birth: tuple[Folder, Name] | None = None

    def name(self, name: str) -> Name:
        return self.names.setdefault(name, Name())

    def sync(self, until: int) -> None:
        for name in self.names.values():
            name.sync(until)


Node = File | Folder


@dataclass(slots=True)
class Name:
    durable: Node | None = None
    versions: list[Version] = field(default_factory=list)

    @property
    def now(self) -> Node | None:
        return self.versions[-1].value if self.versions else self.durable

    def sync(self, until: int) -> None:
        self.durable = latest(self.versions, until, self.durable)
        self.versions = [version for version in self.versions if version.at > until]

    def possible(self) -> list[Node | None]:
        return [self.durable] + [version.value for version in self.versions]


def latest(versions: list[Version], until: int, durable):
    """The last change up to an instant."""
    return next((version.value for version in reversed(versions) if version.at <= until), durable)


class Disk:
    """A data folder while calls are made on it."""

    def __init__(self, keeps_new_names: bool = True):
        self.keeps_new_names = keeps_new_names
        self.root = Folder()
        # Files by their inode numbers; a number may be used again once its file is gone.
        self.nodes: dict[int, Node] = {}

    @classmethod
    def of(cls, folder: Path, keeps_new_names: bool = True) -> Disk:
        """A folder as it is on this machine's disk, all of it durable."""
        disk = cls(keeps_new_names)

        def take(path: Path) -> Node:
            node: Node
            if path.is_dir():
                node = Folder(path.stat().st_ino)
                for child in path.iterdir():
                    node.names[child.name] = Name(take(child))
            else:
                node = File(path.stat().st_ino, path.read_bytes())
            disk.nodes[node.number] = node
            return node

        disk.root = take(folder)
        return disk

    # Paths

    def _place(self, path: str) -> tuple[Folder, Name]:
        parts = PurePosixPath(path).parts
        folder: Node | None = self.root
        for part in parts[:-1]:
            folder = folder.name(part).now
            assert isinstance(folder, Folder), f"{path} lies in no folder"
        return folder, folder.name(parts[-1])

    def node(self, path: str) -> Node | None:
        return self._place(path)[1].now if path else self.root

    def log(self) -> File | None:
        """The file that servers append their changes to."""
        inside = self.root.names.get(".timersync")
        if not inside or not isinstance(inside.now, Folder):
            return None
        name = inside.now.names.get("log")
        return name.now if name and isinstance(name.now, File) else None

    # Calls

    def apply(self, call: Call) -> None:
        """Applies a call in memory; for syncs see `sync`."""
        match call.kind:
            case Kind.OPEN:
                self._open(call)
            case Kind.WRITE:
                self._file(call).write(call.begin, call.number, call.bytes[:call.result])
            case Kind.CUT:
                self._file(call).cut(call.begin, call.number)
            case Kind.GROW:
                self._file(call).grow(call.begin, call.number)
            case Kind.RENAME:
                node = self.node(call.path)
                self._bind(call, call.target, node)
                self._bind(call, call.path, None)
            case Kind.LINK:
                self._bind(call, call.target, self.node(call.path))
            case Kind.UNLINK | Kind.RMDIR:
                self._bind(call, call.path, None)
            case Kind.MKDIR if not call.path:
                # The data folder itself is in every image.
                pass
            case Kind.MKDIR:
                self._bind(call, call.path, Folder(), is_birth=True)
            case Kind.SEND:
                pass
            case _:
                raise NotImplementedError(f"the model does not know what this does: {call}")

    def sync(self, call: Call) -> None:
        """Applies the outcome of a sync after `call` has returned."""
        until = call.begin
        if call.kind == Kind.SYNC_ALL:
            nodes = list(self._all())
        else:
            nodes = [self._synced(call)]
        for node in nodes:
            if isinstance(node, Folder):
                # The journal holds names; an error while it writes one makes the file system read-only.
                if not call.failed:
                    node.sync(until)
            elif call.failed:
                node.fail_sync(until)
            else:
                node.sync(until)
            if not call.failed and self.keeps_new_names:
                self._keep_name(node, until)

    def _keep_name(self, node: Node, until: int) -> None:
        """A new file keeps the name with which it was made, and so do the new folders above it."""
        while node.birth:
            folder, name = node.birth
            made = [version for version in name.versions if version.at <= until]
            if made and made[-1].is_birth and made[-1].value is node:
                name.sync(until)
            node = folder

    def _open(self, call: Call) -> None:
        if not call.path:
            self.root.number = call.inode
            self.nodes[call.inode] = self.root
            return
        node = self.node(call.path)
        if node is None or (isinstance(node, File) and node.number != call.inode):
            assert call.number & os.O_CREAT, f"a file is there that was never made: {call}"
            node = File(call.inode)
            self._bind(call, call.path, node, is_birth=True)
        elif isinstance(node, Folder):
            node.number = call.inode
        elif call.number & os.O_TRUNC:
            node.cut(call.begin, 0)
        self.nodes[call.inode] = node

    def _bind(self, call: Call, path: str, node: Node | None, is_birth: bool = False) -> None:
        folder, name = self._place(path)
        name.versions.append(Version(call.begin, node, is_birth))
        if is_birth:
            node.birth = (folder, name)

    def _synced(self, call: Call) -> Node:
        node = self.nodes.get(call.inode)
        assert node is not None, f"a sync of something that was never opened: {call}"
        return node

    def _file(self, call: Call) -> File:
        node = self.nodes.get(call.inode)
        assert isinstance(node, File), f"a call on a file that was never opened: {call}"
        return node

    def _all(self) -> Iterator[Node]:
        """All files and folders that have a name or may have one, and open files without one."""
        seen: set[int] = set()
        waiting: list[Node] = [self.root, *self.nodes.values()]
        while waiting:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            if isinstance(node, Folder):
                for name in node.names.values():
                    waiting += [found for found in name.possible() if found is not None]

    # Images

    def image(self, survivor: Survivor) -> Image:
        """The contents of the disk after a power cut; the survivor chooses what survives."""
        image = Image()
        self._gather(self.root, PurePosixPath(), survivor, image)
        return image

    def _gather(self, folder: Folder, path: PurePosixPath, survivor: Survivor, image: Image) -> None:
        image.folders.append(str(path))
        for text, name in sorted(folder.names.items()):
            node = survivor.name(path / text, name.possible())
            if isinstance(node, Folder):
                self._gather(node, path / text, survivor, image)
            elif node is not None:
                image.files[str(path / text)] = (survivor.contents(str(path / text), node), node.number)


class Survivor:
    """Chooses what of a disk survives; this one keeps nothing that was not synced."""

    def name(self, path: PurePosixPath, possible: list[Node | None]) -> Node | None:
        return possible[0]

    def length(self, path: str, possible: list[tuple[int, int]]) -> tuple[int, int]:
        return possible[0]

    def page(self, path: str, page: int, possible: list[bytes]) -> bytes:
        return possible[0]

    def contents(self, path: str, file: File) -> bytes:
        since, length = self.length(path, file.possible_lengths())
        pages = []
        for page in range(-(-length // PAGE)):
            pages.append(self.page(path, page, file.possible_pages(page, since)))
        return b"".join(pages)[:length]


def keep_time(history: Path) -> None:
    """Sets the time of a `history` file to the one that it records."""
    try:
        modified = json.loads(history.read_bytes())["modified"]
    except (ValueError, KeyError, TypeError):
        return
    os.utime(history, ns=(modified, modified))


class Image:
    """A data folder after a power cut, with the inode numbers that its files had before."""

    def __init__(self):
        self.folders: list[str] = []
        self.files: dict[str, tuple[bytes, int]] = {}

    def write(self, folder: Path, edit: Callable[[str, bytes, int, int], bytes] | None = None) -> None:
        """Makes the files; `edit` is given path, contents, and the inode before and now, and returns the contents."""
        for path in self.folders:
            (folder / path).mkdir(parents=True, exist_ok=True)
        # Servers compare the times of files, so the log is written last, as a server does.
        for path in sorted(self.files, key=lambda path: path.endswith(".timersync/log")):
            contents, number = self.files[path]
            with (folder / path).open("wb") as file:
                if edit:
                    contents = edit(path, contents, number, os.fstat(file.fileno()).st_ino)
                file.write(contents)
            if edit and path == ".timersync/history":
                keep_time(folder / path)
