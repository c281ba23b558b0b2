"""Messages of a recorded server to its clients, and whether a server that starts on an image keeps them.

A change is promised from the instant at which the server began to send an answer or a snapshot that shows it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field

from recording import LOG, Call, Kind


@dataclass
class Asked:
    """A change that a client asked for; it can't be on the disk before `at`."""

    number: int
    command: str
    timer: str | None
    fields: dict
    request_id: str | None
    at: int
    # On the monotonic clock.
    seconds: float = 0

    @property
    def message(self) -> dict:
        names = {"id": self.number, "command": self.command, "timer": self.timer, "requestId": self.request_id}
        return {name: value for name, value in names.items() if value is not None} | self.fields

    def concerns(self, timer: str) -> bool:
        return self.timer in (None, timer)


@dataclass
class Step:
    """A state of a timer, or its removal. Steps are sorted by `order`; the first message that shows one is sent at
    `told`."""

    order: float
    state: dict | None
    told: int

    def __str__(self) -> str:
        what = f"r{self.order} {self.state['status']}" if self.state else "removed"
        return f"{what} (told at {self.told})"


@dataclass
class Found:
    """A server that was started on an image: its timers, its faults and its log."""

    timers: dict[str, dict]
    faults: list[dict] = field(default_factory=list)
    quarantined: list[str] = field(default_factory=list)
    log: str = ""
    history: str | None = None
    # Answers to requests that were sent again, and the timers after these answers.
    repeated: list[tuple[Asked, dict]] = field(default_factory=list)
    timers_after: dict[str, dict] | None = None
    # The revision of a timer that was started last.
    next_revision: int | None = None


def lasting(state: dict) -> dict:
    """The fields of a state that stay as they are when nobody touches the timer."""
    names = [
        "timer", "revision", "run", "status", "type", "duration", "addedTime", "atZero", "title", "warnings", "laps"]
    still = {name: state[name] for name in names if name in state}
    still["pauses"] = len(state["pausePeriods"])
    still["message"] = state.get("message", {}).get("text")
    still["signal"] = state.get("signal", {}).get("kind")
    if state["status"] != "running":
        still["elapsedTime"] = state["elapsedTime"]
    return still


