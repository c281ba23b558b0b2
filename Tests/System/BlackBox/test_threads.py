"""Several loops: the same server, on more cores."""

import asyncio
import json
import signal
import subprocess
import urllib.request

import pytest

from timer_client import WITHIN, Client
from timer_server import Server, server_argv

# The kernel spreads them: that one of three loops gets none of 24 has a chance under 2 in 10^4, and no test
# here rests on it.
MANY = 24


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    """A server with three loops, instead of the usual one."""
    server = Server(tmp_path_factory.mktemp("threads") / "data", "--threads", "3").start()
    yield server
    died = server.process is not None and server.process.poll() is not None
    server.kill()
    assert not died, f"the server died during the tests\n{server.log}"


async def crowd(connect, server, *, count=MANY, **options) -> list[Client]:
    return [await connect(server, name=f"client {number}", **options) for number in range(count)]


def http(server, path, method="GET", body=None, headers=None):
    """Status and body of one request."""
    request = urllib.request.Request(server.http + path, method=method, data=body, headers=headers or {})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status, answer.read().decode()


async def test_each_change_reaches_every_subscriber(shared_server, connect, name):
    """All clients receive a change in the same order, whichever loop it arrives on."""
    clients = await crowd(connect, shared_server, timers=[name], interval=0)
    for client in clients:
        await client.snapshot("subscribed")

    revisions = [(await clients[0].state("start", name, duration=600))["revision"]]
    for number, client in enumerate(clients[1:]):
        state = await client.state("pause" if number % 2 == 0 else "resume", name)
        revisions.append(state["revision"])

    for client in clients:
        heard = []
        while len(heard) < len(revisions):
            heard.append((await client.snapshot(timer=name)).state(name)["revision"])
        assert heard == revisions


async def test_ticks_reach_every_subscriber(shared_server, connect, name):
    """Every loop's subscribers see the same ticks."""
    clients = await crowd(connect, shared_server, timers=[name], interval=0.1)
    await clients[0].ok("start", name, duration=600)

    for client in clients:
        await client.snapshot("started", name)
        ticks = [(await client.snapshot("tick", name)).state(name)["time"] for _ in range(5)]
        assert sorted(ticks, reverse=True) == ticks and len(set(ticks)) == 5
        assert all(tick * 10 == int(tick * 10) for tick in ticks)


async def test_an_end_reaches_every_subscriber_once(shared_server, connect, name):
    """The connections of all loops are sent a zero crossing."""
    clients = await crowd(connect, shared_server, timers=[name], interval=0)
    await clients[0].ok("start", name, duration=0.3)

    for client in clients:
        ended = await client.snapshot("ended", name)
        assert ended.state(name)["time"] <= 0
        assert not [arrival for arrival in await client.drain() if arrival.get("cause") == "ended"]


async def test_replies_come_in_the_order_of_the_requests(shared_server, connect, name):
    """Replies keep their order on every loop, even if some changes wait for the disk."""
    for client in await crowd(connect, shared_server, count=12):
        await client.send({"id": 1, "command": "start", "timer": f"{name} {client.name}", "duration": 60})
        for identifier in range(2, 40):
            command = "pause" if identifier == 20 else "get"
            await client.send({"id": identifier, "command": command, "timer": f"{name} {client.name}"})
        await client.reply(39)
        replies = [arrival["reply"] for arrival in client.arrivals if "reply" in arrival]
        assert replies == list(range(1, 40))


async def test_http_is_answered_by_every_loop(shared_server, connect, name):
    """The next request and all subscribers see the change of a request, on whichever loop."""
    path = "/api/timers/" + name.replace(" ", "%20")
    clients = await crowd(connect, shared_server, count=12, timers=[name], interval=0)
    for number in range(12):
        body = json.dumps({"duration": 100 + number, "force": True}).encode()
        status, _ = await asyncio.to_thread(http, shared_server, path + "/start", "POST", body)
        assert status == 200
        status, text = await asyncio.to_thread(http, shared_server, path)
        assert json.loads(text)["timer"]["duration"] == 100 + number
    for client in clients:
        for number in range(12):
            assert (await client.snapshot("started", name)).state(name)["duration"] == 100 + number


