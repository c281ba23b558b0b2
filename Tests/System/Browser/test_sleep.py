"""After a sleep, while hidden or without its server, a screen shows the right time or none, never a wrong digit."""

import re
import subprocess

import pytest
from playwright.sync_api import expect

from person import assert_right, seconds_of
from scripted_server import NOW, STALLS, digits, hold, let_pass, server_now, state, wait_until

# The test can move both clocks and hide the tab, as a browser and its machine do.
LEVERS = """
(() => {
    const date = Date.now.bind(Date), monotonic = performance.now.bind(performance);
    let wallMoved = 0, monotonicMoved = 0, visibility = 'visible';
    Date.now = () => date() + wallMoved * 1000;
    performance.now = () => monotonic() + monotonicMoved * 1000;
    Object.defineProperty(document, 'visibilityState', {get: () => visibility});
    Object.defineProperty(document, 'hidden', {get: () => visibility === 'hidden'});
    window.pass = (wall, mono) => { wallMoved += wall; monotonicMoved += mono; };
    window.become = (state) => { visibility = state; document.dispatchEvent(new Event('visibilitychange')); };
})();
"""

# Each text that was shown, with the instant on a clock that the test doesn't move.
RECORD = """
(() => {
    const real = performance.now.bind(performance);
    window.seen = [];
    const note = () => {
        const element = document.querySelector('[data-digits]');
        const text = element === null ? '' : element.textContent;
        if (text !== '' && (seen.length === 0 || seen[seen.length - 1][0] !== text)) { seen.push([text, real()]); }
    };
    new MutationObserver(note).observe(document, {subtree: true, childList: true, characterData: true});
})();
"""


def running(**fields):
    return state(status="running", lastElapsedTimeCalculatedAt=NOW, **fields)


def after(page, since):
    """Texts with digits that were shown after an instant of the page."""
    return [(text, at) for text, at in page.evaluate("seen") if at > since and re.search(r"\d", text)]


def wrong(page, since, slept=0):
    """The texts after `since` that were wrong for `screen` after a sleep of `slept` seconds."""
    return [(text, at) for text, at in after(page, since)
            if abs(seconds_of(text) - (36000 - slept - at / 1000)) > 1.2]


def show_within(page, since, milliseconds, slept=0):
    """Checks that the right time is shown within `milliseconds`, not counting the time when the page could not run."""
    wait_until(page, lambda: after(page, since))
    text, at = after(page, since)[0]
    assert wrong(page, since, slept) == []
    assert at - since < milliseconds + page.evaluate("stalled"), text


@pytest.fixture
def screen(visit, scripted):
    """A display of a countdown of ten hours that has just begun; the test sets the display's clocks."""
    scripted.states = [running(duration=36000)]
    page = visit("?timer=kitchen", init_script=RECORD + STALLS + LEVERS)
    expect(digits(page)).to_have_text(re.compile(r"^9:59:\d\d$"))
    page.wait_for_timeout(1500)
    return page


def later(scripted, seconds):
    """Moves the server's clock ahead: its answers to clock exchanges are `seconds` later from now on."""
    def sync(request):
        instant = NOW + request["clientTime"] + seconds
        scripted.reply(request, clientTime=request["clientTime"], receivedAt=instant, sentAt=instant)

    scripted.answers["sync"] = sync


def sleep(screen, wall, monotonic):
    """Lets the machine sleep, which moves its clocks by `wall` and `monotonic`. Returns the page's instant."""
    return screen.evaluate(
        "([wall, mono]) => { const woke = performance.now(); stalled = 0; pass(wall, mono); return woke; }",
        [wall, monotonic])


def test_asleep_for_an_hour_with_a_clock_that_stood_still(screen, scripted):
    later(scripted, 3600)
    woke = sleep(screen, 3600, 0)

    show_within(screen, woke, 1500, slept=3600)
    screen.wait_for_timeout(1500)

    assert wrong(screen, woke, slept=3600) == []


