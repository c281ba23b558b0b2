#!/usr/bin/env python3
"""Measures how fast changes become durable, beside Redis and a bare loop, and how fast a full folder starts.

    durable_changes.py --server BINARY [--rounds 5] [--seconds 3] [--folder FOLDER] [--json FILE] [--strict]

Each round measures three things in turn, so that a busy machine is busy for all of them: a bare loop of write, fsync,
rename and fsync of the folder; the server, with 64 connections that change 64 timers, and again by
pauses, whose records are ten times as long; and redis-server with
`appendfsync always` under `redis-benchmark -c 64 -t set -d 300`. A single figure of a shared machine says little, the
ratios within a round say more. Needs gcc (or cc) and Debian's redis-server and redis-tools.
"""

import argparse
import contextlib
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from figures import spread
from processes import ended, resident_kib
from programs import program

CONNECTIONS = 64
TIMERS_ON_DISK = 10_000
AIMS = {"ratio": 0.5, "p99": 4.0, "start": 1.0, "memory": 2.0}


def main() -> int:
    options = parse_options()
    with tempfile.TemporaryDirectory(prefix="durable-changes-", dir=options.folder) as folder:
        folder = Path(folder)
        load = program("load")
        rounds = measure_rounds(options, load, folder)
        start = measure_start(options, folder)
    figures = {
        "connections": CONNECTIONS, "rounds": rounds, "start": start,
        "ratio": spread([round["ratio"] for round in rounds]),
        "pausesRatio": spread([round["pausesRatio"] for round in rounds]),
        "p99Ratio": spread([round["p99Ratio"] for round in rounds])}
    missed = tell(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 1 if options.strict and missed else 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, required=True, help="the server's binary, a release build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3, help="how long each measurement takes (default 3)")
    parser.add_argument("--folder", type=Path, help="where to work; its disk is the one measured (default $TMPDIR)")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when an aim is missed")
    return parser.parse_args()


# Rounds

def measure_rounds(options, load: Path, folder: Path) -> list[dict]:
    rounds = []
    with running_server(options.server, folder / "changes") as server, running_redis(folder / "redis") as redis:
        requests = redis_requests(redis, 20_000, options.seconds)
        for number in range(1, options.rounds + 1):
            (folder / "bare").mkdir(exist_ok=True)
            bare = run_load(load, "bare", folder / "bare", options.seconds)
            ours = run_load(load, "changes", server.port, CONNECTIONS, options.seconds)
            pauses = run_load(load, "pauses", server.port, CONNECTIONS, options.seconds)
            theirs = redis_benchmark(redis, requests)
            round = {
                "bare": bare,
                "ours": ours,
                "pauses": pauses,
                "redis": theirs,
                "pausesRatio": pauses["perSecond"] / theirs["perSecond"],
                "ratio": ours["perSecond"] / theirs["perSecond"],
                "p99Ratio": ours["p99"] / bare["p99"],
            }
            rounds.append(round)
            print(
                f"round {number}: {ours['perSecond']:8.0f} changes/s, redis {theirs['perSecond']:8.0f} sets/s, "
                f"ratio {round['ratio']:.2f} (by pauses {round['pausesRatio']:.2f}); "
                f"p50 {ms(ours['p50'])}, p99 {ms(ours['p99'])}, redis p99 {ms(theirs['p99'])}, "
                f"bare p99 {ms(bare['p99'])}, p99 ratio {round['p99Ratio']:.1f}", flush=True)
    return rounds


def run_load(load: Path, *words) -> dict:
    return json.loads(subprocess.run([load, *map(str, words)], check=True, capture_output=True, text=True).stdout)


def redis_requests(port: int, probe: int, seconds: float) -> int:
    """The number of requests that take about `seconds`."""
    return max(1000, int(redis_benchmark(port, probe)["perSecond"] * seconds))


def redis_benchmark(port: int, requests: int) -> dict:
    output = subprocess.run(
        ["redis-benchmark", "-p", str(port), "-c", str(CONNECTIONS), "-t", "set", "-d", "300", "-n", str(requests),
         "--csv"], check=True, capture_output=True, text=True).stdout
    row = next(csv.DictReader(output.splitlines()))
    return {
        "perSecond": float(row["rps"]), "p50": float(row["p50_latency_ms"]) / 1000,
        "p99": float(row["p99_latency_ms"]) / 1000}


# A full folder

def measure_start(options, folder: Path) -> dict:
    """Starts the server with many timers on disk: seconds to the first answer, and the memory that a timer takes."""
    full, empty = folder / "full", folder / "empty"
    fill(options.server, full, TIMERS_ON_DISK)
    seconds = []
    for _ in range(max(3, options.rounds)):
        begun = time.monotonic()
        with running_server(options.server, full) as server:
            answer = server.get("/api/timers/t0")
            seconds.append(time.monotonic() - begun)
            assert answer["ok"] and answer["timer"]["timer"] == "t0", answer
            with_timers = server.resident_kib()
            # A list is the most expensive answer to one request.
            assert len(server.get("/api/timers")["timers"]) == TIMERS_ON_DISK
            after_list = server.resident_kib()
    with running_server(options.server, empty) as server:
        server.get("/api/timers")
        without = server.resident_kib()
    return {
        "timers": TIMERS_ON_DISK, "secondsToFirstAnswer": spread(seconds),
        "mibPer1000Timers": (with_timers - without) / 1024 / TIMERS_ON_DISK * 1000,
        "mibPer1000TimersAfterList": (after_list - without) / 1024 / TIMERS_ON_DISK * 1000}


def fill(binary: Path, folder: Path, count: int) -> None:
    """Makes `count` timers out of one that the server wrote: started, paused twice, and running."""
    with running_server(binary, folder) as server:
        server.post("/api/timers/t0/start", duration=86_400, title="A title of usual length", warnings=[60, 10])
        for command in ("pause", "resume") * 2:
            server.post(f"/api/timers/t0/{command}")
    record = json.loads((folder / "t0.json").read_text())
    for number in range(1, count):
        record["timer"] = f"t{number}"
        (folder / f"t{number}.json").write_text(json.dumps(record, indent=2))


# Processes

class RunningServer:
    def __init__(self, port: int, process: subprocess.Popen):
        self.port = port
        self.process = process

    def get(self, path: str) -> dict:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=20) as answer:
            return json.load(answer)

    def post(self, path: str, **fields) -> dict:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", json.dumps(fields).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def resident_kib(self) -> int:
        return resident_kib(self.process.pid)


