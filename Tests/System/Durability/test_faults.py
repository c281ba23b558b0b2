"""A disk that refuses: no crash, no false answer, no damaged neighbour, and all is well again when the fault is over.

Each of the first thirty calls of a kind fails once with each error, and then all of them for a while. After that the
process is killed, and a server without faults has to find what was answered, and nothing that was refused.
"""

import contextlib
import errno
import itertools
import json
import os
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from faults import FOREVER, Faults
from session import WITHIN, Session, assert_alive, health, lasting, wait_until_tidy
from timer_server import Server, server_argv

CALLS = 30
ERRORS = ["EIO", "ENOSPC", "EACCES"]
WHILE_RUNNING = ["write", "sync", "rename", "open", "truncate", "unlink"]
AT_START = ["mkdir", "open", "write", "truncate", "unlink", "rename", "sync"]
# A second after the fault, and the time that a busy machine takes.
BACK_WITHIN = 20.0


@pytest.fixture
def with_each_error(library, tmp_path):
    """Runs a scene once with each error, at the same time; most of it is waiting."""
    def scene_with(error: str, scene) -> None:
        folder = tmp_path / error
        folder.mkdir()
        try:
            scene(Faults(library, folder, folder / "data"), getattr(errno, error))
        except Exception as fault:
            raise AssertionError(f"with {error}: {fault}") from fault

    def run(scene) -> None:
        with ThreadPoolExecutor() as threads:
            for done in [threads.submit(scene_with, error, scene) for error in ERRORS]:
                done.result()

    return run


class Book:
    """The answers: the states that must be there at the end."""

    def __init__(self, session: Session):
        self.session = session
        self.durable = session.list()
        self.refused = 0
        self.changes = self.wishes()

    def wishes(self):
        """Makes endless changes of all kinds, on a few timers."""
        for number in itertools.count():
            name = f"timer {number % 5}"
            yield "start", name, {"duration": 600 + number, "force": True, "title": f"title {number}"}
            yield "pause", name, {}
            yield "addRemainingTime", name, {"seconds": 1 + number}
            yield "resume", name, {}
            yield "update", name, {"title": f"other {number}"}
            if number % 3 == 2:
                yield "finish", name, {}
                yield "remove", name, {}

    def change(self) -> bool:
        """Asks for the next change that the timer's state allows, and returns whether it was made."""
        command, name, fields = next(self.changes)
        while not self.is_allowed(command, name):
            command, name, fields = next(self.changes)
        return self.do(command, name, **fields)

    def do(self, command: str, name: str, **fields) -> bool:
        """Asks for a change that the timer's state allows, and returns whether it was made."""
        reply = self.session.ask(command, name, **fields)
        if not reply["ok"]:
            error = reply["error"]
            assert (error["code"], error["retryable"]) == ("storageFailed", True), reply
            if before := self.durable.get(name):
                assert lasting(reply["timer"]) == lasting(before), "a refusal shows what stands"
            self.refused += 1
            return False
        if command == "remove":
            self.durable.pop(name)
        else:
            self.durable[name] = reply["timer"]
        return True

    def is_allowed(self, command: str, name: str) -> bool:
        status = self.durable[name]["status"] if name in self.durable else None
        match command:
            case "start":
                return True
            case "pause":
                return status == "running"
            case "resume":
                return status == "paused"
            case "addRemainingTime" | "finish":
                return status in ("running", "paused")
        return status is not None

    def change_soon(self, within: float = BACK_WITHIN) -> None:
        """Checks that a change succeeds again soon after the end of a fault."""
        end = time.monotonic() + within
        while not self.change():
            assert time.monotonic() < end, f"no change is stored {within} s after the fault was over"
            time.sleep(0.05)

    def check(self, found: dict[str, dict]) -> None:
        assert {name: lasting(state) for name, state in found.items()} == {
            name: lasting(state) for name, state in self.durable.items()}


def assert_files_are_whole(data: Path) -> None:
    """Checks that no timer's file is cut off or mixed with another."""
    for path in data.glob("*.json"):
        assert json.loads(path.read_text())["version"] == 1, path


