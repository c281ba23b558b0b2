"""What a person has typed belongs to the timer that they meant, and is lost neither by a slip nor by a name."""

import pytest
from playwright.sync_api import expect

from person import choose, digits, make, shows


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
