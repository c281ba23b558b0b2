#!/usr/bin/env python3
"""Cuts the power of a recorded server at many instants, and judges what a server makes of what the disk then holds.

    power_cut.py [--server BINARY] [--scene NAME]… [--images 200] [--seed N] [--strict-names] [--keep FOLDER]

A loaded server is recorded (`recorder.c`, `recorded_load.py`): its file calls and what it sent, in one order. For each
instant the model of a disk (`file_model.py`) says what may be there after a power cut, and a survivor (`survivors.py`)
picks one case. A new server is started on it and asked for all timers, and its answer is compared with what clients
had been sent (`promises.py`). Exits with 1 when a promise is broken, and prints which; --keep keeps such images.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from websockets.sync.client import connect

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "BlackBox"))

import timer_server
from file_model import Disk, Image, Survivor
from promises import Asked, Found, Promises
from recorded_load import OPTIONS, SCENES, WITHIN, Recorded, record
from recording import LOG, Call, Kind, Recorder, build_recorder
from survivors import DataOnly, Everything, LengthsOnly, NamesOnly, Nothing, Random, TornLog

# A request is known for ten minutes.
KNOWN_FOR = 540
BOOTS_AT_ONCE = 2


# MARK: - Instants


def walk(calls: list[Call], cuts: list[int], disk: Disk) -> Iterator[tuple[int, Disk]]:
    """The disk at each of these instants: after what began before it, and the syncs that ended before it."""
    done = []
    for call in calls:
        if call.kind in (Kind.SYNC, Kind.SYNC_ALL):
            if call.end is not None:
                done.append((call.end, disk.sync, call))
        elif not call.failed:
            done.append((call.begin, disk.apply, call))
    done.sort(key=lambda step: step[0])
    place = 0
    for cut in sorted(cuts):
        while place < len(done) and done[place][0] < cut:
            _, act, call = done[place]
            act(call)
            place += 1
        yield cut, disk


@dataclass
class Instants:
    """The instants at which the power may be cut, grouped by what happens then."""

    groups: list[int] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    checkpoints: list[int] = field(default_factory=list)
    restarts: list[int] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    any: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, calls: list[Call]) -> "Instants":
        instants = cls()
        appended = b""
        after_checkpoint = after_failure = 0
        for call in calls:
            if call.kind == Kind.SEND:
                instants.answers.append(call.begin + 1)
                continue
            instants.any.append(call.begin + 1)
            if call.end:
                instants.any.append(call.end)
            if call.kind == Kind.WRITE and call.path == LOG:
                appended = call.bytes
                if call.number == 0 and b'"files":[]' in appended[:200]:
                    after_checkpoint = 12
                    instants.restarts += [call.begin + 1, call.begin + 2]
            if call.kind == Kind.SYNC and call.path == LOG and call.end and appended.count(b'{"files":[') > 2:
                instants.groups.append(call.end)
            if call.kind == Kind.SYNC_ALL or (call.kind in (Kind.CUT, Kind.UNLINK) and call.path == LOG):
                after_checkpoint = 12
            if call.failed and call.kind in (Kind.SYNC, Kind.SYNC_ALL, Kind.WRITE, Kind.CUT):
                after_failure = 40
            if after_checkpoint:
                after_checkpoint -= 1
                instants.checkpoints += [call.begin, call.begin + 1, call.end or call.begin + 1]
            if after_failure:
                after_failure -= 1
                instants.failures += [call.begin + 1, call.end or call.begin + 1]
        return instants

    def pick(self, count: int, chance: random.Random) -> list[tuple[int, Survivor]]:
        """`count` cuts, each with a survivor that chooses what the disk keeps."""
        kinds = [kind for kind in (
            ("groups", 4), ("checkpoints", 3), ("failures", 3), ("answers", 3), ("restarts", 1), ("any", 2),
        ) if getattr(self, kind[0])]
        turns = [name for name, weight in kinds for _ in range(weight)]
        chance.shuffle(turns)
        survivors: dict[str, int] = Counter()
        cuts = []
        for number in range(count):
            kind = turns[number % len(turns)]
            cut = chance.choice(getattr(self, kind))
            survivors[kind] += 1
            cuts.append((cut, survivor_for(kind, survivors[kind], f"{chance.random()}")))
        return sorted(cuts, key=lambda pair: pair[0])


def survivor_for(kind: str, turn: int, seed: str) -> Survivor:
    """Each kind of instant meets all cases in turn."""
    torn = [TornLog(place, seed) for place in TornLog.PLACES]
    whole = [Nothing(), Random(seed), Everything(), Random(seed + "b"), NamesOnly(), DataOnly(), LengthsOnly()]
    if kind == "groups":
        return [torn[turn % len(torn)], torn[turn * 5 % len(torn)], Random(seed)][turn % 3]
    if kind == "restarts":
        return [torn[0], Random(seed), torn[5]][turn % 3]
    return whole[turn % len(whole)]


# MARK: - Booting


def with_own_inode(path: str, contents: bytes, before: int, now: int) -> bytes:
    """Makes an image pass for the recorded folder, which the server knows by the inode in its file `history`."""
    if path != ".timersync/history":
        return contents
    try:
        history = json.loads(contents)
    except ValueError:
        return contents
    if not isinstance(history, dict) or history.get("inode") != before:
        return contents
    history["inode"] = now
    if "modified" in history:
        # The server also compares the time at which the file was written.
        history["modified"] = time.time_ns() // 1000 * 1000
    return json.dumps(history, sort_keys=True).encode()


def boot(data: Path, again: list[Asked]) -> Found:
    """The states that a new server shows on a folder, before and after requests are sent to it again."""
    server = timer_server.Server(data, *OPTIONS)
    try:
        server.start()
        found = Found(timers_of(server), faults=get(server, "/healthz")["faults"])
        quarantine = data / "quarantine"
        if quarantine.exists():
            found.quarantined = [path.name for path in quarantine.iterdir()]
        with connect(server.url, compression=None, proxy=None, open_timeout=WITHIN, close_timeout=1) as socket:
            found.history = json.loads(socket.recv(WITHIN)).get("history")
            for request in again:
                socket.send(json.dumps(request.message))
            found.repeated = [(request, json.loads(socket.recv(WITHIN))) for request in again]
            found.timers_after = timers_of(server)
            socket.send(json.dumps({"command": "start", "timer": "new", "duration": 60}))
            found.next_revision = json.loads(socket.recv(WITHIN))["timer"]["revision"]
        return found
    finally:
        server.kill()
        found_log = server.log
        if found_log:
            (data.parent / f"{data.name}.log").write_text(found_log, encoding="utf-8")


def cut_again(data: Path, library: Path, chance: random.Random) -> Survivor:
    """Starts a server on a folder, cuts the power while it recovers, and leaves there what the disk has then."""
    disk = Disk.of(data)
    recorder = Recorder(library, data.with_name(f"{data.name}.trace"), data, trace_bytes=1 << 28)
    server = timer_server.Server(data, *OPTIONS, environment=recorder.environment)
    try:
        server.start()
    finally:
        server.kill()
    calls = recorder.calls()
    recorder.close()
    instants = Instants.of(calls)
    cut = chance.choice(chance.choice([instants.any, instants.checkpoints or instants.any]))
    survivor = survivor_for("any", chance.randrange(7), f"{chance.random()}")
    _, at_cut = next(walk(calls, [cut], disk))
    image = at_cut.image(survivor)
    shutil.rmtree(data)
    image.write(data, with_own_inode)
    return survivor


def get(server: timer_server.Server, path: str) -> dict:
    with urllib.request.urlopen(server.http + path, timeout=WITHIN) as answer:
        return json.load(answer)


def timers_of(server: timer_server.Server) -> dict[str, dict]:
    return {state["timer"]: state for state in get(server, "/api/timers")["timers"]}


def sent_again(promises: Promises, cut: int, chance: random.Random) -> list[Asked]:
    """Requests with names that were answered before the cut: the last ones, and some others."""
    youngest = time.monotonic() - KNOWN_FOR
    known = [request for request in promises.answered_by_name(cut) if request.seconds > youngest]
    last = known[-10:]
    others = known[:-10]
    return chance.sample(others, min(10, len(others))) + last


# MARK: - Judging


@dataclass
class Outcome:
    """The result of one image."""

    cut: int
    survivor: str
    broken: list[str]
    log: str = ""

    def __str__(self) -> str:
        lines = "\n".join(f"  {fault[:400]}" for fault in self.broken[:6])
        more = f"\n  and {len(self.broken) - 6} more" if len(self.broken) > 6 else ""
        return f"cut at {self.cut}, {self.survivor}:\n{lines}{more}" + (f"\n  log: {self.log}" if self.log else "")


@dataclass
class Report:
    outcomes: list[Outcome] = field(default_factory=list)
    changes: int = 0
    calls: int = 0
    seconds: float = 0

    @property
    def broken(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.broken]

    @property
    def figures(self) -> str:
        kinds = Counter(
            kind for outcome in self.broken for kind in {fault.split(":")[0] for fault in outcome.broken})
        told = "".join(f", {count} with {kind!r}" for kind, count in sorted(kinds.items()))
        return (
            f"{len(self.outcomes)} images of {self.calls} calls and {self.changes} answered changes "
            f"in {self.seconds:.1f} s: {len(self.broken)} break a promise{told}")


def replay(
    recorded: Recorded, images: int, seed: object, folder: Path, *, library: Path | None = None, strict_names=False,
    keep=False,
) -> Report:
    """Makes and judges `images` images of a recording. With the recorder's library, the power is cut once more while
    every third server recovers."""
    began = time.monotonic()
    check_complete(recorded)
    promises = Promises.of(recorded.calls, recorded.asked)
    assert not promises.contradictions, promises.contradictions[:3]
    report = Report(changes=sum(answer["ok"] for _, answer in promises.answers.values()), calls=len(recorded.calls))
    cuts = Instants.of(recorded.calls).pick(images, random.Random(f"{seed} cuts"))
    folder.mkdir(parents=True, exist_ok=True)

    def judge(cut: int, survivor: Survivor, image: Image, number: int) -> Outcome:
        data = folder / f"image-{number}"
        image.write(data, with_own_inode)
        what = describe(survivor)
        try:
            if library and number % 3 == 2:
                what += f", then {describe(cut_again(data, library, random.Random(f'{seed} again {number}')))}"
            found = boot(data, sent_again(promises, cut, random.Random(f"{seed} {number}")))
            broken = promises.broken(cut, found)
        except Exception as fault:  # the server does not start, or does not answer
            broken = [f"no server: {type(fault).__name__}: {fault}"]
        log = data.with_name(f"{data.name}.log")
        outcome = Outcome(cut, what, broken, log.read_text(encoding="utf-8")[:400] if log.exists() else "")
        shutil.rmtree(data)
        if keep and broken:
            image.write(data.with_name(f"broken-{number}"))
        return outcome

    with ThreadPoolExecutor(BOOTS_AT_ONCE) as boots:
        waiting = []
        disk = Disk(keeps_new_names=not strict_names)
        survivors = iter(cuts)
        for cut, at_cut in walk(recorded.calls, [cut for cut, _ in cuts], disk):
            _, survivor = next(survivors)
            image = at_cut.image(survivor)
            waiting.append(boots.submit(judge, cut, survivor, image, len(waiting)))
            while sum(not done.done() for done in waiting) > 4 * BOOTS_AT_ONCE:
                time.sleep(0.005)
        report.outcomes = [done.result() for done in waiting]
    report.seconds = time.monotonic() - began
    return report


def describe(survivor: Survivor) -> str:
    name = type(survivor).__name__
    return f"{name} ({survivor.place})" if isinstance(survivor, TornLog) else name


def check_complete(recorded: Recorded) -> None:
    """Checks that the recording is complete: replayed in memory, its calls make exactly the files of the folder."""
    disk = Disk()
    last = max(call.end or call.begin for call in recorded.calls)
    for _, at_end in walk(recorded.calls, [last + 1], disk):
        image = at_end.image(Everything())
        lying = {
            str(path.relative_to(recorded.data)): path.read_bytes()
            for path in recorded.data.rglob("*") if path.is_file()}
        made = {path: contents for path, (contents, _) in image.files.items()}
        wrong = sorted(path for path in {*lying, *made} if lying.get(path) != made.get(path))
        assert not wrong, f"the recording is not complete; otherwise than recorded: {wrong}"


# MARK: - The program


def parse_options(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, help="the binary (default $TIMERSYNC_SERVER, else the debug build)")
    parser.add_argument("--scene", action="append", choices=SCENES, help="default: all")
    parser.add_argument("--images", type=int, default=30, help="of each scene")
    parser.add_argument("--seed", type=int, default=None, help="the same seed asks for the same changes")
    parser.add_argument("--strict-names", action="store_true", help="a file's name needs a sync of its folder")
    parser.add_argument("--keep", type=Path, help="a folder for images that break a promise")
    options = parser.parse_args(words)
    if options.seed is None:
        options.seed = random.randrange(1 << 32)
    return options


def main() -> int:
    options = parse_options()
    if options.server:
        timer_server.BINARY = options.server.resolve()
    is_broken = False
    with tempfile.TemporaryDirectory(prefix="timersync-power-") as temporary:
        folder = Path(temporary)
        library = build_recorder(folder)
        for name in options.scene or SCENES:
            recorded = record(SCENES[name], library, folder / name, options.seed)
            report = replay(
                recorded, options.images, options.seed, (options.keep or folder) / f"{name}-images", library=library,
                strict_names=options.strict_names, keep=options.keep is not None)
            for outcome in report.broken:
                print(f"BROKEN: {name}: {outcome}")
            print(f"{name}, seed {options.seed}: {report.figures}", flush=True)
            is_broken = is_broken or bool(report.broken)
    return 1 if is_broken else 0


if __name__ == "__main__":
    sys.exit(main())
