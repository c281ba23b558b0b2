"""The remote control on a phone: large buttons, and one that wants to be held."""

import re
import time

import pytest
from playwright.sync_api import expect

from person import focus, toast

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
VIBRATIONS = "window.felt = []; Navigator.prototype.vibrate = (pattern) => { felt.push(pattern); return true; };"


@pytest.fixture
def remote(server, script, open_page):
    script.do("start", timer="kitchen", duration=3000, title="Pasta")
    page = open_page(server.page("kitchen") + "&control", init_script=VIBRATIONS, **PHONE)
    expect(page.locator(".face")).to_have_attribute("data-status", "running")
    return page


def test_steps_change_the_time_and_are_felt(remote, script):
    for label, sum in (
        ("Add 10 seconds", 10),
        ("Add 1 minute", 70),
        ("Add 5 minutes", 370),
        ("Subtract 10 seconds", 360),
        ("Subtract 1 minute", 300),
        ("Subtract 5 minutes", 0),
    ):
        remote.get_by_role("button", name=label, exact=True).tap()
        deadline = time.monotonic() + 20
        while script.do("get", timer="kitchen")["addedTime"] != sum:
            assert time.monotonic() < deadline, label

    assert len(remote.evaluate("felt")) == 6


def test_pause_resume_and_undo(remote, script):
    remote.get_by_role("button", name="Pause").tap()
    expect(remote.locator(".face")).to_have_attribute("data-status", "paused")
    remote.get_by_role("button", name="Undo").tap()
    expect(remote.locator(".face")).to_have_attribute("data-status", "running")
    expect(toast(remote)).to_have_text("Undone: Paused Pasta.")


def test_finish_wants_to_be_held(remote, script):
    finish = remote.get_by_role("button", name="Finish", exact=True)
    finish.click(delay=200)
    expect(remote.locator(".pad .message")).to_have_text("Hold the button to finish.")
    assert script.do("get", timer="kitchen")["status"] == "running"

    finish.click(delay=1200)

    expect(remote.locator(".face")).to_have_attribute("data-status", "finished")
    expect(toast(remote)).to_contain_text("can't be undone")


def test_a_person_who_can_not_hold_confirms(remote, script):
    focus(remote.get_by_role("button", name="Finish", exact=True))
    remote.keyboard.press("Enter")
    expect(remote.get_by_role("dialog")).to_be_visible()
    assert script.do("get", timer="kitchen")["status"] == "running"

    remote.keyboard.press("Tab")
    remote.keyboard.press("Enter")

    expect(remote.locator(".face")).to_have_attribute("data-status", "finished")


def test_what_is_pressed_is_large_and_in_reach_of_a_thumb(remote):
    buttons = remote.locator(".pad button:visible").all()

    assert len(buttons) >= 10
    for button in buttons:
        box = button.bounding_box()
        assert box["width"] >= 48 and box["height"] >= 48, button.text_content()
        assert box["y"] > 844 / 2, "too high for a thumb"
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["y"] + box["height"] <= 844


@pytest.mark.parametrize("width, height", [(320, 568), (390, 844), (844, 390), (1440, 900), (3840, 2160)])
def test_all_fits_at_every_size(server, script, open_page, width, height):
    script.do(
        "start", timer="kitchen", duration=360000, title="A title that is long enough to be in the way of everything"
    )
    script.do("message", timer="kitchen", text="Please come to an end " * 5)

    page = open_page(server.page("kitchen") + "&control", viewport={"width": width, "height": height})
    expect(page.locator(".face")).to_have_attribute("data-status", "running")

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    digits = page.evaluate(
        """() => { const range = document.createRange(); range.selectNodeContents(document.querySelector('.digits'));
                   const box = range.getBoundingClientRect(); return [box.left, box.right]; }""")
    assert digits[0] >= 0 and digits[1] <= width


def test_a_timer_that_nobody_has_started_is_started_from_here(server, script, open_page):
    page = open_page(server.page("later") + "&control", **PHONE)

    page.get_by_role("button", name="15 min").tap()

    expect(page.locator(".face .digits")).to_have_text(re.compile(r"^(15:00|14:5\d)$"))
    assert script.do("get", timer="later")["duration"] == 900


def test_a_stopwatch_takes_laps(server, script, open_page):
    script.do("start", timer="run")
    page = open_page(server.page("run") + "&control", **PHONE)

    page.get_by_role("button", name="Lap", exact=True).tap()

    expect(page.locator(".note")).to_have_text(re.compile(r"^1 lap · last 0:\d\d\.\d\d$"))
    assert len(script.do("get", timer="run")["laps"]) == 1


def test_a_message_a_flash_and_a_blackout_are_sent(remote, script):
    remote.get_by_role("button", name="Message", exact=True).tap()
    dialog = remote.get_by_role("dialog")
    dialog.get_by_label("Message", exact=True).fill("Two\nlines")
    dialog.get_by_role("button", name="Send").tap()
    expect(remote.locator(".current")).to_have_text("On the screens: “Two\nlines”")
    dialog.get_by_role("button", name="Blackout").tap()
    expect(dialog.get_by_role("button", name="End blackout")).to_be_visible()

    state = script.do("get", timer="kitchen")
    assert (state["message"]["text"], state["signal"]["kind"]) == ("Two\nlines", "blackout")

    dialog.get_by_role("button", name="End blackout").tap()
    expect(dialog.get_by_role("button", name="Blackout", exact=True)).to_be_visible()
    dialog.get_by_role("button", name="Flash").tap()
    dialog.get_by_role("button", name="Clear").tap()
    expect(remote.locator(".current")).to_have_text("No message on the screens.")
    state = script.do("get", timer="kitchen")
    assert "message" not in state and state["signal"]["kind"] == "flash"


@pytest.mark.parametrize("text, says", [("", "The message is empty"), ("ü" * 251, "at most 500 bytes")])
def test_a_message_that_can_not_be_sent_says_why(remote, script, text, says):
    remote.get_by_role("button", name="Message", exact=True).tap()
    remote.get_by_role("dialog").get_by_label("Message", exact=True).fill(text)
    remote.get_by_role("dialog").get_by_role("button", name="Send").tap()

    expect(remote.locator("#message-problem")).to_contain_text(says)
    assert "message" not in script.do("get", timer="kitchen")
