"""Connecting: the first message, subprotocols, subscriptions in the query, and who is let in."""

import asyncio
import re
import subprocess
import time
from decimal import Decimal as D

import aiohttp
import pytest
from websockets.asyncio.client import connect as dial
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from timer_client import WITHIN
from timer_server import Server, server_argv


async def refusal(server, query="", **options) -> InvalidStatus:
    """The HTTP answer to a handshake that must be refused."""
    try:
        async with dial(server.url + query, compression=None, proxy=None, open_timeout=WITHIN, **options):
            pass
    except InvalidStatus as refused:
        return refused
    raise AssertionError(f"the handshake with {query} {options} should be refused")


async def test_hello_comes_first_and_names_the_server(shared_server, connect):
    """The first message names the server with its version, the protocol, the epoch, the role and the time."""
    before = time.time()
    client = await connect(shared_server)
    after = time.time()

    hello = client.hello
    version = subprocess.run(server_argv("--version"), capture_output=True, text=True, timeout=WITHIN).stdout.split()[
        -1
    ]
    assert hello["server"] == f"timersync/{version}"
    assert hello["protocol"] == 1
    assert isinstance(hello["epoch"], str) and len(hello["epoch"]) >= 8
    assert hello["role"] == "control"
    assert before - 0.5 < float(hello["now"]) < after + 0.5


async def test_nothing_follows_hello_unasked(shared_server, connect):
    """A connection without a subscription receives no message about a timer."""
    listener, other = await connect(shared_server), await connect(shared_server)

    await other.ok("start", "unheard", duration=60)
    await other.ok("pause", "unheard")
    await other.ok("remove", "unheard")

    assert await listener.collect(0.2) == []


async def test_epoch_is_one_for_a_process_and_new_for_the_next(server, connect):
    """Two connections see the same epoch, and another one after a restart."""
    first, second = await connect(server), await connect(server)
    assert first.hello["epoch"] == second.hello["epoch"]

    server.restart()

    third = await connect(server)
    assert third.hello["epoch"] != first.hello["epoch"]


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [(None, None), (["timersync.v1"], "timersync.v1"), (["other", "timersync.v1"], "timersync.v1")])
async def test_subprotocol_is_chosen_when_asked_for(shared_server, connect, asked, chosen):
    """`timersync.v1` is chosen when the client offers it; a handshake without subprotocols is fine."""
    client = await connect(shared_server, subprotocols=asked)

    assert client.socket.subprotocol == chosen
    assert (await client.ok("list"))["timers"] is not None


@pytest.mark.parametrize("asked", [["other"], ["timersync.v2", "mqtt"], ["TIMERSYNC.V1"]])
async def test_only_unknown_subprotocols_are_refused(shared_server, asked):
    """A handshake that offers only other subprotocols is refused."""
    refused = await refusal(shared_server, subprotocols=asked)

    assert 400 <= refused.response.status_code < 500


@pytest.mark.parametrize("path", ["/", "/ws2", "/ws/", "/WS", "/api/timers"])
async def test_only_ws_is_a_socket(shared_server, path):
    """No other path accepts a WebSocket."""
    with pytest.raises(InvalidHandshake):
        async with dial(f"ws://127.0.0.1:{shared_server.port}{path}", proxy=None, open_timeout=WITHIN):
            pass


async def test_query_subscribes_to_one_timer(shared_server, connect, name, punctual):
    """`?timer=NAME` sends the state at once, then ticks, without any request."""
    control = await connect(shared_server)
    started = await control.state("start", name, duration=60)

    client = await connect(shared_server, timers=[name])

    subscribed = await client.snapshot("subscribed")
    assert [state["timer"] for state in subscribed["timers"]] == [name]
    assert subscribed.state(name)["revision"] == started["revision"]
    tick = await client.snapshot("tick", name)
    first = subscribed.state(name)["time"] // 1
    punctual.in_step([tick], [tick.state(name)["time"]], [first, first - 1])


async def test_query_subscribes_to_a_timer_to_come(shared_server, connect, name):
    """A client may subscribe to a name that does not exist yet: it gets an empty list, then the start."""
    client = await connect(shared_server, timers=[name])
    assert (await client.snapshot("subscribed"))["timers"] == []

    await client.ok("start", name, duration=60)

    assert (await client.snapshot("started", name)).state(name)["time"] == 60


async def test_query_subscribes_to_many(shared_server, connect):
    """`timer` may be repeated."""
    client = await connect(shared_server)
    for timer in ("many a", "many b", "many c"):
        await client.ok("start", timer, duration=60)

    watcher = await connect(shared_server, timers=["many a", "many b"], interval=0)

    seen = set()
    while len(seen) < 2:
        seen |= {state["timer"] for state in (await watcher.snapshot("subscribed"))["timers"]}
    assert seen == {"many a", "many b"}
    await client.ok("pause", "many c")
    await client.ok("pause", "many a")
    assert [state["timer"] for state in (await watcher.snapshot())["timers"]] == ["many a"]


async def test_query_subscribes_to_all(server, connect):
    """`?timer=*` sends every timer at once, sorted by name, and each change after that."""
    client = await connect(server)
    for timer in ("b", "a"):
        await client.ok("start", timer)

    watcher = await connect(server, timers=["*"], interval=0)

    subscribed = await watcher.snapshot("subscribed")
    assert [state["timer"] for state in subscribed["timers"]] == ["a", "b"]
    await client.ok("start", "c")
    assert (await watcher.snapshot("started")).has("c")


async def test_query_interval_sets_the_ticks(shared_server, connect, name, punctual):
    """`&interval=0.2` ticks five times a second."""
    client = await connect(shared_server, timers=[name], interval=0.2)
    await client.ok("start", name, duration=60)

    seen = [await client.snapshot("tick", name) for _ in range(3)]

    punctual.in_step(seen, [a.state(name)["time"] for a in seen], [D("59.8"), D("59.6"), D("59.4")])


