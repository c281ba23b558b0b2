"""The servers that do the same work in turn: ours, the bare loop, and those peers that are installed."""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import processes
from crowd import Crowd
from programs import HERE, program


@dataclass(frozen=True)
class Sizes:
    """Bytes of our server's messages; all others send as many."""
    hello: int
    reply: int
    state: int
    tick: int


@dataclass(frozen=True)
class Work:
    """The timers that every client of a scene is shown: `timers` of them, each ticking once an interval.

    Their ticks fall on instants spread evenly over the interval, or `together` on one. Interval 0: changes alone.
    """
    timers: int = 1
    interval: float = 1
    together: bool = False

    @property
    def ticks_per_second(self) -> float:
        return (1 if self.together else self.timers) / self.interval

    @property
    def frames_per_tick(self) -> int:
        return self.timers if self.together else 1


class Contestant:
    """A server that runs, with its crowd. A subclass overrides what differs from the bare loop."""

    name = ""
    ready_when_open, ready_when_shown = 1, 3  # messages: the hello; then a reply and a snapshot
    question = '{"id":1,"command":"get","timer":"b0"}'
    changes = ('{"command":"change"}', '{"command":"change"}')
    answers_requests = True
    takes_orders = True

    def __init__(self, setting, work: Work = Work(), sizes: Sizes | None = None):
        self.setting = setting
        self.work = work
        self.sizes = sizes or setting.sizes
        self.folder = setting.new_folder(self.name)
        self.server = None
        self.crowd = None

    def __enter__(self):
        self.port = self.start()
        self.crowd = Crowd(self.port, self.setting.client_core, self.server_processes())
        return self

    def __exit__(self, *_):
        if self.crowd:
            self.crowd.end()
        if self.server:
            processes.end(self.server)
        shutil.rmtree(self.folder, ignore_errors=True)

    def server_processes(self) -> list[int]:
        return processes.with_children(self.server.pid)

    # Each contestant has its own:

    def words(self) -> list:
        raise NotImplementedError

    def environment(self) -> dict:
        return {}

    def start(self) -> int:
        """Starts the server, and returns its port."""
        self.server = processes.start(
            self.words(), self.setting.server_core, env=os.environ | self.environment(),
            stderr=None if self.setting.is_loud else subprocess.DEVNULL)
        line = self.server.stdout.readline()
        match = re.search(r"(\d+)\s*$", line) or sys.exit(f"{self.name} did not start: {line!r}")
        return int(match.group(1))

    @property
    def greeting(self) -> str:
        return '{"command":"subscribe"}'

    def order(self, words: str) -> None:
        self.server.stdin.write(words + "\n")
        self.server.stdin.flush()

    def go(self) -> None:
        """Lets the ticks begin."""
        if self.work.interval:
            self.order(f"go {self.work.ticks_per_second} {self.work.frames_per_tick}")

    def stop(self) -> None:
        self.order("stop")

    # All contestants share:

    def open(self, count: int, **options) -> dict:
        return self.crowd.open(count, self.ready_when_open, **options)

    def open_shown(self, count: int, **options) -> dict:
        """Opens clients that are shown the work."""
        return self.crowd.open(count, self.ready_when_shown, self.greeting, **options)

    def prepare_driving(self) -> None:
        """Makes the crowd ready to cause changes, before other clients are opened."""
        self.open(1)

    def watch(self, seconds: float, quiet: float, gap: float = 0) -> dict:
        return self.crowd.watch(seconds, quiet, gap)

    def drive(self, seconds: float) -> dict:
        return self.crowd.drive(seconds, 2, self.changes)


class Bare(Contestant):
    name = "bare"

    def words(self) -> list:
        return [program("bare"), self.sizes.hello, self.sizes.reply, self.sizes.tick]


class NodeWS(Contestant):
    name = "node-ws"

    def words(self) -> list:
        return ["node", HERE / "peer_node_ws.js", self.sizes.hello, self.sizes.reply, self.sizes.tick]

    def environment(self) -> dict:
        return {"NODE_PATH": "/usr/share/nodejs"}

    @classmethod
    def version(cls) -> str | None:
        if not shutil.which("node"):
            return None
        found = subprocess.run(
            ["node", "-p", "require('ws/package.json').version + ', node ' + process.version"], capture_output=True,
            text=True, env=os.environ | {"NODE_PATH": "/usr/share/nodejs"})
        return found.stdout.strip() or None


