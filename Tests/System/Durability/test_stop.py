"""A server that is asked to stop: its answered changes are on disk, and all clients are asked to come back."""

import asyncio
import json
import signal
import socket
import struct

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from session import WITHIN, Session, lasting
from stalls import Stopwatch
from timer_server import Server

CLIENTS = 1000
BUSY = 50
ATTEMPTS = 5


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "data", "--log-level", "info").start()
    yield server
    server.kill()


def test_a_thousand_clients_are_told(server):
    """SIGTERM while fifty of a thousand clients write: all get 1001 within 5 s, and nothing answered is lost."""
    outcome = asyncio.run(stop_under_load(server))

    assert outcome["code"] == 0
    assert outcome["seconds"] < 5
    assert set(outcome["close codes"]) == {1001}, sorted(set(outcome["close codes"]))
    assert len(outcome["close codes"]) == CLIENTS
    assert outcome["refusals"] <= {"shuttingDown"}
    assert len(outcome["answers"]) > BUSY
    server.start()
    with Session(server) as session:
        found = session.list()
    for name, states in outcome["by timer"].items():
        last = states[-1]
        # The server may have made one more change without answering it.
        assert found[name]["revision"] >= last["revision"]
        if found[name]["revision"] == last["revision"]:
            assert lasting(found[name]) == lasting(last)
        else:
            assert name in outcome["unanswered"], f"{name} was changed, and nobody had asked"


async def stop_under_load(server: Server) -> dict:
    outcome = {"close codes": [], "refusals": set(), "answers": [], "by timer": {}, "unanswered": set()}
    sockets = []
    for begin in range(0, CLIENTS, 100):
        sockets += await asyncio.gather(*(
            connect(f"{server.url}?timer=*&interval=0" if number % 100 == 99 else server.url, compression=None,
                    proxy=None, ping_interval=None, max_queue=None, open_timeout=WITHIN, close_timeout=5)
            for number in range(begin, begin + 100)))

    async def write(socket, name: str) -> None:
        command = "start"
        for number in range(1 << 30):
            fields = {"duration": 600} if command == "start" else {}
            outcome["unanswered"].add(name)
            await socket.send(json.dumps({"id": number, "command": command, "timer": name, **fields}))
            while "reply" not in (reply := json.loads(await socket.recv())):
                pass
            outcome["unanswered"].discard(name)
            if not reply["ok"]:
                outcome["refusals"].add(reply["error"]["code"])
                # The client stays connected and waits for the server's close frame.
                while True:
                    await socket.recv()
            outcome["answers"].append(reply)
            outcome["by timer"].setdefault(name, []).append(reply["timer"])
            command = "resume" if command == "pause" else "pause"

    async def listen(socket) -> None:
        while True:
            await socket.recv()

    async def until_closed(number: int, socket) -> None:
        try:
            await (write(socket, f"timer {number}") if number < BUSY else listen(socket))
        except ConnectionClosed as closed:
            outcome["close codes"].append(closed.rcvd.code if closed.rcvd else 1006)

    tasks = [asyncio.create_task(until_closed(number, socket)) for number, socket in enumerate(sockets)]
    await asyncio.sleep(0.7)
    async with asyncio.timeout(WITHIN):
        while len(outcome["answers"]) <= BUSY:
            await asyncio.sleep(0.05)
    with Stopwatch() as watch:
        server.process.send_signal(signal.SIGTERM)
        outcome["code"] = await asyncio.to_thread(server.process.wait, WITHIN)
    outcome["seconds"] = watch.seconds
    await asyncio.wait_for(asyncio.gather(*tasks), WITHIN)
    server.kill()
    return outcome


def test_a_stop_leaves_nothing_to_do(server):
    """After a clean stop the log is empty, each file is up to date, and no revision is skipped."""
    with Session(server) as session:
        last = [session.ok("start", f"timer {number}", duration=600) for number in range(20)][-1]

    assert server.stop() == 0

    assert (server.data / ".timersync/log").stat().st_size == 0
    assert {path.name for path in server.data.glob("*.json")} == {f"timer%20{number}.json" for number in range(20)}
    server.start()
    with Session(server) as session:
        assert session.ok("pause", "timer 0")["revision"] == last["revision"] + 1


def test_a_second_signal_ends_it_at_once(server):
    """A client that never answers the close frame delays the stop; a second signal does not wait for that client."""
    for _ in range(ATTEMPTS):
        deaf = deaf_client(server)
        try:
            server.process.send_signal(signal.SIGTERM)
            # The close frame has come: from now on the server waits a second for the answer.
            hear_close(deaf)
            with Stopwatch() as watch:
                is_waiting = server.process.poll() is None
                server.process.send_signal(signal.SIGTERM)
                server.process.wait(WITHIN)
        finally:
            deaf.close()
            server.kill()
        if is_waiting:
            break
        # The machine took that second to get here, so the second signal shows nothing.
        server.start()
    assert is_waiting, "the first signal waited for nobody"
    assert watch.seconds < 0.5
    server.start()
    with Session(server) as session:
        assert session.list()["tea"]["status"] == "running"


def test_a_client_that_does_not_answer_holds_up_for_a_while_only(server):
    """One signal, and a client that never answers the close frame: the server ends within 5 s, with code 0."""
    deaf = deaf_client(server)
    try:
        with Stopwatch() as watch:
            assert server.stop() == 0
        assert watch.seconds < 5
    finally:
        deaf.close()


def deaf_client(server: Server):
    """A connection that reads nothing any more, with a timer of its own started."""
    with Session(server) as session:
        session.ok("start", "tea", duration=600, force=True)
    deaf = socket.create_connection(("127.0.0.1", server.port))
    deaf.sendall(
        f"GET /ws?timer=* HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhpcyBpcyBhIG5vbmNlIQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
    deaf.settimeout(WITHIN)
    assert b"101" in deaf.recv(4096)
    return deaf


def hear_close(deaf: socket.socket) -> None:
    """Reads until a close frame with 1001."""
    heard = b""
    # No other frame has these bytes: the others are JSON in ASCII.
    while struct.pack("!H", 1001) not in heard:
        piece = deaf.recv(65536)
        assert piece, "it ended without a word"
        heard += piece
