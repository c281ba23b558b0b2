"""Judges a history of kills and stops against the model of a timer: no change is lost, none is made twice, and each
crossing is sent once.

After a `hello` with a `history`, a server sends clients that come back with `since` what they missed. A watcher of
such a server must receive each crossing exactly once, whenever the server ended. Without a `history`, crossings at
the moment of a kill are excused.
"""

import itertools
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from operator import attrgetter

from history import CAUSE_OF, History, Life, Push, Request
from model import SAME_CROSSING, View, after, after_zero, micros, zeros

# A restart reads the wall clock anew: instants of a running timer move by what it gained on the boot-time clock.
RESTART_TOLERANCE = 20_000
# The number of a timer's last crossings that the server keeps for clients that reconnect.
CROSSINGS_KEPT = 16
# A countdown that repeats and is more crossings behind than this sends only the last one.
REPEATS_TOLD_ONE_BY_ONE = 16
REFUSALS = {
    "timerHasNotStarted", "timerHasNotPaused", "timerAlreadyPaused", "timerAlreadyStarted", "unknownTimer",
    "outOfRange"}
# The number of violations that are printed with the events around them.
ACCOUNTS_MOST = 5


@dataclass
class Verdict:
    violations: list[str] = field(default_factory=list)
    answered: int = 0
    crossings: int = 0
    late: int = 0
    # Crossings just before a kill that were never sent; a server without a `history` can't send them later.
    untold: int = 0
    told_again: int = 0
    # Crossings after a start, before any watcher had reconnected.
    unheard: int = 0
    transitions: int = 0
    # Refusals that the client may retry.
    postponed: int = 0
    slowest_stop: float = 0

    def figures(self, kills: int, clients: int) -> str:
        return (
            f"{kills} kills, {clients} clients, {self.answered} answered changes, {self.crossings} crossings "
            f"({self.late} late), {self.transitions} transitions checked, {len(self.violations)} violations; "
            f"killed between disk and socket: {self.untold} crossings untold, {self.told_again} told again; "
            f"{self.unheard} crossings before anybody was back; {self.postponed} requests to be sent again; "
            f"the slowest stop took {self.slowest_stop:.1f} s")


@dataclass
class Known:
    """The known facts about a timer when a life ends or begins."""

    state: View | None
    # Whether the timer has crossed zero; None when that is unknown.
    has_ended: bool | None = False
    is_certain: bool = True


@dataclass
class Step:
    """Something that happened to a timer."""

    cause: str
    state: View | None
    ended_at: int | None = None
    is_late: bool = False
    is_pushed: bool = True
    later_ends: list[int] = field(default_factory=list)


