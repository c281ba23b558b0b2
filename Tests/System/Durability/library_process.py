"""A program that uses the libraries (Tests/Programs/LibraryProcess), one command and one answer at a time."""

import os
import signal
import subprocess
import threading
from pathlib import Path

import stalls
from session import WITHIN

PROGRAM = os.environ.get("TIMERSYNC_LIBRARY_PROCESS") or str(
    Path(os.environ["TIMERSYNC_SERVER"]).parent / "LibraryProcess"
)


class LibraryProcess:
    def __init__(self, folder: Path, environment: dict[str, str] | None = None):
        self.process = subprocess.Popen(
            [PROGRAM, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})})
        stalls.watched.add(self.process.pid)
        assert self.answer() == "ready"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        stalls.watched.discard(self.process.pid)

    def ask(self, *words: object) -> None:
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        end = threading.Timer(WITHIN, self.process.kill)
        end.start()
        line = self.process.stdout.readline()
        end.cancel()
        assert line.endswith("\n"), f"the process said nothing for {WITHIN} s, or ended with {self.process.poll()}"
        return line[:-1]

    def __call__(self, *words: object) -> str:
        self.ask(*words)
        return self.answer()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
