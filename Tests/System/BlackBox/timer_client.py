"""A WebSocket connection that keeps all messages in order, and waits with bounds."""

import asyncio
import itertools
import time
from dataclasses import dataclass, field
from decimal import Decimal
from urllib.parse import urlencode

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

import wire
from punctuality import Lateness

# A bound for messages that come at once on an idle machine, and late when the machine stands still.
WITHIN = 30.0
# A round trip that is short enough to compare clocks, and the number of tries to get one on a busy machine.
GOOD_ENOUGH = 0.004
SAMPLES_MOST = 50


@dataclass
class Arrival:
    """A message and the local monotonic instant at which it arrived."""

    message: dict
    text: str
    at: float
    taken: bool = field(default=False)

    def __getitem__(self, key):
        return self.message[key]

    def get(self, key, default=None):
        return self.message.get(key, default)

    def __contains__(self, key):
        return key in self.message

    def state(self, timer: str) -> dict:
        """The state of one timer in this snapshot."""
        for state in self.message.get("timers", []):
            if state["timer"] == timer:
                return state
        raise AssertionError(f"no {timer!r} in {self.message}")

    def has(self, timer: str) -> bool:
        return any(state["timer"] == timer for state in self.message.get("timers", []))


class Client:
    """A client of the wire that checks the shape of every message it gets."""

    def __init__(self, socket, name: str):
        self.socket = socket
        self.name = name
        self.arrivals: list[Arrival] = []
        self.fault: BaseException | None = None
        self.offset: float | None = None
        # The possible error of the offset, in either direction.
        self.doubt = 0.0
        self._ids = itertools.count(1)
        self._news = asyncio.Condition()
        self._closed = False
        self._newest: dict[str, tuple] = {}
        self._reader = asyncio.create_task(self._read())

    # Opening and closing

    @classmethod
    async def open(
        cls, server, *, timers: list[str] | None = None, interval=None, query: str | None = None,
        subprotocols: list[str] | None = None, headers: dict | None = None, origin: str | None = None,
        name: str = "client",
    ) -> "Client":
        """Connects, reads `hello`, and returns."""
        if query is None:
            pairs = [("timer", timer) for timer in timers or []]
            if interval is not None:
                pairs.append(("interval", interval))
            query = urlencode(pairs)
        socket = await connect(
            server.url + (f"?{query}" if query else ""), subprotocols=subprotocols, additional_headers=headers,
            origin=origin, compression=None, proxy=None, ping_interval=None, open_timeout=WITHIN, close_timeout=2,
            max_size=None, max_queue=None)
        client = cls(socket, name)
        first = await client.wait_for(lambda arrival: True, "the first message")
        assert first.get("event") == "hello", f"the first message should be hello: {first.message}"
        client.hello = first.message
        return client

    async def close(self) -> None:
        """Ends the connection; an error while reading is raised."""
        await self.socket.close()
        await asyncio.wait_for(asyncio.gather(self._reader, return_exceptions=True), WITHIN)
        self.raise_fault()

    async def wait_closed(self, within: float = WITHIN) -> int:
        """Waits for the server to close the connection and returns the close code."""
        try:
            async with asyncio.timeout(within):
                await asyncio.shield(self._reader)
        except TimeoutError:
            raise AssertionError(f"{self.name}: the server did not close within {within} s; {self.tail()}") from None
        assert self.socket.close_code is not None
        return self.socket.close_code

    # Sending

    async def send(self, message: dict) -> None:
        await self.socket.send(wire.dump(message))

    async def send_text(self, text: str) -> None:
        await self.socket.send(text)

    def next_id(self) -> int:
        return next(self._ids)

    async def request(self, command: str, timer: str | None = None, *, within: float = WITHIN, **fields) -> dict:
        """Sends one request and returns its reply."""
        identifier = self.next_id()
        message = {"id": identifier, "command": command, **fields}
        if timer is not None:
            message["timer"] = timer
        await self.send(message)
        return await self.reply(identifier, within=within)

    async def ok(self, command: str, timer: str | None = None, **fields) -> dict:
        """Sends a request that must succeed; returns the reply."""
        reply = await self.request(command, timer, **fields)
        assert reply["ok"] is True, f"{command} {timer} {fields} should succeed: {reply}"
        return reply

    async def state(self, command: str, timer: str | None = None, **fields) -> dict:
        """Sends a request that must succeed; returns the state in the reply."""
        reply = await self.ok(command, timer, **fields)
        assert isinstance(reply.get("timer"), dict), f"the reply to {command} should carry the state: {reply}"
        assert reply["timer"]["timer"] == (timer or "default"), reply
        return reply["timer"]

    async def refused(self, code: str | set[str], command: str, timer: str | None = None, **fields) -> dict:
        """Sends a request that must be refused with this code; returns the reply."""
        reply = await self.request(command, timer, **fields)
        assert reply["ok"] is False, f"{command} {timer} {fields} should be refused with {code}: {reply}"
        codes = {code} if isinstance(code, str) else code
        assert reply["error"]["code"] in codes, f"{command} {timer} {fields} should be refused with {code}: {reply}"
        return reply

    async def raw(self, text: str, within: float = WITHIN) -> dict:
        """Sends a text as it is and returns the next reply, whatever its id."""
        await self.send_text(text)
        arrival = await self.wait_for(lambda arrival: "reply" in arrival, f"a reply to {text[:80]!r}", within)
        return arrival.message

    # Receiving

    async def reply(self, identifier, within: float = WITHIN) -> dict:
        """The reply to one request."""
        arrival = await self.wait_for(
            lambda arrival: "reply" in arrival and arrival["reply"] == identifier, f"the reply to {identifier}", within)
        return arrival.message

    async def snapshot(
        self, cause: str | None = None, timer: str | None = None, *, where=None, within: float = WITHIN,
    ) -> Arrival:
        """The next snapshot that fits; earlier ones that do not fit stay."""
        def fits(arrival: Arrival) -> bool:
            return (
                arrival.get("event") == "snapshot"
                and (cause is None or arrival["cause"] == cause)
                and (timer is None or arrival.has(timer))
                and (where is None or bool(where(arrival))))
        return await self.wait_for(fits, f"a snapshot (cause {cause}, timer {timer})", within)

    async def removed(self, timer: str, within: float = WITHIN) -> Arrival:
        return await self.wait_for(
            lambda arrival: arrival.get("event") == "removed" and arrival["timer"] == timer,
            f"the removal of {timer!r}", within)

    async def subscribe(self, *timers: str, interval=None, **fields) -> Arrival:
        """Subscribes and returns the `subscribed` snapshot."""
        if interval is not None:
            fields["interval"] = interval
        if timers == ("*",):
            await self.ok("subscribe", timers="*", **fields)
        else:
            await self.ok("subscribe", timers=list(timers), **fields)
        return await self.snapshot("subscribed")

    async def drain(self, quiet: float = 0.1, within: float = WITHIN) -> list[Arrival]:
        """Takes all messages, until the server has been silent for `quiet` seconds."""
        end = time.monotonic() + within
        count = -1
        while count != len(self.arrivals):
            assert time.monotonic() < end, f"{self.name}: no silence within {within} s; {self.tail()}"
            count = len(self.arrivals)
            await asyncio.sleep(quiet)
        self.raise_fault()
        return self.take()

    async def collect(self, duration: float) -> list[Arrival]:
        """Takes all messages within `duration` seconds, for tests of what must *not* come."""
        await asyncio.sleep(duration)
        self.raise_fault()
        return self.take()

    def take(self) -> list[Arrival]:
        """Takes all messages that have come so far."""
        fresh = [arrival for arrival in self.arrivals if not arrival.taken]
        for arrival in fresh:
            arrival.taken = True
        return fresh

    async def wait_for(self, fits, what: str, within: float = WITHIN) -> Arrival:
        """Takes the first message that fits, now or within the time."""
        def found() -> Arrival | None:
            return next((arrival for arrival in self.arrivals if not arrival.taken and fits(arrival)), None)

        try:
            async with asyncio.timeout(within):
                async with self._news:
                    while True:
                        self.raise_fault()
                        arrival = found()
                        if arrival:
                            arrival.taken = True
                            return arrival
                        if self._closed:
                            raise AssertionError(
                                f"{self.name}: the connection closed with {self.socket.close_code} "
                                f"while waiting for {what}; {self.tail()}")
                        await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"{self.name}: no {what} within {within} s; {self.tail()}") from None

    # The server's clock

    async def calibrate(self, samples: int = 8) -> float:
        """Learns the offset of the server clock from the local monotonic one; returns the possible error."""
        best = None
        for number in range(SAMPLES_MOST):
            if number >= samples and best < GOOD_ENOUGH:
                break
            identifier = self.next_id()
            sent = time.monotonic()
            await self.send({"id": identifier, "command": "sync", "clientTime": 0})
            arrival = await self.wait_for(
                lambda arrival, identifier=identifier: arrival.get("reply") == identifier, "the reply to sync")
            received, answered = float(arrival["receivedAt"]), float(arrival["sentAt"])
            trip = (arrival.at - sent) - (answered - received)
            if best is None or trip < best:
                best = trip
                self.offset = ((received - sent) + (answered - arrival.at)) / 2
        self.doubt = best / 2
        return self.doubt

    def now(self) -> float:
        """The server clock, as far as this client knows it."""
        assert self.offset is not None, "calibrate first"
        return time.monotonic() + self.offset

    def lateness(self, arrival: Arrival, instant) -> Lateness:
        """The seconds from an instant of the server clock to a message's arrival."""
        assert self.offset is not None, "calibrate first"
        return Lateness(arrival.at + self.offset - float(instant), arrival.at, self.doubt)

    async def sleep_until(self, instant) -> None:
        """Returns when the server clock has passed this instant, as far behind as it may be."""
        while (rest := float(instant) - (self.now() - self.doubt)) > 0:
            await asyncio.sleep(rest + 0.002)

    # Inside

    def raise_fault(self) -> None:
        """Raises the error of an invalid message, once."""
        fault, self.fault = self.fault, None
        if fault:
            raise fault

    def tail(self) -> str:
        lines = "\n  ".join(("  " if a.taken else "* ") + a.text[:400] for a in self.arrivals[-12:])
        return f"the last messages (* not yet taken):\n  {lines or 'none'}"

    async def _read(self) -> None:
        try:
            async for text in self.socket:
                at = time.monotonic()
                assert isinstance(text, str), f"the server sent a binary message: {text!r}"
                arrival = Arrival(wire.parse(text), text, at)
                wire.check_message(arrival.message)
                self._check_order(arrival.message)
                await self._keep(arrival)
        except ConnectionClosed:
            pass
        except Exception as fault:  # kept, and raised in the test that waits
            self.fault = AssertionError(f"{self.name}: {fault}\n{self.tail()}")
        finally:
            self._closed = True
            async with self._news:
                self._news.notify_all()

    async def _keep(self, arrival: Arrival) -> None:
        async with self._news:
            self.arrivals.append(arrival)
            self._news.notify_all()

    def _check_order(self, message: dict) -> None:
        """No snapshot is older than one that came before it."""
        # A late end shows the timer as it was at its zero, before what `subscribed` has shown.
        if message.get("event") != "snapshot" or message.get("late"):
            return
        for state in message["timers"]:
            age = (state["revision"], Decimal(state["lastElapsedTimeCalculatedAt"]))
            last = self._newest.get(state["timer"])
            assert last is None or age >= last, f"a stale snapshot, {age} after {last}: {message}"
            self._newest[state["timer"]] = age