class Promises:
    """All that a recorded server sent to its clients."""

    def __init__(
        self, messages: list[tuple[int, int, dict]], asked: list[Asked], doubts: list[tuple[int, float]] = (),
    ):
        """`messages` holds tuples of an instant, a socket and a message, ordered by instant."""
        self.asked = asked
        self.doubts = doubts
        self.answers: dict[int, tuple[int, dict]] = {}
        # Steps by timer and order. A state's order is its revision; a removal's is half a step above the last revision.
        self.steps: dict[str, dict[float, Step]] = {}
        # For each accepted `finishAll`, the revisions of the timers that it finished.
        self.together: list[dict[str, int]] = []
        self.histories: list[tuple[int, str]] = []
        # Messages that show another state than an earlier message with the same revision.
        self.contradictions: list[str] = []
        self._seen: dict[tuple[int, str], int] = {}
        requests = {request.number: request for request in asked}
        for at, socket, message in messages:
            self._record_message(at, socket, message, requests)
        self._hear_answered_removals(requests)

    @classmethod
    def of(cls, calls: list[Call], asked: list[Asked]) -> Promises:
        return cls(sent_messages(calls), asked, times_in_doubt(calls))

    def _record_message(self, at: int, socket: int, message: dict, requests: dict[int, Asked]) -> None:
        match message:
            case {"event": "hello", "history": history}:
                self.histories.append((at, history))
            case {"event": "removed", "timer": timer}:
                # A removal comes after all states of its timer that this socket was sent before.
                order = self._seen.get((socket, timer), 0) + 0.5
                self.steps.setdefault(timer, {}).setdefault(order, Step(order, None, at))
            case {"reply": int(number)} if number in requests and number not in self.answers:
                self.answers[number] = at, message
                if requests[number].command == "finishAll" and message["ok"]:
                    self.together.append({state["timer"]: state["revision"] for state in message["timers"]})
        if message.get("ok", True):
            for state in states_in(message):
                self._show(at, socket, state)

    def _show(self, at: int, socket: int, state: dict) -> None:
        timer, revision = state["timer"], state["revision"]
        self._seen[socket, timer] = max(revision, self._seen.get((socket, timer), 0))
        step = self.steps.setdefault(timer, {}).setdefault(revision, Step(revision, state, at))
        if lasting(step.state) != lasting(state):
            self.contradictions.append(f"{timer} r{revision} was told as {step.state}, and as {state}")

    def _hear_answered_removals(self, requests: dict[int, Asked]) -> None:
        """Moves each removal to the instant of its reply, which its requester is sent before the event."""
        for timer, steps in self.steps.items():
            removals = sorted((step for step in steps.values() if step.state is None), key=lambda step: step.told)
            answered = sorted(
                at for number, (at, answer) in self.answers.items()
                if answer["ok"] and requests[number].command == "remove" and requests[number].timer == timer)
            if len(removals) == len(answered):
                for step, at in zip(removals, answered, strict=True):
                    step.told = min(step.told, at)

    # Looking

    def timers_told(self, cut: int) -> dict[str, Step]:
        """The last step of each timer that was sent to any client before an instant."""
        told = {}
        for timer, steps in self.steps.items():
            known = [step for step in steps.values() if step.told < cut]
            if known:
                told[timer] = max(known, key=lambda step: step.order)
        return told

    def is_under_way(self, request: Asked, cut: int) -> bool:
        """Whether a request may or may not be stored at `cut`, because it was sent and not answered before."""
        settled, answer = self.answers.get(request.number, (math.inf, {}))
        if answer and not answer["ok"]:
            # A disk that refuses every sync may hold a refused change, which can't be undone before a sync succeeds.
            settled = max([settled, *(end for begin, end in self.doubts if begin < settled < end)])
        return request.at < cut <= settled

    def answered_by_name(self, cut: int) -> list[Asked]:
        """Requests that were accepted before `cut`: sent again, they must not be made a second time."""
        return [
            request for request in self.asked
            if request.request_id and request.number in self.answers
            and self.answers[request.number][0] < cut and self.answers[request.number][1]["ok"]]

    # Judging

    def broken(self, cut: int, found: Found) -> list[str]:
        """The promises made before `cut` that are broken by a server started on what a power cut then left."""
        told = self.timers_told(cut)
        faults = [
            fault for timer in sorted({*told, *found.timers})
            for fault in self._broken_by(timer, told.get(timer), found.timers.get(timer), cut)]
        faults += self._broken_apart(found)
        faults += [f"false damage: {fault}" for fault in found.faults]
        faults += [f"false damage: {path} was put aside" for path in found.quarantined]
        histories = {history for at, history in self.histories if at < cut}
        if told and found.history is not None and histories and found.history not in histories:
            faults.append(f"the history is {found.history}, and was {sorted(histories)}")
        return faults + self._broken_later(found, told)

    def _broken_by(self, timer: str, last: Step | None, state: dict | None, cut: int) -> list[str]:
        since = last.order if last else 0
        under_way = [
            request for request in self.asked if request.concerns(timer) and self.is_under_way(request, cut)]
        if state is None:
            is_gone = last is None or last.state is None
            if is_gone or any(request.command == "remove" for request in under_way):
                return []
            return [f"lost: {timer} is gone, and was {last}"]
        if state["revision"] < since:
            return [f"lost: {timer} is at r{state['revision']}, and was {last}"]
        step = self.steps.get(timer, {}).get(state["revision"])
        if step is not None and lasting(step.state) != lasting(state):
            return [f"changed: {timer} is {lasting(state)}, and was {lasting(step.state)}"]
        if step is not None and step.told < cut:
            return []
        # A change may be stored before it is answered. A state that was never sent belongs to no accepted request.
        may_be = [request for request in under_way if step is not None or not self._is_accepted(request)]
        if any(request.command != "remove" for request in may_be):
            return []
        return [f"nobody was told, or it was refused: {timer} is {state}"]

    def _is_accepted(self, request: Asked) -> bool:
        return request.number in self.answers and self.answers[request.number][1]["ok"]

    def _broken_apart(self, found: Found) -> list[str]:
        """`finishAll` requests that ended the runs of some of their timers only."""
        faults = []
        for revisions in self.together:
            there = {timer: found.timers[timer]["revision"] for timer in revisions if timer in found.timers}
            done = [timer for timer in there if there[timer] == revisions[timer]]
            undone = [timer for timer in there if there[timer] < revisions[timer]]
            if done and undone:
                faults.append(f"torn apart: finishAll of {revisions} was done to {done}, and not to {undone}")
        return faults

    def _broken_later(self, found: Found, told: dict[str, Step]) -> list[str]:
        faults = [
            f"twice: {request.message} was answered with {answer} when it was sent again"
            for request, answer in found.repeated if not answer["ok"]]
        if found.timers_after is not None:
            before, after = ({name: lasting(state) for name, state in timers.items()}
                             for timers in (found.timers, found.timers_after))
            faults += [
                f"twice: what was sent again made {name} {after.get(name)} of {before.get(name)}"
                for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
        highest = max(
            [math.floor(step.order) for step in told.values()]
            + [state["revision"] for state in found.timers.values()], default=0)
        if found.next_revision is not None and found.next_revision <= highest:
            faults.append(f"back: the next revision is {found.next_revision}, after {highest}")
        return faults


def states_in(message: dict) -> list[dict]:
    return [state for state in message.get("timers") or [message.get("timer")] if isinstance(state, dict)]


def times_in_doubt(calls: list[Call]) -> list[tuple[int, float]]:
    """Times from a failed sync of the log to the next one that succeeds; until then the disk's contents are unknown."""
    syncs = sorted(
        (call.end, call.failed) for call in calls
        if call.end and (call.kind == Kind.SYNC_ALL or call.kind == Kind.SYNC and call.path in (".timersync", LOG)))
    times = []
    for place, (end, failed) in enumerate(syncs):
        if failed:
            times.append((end, next((later for later, fails in syncs[place:] if not fails), math.inf)))
    return times


# MARK: - Sent messages


def sent_messages(calls: list[Call]) -> list[tuple[int, int, dict]]:
    """The messages of all WebSockets: when the server began to send their last byte, to which socket, and what."""
    streams: dict[int, list[Call]] = {}
    for call in calls:
        if call.kind == Kind.SEND and not call.failed:
            streams.setdefault(call.inode, []).append(call)
    messages = []
    for socket, sends in streams.items():
        messages += [(at, socket, json.loads(text)) for at, text in texts(sends)]
    return sorted(messages, key=lambda message: message[0])


def texts(sends: list[Call]) -> list[tuple[int, bytes]]:
    """The text messages of one socket; none when it is no WebSocket."""
    stream = bytearray()
    ends: list[tuple[int, int]] = []
    for call in sends:
        stream += call.bytes[:call.result if call.end else None]
        ends.append((len(stream), call.begin))
    at = stream.find(b"\r\n\r\n") + 4
    if not stream.startswith(b"HTTP/1.1 101") or at < 4:
        return []
    found = []
    chunk = 0
    while at + 2 <= len(stream):
        # RFC 6455 §5.2; a server's frames have no mask.
        opcode, length, head = stream[at] & 0x0F, stream[at + 1] & 0x7F, 2
        if length >= 126:
            head = 4 if length == 126 else 10
            length = int.from_bytes(stream[at + 2:at + head], "big")
        end = at + head + length
        if end > len(stream):
            break
        while ends[chunk][0] < end:
            chunk += 1
        if opcode == 1:
            found.append((ends[chunk][1], bytes(stream[at + head:end])))
        at = end
    return found
