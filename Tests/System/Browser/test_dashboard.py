"""The dashboard against a real server, used as a person uses it."""

import time
import unicodedata

import pytest
from playwright.sync_api import expect

from person import card, choose, digits, has_status, make, press, shows, toast
from scripted_server import knows_the_clock, wait_until

ODD_NAMES = [
    "a/b",
    "%2F",
    "🍝 pasta",
    "it's \"quoted\"",
    unicodedata.normalize("NFC", "caf\u00e9"),
    unicodedata.normalize("NFD", "caf\u00e9"),
    "a&b=c#d?e+f",
    "..",
    "\\",
    "__proto__",
]
MARKUP = "<img src=x onerror=\"document.body.dataset.harmed='yes'\">"


def names(page):
    return [item.get_attribute("data-name") for item in page.locator("#timers > li").all()]


# New timers

def test_an_empty_server_says_so(server, open_page):
    page = open_page(server.page())

    expect(page.get_by_role("heading", name="No timers yet")).to_be_visible()


def test_a_typed_duration_makes_a_countdown_that_everybody_sees(server, script, open_page):
    page = open_page(server.page())
    other = open_page(server.page())

    make(page, "kitchen", "5m")

    shows(page, "kitchen", r"^(5:00|4:\d\d)$")
    shows(other, "kitchen", r"^(5:00|4:\d\d)$")
    state = script.do("get", timer="kitchen")
    assert (state["type"], state["duration"]) == ("timer", 300)


def test_without_a_duration_it_is_a_stopwatch(server, script, open_page):
    page = open_page(server.page())

    make(page, "run", "")

    shows(page, "run", r"^0:0\d$")
    assert script.do("get", timer="run")["type"] == "stopwatch"


def test_until_a_time_of_day_ends_at_that_time_of_day(server, script, open_page):
    page = open_page(server.page(), timezone_id="Asia/Kathmandu")
    # Before this, the press's instant may be ahead of the server's clock. The server then refuses the press, and counts
    # from the arrival of a second request. Once the round trip is this short, the press takes longer to arrive than the
    # page's clock may be wrong. (Playwright's own `wait_for_function` would need a looser page policy.)
    wait_until(
        page,
        lambda: page.evaluate(
            "Boolean(window.timersync && timersync.roundTrip !== null && timersync.roundTrip < 0.004)"
        ),
    )

    make(page, "noon", "until 12:00")

    state = script.do("get", timer="noon")
    assert (state["startDate"] + state["duration"] + 5.75 * 3600) % 86400 == pytest.approx(43200, abs=0.001)


def test_a_preset_starts_at_once_and_is_numbered(server, script, open_page):
    page = open_page(server.page())

    page.get_by_role("button", name="5 min", exact=True).click()
    shows(page, "Timer 1", r"^(5:00|4:\d\d)$")
    page.get_by_role("button", name="Stopwatch", exact=True).click()
    shows(page, "Timer 2", r"^0:0\d$")

    assert [script.do("get", timer=f"Timer {n}")["type"] for n in (1, 2)] == ["timer", "stopwatch"]


@pytest.mark.parametrize(
    "typed, right", [("soon", "Enter 5m"), ("1,5h", "Use a point"), ("until 25:00", "until 20:30")]
)
def test_a_duration_that_is_none_is_explained_beside_the_form(server, open_page, typed, right):
    page = open_page(server.page())

    page.get_by_label("Name").fill("kitchen")
    page.get_by_label("Duration").fill(typed)
    page.get_by_role("button", name="Start", exact=True).click()

    expect(page.locator("#new-timer .message")).to_contain_text(right)
    expect(page.get_by_label("Duration")).to_be_focused()
    expect(page.locator("[data-digits]")).to_have_count(0)


def test_a_name_that_is_too_long_is_explained(server, open_page):
    page = open_page(server.page())

    page.get_by_label("Name").fill("ü" * 65)
    page.get_by_label("Duration").fill("5m")
    page.get_by_role("button", name="Start", exact=True).click()

    expect(page.locator("#new-timer .message")).to_contain_text("at most 128 bytes")


