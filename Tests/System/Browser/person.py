"""A person's actions on the dashboard, and what a person sees there."""

import re

from playwright.sync_api import expect


def quoted(name):
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def digits(page, name):
    return page.locator(f"[data-digits][data-timer={quoted(name)}]")


def card(page, name):
    return page.locator("article.timer", has=digits(page, name))


def press(page, name, label):
    card(page, name).get_by_role("button", name=label, exact=True).click()


def choose(page, name, label):
    """Chooses an action that the card shows only in its dialog."""
    card(page, name).locator("[data-command=more]").click()
    page.get_by_role("dialog").get_by_role("button", name=label).click()


def focus(locator):
    """Focuses an element once it is shown: the browser ignores a focus before that, without an error."""
    expect(locator).to_be_visible()
    locator.focus()
    expect(locator).to_be_focused()


def make(page, name, duration):
    page.get_by_label("Name").fill(name)
    page.get_by_label("Duration").fill(duration)
    page.locator("#new-timer [type=submit]").click()
    expect(digits(page, name)).to_be_visible()


def shows(page, name, text):
    expect(digits(page, name)).to_have_text(re.compile(text))


def has_status(page, name, status):
    expect(card(page, name)).to_have_attribute("data-status", status)


def toast(page):
    return page.locator("#toast p, .pad .report")


def seconds_of(text):
    parts = [int(part) for part in text.lstrip("-").split(":")]
    total = sum(part * 60 ** place for place, part in enumerate(reversed(parts)))
    return -total if text.startswith("-") else total


def assert_right(page, script, name="kitchen"):
    """Checks that a countdown shows the server's time, which is read before and after in case that takes long."""
    before = script.do("get", timer=name)["time"]
    shown = seconds_of(digits(page, name).text_content())
    after = script.do("get", timer=name)["time"]
    assert after - 0.2 <= shown <= before + 1.2
