"""Tones are scheduled ahead on the audio clock, at the instants that follow from the state alone."""

import pytest
from playwright.sync_api import expect

from scripted_server import NOW, digits, state, wait_until

# Records every tone of the audio clock, with the instant for which it was scheduled, on the page's clock.
RECORD_TONES = """
(() => {
    const Real = AudioContext;
    window.tones = [];
    window.AudioContext = class extends Real {
        get currentTime() { return super.currentTime * (window.audioPace || 1); }
        createOscillator() {
            const source = super.createOscillator();
            const start = source.start.bind(source), stop = source.disconnect.bind(source);
            source.start = (when) => {
                const tone = {at: performance.now() / 1000 + when - this.currentTime, hertz: source.frequency.value};
                source.tone = tone;
                tones.push(tone);
                start(when);
            };
            source.disconnect = () => { tones.splice(tones.indexOf(source.tone), 1); stop(); };
            return source;
        }
    };
    window.shaken = [];
    navigator.vibrate = (pattern) => { shaken.push(pattern); return true; };
    window.spoken = [];
    if (window.speechSynthesis) { speechSynthesis.speak = (utterance) => spoken.push(utterance.text); }
})();
"""
RUNNING = {"status": "running", "lastElapsedTimeCalculatedAt": NOW}


def zero(page, elapsed, duration):
    """The instant of zero on the page's own clock."""
    return page.evaluate("(server) => server - timersync.offset", NOW + duration - elapsed)


def move(page):
    page.mouse.move(5, 105)
    page.mouse.move(15, 115)


@pytest.fixture
def sounding(visit, scripted):
    def sounding(query="", pace=1, hand_turned=False, **fields):
        scripted.states = [state(**{**RUNNING, **fields})]
        init_script = f"window.audioPace = {pace};" + RECORD_TONES
        page = visit("?timer=kitchen&sound=1" + query, init_script, hand_turned)
        expect(digits(page)).not_to_be_empty()
        page.locator("#sound").wait_for()
        page.mouse.click(300, 300)
        expect(page.locator("#sound")).to_have_attribute("aria-pressed", "true")
        return page

    return sounding


def firsts(page):
    """The first tone of each group."""
    tones = sorted(page.evaluate("tones"), key=lambda tone: tone["at"])
    return [tone["at"] for index, tone in enumerate(tones) if index == 0 or tone["at"] - tones[index - 1]["at"] > 1]


def test_warnings_and_zero_are_ordered_from_the_anchor(sounding):
    page = sounding(duration=300, elapsedTime=200, warnings=[60, 10])

    def ordered():
        end = zero(page, 200, 300)
        return firsts(page) == pytest.approx([end - 60, end - 10, end], abs=0.03)

    # The page may learn the server's time better meanwhile, and then schedules the tones anew.
    wait_until(page, ordered)


def test_a_late_message_moves_no_tone(sounding, scripted):
    page = sounding(duration=300, elapsedTime=290)

    # A delayed snapshot brings the same state again two seconds later.
    page.wait_for_timeout(2000)
    scripted.snapshot(state(**RUNNING, revision=6, duration=300, elapsedTime=290))
    page.wait_for_timeout(200)

    # The instant is computed now, because the page may have learned the server's time better, which moves the tones.
    assert firsts(page) == pytest.approx([zero(page, 290, 300)], abs=0.03)


def test_a_pause_takes_the_tones_back_and_a_resume_orders_them_later(sounding, scripted):
    page = sounding(duration=300, elapsedTime=200)

    scripted.snapshot(state(revision=6, duration=300, elapsedTime=201), "paused")
    wait_until(page, lambda: page.evaluate("tones.length") == 0)
    resumed = page.evaluate("performance.now() / 1000 + timersync.offset")
    scripted.snapshot(
        state(revision=7, status="running", duration=300, elapsedTime=201, lastElapsedTimeCalculatedAt=resumed),
        "resumed",
    )
    wait_until(page, lambda: page.evaluate("tones.length") > 0)

    assert firsts(page) == pytest.approx([page.evaluate("(at) => at - timersync.offset", resumed) + 99], abs=0.03)


