"""The scenes of the benchmark. A scene takes the setting and returns rounds: rows of figures for each contestant."""

import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

import contestants
from contestants import Bare, TimerSync, Work

SETTLE_SECONDS = 0.2
SOAK_CLIENTS = 1000
BESIDE_IDLE = " beside idle"


@dataclass(frozen=True)
class Aim:
    """The median of a figure, or of its ratio to another contestant's in the same round."""
    figure: str
    sense: str  # "at most" or "at least"
    value: float
    to: str | None = None
    of: str = TimerSync.name


@dataclass(frozen=True)
class Scene:
    name: str
    about: str
    clients: int
    measure: Callable
    aims: tuple[Aim, ...] = ()


def in_turn(setting, entered: list, measure, is_warmed_up: bool = True) -> list[dict]:
    """Measures all contestants in each round. Each round begins with another one, so that none always follows the same
    one. A contestant that takes no part in a round returns None. The first round is thrown away, since programs that
    compile at run time need one."""
    found = []
    for number in range(-1 if is_warmed_up else 0, setting.rounds):
        shift = number % len(entered)
        row = {}
        for contestant in entered[shift:] + entered[:shift]:
            figures = measure(contestant, number)
            if figures:
                row[contestant.name] = figures
        if number >= 0:
            found.append(row)
            setting.tell_round(row)
    return found


def per_message(answer: dict) -> dict:
    """The figures of a count of messages."""
    messages = max(answer["messages"], 1)
    return {
        "microsecondsPerMessage": answer["cpu"] / messages * 1e6,
        "messagesPerSecond": answer["messages"] / answer["seconds"],
        "bytesPerMessage": answer["bytes"] / messages, "messagesPerReceive": messages / max(answer["receives"], 1),
        "core": answer["cpu"] / answer["seconds"],
        "kernelPart": answer["system"] / ((answer["user"] + answer["system"]) or 1), "least": answer["least"],
        "most": answer["most"],
        "gone": answer["gone"]}


def whole_ticks(answer: dict, clients: int) -> list[float]:
    """The spreads of those ticks that every client got."""
    return sorted(tick["spread"] for tick in answer["ticks"] if tick["count"] >= clients)


# Fan-out

