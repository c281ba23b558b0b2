"""axe finds nothing wrong on the dashboard, the remote control and their dialogs, in light and dark, at any width."""

import pytest
from playwright.sync_api import expect

from inspection import ENDS, complaints_in_light_and_dark
from person import choose, has_status


def fill(script):
    script.do("start", timer="running", duration=3000, title="Pasta", warnings=[300, 60])
    script.do("message", timer="running", text="Wrap up")
    script.do("start", timer="paused", duration=300)
    script.do("pause", timer="paused")
    script.do("start", timer="warned", duration=3000, warnings=[3500, 10])
    script.do("start", timer="urgent", duration=3000, warnings=[3500, 3400])
    script.do("start", timer="overtime", duration=0.1)
    script.do("start", timer="watch", title="شوط 1")
    for _ in range(3):
        script.do("lap", timer="watch")
    script.do("start", timer="idle", duration=300)
    script.do("reset", timer="idle")
    script.do("start", timer="finished", duration=300)
    script.do("finish", timer="finished")


@pytest.mark.parametrize("layout", ["Large", "Compact"])
def test_the_dashboard(server, script, open_page, layout):
    fill(script)
    page = open_page(server.page())
    has_status(page, "running", "running")
    page.get_by_role("button", name=layout).click()
    page.get_by_text("Title, warnings, at zero").click()
    page.locator("[data-name=paused] .main").click()
    expect(page.locator("#toast")).to_have_class("visible")

    assert complaints_in_light_and_dark(page, layout) == []


def test_every_dialog(server, script, open_page):
    fill(script)
    page = open_page(server.page())
    has_status(page, "watch", "running")
    found = []
    for action in ("Laps", "Message, flash, blackout", "Share", "Edit settings", "Remove"):
        choose(page, "watch", action)
        page.wait_for_timeout(150)
        found += complaints_in_light_and_dark(page, action, ENDS)
        page.keyboard.press("Escape")
    for button in ("#help", "#finish-many", "[data-name=watch] [data-command=more]"):
        page.locator(button).click()
        found += complaints_in_light_and_dark(page, button, ENDS)
        page.keyboard.press("Escape")

    assert found == []


@pytest.mark.parametrize("name", ["running", "overtime", "watch", "finished", "nobody"])
def test_the_remote(server, script, open_page, name):
    fill(script)
    page = open_page(server.page(name) + "&control")
    expect(page.locator(".presets" if name == "nobody" else ".pad")).to_be_visible()
    page.wait_for_timeout(200)

    assert complaints_in_light_and_dark(page, name) == []


def test_the_states_in_which_there_is_nothing_to_show(server, open_page):
    page = open_page(server.page())
    expect(page.get_by_role("heading", name="No timers yet")).to_be_visible()
    found = complaints_in_light_and_dark(page, "empty", ENDS)

    server.stop()
    expect(page.locator("#connection")).to_be_visible()
    found += complaints_in_light_and_dark(page, "lost", ENDS)
    server.start()

    for name, socket in (
        ("loading", "class { close() {} send() {} }"),
        (
            "offline",
            "class { constructor() { setTimeout(() => this.onclose({code: 1006}), 50); } close() {} send() {} }",
        ),
        (
            "forbidden",
            "class { constructor() { setTimeout(() => this.onclose({code: 1008}), 50); } close() {} send() {} }",
        ),
    ):
        page = open_page(server.page(), init_script=f"window.WebSocket = {socket};")
        expect(page.locator(f"#placeholder[data-kind={name}]")).to_be_visible()
        found += complaints_in_light_and_dark(page, name, ENDS)

    assert found == []


def test_from_right_to_left(server, script, open_page):
    fill(script)
    found = []
    for address in (server.page() + "?lang=ar", server.page("watch") + "&control&lang=ar"):
        page = open_page(address)
        expect(page.locator("[data-digits]").first).to_be_visible()
        page.wait_for_timeout(200)
        found += complaints_in_light_and_dark(page, address, ENDS)

    assert found == []
