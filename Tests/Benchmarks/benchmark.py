#!/usr/bin/env python3
"""Compares the server with a bare loop of send(), and with its peers.

    benchmark.py [--server BINARY] [--scene NAME]… [--rounds 10] [--quick] [--json FILE] [--strict]
    benchmark.py --soak MINUTES [--server BINARY] [--json FILE]
    benchmark.py --list

Every scene runs its contestants in turn, round after round: the server, bare.c, and those of Node's `ws`, nchan and
Python's `websockets` that are installed. The server's process is held to one core and the clients to another. The
report shows the server's CPU for each message that arrived, as a ratio to the bare loop's of the same round.
"""

import argparse
import datetime
import json
import os
import resource
import sys
import tempfile
from pathlib import Path

import contestants
import figures
import scenes
from contestants import Bare, TimerSync, Work
from probe import measure_sizes
from programs import HERE

FIGURES = {
    "microsecondsPerMessage": "CPU µs/message", "microsecondsPerRequest": "CPU µs/request",
    "microsecondsPerConnection": "CPU µs/connection", "microsecondsPerLastConnection": "CPU µs/connection, last tenth",
    "requestsPerSecond": "requests/s", "connectionsPerSecond": "connections/s", "kibPerConnection": "KiB/connection",
    "messagesPerSecond": "messages/s", "messagesPerReceive": "messages/receive", "messagesPerChange": "messages/change",
    "changesPerSecond": "changes/s", "spread": "spread, s", "ticksIn20Seconds": "ticks in 20 s",
    "sendsPerSecond": "sends/s", "core": "part of the core", "kernelPart": "kernel's part of the CPU",
    "seconds": "seconds", "refused": "refused", "secondsToEnd": "seconds to end", "p50": "p50, s", "p99": "p99, s"}


class Setting:
    """The machine, the options, and the measurements from before the first scene."""

    def __init__(self, options, folder: Path):
        self.server = options.server
        self.rounds = options.rounds or (2 if options.quick else 10)
        self.is_quick = options.quick
        self.is_loud = options.loud
        self.folder = folder
        self.folders = 0
        cores = sorted(os.sched_getaffinity(0))
        self.server_core, self.client_core = (cores[0], cores[1]) if len(cores) > 1 else (None, None)
        if self.client_core is None:
            self.tell("one core alone: server and clients share it, so the figures say little")
        else:
            os.sched_setaffinity(0, set(cores) - {self.server_core})
        self.files_max = raise_limit_of_files()
        self.sizes = measure_sizes(self)
        self.contestants = [Bare, TimerSync, *self.find_peers(options.peer)]
        with Bare(self, Work(timers=1, interval=0)) as bare:
            bare.prepare_driving()
            bare.open_shown(1000)
            answer = bare.drive(0.5)
            self.bare_seconds_per_message = answer["cpu"] / answer["messages"]
        self.tell(f"bare loop: {self.bare_seconds_per_message * 1e6:.2f} µs a message to 1000 clients")

    def find_peers(self, wanted: list[str] | None) -> list:
        found = []
        for kind in contestants.PEERS:
            if wanted is not None and kind.name not in wanted:
                continue
            version = kind.version()
            self.tell(f"{kind.name}: {version or 'not installed, left out'}")
            if version:
                found.append(kind)
        return found

    def new_folder(self, name: str) -> Path:
        self.folders += 1
        folder = self.folder / f"{self.folders}-{name}"
        folder.mkdir()
        return folder

    def shorter(self, seconds: float) -> float:
        return seconds / 3 if self.is_quick and seconds <= 2 else seconds

    def need(self, answer: dict, clients: int, contestant) -> None:
        """Checks that all clients are connected, because otherwise the scene says nothing."""
        if answer["gone"] or answer["open"] < clients:
            raise RuntimeError(f"{contestant.name}: {answer['open']} of {clients} clients are there")

    def tell(self, words: str) -> None:
        print(words, file=sys.stderr, flush=True)

    def tell_round(self, row: dict) -> None:
        cells = []
        for name, found in sorted(row.items()):
            figure = next(figure for figure in FIGURES if figure in found)
            cells.append(f"{name} {found[figure]:.3f}")
        self.tell("  " + ", ".join(cells))


