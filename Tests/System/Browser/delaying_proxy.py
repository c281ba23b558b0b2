"""A TCP proxy that is as slow as a bad network, for tests on one machine.

Every chunk waits a random time, within a range for each direction, and no chunk overtakes another.
"""

import asyncio
import contextlib
import random
import threading


class DelayingProxy:
    """Forwards from a port of its own to `target_port` on the loopback address.

    Runs its event loop in a thread, so that a test with a synchronous browser can use it:

        with DelayingProxy(server.port, delay_seconds=(0.02, 0.06)) as proxy:
            page.goto(f"http://127.0.0.1:{proxy.port}/")
    """

    def __init__(self, target_port, delay_seconds=(0.02, 0.06), seed=None, back_seconds=None):
        self.target_port = target_port
        self.delay_seconds = delay_seconds  # the delay on the way to the server
        self.back_seconds = back_seconds or delay_seconds
        self.port = None
        self._random = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._connections = set()
        self._is_stalled = False
        self._era = 0  # a number that changes with each stall and each resume

    def __enter__(self):
        self._thread.start()
        self._call(self._listen())
        return self

    def __exit__(self, *_):
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def stall(self):
        """Discards every byte from now on and closes nothing: a half-open link."""
        self._era += 1
        self._is_stalled = True

    def resume(self):
        """Forwards again, on connections that are made from now on: the old ones have lost bytes."""
        self._era += 1
        self._is_stalled = False

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=10)

    async def _listen(self):
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._listener.sockets[0].getsockname()[1]

    async def _close(self):
        self._listener.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader, writer):
        task = asyncio.current_task()
        self._connections.add(task)
        try:
            await self._join(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _join(self, reader, writer):
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        try:
            directions = [
                asyncio.ensure_future(self._carry(reader, far_writer, self.delay_seconds)),
                asyncio.ensure_future(self._carry(far_reader, writer, self.back_seconds)),
            ]
            try:
                await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for direction in directions:
                    direction.cancel()
                await asyncio.gather(*directions, return_exceptions=True)
        finally:
            far_writer.close()

    async def _carry(self, reader, writer, delay_seconds):
        chunks = asyncio.Queue()
        era = self._era
        delivering = asyncio.ensure_future(self._deliver(chunks, writer))
        try:
            while chunk := await reader.read(65536):
                if era == self._era and not self._is_stalled:
                    await chunks.put((self._due(delay_seconds), chunk))
            await chunks.put((self._due(delay_seconds), None))
            await delivering
        finally:
            delivering.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await delivering

    async def _deliver(self, chunks, writer):
        # Chunks are delivered one after another, so that a short delay never overtakes an earlier long one.
        while True:
            due, chunk = await chunks.get()
            await asyncio.sleep(max(0, due - self._loop.time()))
            if chunk is None:
                return
            writer.write(chunk)
            await writer.drain()

    def _due(self, delay_seconds):
        return self._loop.time() + self._random.uniform(*delay_seconds)
