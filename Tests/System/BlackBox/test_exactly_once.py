"""Each message exactly once: ends around a stop, changes that are sent again, presses that come late."""

import asyncio
import json
import subprocess
import time

import pytest
import pytest_asyncio
from websockets.asyncio.client import connect as dial

from raw_socket import RawSocket
from timer_server import Server, server_argv

WITHIN = 20


class Peer:
    """A client without checks, which a test uses for its own messages only."""

    def __init__(self, socket):
        self.socket = socket

    async def ask(self, command: str, timer: str | None = None, **fields) -> dict:
        """Sends a request and returns its reply; all other messages are discarded."""
        await self.send(command, timer, id=command, **fields)
        return await self.reply(command)

    async def send(self, command: str, timer: str | None = None, **fields) -> None:
        await self.socket.send(json.dumps({"command": command, **({"timer": timer} if timer else {}), **fields}))

    async def reply(self, tag) -> dict:
        return await self.next(lambda message: message.get("reply") == tag)

    async def next(self, fits) -> dict:
        async with asyncio.timeout(WITHIN):
            while True:
                message = json.loads(await self.socket.recv())
                if fits(message):
                    return message

    async def all_until_synced(self) -> list[dict]:
        """All messages that the server sends before it answers a request that is sent now."""
        await self.send("sync", id="sync")
        messages = []
        async with asyncio.timeout(WITHIN):
            while not messages or messages[-1].get("reply") != "sync":
                messages.append(json.loads(await self.socket.recv()))
        return messages


@pytest_asyncio.fixture
async def peer():
    sockets = []

    async def open_peer(server: Server, query: str = "") -> Peer:
        socket = await dial(f"{server.url}?{query}", compression=None, proxy=None, ping_interval=None, max_queue=None)
        sockets.append(socket)
        return Peer(socket)

    yield open_peer
    for socket in sockets:
        await socket.close()


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "data", "--log-level", "info").start()
    yield server
    server.kill()


def ends(messages: list[dict], timer: str = "tea") -> list[dict]:
    return [m for m in messages if m.get("cause") == "ended" and m["timers"][0]["timer"] == timer]


# Ends


@pytest.mark.parametrize("policy", ["overtime", "finish", "repeat"])
async def test_an_end_while_the_server_stops_is_told_by_the_next(server, peer, policy):
    """A peer that never answers the close frame keeps the server draining until after the zero."""
    client = await peer(server)
    started = await client.ask("start", "tea", duration=3, atZero=policy)
    zero = started["timer"]["startDate"] + 3
    with RawSocket(server.port) as deaf:
        deaf.open("/ws?timer=*&interval=0")
        # The drain lasts two seconds, so it ends after the zero, however late the test is by then.
        await asyncio.sleep(max(0, zero - 0.9 - time.time()))
        code = await asyncio.to_thread(server.stop)
    server.start()

    messages = await (await peer(server, "timer=*&interval=0")).all_until_synced()

    assert code == 0
    told = ends(messages)
    assert told and all(message["late"] is True for message in told)
    assert abs(told[0]["endedAt"] - zero) < 0.01


async def test_an_undelivered_end_is_sent_after_another_restart(server, peer):
    """The first server stops before the zero, the second after it, and no client connects in between."""
    client = await peer(server)
    started = await client.ask("start", "tea", duration=1)
    server.restart()
    await asyncio.sleep(max(0, started["timer"]["startDate"] + 1.4 - time.time()))
    server.restart()

    messages = await (await peer(server, "timer=tea&interval=0")).all_until_synced()
    again = await (await peer(server, "timer=tea&interval=0")).all_until_synced()
    # A server that is killed may not have stored yet that the end was delivered.
    server.stop()
    server.start()
    later = await (await peer(server, "timer=tea&interval=0")).all_until_synced()

    assert [message["late"] for message in ends(messages)] == [True]
    assert len(ends(again)) == 1, "everybody who comes in the first minute is told"
    assert ends(later) == []


@pytest.mark.parametrize("subscription", ["timer=tea", "timer=*", "timer=oven&timer=tea"])
async def test_a_client_that_says_since_is_sent_what_it_missed(server, peer, subscription):
    """Each end comes once, over an absence and a kill."""
    client = await peer(server, subscription)
    hello = await client.next(lambda message: message.get("event") == "hello")
    reply = await client.ask("start", "tea", duration=0.3)
    await client.socket.close()
    await asyncio.sleep(0.5)
    other = await peer(server)
    await other.ask("start", "tea", duration=0.3, force=True)
    server.restart(down_for=0.5)

    since = f"{hello['history']}:{reply['timer']['revision']}"
    messages = await (await peer(server, f"{subscription}&interval=0&since={since}")).all_until_synced()
    revision = max(state["revision"] for m in messages for state in m.get("timers", []))
    later = await (
        await peer(server, f"{subscription}&interval=0&since={hello['history']}:{revision}")).all_until_synced()

    told = ends(messages)
    assert len(told) == 2 and all(message["late"] for message in told)
    assert len({message["endedAt"] for message in told}) == 2
    assert ends(later) == []


async def test_another_history_brings_the_full_set_alone(server, peer):
    client = await peer(server)
    await client.ask("start", "tea", duration=0.1)
    await asyncio.sleep(0.3)

    messages = await (await peer(server, "timer=tea&interval=0&since=another:1")).all_until_synced()

    assert [m.get("cause") for m in messages if m.get("event") == "snapshot"] == ["subscribed"]


# Changes sent again


