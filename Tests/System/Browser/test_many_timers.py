"""Two hundred timers on the dashboard, all of them running."""

import time

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.measured
COUNT = 200
WATCHED = 5  # seconds
# Other programs on the machine only ever add to the measured cost, so the least of several rounds is the most accurate.
# A page that costs too much does so in each round.
ROUNDS = 3
SHIFTS = """
    window.shift = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
        if (!entry.hadRecentInput) { shift += entry.value; }
    })).observe({type: 'layout-shift', buffered: true});
"""


def processor_seconds(browser):
    """The processor time of all processes of the browser so far."""
    session = browser.new_browser_cdp_session()
    used = sum(process["cpuTime"] for process in session.send("SystemInfo.getProcessInfo")["processInfo"])
    session.detach()
    return used


def test_cost_little_and_stand_still(server, script, browser, open_page, capsys):
    for number in range(COUNT):
        script.do("start", timer=f"timer {number:03}", duration=3000 + number * 7.013, warnings=[60, 10])
    page = open_page(server.page(), is_alone=True, viewport={"width": 1440, "height": 900})
    expect(page.locator("#timers > li")).to_have_count(COUNT)
    page.evaluate(SHIFTS)
    page.wait_for_timeout(1500)

    for layout in ("large", "compact"):
        page.locator(f"[data-layout={layout}]").first.click()
        page.wait_for_timeout(1000)
        page.evaluate("window.shift = 0")
        share = best(share_of_a_core, browser, page, is_enough=lambda share: share < 0.2)
        per_second, slowest = best(frames, page, is_enough=lambda frames: frames[0] > 57 and frames[1] < 18)
        shift = page.evaluate("shift")
        with capsys.disabled():
            print(f"\n{COUNT} timers, {layout}: {100 * share:.1f} % of a core, layout shift {shift}, "
                  f"{per_second:.1f} frames/s, p95 {slowest:.1f} ms")

        assert share < 0.2
        assert shift == 0
        # A display has 60 frames a second; on a busy machine the page may drop one now and then.
        assert per_second > 57
        assert slowest < 18


def best(measure, *what, is_enough):
    """The first measurement that is good enough, or the last."""
    for _ in range(ROUNDS):
        found = measure(*what)
        if is_enough(found):
            break
    return found


def share_of_a_core(browser, page):
    before, began = processor_seconds(browser), time.monotonic()
    page.wait_for_timeout(WATCHED * 1000)
    return (processor_seconds(browser) - before) / (time.monotonic() - began)


def frames(page):
    """The frames a second while the page scrolls, and the 95th percentile of the time between two, in milliseconds."""
    intervals = sorted(page.evaluate(SCROLLED))
    return 1000 * len(intervals) / sum(intervals), intervals[int(0.95 * len(intervals))]


# Scrolls down and up again for two seconds, a step each frame, and returns the time that each frame took.
SCROLLED = """() => new Promise((resolve) => {
    const intervals = [];
    let last = null;
    let frames = 0;
    requestAnimationFrame(function step(now) {
        if (last !== null) { intervals.push(now - last); }
        last = now;
        frames += 1;
        window.scrollBy(0, frames < 90 ? 40 : -40);
        if (frames < 180) { requestAnimationFrame(step); } else { resolve(intervals); }
    });
})"""


def test_each_still_shows_its_own_second(server, script, open_page):
    """All digits are painted together, so that one is late by 0.1 s at most; a busy machine may add to that."""
    for number in range(40):
        script.do("start", timer=f"timer {number:03}", duration=3000 + number * 0.137)
    page = open_page(server.page(), is_alone=True)
    expect(page.locator("#timers > li")).to_have_count(40)
    page.wait_for_timeout(1500)

    lateness = page.evaluate(
        """() => new Promise((resolve) => {
            const late = [];
            new MutationObserver((changes) => changes.forEach((change) => {
                const now = performance.now() / 1000 + timersync.offset;
                late.push([change.target.getAttribute('data-timer'), change.target.textContent, now]);
            })).observe(document.querySelector('#timers'), {childList: true, subtree: true});
            setTimeout(() => resolve(late.filter(([name]) => name !== null)), 3000);
        })"""
    )
    states = {state["timer"]: state for state in script.ask("list")["timers"]}

    assert len(lateness) > 100
    for name, text, shown_at in lateness:
        minutes, seconds = text.split(":")
        left = int(minutes) * 60 + int(seconds)
        due = states[name]["startDate"] + states[name]["duration"] - left
        assert -0.02 < shown_at - due < 0.15, (name, text, shown_at - due)