def test_what_the_server_refuses_is_told_in_its_words(server, script, open_page):
    page = open_page(server.page())
    make(page, "kitchen", "5m")
    refusal = script.ask("start", timer="kitchen", duration=10)

    page.get_by_label("Name").fill("kitchen")
    page.get_by_label("Duration").fill("10")
    page.get_by_role("button", name="Start", exact=True).click()

    expect(page.locator("#new-timer .message")).to_have_text(refusal["error"]["message"])


def test_title_warnings_and_end_policy_are_sent_and_can_be_changed(server, script, open_page):
    page = open_page(server.page())

    page.get_by_text("Title, warnings, at zero").click()
    page.get_by_label("Title").fill("Pasta")
    page.get_by_label("Warnings").fill("1m, 10s")
    page.get_by_label("At zero").select_option("repeat")
    make(page, "kitchen", "5m")

    state = script.do("get", timer="kitchen")
    assert (state["title"], state["warnings"], state["atZero"]) == ("Pasta", [60, 10], "repeat")
    expect(card(page, "kitchen").get_by_role("heading")).to_have_text("Pasta")

    choose(page, "kitchen", "Edit settings")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Warnings")).to_have_value("1m, 10s")
    dialog.get_by_label("Title").fill("Rice")
    dialog.get_by_label("Warnings").fill("")
    dialog.get_by_role("button", name="Save").click()

    expect(card(page, "kitchen").get_by_role("heading")).to_have_text("Rice")
    state = script.do("get", timer="kitchen")
    assert (state["title"], state["warnings"], state["atZero"]) == ("Rice", [], "repeat")


def test_any_name_works(server, script, open_page):
    page = open_page(server.page())

    for name in ODD_NAMES:
        make(page, name, "5m")
        press(page, name, "Pause")
        has_status(page, name, "paused")
        assert script.do("get", timer=name)["status"] == "paused"

    remotes = {}
    for name in ODD_NAMES:
        card(page, name).locator("[data-command=more]").click()
        remotes[name] = page.get_by_role("link", name="Open remote control").evaluate("(link) => link.href")
        page.keyboard.press("Escape")
    for name, address in remotes.items():
        page.goto(address)
        page.get_by_role("button", name="Resume", exact=True).click()
        expect(page.locator(".face")).to_have_attribute("data-status", "running")
        assert script.do("get", timer=name)["status"] == "running"


def test_two_spellings_of_a_name_are_two_timers(server, script, open_page):
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    script.do("start", timer=composed, duration=100)
    script.do("start", timer=decomposed, duration=5000)

    page = open_page(server.page())

    expect(page.locator("[data-digits]")).to_have_count(2)
    shows(page, composed, r"^1:\d\d$")
    shows(page, decomposed, r"^1:23:\d\d$")


def test_markup_is_only_text(server, script, open_page):
    script.do("start", timer=MARKUP, title="<script>document.body.dataset.harmed='yes'</script>")
    script.do("lap", timer=MARKUP)
    script.do("message", timer=MARKUP, text=MARKUP)

    page = open_page(server.page())
    for action in ("Laps", "Message, flash, blackout", "Share"):
        choose(page, MARKUP, action)
        page.wait_for_timeout(200)
        page.keyboard.press("Escape")
    page.locator("#finish-many").click()
    remote = open_page(server.page(MARKUP) + "&control")

    expect(remote.locator(".note")).to_contain_text(MARKUP)
    for one in (page, remote):
        assert one.evaluate("document.body.dataset.harmed") is None
        assert one.locator("img").count() == 0


# The buttons of a card

def test_pause_and_resume(server, script, open_page):
    page = open_page(server.page())
    make(page, "kitchen", "5m")

    press(page, "kitchen", "Pause")
    has_status(page, "kitchen", "paused")
    standing = digits(page, "kitchen").text_content()
    time.sleep(1.2)

    assert digits(page, "kitchen").text_content() == standing
    assert script.do("get", timer="kitchen")["status"] == "paused"

    press(page, "kitchen", "Resume")

    has_status(page, "kitchen", "running")
    assert script.do("get", timer="kitchen")["status"] == "running"