@pytest.fixture
def tokens(server):
    """Two tokens with the role `control`, one for the timer `kitchen` only, and one with the role `view`."""
    def add(name: str, *options: str) -> str:
        made = subprocess.run(
            server_argv("token", "add", "--name", name, "--data", str(server.data), *options), capture_output=True,
            text=True, timeout=30, check=True)
        return made.stdout.strip().splitlines()[-1]

    made = {
        "stage": add("stage", "--role", "control"), "lobby": add("lobby", "--role", "control"),
        "cook": add("cook", "--role", "control", "--timer", "kitchen"), "wall": add("wall", "--role", "view"),
    }
    server.restart()
    return made


@pytest.mark.parametrize("is_over_restart", [False, True])
async def test_two_tokens_that_count_from_one(server, peer, tokens, is_over_restart):
    """Each token's change is made, though both have the key 1."""
    stage = await peer(server, f"token={tokens['stage']}")
    for timer in ["kitchen", "talk"]:
        assert (await stage.ask("start", timer, duration=300))["ok"]
    assert (await stage.ask("pause", "kitchen", requestId="1"))["ok"]
    if is_over_restart:
        server.restart()

    lobby = await peer(server, f"token={tokens['lobby']}")
    reply = await lobby.ask("pause", "talk", requestId="1")

    assert reply["ok"] and reply["timer"]["timer"] == "talk" and reply["timer"]["status"] == "paused"


async def test_finish_all_of_one_token_answers_no_other(server, peer, tokens):
    stage = await peer(server, f"token={tokens['stage']}")
    for timer in ["kitchen", "talk"]:
        await stage.ask("start", timer, duration=300)
    cook = await peer(server, f"token={tokens['cook']}")
    assert len((await cook.ask("finishAll", requestId="end"))["timers"]) == 1

    reply = await stage.ask("finishAll", requestId="end")

    assert [state["timer"] for state in reply["timers"]] == ["talk"]


@pytest.mark.parametrize("is_over_restart", [False, True])
async def test_a_finish_all_that_found_nothing_ends_nothing_later(server, peer, is_over_restart):
    client = await peer(server)
    assert (await client.ask("finishAll", requestId="the end"))["timers"] == []
    if is_over_restart:
        server.restart()
    client = await peer(server)
    await client.ask("start", "talk", duration=300)

    again = await client.ask("finishAll", requestId="the end")

    assert again["ok"] and again["timers"] == []
    assert (await client.ask("get", "talk"))["timer"]["status"] == "running"


# Presses that come late


async def test_a_title_does_not_charge_a_press_its_latency(server, peer):
    """A pause that was pressed before another client's edit counts from its own instant."""
    client = await peer(server)
    await client.ask("start", "talk", duration=300)
    sync = await client.ask("sync")
    await asyncio.sleep(0.3)
    await client.ask("update", "talk", title="Now")
    await client.ask("message", "talk", text="Wrap up")

    reply = await client.ask("pause", "talk", at=sync["sentAt"])

    assert reply["ok"], reply
    assert reply["timer"]["pausePeriods"][0]["pause"] == sync["sentAt"]


async def test_a_lap_that_was_overtaken_is_sorted_in(server, peer):
    client = await peer(server)
    await client.ask("start", "run")
    first = (await client.ask("sync"))["sentAt"]
    await asyncio.sleep(0.2)
    await client.ask("lap", "run")

    reply = await client.ask("lap", "run", at=first)

    laps = reply["timer"]["laps"]
    assert len(laps) == 2 and laps == sorted(laps) and laps[1] - laps[0] > 0.15


@pytest.mark.parametrize("command", ["finish", "remove", "reset", "pause"])
async def test_a_press_of_the_run_before_does_not_touch_the_next(server, peer, command):
    client = await peer(server)
    seen = (await client.ask("start", "talk", duration=300))["timer"]["run"]
    await client.ask("finish", "talk")
    running = (await client.ask("start", "talk", duration=600))["timer"]

    reply = await client.ask(command, "talk", ifRun=seen)

    assert reply["error"]["code"] == "runMismatch" and reply["error"]["retryable"] is False
    assert reply["timer"]["revision"] == running["revision"]
    assert (await client.ask("finish", "talk", ifRun=running["run"]))["ok"]


async def test_a_run_is_the_same_after_a_restart_and_a_repeat(server, peer):
    client = await peer(server)
    run = (await client.ask("start", "talk", duration=0.4, atZero="repeat"))["timer"]["run"]
    await asyncio.sleep(0.6)
    server.restart()

    client = await peer(server)
    state = (await client.ask("get", "talk"))["timer"]

    assert state["run"] == run and state["revision"] > run
    assert (await client.ask("reset", "talk", ifRun=run))["timer"]["run"] is None
    assert (await client.ask("start", "talk", ifRun=0))["ok"]


# Reads


async def test_a_read_is_judged_by_what_was_allowed_when_it_was_sent(server, peer, tokens):
    """An earlier change is still on its way to the disk when the connection gets another token."""
    stage = await peer(server, f"token={tokens['stage']}")
    for timer in ["kitchen", "talk"]:
        await stage.ask("start", timer, duration=300)
    cook = await peer(server, f"token={tokens['cook']}")
    messages = [
        {"id": 1, "command": "pause", "timer": "kitchen"}, {"id": 2, "command": "get", "timer": "talk"},
        {"id": 3, "command": "authenticate", "token": tokens["wall"]}, {"id": 4, "command": "get", "timer": "talk"},
    ]
    for message in messages:
        await cook.socket.send(json.dumps(message))

    replies = [await cook.reply(number) for number in (1, 2, 3, 4)]

    assert replies[0]["ok"] and replies[2]["ok"] and replies[3]["ok"]
    assert replies[1]["ok"] is False and replies[1]["error"]["code"] == "forbidden"