def assert_left(data: Path, book: Book) -> None:
    """Checks that a server without faults finds all answered changes, and no others."""
    after = Server(data).start()
    try:
        with Session(after) as session:
            book.check(session.list())
            assert session.ask("start", "afterwards", duration=60)["ok"]
        assert health(after)["faults"] == []
    finally:
        after.kill()


# While it runs

@pytest.mark.parametrize("function", ["write", "sync"])
def test_each_call_that_a_change_waits_for_may_fail(with_each_error, function):
    """The first thirty calls of a kind fail in turn: each costs at most the changes that it was for."""
    with_each_error(lambda faults, error: scene_of_changes(faults, function, error))


@contextlib.contextmanager
def book_of_a_server(faults: Faults, changes: int = 0):
    """A server, a client, and a book of the answers, which begins with `changes` changes; killed in the end."""
    server = faults.server().start()
    try:
        with Session(server) as session:
            book = Book(session)
            for _ in range(changes):
                assert book.change()
            yield server, session, book
    finally:
        server.kill()


def scene_of_changes(faults: Faults, function: str, error: int) -> None:
    with book_of_a_server(faults) as (server, session, book):
        for call in range(1, CALLS + 1):
            faults.arm(function, error, call)
            for _ in range(2 * CALLS):
                book.change()
                if faults.failed:
                    break
            assert faults.failed == 1, f"{function} was called {faults.calls} times only"
            faults.disarm()
            assert_alive(server)
            book.change_soon()
            book.check(session.list())
    assert_files_are_whole(faults.data)
    assert_left(faults.data, book)


@pytest.mark.parametrize("function", ["open", "write", "rename", "unlink"])
def test_each_call_that_files_wait_for_may_fail(with_each_error, function):
    """Thirty files are written or removed, each call fails once: none is lost or mixed, and all follow in the end."""
    with_each_error(lambda faults, error: scene_of_files(faults, function, error))


def scene_of_files(faults: Faults, function: str, error: int) -> None:
    # Each third call fails, from the first, the second and the third on, so that each of them does once.
    every = 3
    with book_of_a_server(faults) as (server, session, book):
        names = [f"file {number}" for number in range(CALLS)]
        for phase in range(1, every + 1):
            if function == "unlink":
                for name in names:
                    book.durable[name] = session.ok("start", name, duration=600, force=True)
                wait_until_tidy(server)
            faults.arm(function, error, phase, FOREVER, every)
            for name in names:
                if function == "unlink":
                    book.do("remove", name)
                else:
                    book.do("start", name, duration=600, force=True, title=f"title {phase}")
            until_called(faults, CALLS)
            assert_alive(server)
            book.check(session.list())
            faults.disarm()
            assert_files_follow(server, book)
    assert_files_are_whole(faults.data)
    assert_left(faults.data, book)


def until_called(faults: Faults, calls: int, within: float = WITHIN) -> None:
    end = time.monotonic() + within
    while faults.calls < calls:
        assert time.monotonic() < end, f"{faults.calls} of {calls} calls were made"
        time.sleep(0.02)


@pytest.mark.parametrize("function", WHILE_RUNNING)
def test_all_calls_may_fail_for_a_while(with_each_error, function):
    """Every call of a kind fails, over the idle time in which the log is emptied; then all is well at once."""
    with_each_error(lambda faults, error: scene_of_a_while(faults, function, error))


def scene_of_a_while(faults: Faults, function: str, error: int) -> None:
    with book_of_a_server(faults, changes=10) as (server, session, book):
        faults.arm(function, error, 1, FOREVER)
        for _ in range(10):
            book.change()
        # No file need be removed meanwhile.
        end = time.monotonic() + (4 if function == "unlink" else WITHIN)
        while not faults.failed and time.monotonic() < end:
            time.sleep(0.05)
        book.change()
        book.check(session.list())
        assert faults.failed or function == "unlink", f"no call of {function} was made"
        faults.disarm()
        assert_alive(server)
        book.change_soon()
        for _ in range(10):
            assert book.change(), server.log
        book.check(session.list())
        assert_files_follow(server, book)
    assert_left(faults.data, book)