def test_nothing_sounds_twice(sounding, scripted):
    # The countdown starts early enough for a busy machine to open the page before zero.
    page = sounding(duration=300, elapsedTime=285)
    end = zero(page, 285, 300)

    for _ in range(6):
        page.wait_for_timeout(400)
        scripted.snapshot(state(**RUNNING, revision=5, duration=300, elapsedTime=285))
    wait_until(page, lambda: page.evaluate("performance.now() / 1000") > end + 1.4, seconds=20)

    assert len(firsts(page)) == 1
    assert len(page.evaluate("tones")) == 3
    assert len(page.evaluate("shaken")) == 1


def test_zero_sounds_though_the_audio_clock_is_not_there_yet(sounding):
    page = sounding(pace=0.98, duration=300, elapsedTime=285)
    end = zero(page, 285, 300)

    wait_until(page, lambda: page.evaluate("performance.now() / 1000") > end + 0.5, seconds=20)

    assert len(page.evaluate("tones")) == 3


@pytest.mark.parametrize("minutes, outages", [(20, 4), (90, 18)])
def test_zero_sounds_after_an_outage_that_was_longer_than_tones_are_ordered_ahead(
        sounding, scripted, minutes, outages):
    page = sounding(hand_turned=True, duration=minutes * 60, warnings=[30])
    scripted.accept = lambda socket: socket.close()
    scripted.connections[-1].close()

    for _ in range(outages):
        page.clock.fast_forward(290_000)  # every timeout that is due runs once, as in a hidden page

    end = zero(page, 0, minutes * 60)
    assert firsts(page) == pytest.approx([end - 30, end], abs=0.3)


def test_a_blocked_browser_says_tap_to_enable(visit, scripted):
    scripted.states = [state(**RUNNING)]
    page = visit(
        "?timer=kitchen&sound=1",
        init_script="""
        let isRunning = false;
        Object.defineProperty(AudioContext.prototype, 'state', {get: () => isRunning ? 'running' : 'suspended'});
        AudioContext.prototype.resume = () => new Promise((resolve) => {
            isRunning = window.tapped;
            if (isRunning) { resolve(); }
        });
        """,
    )

    expect(page.get_by_role("button", name="Tap to turn on sound")).to_be_visible()
    page.wait_for_timeout(300)
    assert page.locator("#tools").evaluate("(element) => getComputedStyle(element).opacity") == "1"
    page.evaluate("tapped = true")
    page.mouse.click(300, 300)

    expect(page.get_by_role("button", name="Sound", exact=True)).to_have_attribute("aria-pressed", "true")


def test_sound_is_off_until_it_is_wished(visit, scripted):
    scripted.states = [state(**RUNNING, duration=300, elapsedTime=297)]
    page = visit("?timer=kitchen", init_script=RECORD_TONES)
    expect(digits(page)).not_to_be_empty()
    move(page)
    page.wait_for_timeout(4000)
    assert page.evaluate("[tones.length, shaken.length, spoken.length]") == [0, 0, 0]

    scripted.snapshot(state(**RUNNING, revision=6, duration=400, elapsedTime=297))
    move(page)
    page.get_by_role("button", name="Sound").click()

    wait_until(page, lambda: len(firsts(page)) == 1)
    move(page)
    page.get_by_role("button", name="Sound").click()
    wait_until(page, lambda: page.evaluate("tones.length") == 0)


def test_it_says_words_when_asked_to(sounding):
    # The countdown starts early enough for a busy machine to open the page before the alert.
    page = sounding("&speech=1", duration=300, elapsedTime=284, title="Pasta")

    wait_until(page, lambda: page.evaluate("spoken.length") > 0)

    assert page.evaluate("spoken") == ["Pasta: 10 seconds left"]