def test_the_instant_of_the_press_is_what_counts(server, script, open_page):
    """The page is busy for 0.4 s after the finger goes down; the pause counts from when the finger went down."""
    script.do("start", timer="kitchen", duration=300)
    page = open_page(server.page())
    has_status(page, "kitchen", "running")
    knows_the_clock(page, 0.01)
    page.evaluate(
        """() => addEventListener('pointerdown', (event) => {
            const until = performance.now() + 400;
            window.wentDown = event.timeStamp / 1000 + timersync.offset;
            while (performance.now() < until) { continue; }
        }, true)"""
    )

    press(page, "kitchen", "Pause")
    has_status(page, "kitchen", "paused")

    paused_at = script.do("get", timer="kitchen")["pausePeriods"][0]["pause"]
    assert paused_at == pytest.approx(page.evaluate("wentDown"), abs=0.02)


def test_reset_shows_the_full_duration_again_once_it_is_confirmed(server, script, open_page):
    page = open_page(server.page())
    make(page, "kitchen", "1:30")
    press(page, "kitchen", "+1 min")
    shows(page, "kitchen", r"^2:[23]\d$")

    choose(page, "kitchen", "Reset")
    assert script.do("get", timer="kitchen")["status"] == "running"
    page.get_by_role("dialog").get_by_role("button", name="Reset", exact=True).click()

    has_status(page, "kitchen", "idle")
    shows(page, "kitchen", r"^1:30$")


def test_finish_and_start_again(server, script, open_page):
    page = open_page(server.page())
    make(page, "kitchen", "1:30")

    choose(page, "kitchen", "Finish")
    page.get_by_role("dialog").get_by_role("button", name="Finish", exact=True).click()
    has_status(page, "kitchen", "finished")
    expect(toast(page)).to_contain_text("can't be undone")
    press(page, "kitchen", "Start again")

    has_status(page, "kitchen", "running")
    state = script.do("get", timer="kitchen")
    assert (state["duration"], state["status"]) == (90, "running")


def test_a_minute_more_and_a_minute_less(server, open_page):
    page = open_page(server.page())
    make(page, "kitchen", "5m")

    press(page, "kitchen", "+1 min")
    shows(page, "kitchen", r"^(6:00|5:5\d)$")
    press(page, "kitchen", "−1 min")
    shows(page, "kitchen", r"^(5:00|4:\d\d)$")


def test_a_minute_less_than_there_is_ends_at_zero(server, open_page):
    page = open_page(server.page())
    make(page, "kitchen", "30")

    press(page, "kitchen", "−1 min")

    shows(page, "kitchen", r"^(0:00|-0:0\d)$")


def test_remove_is_confirmed(server, script, open_page):
    page = open_page(server.page())
    make(page, "kitchen", "5m")

    choose(page, "kitchen", "Remove")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert script.ask("get", timer="kitchen")["ok"]
    choose(page, "kitchen", "Remove")
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()

    expect(digits(page, "kitchen")).to_have_count(0)
    assert script.ask("get", timer="kitchen")["error"]["code"] == "unknownTimer"


def test_a_useless_button_says_why(server, script, open_page):
    script.do("start", timer="kitchen", duration=300)
    script.do("finish", timer="kitchen")
    page = open_page(server.page())
    has_status(page, "kitchen", "finished")

    card(page, "kitchen").get_by_role("button", name="+1 min").click(force=True)

    expect(card(page, "kitchen").locator(".message")).to_contain_text("isn't running")


