"""A test's connection, which waits for one message after another and keeps what is pushed meanwhile."""

import itertools
import json
import time
import urllib.request
from contextlib import ExitStack

from websockets.sync.client import connect

# A bound for what comes at once on an idle machine, and late on one that stands still now and then.
WITHIN = 30.0


class Session:
    """A WebSocket to the server: sends requests, and receives replies and events."""

    def __init__(self, server, query: str = ""):
        self.stack = ExitStack()
        self.socket = self.stack.enter_context(connect(
            server.url + query, compression=None, proxy=None, ping_interval=None, max_size=None, open_timeout=WITHIN,
            close_timeout=1))
        self.pushes: list[dict] = []
        self.ids = itertools.count(1)
        self.hello = json.loads(self.socket.recv(WITHIN))

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.stack.close()

    def send(self, command: str, timer: str | None = None, **fields) -> int:
        number = next(self.ids)
        message = {"id": number, "command": command, **fields}
        if timer is not None:
            message["timer"] = timer
        self.socket.send(json.dumps(message))
        return number

    def ask(self, command: str, timer: str | None = None, *, within: float = WITHIN, **fields) -> dict:
        """Sends a request and returns its reply."""
        number = self.send(command, timer, **fields)
        return self.reply(number, within)

    def reply(self, number: int, within: float = WITHIN) -> dict:
        end = time.monotonic() + within
        while True:
            message = json.loads(self.socket.recv(max(0.001, end - time.monotonic())))
            if "reply" in message:
                assert message["reply"] == number, f"{message} is no reply to {number}"
                return message
            self.pushes.append(message)

    def ok(self, command: str, timer: str | None = None, **fields):
        """Sends a request that must succeed; the state in its reply, if there is one."""
        reply = self.ask(command, timer, **fields)
        assert reply["ok"], f"{command} {timer} {fields}: {reply}"
        return reply.get("timer")

    def list(self) -> dict[str, dict]:
        """Every timer's state, by name."""
        reply = self.ask("list")
        assert reply["ok"], reply
        return {state["timer"]: state for state in reply["timers"]}

    def hear(self, fits, within: float = WITHIN) -> dict:
        """The first push that fits, of those kept or of those to come; it and those before it are gone then."""
        end = time.monotonic() + within
        while True:
            while self.pushes:
                message = self.pushes.pop(0)
                if fits(message):
                    return message
            try:
                self.pushes.append(json.loads(self.socket.recv(max(0.001, end - time.monotonic()))))
            except TimeoutError:
                raise AssertionError(f"nothing that fits was pushed within {within} s") from None

    def hears_nothing(self, fits, during: float) -> None:
        end = time.monotonic() + during
        while (rest := end - time.monotonic()) > 0:
            try:
                self.pushes.append(json.loads(self.socket.recv(rest)))
            except TimeoutError:
                break
        found = [message for message in self.pushes if fits(message)]
        assert not found, found


def health(server) -> dict:
    with urllib.request.urlopen(f"{server.http}/healthz", timeout=WITHIN) as answer:
        return json.load(answer)


def lasting(state: dict) -> tuple:
    """The fields of a state that stay as they are when nobody touches the timer."""
    fields = ["timer", "revision", "status", "type", "duration", "addedTime", "atZero", "title", "warnings"]
    still = state["elapsedTime"] if state["status"] != "running" else None
    return (*(json.dumps(state.get(name)) for name in fields), still, len(state["pausePeriods"]))


def wait_until_tidy(server, within: float = WITHIN) -> None:
    """Returns when the server has been idle for so long that its files are up to date and its log is empty."""
    end = time.monotonic() + within
    while (server.data / ".timersync/log").stat().st_size:
        assert time.monotonic() < end, f"the log is not emptied within {within} s\n{server.log}"
        time.sleep(0.02)


def assert_alive(server) -> None:
    assert server.process is not None and server.process.poll() is None, (
        f"the server has died with {server.process and server.process.returncode}\n{server.log}")
