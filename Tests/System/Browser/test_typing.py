"""A person's text goes to the timer that the person means, and neither a slip nor a timer's name loses any of it."""

import re

import pytest
from playwright.sync_api import expect

from person import choose, digits, make, shows
from scripted_server import hold, let_pass


def fill(page, **fields):
    for name, text in fields.items():
        page.locator("#new-timer").locator(f"[name={name}]").fill(text)


def test_a_preset_leaves_what_is_typed_for_another_timer_alone(server, script, open_page):
    page = open_page(server.page())
    page.get_by_text("Title, warnings, at zero").click()
    fill(page, duration="45m", title="My talk", warnings="5m")

    page.get_by_role("button", name="5 min", exact=True).click()

    shows(page, "Timer 1", r"^(5:00|4:5\d)$")
    assert not script.do("get", timer="Timer 1")["title"]
    assert page.locator("#duration").input_value() == "45m"
    page.locator("#new-timer [type=submit]").click()
    shows(page, "Timer 2", r"^(45:00|44:5\d)$")
    assert script.do("get", timer="Timer 2")["title"] == "My talk"

    fill(page, name="Eggs", title="Breakfast")
    page.get_by_role("button", name="Stopwatch").click()
    shows(page, "Eggs", r"^0:0\d$")
    expect(page.locator("#name")).to_have_value("")
    assert script.do("get", timer="Eggs")["title"] == "Breakfast"


@pytest.mark.parametrize("command", ["finish", "reset"])
def test_a_name_that_is_taken_is_asked_about(server, script, open_page, command):
    before = script.do("start", timer="kitchen", duration=600, title="Pasta")
    script.do(command, timer="kitchen")
    page = open_page(server.page())
    expect(digits(page, "kitchen")).to_be_visible()
    fill(page, name="kitchen", duration="5m")

    page.locator("#duration").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="Replace kitchen?")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    assert script.do("get", timer="kitchen")["duration"] == 600
    assert page.locator("#name").input_value() == "kitchen"

    page.locator("#duration").press("Enter")
    dialog.get_by_role("button", name="Start").click()
    shows(page, "kitchen", r"^(5:00|4:5\d)$")
    expect(page.locator("#name")).to_have_value("")
    assert script.do("get", timer="kitchen")["run"] > before["run"]


def test_it_says_what_a_duration_means(server, open_page):
    page = open_page(server.page())
    reading = page.locator("#duration-reading")
    for typed, words in {
        "25": "= 25 s", "1:30": "= 1 min 30 s", "1:30:00": "= 1 h 30 min", "1.5h": "= 1 h 30 min", "nonsense": "",
        "90": "= 1 min 30 s", "": "", "0.5": "= 0.5 s",
    }.items():
        page.locator("#duration").fill(typed)
        expect(reading).to_have_text(words)
    page.goto(server.page() + "?lang=ar")
    page.locator("#duration").fill("١:٣٠")
    expect(reading).to_have_text("= 1 د 30 ث")


def test_the_time_until_a_time_of_day_goes_on_in_whole_seconds(visit):
    page = visit(hand_turned=True)
    hold(page)
    page.locator("#duration").fill("until 20:30")
    reading = page.locator("#duration-reading")
    expect(reading).to_have_text(re.compile(r"^=( \d+ (h|min|s))+$"))
    before = seconds_in(reading)

    let_pass(page, 90)

    expect(reading).to_have_text(re.compile(r"^=( \d+ (h|min|s))+$"))
    assert (before - seconds_in(reading)) % 86_400 in (89, 90, 91)


def seconds_in(reading):
    units = {"h": 3600, "min": 60, "s": 1}
    return sum(int(n) * units[unit] for n, unit in re.findall(r"(\d+) (h|min|s)", reading.text_content()))


def test_what_a_duration_means_is_announced_once(visit):
    page = visit(hand_turned=True)
    hold(page)
    page.evaluate("""() => {
        window.heard = [];
        const announcer = document.getElementById("announcer");
        new MutationObserver(() => { heard.push(announcer.textContent); })
            .observe(announcer, { childList: true, characterData: true, subtree: true });
    }""")
    for key in "1:30:00":
        page.locator("#duration").press(key)
    let_pass(page, 0.5)
    assert page.evaluate("heard") == []
    let_pass(page, 2)

    assert page.evaluate("heard") == ["= 1 h 30 min"]
    expect(page.locator("#duration-reading")).to_have_attribute("aria-live", "off")


def test_a_slip_beside_a_dialog_loses_no_message(server, script, open_page):
    script.do("start", timer="kitchen", duration=600)
    page = open_page(server.page())
    make(page, "tea", "5m")
    choose(page, "kitchen", "Message, flash, blackout")
    page.get_by_role("dialog").get_by_label("Message", exact=True).fill("Please come to an end")

    page.mouse.click(5, 5)
    expect(page.get_by_role("dialog").get_by_label("Message", exact=True)).to_have_value("Please come to an end")
    page.keyboard.press("Escape")
    choose(page, "kitchen", "Message, flash, blackout")
    page.mouse.click(5, 5)
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_click_beside_a_dialog_closes_it_when_nothing_would_be_lost(server, script, open_page):
    script.do("start", timer="kitchen", duration=600, title="Pasta")
    page = open_page(server.page())
    expect(digits(page, "kitchen")).not_to_be_empty()
    dialog = page.get_by_role("dialog")

    def click_beside(is_closed):
        page.mouse.click(5, 5)
        expect(dialog).to_have_count(0 if is_closed else 1)

    page.locator("#help").click()
    dialog.get_by_label("Use single-key shortcuts").click()
    click_beside(is_closed=True)

    choose(page, "kitchen", "Message, flash, blackout")
    dialog.get_by_label("Message", exact=True).fill("Please come to an end")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_label("Message", exact=True)).to_have_value("")
    click_beside(is_closed=True)

    choose(page, "kitchen", "Edit settings")
    dialog.get_by_label("Title").fill("Rice")
    click_beside(is_closed=False)
    dialog.get_by_label("Title").fill("Pasta")
    click_beside(is_closed=True)


def test_a_quick_message_leaves_what_is_typed_alone(server, script, open_page):
    script.do("start", timer="stage", duration=600)
    page = open_page(server.page())
    choose(page, "stage", "Message, flash, blackout")
    dialog = page.get_by_role("dialog")
    text = page.locator("#message-text")
    text.fill("Two more questions")

    dialog.get_by_role("button", name="Wrap up").click()
    expect(page.locator(".current")).to_have_text("On the screens: “Wrap up”")
    dialog.get_by_role("button", name="Clear").click()
    expect(page.locator(".current")).to_have_text("No message on the screens.")
    expect(text).to_have_value("Two more questions")

    dialog.get_by_role("button", name="Send").click()
    expect(page.locator(".current")).to_have_text("On the screens: “Two more questions”")
    expect(text).to_have_value("")