def assert_files_follow(server: Server, book: Book) -> None:
    """Checks that soon each timer's own file has the answered state, and the log is empty."""
    end = time.monotonic() + WITHIN
    while time.monotonic() < end:
        on_disk = {}
        for path in server.data.glob("*.json"):
            # A file that is removed between the listing and the reading is one of the changes that this loop waits for.
            with contextlib.suppress(FileNotFoundError):
                record = json.loads(path.read_text())
                on_disk[record["timer"]] = record["revision"]
        wanted = {name: state["revision"] for name, state in book.durable.items()}
        if on_disk == wanted and (server.data / ".timersync/log").stat().st_size == 0:
            return
        time.sleep(0.1)
    raise AssertionError(f"the files say {on_disk}, not {wanted}\n{server.log[-2000:]}")


@pytest.mark.parametrize("function", WHILE_RUNNING)
def test_killed_while_calls_fail(with_each_error, function):
    """The process is killed while calls fail: the next one does not have the refused changes."""
    with_each_error(lambda faults, error: scene_of_a_kill(faults, function, error))


def scene_of_a_kill(faults: Faults, function: str, error: int) -> None:
    with book_of_a_server(faults, changes=10) as (server, session, book):
        faults.arm(function, error, 3, FOREVER)
        for _ in range(12):
            book.change()
        assert_alive(server)
    assert_files_are_whole(faults.data)
    assert_left(faults.data, book)


def test_a_sync_and_the_cut_after_it_fail(faults):
    """A refused change is not there after a kill, even when it could not be cut off the log."""
    server = faults.server().start()
    try:
        with Session(server) as session:
            book = Book(session)
            for _ in range(3):
                assert book.change()
            # The first sync is that of the change, the second that of cutting it off again.
            faults.arm("sync", errno.EIO, 1, 2)
            assert not book.change()
            assert faults.failed == 2
            server.kill()
    finally:
        server.kill()
    assert_left(faults.data, book)


def test_a_crossing_waits_for_the_disk(faults):
    """A countdown that ends while nothing can be stored ends once, as soon as the disk works."""
    server = faults.server().start()
    try:
        with Session(server, "?timer=tea&interval=0") as session:
            started = session.ok("start", "tea", duration=0.3, atZero="finish")
            faults.arm("write", errno.ENOSPC, 1, FOREVER)
            session.hears_nothing(lambda push: push.get("cause") == "ended", during=0.8)
            faults.disarm()
            ended = session.hear(lambda push: push.get("cause") == "ended", within=BACK_WITHIN)
            assert abs(ended["endedAt"] - started["startDate"] - 0.3) < 1e-5
            session.hears_nothing(lambda push: push.get("cause") == "ended", during=1.3)
    finally:
        server.kill()


def test_a_change_that_failed_may_be_sent_again(faults):
    """The same `requestId` after `storageFailed` is made once, and known after a kill."""
    server = faults.server().start()
    try:
        with Session(server) as session:
            session.ok("start", "tea", duration=600)
            wish = {"seconds": 5, "requestId": "a wish"}
            faults.arm("write", errno.EIO, 1, FOREVER)
            for _ in range(2):
                assert session.ask("addRemainingTime", "tea", **wish)["error"]["code"] == "storageFailed"
            faults.disarm()
            assert session.ok("addRemainingTime", "tea", **wish)["addedTime"] == 5
            assert session.ok("addRemainingTime", "tea", **wish)["addedTime"] == 5
        server.kill()
        faults.disarm()
        server.start()
        with Session(server) as session:
            assert session.ok("addRemainingTime", "tea", **wish)["addedTime"] == 5
    finally:
        server.kill()


# At the start

@pytest.fixture(scope="module")
def crashed(tmp_path_factory):
    return folder_of_a_crash(tmp_path_factory.mktemp("crashed") / "data")


@pytest.mark.parametrize("function", AT_START)
def test_a_fault_at_the_start(with_each_error, crashed, function):
    """Each call of a start fails in turn: either one line and a code other than zero, or a server that works."""
    with_each_error(lambda faults, error: scene_of_starts(faults, crashed, function, error))