class Referee:
    def __init__(self, history: History, watchers: int, window: float):
        self.history = history
        self.watchers = watchers
        self.window = micros(window)
        self.verdict = Verdict()
        self.pushes = history.pushes_by_life()
        self.requests = history.requests_by_life()
        self.timers = sorted(
            {request.timer for request in history.requests if request.timer} | {
                state["timer"] for push in history.pushes for state in push.message.get("timers", [])})
        # The requests that were answered with a revision: those that were sent once, and those that were sent again.
        self.direct: dict[int, Request] = {}
        self.repeated: dict[tuple[int, str, int], list[Request]] = {}
        # Timers that a kill left with changes that nobody saw, by life.
        self.gaps: set[tuple[str, int]] = set()
        self.expected_ends: list[tuple[str, int, int]] = []
        # The lives that some watcher saw.
        self.seen = [life for life in history.lives if self.is_seen(life)]
        self.histories = {push.message["history"] for push in history.pushes if "history" in push.message}

    def judge(self) -> Verdict:
        self.verdict.violations += self.history.faults
        self.verdict.postponed = self.history.postponed
        self.verdict.slowest_stop = max(self.history.stops, default=0)
        if len(self.histories) > 1:
            self.blame(f"the data has become another history: {sorted(self.histories)}", None, 0)
        self.verdict.answered = sum(request.is_accepted for request in self.history.requests)
        self.check_answers()
        self.check_revisions()
        self.check_states()
        self.check_doubles()
        for timer in self.timers:
            self.check_timer(timer)
        self.check_repeated()
        for watcher in range(self.watchers):
            self.check_ends(watcher)
        return self.verdict

    def blame(self, what: str, timer: str | None, life: int, near: float | None = None) -> None:
        """Adds a violation. `near` is its instant on the local clock, by default the end of that life."""
        near = self.history.lives[life].killed_at if near is None else near
        is_worth_it = len(self.verdict.violations) < ACCOUNTS_MOST
        account = self.history.around(timer, near) if is_worth_it else ""
        self.verdict.violations.append(f"{what} [life {life}]\n{account}")

    def local(self, life: Life, instant: int) -> float:
        """An instant of the server's clock on the local one."""
        return life.killed_at - (life.killed_wall - instant) / 1_000_000

    def pushed_in(self, life: Life, watcher: int | None = None) -> list[Push]:
        return [push for push in self.pushes.get(life.number, []) if watcher in (None, push.watcher)]

    def is_seen(self, life: Life) -> bool:
        return any(push.cause == "subscribed" for push in self.pushed_in(life, watcher=0))

    def seen_before(self, life: Life) -> Life | None:
        return max((other for other in self.seen if other.number < life.number), key=attrgetter("number"), default=None)

    def seen_after(self, life: int) -> Life | None:
        return min((other for other in self.seen if other.number > life), key=attrgetter("number"), default=None)

    def asked_in(self, life: Life, timer: str) -> list[Request]:
        return [request for request in self.requests.get(life.number, []) if request.concerns(timer)]

    def under_way_at_end(self, life: Life, timer: str) -> list[Request]:
        return [request for request in self.asked_in(life, timer) if request.was_unanswered_in(life.number)]

    # Answers

    def check_answers(self) -> None:
        for request in self.history.requests:
            if request.reply is None:
                continue
            if not request.reply["ok"]:
                code = request.reply["error"]["code"]
                if code not in REFUSALS:
                    self.blame(
                        f"{request} was refused with {code}", request.timer, request.reply_life, request.reply_at)
                continue
            for state in request.replied_states():
                if request.was_repeated:
                    self.repeated.setdefault((request.reply_life, state.timer, state.revision), []).append(request)
                elif state.revision in self.direct:
                    other = self.direct[state.revision]
                    self.blame(
                        f"{request} and {other} were both answered with revision {state.revision}", state.timer,
                        request.reply_life, request.reply_at)
                else:
                    self.direct[state.revision] = request

    # Revisions

    def check_revisions(self) -> None:
        """Over all timers and lives, a new revision is above all earlier ones, and no revision is given twice."""
        owner: dict[int, str] = {}
        highest_before = highest = 0
        for life in self.history.lives:
            last = [0] * self.watchers
            for push in self.pushed_in(life):
                is_change = push.cause not in ("subscribed", "restored") and not push.message.get("late")
                for state in push.message.get("timers", []):
                    revision, timer = state["revision"], state["timer"]
                    highest = max(highest, revision)
                    if owner.setdefault(revision, timer) != timer:
                        self.blame(f"revision {revision} is of {owner[revision]} and of {timer}", None, life.number)
                    if not is_change:
                        continue
                    if revision <= max(last[push.watcher], highest_before):
                        self.blame(
                            f"revision {revision} of {timer} is new, and {last[push.watcher]} was given before it, "
                            f"{highest_before} before the restart", timer, life.number, push.at)
                    last[push.watcher] = revision
            for request in self.requests.get(life.number, []):
                if request.reply_life == life.number:
                    highest = max([highest, *(state.revision for state in request.replied_states())])
            highest_before = highest

    def check_states(self) -> None:
        states = [(push.life, View(state)) for push in self.history.pushes for state in push.message.get("timers", [])]
        states += [(r.reply_life, state) for r in self.history.requests for state in r.replied_states()]
        for life, state in states:
            if faults := state.faults():
                self.blame(f"{state.timer} can't be: {', '.join(faults)}", state.timer, life)

    # Nothing twice

    def check_doubles(self) -> None:
        """Each change that was pushed is of one request, and each request made one change."""
        for life in self.history.lives:
            removals: dict[str, int] = {}
            for push in self.pushed_in(life, watcher=0):
                if push.cause == "removed":
                    timer = push.message["timer"]
                    removals[timer] = removals.get(timer, 0) + 1
                    if removals[timer] > self.answered_removals(timer, life):
                        self.explain(timer, push, life)
                elif push.cause in CAUSE_OF.values() and push.message["timers"][0]["revision"] not in self.direct:
                    self.explain(push.message["timers"][0]["timer"], push, life)

    def answered_removals(self, timer: str, life: Life) -> int:
        return sum(
            r.is_accepted and r.command == "remove" and r.reply_life == life.number and not r.was_repeated
            for r in self.asked_in(life, timer))

    def explain(self, timer: str, push: Push, life: Life) -> None:
        """Gives a push that no first answer explains to a request that was under way, once."""
        candidates = [
            r for r in self.asked_in(life, timer)
            if r.cause == push.cause and timer not in r.done_to and (r.was_repeated or r.reply is None)
            and could_have_made(r, push)]
        # The best explanation is one that was answered with this very state; the worst, one that was refused.
        revision = push.message["timers"][0]["revision"] if push.cause != "removed" else None
        candidates.sort(key=lambda r: (
            r.reply is not None and not r.reply["ok"],
            revision not in [state.revision for state in r.replied_states() if state.timer == timer]))
        if not candidates:
            self.blame(
                f"{timer} was {push.cause}, and nobody had asked for it, or it was done before", timer, life.number,
                push.at)
            return
        chosen = candidates[0]
        chosen.done_to.add(timer)
        if chosen.reply is not None and not chosen.reply["ok"]:
            self.blame(f"{chosen} was done, and refused when it was sent again", timer, life.number, push.at)

    def check_repeated(self) -> None:
        """An accepted request was done: the change was seen by all, or came at the moment of a kill."""
        for request in self.history.requests:
            if not (request.was_repeated and request.is_accepted and request.timer) or request.done_to:
                continue
            if not any((request.timer, life) in self.gaps for life, _ in request.sent if life != request.reply_life):
                self.blame(
                    f"{request} was answered, and never done", request.timer, request.reply_life, request.reply_at)

    # One timer over all lives

    def check_timer(self, timer: str) -> None:
        known = Known(None)
        for life in self.seen:
            known = self.check_start(timer, life, known)
            known = self.check_life(timer, life, known)

    def check_start(self, timer: str, life: Life, known: Known) -> Known:
        """Checks that the first snapshot after a start follows from the state that was known at the kill."""
        base = self.base(timer, life)
        killed = self.seen_before(life)
        if killed is None:
            return Known(base)
        tolerance = RESTART_TOLERANCE * (life.number - killed.number)
        under_way = self.under_way_at_end(killed, timer)
        last = known.state
        if not known.is_certain:
            self.gaps.add((timer, killed.number))
            return Known(base, None)
        if base is None:
            self.gaps.add((timer, killed.number))
            if last is not None and not any(r.command == "remove" for r in under_way):
                self.blame(f"{timer} is lost: it had revision {last.revision} before the kill", timer, killed.number)
            return Known(None)
        if last is None:
            self.gaps.add((timer, killed.number))
            if not any(r.command == "start" for r in under_way):
                self.blame(f"{timer} came back with revision {base.revision}", timer, killed.number)
            return Known(base, None)
        if base.revision < last.revision:
            self.blame(f"{timer} went back from revision {last.revision} to {base.revision}", timer, killed.number)
            return Known(base, None)
        if base.revision > last.revision:
            return self.check_gap(timer, killed, known, base, under_way)
        if differences := last.expect(base, tolerance, elapsed=last.elapsed_at(base.as_of)):
            self.blame(f"{timer} is not what it was: {', '.join(differences)}", timer, killed.number)
        return Known(base, known.has_ended)

    def check_gap(self, timer: str, killed: Life, known: Known, base: View, under_way: list[Request]) -> Known:
        """Checks a timer whose revision nobody saw before the kill: a request or a crossing has to explain it."""
        self.gaps.add((timer, killed.number))
        last = known.state
        was_due = last.zero is not None and not known.has_ended and last.zero <= base.as_of + RESTART_TOLERANCE
        if not under_way and not was_due:
            self.blame(
                f"{timer} changed from revision {last.revision} to {base.revision}, and nobody had asked", timer,
                killed.number)
        if base.title not in {last.title, ""} | {r.fields.get("title") for r in under_way}:
            self.blame(f"{timer} has a title that nobody gave: {base.title}", timer, killed.number)
        is_same_run = None not in (base.start, last.start) and abs(base.start - last.start) <= RESTART_TOLERANCE
        can_be_summed = not any(r.command == "start" or r.fields.get("clamp") for r in under_way)
        if is_same_run and can_be_summed:
            self.check_sum(timer, killed, base.added - last.added, under_way)
        if under_way or not was_due or known.has_ended is None:
            return Known(base, None)
        # The crossing alone made the change; a repeating countdown crossed zero at the end of each of its runs.
        self.expected_ends += [(timer, zero, killed.number) for zero in zeros(last, base)]
        return Known(base, last.at_zero != "repeat")

    def check_sum(self, timer: str, killed: Life, added: int, under_way: list[Request]) -> None:
        amounts = [micros(r.fields["seconds"]) for r in under_way if r.command == "addRemainingTime"]
        sums = {sum(some) for count in range(len(amounts) + 1) for some in itertools.combinations(amounts, count)}
        if added not in sums:
            self.blame(
                f"{timer} has {added} µs more than before the kill, and under way were {amounts}", timer,
                killed.number)

    def base(self, timer: str, life: Life) -> View | None:
        """The timer in the first snapshot after a start."""
        for push in self.pushed_in(life, watcher=0):
            if push.cause == "subscribed":
                return next((View(state) for state in push.message["timers"] if state["timer"] == timer), None)
        return None

    def check_life(self, timer: str, life: Life, known: Known) -> Known:
        under_way = self.under_way_at_end(life, timer)
        steps, is_certain = self.steps(timer, life, known)
        for step in steps:
            self.verdict.transitions += 1
            known = self.check_step(timer, life, known, step, under_way)
        zero = known.state.zero if known.state else None
        # A request that was under way may have changed the timer before this zero.
        if zero is not None and known.has_ended is False and zero <= life.killed_wall and not under_way:
            self.expected_ends.append((timer, zero, life.number))
        known.is_certain = is_certain
        return known

    def steps(self, timer: str, life: Life, known: Known) -> tuple[list[Step], bool]:
        """The known steps of a timer in a life, in order, and whether the order is certain."""
        first = place = known.state.revision if known.state else 0
        steps: dict[float, Step] = {}
        removals = 0
        for push in self.pushed_in(life, watcher=0):
            if push.cause in ("subscribed", "restored"):
                continue
            if push.cause == "removed" and push.message["timer"] == timer:
                removals += 1
                steps[place + 0.5] = Step("removed", None)
            for state in push.message.get("timers", []):
                # A late end whose state `subscribed` has shown already carries the revision of that state.
                if state["timer"] == timer and state["revision"] > first:
                    place = state["revision"]
                    ended_at = micros(push.message["endedAt"]) if "endedAt" in push.message else None
                    before = steps.get(place)
                    if ended_at is not None and before is not None and before.ended_at is not None:
                        # Late ends that are sent together show the timer as it is then, after the last of them.
                        before.later_ends.append(ended_at)
                        continue
                    steps[place] = Step(push.cause, View(state), ended_at, bool(push.message.get("late")))
        # The last replies before a kill may show states that no watcher was sent.
        for request in self.asked_in(life, timer):
            if request.reply_life == life.number:
                for state in request.replied_states():
                    if state.timer == timer and state.revision > place:
                        steps[state.revision] = Step(request.cause, state, is_pushed=False)
        return [steps[order] for order in sorted(steps)], self.answered_removals(timer, life) <= removals

    def check_step(self, timer: str, life: Life, known: Known, step: Step, under_way: list[Request]) -> Known:
        before = known.state
        if step.cause == "removed":
            return Known(None)
        if step.cause == "ended":
            return self.check_end(timer, life, known, step)
        zero = before.zero if before else None
        if zero is not None and known.has_ended is False and zero < step.state.as_of:
            # The server sends an end before the changes that follow it.
            if step.is_pushed:
                self.blame(f"{timer} was {step.cause} after its zero at {zero}, which was not told", timer, life.number,
                          self.local(life, step.state.as_of))
            else:
                self.expected_ends.append((timer, zero, life.number))
            return Known(step.state, None)
        # A change that nobody saw may precede this step, and then its state can't be checked.
        is_next = step.is_pushed or not under_way
        makers = self.makers(timer, life, step) if is_next else []
        wrong = [after(request.command, request.fields, before, step.state) for request in makers]
        if wrong and all(wrong):
            self.blame(
                f"{timer} was {step.cause} with revision {step.state.revision}: {'; '.join(wrong[0])}", timer,
                life.number, self.local(life, step.state.as_of))
        begins_anew = step.cause in ("started", "adjusted", "reset")
        return Known(step.state, False if begins_anew else known.has_ended if is_next else None)

    def makers(self, timer: str, life: Life, step: Step) -> list[Request]:
        """The requests that may have made a step: the one that was answered with it, or those under way."""
        if step.state.revision in self.direct:
            return [self.direct[step.state.revision]]
        repeated = self.repeated.get((life.number, timer, step.state.revision), [])
        return [r for r in repeated if r.cause == step.cause] or [
            r for r in self.asked_in(life, timer) if r.cause == step.cause and (r.was_repeated or r.reply is None)]

    def check_end(self, timer: str, life: Life, known: Known, step: Step) -> Known:
        before = known.state
        if before is None:
            self.blame(f"{timer} ended, and was not there", timer, life.number,
                          self.local(life, step.state.as_of))
            return Known(step.state, None)
        if known.has_ended:
            self.blame(f"{timer} ended again at {step.ended_at}", timer, life.number,
                          self.local(life, step.state.as_of))
        elif known.has_ended is False:
            zero = before.zero
            tolerance = RESTART_TOLERANCE if step.is_late else 0
            if zero is None or not is_zero_of(before, step.ended_at, tolerance):
                self.blame(f"{timer} ended at {step.ended_at}, and its zero is {zero}", timer, life.number,
                          self.local(life, step.state.as_of))
            elif not step.is_late and (differences := after_zero(before, step.state, step.ended_at)):
                self.blame(f"{timer} ended: {', '.join(differences)}", timer, life.number,
                          self.local(life, step.state.as_of))
        last = step.ended_at
        for instant in step.later_ends:
            length = before.duration - before.added
            if before.at_zero != "repeat" or abs(instant - last - length) > RESTART_TOLERANCE:
                self.blame(
                    f"{timer} ended at {instant} after {last}, and repeats each {length} µs", timer, life.number,
                    self.local(life, step.state.as_of))
            self.expected_ends.append((timer, instant, life.number))
            last = instant
        self.expected_ends.append((timer, step.ended_at, life.number))
        return Known(step.state, before.at_zero != "repeat")

    # Ends

    def check_ends(self, watcher: int) -> None:
        """Each crossing was sent to this watcher once."""
        told: dict[str, list[tuple[int, Push]]] = {}
        for push in self.history.pushes:
            if push.watcher != watcher or push.cause != "ended":
                continue
            timer, instant = push.message["timers"][0]["timer"], micros(push.message["endedAt"])
            ends = told.setdefault(timer, [])
            for earlier, other in near(ends, instant):
                if self.is_same_end(timer, earlier, other, instant, push):
                    self.told_twice(timer, instant, other, push)
            insort(ends, (instant, push), key=lambda end: end[0])
        if watcher == 0:
            self.verdict.crossings = sum(map(len, told.values()))
            self.verdict.late = sum(bool(push.message.get("late")) for ends in told.values() for _, push in ends)
        for timer, zero, life in self.crossings():
            ends = told.get(timer, [])
            if not near(ends, zero) and not is_folded(zero, ends) and not is_beyond_kept(zero, ends):
                self.not_told(timer, zero, self.history.lives[life], watcher)

    def is_same_end(self, timer: str, earlier: int, first: Push, instant: int, second: Push) -> bool:
        """Whether two ends belong to one crossing, whose instant moves a little with the wall clock over a restart."""
        if first.life == second.life:
            return earlier == instant
        # A request may have set a new zero right after the first end.
        set_anew = any(
            r.command in ("start", "addRemainingTime") and r.concerns(timer)
            and (r.reply_at >= first.at or r.was_unanswered_in(first.life))
            for r in self.requests.get(first.life, []))
        return abs(earlier - instant) <= SAME_CROSSING and not set_anew

    def crossings(self) -> list[tuple[str, int, int]]:
        """The expected ends, each once."""
        chosen: list[tuple[str, int, int]] = []
        for timer, zero, life in sorted(self.expected_ends):
            if not chosen or chosen[-1][0] != timer or zero - chosen[-1][1] > SAME_CROSSING:
                chosen.append((timer, zero, life))
        return chosen

    def not_told(self, timer: str, zero: int, life: Life, watcher: int) -> None:
        before_kill = life.killed_wall - zero
        is_last = life is self.history.lives[-1]
        is_excused = is_last or not self.histories
        # The watchers reconnect at different times.
        around = [life, self.seen_after(life.number)] if before_kill >= 0 else [self.seen_after(life.number)]
        if is_excused and any(self.is_before_return(self.local(life, zero), other, watcher) for other in around):
            self.verdict.unheard += watcher == 0
            return
        window = self.window + self.slowest_answer(life) + life.stalled(before_kill)
        if is_excused and 0 <= before_kill <= window:
            # No watcher reconnects after the last kill, so no end is sent later.
            self.verdict.untold += watcher == 0 and not is_last
            return
        when = f"{abs(before_kill) / 1000:.1f} ms {'before' if before_kill >= 0 else 'after'} the {life.end}"
        self.blame(
            f"{timer} crossed zero at {zero}, {when}, and watcher {watcher} was not told", timer, life.number,
            self.local(life, zero))

    def is_before_return(self, instant: float, life: Life | None, watcher: int) -> bool:
        """Whether a local instant lies between the start of a life and this watcher's return in it."""
        if life is None:
            return False
        pushes = self.pushed_in(life, watcher)
        back_at = next((push.at for push in pushes if push.cause == "subscribed"), float("inf"))
        return life.started_at <= instant <= back_at

    def slowest_answer(self, life: Life) -> int:
        """The longest wait for an answer in the last second before a kill; storing a crossing may take as long.

        A server that had answered nothing may have waited for its disk since it started.
        """
        answered = [r for r in self.requests.get(life.number, []) if r.reply_life == life.number]
        if not answered:
            return micros(life.killed_at - life.started_at)
        waits = [r.reply_at - r.sent[-1][1] for r in answered if life.killed_at - r.reply_at < 1]
        return micros(max(waits, default=0))

    def told_twice(self, timer: str, instant: int, first: Push, second: Push) -> None:
        life = self.history.lives[first.life]
        # The mark that a late end was delivered is stored after the end is sent. After a kill between the two the next
        # server sends it again.
        before_kill = micros(life.killed_at - first.at)
        is_between = before_kill <= self.window + self.slowest_answer(life) + life.stalled(before_kill)
        after = self.seen_after(first.life)
        is_next = after is not None and second.life == after.number
        if not self.histories and first.message.get("late") and is_next and is_between:
            self.verdict.told_again += first.watcher == 0
            return
        self.blame(
            f"the end of {timer} at {instant} was told twice to watcher {first.watcher}", timer, second.life, second.at)


