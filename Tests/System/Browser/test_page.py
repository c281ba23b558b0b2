"""The page against a real server, used as a person uses it."""

import re

import pytest
from playwright.sync_api import expect

from delaying_proxy import DelayingProxy
from person import assert_right, card, digits
from scripted_server import RECORD_TEXTS, STALLS, wait_until

MARKUP = "<img src=x onerror=\"document.body.dataset.harmed='yes'\">"
STALE_MARK = "#connection"


def reach_for_controls(page):
    """Moves the pointer, which shows a display's controls."""
    page.mouse.move(5, 105)
    page.mouse.move(15, 115)
    expect(page.locator("body")).to_have_class(re.compile("show-controls"))
    page.get_by_role("link", name="All timers").wait_for()


def press(page, name, label):
    if "timer=" in page.url:
        reach_for_controls(page)
    card(page, name).get_by_role("button", name=label, exact=True).click()


def shows(page, name, text):
    expect(digits(page, name)).to_have_text(re.compile(text))


def has_status(page, name, status):
    expect(card(page, name)).to_have_attribute("data-status", status)


def test_markup_is_only_text(server, script, open_page):
    script.do("start", timer=MARKUP, duration=300, title="<script>document.body.dataset.harmed='yes'</script>")

    dashboard = open_page(server.page())
    display = open_page(server.page(MARKUP))
    waiting = open_page(server.page(MARKUP + "x"))

    shows(dashboard, MARKUP, r"^(5:00|4:\d\d)$")
    shows(display, MARKUP, r"^(5:00|4:\d\d)$")
    expect(waiting.locator(".waiting strong")).to_have_text(MARKUP + "x")
    for page in (dashboard, display, waiting):
        assert page.evaluate("document.body.dataset.harmed") is None
        assert page.locator("img").count() == 0


@pytest.mark.parametrize("width, height", [(320, 568), (390, 844), (844, 390), (1440, 900), (3840, 2160)])
@pytest.mark.parametrize("duration", [300, 360000])
def test_full_screen_digits_are_large_and_stay_inside(server, script, open_page, width, height, duration):
    script.do("start", timer="kitchen", duration=duration, title="A title that is long enough to be in the way")
    script.do("pause", timer="kitchen")

    page = open_page(server.page("kitchen"), viewport={"width": width, "height": height})
    # Until the state arrives, dashes are shown in another size.
    expect(digits(page, "kitchen")).to_have_text(re.compile("^[0-9]"))

    box = digits(page, "kitchen").bounding_box()
    assert box["x"] >= 0 and box["y"] >= 0
    assert box["x"] + box["width"] <= width and box["y"] + box["height"] <= height
    assert box["width"] > 0.8 * width or box["height"] > 0.4 * height
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    reach_for_controls(page)
    for button in card(page, "kitchen").get_by_role("button").all():
        where = button.bounding_box()
        assert where["y"] + where["height"] <= height and where["x"] >= 0 and where["x"] + where["width"] <= width


def test_the_tab_shows_the_time(server, script, open_page):
    script.do("start", timer="kitchen", duration=300, title="Pasta")

    page = open_page(server.page("kitchen"))

    expect(page).to_have_title(re.compile(r"^(5:00|4:\d\d) · Pasta$"))


def test_a_name_that_does_not_exist_waits_and_lights_up(server, script, open_page):
    page = open_page(server.page("later"))
    expect(page.get_by_text("Waiting to start")).to_be_visible()

    script.do("start", timer="later", duration=300)

    shows(page, "later", r"^(5:00|4:\d\d)$")
    expect(page.get_by_text("Waiting to start")).to_be_hidden()

    script.do("remove", timer="later")
    expect(page.get_by_text("Waiting to start")).to_be_visible()


def test_a_forced_start_shows_the_full_duration_at_once(server, script, open_page):
    script.do("start", timer="kitchen", duration=300)
    page = open_page(server.page("kitchen"), init_script=RECORD_TEXTS)
    shows(page, "kitchen", r"^4:")

    script.do("start", timer="kitchen", duration=600, force=True)
    shows(page, "kitchen", "^9:")

    texts = list(dict.fromkeys(page.evaluate("seen")))
    assert [text for text in texts if not re.match("^4:|^5:00$", text)] == ["10:00", "9:59"]


def test_overtime_goes_on_below_zero(server, script, open_page):
    page = open_page(server.page("kitchen"))

    script.do("start", timer="kitchen", duration=1, atZero="overtime")

    expect(digits(page, "kitchen")).to_have_text("0:00")
    expect(card(page, "kitchen")).to_have_attribute("data-level", "overtime")
    expect(digits(page, "kitchen")).to_have_text("-0:01")


@pytest.mark.parametrize("policy, status", [("finish", "finished"), ("reset", "idle"), ("repeat", "running")])
def test_other_policies_never_show_less_than_zero(server, script, open_page, policy, status):
    page = open_page(server.page("kitchen"))
    page.evaluate(
        """() => {
            window.seen = [];
            new MutationObserver(() => seen.push(document.querySelector('[data-digits]').textContent))
                .observe(document.querySelector('main'), {subtree: true, childList: true, characterData: true});
        }"""
    )

    script.do("start", timer="kitchen", duration=1, atZero=policy)
    page.wait_for_timeout(2500)

    has_status(page, "kitchen", status)
    assert [text for text in page.evaluate("seen") if text.startswith("-")] == []