def scene_of_starts(faults: Faults, crashed: tuple, function: str, error: int) -> None:
    template, book, given = crashed
    data = faults.data
    for call in range(1, CALLS + 1):
        shutil.copytree(template, data)
        faults.arm(function, error, call)
        server = faults.server()
        if says_why_it_does_not_start(server, data):
            assert faults.failed
        else:
            assert_works(server, given)
        fired = faults.failed
        faults.disarm()
        assert_nothing_is_lost(data, book, given)
        shutil.rmtree(data)
        if not fired:
            assert call > 1 or function == "mkdir", f"a start makes no call of {function}"
            return


def folder_of_a_crash(data: Path) -> tuple[Path, Book, int]:
    """A folder with a few timers, one of them in the log only; their states, and the highest revision ever given."""
    server = Server(data).start()
    try:
        with Session(server) as session:
            book = Book(session)
            for name in ("one", "two", "three"):
                book.durable[name] = session.ok("start", name, duration=86_400)
            wait_until_tidy(server)
        server.kill()
        server.start()
        with Session(server) as session:
            is_whole = False
            # The log is emptied when nothing comes for a while, as when we stand still.
            while not is_whole:
                session.ok("start", "two", duration=86_400, force=True)
                wait_until_tidy(server)
                before, sizes = (data / "two.json").read_bytes(), [0]
                for command, name in (("pause", "two"), ("start", "gone"), ("remove", "gone")):
                    state = session.ok(command, name)
                    sizes.append((data / ".timersync/log").stat().st_size)
                    if command == "pause":
                        book.durable["two"] = state
                    elif command == "start":
                        given = state["revision"] + 1
                log = (data / ".timersync/log").read_bytes()
                is_whole = sizes == sorted(set(sizes)) and len(log) == sizes[-1]
    finally:
        server.kill()
    # As if the kill had come before the file followed.
    (data / "two.json").write_bytes(before)
    (data / ".timersync/log").write_bytes(log)
    return data, book, given


def says_why_it_does_not_start(server: Server, data: Path) -> bool:
    """Whether the server refuses to start, with one line that names the folder, and the right exit code."""
    process = subprocess.Popen(
        server_argv("serve", "--listen", "127.0.0.1", "--port", "0", "--data", str(data), "--log-level", "info"),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **server.environment})
    line = process.stdout.readline()
    if line:
        # The same process goes on as the server under test.
        server.process, server.port = process, int(line.rsplit(":", 1)[1])
        return False
    _, said = process.communicate(timeout=WITHIN)
    assert process.returncode > 0, f"it ended with {process.returncode}: {said}"
    lines = said.splitlines()
    assert len(lines) == 1 and str(data) in lines[0], said
    return True


def insist(session: Session, command: str, timer: str, **fields) -> dict | None:
    """Repeats a request until its change is stored."""
    end = time.monotonic() + BACK_WITHIN
    while not (reply := session.ask(command, timer, **fields))["ok"]:
        assert reply["error"]["code"] == "storageFailed", reply
        assert time.monotonic() < end, "no change is stored"
    return reply.get("timer")


def assert_works(server: Server, given: int) -> None:
    try:
        with Session(server) as session:
            state = insist(session, "start", "new", duration=60, force=True)
            assert state["revision"] > given, "a revision was given a second time"
            insist(session, "remove", "new")
        assert server.process.poll() is None
    finally:
        server.process.kill()
        server.process.communicate()
        server.process = None


def assert_nothing_is_lost(data: Path, book: Book, given: int) -> None:
    """After a start without faults each timer is as it was, or its whole file is in quarantine and reported."""
    after = Server(data, "--log-level", "info").start()
    try:
        with Session(after) as session:
            found = session.list()
            aside = {path.name for path in (data / "quarantine").glob("*")}
            for name, state in book.durable.items():
                if f"{name}.json" in aside:
                    assert json.loads((data / f"quarantine/{name}.json").read_text())["timer"] == name
                else:
                    assert lasting(found[name]) == lasting(state)
            assert session.ok("start", "new", duration=60, force=True)["revision"] > given
    finally:
        after.kill()


