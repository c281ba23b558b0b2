"""Python's `websockets` at the work of bare.c: python peer_websockets.py HELLO_BYTES REPLY_BYTES FRAME_BYTES"""

import asyncio
import resource
import sys
import time

try:
    from websockets.asyncio.server import broadcast, serve
except ImportError:  # before 13
    from websockets import broadcast
    from websockets.server import serve
from websockets.exceptions import ConnectionClosed

HELLO, REPLY, FRAME = ("x" * int(count) for count in sys.argv[1:4])
subscribers = set()


async def welcome(socket):
    await socket.send(HELLO)
    try:
        async for message in socket:
            if "change" in message:
                broadcast(subscribers, FRAME)
            await socket.send(REPLY)
            if "subscribe" in message:
                subscribers.add(socket)
                await socket.send(FRAME)
    except ConnectionClosed:
        pass
    finally:
        subscribers.discard(socket)


async def tick(ticks_per_second: float, frames_per_tick: int):
    """Sends ticks by the clock: the ticks that a late timer missed follow at once."""
    begun = time.monotonic()
    told = 0
    while True:
        told += 1
        await asyncio.sleep(max(0, begun + told / ticks_per_second - time.monotonic()))
        for _ in range(frames_per_tick):
            broadcast(subscribers, FRAME)


async def main():
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    server = await serve(welcome, "127.0.0.1", 0, compression=None, ping_interval=None, backlog=65535)
    async with server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        ticking = None
        while line := (await orders.readline()).decode().split():
            if ticking:
                ticking.cancel()
            ticking = asyncio.create_task(tick(float(line[1]), int(line[2]))) if line[0] == "go" else None


asyncio.run(main())