def test_asleep_with_a_clock_that_went_on(screen, scripted):
    woke = sleep(screen, 3600, 3600)

    show_within(screen, woke, 1500, slept=3600)


def test_hidden_for_ten_minutes_and_throttled(screen, scripted):
    screen.evaluate("become('hidden')")
    screen.evaluate("pass(600, 600)")
    shown = screen.evaluate(
        "() => { become('visible'); return document.querySelector('[data-digits]').textContent; }")

    assert re.match(r"^9:49:\d\d$", shown), "a wrong digit before it was mended"


def test_a_tab_that_was_frozen_is_right_at_once(server, script, open_page):
    script.do("start", timer="kitchen", duration=36000)
    page = open_page(server.page("kitchen"), init_script=RECORD, is_alone=True)
    expect(digits(page)).to_have_text(re.compile(r"^9:59:\d\d$"))
    devtools = page.context.new_cdp_session(page)

    devtools.send("Page.setWebLifecycleState", {"state": "frozen"})
    script.do("pause", timer="kitchen")
    script.do("resume", timer="kitchen")
    page.wait_for_timeout(4000)
    devtools.send("Page.setWebLifecycleState", {"state": "active"})
    page.wait_for_timeout(1000)

    assert_right(page, script)
    expect(page.locator("#connection")).to_be_hidden()


def test_a_wall_clock_that_is_set_shows_no_wrong_digit(screen, scripted):
    since = sleep(screen, -7200, 0)
    screen.wait_for_timeout(2500)

    assert wrong(screen, since) == []


def test_asleep_and_nobody_to_ask_is_reckoned_and_said(screen, scripted):
    scripted.answers["sync"] = lambda request: None
    woke = sleep(screen, 3600, 0)

    show_within(screen, woke, 3000, slept=3600)
    expect(screen.locator("#connection")).to_be_visible()


def test_an_answer_that_spans_the_sleep_is_not_believed(screen, scripted):
    held = []
    scripted.answers["sync"] = held.append
    screen.evaluate("document.dispatchEvent(new Event('resume'))")
    wait_until(screen, lambda: held)
    woke = sleep(screen, 3600, 0)
    screen.wait_for_timeout(50)
    early = held[0]
    instant = NOW + early["clientTime"]
    scripted.reply(early, clientTime=early["clientTime"], receivedAt=instant, sentAt=instant)
    later(scripted, 3600)

    show_within(screen, woke, 4000, slept=3600)


# — what comes back is never the full duration, and never nothing —

EVERY_FRAME = """
window.frames_seen = [];
(function look() {
    const digits = document.querySelector('[data-digits]');
    const stage = document.querySelector('article');
    if (digits !== null && stage !== null && stage.offsetWidth > 0) {
        const text = digits.textContent || getComputedStyle(digits, '::before').content;
        frames_seen.push(digits.hidden ? 'hidden' : text);
    }
    requestAnimationFrame(look);
})();
"""


def texts_of_frames(page):
    return list(dict.fromkeys(page.evaluate("frames_seen")))


def test_a_reload_never_shows_the_full_duration_nor_nothing(server, script, open_page):
    script.do("start", timer="kitchen", duration=300)
    page = open_page(server.page("kitchen"), init_script=EVERY_FRAME)
    page.wait_for_timeout(2500)

    for _ in range(3):
        page.reload()
        expect(digits(page)).to_have_text(re.compile(r"^4:\d\d$"))
        texts = texts_of_frames(page)
        assert all(re.match(r'^(4:\d\d|"–:––")$', text) for text in texts), texts


