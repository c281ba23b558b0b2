"""Scenes that are the same for plain and for TLS connections: each gets the open connections that it needs."""

import time

import pytest

from echo_server import WITHIN, frame, read_answer, read_exactly, read_frame, read_pong


def join(slow, quick) -> None:
    """Joins both readers to the group that gets the broadcasts."""
    slow.sendall(frame(1, b"join"))
    assert read_frame(slow) == (1, b"joined")
    quick.send("join")
    quick.recv(timeout=WITHIN)


def slow_reader_gets_the_newest(slow, quick, asker) -> None:
    """Ten thousand replaceable frames: the quick reader gets all, the slow one some, and the last."""
    join(slow, quick)

    # Rounds are so small that they fit into a socket that has been read empty.
    for round_number in range(500):
        asker.send("broadcast:20:1000")
        numbers = [int(quick.recv(timeout=WITHIN).split()[0]) for _ in range(20)]
        assert numbers == list(range(round_number * 20 + 1, round_number * 20 + 21))

    got = []
    while not got or got[-1] != 10_000:
        opcode, text = read_frame(slow)
        assert opcode == 1 and len(text) == 1_000
        got.append(int(text.split()[0]))
    assert got == sorted(set(got)) and len(got) < 2_000


def flood(slow, quick) -> None:
    """Three thousand frames that nothing replaces: the quick reader gets all."""
    join(slow, quick)

    for _ in range(150):
        quick.send("flood:20:1000")
        last = [int(quick.recv(timeout=WITHIN).split()[0]) for _ in range(20)][-1]
    assert last == 3_000


def connection_ends_within_the_flood(slow) -> None:
    """Data that was sent before can still be read, and then the connection ends, long before the last frame."""
    received = 0
    with pytest.raises((EOFError, OSError)):
        while received < 3_000_000:
            read_exactly(slow, 1_000)
            received += 1_000
    assert received < 1_500_000


def silent_client_is_dropped(client, watch) -> None:
    """A ping comes after a second of silence, and the end after another second."""
    assert read_frame(client)[0] == 9
    assert 0.9 < watch.all_seconds and watch.seconds < 1.8
    with pytest.raises((EOFError, OSError)):
        read_frame(client)
    assert 1.8 < watch.all_seconds and watch.seconds < 3.5


def pongs_are_life(client) -> None:
    """A client that only answers pings stays connected."""
    for _ in range(3):
        opcode, payload = read_frame(client)
        assert opcode == 9
        client.sendall(frame(10, payload))
    client.sendall(frame(1, b"here"))
    assert read_frame(client) == (1, b"here")


def pings_are_life(client) -> None:
    """Waits three times as long as silence may last, in steps that may take four times as long on a busy machine."""
    for _ in range(12):
        time.sleep(0.25)
        client.sendall(frame(9, b"x"))
        assert read_pong(client) == b"x"


def large_answers_are_whole(client, path: str, size: int) -> None:
    """Two large answers come on one connection."""
    for _ in range(2):
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert read_answer(client)[2] == (bytes(range(251)) * 12_000)[:size]
