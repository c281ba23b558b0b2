"""axe finds nothing wrong on a display, in light and dark, from a phone to a wall, with its controls and without."""

import pytest
from playwright.sync_api import expect

from inspection import complaints_in_light_and_dark
from scripted_server import NOW, digits, state, wait_until
from test_accessibility import USUAL, fill

SIZES = [(320, 568), (1440, 900), (3840, 2160)]
SEVERAL = (
    "/?timer=running&timer=paused&timer=warned&timer=urgent&timer=overtime&timer=watch&timer=nobody&clock=1&sync=1"
)


def show_controls(page):
    page.mouse.move(5, 105)
    page.mouse.move(15, 115)
    expect(page.get_by_role("link", name="All timers")).to_be_visible()
    wait_until(page, lambda: page.evaluate(
        "Array.from(document.querySelectorAll('#tools, footer'))"
        ".every((part) => getComputedStyle(part).opacity === '1')"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_displays_of_every_size_are_accessible(server, script, open_page, scheme):
    fill(script)
    page = open_page(server.url + SEVERAL)
    expect(digits(page, "watch")).not_to_be_empty()

    for size in SIZES:
        at_this_size = {scheme: [size]}
        assert complaints_in_light_and_dark(page, "without controls", at_this_size) == []
        show_controls(page)
        assert complaints_in_light_and_dark(page, "with controls", at_this_size) == []


def test_messages_and_trouble_are_accessible(visit, scripted):
    scripted.states = [
        state(status="running", lastElapsedTimeCalculatedAt=NOW, message={"text": "Wrap up", "sentAt": NOW})
    ]
    page = visit("?timer=kitchen&progress=ring")
    expect(page.locator(".speaker-message")).to_be_visible()
    show_controls(page)
    assert complaints_in_light_and_dark(page, "message", USUAL) == []

    scripted.connections[-1].close(code=1008, reason="no more")

    expect(page.locator("#connection")).to_be_visible()
    assert complaints_in_light_and_dark(page, "trouble", USUAL) == []


def test_a_display_reads_from_right_to_left_where_the_language_does(server, script, open_page):
    fill(script)
    page = open_page(server.url + "/?timer=paused", viewport={"width": 390, "height": 844})
    expect(digits(page, "paused")).not_to_be_empty()

    page.evaluate("document.documentElement.dir = 'rtl'")

    title, status = page.locator("h1").bounding_box(), page.locator(".status").bounding_box()
    assert status["x"] + status["width"] <= title["x"]
    assert digits(page, "paused").evaluate("(element) => getComputedStyle(element).direction") == "ltr"