def test_a_screen_counts_on_while_the_server_is_dead_and_catches_up_by_itself(server, open_page):
    script = server.connect()
    script.do("start", timer="kitchen", duration=300)
    page = open_page(server.page("kitchen"))
    shows(page, "kitchen", r"^(5:00|4:\d\d)$")
    expect(page.locator(STALE_MARK)).to_be_hidden()
    epoch_offset = page.evaluate("timersync.offset")
    reach_for_controls(page)

    server.kill()

    expect(page.locator(STALE_MARK)).to_have_text(re.compile(r"Offline for \d+ s\. Last update \d+ s ago\."))
    before = digits(page, "kitchen").text_content()
    page.wait_for_timeout(2200)
    assert digits(page, "kitchen").text_content() < before, "stood still"
    reach_for_controls(page)
    card(page, "kitchen").get_by_role("button", name="Pause").click(force=True)
    expect(card(page, "kitchen").locator(".message")).to_contain_text("Offline")

    server.start()

    expect(page.locator(STALE_MARK)).to_be_hidden(timeout=20000)
    has_status(page, "kitchen", "running")
    assert_right(page, server.connect())
    assert abs(page.evaluate("timersync.offset") - epoch_offset) < 5
    press(page, "kitchen", "Pause")
    has_status(page, "kitchen", "paused")


# The texts of the stage, each with the instant on the server's clock at which it came.
RECORD_STAGE = """
window.said = {};
new MutationObserver(() => {
    const stage = document.querySelector('article');
    if (stage === null || !window.timersync || timersync.offset === null) { return; }
    for (const word of [stage.dataset.signal, stage.querySelector('.speaker-message').textContent]) {
        said[word] = said[word] || timersync.now();
    }
}).observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
"""


def test_what_is_said_to_the_speaker_is_on_every_display_at_once(server, open_page):
    script = server.connect()
    script.do("start", timer="kitchen", duration=300)
    displays = [open_page(server.page("kitchen"), init_script=RECORD_STAGE + STALLS) for _ in range(2)]
    for page in displays:
        shows(page, "kitchen", "^4:")

    for command, field, word in (
            ("message", "text", "Wrap up"), ("signal", "signal", "flash"), ("signal", "signal", "blackout")):
        for page in displays:
            page.evaluate("stalled = 0")
        sent = script.do(command, timer="kitchen", **{field: word})[command]["sentAt"]
        for page in displays:
            wait_until(page, lambda: page.evaluate("(word) => word in said", word))
            assert page.evaluate("(word) => said[word]", word) - sent < 1 + page.evaluate("stalled") / 1000
    expect(digits(displays[0], "kitchen")).to_be_hidden()

    script.do("signal", timer="kitchen", signal="none")
    script.do("message", timer="kitchen", text="")
    for page in displays:
        expect(digits(page, "kitchen")).to_be_visible()
        expect(page.locator(".speaker-message")).to_be_hidden()


def test_what_was_removed_while_the_link_was_down_is_gone_afterwards(server, open_page):
    script = server.connect()
    script.do("start", timer="kitchen", duration=300)
    script.do("start", timer="oven", duration=300)
    page = open_page(server.page(), is_alone=True)
    expect(page.locator("[data-digits]")).to_have_count(2)

    page.context.set_offline(True)
    server.kill()
    expect(page.locator(STALE_MARK)).to_be_visible()
    server.start()
    server.connect().do("remove", timer="oven")
    page.context.set_offline(False)

    expect(digits(page, "oven")).to_have_count(0)
    expect(digits(page, "kitchen")).to_have_count(1)


def test_a_half_open_link_is_noticed(server, script, open_page):
    script.do("start", timer="kitchen", duration=300)
    with DelayingProxy(server.port, (0, 0.001)) as proxy:
        page = open_page(server.page("kitchen").replace(f":{server.port}/", f":{proxy.port}/"))
        shows(page, "kitchen", r"^(5:00|4:\d\d)$")
        reach_for_controls(page)
        page.wait_for_timeout(1200)

        proxy.stall()
        press(page, "kitchen", "Pause")

        expect(page.locator(STALE_MARK)).to_contain_text("No answer for")
        expect(page.locator(STALE_MARK)).to_contain_text("Offline")

        proxy.resume()

        # The press was never answered, so it is sent again, and applied once.
        expect(page.locator(STALE_MARK)).to_be_hidden(timeout=25000)
        has_status(page, "kitchen", "paused")


def test_a_clock_that_jumps_is_not_trusted_before_it_is_compared_again(server, script, open_page):
    script.do("start", timer="kitchen", duration=300)
    page = open_page(
        server.page("kitchen"),
        init_script="const now = Date.now; let jump = 0; "
        "Date.now = () => now() + jump; window.jump = (by) => { jump = by; };")
    shows(page, "kitchen", r"^(5:00|4:\d\d)$")
    page.wait_for_timeout(1200)

    page.evaluate("jump(3600000)")
    page.wait_for_timeout(2500)

    assert_right(page, script)
    expect(page.locator(STALE_MARK)).to_be_hidden()
    assert page.evaluate("timersync.roundTrip") is not None


def test_the_page_leaves_nothing_global_but_its_diagnostics(server, open_page):
    page = open_page(server.page())
    blank = open_page(server.url + "/favicon.svg")

    own = set(page.evaluate("Object.getOwnPropertyNames(window)"))
    usual = set(blank.evaluate("Object.getOwnPropertyNames(window)"))

    assert {name for name in own - usual if not name.isdigit()} <= {"timersync"} | set(element_ids(page))


def element_ids(page):
    # An element's id is a property of the window in every browser.
    return page.evaluate("Array.from(document.querySelectorAll('[id]'), (element) => element.id)")
