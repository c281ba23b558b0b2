"""A client written by the rules of "Writing a client" alone; it shares no code with our page or the other tests."""

import asyncio
import json
import random
import uuid

from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, WebSocketException

from client_rules import REPEAT_FOR, WITHIN, Clock, Follower, longest_delay, next_step, next_step_after_loss, shown

BURST = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.3, 2, 3, 4.5)
EVERY, STABLE_AFTER, EXACT_TO, LATE = 10, 5, 1, 1
ABOUT_A_RUN = {"start", "pause", "resume", "finish", "reset", "addRemainingTime", "addElapsedTime", "lap", "remove"}


UNKNOWN = "nobody knows whether the change was made"


class Refused(Exception):
    """A change that the server, or a rule of the client, refused; `code` is `None` when its outcome is unknown."""

    def __init__(self, code: str | None, message: str):
        super().__init__(message)
        self.code = code


class RuleClient:
    """Follows timers while `run` runs; `await change(…)` presses a button."""

    def __init__(self, url: str, timers: list[str] | str = "*", clock: Clock | None = None, token: str | None = None):
        self.url, self.selection = url, timers
        self.headers = {"Authorization": f"Bearer {token}"} if token else None
        self.clock, self.follower = clock or Clock(), Follower()
        self.socket, self.greeted_at, self.losses, self.due = None, None, 0, None
        self.last_id, self.requests, self.changes = 0, {}, []
        self.is_subscribed = False

    def shown(self, name: str) -> str | None:
        """The digits; empty for a timer that never ran, `None` while no digits are certain."""
        self.clock.notice_sleep()
        state = self.follower.timers.get(name)
        if state is None:
            return "" if self.follower.is_complete else None
        if state["status"] == "running" and self.clock.is_in_doubt:
            return None
        self.clock.assume_sleep()
        return shown(state, self.clock.now())

    async def change(self, command: str, timer: str, **fields) -> dict:
        """Presses a button, and returns the reply, even if the link breaks meanwhile."""
        message = {"command": command, "timer": timer, "requestId": uuid.uuid4().hex, **fields}
        if command in ABOUT_A_RUN and self.follower.is_complete:
            message.setdefault("ifRun", (self.follower.timers.get(timer) or {}).get("run") or 0)
        if command != "remove" and self.clock.error < EXACT_TO:
            message.setdefault("at", round(self.clock.now(), 6))
        change = {"message": message, "history": self.follower.history, "made": self.clock.monotonic(),
                  "repeated": False, "reply": asyncio.get_running_loop().create_future()}
        self.changes.append(change)
        await self.send(message, change)
        try:
            return await asyncio.wait_for(change["reply"], REPEAT_FOR)
        except TimeoutError:
            raise Refused(None, UNKNOWN) from None
        finally:
            self.changes.remove(change)

    # Connections

    async def run(self) -> None:
        """Connects and reconnects until it is cancelled, or must stay away."""
        while True:
            code, began = await self.connection(), self.greeted_at
            was_stable = began is not None and self.clock.monotonic() - began > STABLE_AFTER
            delay = longest_delay(code, self.losses, was_stable)
            if delay is None:
                raise ConnectionError(f"closed for good with {code}")
            self.losses = 0 if was_stable else self.losses + 1
            await asyncio.sleep(random.uniform(0, delay))

    async def connection(self) -> int:
        """Runs one connection. Returns its close code, or a code that stands for the reason why there was none."""
        self.greeted_at, self.due, self.is_subscribed, self.requests = None, None, False, {}
        pulse = None
        try:
            async with asyncio.timeout(WITHIN["hello"]):
                self.socket = await connect(
                    self.url, subprotocols=["timersync.v1"], additional_headers=self.headers, proxy=None, max_size=None,
                    ping_interval=None, open_timeout=None, close_timeout=1)
                hello = json.loads(await self.socket.recv())
            if hello["protocol"] != 1:
                raise RuntimeError(f"protocol {hello['protocol']} is not spoken here")
            self.greeted_at = self.clock.monotonic()
            self.follower.hello(hello)
            self.clock.greet(hello["epoch"], hello["now"])
            pulse = asyncio.create_task(self.pulse())
            async for text in self.socket:
                self.due = None
                await self.hear(json.loads(text))
        except InvalidStatus as refusal:
            return 1008 if refusal.response.status_code in (400, 403, 426) else 1006
        except (OSError, TimeoutError, WebSocketException):
            pass  # the close code says why
        finally:
            if pulse:
                pulse.cancel()
            socket, self.socket = self.socket, None
            if socket:
                socket.transport.abort()  # abort at once, because a dead link can't be closed
        return socket.close_code or 1006 if socket else 1006

    async def pulse(self) -> None:
        """Subscribes, repeats changes without a reply, compares the clocks, and closes a silent link."""
        await self.sync("first sync")
        since = {"since": self.follower.since} if self.follower.since else {}
        await self.send({"command": "subscribe", "timers": self.selection, "interval": 10, "parts": True, **since})
        self.is_subscribed = True
        for change in list(self.changes):
            await self.repeat(change)
        began, burst = self.clock.monotonic(), list(BURST)
        while True:
            await asyncio.sleep(0.05)
            now = self.clock.monotonic()
            if self.clock.notice_sleep():
                began, burst = now, [0, *BURST]
            if self.due is not None and now > self.due + LATE:
                self.due = now + LATE  # this process stood still, and the answer may be waiting
            elif self.due is not None and now > self.due:
                self.socket.transport.abort()
            elif burst and now >= began + burst[0]:
                burst.pop(0)
                began = began if burst else now + EVERY
                await self.sync()
            elif not burst and now >= began:
                began = now + EVERY * random.uniform(0.8, 1.2)
                await self.sync()

    async def sync(self, awaited: str = "reply") -> None:
        await self.send({"command": "sync"}, {"t0": self.clock.monotonic(), "after": self.is_subscribed}, awaited)

    async def send(self, message: dict, request: dict | None = None, awaited: str = "reply") -> None:
        """Sends a request; without a socket the next connection repeats it."""
        self.last_id += 1
        self.requests[self.last_id] = request
        due = self.clock.monotonic() + WITHIN[awaited]
        self.due = due if self.due is None else min(self.due, due)
        if self.socket and self.greeted_at is not None:
            try:
                await self.socket.send(json.dumps({"id": self.last_id, **message}))
            except WebSocketException:
                pass

    # Messages

    async def hear(self, message: dict) -> None:
        match message.get("event"):
            case "snapshot":
                self.follower.snapshot(message)
            case "removed":
                self.follower.remove(message["timer"])
            case None:
                await self.settle(message)

    async def settle(self, reply: dict) -> None:
        request = self.requests.pop(reply["reply"], None)
        if request and "t0" in request:
            if reply["ok"]:
                self.clock.learn(request["t0"], reply["receivedAt"], reply["sentAt"], self.clock.monotonic())
            if request["after"]:
                self.follower.catch_up()
        elif request and "message" in request:
            await self.conclude(request, reply)

    async def conclude(self, change: dict, reply: dict) -> None:
        if isinstance(reply.get("timer"), dict) and not change["repeated"] and change["message"]["command"] != "remove":
            self.follower.take(reply["timer"])
        error, message = reply.get("error", {}), change["message"]
        step = next_step(error, "at" in message)
        if step == "send anew without at":
            del message["at"]
            message["requestId"] = uuid.uuid4().hex
            await self.send(message, change)
        elif step == "repeat after 1 s":
            asyncio.get_running_loop().call_later(1, lambda: asyncio.ensure_future(self.repeat(change)))
        elif step == "done" and not change["reply"].done():
            change["reply"].set_result(reply)
        elif step == "tell" and not change["reply"].done():
            change["reply"].set_exception(Refused(error["code"], error["message"]))

    async def repeat(self, change: dict) -> None:
        if change["reply"].done():
            return
        age = self.clock.monotonic() - change["made"]
        if next_step_after_loss(change["history"] == self.follower.history, age) == "unknown":
            change["reply"].set_exception(Refused(None, UNKNOWN))
            return
        change["repeated"] = True
        await self.send(change["message"], change)
