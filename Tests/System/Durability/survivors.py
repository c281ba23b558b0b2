"""Bytes that survive a power cut: the worst cases on purpose, and any case at random."""

import random
from pathlib import PurePosixPath

from file_model import PAGE, SECTOR, File, Node, Survivor
from recording import LOG


class Nothing(Survivor):
    """Nothing that was not synced."""


class Everything(Survivor):
    """All that was done: as after a kill."""

    def name(self, path: PurePosixPath, possible: list[Node | None]) -> Node | None:
        return possible[-1]

    def length(self, path: str, possible: list[tuple[int, int]]) -> tuple[int, int]:
        return possible[-1]

    def page(self, path: str, page: int, possible: list[bytes]) -> bytes:
        return possible[-1]


class NamesOnly(Survivor):
    """Renames, unlinks and new names, without what the files hold."""

    def name(self, path: PurePosixPath, possible: list[Node | None]) -> Node | None:
        return possible[-1]


class DataOnly(Everything):
    """The new contents of files, under their old names."""

    def name(self, path: PurePosixPath, possible: list[Node | None]) -> Node | None:
        return possible[0]


class LengthsOnly(Everything):
    """Names and lengths, and zeros where the bytes are not written yet."""

    def page(self, path: str, page: int, possible: list[bytes]) -> bytes:
        return possible[0]


class Random(Survivor):
    """Each name, length and page for itself, some pages torn; how likely each survives is drawn once."""

    def __init__(self, seed: object):
        self.random = random.Random(f"{seed}")
        self.names, self.lengths, self.pages = (self.random.choice([0.1, 0.5, 0.9]) for _ in range(3))

    def _pick(self, possible: list, likelihood: float):
        if len(possible) == 1 or self.random.random() > likelihood:
            return possible[0]
        # Mostly the last possibility: there are hardly ever more than two.
        return possible[-1] if self.random.random() < 0.7 else self.random.choice(possible[1:])

    def name(self, path: PurePosixPath, possible: list[Node | None]) -> Node | None:
        return self._pick(possible, self.names)

    def length(self, path: str, possible: list[tuple[int, int]]) -> tuple[int, int]:
        return self._pick(possible, self.lengths)

    def page(self, path: str, page: int, possible: list[bytes]) -> bytes:
        picked = self._pick(possible, self.pages)
        if picked is not possible[0] and self.random.random() < 0.3:
            sector = self.random.randrange(SECTOR, PAGE, SECTOR)
            parts = [picked[:sector] + possible[0][sector:], possible[0][:sector] + picked[sector:]]
            return self.random.choice(parts)
        return picked


class TornLog(Everything):
    """Everything but sectors of what was written to the log last, which hold what they held before."""

    PLACES = ["head", "middle", "page", "tail", "front", "holes"]

    def __init__(self, place: str, seed: object):
        self.place = place
        self.random = random.Random(f"{seed}")

    def contents(self, path: str, file: File) -> bytes:
        whole = super().contents(path, file)
        if path != LOG:
            return whole
        before = LengthsOnly().contents(path, file)
        begin, end = file.last_write
        # The bytes that were written ahead of the entries are zero.
        end = begin + len(whole[begin:end].rstrip(b"\0"))
        first, last = begin // SECTOR, -(-end // SECTOR)
        contents = bytearray(whole)
        for sector in self._lost(first, last):
            at = slice(sector * SECTOR, min((sector + 1) * SECTOR, len(whole)))
            contents[at] = before[at]
        return bytes(contents)

    def _lost(self, first: int, last: int) -> list[int]:
        """Sectors, out of those from `first` to before `last`."""
        if last - first < 2:
            return [first] if self.place in ("head", "front") else []
        inner = self.random.randrange(first + 1, last)
        match self.place:
            case "head":
                return [first]
            case "middle":
                return [inner]
            case "page":
                page = inner * SECTOR // PAGE * PAGE // SECTOR
                return [sector for sector in range(page, page + PAGE // SECTOR) if first < sector < last]
            case "tail":
                return list(range(inner, last))
            case "front":
                return list(range(first, inner))
        return [sector for sector in range(first, last) if self.random.random() < 0.3]
