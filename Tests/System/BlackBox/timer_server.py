"""A real server process: started, killed, stopped and started again on the same port and folder."""

import os
import re
import select
import signal
import subprocess
import threading
import time
from pathlib import Path

import stalls

REPOSITORY = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("TIMERSYNC_SERVER", REPOSITORY / ".build/debug/timersync")).absolute()
READY = re.compile(r"timersync listening on https?://127\.0\.0\.1:(\d+)\n")
READY_WITHIN = 60.0
STOPPED_WITHIN = 30.0


def server_argv(*arguments: str) -> list[str]:
    """The command line of the server under test."""
    return [str(BINARY), *arguments]


class Server:
    """A server process on the loopback address, with a data folder of its own."""

    def __init__(
        self, data: Path, *options: str, environment: dict[str, str] | None = None, launcher: tuple[str, ...] = (),
    ):
        self.data = data
        self.options = options
        self.environment = environment or {}
        self.launcher = launcher
        self.port = 0
        self.process: subprocess.Popen | None = None
        self.process_ids: list[int] = []
        self._log: list[str] = []
        self._log_reader: threading.Thread | None = None

    # Addresses

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/ws"

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """The server's output on stderr, all of it when it has ended."""
        return "".join(self._log)

    def logged(self, text: str) -> str:
        """The first line on stderr that holds this. What the server has written may not have been read yet."""
        end = time.monotonic() + READY_WITHIN
        while time.monotonic() < end:
            for line in list(self._log):
                if text in line:
                    return line
            time.sleep(0.01)
        raise AssertionError(f"nothing in the log says {text!r}\n{self.log}")

    # Life

    def start(self) -> "Server":
        """Starts the process and returns when it says that it listens."""
        assert self.process is None, "the server runs already"
        self.process = subprocess.Popen(
            [*self.launcher, *server_argv(
                "serve", "--listen", "127.0.0.1", "--port", str(self.port), "--data", str(self.data), *self.options)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
            # Python ignores SIGXFSZ; a server that inherits this gets EFBIG from a write, as from a full disk.
            restore_signals=False, env={**os.environ, **self.environment})
        self.process_ids.append(self.process.pid)
        stalls.watched.add(self.process.pid)
        self._log_reader = threading.Thread(target=self._read_log, args=(self.process.stderr,), daemon=True)
        self._log_reader.start()
        line = self._first_line()
        match = READY.fullmatch(line)
        if not match:
            self.kill()
            raise AssertionError(f"the first line should say where the server listens, but is {line!r}\n{self.log}")
        port = int(match.group(1))
        assert self.port in (0, port), f"asked for port {self.port}, got {port}"
        self.port = port
        return self

    def stop(self, with_signal: int = signal.SIGTERM) -> int:
        """Asks the process to stop and returns its exit code."""
        if self.process is None:
            return 0
        self.process.send_signal(with_signal)
        return self.wait_ended()

    def wait_ended(self, within: float = STOPPED_WITHIN) -> int:
        """Waits for the process to end by itself and returns its exit code."""
        try:
            code = self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the server still runs after {within} s\n{self.log}") from None
        self._forget()
        return code

    def kill(self) -> None:
        """Takes the process down at once, as a power cut would."""
        if self.process is None:
            return
        self.process.kill()
        self.process.wait(STOPPED_WITHIN)
        self._forget()

    def restart(self, down_for: float = 0.0) -> "Server":
        """Kills the process and starts it again on the same port and folder."""
        self.kill()
        time.sleep(down_for)
        return self.start()

    # Files

    def files(self) -> set[Path]:
        """Every regular file below the data folder."""
        return {path for path in self.data.rglob("*") if path.is_file()}

    # Inside

    def _forget(self) -> None:
        assert self.process is not None and self._log_reader is not None
        self._log_reader.join(STOPPED_WITHIN)
        stalls.watched.discard(self.process.pid)
        self.process.stdout.close()
        self.process = None

    def _read_log(self, stream) -> None:
        with stream:
            for line in stream:
                self._log.append(line)

    def _first_line(self) -> str:
        ready, _, _ = select.select([self.process.stdout], [], [], READY_WITHIN)
        if not ready:
            self.kill()
            raise AssertionError(f"nothing on stdout within {READY_WITHIN} s\n{self.log}")
        return self.process.stdout.readline()
