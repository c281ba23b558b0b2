"""The alerts of a countdown come at their instants. The tests need no page, and time is an argument."""

import pytest

from scripted_server import NOW, state

# Steps in order: [now] lets time pass without a message about a timer, [now, states] also hands these states to the
# scheduler. Timeouts are called by the test, `late` seconds after they are due.
TELL = """
([steps, late]) => import('/display/alerts.js').then(({AlertScheduler, inWords, upcoming}) => {
    const told = [];
    const timeouts = new Map();
    let now = 0;
    let last = 0;
    window.setTimeout = (ring, delay) => { timeouts.set(++last, {ring, at: now + delay / 1000}); return last; };
    window.clearTimeout = (id) => { timeouts.delete(id); };
    const scheduler = new AlertScheduler({certainNow: () => now}, (alerts) => told.push([now, alerts.map(inWords)]));
    for (const [instant, states] of steps) {
        for (;;) {
            const [id, next] = Array.from(timeouts).sort(([, one], [, other]) => one.at - other.at)[0] || [];
            if (next === undefined || next.at + late > instant) { break; }
            timeouts.delete(id);
            now = next.at + late;
            next.ring();
        }
        now = instant;
        if (states !== undefined) { scheduler.plan(upcoming(states, now).filter((alert) => alert.isSpoken)); }
    }
    return told;
})
"""


@pytest.fixture
def tell(open_page, web_files):
    def tell(*steps, late=0):
        """The alerts that the scheduler gives in these steps, each in seconds from NOW."""
        told = open_page(web_files + "/favicon.svg").evaluate(
            TELL, [[[NOW + step[0], *step[1:]] for step in steps], late])
        return [(round(now - NOW, 3), words) for now, words in told]

    return tell


def running(left, name="tea", at=0, duration=300, **fields):
    """A state with `left` seconds before zero at the instant `at`."""
    return state(timer=name, status="running", duration=duration, elapsedTime=duration - left,
                 lastElapsedTimeCalculatedAt=NOW + at, **fields)


def test_each_moment_is_told_when_it_comes(tell):
    told = tell((0, [running(61.5)]), (100,))

    assert told == [(1.5, ["tea: 1 minute left"]), (51.5, ["tea: 10 seconds left"]), (61.5, ["tea: time is up"])]


def test_what_is_due_is_told_though_the_server_was_first(tell):
    finished = state(timer="tea", revision=6, status="finished", elapsedTime=300)

    assert tell((0, [running(5)]), (5.0004, [finished]), (9,)) == [(5.0, ["tea: time is up"])]


def test_what_is_due_is_told_though_the_timeout_is_late(tell):
    assert tell((0, [running(5)]), (5.3, [running(5)]), (9,), late=0.5) == [(5.3, ["tea: time is up"])]


def test_timers_that_come_to_zero_together_are_told_together(tell):
    told = tell((0, [running(5, "tea"), running(5, "eggs", title="Eggs")]), (9,))

    assert told == [(5.0, ["tea: time is up", "Eggs: time is up"])]


def test_what_was_paused_before_is_not_told(tell):
    assert tell((0, [running(5)]), (4.9, [state(timer="tea", elapsedTime=299.9)]), (9,)) == []


def test_a_state_told_anew_tells_nothing_twice(tell):
    assert tell((0, [running(11)]), (1.2, [running(11)]), (0.9, [running(11)]), (5,)) == [
        (1.0, ["tea: 10 seconds left"])
    ]


def test_time_that_was_added_brings_the_moment_again(tell):
    told = tell((0, [running(11)]), (2, [running(19, at=2)]), (12,))

    assert told == [(1.0, ["tea: 10 seconds left"]), (11.0, ["tea: 10 seconds left"])]


def test_a_word_that_is_no_longer_true_is_not_told(tell):
    assert tell((0, [running(11)]), (3.1, [running(11)]), (5,), late=3) == []


def test_what_comes_in_weeks_is_told_then(tell):
    left = 40 * 86400

    assert tell((0, [running(left, duration=left)]), (left - 200,)) == [(left - 300, ["tea: 5 minutes left"])]
