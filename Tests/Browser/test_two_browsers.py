"""Two screens whose own clocks are wrong, on two bad links, change digit together."""

import math
import os
import time

from playwright.sync_api import expect

from delaying_proxy import DelayingProxy

SECONDS = int(os.environ.get("TWO_BROWSERS_SECONDS", "60"))
SETTLING_SECONDS = 3
TOGETHER_WITHIN = 0.050
DELAY_SECONDS = (0.020, 0.060)

# Before any script of the page runs: every way to ask for the time of day is wrong.
WRONG_CLOCK = """
(() => {
    const Real = Date;
    const now = Date.now.bind(Date);
    const origin = performance.timeOrigin;
    class Wrong extends Real {
        constructor(...given) { if (given.length) { super(...given); } else { super(now() + SHIFT); } }
        static now() { return now() + SHIFT; }
    }
    globalThis.Date = Wrong;
    Object.defineProperty(performance, 'timeOrigin', {get: () => origin + SHIFT});
})();
"""

RECORD_CHANGES = """
() => {
    const digits = document.querySelector('[data-digits]');
    window.changes = [];
    new MutationObserver(() => {
        changes.push([digits.textContent, performance.now() / 1000]);
    }).observe(digits, {childList: true, characterData: true, subtree: true});
}
"""


class Screen:
    """A browser with a wrong clock behind a slow link of its own."""

    def __init__(self, open_page, server, proxy, shift_seconds):
        self.page = open_page(
            server.page("talk").replace(f":{server.port}/", f":{proxy.port}/"),
            init_script=WRONG_CLOCK.replace("SHIFT", str(shift_seconds * 1000)),
        )
        assert abs(self.page.evaluate("Date.now() / 1000") - time.time() - shift_seconds) < 5
        expect(self.page.locator("[data-digits]")).to_be_visible()

    def record(self):
        self.page.evaluate(RECORD_CHANGES)

    def changes(self):
        """Shown text → when it appeared, on the machine's monotonic clock."""
        ahead = clock_ahead(lambda: self.page.evaluate("performance.now() / 1000"))
        changes = self.page.evaluate("changes")
        texts = [text for text, _ in changes]
        assert len(texts) == len(set(texts)), f"a digit came twice: {texts}"
        return {text: at - ahead for text, at in changes}


def clock_ahead(read):
    """How far another clock is ahead of ours: the reading with the smallest round trip of many."""
    readings = []
    for _ in range(40):
        before = time.monotonic()
        theirs = read()
        after = time.monotonic()
        readings.append((after - before, theirs - (before + after) / 2))
    return min(readings)[1]


def true_changes(script):
    """When each text of the countdown appears by the server's own clock, on ours."""
    ahead = clock_ahead(lambda: script.ask("sync", clientTime=0)["sentAt"])
    state = script.do("get", timer="talk")
    zero = state["lastElapsedTimeCalculatedAt"] + state["time"] - ahead
    return {f"{second // 60}:{second % 60:02}": zero - second for second in range(601)}


def p99(values):
    ordered = sorted(values)
    return ordered[math.ceil(0.99 * len(ordered)) - 1]


def milliseconds(seconds):
    return f"{seconds * 1000:.1f} ms"


def test_two_browsers_change_digit_together(server, script, open_page, capsys):
    script.do("start", timer="talk", duration=600)

    with DelayingProxy(server.port, DELAY_SECONDS) as near, DelayingProxy(server.port, DELAY_SECONDS) as far:
        ahead = Screen(open_page, server, near, 90)
        behind = Screen(open_page, server, far, -7200)
        ahead.page.wait_for_timeout(SETTLING_SECONDS * 1000)
        ahead.record()
        behind.record()
        ahead.page.wait_for_timeout(SECONDS * 1000)
        left, right = ahead.changes(), behind.changes()

    truth = true_changes(script)
    both = sorted(left.keys() & right.keys())
    between = [abs(left[text] - right[text]) for text in both]
    to_truth = [abs(screen[text] - truth[text]) for screen in (left, right) for text in screen]
    with capsys.disabled():
        print(
            f"\ntwo browsers over {SECONDS} s: between screens p99 {milliseconds(p99(between))} "
            f"max {milliseconds(max(between))}; to the truth p99 {milliseconds(p99(to_truth))}"
        )

    assert len(both) >= SECONDS - 1, "a screen left out a second"
    assert p99(between) < TOGETHER_WITHIN
    assert p99(to_truth) < TOGETHER_WITHIN
