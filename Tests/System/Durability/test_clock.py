"""The server clock over restarts, as far as it can be shown from outside.

In the same boot the boot-time clock counts, whatever the wall clock was set to meanwhile: that is shown with a wall
clock of our own (Debian's `faketime`). Other boots and a sleeping machine need injected clocks and are for unit tests;
what can be done here is to hand the server files that say they are from another boot.
"""

import json
import re
import time

import pytest

from session import Session
from test_startup import put, record
from timer_server import Server
from wall_clock import WallClock

HOUR = 3600


@pytest.fixture
def wall_clock(tmp_path):
    return WallClock(tmp_path)


@pytest.mark.parametrize("seconds", [HOUR, -HOUR, 400 * 24 * HOUR])
def test_a_step_before_a_restart_moves_nothing(tmp_path, wall_clock, seconds):
    """A server is started after a kill and a set wall clock: running timers count real time, others stand still."""
    server = wall_clock.server(tmp_path / "data").start()
    try:
        with Session(server) as session:
            session.ok("start", "runs", duration=600)
            session.ok("start", "ends", duration=0.5)
            session.ok("start", "stands", duration=600)
            before = session.ok("pause", "stands")
            asked = time.monotonic()
            seen = session.ok("get", "runs")["elapsedTime"]
            answered = time.monotonic()
        server.kill()

        wall_clock.move(seconds)
        server.start()

        with Session(server, "?timer=*&interval=0") as session:
            asked_again = time.monotonic()
            after = session.list()
            answered_again = time.monotonic()
            passed = after["runs"]["elapsedTime"] - seen
            assert asked_again - answered - 0.05 < passed < answered_again - asked + 0.05
            assert after["stands"]["elapsedTime"] == before["elapsedTime"]
            ended = session.hear(lambda push: push.get("cause") == "ended")
            assert (ended["timers"][0]["timer"], ended["timers"][0]["time"]) == ("ends", 0)
            assert abs(session.hello["now"] - time.time() - seconds) < 60, "the server clock is the wall clock of now"
    finally:
        server.kill()
        wall_clock.clean_up(server)


@pytest.mark.parametrize("away, counted", [(100, 100), (-100, 0)], ids=["later", "earlier"])
def test_another_boot_goes_by_the_wall_clock(tmp_path, away, counted):
    """A file from another boot: the wall clock counts, and where it went back, elapsed time does not shrink."""
    begun = time.monotonic()
    written = time.time() - away
    put(tmp_path / "data", "tea.json", record(
        "tea", duration=6000, revision=3, changedAt=written - 20,
        clock={"serverTime": written, "bootTime": 1_000_000.5, "bootID": "another boot"},
        run={"duration": 6000, "startDate": written - 20, "pausePeriods": []}))
    server = Server(tmp_path / "data").start()
    try:
        with Session(server) as session:
            elapsed = session.list()["tea"]["elapsedTime"]
            assert 20 + counted <= elapsed + 0.01 < 20 + counted + time.monotonic() - begun + 0.1
    finally:
        server.kill()


def test_this_boot_goes_by_the_boot_time_clock(tmp_path):
    """A file of this boot whose wall time is far off: only the boot-time clock counts."""
    boot_id = open("/proc/sys/kernel/random/boot_id").read().strip()
    begun, now, boot = time.monotonic(), time.time(), time.clock_gettime(time.CLOCK_BOOTTIME)
    put(tmp_path / "data", "tea.json", record(
        "tea", duration=6000, revision=3,
        clock={"serverTime": now - 5000, "bootTime": boot - 7, "bootID": boot_id},
        run={"duration": 6000, "startDate": now - 5020, "pausePeriods": []}))
    server = Server(tmp_path / "data").start()
    try:
        with Session(server) as session:
            state = session.list()["tea"]
            assert 27 <= state["elapsedTime"] + 0.01 < 27 + time.monotonic() - begun + 0.1
            # The instants moved with it, so that they still say what has elapsed.
            assert abs(state["lastElapsedTimeCalculatedAt"] - state["startDate"] - state["elapsedTime"]) < 1e-5
    finally:
        server.kill()
    assert json.loads((tmp_path / "data/tea.json").read_text())["timer"] == "tea"