async def test_query_interval_zero_sends_changes_alone(shared_server, connect, name):
    """`&interval=0` sends no tick."""
    client = await connect(shared_server, timers=[name], interval=0)
    await client.snapshot("subscribed")
    await client.ok("start", name, duration=60)

    arrivals = await client.collect(1.3)

    assert [arrival["cause"] for arrival in arrivals] == ["started"]


@pytest.mark.parametrize(
    ("encoded", "timer"),
    [("a%2Fb", "a/b"), ("%252F", "%2F"), ("%F0%9F%8D%B5", "🍵"), ("a%3F%23%26b", "a?#&b"), ("e%CC%81", "e\u0301")])
async def test_query_names_are_decoded_once(shared_server, connect, encoded, timer):
    """A percent-encoded name in the query is the name itself."""
    client = await connect(shared_server, query=f"timer={encoded}&interval=0")
    await client.snapshot("subscribed")

    await client.ok("start", timer, duration=60, force=True)

    assert (await client.snapshot("started")).state(timer)["time"] == 60


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("?timer=a&interval=soon", "interval"), ("?timer=a&interval=0.05", "interval"),
        ("?timer=a&interval=3601", "interval"), ("?timer=a&interval=-1", "interval"),
        ("?timer=a&interval=nan", "interval"), ("?timer=", "timer"), ("?timer=%00", "timer"),
        ("?timer=" + "x" * 129, "timer"), ("?timer=%FF", "timer|query"),
    ])
async def test_bad_query_is_refused_by_name(shared_server, query, parameter):
    """A wrong parameter is refused, by the handshake or by an error, with a text that names it."""
    said = ""
    try:
        async with dial(shared_server.url + query, compression=None, proxy=None, open_timeout=WITHIN) as socket:
            try:
                async with asyncio.timeout(WITHIN):
                    async for text in socket:
                        assert '"subscribed"' not in text, f"{query} was taken: {text}"
                        said += text if '"hello"' not in text else ""
                        if '"error"' in text:
                            break
            except (TimeoutError, ConnectionClosed):
                pass
            said += socket.close_reason or ""
    except InvalidStatus as refused:
        assert refused.response.status_code == 400
        said = bytes(refused.response.body or b"").decode()
    assert re.search(parameter, said), f"nothing names {parameter}: {said!r}"


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1.evil.example", "null"])
async def test_foreign_origin_is_refused(shared_server, origin):
    """A page of another site may not open a WebSocket."""
    refused = await refusal(shared_server, origin=origin)

    assert refused.response.status_code == 403


async def test_own_origin_is_let_in(shared_server, connect):
    """The server's own page may open a socket, by either of its names."""
    client = await connect(shared_server, origin=shared_server.http)
    assert client.hello["role"] == "control"

    async with dial(
        f"ws://localhost:{shared_server.port}/ws", proxy=None, origin=f"http://localhost:{shared_server.port}",
        open_timeout=WITHIN, host="127.0.0.1", port=shared_server.port,
    ) as socket:
        assert '"hello"' in await asyncio.wait_for(socket.recv(), WITHIN)


async def test_foreign_host_is_refused(shared_server):
    """A foreign name that resolves to this address does not pass as the server's own."""
    try:
        async with dial(
            f"ws://rebound.example:{shared_server.port}/ws", proxy=None, open_timeout=WITHIN, host="127.0.0.1",
            port=shared_server.port,
        ):
            pass
    except InvalidStatus as refused:
        assert refused.response.status_code == 403
    else:
        raise AssertionError("a handshake for rebound.example was let in")


async def test_a_visitor_who_may_only_look(tmp_path, connect):
    """With the role `view` a client may subscribe, get, list and sync; every change is `forbidden`, over HTTP too."""
    server = Server(tmp_path / "data").start()
    control = await connect(server)
    await control.ok("start", "tea", duration=600)
    server.kill()
    server = Server(tmp_path / "data", "--anonymous", "view").start()
    try:
        client = await connect(server)
        assert client.hello["role"] == "view"
        assert (await client.state("get", "tea"))["status"] == "running"
        assert len((await client.ok("list"))["timers"]) == 1
        await client.ok("sync")
        await client.subscribe("tea", interval=0)
        for command, fields in [
            ("start", {"force": True}), ("update", {"title": "x"}), ("pause", {}), ("resume", {}), ("finish", {}),
            ("reset", {}), ("addRemainingTime", {"seconds": 1}), ("addElapsedTime", {"seconds": 1}), ("remove", {}),
        ]:
            reply = await client.refused("forbidden", command, "tea", **fields)
            assert reply["error"]["retryable"] is False
        await client.refused("forbidden", "finishAll")
        async with aiohttp.ClientSession() as session:
            async with session.post(f"{server.http}/api/timers/tea/pause") as response:
                assert response.status == 403
                assert (await response.json())["error"]["code"] == "forbidden"
        assert await client.collect(0.1) == []
    finally:
        server.kill()


async def test_no_compression_is_offered(shared_server):
    """The server does not accept permessage-deflate."""
    async with dial(shared_server.url, proxy=None, compression="deflate", open_timeout=WITHIN) as socket:
        assert socket.response.headers.get("Sec-WebSocket-Extensions") is None


async def test_fresh_server_has_no_timers(tmp_path, connect):
    """An empty data folder is made when it is missing, and holds no timer."""
    server = Server(tmp_path / "not" / "there" / "yet").start()
    try:
        client = await connect(server)
        assert (await client.ok("list"))["timers"] == []
    finally:
        server.kill()