def raise_limit_of_files() -> int:
    """Raises the limit of descriptors as far as the machine allows; a client takes one at each end."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for wanted in (65_536, most):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(wanted, most), max(wanted, most)))
            return max(wanted, most)
        except (ValueError, OSError):
            continue
    return most


def main() -> int:
    options = parse_options()
    chosen = [
        scene for scene in scenes.all_scenes()
        if not options.scene or any(scene.name.startswith(name) for name in options.scene)]
    if options.list:
        for scene in chosen:
            print(f"{scene.name:20}  {scene.about}")
        return 0
    if not chosen:
        sys.exit("no such scene; --list tells them")
    if not options.server.exists():
        sys.exit(f"{options.server} is missing: swift build -c release --product timersync, or --server BINARY")
    report = {"at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), "scenes": {}}
    missed = []
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        setting = Setting(options, Path(folder))
        report |= {"bytes": vars(setting.sizes), "contestants": [kind.name for kind in setting.contestants],
                   "rounds": setting.rounds}
        if options.soak:
            report["soak"] = scenes.soak(setting, options.soak)
            print(f"grown by {report['soak']['growthKiB']} KiB after the first minute")
            chosen = []
        for scene in chosen:
            if scene.clients + 100 > setting.files_max:
                setting.tell(f"{scene.name}: left out, {setting.files_max} open files are allowed")
                continue
            setting.tell(f"{scene.name}: {scene.about}")
            found = scene.measure(setting)
            found["ratios"], found["values"], lines = summary(found["rounds"])
            print(f"\n{scene.name}: {scene.about}, {scene.clients} clients\n{lines}")
            found["aims"] = judge(scene, found)
            missed += [aim for aim in found["aims"] if not aim["met"]]
            report["scenes"][scene.name] = found
            if options.json:
                options.json.write_text(json.dumps(report, indent=2) + "\n")
        if options.json:
            options.json.write_text(json.dumps(report, indent=2) + "\n")
    return 1 if options.strict and missed else 0


def summary(rounds: list[dict]) -> tuple[dict, dict, str]:
    """Ratios to the bare loop and values, with minimum, median and maximum; and a table of both."""
    names = list(dict.fromkeys(name for row in rounds for name in row))
    ratios, values = {}, {}
    rows = [["", "", "median", "ratio: min", "median", "max", "rounds"]]
    for figure, title in FIGURES.items():
        for name in sorted(names, key=lambda name: (name != "bare", name)):
            found = [row[name][figure] for row in rows_with(rounds, name, figure)]
            if not found:
                continue
            values.setdefault(figure, {})[name] = figures.spread(found)
            ratio = figures.ratios(rounds, name, "bare", figure) if name != "bare" else None
            if ratio:
                ratios.setdefault(figure, {})[name] = ratio
            rows.append([
                title, name, f"{values[figure][name]['median']:.4g}",
                *([f"{ratio[part]:.3f}" for part in ("min", "median", "max")] if ratio else ["", "", ""]),
                str(len(found))])
    return ratios, values, figures.table(rows)


def rows_with(rounds: list[dict], name: str, figure: str) -> list[dict]:
    return [row for row in rounds if name in row and figure in row[name]]


def judge(scene, found: dict) -> list[dict]:
    """The aims with the figures that were reached; an aim beside another contestant uses the median of the ratios."""
    judged = []
    for aim in scene.aims:
        if aim.to:
            reached = figures.ratios(found["rounds"], aim.of, aim.to, aim.figure)
        else:
            reached = found["values"].get(aim.figure, {}).get(aim.of)
        if not reached:
            continue
        value = reached["median"]
        met = value <= aim.value if aim.sense == "at most" else value >= aim.value
        judged.append(vars(aim) | {"median": value, "met": met})
        print(f"aim: {FIGURES[aim.figure]} of {aim.of}{', in those of ' + aim.to if aim.to else ''}: {aim.sense} "
              f"{aim.value:.3g}: {value:.3f}, {'met' if met else 'MISSED'}")
    return judged


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, default=HERE.parent.parent / ".build/release/timersync",
                        help="the server's binary (default: the release build)")
    parser.add_argument("--scene", action="append", help="those whose names begin so; may be given again")
    parser.add_argument("--peer", action="append",
                        help="node-ws, nchan, websockets, or none; may be given again (default: those installed)")
    parser.add_argument("--rounds", type=int, help="default 10; fewer can't tell 0.8 from 1.2")
    parser.add_argument("--quick", action="store_true", help="2 short rounds, to see that it works")
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="memory through ticks and churn, nothing else")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when an aim is missed")
    parser.add_argument("--list", action="store_true", help="tell the scenes")
    parser.add_argument("--loud", action="store_true", help="let the servers write to standard error")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