def fan_out(clients: int, work: Work, seconds: float, quiet: float = 0, kinds=None):
    """Ticks to many clients: the server's CPU for each message that arrived."""
    def measure(setting):
        seconds_now = setting.shorter(seconds)
        wanted = work(setting) if callable(work) else work
        with ExitStack() as stack:
            entered = [stack.enter_context(kind(setting, wanted)) for kind in kinds or setting.contestants]
            for contestant in entered:
                setting.need(contestant.open_shown(clients), clients, contestant)

            def once(contestant, _):
                contestant.go()
                time.sleep(SETTLE_SECONDS)
                answer = contestant.watch(seconds_now, quiet, wanted.interval / 4 if wanted.interval >= 1 else 0)
                contestant.stop()
                spreads = whole_ticks(answer, clients)
                return per_message(answer) | (
                    {"spread": spreads[len(spreads) // 2], "ticks": len(spreads)} if spreads else {})
            return {"rounds": in_turn(setting, entered, once), "work": vars(wanted)}
    return measure


def without_pause(clients: int):
    """As many timers, ten ticks a second each, as fill 0.6 of the bare loop's core."""
    def work(setting):
        a_tick = setting.bare_seconds_per_message * clients
        # No more than one tick in 2 ms: the loops of some contestants count milliseconds, and would send closer ones in
        # one iteration.
        return Work(timers=max(1, min(50, int(0.6 * 0.1 / a_tick))), interval=0.1)
    return work


def changes(clients: int, seconds: float = 2):
    """Changes as fast as possible: two are always under way, and all clients see each. Ours are stored first."""
    def measure(setting):
        work = Work(timers=2, interval=0)
        with ExitStack() as stack:
            entered = [stack.enter_context(kind(setting, work)) for kind in setting.contestants]
            for contestant in entered:
                contestant.prepare_driving()
                setting.need(contestant.open_shown(clients), clients, contestant)
                contestant.go()

            def once(contestant, _):
                answer = contestant.drive(setting.shorter(seconds))
                return per_message(answer) | {
                    "changesPerSecond": answer["replies"] / answer["seconds"],
                    "messagesPerChange": answer["messages"] / max(answer["replies"], 1) / clients}
            return {"rounds": in_turn(setting, entered, once)}
    return measure


def ticks_in_20_seconds(clients: int):
    """A few ticks of a pair of contestants for the spread, then 20 s of ours to count ticks."""
    pairs = fan_out(clients, Work(), 3, quiet=0.05, kinds=[Bare, TimerSync])

    def measure(setting):
        found = pairs(setting)
        with TimerSync(setting) as server:
            setting.need(server.open_shown(clients), clients, server)
            server.go()
            answer = server.crowd.watch(20, 0.05, 0.25)
        # The ticks of the client that received the fewest.
        found["rounds"][-1][server.name]["ticksIn20Seconds"] = answer["least"]
        return found
    return measure


# Requests

def requests(idle: int):
    """64 connections send requests, with one under way on each: alone, and beside many silent connections."""
    def measure(setting):
        sizes = replace(setting.sizes, reply=setting.sizes.state)
        crowded = [Bare, TimerSync]
        with ExitStack() as stack:
            alone = [
                stack.enter_context(kind(setting, sizes=sizes)) for kind in setting.contestants
                if kind.answers_requests]
            beside = [stack.enter_context(kind(setting, sizes=sizes)) for kind in crowded]
            for contestant in beside:
                contestant.name += BESIDE_IDLE
            for contestant in alone + beside:
                setting.need(contestant.open(64), 64, contestant)
                if isinstance(contestant, TimerSync):
                    contestant.start_timer(0)
            for contestant in beside:
                setting.need(contestant.open(idle), idle, contestant)

            def once(contestant, _):
                answer = contestant.crowd.ask(64, setting.shorter(1.5), contestant.question)
                return {
                    "requestsPerSecond": answer["replies"] / answer["seconds"],
                    "microsecondsPerRequest": answer["cpu"] / max(answer["replies"], 1) * 1e6, "p50": answer["p50"],
                    "p99": answer["p99"], "core": answer["cpu"] / answer["seconds"]}
            return {"rounds": in_turn(setting, alone + beside, once)}
    return measure


# Connections

def connect(clients: int):
    """Connections accepted a second by a fresh server and their cost, then the memory of each that is shown a ticking
    timer."""
    def measure(setting):
        def once(kind, number):
            if kind in contestants.PEERS and number >= 3:
                return None  # some peers are slow, so three rounds are enough
            with kind(setting) as contestant:
                before = contestant.crowd.watch(0)["residentKiB"]
                first = contestant.open(clients - clients // 10)
                last = contestant.open(clients // 10)
                setting.need(last, clients // 10, contestant)
                if contestant.greeting:
                    contestant.crowd.say(contestant.ready_when_shown - contestant.ready_when_open, contestant.greeting)
                contestant.go()
                after = contestant.watch(2, 0)["residentKiB"]
            seconds = first["seconds"] + last["seconds"]
            return {
                "connectionsPerSecond": clients / seconds,
                "microsecondsPerConnection": (first["cpu"] + last["cpu"]) / clients * 1e6,
                "microsecondsPerLastConnection": last["cpu"] / (clients // 10) * 1e6,
                "kibPerConnection": (after - before) / clients}

        return {"rounds": in_turn(setting, setting.contestants, once, is_warmed_up=False)}
    return measure


# Dashboards

def dashboards(timers: int, clients: int):
    """Clients of `*` with many running timers: messages a second, and the part of a core that they take."""
    def measure(setting):
        rounds = []
        with TimerSync(setting, Work(timers=timers, interval=1)) as server:
            server.go()
            server.crowd.open(clients, 3, '{"command":"subscribe","timers":"*","interval":1}')
            time.sleep(1)
            for _ in range(max(3, setting.rounds // 2)):
                row = per_message(server.crowd.watch(setting.shorter(4), 0.05, 0.25))
                rounds.append({server.name: row})
                setting.tell_round(rounds[-1])
            sends = count_sends(server, 3)
            if sends:
                row["sendsPerSecond"] = sends
        with Bare(setting, sizes=replace(setting.sizes, tick=int(row["bytesPerMessage"]))) as bare:
            bare.open_shown(clients)
            bare.go()
            time.sleep(1)
            for row in rounds:
                row[bare.name] = per_message(bare.watch(setting.shorter(4), 0.05, 0.25))
        return {"rounds": rounds}
    return measure


def count_sends(server, seconds: float) -> float | None:
    """The system calls a second that send, counted by strace, which only slows them down; None without strace."""
    if not shutil.which("strace"):
        return None
    found = subprocess.Popen(
        ["strace", "-c", "-f", "-e", "trace=sendto,sendmsg,write,writev", "-p", str(server.server.pid)],
        stderr=subprocess.PIPE, text=True)
    server.crowd.watch(seconds)
    found.send_signal(2)
    lines = found.communicate()[1].splitlines()
    # Each row: part of the time, seconds, microseconds a call, calls, perhaps errors, the call.
    calls = sum(int(line.split()[3]) for line in lines if line.split()[-1:] and line.split()[-1] in
                ("sendto", "sendmsg", "write", "writev"))
    return calls / seconds


# A storm

def storm(clients: int):
    """All clients connect at once to a server that just started, and get their first snapshots."""
    def measure(setting):
        rounds = []
        # The server runs with its default limits, as an installation does.
        with TimerSync(setting, options=()) as server, Bare(setting) as bare:
            server.go()
            server.open_shown(clients)
            for _ in range(setting.rounds):
                ended = server.restart()
                row = {server.name: shown(server.open_shown(clients, at_once=clients)) | {"secondsToEnd": ended}}
                bare.crowd.leave(clients)
                row[bare.name] = shown(bare.open_shown(clients, at_once=clients))
                rounds.append(row)
                setting.tell_round(row)
        return {"rounds": rounds}

    def shown(answer):
        return {
            "seconds": answer["seconds"], "shown": answer["ready"], "refused": clients - answer["ready"],
            "microsecondsPerConnection": answer["cpu"] / max(answer["ready"], 1) * 1e6}
    return measure


def soak(setting, minutes: float) -> dict:
    """Samples RSS every ten seconds while clients get twenty ticks a second, a tenth of them is replaced each second,
    and a timer changes."""
    clients, rows = SOAK_CLIENTS, []
    with TimerSync(setting, Work(timers=2, interval=0.1)) as server:
        setting.need(server.open_shown(clients), clients, server)
        server.go()
        begun = time.monotonic()
        due = begun
        while True:
            if time.monotonic() >= due:
                answer = server.crowd.watch(0)
                rows.append({
                    "seconds": round(time.monotonic() - begun), "residentKiB": answer["residentKiB"],
                    "open": answer["open"]})
                setting.tell(f"{rows[-1]['seconds']:6d} s  {rows[-1]['residentKiB']:8d} KiB  {answer['open']} open")
                due += 10
                if time.monotonic() - begun >= minutes * 60:
                    break
            server.crowd.leave(SOAK_CLIENTS // 10)
            server.open_shown(SOAK_CLIENTS // 10)
            server.post("/api/timers/b1/addRemainingTime", seconds=1)
            server.crowd.watch(0.8)
    # The first minute fills caches; growth after it is what matters.
    steady = [row["residentKiB"] for row in rows if row["seconds"] >= min(60, minutes * 30)]
    return {"rows": rows, "growthKiB": steady[-1] - steady[0]}


# All of them

def all_scenes() -> list[Scene]:
    found = []
    for clients in (100, 1000, 10_000):
        # With 100 clients the fixed cost of a tick or a change is too large a part.
        aims = () if clients == 100 else (
            Aim("microsecondsPerMessage", "at most", 1.10, to="bare"),
            *(Aim("microsecondsPerMessage", "at most", 1, to=peer.name) for peer in contestants.PEERS))
        found += [
            Scene(f"fanout-{clients}-1s", "one timer, a tick a second", clients,
                  fan_out(clients, Work(), 3, quiet=0.05)),
            Scene(f"fanout-{clients}-100ms", "one timer, ten ticks a second", clients,
                  fan_out(clients, Work(interval=0.1), 2, quiet=0.005)),
            Scene(f"fanout-{clients}-steady", "ticks that fill 0.6 of the bare loop's core", clients,
                  fan_out(clients, without_pause(clients), 2), aims),
            Scene(f"fanout-{clients}-changes", "changes without pause", clients, changes(clients), aims)]
    return found + [
        Scene("four", "four timers on one tick, per snapshot", 1000,
              fan_out(1000, Work(timers=4, interval=0.1, together=True), 1.5, kinds=[Bare, TimerSync]),
              (Aim("microsecondsPerMessage", "at most", 0.35, to="bare"),)),
        Scene("spread", "first to last of a tick", 10_000, ticks_in_20_seconds(10_000),
              (Aim("spread", "at most", 1.25, to="bare"), Aim("ticksIn20Seconds", "at least", 20))),
        Scene("requests", "64 that ask, alone and beside 10 000", 10_000, requests(10_000),
              (Aim("requestsPerSecond", "at least", 60 / 110, to="bare"),
               Aim("requestsPerSecond", "at least", 0.85, to=TimerSync.name, of=TimerSync.name + BESIDE_IDLE))),
        Scene("connect", "10 000 that come", 10_000, connect(10_000),
              (Aim("microsecondsPerConnection", "at most", 2, to="bare"), Aim("kibPerConnection", "at most", 4))),
        Scene("dashboards", "* with 100 running timers", 1000, dashboards(100, 1000),
              (Aim("sendsPerSecond", "at most", 1000), Aim("core", "at most", 0.15))),
        Scene("storm", "5000 at once after a restart", 5000, storm(5000),
              (Aim("seconds", "at most", 5), Aim("refused", "at most", 0)))]