def is_zero_of(state: View, instant: int, tolerance: int) -> bool:
    """Whether a state crosses zero at an instant. A repeating countdown that is far behind sends its last crossing in
    place of all."""
    behind, length = instant - state.zero, state.duration - state.added
    if abs(behind) <= tolerance:
        return True
    if state.at_zero != "repeat" or behind < REPEATS_TOLD_ONE_BY_ONE * length - tolerance:
        return False
    rest = behind % length
    return min(rest, length - rest) <= tolerance


def near(ends: list[tuple[int, Push]], instant: int) -> list[tuple[int, Push]]:
    """The ends, in their order, that may belong to a crossing at this instant."""
    first = bisect_left(ends, instant - SAME_CROSSING, key=lambda end: end[0])
    last = bisect_right(ends, instant + SAME_CROSSING, key=lambda end: end[0])
    return ends[first:last]


def is_folded(zero: int, told: list[tuple[int, Push]]) -> bool:
    """Whether the next end that was sent stands for this crossing too. After a stop with a hanging disk, a repeating
    countdown may be so far behind that the server sends only its last crossing."""
    later = min(((instant, push) for instant, push in told if instant > zero), default=None, key=lambda end: end[0])
    if later is None or not later[1].message.get("late"):
        return False
    instant, push = later
    state = View(push.message["timers"][0])
    if state.at_zero != "repeat":
        return False
    length = state.duration - state.added
    rest = (instant - zero) % length
    is_far = instant - zero >= REPEATS_TOLD_ONE_BY_ONE * length - RESTART_TOLERANCE
    return is_far and min(rest, length - rest) <= RESTART_TOLERANCE


def is_beyond_kept(zero: int, told: list[tuple[int, Push]]) -> bool:
    """Whether the watcher, when it reconnected, was sent as many later ends as a timer keeps, so that this one was no
    longer stored."""
    later = [(instant, push) for instant, push in told if instant > zero]
    if not later or not later[0][1].message.get("late"):
        return False
    life = later[0][1].life
    together = list(itertools.takewhile(lambda end: end[1].life == life and end[1].message.get("late"), later))
    return len(together) >= CROSSINGS_KEPT


def could_have_made(request: Request, push: Push) -> bool:
    if push.at < request.sent[0][1]:
        return False
    if request.command == "start":
        return micros(push.message["timers"][0]["duration"]) == micros(request.fields["duration"])
    if request.command == "update":
        return push.message["timers"][0]["title"] == request.fields["title"]
    return True
