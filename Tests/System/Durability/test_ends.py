"""Countdowns that come to zero while no server runs: each end is sent once to each client that connects soon."""

import time

import pytest

from session import Session
from timer_server import Server

HEAR_ALL = "?timer=*&interval=0"


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "data", "--log-level", "info").start()
    yield server
    server.kill()


def is_end(push: dict) -> bool:
    return push.get("cause") == "ended"


def ends(session: Session, during: float = 0.3) -> list[dict]:
    """All ends that come within this time."""
    found, until = [], time.monotonic() + during
    while (rest := until - time.monotonic()) > 0:
        try:
            found.append(session.hear(is_end, within=rest))
        except AssertionError:
            break
    return found


@pytest.mark.parametrize("at_zero, status", [("overtime", "running"), ("finish", "finished"), ("reset", "idle")])
def test_an_end_while_nothing_runs_is_told_late(server, at_zero, status):
    """The late end follows `restored` and has the instant of the zero; each client that connects soon gets it once."""
    with Session(server) as session:
        started = session.ok("start", "tea", duration=1, atZero=at_zero)

    server.restart(down_for=1.1)

    for _ in range(2):
        with Session(server, HEAR_ALL) as session:
            restored = session.hear(lambda push: push.get("cause") == "restored")
            ended = session.hear(is_end)
            assert restored["timers"][0]["timer"] == ended["timers"][0]["timer"] == "tea"
            assert ended["late"] is True
            assert abs(ended["endedAt"] - started["startDate"] - 1) < 0.02
            assert ended["timers"][0]["status"] == status
            assert ends(session) == []


def test_a_late_end_that_was_told_is_not_told_by_the_next_server(server):
    """The server is killed a moment after it has sent the end: the next one does not send it again."""
    with Session(server) as session:
        session.ok("start", "tea", duration=1)
    server.restart(down_for=1.1)
    with Session(server, HEAR_ALL) as session:
        assert session.hear(is_end)["late"]
        # The mark that it was delivered is stored before a change that is requested afterwards.
        session.ok("start", "other", duration=600)

    server.restart()

    with Session(server, HEAR_ALL) as session:
        assert ends(session) == []


def test_an_undelivered_late_end_is_sent_by_the_next_server(server):
    """The first server after the zero is killed before a client connects: the second one sends the end."""
    with Session(server) as session:
        session.ok("start", "tea", duration=1)
    server.restart(down_for=1.1)
    time.sleep(0.2)

    server.restart()

    with Session(server, HEAR_ALL) as session:
        assert session.hear(is_end)["late"]
        assert ends(session) == []


def test_an_end_that_was_told_is_not_told_again(server):
    """The countdown is in overtime before the crash and after it."""
    with Session(server, HEAR_ALL) as session:
        session.ok("start", "tea", duration=0.2)
        session.hear(is_end)

    server.restart(down_for=0.2)

    with Session(server, HEAR_ALL) as session:
        assert ends(session) == []


@pytest.mark.parametrize("comes_after", [0, 0.15])
def test_each_end_of_a_repeating_timer_is_sent(server, comes_after):
    """Three zeros pass while no server runs: each is sent, with its instant, and the fourth comes in time."""
    with Session(server) as session:
        started = session.ok("start", "tea", duration=0.5, atZero="repeat")
    server.kill()
    time.sleep(max(0.0, started["startDate"] + 1.7 - time.time()))
    server.start()
    time.sleep(comes_after)

    with Session(server, HEAR_ALL) as session:
        told = [session.hear(is_end) for _ in range(4)]

    instants = [round((push["endedAt"] - started["startDate"]) / 0.5, 1) for push in told]
    assert instants == [1, 2, 3, 4], instants
    assert [push.get("late", False) for push in told][:3] == [True, True, True]


def test_an_end_before_anybody_is_back_is_told(server):
    """The server runs again, a countdown ends, and only then its clients reconnect: they are sent the end."""
    with Session(server) as session:
        session.ok("start", "tea", duration=0.7)
    server.restart()
    time.sleep(0.9)

    with Session(server, HEAR_ALL) as session:
        session.hear(is_end)
        assert ends(session) == []


def test_a_late_end_is_told_though_the_timer_has_changed(server):
    """The timer was changed soon after the start: a client that connects after that is still sent its end."""
    with Session(server) as session:
        session.ok("start", "tea", duration=1)
    server.restart(down_for=1.1)
    with Session(server) as session:
        session.ok("pause", "tea")

    with Session(server, HEAR_ALL) as session:
        assert session.hear(is_end)["late"]
        assert ends(session) == []
