"""Long sets in parts, on a real socket: bounded messages, nothing in between, and no two sets mixed for a slow
reader."""

import json
import time

import pytest

import wire
from raw_socket import RawSocket, text
from timer_server import Server

COUNT = 300


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A server whose full set has 160 kB."""
    server = Server(tmp_path_factory.mktemp("crowded")).start()
    with RawSocket(server.port).open() as one:
        start = {"command": "start", "duration": 3000, "title": "x" * 256}
        one.send(b"".join(text(json.dumps({**start, "timer": f"t{number:03}"})) for number in range(COUNT)))
        for _ in range(COUNT):
            assert json.loads(one.message())["ok"]
    yield server
    assert server.stop() == 0


def next_set(socket, cause):
    """The states of the next set, whose parts come one right behind the other."""
    states = []
    while True:
        message = socket.message()
        assert len(message.encode()) <= wire.PART_BYTES_MAX
        parsed = wire.parse(message)
        wire.check_message(parsed)
        if not states and (parsed.get("cause") != cause or parsed["part"] != 1):
            continue
        assert not states or parsed.get("cause") == "continued", "something came between two parts"
        states += parsed["timers"]
        if parsed["part"] == parsed["parts"]:
            return states


def test_a_full_set_comes_in_parts(crowded):
    with RawSocket(crowded.port).open() as socket:
        socket.send(text('{"id":1,"command":"subscribe","timers":"*","interval":0,"parts":true}'))
        states = next_set(socket, "subscribed")

        assert [state["timer"] for state in states] == [f"t{number:03}" for number in range(COUNT)]


def test_a_subscription_without_parts_gets_one_message(crowded):
    with RawSocket(crowded.port).open("/ws?timer=*&interval=0") as socket:
        message = wire.parse(socket.message())

        assert len(message["timers"]) == COUNT and "part" not in message


def test_a_slow_reader_gets_whole_sets_only(crowded):
    """An unread set is replaced as a whole: each set is of one instant, and the last one is current."""
    with RawSocket(crowded.port).open("/ws?timer=*&interval=0.1&parts=1") as socket:
        time.sleep(2.5)
        socket.send(text('{"id":"read","command":"sync"}'))
        instants = []
        now = time.time()
        while len(instants) < 2 or instants[-1] < now - 0.5:
            states = next_set(socket, "tick")
            now = time.time()
            assert len(states) == COUNT
            assert len({state["lastElapsedTimeCalculatedAt"] for state in states}) == 1
            instants.append(float(states[0]["lastElapsedTimeCalculatedAt"]))

        assert instants == sorted(set(instants))


def test_pages_of_the_list_make_the_whole(crowded):
    with RawSocket(crowded.port).open() as socket:
        names, after = [], {}
        while True:
            socket.send(text(json.dumps({"command": "list", "limit": 70, **after})))
            page = wire.parse(socket.message())
            wire.check_message(page)
            names += [state["timer"] for state in page["timers"]]
            if "next" not in page:
                break
            after = {"after": page["next"]}

        assert names == [f"t{number:03}" for number in range(COUNT)]
        assert len(page["timers"]) == COUNT % 70