def start_the_machine_anew(data) -> None:
    """Makes the files of a server that is down those of an earlier start of the machine."""
    changed = 0
    for path in [*data.glob("*.json"), data / ".server", data / ".requests"]:
        if path.exists():
            text, count = re.subn(r'("bootID"\s*:\s*)"[^"]*"', r'\1"the boot before"', path.read_text())
            path.write_text(text)
            changed += count
    assert changed, "no file names the start of the machine"
    # After a few changes the timers' files are up to date, and the log holds nothing that they don't.
    (data / ".timersync/log").write_bytes(b"")


def clock_is_set(session) -> None:
    """Waits until the server has seen that its wall clock was set."""
    session.hear(lambda push: push.get("event") == "server")


@pytest.mark.parametrize("ends", ["kill", "stop"])
@pytest.mark.parametrize("wrong", [-9 * HOUR, 9 * HOUR], ids=["slow", "fast"])
def test_a_clock_that_was_set_after_the_start(tmp_path, wall_clock, wrong, ends):
    """The server starts before the clock is set, and the machine starts ten minutes later: ten minutes have passed."""
    wall_clock.move(wrong)
    server = wall_clock.server(tmp_path / "data").start()
    try:
        with Session(server) as session:
            begun = time.monotonic()
            session.ok("start", "before", duration=3600, requestId="before")
            stands = session.ok("start", "stands", duration=3600) and session.ok("pause", "stands")
            wall_clock.move(0)
            clock_is_set(session)
            session.ok("start", "after", duration=3600, requestId="after")
        if ends == "kill":
            server.kill()
        else:
            assert server.stop() == 0
        start_the_machine_anew(tmp_path / "data")
        wall_clock.move(600)

        server.start()

        with Session(server) as session:
            found = session.list()
            took = time.monotonic() - begun
            for name in ("before", "after"):
                assert 3000 - took - 0.1 < found[name]["time"] < 3000 + 0.1, f"{name} has 50 minutes left"
            assert found["stands"]["elapsedTime"] == stands["elapsedTime"]
            again = session.ask("start", "before", duration=3600, requestId="before")
            assert again["error"]["code"] == "timerAlreadyStarted", "ten minutes are over"
    finally:
        server.kill()
        wall_clock.clean_up(server)


def test_a_clock_that_was_set_while_the_server_was_down(tmp_path, wall_clock):
    """A server stops with a slow clock, and starts with a right one in this boot and the next: all time has passed."""
    wall_clock.move(-9 * HOUR)
    server = wall_clock.server(tmp_path / "data").start()
    try:
        with Session(server) as session:
            begun = time.monotonic()
            session.ok("start", "tea", duration=3600)
        assert server.stop() == 0
        wall_clock.move(0)
        server.start()
        server.kill()
        start_the_machine_anew(tmp_path / "data")
        wall_clock.move(600)

        server.start()

        with Session(server) as session:
            left = session.list()["tea"]["time"]
            assert 3000 - (time.monotonic() - begun) - 0.1 < left < 3000 + 0.1
    finally:
        server.kill()
        wall_clock.clean_up(server)


def test_a_named_change_is_known_over_a_clock_that_was_set(tmp_path, wall_clock):
    """A removal, which leaves no file, is known by its name after the clock was set and the machine started anew."""
    wall_clock.move(9 * HOUR)
    server = wall_clock.server(tmp_path / "data").start()
    try:
        with Session(server) as session:
            session.ok("start", "tea", duration=3600)
            session.ok("remove", "tea", requestId="gone")
            wall_clock.move(0)
            clock_is_set(session)
        assert server.stop() == 0
        start_the_machine_anew(tmp_path / "data")
        kept = (tmp_path / "data/.requests").read_bytes(), (tmp_path / "data/.server").read_bytes()

        for away, known in ((300, True), (700, False)):
            (tmp_path / "data/.requests").write_bytes(kept[0])
            (tmp_path / "data/.server").write_bytes(kept[1])
            wall_clock.move(away)
            server.start()
            with Session(server) as session:
                assert session.ask("remove", "tea", requestId="gone")["ok"] is known
            server.kill()
    finally:
        server.kill()
        wall_clock.clean_up(server)