async def test_the_figures_are_those_of_all_loops(shared_server, connect):
    """One page of metrics sums up all loops, and has their number."""
    await crowd(connect, shared_server)

    # A loop publishes its counts at the end of an iteration, and may still count connections that have just closed.
    connections = accepted = None
    async with asyncio.timeout(WITHIN):
        while connections != MANY or accepted < MANY:
            _, text = await asyncio.to_thread(http, shared_server, "/metrics")
            figures = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
            connections = int(figures["timersync_websocket_connections"])
            accepted = int(figures["timersync_tcp_connections_accepted_total"])
    assert figures["timersync_event_loops"] == "3"


async def test_one_loop_is_the_default(server):
    """Without `--threads` there are no worker loops."""
    _, text = await asyncio.to_thread(http, server, "/metrics")

    assert "\ntimersync_event_loops 1\n" in text


async def test_a_removed_token_ends_its_connections_on_every_loop(tmp_path, connect):
    """Connections with another token stay open."""
    data = tmp_path / "data"

    def token(*arguments):
        done = subprocess.run(
            server_argv("token", *arguments, "--data", str(data)), capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    def secret(of):
        return next(word for word in token("add", "--name", of, "--role", "control") if word.startswith("timersync_"))

    kept, lost = secret("kept"), secret("lost")
    server = Server(data, "--threads", "3").start()
    try:
        stay = await crowd(connect, server, count=12, query=f"token={kept}")
        go = await crowd(connect, server, count=12, query=f"token={lost}")

        token("remove", "lost")

        assert {await client.wait_closed() for client in go} == {1008}
        for client in stay:
            await client.ok("list")
    finally:
        server.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_stop_sends_close_frames_to_all(tmp_path, connect, number):
    """Every connection gets 1001, and all answered changes are there at the next start."""
    server = Server(tmp_path / "data", "--threads", "3").start()
    try:
        clients = await crowd(connect, server)
        revisions = {}
        for client in clients:
            revisions[client.name] = (await client.state("start", client.name, duration=600))["revision"]

        stopped = asyncio.create_task(asyncio.to_thread(server.stop, number))
        assert {await client.wait_closed() for client in clients} == {1001}
        assert await stopped == 0

        server.start()
        again = await connect(server)
        states = (await again.ok("list"))["timers"]
        assert {state["timer"]: state["revision"] for state in states} == revisions
    finally:
        server.kill()


async def test_the_bound_of_connections_is_for_all_loops(tmp_path, connect):
    """A connection above the limit is closed with 1013, on whichever loop."""
    server = Server(tmp_path / "data", "--threads", "3", "--connections", "6").start()
    try:
        clients = await crowd(connect, server, count=6)
        for _ in range(6):
            with pytest.raises(AssertionError, match="1013"):
                await Client.open(server)
        for client in clients:
            await client.ok("list")
    finally:
        server.kill()


@pytest.mark.parametrize("count", ["0", "65", "-1", "two", "1.5", ""])
def test_a_bad_count_is_one_clear_line(tmp_path, count):
    """The error says which numbers of threads are allowed."""
    done = subprocess.run(
        server_argv("serve", "--port", "0", "--data", str(tmp_path / "data"), f"--threads={count}"),
        capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)

    assert done.returncode == 64
    assert f"--threads has to be 1 to 64, not '{count}'" in done.stderr


@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_port_in_use_is_refused_whoever_has_it(shared_server, tmp_path, threads):
    """Loops share a port with each other, and with no other process."""
    done = subprocess.run(
        server_argv(
            "serve", "--port", str(shared_server.port), "--data", str(tmp_path / "data"), "--threads", threads),
        capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)

    assert done.returncode == 69
    assert f"port {shared_server.port} on 127.0.0.1 is in use" in done.stderr
