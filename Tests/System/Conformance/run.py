#!/usr/bin/env python3
"""Tests the transport against RFC 6455 with two independent fuzzing clients and the echo program.

    python3 Tests/System/Conformance/run.py [--suite kosoku|autobahn|all] [--echo PROGRAM] [--python2 PATH]

`kosoku` (PyPI) is the default, from the Python that runs this, or from an environment below .build. `autobahn` is the
Autobahn TestSuite, which needs a Python 2.7 and is installed below .build when it is missing. Prints a line of counts
for each suite, and exits with 0 when no case failed except those that are explained below.
"""

import argparse
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import venv
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WORK = ROOT / ".build" / "conformance"
REQUIREMENTS = ROOT / "Tests" / "requirements.txt"
# Framing, pings, reserved bits, opcodes, fragments, UTF-8, closing, sizes, and one more. Compression (12, 13) is left
# out, since the server does not offer it.
CASES = ["1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "9.*", "10.*"]
# Ten pings in a row, of which libwebsockets answers the first that it reads at once and drops the others: RFC 6455
# §5.5.3 lets an endpoint answer the latest only, and both suites note that they ask for more than the RFC does. The
# Autobahn TestSuite sends those of 2.11 byte by byte, with an iteration of its loop between, so that they are read one
# by one unless the machine is busy: so that one is repeated by itself. kosoku's bytes arrive together, as in 2.10.
LENIENT = {
    "autobahn": {"2.10": "many pings in one packet"},
    "kosoku": {"2.10": "many pings in one packet", "2.11": "many pings, byte by byte, that arrive together"},
}
REPEATED = {"2.11": "its pings had arrived together"}
LARGEST_MESSAGE = 16 * 1024 * 1024
WITHIN = 600


class Echo:
    """The echo program, without the limits that the suites exceed."""

    def __init__(self, program: Path):
        self.process = subprocess.Popen(
            [str(program), "--port", "0", "--binary", "yes", "--message-bytes-max", str(LARGEST_MESSAGE + 1024),
             "--unsent-bytes-max", str(4 * LARGEST_MESSAGE)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        match = re.fullmatch(r"listening on .*:(\d+)\n", line)
        if not match:
            self.process.kill()
            sys.exit(f"the echo program did not say where it listens: {line!r}")
        self.url = f"ws://127.0.0.1:{match[1]}/ws"

    def __enter__(self) -> "Echo":
        return self

    def __exit__(self, *_) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()

    @property
    def lives(self) -> bool:
        return self.process.poll() is None


def built_echo() -> Path:
    """The echo program of this tree, in a release build so that the large cases take little time."""
    command = ["swift", "build", "-c", "release", "--product", "WebSocketEcho"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)
    shown = subprocess.run([*command, "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True)
    return Path(shown.stdout.strip()) / "WebSocketEcho"


def installed_kosoku() -> Path:
    """The suite's program, in a virtual environment of its own."""
    folder = WORK / "kosoku"
    if not (folder / "bin" / "kosoku").exists():
        wanted = [line for line in REQUIREMENTS.read_text().split() if line.startswith("kosoku==")]
        venv.create(folder, clear=True, with_pip=True)
        pip = [folder / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *wanted], check=True, stdout=sys.stderr)
    return folder / "bin" / "kosoku"


def run_kosoku(url: str, reports: Path, _: argparse.Namespace, cases: list[str]) -> None:
    """Runs the cases by kosoku."""
    program = Path(sys.executable).parent / "kosoku"
    if not program.exists():
        program = installed_kosoku()
    chosen = [word for case in cases for word in ("-i", case)]
    # The exit code says that a case failed; the report says which one.
    subprocess.run(
        [program, *chosen, "-o", reports, url], timeout=WITHIN, stdout=subprocess.DEVNULL)


def run_autobahn(url: str, reports: Path, options: argparse.Namespace, cases: list[str]) -> None:
    """Runs the cases by the Autobahn TestSuite, on Python 2.7."""
    python = options.python2 or shutil.which("python2.7")
    if not python:
        sys.exit("the Autobahn TestSuite needs a Python 2.7; name one by --python2, or use --suite kosoku")
    folder = WORK / "autobahn"
    if not (folder / "autobahntestsuite").exists():
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", folder]
        subprocess.run([*pip, "autobahntestsuite==25.10.1"], check=True, stdout=sys.stderr)
    specification = WORK / "autobahn.json"
    specification.write_text(json.dumps({
        "outdir": str(reports), "servers": [{"agent": "timersync", "url": url}], "cases": cases, "exclude-cases": [],
        "exclude-agent-cases": {}}))
    program = (
        "import site, sys; site.addsitedir(sys.argv.pop(1)); from autobahntestsuite import wstest; wstest.run()")
    with open(WORK / "autobahn.log", "w", encoding="utf-8") as log:
        subprocess.run(
            [python, "-c", program, folder, "-m", "fuzzingclient", "-s", specification], timeout=WITHIN, cwd=WORK,
            stdout=log, stderr=log, check=True)


SUITES = {"kosoku": run_kosoku, "autobahn": run_autobahn}


def failures(cases: dict) -> list[str]:
    """The numbers of a report's cases that failed."""
    return sorted(
        number for number, case in cases.items()
        if case["behavior"] in {"FAILED", "UNCLEAN"} or case["behaviorClose"] in {"FAILED", "UNCLEAN"})


def judge(name: str, reports: Path, again: Callable[[str], bool]) -> bool:
    """Prints the counts of a report, and returns whether only explained cases failed."""
    agents = json.loads((reports / "index.json").read_text(encoding="utf-8"))
    cases = next(iter(agents.values()))
    counts = collections.Counter(case["behavior"] for case in cases.values())
    closes = collections.Counter(case["behaviorClose"] for case in cases.values())
    print(f"{name}: {len(cases)} cases: " + ", ".join(f"{count} {word}" for word, count in counts.most_common()))
    print(f"{name}: their ends: " + ", ".join(f"{count} {word}" for word, count in closes.most_common()))
    is_well = bool(cases)
    for number in failures(cases):
        if number in LENIENT[name]:
            print(f"{name}: {number} failed: {LENIENT[name][number]}")
        elif number in REPEATED and any(again(number) for _ in range(3)):
            print(f"{name}: {number} failed, and passed by itself: {REPEATED[number]}")
        else:
            print(f"{name}: {number} failed: NOT EXPECTED")
            is_well = False
    return is_well


def passes(name: str, program: Path, options: argparse.Namespace, number: str) -> bool:
    """Whether a case passes when it runs alone."""
    reports = WORK / f"{name}-again"
    shutil.rmtree(reports, ignore_errors=True)
    with Echo(program) as echo:
        SUITES[name](echo.url, reports, options, [number])
    agents = json.loads((reports / "index.json").read_text(encoding="utf-8"))
    return not failures(next(iter(agents.values())))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=[*SUITES, "all"], default="kosoku")
    parser.add_argument("--echo", type=Path, help="the echo program; built when it is not given")
    parser.add_argument("--python2", help="a Python 2.7 for the Autobahn TestSuite")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    program = (options.echo or built_echo()).absolute()
    assert os.access(program, os.X_OK), f"no program at {program}"
    is_well = True
    for name in SUITES if options.suite == "all" else [options.suite]:
        reports = WORK / f"{name}-reports"
        shutil.rmtree(reports, ignore_errors=True)
        with Echo(program) as echo:
            SUITES[name](echo.url, reports, options, CASES)
            lives = echo.lives
        print(f"{name}: the server {'lives' if lives else 'DIED'}")
        is_well = judge(name, reports, partial(passes, name, program, options)) and lives and is_well
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
