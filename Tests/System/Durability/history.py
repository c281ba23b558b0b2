"""Requests, answers and pushed messages over many lives of a server.

A *life* is the time from a start of the server to the kill, or the signal to stop, that ended it. Local instants are
seconds of the monotonic clock; whatever comes from the wire is turned into whole microseconds, so that sums are exact.
"""

from dataclasses import dataclass, field

from model import View, micros
from stalls import Stalls

CAUSE_OF = {
    "start": "started", "update": "updated", "pause": "paused", "resume": "resumed", "finish": "finished",
    "finishAll": "finished", "reset": "reset", "addRemainingTime": "adjusted", "remove": "removed"}


@dataclass
class Request:
    """One request of a client; it is sent again after each kill that left it unanswered."""

    number: int
    client: int
    command: str
    timer: str | None
    fields: dict
    request_id: str
    sent: list[tuple[int, float]] = field(default_factory=list)
    reply: dict | None = None
    reply_life: int = -1
    reply_at: float = 0
    # Timers on which a push was seen that only this request explains.
    done_to: set[str] = field(default_factory=set)

    @property
    def cause(self) -> str:
        return CAUSE_OF[self.command]

    @property
    def is_accepted(self) -> bool:
        return self.reply is not None and self.reply["ok"]

    @property
    def was_repeated(self) -> bool:
        return len(self.sent) > 1

    def concerns(self, timer: str) -> bool:
        return self.timer is None or self.timer == timer

    def was_sent_in(self, life: int) -> bool:
        return any(sent_in == life for sent_in, _ in self.sent)

    def was_unanswered_in(self, life: int) -> bool:
        return self.reply_life != life and self.was_sent_in(life)

    def replied_states(self) -> list["View"]:
        if not self.is_accepted:
            return []
        states = self.reply.get("timers") or [self.reply.get("timer")]
        return [View(state) for state in states if isinstance(state, dict)]

    def __str__(self) -> str:
        what = " ".join(f"{name}={value}" for name, value in self.fields.items())
        return f"#{self.number} client {self.client}: {self.command} {self.timer or '(all)'} {what}".rstrip()


@dataclass
class Push:
    """A message that a watcher got without asking."""

    watcher: int
    life: int
    at: float
    message: dict

    @property
    def cause(self) -> str:
        return self.message.get("cause") or self.message["event"]


@dataclass
class Life:
    number: int
    started_at: float = 0
    # The kind of end. A stop is dated by its signal, as a kill is.
    end: str = "kill"
    killed_at: float = 0
    # On the machine's wall clock, which the server's follows.
    killed_wall: int = 0
    # The time that the machine kept from server and clients, where it was measured.
    stalls: Stalls | None = None

    def stalled(self, before_kill: int) -> int:
        """The time that the machine took within the last `before_kill` microseconds before the kill."""
        if self.stalls is None:
            return 0
        return micros(self.stalls.between(self.killed_at - before_kill / 1_000_000, self.killed_at))


@dataclass
class History:
    lives: list[Life] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    pushes: list[Push] = field(default_factory=list)
    # Faults that the harness itself saw.
    faults: list[str] = field(default_factory=list)
    # The seconds that each stop took.
    stops: list[float] = field(default_factory=list)
    # Refusals of requests that could not be stored, or that reached a server which was stopping.
    postponed: int = 0

    def pushes_by_life(self) -> dict[int, list[Push]]:
        return grouped(self.pushes, lambda push: [push.life])

    def requests_by_life(self) -> dict[int, list[Request]]:
        """The requests that were under way in each life, answered there or not."""
        return grouped(self.requests, lambda request: sorted({life for life, _ in request.sent}))

    def around(self, timer: str | None, near: float, before: int = 24, after: int = 10) -> str:
        """The events of a timer about an instant."""
        found: list[tuple[float, str]] = []
        for life in self.lives:
            found.append((life.started_at, f"the server starts (life {life.number})"))
            found.append((life.killed_at, f"ENDED by {life.end} (life {life.number})"))
        for request in self.requests:
            if timer is None or request.concerns(timer):
                found += [(at, f"asked  {request}") for _, at in request.sent]
                if request.reply is not None:
                    found.append((request.reply_at, f"answer {request}: {short(request.reply, timer)}"))
        for push in self.pushes:
            text = short(push.message, timer)
            if text and (push.watcher == 0 or push.cause == "ended"):
                found.append((push.at, f"pushed to {push.watcher}: {text}"))
        found.sort()
        middle = sum(at <= near for at, _ in found)
        return "\n".join(
            f"  {at - near:+9.4f} {text}" for at, text in found[max(0, middle - before):middle + after])


def grouped(items: list, keys) -> dict[int, list]:
    groups: dict[int, list] = {}
    for item in items:
        for key in keys(item):
            groups.setdefault(key, []).append(item)
    return groups


def short(message: dict, timer: str | None) -> str:
    """A message in one line, as far as it is about the timer."""
    if not message.get("ok", True):
        return message["error"]["code"]
    states = message.get("timers") or [message.get("timer")]
    states = [state for state in states if isinstance(state, dict) and timer in (None, state["timer"])]
    if message.get("event") == "removed":
        return f"removed {message['timer']}" if timer in (None, message["timer"]) else ""
    if not states and "event" in message:
        return ""
    head = message.get("cause", "ok")
    if "endedAt" in message:
        head += f" at {message['endedAt']}{' (late)' if message.get('late') else ''}"
    return head + "".join(
        f" | {s['timer']} r{s['revision']} {s['status']} {s['atZero']} duration={s.get('duration')} "
        f"elapsed={s['elapsedTime']} added={s['addedTime']} start={s['startDate']} pauses={len(s['pausePeriods'])} "
        f"as of {s['lastElapsedTimeCalculatedAt']}" for s in states[:3])
