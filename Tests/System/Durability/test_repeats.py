"""A request that is sent again after a crash, by its `requestId`: done once, and answered as the first time."""

import asyncio
import errno
import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from faults import Faults, build_library
from session import Session, lasting, wait_until_tidy
from timer_server import Server


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "data", "--log-level", "info").start()
    yield server
    server.kill()


CHANGES = [
    ("start", {"duration": 600, "force": True}), ("pause", {}), ("resume", {}), ("addRemainingTime", {"seconds": 5}),
    ("update", {"title": "Tea"}), ("finish", {}), ("reset", {}), ("start", {"type": "stopwatch"}),
    ("addElapsedTime", {"seconds": 5}),
]


def prepare(session: Session, command: str) -> None:
    """Makes a timer to which the command can be applied."""
    match command:
        case "addElapsedTime":
            session.ok("start", "tea", type="stopwatch")
        case "resume":
            session.ok("start", "tea", duration=600)
            session.ok("pause", "tea")
        case "start":
            pass
        case _:
            session.ok("start", "tea", duration=600)


@pytest.mark.parametrize("is_on_disk", [False, True], ids=["in the log", "in the file"])
@pytest.mark.parametrize("command, fields", CHANGES)
def test_each_change_is_known_after_a_crash(server, command, fields, is_on_disk):
    """The second answer has the same revision, and no change is made."""
    with Session(server) as session:
        prepare(session, command)
        first = session.ok(command, "tea", requestId="wish", **fields)
    if is_on_disk:
        wait_until_tidy(server)

    server.restart()

    with Session(server) as session:
        again = session.ok(command, "tea", requestId="wish", **fields)
        assert lasting(again) == lasting(first)
        assert abs(again["elapsedTime"] - first["elapsedTime"]) < 0.01, "as of the change, as the first answer"
        assert session.ok("get", "tea")["revision"] == first["revision"]


@pytest.mark.parametrize("is_on_disk", [False, True], ids=["in the log", "in the file"])
def test_a_removal_is_known_after_a_crash(server, is_on_disk):
    """The removal is answered as done, and a timer of that name that began since stays."""
    with Session(server) as session:
        session.ok("start", "tea", duration=600)
        session.ok("remove", "tea", requestId="wish")
    if is_on_disk:
        wait_until_tidy(server)

    server.restart()

    with Session(server) as session:
        session.ok("start", "tea", duration=60)
        assert session.ask("remove", "tea", requestId="wish")["ok"]
        assert session.list()["tea"]["duration"] == 60


def test_all_finished_are_known_after_a_crash(server):
    """`finishAll` again lists the same timers, and leaves alone what was started since."""
    with Session(server) as session:
        for name in ("one", "two"):
            session.ok("start", name, duration=600)
        first = session.ask("finishAll", requestId="wish")["timers"]

    server.restart()

    with Session(server) as session:
        session.ok("start", "three", duration=600)
        again = session.ask("finishAll", requestId="wish")["timers"]
        assert [lasting(state) for state in again] == [lasting(state) for state in first]
        assert session.list()["three"]["status"] == "running"


@pytest.mark.parametrize("is_on_disk", [False, True], ids=["in the log", "in the file"])
def test_another_request_under_the_name_is_refused(server, is_on_disk):
    """The key of one request is refused for another request, after a crash too."""
    others = [
        ("pause", "tea", {}), ("start", "tea", {"duration": 60}), ("start", "rice", {"duration": 600}),
        ("signal", "rice", {"signal": "flash"})]

    def refused(session: Session) -> list:
        return [session.ask(command, name, requestId="wish", **fields)["error"]["code"]
                for command, name, fields in others]

    with Session(server) as session:
        session.ok("start", "tea", duration=600, requestId="wish")
        session.ok("start", "rice", type="stopwatch")
        assert refused(session) == ["badRequest"] * 4
    if is_on_disk:
        wait_until_tidy(server)

    server.restart()

    with Session(server) as session:
        assert refused(session) == ["badRequest"] * 4
        assert session.list()["tea"]["status"] == "running"
        assert session.ok("start", "tea", duration=600, requestId="wish")["duration"] == 600


