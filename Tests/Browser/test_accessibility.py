"""What axe finds wrong, in light and dark, in every state that a person meets."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect


def complaints(page):
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]})
    return [
        (violation["id"], node["html"], node.get("failureSummary"))
        for violation in found.response["violations"]
        for node in violation["nodes"]
    ]


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_dashboard_is_accessible(server, script, open_page, scheme):
    fill(script)
    page = open_page(server.page(), color_scheme=scheme)
    expect(page.locator("[data-digits]")).to_have_count(8)
    page.wait_for_timeout(300)

    assert complaints(page) == []

    server.kill()
    expect(page.locator("#link")).to_be_visible()
    assert complaints(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["running", "paused", "warned", "urgent", "overtime", "watch", "idle", "finished", "nobody"])
def test_a_full_screen_is_accessible(server, script, open_page, name, scheme):
    fill(script)
    page = open_page(server.page(name), color_scheme=scheme)
    expect(page.locator(".waiting" if name == "nobody" else "[data-digits]")).to_be_visible()
    page.wait_for_timeout(300)

    assert complaints(page) == []
