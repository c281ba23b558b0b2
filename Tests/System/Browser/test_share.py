"""Links that hand over no more than they say."""

import re
import subprocess
import urllib.parse

import pytest
from playwright.sync_api import expect

from person import choose, has_status, make


@pytest.fixture
def guarded(server, script):
    """The server with a countdown, and with tokens."""
    script.do("start", timer="tea 1", duration=3000)

    def add(name, role, *more):
        return subprocess.run(
            [server.binary, "token", "add", "--name", name, "--role", role, "--data", str(server.data), *more],
            check=True, capture_output=True, text=True, timeout=20).stdout.strip()

    server.tokens = {
        "view": add("v", "view"),
        "control": add("c", "control"),
        "others": add("o", "view", "--timer", "coffee"),
    }
    server.stop()
    server.start()
    return server


def share(page):
    has_status(page, "tea 1", "running")
    choose(page, "tea 1", "Share")
    return page.get_by_role("dialog")


def token_in(address):
    parts = urllib.parse.urlsplit(address)
    found = urllib.parse.parse_qs(parts.query).get("token", []) + urllib.parse.parse_qs(parts.fragment).get("token", [])
    return found[0] if found else None


def test_an_open_server_shares_both_links_and_says_what_they_allow(server, script, open_page):
    script.do("start", timer="tea 1", duration=3000)
    page = open_page(server.page(), permissions=["clipboard-read", "clipboard-write"])
    dialog = share(page)

    expect(dialog.locator(".view .hint")).to_contain_text("everyone has control")
    dialog.locator(".control .copy").click()
    expect(dialog.locator(".control .report")).to_have_text("Copied.")
    address = page.evaluate("navigator.clipboard.readText()")

    remote = open_page(address)
    remote.get_by_role("button", name="Pause").click()
    expect(remote.locator(".face")).to_have_attribute("data-status", "paused")


def test_a_code_is_made_here_and_shown_as_an_image(server, script, open_page):
    script.do("start", timer="tea 1", duration=3000)
    page = open_page(server.page())
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    dialog = share(page)

    image = dialog.locator(".view .qr img")
    expect(image).to_have_attribute("alt", "QR code of the view-only link to tea 1")
    assert image.evaluate("(image) => image.decode().then(() => image.naturalWidth > 0)")
    assert [url for url in asked if not url.startswith((server.url, "data:"))] == []


def test_a_token_that_controls_never_goes_into_a_link_to_look(guarded, open_page):
    page = open_page(f"{guarded.url}/?token={guarded.tokens['control']}", is_alone=True)
    dialog = share(page)

    assert token_in(dialog.locator(".control .address").input_value()) == guarded.tokens["control"]
    expect(dialog.locator(".view code")).to_have_text(
        re.compile(r"^timersync token add --name view-\w+ --role view --timer 'tea 1'$"))
    expect(dialog.locator(".view .address")).to_have_count(0)

    for wrong, why in ((guarded.tokens["control"], "This token has control"), ("nonsense", "doesn't know"),
                       (guarded.tokens["others"], "for other timers")):
        dialog.get_by_label("View-only token").fill(wrong)
        dialog.locator(".view").get_by_role("button", name="Create link").click()
        expect(dialog.locator(".view .message")).to_contain_text(why)
        expect(dialog.locator(".view .address")).to_have_count(0)

    dialog.get_by_label("View-only token").fill(guarded.tokens["view"])
    dialog.locator(".view").get_by_role("button", name="Create link").click()
    expect(dialog.locator(".view .address")).to_be_focused()
    address = dialog.locator(".view .address").input_value()
    assert token_in(address) == guarded.tokens["view"]

    screen = open_page(address, is_alone=True)
    expect(screen.locator("[data-digits]").first).to_have_text(re.compile(r"^49:|^50:"))
    assert guarded.tokens["view"] not in screen.url


def test_a_token_that_is_held_to_one_timer_goes_into_no_link_to_another(guarded, open_page):
    page = open_page(f"{guarded.url}/?token={guarded.tokens['control']}", is_alone=True)
    make(page, "coffee", "50m")
    choose(page, "coffee", "Share")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("View-only token").fill(guarded.tokens["others"])
    dialog.locator(".view").get_by_role("button", name="Create link").click()
    expect(dialog.locator(".view .address")).to_be_focused()
    page.keyboard.press("Escape")

    dialog = share(page)
    expect(dialog.get_by_label("View-only token")).to_be_visible()
    expect(dialog.locator(".view .address")).to_have_count(0)
    page.keyboard.press("Escape")

    choose(page, "coffee", "Share")
    expect(dialog.locator(".view .address")).to_have_value(re.compile(guarded.tokens["others"]))


def test_a_viewer_shares_only_view_links(guarded, open_page):
    page = open_page(f"{guarded.url}/?token={guarded.tokens['view']}", is_alone=True)
    expect(page.get_by_text("You have view-only access.")).to_be_visible()
    dialog = share(page)

    assert token_in(dialog.locator(".view .address").input_value()) == guarded.tokens["view"]
    expect(dialog.locator(".control .address")).to_have_count(0)
    dialog.get_by_label("Token with control").fill(guarded.tokens["view"])
    dialog.locator(".control").get_by_role("button", name="Create link").click()
    expect(dialog.locator(".control .message")).to_contain_text("is view-only")


def test_a_refused_visitor_sees_why_and_may_enter_a_token(guarded, open_page):
    page = open_page(guarded.page(), is_alone=True)
    expect(page.get_by_role("heading", name="The server refused this page")).to_be_visible()

    page.get_by_label("Token").fill(guarded.tokens["control"])
    page.get_by_role("button", name="Open", exact=True).click()

    has_status(page, "tea 1", "running")
    assert guarded.tokens["control"] not in page.url
