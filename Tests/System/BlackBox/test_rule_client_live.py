"""The client of the rules against real servers: its digits are right, or it shows none, whatever happens."""

import asyncio
import json
import shutil
import time
import urllib.request
from contextlib import asynccontextmanager

import pytest

from client_rules import Clock, digits
from rule_client import RuleClient
from test_wall_clock import WallClock
from timer_server import Server

WITHIN = 30.0
# The seconds by which a text may be early or late, compared with the server's answer.
NEAR = 0.05


@asynccontextmanager
async def following(server: Server, clock: Clock | None = None):
    client = RuleClient(server.url, clock=clock)
    running = asyncio.create_task(client.run())
    try:
        await settled(client)
        yield client
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def settled(client: RuleClient) -> None:
    """Waits until the client has a full set and a clock that was compared."""
    async with asyncio.timeout(WITHIN):
        while not (client.socket and client.is_subscribed and client.follower.is_complete and client.clock.exchanged):
            await asyncio.sleep(0.01)


async def come_back(client: RuleClient, server: Server) -> None:
    """Starts the server again and waits until the client follows it."""
    epoch = client.follower.epoch
    await asyncio.to_thread(server.start)
    async with asyncio.timeout(WITHIN):
        while client.follower.epoch == epoch:
            await asyncio.sleep(0.01)
    await settled(client)


def texts(server: Server, name: str) -> set[str]:
    """The texts that are right now, by an answer of the server."""
    with urllib.request.urlopen(f"{server.http}/api/timers/{name}", timeout=WITHIN) as answer:
        state = json.load(answer)["timer"]
    return {digits(state["time"] + shift, state["type"]) for shift in (-NEAR, 0, NEAR)}


def assert_right(client: RuleClient, server: Server, name: str = "tea") -> None:
    allowed = texts(server, name)
    assert client.shown(name) in allowed


async def test_digits_through_kills(tmp_path):
    server = Server(tmp_path / "data").start()
    try:
        async with following(server) as client:
            await client.change("start", "tea", duration=600)
            for _ in range(3):
                await asyncio.to_thread(server.kill)
                pressed = asyncio.create_task(client.change("update", "tea", title="Tea"))
                await come_back(client, server)
                assert (await pressed)["ok"]
                assert_right(client, server)
    finally:
        server.kill()


async def test_digits_after_the_folder_was_wiped(tmp_path):
    """Another history with lower revisions: nothing of the old one is shown."""
    server = Server(tmp_path / "data").start()
    try:
        async with following(server) as client:
            await client.change("start", "tea", duration=600)
            await client.change("update", "tea", title="Tea")
            await asyncio.to_thread(server.kill)
            shutil.rmtree(tmp_path / "data")
            await come_back(client, server)
            assert client.shown("tea") == ""
            await client.change("start", "tea", duration=60)
            assert_right(client, server)
    finally:
        server.kill()


@pytest.mark.parametrize("hours", [1, -1])
async def test_digits_after_a_first_start_by_a_wrong_clock(tmp_path, hours):
    wall_clock = WallClock(tmp_path)
    wall_clock.move(3600 * hours)
    server = wall_clock.server(tmp_path / "data").start()
    try:
        async with following(server) as client:
            await client.change("start", "tea", duration=600)
            await asyncio.to_thread(server.kill)
            wall_clock.move(0)
            await come_back(client, server)
            assert_right(client, server)
    finally:
        server.kill()
        wall_clock.clean_up(server)


@pytest.mark.long
async def test_digits_after_a_sleep_that_the_clock_did_not_count(tmp_path):
    slept = 0.0
    clock = Clock(lambda: time.monotonic() - slept, time.time)
    server = Server(tmp_path / "data").start()
    try:
        async with following(server, clock) as client:
            await client.change("start", "tea", duration=600)
            time.sleep(20)  # the whole process stands still
            slept = 20.0
            assert client.shown("tea") is None
            await settled(client)
            assert_right(client, server)
            assert clock.error < 0.5
    finally:
        server.kill()


@pytest.mark.long
async def test_digits_of_a_reader_that_stalls(tmp_path):
    server = Server(tmp_path / "data").start()
    try:
        async with following(server) as client:
            await client.change("start", "tea", duration=600)
            time.sleep(5)  # nothing is read, and messages wait
            assert_right(client, server)
            await asyncio.sleep(1)
            assert_right(client, server)
    finally:
        server.kill()