def test_several_are_finished_in_one_go_but_for_those_that_were_unticked(server, script, open_page):
    for name in ("a", "b", "c"):
        script.do("start", timer=name, duration=300)
    script.do("start", timer="d", duration=300)
    script.do("reset", timer="d")
    page = open_page(server.page())
    has_status(page, "c", "running")

    page.get_by_role("button", name="Finish…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("checkbox")).to_have_count(3)
    dialog.get_by_label("b", exact=True).uncheck()
    dialog.get_by_role("button", name="Finish 2 timers").click()

    for name, status in (("a", "finished"), ("b", "running"), ("c", "finished"), ("d", "idle")):
        has_status(page, name, status)
    expect(toast(page)).to_have_text("Finished 2 timers. This can't be undone.")


def test_all_are_finished_in_one_step(server, script, open_page):
    for name in ("a", "b"):
        script.do("start", timer=name, duration=300)
    page = open_page(server.page())
    has_status(page, "b", "running")
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.reload()
    has_status(page, "b", "running")

    page.get_by_role("button", name="Finish…").click()
    page.get_by_role("dialog").get_by_role("button", name="Finish 2 timers").click()

    has_status(page, "a", "finished")
    has_status(page, "b", "finished")
    assert [frame for frame in sent if '"finish' in frame and "finishAll" not in frame] == []


def test_what_began_while_one_was_asked_is_not_finished_with_the_others(server, script, open_page):
    for name in ("a", "b"):
        script.do("start", timer=name, duration=300)
    page = open_page(server.page())
    has_status(page, "b", "running")

    page.get_by_role("button", name="Finish…").click()
    script.do("start", timer="late", duration=300)
    script.do("finish", timer="a")
    has_status(page, "a", "finished")
    page.get_by_role("dialog").get_by_role("button", name="Finish 2 timers").click()

    expect(toast(page)).to_have_text("Finished 1 timer. This can't be undone.")
    assert [script.do("get", timer=name)["status"] for name in ("b", "late")] == ["finished", "running"]


# Order, search, layout

def test_sorts_by_name_time_left_and_status_and_remembers(server, script, open_page):
    script.do("start", timer="Room 10", duration=300)
    script.do("start", timer="Room 2", duration=900)
    script.do("start", timer="alpha", duration=600)
    script.do("pause", timer="alpha")
    script.do("start", timer="over", duration=0.05)
    script.do("start", timer="watch")
    script.do("start", timer="zero", duration=60)
    script.do("reset", timer="zero")
    page = open_page(server.page())
    expect(page.locator("#timers > li")).to_have_count(6)

    assert names(page) == ["alpha", "over", "Room 2", "Room 10", "watch", "zero"]
    page.get_by_label("Sort by").select_option("time")
    assert names(page) == ["over", "Room 10", "alpha", "Room 2", "watch", "zero"]
    page.get_by_label("Sort by").select_option("status")
    assert names(page) == ["over", "Room 2", "Room 10", "watch", "alpha", "zero"]

    page.reload()
    expect(page.locator("#timers > li")).to_have_count(6)
    assert names(page) == ["over", "Room 2", "Room 10", "watch", "alpha", "zero"]


def test_search_finds_titles_and_names_without_accents_and_says_when_nothing_is_found(server, script, open_page):
    script.do("start", timer="kitchen", title="Crème brûlée", duration=300)
    script.do("start", timer="oven", duration=300)
    page = open_page(server.page())
    expect(page.locator("#timers > li")).to_have_count(2)

    page.get_by_label("Search").fill("creme KIT")
    expect(page.locator("#timers > li")).to_have_count(1)
    page.get_by_label("Search").fill("nothing")

    expect(page.get_by_role("heading", name="No timer matches “nothing”")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#timers > li")).to_have_count(2)
    expect(page.get_by_label("Search")).to_be_focused()


def test_the_layout_is_remembered(server, script, open_page):
    script.do("start", timer="kitchen", duration=300)
    page = open_page(server.page())
    has_status(page, "kitchen", "running")
    tall = card(page, "kitchen").bounding_box()["height"]

    page.get_by_role("button", name="Compact").click()
    page.reload()

    has_status(page, "kitchen", "running")
    assert card(page, "kitchen").bounding_box()["height"] < tall / 2
    expect(page.get_by_role("button", name="Compact")).to_have_attribute("aria-pressed", "true")


# The whole page's state

def test_no_server_no_timers_but_a_word(server, open_page):
    page = open_page(
        server.page(),
        init_script="""
        window.WebSocket = class {
            constructor() { setTimeout(() => this.onclose({code: 1006}), 50); }
            close() {}
            send() {}
        };
        """)

    expect(page.get_by_role("heading", name="No connection to the server")).to_be_visible()


def test_what_is_not_there_yet_is_being_loaded(server, open_page):
    page = open_page(server.page(), init_script="window.WebSocket = class { close() {} send() {} };")

    expect(page.get_by_role("heading", name="Loading timers…")).to_be_visible()


def test_a_lost_server_disables_what_it_would_refuse_and_counts_on(server, script, open_page):
    script.do("start", timer="kitchen", duration=300)
    page = open_page(server.page())
    has_status(page, "kitchen", "running")

    server.kill()

    expect(page.locator("#connection")).to_be_visible()
    expect(card(page, "kitchen").get_by_role("button", name="Pause")).to_be_disabled()
    before = digits(page, "kitchen").text_content()
    page.wait_for_timeout(2100)
    assert digits(page, "kitchen").text_content() < before