def test_a_restart_of_the_server_never_shows_the_full_duration_nor_nothing(server, open_page):
    script = server.connect()
    script.do("start", timer="kitchen", duration=300)
    page = open_page(server.page("kitchen"), init_script=EVERY_FRAME)
    page.wait_for_timeout(2500)
    page.evaluate("frames_seen.length = 0")

    server.kill()
    expect(page.locator("#connection")).to_be_visible()
    server.start()
    expect(page.locator("#connection")).to_be_hidden(timeout=20000)
    page.wait_for_timeout(500)

    texts = [seconds_of(text) for text in texts_of_frames(page)]
    assert texts == sorted(texts, reverse=True) and texts[0] < 299, "it went back"
    assert_right(page, server.connect())


def test_a_revoked_token_leaves_the_digits_and_says_so(guarded, open_page):
    control = open_page(f"{guarded.url}/?token={guarded.tokens['control']}", is_alone=True)
    control.evaluate(
        """(token) => fetch('/api/timers/tea/start', {method: 'POST', body: '{"duration":300}',
            headers: {Authorization: 'Bearer ' + token}})""", guarded.tokens["control"])
    page = open_page(f"{guarded.url}/?timer=tea&token={guarded.tokens['view']}", init_script=EVERY_FRAME, is_alone=True)
    expect(digits(page, "tea")).to_have_text(re.compile(r"^4:\d\d$"))
    page.evaluate("frames_seen.length = 0")

    subprocess.run(
        [guarded.binary, "token", "remove", "view", "--data", str(guarded.data)], check=True, timeout=20)

    expect(page.locator("#connection")).to_contain_text("refused this page")
    page.wait_for_timeout(1500)
    texts = texts_of_frames(page)
    assert all(re.match(r"^4:\d\d$", text) for text in texts), texts
    assert texts == sorted(texts, reverse=True)


# — asleep, and no server answers —


@pytest.fixture
def alone(visit, scripted):
    """A display of 400 s after a sleep of 300 with a clock that stood still. The server answers nothing any more, and
    the test sets the time."""
    scripted.states = [running(duration=400)]
    page = visit("?timer=kitchen", hand_turned=True)
    expect(digits(page)).not_to_be_empty()
    hold(page)
    scripted.answers["sync"] = lambda request: None
    scripted.accept = lambda socket: None
    page.evaluate(
        """() => {
            const wall = timersync.wall;
            timersync.wall = () => wall() + 300;
            document.dispatchEvent(new Event('resume'));
        }""")
    return page


def test_the_digits_come_back_when_the_sleep_is_assumed_and_not_before(alone):
    expect(digits(alone)).to_have_text("–:––")
    alone.clock.run_for(999)
    expect(digits(alone)).to_have_text("–:––")
    alone.clock.run_for(1)
    alone.evaluate("document.dispatchEvent(new Event('resume'))")

    expect(digits(alone)).to_have_text(re.compile(r"^1:[34]\d$"))


def test_words_come_at_their_time_after_a_sleep_that_was_assumed(alone):
    announcer = alone.locator("#announcer")
    left = None
    while "1 minute left" not in announcer.text_content():
        let_pass(alone, 1)
        left = seconds_of(digits(alone).text_content().replace("–", "9"))
        assert left > 55

    assert left <= 60


def test_nothing_is_said_by_the_clock_of_before_the_sleep(visit, scripted):
    scripted.states = [running(duration=400)]
    page = visit("?timer=kitchen", hand_turned=True)
    expect(digits(page)).not_to_be_empty()
    hold(page)
    let_pass(page, 400 - (server_now(page) - NOW) - 60.5)
    expect(digits(page)).to_have_text("1:01")
    expect(page.locator("#announcer")).to_have_text("kitchen: 5 minutes left")

    scripted.answers["sync"] = lambda request: None
    page.evaluate("(() => { const wall = timersync.wall; timersync.wall = () => wall() + 300; })()")
    page.clock.run_for(700)
    later(scripted, 300)
    let_pass(page, 3)

    expect(digits(page)).to_have_text(re.compile("^-4:0"))
    expect(page.locator("#announcer")).to_have_text("kitchen: 5 minutes left")