@contextlib.contextmanager
def running_server(binary: Path, folder: Path):
    folder.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [binary, "serve", "--listen", "127.0.0.1", "--port", "0", "--data", folder, "--log-level", "warning"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    with ended(process):
        line = process.stdout.readline()
        match = re.search(r"listening on http://127\.0\.0\.1:(\d+)", line) or sys.exit(f"no server: {line!r}")
        yield RunningServer(int(match.group(1)), process)


@contextlib.contextmanager
def running_redis(folder: Path):
    """Runs a Redis that syncs each group of changes, and gives its port."""
    folder.mkdir()
    port = 7000 + os.getpid() % 20_000
    process = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "",
         "--appendonly", "yes", "--appendfsync", "always"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    with ended(process):
        for _ in range(100):
            ping = subprocess.run(["redis-cli", "-p", str(port), "ping"], capture_output=True, text=True)
            if ping.stdout.strip() == "PONG":
                break
            time.sleep(0.05)
        yield port


# Figures

def tell(figures: dict) -> list[str]:
    """Prints the figures beside their aims, and returns the aims that were missed."""
    start = figures["start"]
    lines = [
        ("changes a second, as a part of Redis's", figures["ratio"], AIMS["ratio"], True),
        ("p99, in p99s of the bare loop", figures["p99Ratio"], AIMS["p99"], False),
        (f"seconds to the first answer with {start['timers']} timers", start["secondsToFirstAnswer"], AIMS["start"],
         False),
        ("MiB per 1000 timers", spread([start["mibPer1000Timers"]]), AIMS["memory"], False)]
    missed = []
    for name, value, aim, is_least in lines:
        met = value["median"] >= aim if is_least else value["median"] <= aim
        if not met:
            missed.append(name)
        print(
            f"{name}: min {value['min']:.3f}, median {value['median']:.3f}, max {value['max']:.3f} "
            f"(aim: {'at least' if is_least else 'at most'} {aim:g}: {'met' if met else 'MISSED'})")
    value = figures["pausesRatio"]
    print(
        f"by pauses, whose records are ten times as long as Redis's values: min {value['min']:.3f}, "
        f"median {value['median']:.3f}, max {value['max']:.3f}")
    print(f"MiB per 1000 timers after all were listed: {start['mibPer1000TimersAfterList']:.3f}")
    return missed


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


if __name__ == "__main__":
    sys.exit(main())
