"""axe finds nothing wrong, in light and dark, in every state that a person meets."""

import pytest
from playwright.sync_api import expect

from inspection import complaints, complaints_in_light_and_dark

STATES = ["running", "paused", "warned", "urgent", "overtime", "watch", "idle", "finished", "nobody"]
USUAL = {"light": [(1280, 720)], "dark": [(1280, 720)]}
A_PHONE_AND_A_WALL = {"light": [(320, 568), (1280, 720)], "dark": [(1280, 720), (3840, 2160)]}


def fill(script):
    script.do("start", timer="running", duration=300, title="Pasta")
    script.do("start", timer="paused", duration=300)
    script.do("pause", timer="paused")
    script.do("start", timer="warned", duration=50, warnings=[60, 10])
    script.do("start", timer="urgent", duration=9, warnings=[60, 10])
    script.do("start", timer="overtime", duration=0.1)
    script.do("start", timer="watch")
    script.do("start", timer="idle", duration=300)
    script.do("reset", timer="idle")
    script.do("start", timer="finished", duration=300)
    script.do("finish", timer="finished")


@pytest.mark.parametrize(
    "fault, rule",
    [
        ("<img src='data:,'>", "image-alt"),
        ("<p style='color: #aaa; background: #fff'>pale</p>", "color-contrast"),
        ("<button></button>", "button-name"),
        ("<h4>leaps</h4>", "heading-order"),
        (
            "<p>"
            + "<button style='all: unset; width: 9px; height: 9px; display: inline-block'>i</button>" * 2
            + "</p>",
            "target-size",
        ),
    ],
)
def test_a_fault_is_found(open_page, fault, rule):
    page = open_page("about:blank")
    page.set_content(f"<!doctype html><html lang=en><title>Faulty</title><main><h1>Faulty</h1>{fault}</main></html>")

    assert {found for found, _, _ in complaints(page)} == {rule}


def test_the_dashboard_is_accessible(server, script, open_page):
    fill(script)
    page = open_page(server.page())
    expect(page.locator("[data-digits]")).to_have_count(8)
    assert complaints_in_light_and_dark(page, "dashboard", USUAL) == []

    server.kill()
    expect(page.locator("#connection")).to_be_visible()
    assert complaints_in_light_and_dark(page, "dashboard without its server", USUAL) == []


@pytest.mark.parametrize("name", STATES)
def test_a_full_screen_is_accessible(server, script, open_page, name):
    fill(script)
    page = open_page(server.page(name))
    expect(page.locator(".waiting" if name == "nobody" else "[data-digits]")).to_be_visible()
    if name != "nobody":
        expect(page.locator("[data-digits]")).not_to_be_empty()

    assert complaints_in_light_and_dark(page, name, A_PHONE_AND_A_WALL) == []
