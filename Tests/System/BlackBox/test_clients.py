"""Sessions by clients that are not ours: Debian's `ws` for Node, aiohttp, and curl."""

import asyncio
import json
import os
import subprocess
from pathlib import Path

import aiohttp

SESSION = Path(__file__).parent / "session.js"


def test_a_session_with_node(server):
    """Node's `ws` subscribes, starts, sees the tick and the end, and finishes."""
    done = subprocess.run(
        ["node", str(SESSION), server.url], capture_output=True, text=True, timeout=60,
        env={**os.environ, "NODE_PATH": "/usr/share/nodejs"})

    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["protocol"] == "timersync.v1"
    assert seen["hello"]["protocol"] == 1
    assert seen["replies"] == {"subscribe": True, "start": True, "finish": True}
    assert [cause for cause, _ in seen["events"]] == ["subscribed", "started", "tick", "ended", "finished"]
    assert seen["events"][0][1] == []
    assert seen["events"][2:] == [["tick", [2]], ["ended", [0]], ["finished", [2.5]]]
    assert seen["close"] == 1000


async def test_a_session_with_aiohttp(server):
    """aiohttp, with compression offered and its own pings, sees a countdown through."""
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(
            f"{server.http}/ws", params={"timer": "aio", "interval": "2"}, compress=15, heartbeat=0.2,
        ) as socket:
            async def receive():
                return json.loads((await asyncio.wait_for(socket.receive(), 30)).data)

            assert (await receive())["event"] == "hello"
            assert (await receive())["cause"] == "subscribed"
            await socket.send_json({"id": 1, "command": "start", "timer": "aio", "duration": 2.5, "atZero": "finish"})
            seen = []
            while not seen or seen[-1].get("cause") != "ended":
                seen.append(await receive())
            assert [m["ok"] for m in seen if "reply" in m] == [True]
            events = [m for m in seen if "event" in m]
            assert [(m["cause"], m["timers"][0]["time"]) for m in events[1:]] == [("tick", 2), ("ended", 0)]
            assert events[0]["cause"] == "started"
            assert events[-1]["timers"][0]["status"] == "finished"


def curl(*arguments: str) -> tuple[int, dict | str]:
    """Status and body of one request by curl."""
    done = subprocess.run(
        ["curl", "-sS", "--max-time", "30", "-w", "\n%{http_code}", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    body, _, status = done.stdout.rpartition("\n")
    return int(status), json.loads(body)


def test_a_session_with_curl(server):
    """A timer is started, read, paused, refused a second pause and removed, all by one-line commands."""
    tea = f"{server.http}/api/timers/tea"

    status, reply = curl("-X", "POST", f"{tea}/start", "-H", "Content-Type: application/json", "-d", '{"duration":300}')
    assert (status, reply["ok"], reply["timer"]["duration"]) == (200, True, 300)
    status, reply = curl(tea)
    assert (status, reply["timer"]["status"]) == (200, "running")
    status, reply = curl("-X", "POST", f"{tea}/pause")
    assert (status, reply["timer"]["status"]) == (200, "paused")
    status, reply = curl("-X", "POST", f"{tea}/pause")
    assert (status, reply["ok"], reply["error"]["code"]) == (409, False, "timerAlreadyPaused")
    status, reply = curl(f"{server.http}/api/timers")
    assert (status, [state["timer"] for state in reply["timers"]]) == (200, ["tea"])
    status, reply = curl("-X", "DELETE", tea)
    assert (status, reply["ok"]) == (200, True)
    status, reply = curl(tea)
    assert (status, reply["error"]["code"]) == (404, "unknownTimer")


def test_curl_posts_without_a_content_type_of_json(server):
    """A body is taken as JSON whatever curl calls it by default."""
    status, reply = curl("-X", "POST", f"{server.http}/api/timers/tea/start", "-d", '{"duration":5.5}')

    assert (status, reply["timer"]["duration"]) == (200, 5.5)


def test_curl_sends_a_body_in_pieces(server):
    """A chunked body, without Content-Length, is read as well."""
    status, reply = curl(
        "-X", "POST", f"{server.http}/api/timers/tea/start", "-H", "Transfer-Encoding: chunked", "-d",
        '{"duration":5.5}')

    assert (status, reply["timer"]["duration"]) == (200, 5.5)


async def test_curl_and_a_socket_see_the_same(server, connect):
    """A subscriber receives curl's changes, and curl reads the socket's changes."""
    client = await connect(server, timers=["tea"], interval=0)
    await client.snapshot("subscribed")

    status, reply = await asyncio.to_thread(
        curl, "-X", "POST", f"{server.http}/api/timers/tea/start", "-d", '{"duration":60}')
    assert status == 200
    started = await client.snapshot("started", "tea")
    assert started.state("tea")["revision"] == reply["timer"]["revision"]

    paused = await client.state("pause", "tea")
    status, reply = await asyncio.to_thread(curl, f"{server.http}/api/timers/tea")
    assert reply["timer"]["revision"] == paused["revision"]
