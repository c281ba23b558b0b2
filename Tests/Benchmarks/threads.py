#!/usr/bin/env python3
"""Measures the gain of `--threads`: ticks over TLS and without it, to more clients than one thread can serve.

    threads.py --server BINARY [--threads 1,2,4] [--rounds 5] [--seconds 5] [--clients 2000] [--json FILE]

Forty timers tick at 0.1 s for every client, more than a core can encrypt: the server sends as fast as it can, and
a slow connection gets the newest ticks. The figures are the bytes that arrive a second and the server's CPU for each
MB, as ratios to one thread of the same round.
"""

import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import processes
import programs

TIMERS = 40


def certificate(folder: Path) -> list[str]:
    """The options for a certificate that is made here."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True)
    return ["--tls-cert", str(folder / "cert.pem"), "--tls-key", str(folder / "key.pem")]


@contextlib.contextmanager
def served(binary: str, folder: Path, *options: str):
    """Runs a server on a port that the system chooses, and gives the process and the port."""
    process = processes.start(
        [binary, "serve", "--port", "0", "--data", folder, *options], stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL)
    with processes.ended(process):
        for line in process.stdout:
            if match := re.search(r"https?://[^ ]*:(\d+)", line):
                yield process, int(match[1])
                return
        sys.exit("the server did not say where it listens")


def cpu_seconds(process: int) -> float:
    """User and system time of a process and all of its threads."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start_timers(binary: str, folder: Path) -> None:
    """Starts timers in the data folder, where they run on for the server that is measured."""
    with served(binary, folder) as (_, port):
        for number in range(TIMERS):
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}/api/timers/t{number}/start", data=b'{"type":"stopwatch"}',
                headers={"Content-Type": "application/json"}, method="POST")
            urllib.request.urlopen(request, timeout=10).read()


def measure(arguments, threads: int, is_secure: bool) -> dict:
    """One run: the MB that arrived a second, and the server's CPU milliseconds for each MB."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "data"
        start_timers(arguments.server, folder)
        secure = certificate(Path(place)) if is_secure else []
        path = "/ws?interval=0.1" + "".join(f"&timer=t{number}" for number in range(TIMERS))
        limits = ["--connections-per-address", "20000"]
        with served(arguments.server, folder, "--threads", str(threads), *secure, *limits) as (server, port):
            crowd = processes.start(
                [programs.program("tls_crowd"), port, arguments.clients, arguments.seconds, path,
                 *([] if is_secure else ["plain"])])
            with processes.ended(crowd):
                crowd.stdout.readline()
                before = cpu_seconds(server.pid)
                told = json.loads(crowd.stdout.readline())
                used = cpu_seconds(server.pid) - before
    megabytes = told["bytes"] / 1e6
    return {"rate": megabytes / told["seconds"], "cpu": 1000 * used / megabytes, "gone": told["gone"]}


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--threads", default="1,2,4", help="the counts to compare; the first is the measure")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--clients", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    counts = [int(word) for word in arguments.threads.split(",")]
    found = {}
    for is_secure in (True, False):
        way = "TLS" if is_secure else "plain"
        rounds = [
            {count: measure(arguments, count, is_secure) for count in counts} for _ in range(arguments.rounds)]
        found[way] = rounds
        for count in counts:
            rates = [one[count]["rate"] / one[counts[0]]["rate"] for one in rounds]
            costs = [one[count]["cpu"] / one[counts[0]]["cpu"] for one in rounds]
            rate = statistics.median(one[count]["rate"] for one in rounds)
            gone = sum(one[count]["gone"] for one in rounds)
            print(f"{way}, {count} threads: {rate:.1f} MB/s, {spread(rates)} of {counts[0]}; "
                  f"CPU for each MB {spread(costs)}; {gone} connections lost", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