def test_one_file_that_can_not_be_read_costs_that_timer_alone(library, tmp_path, crashed):
    """A file that can't be read at the start is left in place and reported; the others load."""
    template, book, _ = crashed
    lost: set[str] = set()
    for call in range(1, 20):
        data = tmp_path / f"data {call}"
        shutil.copytree(template, data)
        faults = Faults(library, tmp_path, data)
        faults.arm("open", errno.EIO, call)
        server = faults.server()
        if says_why_it_does_not_start(server, data):
            continue
        faults.disarm()
        try:
            told = {fault["file"] for fault in health(server)["faults"]}
            with Session(server) as session:
                missing = set(book.durable) - set(session.list())
            assert {f"{name}.json" for name in missing} <= told, "a timer is missing, and nobody was told"
            assert len(missing) <= 1
            lost |= missing
        finally:
            server.process.kill()
            server.process.communicate()
            server.process = None
    assert lost <= {"one", "two", "three"}


# Real disks

@contextlib.contextmanager
def mounted(path: Path, *options: str):
    path.mkdir(exist_ok=True)
    made = subprocess.run(["mount", *options, str(path)], capture_output=True, text=True)
    assert made.returncode == 0, (
        f"this test has to mount a file system ({' '.join(options)}), and may not here: {made.stderr.strip()}; run it "
        "as root, in a container with CAP_SYS_ADMIN")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def test_a_full_disk(tmp_path):
    """On a full disk of one MiB, changes are refused or made, none is lost, and all is well once there is room."""
    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=1m", "tmpfs") as disk:
        data, ballast = disk / "data", disk / "ballast"
        server = Server(data, "--log-level", "info").start()
        try:
            with Session(server) as session:
                book = Book(session)
                for _ in range(20):
                    assert book.change()
                fill(ballast)
                deadline = time.monotonic() + WITHIN
                while book.refused < 20 and time.monotonic() < deadline:
                    book.change()
                assert book.refused >= 20, "the disk is full, and changes are still stored"
                book.check(session.list())
                time.sleep(1.2)
                assert_alive(server)
                ballast.unlink()
                book.change_soon()
                for _ in range(20):
                    assert book.change()
                assert_files_follow(server, book)
                fill(ballast)
                for _ in range(50):
                    book.change()
            server.kill()
            assert_files_are_whole(data)
            refuses = subprocess.run(
                ["timeout", "1", *server_argv("serve", "--port", "0", "--listen", "127.0.0.1", "--data", str(data))],
                capture_output=True, text=True)
            assert refuses.returncode == 124 or len(refuses.stderr.splitlines()) == 1, refuses
            ballast.unlink()
            assert_left(data, book)
        finally:
            server.kill()


def fill(ballast: Path) -> None:
    """Fills all room on the disk."""
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_a_read_only_disk_at_the_start(tmp_path):
    """The server logs one line that says so, and ends with a code other than zero; nothing is touched."""
    _, book, _ = folder_of_a_crash(tmp_path / "data")
    before = {path: path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()}
    with mounted(tmp_path / "bound", "--bind", str(tmp_path / "data")) as bound:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(bound)], check=True)
        assert says_why_it_does_not_start(Server(bound), bound)
    assert before == {path: path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()}
    assert_left(tmp_path / "data", book)


def test_a_folder_that_takes_no_files_any_more(tmp_path):
    """The folder is made immutable while the server runs: no change is lost, and the files follow afterwards."""
    data = tmp_path / "data"
    server = Server(data, "--log-level", "info").start()
    try:
        with Session(server) as session:
            book = Book(session)
            for _ in range(10):
                assert book.change()
            made = subprocess.run(["chattr", "+i", str(data)], capture_output=True, text=True)
            assert made.returncode == 0, f"this test needs `chattr` on {data}, as root: {made.stderr.strip()}"
            try:
                for _ in range(20):
                    book.change()
                time.sleep(1.2)
                assert_alive(server)
                book.check(session.list())
            finally:
                subprocess.run(["chattr", "-i", str(data)], check=True)
            book.change_soon()
            assert_files_follow(server, book)
    finally:
        server.kill()
    assert_left(data, book)
