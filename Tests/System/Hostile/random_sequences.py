#!/usr/bin/env python3
"""Drives the real server with random sequences, well- and ill-formed, and compares each answer to a small model.

    python3 Tests/System/Hostile/random_sequences.py --steps 100000 --seed 1 [--server PROGRAM]

Several connections send one request at a time, or a dozen in one packet. A watcher that is subscribed to every timer
must receive each change, once and in order. Now and then a connection sends a bad frame and is closed, and the server
is killed and started again. A difference ends the run with the last steps and the seed that repeats them.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import deque
from decimal import Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "BlackBox")]

import timer_server  # noqa: E402
import wire  # noqa: E402
from protocol_model import CHANGES, SECOND, Answered, Model, Refusal, Request, Run, Timer, read  # noqa: E402
from raw_socket import BINARY, CLOSE, PING, PONG, TEXT, RawSocket, frame, text  # noqa: E402

NAMES = ["default", "tea", "é", "e\u0301", "🍵 & <b>", "n" * 128]
# A timer that is only ever paused and resumed.
PAUSED_OFTEN = "paused often"
CAUSES = {
    "start": "started", "update": "updated", "pause": "paused", "resume": "resumed", "finish": "finished",
    "finishAll": "finished", "reset": "reset", "addRemainingTime": "adjusted", "addElapsedTime": "adjusted",
    "lap": "lapped", "message": "updated", "signal": "updated",
}
TIMES = ["elapsedTime", "time", "startDate", "stopDate", "lastElapsedTimeCalculatedAt", "addedTime", "duration"]
# The most by which clocks and roundings may differ.
SLACK = SECOND // 200
# The wait, in seconds, for what takes no time on an idle machine.
PATIENCE = 30.0


class Difference(AssertionError):
    """The server and the model disagree."""


# From the wire


def micro(value) -> int | None:
    """An instant or a length of the wire in whole microseconds."""
    if value is None:
        return None
    exact = Decimal(value) * SECOND
    if exact != int(exact):
        raise Difference(f"{value} is no whole number of microseconds")
    return int(exact)


def seen(state: dict) -> dict:
    """A state of the wire as the model shows it."""
    shown = {name: value for name, value in state.items() if name != "revision"}
    for name in TIMES:
        if name in shown:
            shown[name] = micro(shown[name])
    shown["pausePeriods"] = [{name: micro(value) for name, value in pause.items()} for pause in state["pausePeriods"]]
    shown["warnings"] = [micro(warning) for warning in state["warnings"]]
    for name in {"message", "signal"} & set(state):
        shown[name] = {**state[name], "sentAt": micro(state[name]["sentAt"])}
    if "laps" in state:
        shown["laps"] = [micro(lap) for lap in state["laps"]]
    return shown


# Requests that are sent


class Generator:
    """Makes up requests, and looks at the model so that many of them make sense."""

    def __init__(self, source: random.Random, model: Model):
        self.random = source
        self.model = model
        self.identifiers = 0
        self.recent: deque[dict] = deque(maxlen=20)
        # Requests carry no press before this instant: the model doesn't know yet when timers changed last, on which the
        # answer to a press depends.
        self.no_press_before = 0

    def message(self, now: int) -> str:
        """The text of one message."""
        request = self.request(now)
        if self.random.random() < 0.2:
            return self.spoiled(request)
        return wire.dump(request)

    def request(self, now: int) -> dict:
        pick = self.random
        if self.recent and pick.random() < 0.03:
            return {**pick.choice(self.recent), "id": self.identifier()}
        if pick.random() < 0.1:
            return {"id": self.identifier(), "timer": PAUSED_OFTEN, "command": self.next_of_pauses()}
        command = pick.choices(
            [
                "start",
                "pause",
                "resume",
                "finish",
                "reset",
                "addRemainingTime",
                "addElapsedTime",
                "update",
                "remove",
                "lap",
                "message",
                "signal",
                "finishAll",
                "get",
                "list",
                "subscribe",
                "unsubscribe",
                "sync",
                "authenticate",
            ],
            [20, 8, 12, 3, 3, 10, 8, 8, 2, 10, 4, 4, 0.1, 12, 3, 4, 2, 3, 1],
        )[0]
        request: dict = {"command": command}
        if pick.random() < 0.9:
            request["id"] = self.identifier()
        if command not in {"finishAll", "list", "sync", "authenticate"}:
            name = pick.choice(NAMES)
            if name != "default" or pick.random() < 0.5:
                request["timer"] = name
        if maker := getattr(self, f"_{command}", None):
            maker(request)
        if command in CHANGES:
            self._conditions(request, now)
        return request

    def forget_presses(self) -> None:
        """Keeps requests with a press from being sent again: a refused one would be judged anew, by its old instant."""
        kept = [request for request in self.recent if "at" not in request]
        self.recent.clear()
        self.recent.extend(kept)

    def next_of_pauses(self) -> str:
        """The next request for the timer that collects pauses."""
        timer = self.model.timers.get(PAUSED_OFTEN)
        if self.random.random() < 0.05:
            return "get"
        if timer is None or not timer.is_active:
            return "start"
        return "resume" if timer.status == "paused" else "pause"

    def identifier(self):
        self.identifiers += 1
        return self.random.choice([self.identifiers, str(self.identifiers), self.identifiers + 0.5, "🍵", -1])

    def _length(self) -> float:
        pick = self.random
        return pick.choice(
            [0.1, 0.099999, 0.07, 0.12, 0.2, 0.3, 0.5, 1, 2, 60, 31_536_000, 0.000001, round(pick.uniform(0.05, 1), 6)])

    def _start(self, request: dict) -> None:
        pick = self.random
        if pick.random() < 0.7:
            request["duration"] = self._length()
        if pick.random() < 0.25:
            request["type"] = pick.choice(["timer", "stopwatch"])
        if pick.random() < 0.2:
            request["force"] = True
        self._settings(request)

    def _settings(self, request: dict) -> None:
        pick = self.random
        if pick.random() < 0.4:
            request["atZero"] = pick.choice(["overtime", "finish", "reset", "repeat"])
        if pick.random() < 0.2:
            request["title"] = pick.choice(["", "Pasta", "<script>", "\u202e", '"\\', "t" * 256, "t" * 257])
        if pick.random() < 0.2:
            request["warnings"] = pick.choice([[], [60, 10], [0.000001], [0] * 16, [0] * 17])

    _update = _settings

    def _message(self, request: dict) -> None:
        request["text"] = self.random.choice(
            ["", None, "Wrap up", "two\nlines 🍵", "\u202e", "\t", "\u2028", "é" * 250, "é" * 250 + "x"])

    def _signal(self, request: dict) -> None:
        request["signal"] = self.random.choice(["flash", "blackout", "none", "none", "off"])

    def _finish(self, request: dict) -> None:
        if self.random.random() < 0.3:
            request["resetTime"] = self.random.choice([True, False])

    def _added(self, request: dict) -> None:
        pick = self.random
        request["seconds"] = pick.choice(
            [0, 1, -1, 0.5, -0.25, -1000, 31_536_000, 1e12, round(pick.uniform(-2, 2), 6)])
        if pick.random() < 0.3:
            request["clamp"] = True

    _addRemainingTime = _addElapsedTime = _added

    def _subscribe(self, request: dict) -> None:
        pick = self.random
        if pick.random() < 0.5:
            request.pop("timer", None)
            request["timers"] = pick.choice(["*", ["*"], [], pick.sample(NAMES, 2)])
        if pick.random() < 0.5:
            request["interval"] = pick.choice(
                [0, 0.1, 1, 3600, 0.05, 3601, 0.35, 0.26, 0.101, 1.024999, 2.025, 3599.99]
            )
        if pick.random() < 0.2:
            request["parts"] = pick.choice([True, False])
        if pick.random() < 0.2:
            request["since"] = pick.choice(["nobody:1", "a:b:2", "nobody:", ":1", "1", ""])

    def _list(self, request: dict) -> None:
        pick = self.random
        if pick.random() < 0.4:
            request["limit"] = pick.choice([1, 2, 3, 10_000, 0, -1, 10_001, 1.5, 1e30])
        if pick.random() < 0.4:
            request["after"] = pick.choice([*NAMES, PAUSED_OFTEN, "a", "zz", "", "*"])

    def _unsubscribe(self, request: dict) -> None:
        if self.random.random() < 0.5:
            request.pop("timer", None)
            request["timers"] = self.random.choice(["*", []])

    def _sync(self, request: dict) -> None:
        if self.random.random() < 0.8:
            request["clientTime"] = self.random.choice([0, 1.25, -3, 123456789.000001])

    def _authenticate(self, request: dict) -> None:
        request["token"] = "nobody's"

    def _conditions(self, request: dict, now: int) -> None:
        pick = self.random
        timer = self.model.timers.get(request.get("timer", "default"))
        if request["command"] != "finishAll" and pick.random() < 0.1:
            known = timer.revision if timer else 0
            request["ifRevision"] = pick.choice([0, known or 0, known or 0, 7])
        if request["command"] != "finishAll" and pick.random() < 0.1:
            known = timer.run.revision if timer and timer.run else 0
            request["ifRun"] = pick.choice([0, known, known, 7])
        if pick.random() < 0.08 and now > self.no_press_before:
            age = pick.choice([50_000, 500_000, 1_500_000, 10_000_000, -100_000_000])
            request["at"] = round((now - age) / SECOND, 6)
        if pick.random() < 0.08:
            request["requestId"] = f"r{pick.randrange(1 << 40)}"
            self.recent.append(request)
        elif self.recent and pick.random() < 0.01:
            request["requestId"] = pick.choice(self.recent)["requestId"]

    # Ill-formed

    VALUES = [
        "null", "true", "5", "-1", "-0", "0.5", "1e999", "-1e999", "1e-400", "1E2", "60.", "01", "+1", "NaN",
        '"x"', '""', '"5"', '"\\ud800"', '"\\u0000"', '"*"', '"\\ud83c\\udf75"', "[]", "[5]", '["a","b"]', "{}",
        '{"a":{"b":1}}', "9" * 40, "[" * 20 + "]" * 20, '"' + "y" * 300 + '"',
    ]
    CHARACTERS = '{}[]",:0123456789eE+-. \\\n\t\0éx🍵'

    def spoiled(self, request: dict) -> str:
        """A request that mostly has something wrong with it."""
        pick = self.random
        kind = pick.randrange(8)
        if kind == 0:
            name = pick.choice([*request, "colour", "id", "duration"])
            return self._with_field_token(request, name, pick.choice(self.VALUES))
        if kind == 1:
            members = [f"{wire.dump(name)}:{wire.dump(value)}" for name, value in request.items()]
            members.append(pick.choice(members))
            return "{" + ",".join(members) + "}"
        if kind == 2:
            return wire.dump({**request, pick.choice(["colour", "Duration", "", "Timer", "now"]): 1})
        if kind == 3:
            return pick.choice(["", "[]", "5", '"list"', "null", "[" * 3000, f"[{wire.dump(request)}]", "\ufeff{}"])
        if kind == 4:
            return wire.dump({name: value for name, value in request.items() if name != "command"})
        whole = wire.dump(request)
        place = pick.randrange(len(whole))
        if kind == 5:
            return whole[:place] + pick.choice(self.CHARACTERS) + whole[place:]
        if kind == 6:
            return whole[:place] + whole[place + pick.randrange(1, 4):]
        return whole[:place] + pick.choice(self.CHARACTERS) + whole[place + 1:]

    @staticmethod
    def _with_field_token(request: dict, name: str, token: str) -> str:
        members = {key: wire.dump(value) for key, value in request.items()} | {name: token}
        return "{" + ",".join(f"{wire.dump(key)}:{value}" for key, value in members.items()) + "}"


# Connections


class Connection:
    """A connection: requests and replies in order, and events beside them."""

    def __init__(self, server, target: str = "/ws"):
        self.raw = RawSocket(server.port).open(target)
        self.events: deque[dict] = deque()
        self.replies: deque[dict] = deque()

    def take_in(self, within: float = PATIENCE) -> None:
        """Waits for one message, and keeps it as a reply or as an event."""
        while True:
            opcode, payload = self.raw.frame(within)
            if opcode != PING:
                break
            self.raw.send(frame(PONG, payload))
        if opcode != TEXT:
            raise Difference(f"opcode {opcode}: {payload!r}")
        message = wire.parse(payload)
        wire.check_message(message)
        (self.replies if "reply" in message else self.events).append(message)

    def reply(self) -> dict:
        while not self.replies:
            self.take_in()
        return self.replies.popleft()

    def event(self) -> dict:
        while not self.events:
            self.take_in()
        return self.events.popleft()

    def close(self) -> None:
        self.raw.socket.close()


# The run


class Sequences:
    """The whole: the server, its clients and the model, step by step."""

    CONNECTIONS = 3

    def __init__(self, server, seed: int, history=None):
        self.server = server
        self.history = history
        self.random = random.Random(seed)
        self.model = Model()
        self.generator = Generator(self.random, self.model)
        self.counts = dict.fromkeys(
            ["steps", "accepted", "refused", "ill-formed", "ambiguous", "thrown out", "kills", "known after a kill"], 0)
        self.log: deque[str] = deque(maxlen=40)
        self.highest = 0
        self.endings: set[tuple[str, int]] = set()
        # The model knows of every zero from this instant on.
        self.since = 0
        self.killed_at = 0
        self.perhaps: set[tuple[str, int]] = set()
        self.connect()

    def connect(self) -> None:
        self.clients = [Connection(self.server) for _ in range(self.CONNECTIONS)]
        self.watcher = Connection(self.server, "/ws?timer=*&interval=0")
        first = self.watcher.event()
        assert first["cause"] == "subscribed", first
        self.calibrate()

    def close(self) -> None:
        for connection in [*self.clients, self.watcher]:
            connection.close()

    def calibrate(self) -> None:
        """Measures the offset of the server's clock from the local one."""
        best = None
        client = self.clients[0]
        for number in range(200):
            if number >= 20 and best < SLACK:
                break
            sent = self.local()
            client.raw.send(text('{"command":"sync"}'))
            reply = client.reply()
            arrived = self.local()
            if best is None or arrived - sent < best:
                best = arrived - sent
                self.offset = micro(reply["sentAt"]) - (sent + arrived) // 2

    @staticmethod
    def local() -> int:
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000

    def now(self) -> int:
        return self.local() + self.offset

    def note(self, line: str) -> None:
        self.log.append(line)
        if self.history:
            print(line, file=self.history, flush=True)

    # Steps

    def run(self, steps: int, until: float | None = None) -> None:
        """Does this many steps, or as many as there is time for."""
        while self.counts["steps"] < steps and (until is None or time.monotonic() < until):
            dice = self.random.random()
            if dice < 0.0005:
                self.kill()
            elif dice < 0.003:
                self.misbehave()
            elif dice < 0.01:
                time.sleep(self.random.uniform(0.01, 0.2))
            else:
                self.exchange(1 if self.random.random() < 0.7 else self.random.randrange(2, 13))
        self.finish()

    def exchange(self, count: int) -> None:
        """Sends several requests in one packet, and judges their replies and what the watcher receives."""
        client = self.random.choice(self.clients)
        began = self.now() - SLACK
        texts = [self.generator.message(began + SLACK) for _ in range(count)]
        self.model.forget_names(began)
        texts = [message for message in texts if not self.model.is_forgetting(read(message), began)]
        client.raw.send(b"".join(text(message) for message in texts))
        self.counts["steps"] += len(texts)
        heard: list[tuple] = []
        pairs = []
        for message in texts:
            reply = client.reply()
            self.note(f"{message[:400]}  ->  {json.dumps(reply, default=str, ensure_ascii=False)[:700]}")
            pairs.append((message, reply))
        ended = self.now() + SLACK
        answered, crossings = set(self.model.answered), len(self.model.crossings)
        judged: list[Request] = []
        request = Request()
        try:
            for message, reply in pairs:
                request = read(message)
                self.judge(request, reply, began, ended, heard)
                judged.append(request)
        except Difference:
            if not self.near_zero(request, began, ended):
                raise
            self.counts["ambiguous"] += 1
            self.watch(self.told_anew(pairs, answered))
            self.adopt()
            return
        self.doubt(self.model.crossings[crossings:], judged, began)
        self.watch(heard)

    def doubt(self, crossings: list[tuple], requests: list[Request], began: int) -> None:
        """Notes zeros that a change may have met on its way. They may or may not have been crossed: when the change was
        refused or removed the timer, the model does not know its instant, and takes the latest that is possible."""
        changed = {request.timer for request in requests if request.is_change}
        for name, zero, _ in crossings:
            if zero >= began and (name in changed or None in changed):
                self.perhaps.add((name, zero))

    def told_anew(self, pairs: list[tuple], answered: set[str]) -> list[tuple]:
        """The changes that the replies alone show, although some replies were judged before. `answered` holds the
        idempotency keys of earlier changes."""
        heard: list[tuple] = []
        for message, reply in pairs:
            request = read(message)
            key = request.fields.get("requestId")
            if not (key and key in answered):
                changes = self.told(request, reply)
                heard += changes
                if key and reply["ok"] and request.is_change:
                    answered.add(key)
                    self.remember(key, request, reply)
        return heard

    def near_zero(self, request: Request, began: int, ended: int) -> bool:
        """Whether a zero was crossed while the requests were on their way. Then some may have been decided before it
        and some after, and the model can't know which."""
        names = [request.timer] if request.timer else [*self.model.timers]
        timers = [
            timer for name in names for timer in [self.model.timers.get(name), *self.model.past.get(name, ())] if timer]
        return any(timer.zero is not None and began <= timer.zero <= ended for timer in timers)

    def told(self, request: Request, reply: dict) -> list[tuple]:
        """The changes that an accepted request has made, as the watcher will receive them."""
        if not reply["ok"] or not request.is_change:
            return []
        if request.command == "remove":
            return [("removed", request.fields["timer"], None)]
        states = reply["timers"] if request.command == "finishAll" else [reply["timer"]]
        return [(CAUSES[request.command], state["timer"], state) for state in states]

    # Judging

    def judge(self, request: Request, reply: dict, began: int, ended: int, heard: list) -> None:
        """Compares one reply with the model."""
        self.check_tag(request, reply)
        if request.faults:
            self.counts["ill-formed"] += 1
            return self.judge_faulty(request, reply, ended)
        self.counts["accepted" if reply["ok"] else "refused"] += 1
        if request.is_change:
            return self.judge_change(request, reply, began, ended, heard)
        judge = getattr(self, f"judge_{request.command}")
        return judge(request, reply, began, ended)

    def check_tag(self, request: Request, reply: dict) -> None:
        tag, given = request.tag, reply["reply"]
        same = given == tag if isinstance(tag, str) or tag is None else given is not None and float(given) == float(tag)
        self.demand(same, f"the reply should carry {tag!r}", reply)

    def judge_faulty(self, request: Request, reply: dict, ended: int) -> None:
        self.demand(not reply["ok"], f"should be refused with one of {request.faults}", reply)
        code = reply["error"]["code"]
        self.demand(code in request.faults, f"should be refused with one of {request.faults}", reply)
        self.check_beside(request.timer, reply, ended)

    def check_beside(self, name: str | None, reply: dict, ended: int) -> None:
        """Checks that an error comes with the timer's state if there is such a timer."""
        if "timer" in reply:
            self.demand(reply["timer"]["timer"] == name, f"the state beside should be of {name!r}", reply)
            self.check_state(reply["timer"], ended, reply)
        elif name is not None:
            is_gone = name not in self.model.timers or None in self.model.past.get(name, ())
            self.demand(is_gone, f"the state of {name!r} should stand beside the error", reply)

    def check_state(self, state: dict, ended: int, reply: dict) -> None:
        """Checks a state that was asked for: the present one, or one that a change on its way to the disk replaces.

        The model does not cross a zero for such a state. The state may come with a refusal that waited for the disk,
        and changes with later replies may have been made before that zero.
        """
        name = state["timer"]
        instant = micro(state["lastElapsedTimeCalculatedAt"])
        self.demand(instant <= ended, "a state of the future", reply)
        versions = self.model.versions(name, instant)
        shown = seen(state)
        fitting = [timer for timer in versions if timer and timer.state(instant) == shown]
        if any(timer.revision == state["revision"] for timer in fitting):
            return
        known = max((timer.revision or 0 for timer in versions if timer), default=0)
        for timer in fitting:
            # A crossing changes nothing in the state but its revision, which is sent here for the first time.
            if timer.revision is None and state["revision"] > known:
                timer.revision = self.model.seen_crossings[name, timer.run_changed_at] = state["revision"]
                return
        expected = versions[0].state(instant) if versions[0] else None
        raise Difference(f"expected {expected}, revision {versions[0] and versions[0].revision}: {reply}")

    def judge_change(self, request: Request, reply: dict, began: int, ended: int, heard: list) -> None:
        key = request.fields.get("requestId")
        if key in self.model.answered:
            return self.judge_repeated(request, reply, key, ended)
        if reply["ok"]:
            instants = [micro(state["lastElapsedTimeCalculatedAt"]) for state in self.states(reply)]
            # A removal shows no instant, a change with `at` that of the press.
            at = ended if "at" in request.fields or not instants else instants[0]
            moments = [began, at] if at == ended else [at]
            earliest = began - 2 * SECOND - SLACK
            self.demand(all(earliest <= one <= ended for one in instants), "made at another time", reply)
        else:
            moments = [began, ended]
        problem = None
        for moment in dict.fromkeys(moments):
            self.model.cross(moment)
            try:
                after = self.model.change(request, moment)
            except Refusal as refusal:
                problem = self.refusal_differs(refusal, reply)
                if problem is None:
                    name = None if request.command == "finishAll" else request.fields["timer"]
                    return self.check_beside(name, reply, ended) if name else None
                continue
            problem = self.change_differs(request, reply, after)
            if problem is None:
                return self.keep(request, reply, after, heard)
        raise Difference(f"{problem}: {request}: {reply}")

    @staticmethod
    def states(reply: dict) -> list[dict]:
        return reply["timers"] if "timers" in reply else [reply["timer"]] if "timer" in reply else []

    @staticmethod
    def refusal_differs(refusal: Refusal, reply: dict) -> str | None:
        if reply["ok"]:
            return f"should be refused with {refusal.code}"
        if reply["error"]["code"] != refusal.code:
            return f"should be refused with {refusal.code}"
        if refusal.limit is not None:
            # The limit of an amount moves on with the time, and other tests check that.
            given = micro(reply["error"].get("limit"))
            if given is None or abs(given - refusal.limit) > SECOND:
                return f"the limit should be near {refusal.limit}"
        return None

    def change_differs(self, request: Request, reply: dict, after: dict) -> str | None:
        if not reply["ok"]:
            return f"should be made: {after}"
        states = self.states(reply)
        if request.command == "remove":
            return "a removal has no state" if states else None
        if [state["timer"] for state in states] != list(after):
            return f"should tell of {list(after)}"
        for state in states:
            timer = after[state["timer"]]
            if timer.run and timer.run.revision is None:
                timer.run.revision = state["revision"]
            if seen(state) != timer.state(timer.changed_at):
                return f"expected {timer.state(timer.changed_at)}"
        return None

    def keep(self, request: Request, reply: dict, after: dict, heard: list) -> None:
        for state in self.states(reply):
            revision = state["revision"]
            self.demand(revision > self.highest, f"the revision should be above {self.highest}", reply)
            self.highest = revision
            after[state["timer"]].revision = revision
        for name, timer in after.items():
            if timer is None and self.model.timers[name].zero is not None:
                # The zero may have been crossed just before the removal, whose instant is unknown.
                self.perhaps.add((name, self.model.timers[name].zero))
            self.model.keep(name, timer)
        heard += self.told(request, reply)
        if key := request.fields.get("requestId"):
            self.remember(key, request, reply)

    def remember(self, key: str, request: Request, reply: dict) -> None:
        self.model.answered[key] = Answered(self.identity(request), {**reply, "reply": None}, self.now())

    @staticmethod
    def identity(request: Request) -> str:
        told = {name: value for name, value in request.fields.items() if value is not False}
        return json.dumps([request.command, told], sort_keys=True, default=str)

    def judge_repeated(self, request: Request, reply: dict, key: str, ended: int) -> None:
        first = self.model.answered[key]
        if first.asked != self.identity(request):
            is_refused = not reply["ok"] and reply["error"]["code"] == "badRequest"
            return self.demand(is_refused, f"another request of the name of {first.asked}", reply)
        if first.is_of_earlier_server:
            self.counts["known after a kill"] += 1
            return self.judge_known(request, reply, first.reply, ended)
        return self.demand(
            {**reply, "reply": None} == first.reply, f"should be answered as the first time: {first.reply}", reply)

    def judge_known(self, request: Request, reply: dict, first: dict, ended: int) -> None:
        """A restarted server knows that a change was made, and answers with the states that it has: those that the
        change made, or the present ones."""
        self.demand(reply["ok"], f"should be answered as the first time: {first}", reply)
        changed = [state["timer"] for state in self.states(first)]
        told = [state["timer"] for state in self.states(reply)]
        gone = [name for name in changed if name not in self.model.timers or None in self.model.past.get(name, ())]
        self.demand(
            told == [name for name in changed if name in told] and set(changed) - set(told) <= set(gone),
            f"should tell of {changed}, of whom {gone} are gone", reply)
        self.demand(("timers" in reply) == (request.command == "finishAll"), "another shape", reply)
        for state in self.states(reply):
            self.check_state(state, ended, reply)

    # Requests that change nothing

    def judge_get(self, request: Request, reply: dict, _: int, ended: int) -> None:
        name = request.fields["timer"]
        if reply["ok"]:
            self.demand(reply["timer"]["timer"] == name, "another timer", reply)
            return self.check_state(reply["timer"], ended, reply)
        is_gone = name not in self.model.timers or None in self.model.past.get(name, ())
        self.demand(reply["error"]["code"] == "unknownTimer" and is_gone, "should be known", reply)
        return None

    def judge_list(self, request: Request, reply: dict, __: int, ended: int) -> None:
        self.demand(reply["ok"], "should be told", reply)
        for state in reply["timers"]:
            self.check_state(state, ended, reply)
        names = [state["timer"] for state in reply["timers"]]
        shown, following = self.model.page(request.fields.get("limit"), request.fields.get("after"))
        self.demand(names == shown, f"should be {shown}", reply)
        self.demand(reply.get("next") == following, f"the next page should begin after {following!r}", reply)

    def judge_sync(self, request: Request, reply: dict, began: int, ended: int) -> None:
        given = request.fields.get("clientTime")
        echoed = reply["clientTime"]
        self.demand(echoed == given or float(echoed) == float(given), "another time than the client's", reply)
        received, answered = micro(reply["receivedAt"]), micro(reply["sentAt"])
        self.demand(began <= received <= answered <= ended, f"not within {began} and {ended}", reply)

    def judge_subscribe(self, request: Request, reply: dict, __: int, ___: int) -> None:
        expected = {"reply": reply["reply"], "ok": True}
        fields = request.fields
        if "*" in (fields.get("timer"), fields.get("timers")):
            given = self.model.interval_of_all(fields.get("interval", SECOND))
            if given != fields.get("interval", SECOND):
                expected["interval"] = given
                reply = {**reply, "interval": micro(reply.get("interval"))}
        self.demand(reply == expected, f"should be {expected}", reply)

    def judge_unsubscribe(self, _: Request, reply: dict, __: int, ___: int) -> None:
        self.demand(reply["ok"] and set(reply) == {"reply", "ok"}, "should be done", reply)

    def judge_authenticate(self, _: Request, reply: dict, __: int, ___: int) -> None:
        self.demand(not reply["ok"] and reply["error"]["code"] in {"unauthorized", "forbidden"}, "no such token", reply)

    # The watcher

    def watch(self, heard: list[tuple]) -> None:
        """Checks that the watcher receives each change, once and in order, with ends between them."""
        for cause, name, state in heard:
            event = self.next_change()
            if cause == "removed":
                self.demand(
                    event == {"event": "removed", "timer": name}, f"the watcher should hear that {name!r} went", event)
            else:
                self.demand(
                    event.get("cause") == cause and event["timers"] == [state],
                    f"the watcher should hear {cause}, {state}", event)

    def next_change(self) -> dict:
        while True:
            event = self.watcher.event()
            if event.get("cause") == "ended":
                self.note_ending(event)
            elif event.get("cause") != "restored":
                return event

    def note_ending(self, event: dict) -> None:
        ending = (event["timers"][0]["timer"], micro(event["endedAt"]))
        self.note(f"ended: {ending}, revision {event['timers'][0]['revision']}")
        self.demand(ending not in self.endings, "told twice", event)
        self.endings.add(ending)

    def check_endings(self) -> None:
        """Checks that each zero that was crossed was sent as an end, and no other."""
        began = self.now()
        self.hear_endings(0.4)
        self.model.cross(began)
        crossings = {(name, zero): repeats for name, zero, repeats in self.model.crossings}
        until = time.monotonic() + PATIENCE
        while (missed := self.missed(crossings, began)) and time.monotonic() < until:
            self.hear_endings(0.2)
        strange = {ending for ending in self.endings - set(crossings) - self.perhaps if self.since < ending[1] < began}
        self.demand(not strange, "nobody crossed zero then", strange)
        self.demand(not missed, "nobody was told of", missed)

    def hear_endings(self, seconds: float) -> None:
        """Handles what the watcher receives for a while: ends, and nothing else."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                self.watcher.take_in(0.1)
            except TimeoutError:
                continue
        for event in self.watcher.events:
            self.demand(event.get("cause") in {"ended", "restored"}, "the watcher should hear of nothing more", event)
            if event["cause"] == "ended":
                self.note_ending(event)
        self.watcher.events.clear()

    def missed(self, crossings: dict, began: int) -> list[tuple]:
        """Zeros from before `began` whose ends were not sent."""
        missed = [
            ending for ending in set(crossings) - self.endings - self.perhaps
            if self.since < ending[1] < began - SECOND // 4]
        # A repeating countdown that fell many runs behind while the machine stood still sends only its last end.
        behind = [ending for ending in missed if crossings[ending]]
        return [] if len(missed) == len(behind) and len(behind) not in range(1, 15) else missed

    # Once in a while

    def misbehave(self) -> None:
        """A connection sends a frame for which the server closes it, and a new one takes its place."""
        place = self.random.randrange(len(self.clients))
        sent, code = self.random.choice([
            (frame(BINARY, b"x"), 1003), (text(b"\xff"), 1007), (text(b" " * 20_000), 1009), (frame(3), 1002),
            (text("{}", reserved=4), 1002), (frame(PING, b"x" * 126), None), (frame(CLOSE, b"\x03\xe8"), 1000)])
        self.clients[place].raw.send(sent)
        given = self.clients[place].raw.close_code()
        self.demand(given == code, f"should be closed with {code}", {"code": given})
        self.clients[place].close()
        self.clients[place] = Connection(self.server)
        self.counts["thrown out"] += 1

    def kill(self) -> None:
        """The server is killed and started again: nothing is lost, and revisions go on."""
        self.check_endings()
        self.close()
        self.killed_at = self.now()
        self.server.restart()
        self.connect()
        self.counts["kills"] += 1
        self.endings.clear()
        for answered in self.model.answered.values():
            answered.is_of_earlier_server = True
        self.adopt(after_start=True)

    def adopt(self, after_start: bool = False) -> None:
        """Takes over the server's timers as the model. After a start they are compared with the model before."""
        model, former = Model(), self.model
        states = self.settled(former)
        self.since = self.now() + SECOND
        self.generator.no_press_before = self.now() + 2 * SECOND
        self.generator.forget_presses()
        model.answered = former.answered
        self.note(f"adopted{' after a kill' * after_start}: {json.dumps(states, default=str, ensure_ascii=False)}")
        for state in states:
            timer = self.timer(state)
            timer.ended_at = self.ended_at(timer, former)
            model.timers[timer.name] = timer
            self.highest = max(self.highest, state["revision"])
        if after_start:
            former.cross(self.now())
            self.demand(former.names() == model.names(), f"should be {former.names()}", {"list": states})
            for name, timer in model.timers.items():
                self.check_survived(former.timers[name], timer)
        self.model = self.generator.model = model

    def settled(self, former: Model) -> list[dict]:
        """The server's timers once no crossing is on its way to the disk any more."""
        client = self.clients[0]
        for _ in range(self.LOOKS):
            client.raw.send(text('{"command":"list"}'))
            states = client.reply()["timers"]
            strangers = [timer for timer in map(self.timer, states) if not self.is_same(timer, former)]
            if not any(self.is_past_zero(timer) and timer.at_zero != "overtime" for timer in strangers):
                break
            time.sleep(0.1)
        return states

    # Within this many looks a crossing has long been stored, unless the machine stands still.
    LOOKS = 200

    def ended_at(self, timer: Timer, former: Model) -> int | None:
        """The instant at which an adopted timer crossed zero, if it did; its state does not show that instant."""
        if self.is_same(timer, former):
            return former.timers[timer.name].ended_at
        # A timer that stays past its zero crossed it before its `atZero` was changed.
        return timer.changed_at if self.is_past_zero(timer) else None

    @staticmethod
    def is_same(timer: Timer, former: Model) -> bool:
        """Whether the timer has not changed since the model knew it."""
        known = former.timers.get(timer.name)
        return known is not None and known.revision == timer.revision

    @staticmethod
    def is_past_zero(timer: Timer) -> bool:
        run = timer.run
        return timer.is_active and run.duration is not None and run.elapsed(timer.run_changed_at) >= run.duration

    def check_survived(self, before: Timer, after: Timer) -> None:
        """Checks that a timer is the same after a restart, by a clock that was read anew."""
        now = self.now()
        # A crossing that was not on the disk when the server was killed is made again, by the new clock. Storing it
        # takes a moment, and a loaded machine takes several seconds until the server is back.
        last_kept, first_left = self.killed_at - SECOND, now + SECOND
        ends = [before.zero, before.ended_at]
        if any(end is not None and last_kept < end < first_left for end in ends) or before.at_zero == "repeat":
            return
        if before.run and after.run:
            shift = after.run.start - before.run.start
            self.demand(abs(shift) < SECOND // 10, f"moved by {shift} µs", {"before": before, "after": after})
            before.shift(shift)
        for name in ("message", "signal"):
            # The prompt was sent at the same moment, by the clock that was read anew.
            old, new = getattr(before, name), getattr(after, name)
            if old and new and abs(old[1] - new[1]) < SECOND // 10:
                setattr(before, name, (old[0], new[1]))
        shown, kept = after.state(now), before.state(now)
        self.demand(shown == kept, f"should be {kept}", shown)

    @staticmethod
    def timer(state: dict) -> Timer:
        """A timer, as far as its state shows it."""
        shown = seen(state)
        now = shown["lastElapsedTimeCalculatedAt"]
        duration = shown.get("duration")
        starting = None if duration is None else duration - shown["addedTime"]
        run = None
        if shown["startDate"] is not None:
            pauses = [[pause["pause"], pause["start"]] for pause in shown["pausePeriods"]]
            run = Run(shown["startDate"], duration, pauses, shown["stopDate"], shown.get("laps", []), shown["run"])
        # The state does not show the instant of the last change; the model takes the latest possible one.
        timer = Timer(
            state["timer"], starting, state["atZero"], state["title"], shown["warnings"], run=run, changed_at=now,
            run_changed_at=now, revision=state["revision"])
        if message := shown.get("message"):
            timer.message = (message["text"], message["sentAt"])
        if signal := shown.get("signal"):
            timer.signal = (signal["kind"], signal["sentAt"])
        return timer

    def finish(self) -> None:
        """Checks that server and model agree at the end."""
        self.check_endings()
        client = self.clients[0]
        client.raw.send(text('{"command":"list"}'))
        self.judge_list(Request(), client.reply(), 0, self.now() + SLACK)

    def demand(self, holds: bool, why: str, message) -> None:
        if not holds:
            raise Difference(f"{why}: {message}")


def sequences(folder: Path, seed: int, steps: int, seconds: float | None = None, program: str | None = None,
              history=None) -> dict:
    """Runs the sequences of a seed, and returns counts of what was done. `history` is an open file for all messages."""
    if program:
        timer_server.BINARY = Path(program).absolute()
    # Another suite checks how many requests a connection may send.
    server = timer_server.Server(folder / "data", "--requests", "1000000").start()
    run = None
    try:
        run = Sequences(server, seed, history)
        run.run(steps, None if seconds is None else time.monotonic() + seconds)
        run.close()
        assert server.process.poll() is None, "the server died"
        run.counts["server MiB"] = memory_mebibytes(server.process.pid)
        assert server.stop() == 0, server.log
        return run.counts
    except (Difference, AssertionError, OSError, EOFError) as fault:
        lines = "\n".join(run.log) if run else ""
        what = f"{type(fault).__name__}: {fault}\n{server.log[-2000:]}"
        raise AssertionError(f"seed {seed}, after {run.counts if run else 0}:\n{lines}\n{what}") from fault
    finally:
        server.kill()


def memory_mebibytes(process: int) -> int:
    """The memory of a process, in bytes."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) // 1024
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=None, help="stop after so long, whatever the steps")
    parser.add_argument("--server", help="the program; else $TIMERSYNC_SERVER, else .build/debug/timersync")
    parser.add_argument("--history", type=argparse.FileType("w", encoding="utf-8"), help="a file for all that was said")
    parser.add_argument("--folder", help="where the data folder is made; in memory it goes faster")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    with tempfile.TemporaryDirectory(prefix="sequences-", dir=options.folder) as folder:
        began = time.monotonic()
        try:
            counts = sequences(Path(folder), seed, options.steps, options.seconds, options.server, options.history)
        except AssertionError as fault:
            print(fault)
            return 1
    shown = ", ".join(f"{count} {name}" for name, count in counts.items())
    print(f"seed {seed}: no difference in {time.monotonic() - began:.0f} s: {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
