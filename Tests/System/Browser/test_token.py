"""A page that was opened with a token, against a server that asks for one."""

import re
import subprocess

import pytest
from playwright.sync_api import expect


def test_the_token_leaves_the_address_bar_and_stays_with_the_tab(guarded, open_page):
    page = open_page(f"{guarded.url}/?token={guarded.tokens['control']}", is_alone=True)
    page.get_by_label("Name").fill("tea")
    page.get_by_label("Duration").fill("5m")
    page.get_by_role("button", name="Start", exact=True).click()
    page.locator('[data-timer="tea"][data-digits]').wait_for()
    assert "token" not in page.url and guarded.tokens["control"] not in page.url

    page.reload()

    page.locator('[data-timer="tea"][data-digits]').wait_for()
    assert "token" not in page.url


def test_viewers_can_press_nothing(guarded, open_page):
    control = open_page(f"{guarded.url}/?token={guarded.tokens['control']}", is_alone=True)
    control.get_by_label("Name").fill("tea")
    control.get_by_label("Duration").fill("5m")
    control.get_by_role("button", name="Start", exact=True).click()
    control.locator('[data-timer="tea"][data-digits]').wait_for()

    page = open_page(f"{guarded.url}/?timer=tea&token={guarded.tokens['view']}", is_alone=True)
    expect(page.locator("[data-digits]")).to_have_text(re.compile(r"^4:|^5:00"))

    page.mouse.move(5, 105)
    page.mouse.move(15, 115)
    expect(page.get_by_role("link", name="All timers")).to_be_visible()
    expect(page.get_by_role("button", name="Pause", exact=True)).to_have_count(0)
    assert "timer=tea" in page.url and "token" not in page.url


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/", r"The server refused the subscription: .*token"),
        ("/?timer=tea", r"The server refused the subscription: .*token"),
        ("/?token=wrong", r"refused this page \(wrong token"),
    ],
)
def test_a_visitor_without_a_token_is_told_in_words(guarded, open_page, address, words):
    page = open_page(guarded.url + address, is_alone=True)

    page.get_by_text(re.compile(words)).first.wait_for()


def test_a_removed_token_ends_the_page_in_words(guarded, open_page):
    page = open_page(f"{guarded.url}/?timer=tea&token={guarded.tokens['view']}", is_alone=True)
    page.get_by_text("waiting", exact=False).first.wait_for()

    subprocess.run(
        [guarded.binary, "token", "remove", "view", "--data", str(guarded.data)], check=True, timeout=20)

    page.get_by_text("refused this page", exact=False).first.wait_for()