def test_a_change_of_a_timer_removed_since_is_known(server):
    """A timer is started and removed, and the server killed: the repeated start makes no timer."""
    with Session(server) as session:
        session.ok("start", "tea", duration=600, requestId="wish")
        session.ok("remove", "tea")

    server.restart()

    with Session(server) as session:
        session.ask("start", "tea", duration=600, requestId="wish")
        assert session.list() == {}, "it was done twice"


def test_forty_changes_of_one_timer_are_known(server):
    """Several requests may have been on their way: each of forty keys is known for ten minutes."""
    with Session(server) as session:
        session.ok("start", "tea", duration=600)
        for number in range(40):
            added = session.ok("addRemainingTime", "tea", seconds=1, requestId=f"wish {number}")["addedTime"]
        assert added == 40

    server.restart()

    with Session(server) as session:
        for number in range(40):
            session.ok("addRemainingTime", "tea", seconds=1, requestId=f"wish {number}")
        assert session.list()["tea"]["addedTime"] == 40


def test_many_clients_press_at_once_and_the_server_is_killed(server):
    """Sixty-four connections change one timer while the server dies, and each repeats its change: the sum is right."""
    with Session(server) as session:
        session.ok("start", "tea", duration=600)

    answered = asyncio.run(press_and_kill(server))

    server.start()
    with Session(server) as session:
        for number in range(64):
            session.ok("addRemainingTime", "tea", seconds=1, requestId=f"wish {number}")
        assert session.list()["tea"]["addedTime"] == 64, f"{answered} of 64 were answered before the kill"


async def press_and_kill(server: Server) -> int:
    """Asks for 64 changes at once, and kills the server at the first answer; returns the number of answers."""
    sockets = await asyncio.gather(*(
        connect(server.url, compression=None, proxy=None, ping_interval=None, close_timeout=0.1) for _ in range(64)))
    answered = 0

    async def press(number: int) -> None:
        nonlocal answered
        await sockets[number].send(json.dumps({
            "command": "addRemainingTime", "timer": "tea", "seconds": 1, "requestId": f"wish {number}"}))
        try:
            while "reply" not in json.loads(await sockets[number].recv()):
                pass
        except ConnectionClosed:
            return
        answered += 1
        if server.process.poll() is None:
            server.process.kill()

    await asyncio.gather(*(press(number) for number in range(64)))
    server.kill()
    for socket in sockets:
        await socket.close()
    return answered


@pytest.mark.parametrize(("call", "error", "count"), [("sync", errno.EIO, 2), ("write", errno.ENOSPC, 1)])
def test_a_change_is_known_when_a_fault_emptied_the_log(tmp_path, call, error, count):
    """A log in doubt, or without room, begins anew at once; its requests' keys are kept."""
    faults = Faults(build_library(tmp_path), tmp_path, tmp_path / "data")
    server = faults.server().start()
    with Session(server) as session:
        session.ok("start", "tea", duration=600)
        session.ok("addRemainingTime", "tea", seconds=60, requestId="wish")
        for number in range(40):
            # After this many changes the timer's own file no longer holds the first key.
            last = session.ok("update", "tea", title=f"title {number}", requestId=f"wish {number}")
        faults.arm(call, error, 1, count)
        session.ask("start", "oven", duration=600)
        assert faults.failed == count
        faults.disarm()
        session.ok("start", "egg", duration=600)
    server.kill()

    server = Server(tmp_path / "data").start()
    with Session(server) as session:
        session.ok("addRemainingTime", "tea", seconds=60, requestId="wish")
        assert session.ok("get", "tea")["revision"] == last["revision"]
    server.kill()