class Websockets(Contestant):
    name = "websockets"

    def words(self) -> list:
        return [
            sys.executable, HERE / "peer_websockets.py", self.sizes.hello, self.sizes.reply, self.sizes.tick]

    @classmethod
    def version(cls) -> str | None:
        found = subprocess.run(
            [sys.executable, "-c", "import websockets.version as v, platform as p; print(v.version + ', Python ' + "
             "p.python_version())"], capture_output=True, text=True)
        return found.stdout.strip() or None


class Nchan(Contestant):
    """nchan, which sends what is posted to it; the crowd posts, with two requests under way."""
    name = "nchan"
    ready_when_open = ready_when_shown = 0
    greeting = ""
    answers_requests = False
    module = Path("/usr/lib/nginx/modules/ngx_nchan_module.so")

    def start(self) -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        text = "".join(
            line for line in (HERE / "peer_nchan.conf").read_text().splitlines(keepends=True)
            if not line.startswith("#"))
        files = self.setting.files_max
        for word, value in {
                "FOLDER": self.folder, "PORT": port, "MODULE": self.module, "NOFILE": files,
                "CONNECTIONS": files - 64}.items():
            text = re.sub(rf"\b{word}\b", str(value), text)
        if os.getuid() == 0:
            text = "user root;\n" + text
        (self.folder / "nginx.conf").write_text(text)
        self.server = processes.start(
            ["nginx", "-p", self.folder, "-c", self.folder / "nginx.conf"], self.setting.server_core,
            stderr=None if self.setting.is_loud else subprocess.DEVNULL)
        for _ in range(100):
            time.sleep(0.05)
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return port
        sys.exit("nginx with nchan did not start")

    def __enter__(self):
        super().__enter__()
        self.crowd.publish("/publish", self.sizes.tick)
        return self

    def prepare_driving(self) -> None:
        pass

    def go(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def watch(self, seconds: float, quiet: float, gap: float = 0) -> dict:
        return self.crowd.watch(seconds, quiet, gap, self.work.ticks_per_second)

    @classmethod
    def version(cls) -> str | None:
        if not shutil.which("nginx") or not cls.module.exists():
            return None
        found = subprocess.run(["nginx", "-v"], capture_output=True, text=True)
        return found.stderr.strip().removeprefix("nginx version: ")


class TimerSync(Contestant):
    """This project's server. Its timers are started anew when ticks are wanted, and finished when they are not."""
    name = "timersync"
    changes = tuple(f'{{"command":"addRemainingTime","timer":"b{number}","seconds":1}}' for number in (0, 1))

    def __init__(self, setting, work: Work = Work(), options=("--connections", "60000", "--requests", "1000000"),
                 sizes=None):
        super().__init__(setting, work, sizes)
        self.options = options
        self.http = None
        self.http_used = 0

    def words(self, port: int = 0) -> list:
        return [
            self.setting.server, "serve", "--listen", "127.0.0.1", "--port", port, "--data", self.folder,
            "--log-level", "warning", *self.options]

    def restart(self) -> float:
        """Stops the server as a service manager does and starts it on the same port; returns the time of the stop."""
        begun = time.monotonic()
        self.http = None
        processes.end(self.server)
        took = time.monotonic() - begun
        self.server = processes.start(self.words(self.port), self.setting.server_core)
        self.server.stdout.readline() or sys.exit("timersync did not start again")
        self.crowd.server_is(self.server_processes())
        return took

    @property
    def greeting(self) -> str:
        return json.dumps({
            "command": "subscribe", "timers": [f"b{number}" for number in range(self.work.timers)],
            "interval": self.work.interval}, separators=(",", ":"))

    def post(self, path: str, **fields) -> dict:
        # A silent connection is closed by the server after a while.
        if not self.http or time.monotonic() - self.http_used > 1:
            self.http = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        self.http_used = time.monotonic()
        self.http.request("POST", path, json.dumps(fields), {"Content-Type": "application/json"})
        answer = json.load(self.http.getresponse())
        if not answer["ok"]:
            raise RuntimeError(f"{path}: {answer}")
        return answer

    def start_timer(self, number: int, **fields) -> dict:
        return self.post(f"/api/timers/b{number}/start", duration=86_400, force=True, **fields)["timer"]

    def go(self) -> None:
        """Starts each timer at an instant in the past (`at`), so that ticks fall where they are wanted."""
        begun = self.start_timer(0)["startDate"]
        spacing = 0 if self.work.together else self.work.interval / self.work.timers
        time.sleep(spacing * self.work.timers)
        for number in range(1, self.work.timers):
            self.start_timer(number, at=round(begun + number * spacing, 6))

    def stop(self) -> None:
        self.post("/api/timers/*/finishAll")


PEERS = [NodeWS, Nchan, Websockets]
