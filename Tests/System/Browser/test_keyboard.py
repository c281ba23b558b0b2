"""Everything by keyboard alone: no test here touches a pointer, or puts the focus anywhere but by keys."""

import re

import pytest
from playwright.sync_api import expect

from person import card, digits, has_status, toast


def tab_to(page, label, most=60):
    """Presses Tab until the element with that name has the focus, as somebody does who can't use a pointer."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if (
            page.evaluate(
                "(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent).trim()"
            )
            == label
        ):
            return
    pytest.fail(f"Tab never came to “{label}”")


def test_creates_pauses_adds_messages_shares_and_finishes(server, script, open_page):
    page = open_page(server.page())
    expect(page.get_by_role("heading", name="No timers yet")).to_be_visible()

    page.keyboard.press("n")
    page.keyboard.type("5m")
    page.keyboard.press("Tab")
    page.keyboard.type("kitchen")
    page.keyboard.press("Enter")
    has_status(page, "kitchen", "running")

    tab_to(page, "Pause")
    page.keyboard.press("Enter")
    has_status(page, "kitchen", "paused")
    page.keyboard.press("Space")
    has_status(page, "kitchen", "running")
    tab_to(page, "+1 min")
    page.keyboard.press("Enter")
    expect(digits(page, "kitchen")).to_have_text(re.compile(r"^(6:00|5:5\d)$"))

    tab_to(page, "More actions for kitchen")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    tab_to(page, "Message, flash, blackoutM")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    page.keyboard.type("Time to stop")
    tab_to(page, "Send")
    page.keyboard.press("Enter")
    expect(page.locator(".current")).to_contain_text("Time to stop")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert script.do("get", timer="kitchen")["message"]["text"] == "Time to stop"

    page.keyboard.press("s")
    expect(dialog.locator(".view .address")).to_have_value(re.compile("timer=kitchen"))
    tab_to(page, "Copy")
    page.keyboard.press("Enter")
    expect(dialog.locator(".report").first).not_to_be_empty()
    page.keyboard.press("Escape")

    page.keyboard.press("f")
    expect(dialog).to_be_visible()
    tab_to(page, "Finish")
    page.keyboard.press("Enter")
    has_status(page, "kitchen", "finished")
    expect(dialog).to_have_count(0)


def test_single_keys_act_on_the_timer_that_has_the_focus(server, script, open_page):
    for name in ("a", "b"):
        script.do("start", timer=name, duration=3000)
    page = open_page(server.page())
    has_status(page, "b", "running")

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("p")
    has_status(page, "b", "paused")
    has_status(page, "a", "running")
    page.keyboard.press("k")
    page.keyboard.press("+")
    expect(digits(page, "a")).to_have_text(re.compile(r"^5[01]:"))
    page.keyboard.press("u")
    expect(toast(page)).to_contain_text("Undone")
    page.keyboard.press("v")
    expect(page.locator("#timers")).to_have_attribute("data-layout", "compact")
    page.keyboard.press("e")
    expect(page.get_by_role("dialog").get_by_label("Title")).to_be_focused()


def test_single_keys_never_fire_while_one_types_or_over_a_dialog(server, script, open_page):
    script.do("start", timer="a", duration=3000)
    page = open_page(server.page())
    has_status(page, "a", "running")

    page.keyboard.press("j")
    page.keyboard.press("/")
    page.keyboard.type("pfu")
    expect(page.get_by_label("Search")).to_have_value("pfu")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.press("Tab")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0), "a select is typed into"
    page.keyboard.press("Tab")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Shortcuts and settings")).to_be_visible()
    page.keyboard.press("p")
    page.keyboard.press("f")

    page.wait_for_timeout(200)
    assert script.do("get", timer="a")["status"] == "running"


def test_single_keys_can_be_switched_off_and_stay_off(server, script, open_page):
    script.do("start", timer="a", duration=3000)
    page = open_page(server.page())
    has_status(page, "a", "running")

    page.keyboard.press("?")
    while not page.evaluate("document.activeElement.id === 'single-keys'"):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    page.wait_for_function("history.state === null || !history.state.isDialog")
    page.reload()
    has_status(page, "a", "running")
    tab_to(page, "Pause")
    page.keyboard.press("p")
    page.keyboard.press("?")

    page.wait_for_timeout(200)
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert script.do("get", timer="a")["status"] == "running"
    page.keyboard.press("Control+z")
    expect(toast(page)).to_have_text("Nothing to undo.")


def test_the_list_says_what_each_key_does(server, script, open_page):
    page = open_page(server.page())
    expect(page.get_by_role("heading", name="No timers yet")).to_be_visible()

    page.keyboard.press("?")

    rows = page.get_by_role("dialog").locator(".keys tr")
    expect(rows.first).to_be_visible()
    assert rows.count() >= 15
    assert all(row.locator("kbd").count() and row.locator("td").text_content() for row in rows.all())


def test_the_focus_is_always_to_be_seen(server, script, open_page):
    script.do("start", timer="a", duration=3000)
    page = open_page(server.page())
    has_status(page, "a", "running")

    stops = []
    for _ in range(40):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(
            """() => { const element = document.activeElement; const style = getComputedStyle(element);
                       const box = element.getBoundingClientRect();
                       return [element.outerHTML.slice(0, 80), element === document.body ||
                           style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && box.width > 0 &&
                           box.bottom > 0 && box.top < innerHeight]; }"""))

    assert len(dict.fromkeys(stop for stop, _ in stops)) > 20
    assert [stop for stop, is_seen in stops if not is_seen] == []


def test_the_focus_stays_in_a_dialog_and_comes_back(server, script, open_page):
    script.do("start", timer="a", duration=3000)
    page = open_page(server.page())
    has_status(page, "a", "running")
    tab_to(page, "More actions for a")

    page.keyboard.press("Enter")
    for key in ["Tab"] * 15 + ["Shift+Tab"] * 15:
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.closest('.dialog') !== null")
    page.keyboard.press("Escape")

    expect(card(page, "a").locator("[data-command=more]")).to_be_focused()


def test_what_is_removed_hands_the_focus_on(server, script, open_page):
    for name in ("a", "b"):
        script.do("start", timer=name, duration=3000)
    page = open_page(server.page())
    has_status(page, "b", "running")
    page.keyboard.press("j")

    script.do("remove", timer="a")
    expect(page.locator("#timers > li")).to_have_count(1)

    expect(page.locator("#timers > li")).to_be_focused()


def test_the_remote_works_by_keys(server, script, open_page):
    script.do("start", timer="a", duration=3000)
    page = open_page(server.page("a") + "&control")
    expect(page.locator(".face")).to_have_attribute("data-status", "running")

    page.keyboard.press("p")
    expect(page.locator(".face")).to_have_attribute("data-status", "paused")
    page.keyboard.press("p")
    expect(page.locator(".face")).to_have_attribute("data-status", "running")
    page.keyboard.press("-")
    expect(page.locator(".face .digits")).to_have_text(re.compile("^4[89]:"))
    tab_to(page, "Add 5 minutes")
    page.keyboard.press("Enter")
    expect(page.locator(".face .digits")).to_have_text(re.compile("^5[34]:"))
    page.keyboard.press("m")
    expect(page.get_by_label("Message", exact=True)).to_be_focused()


def test_arrows_go_where_the_next_card_stands(server, script, open_page):
    for name in ("a", "b"):
        script.do("start", timer=name, duration=3000)

    for language, key in (("en", "ArrowRight"), ("ar", "ArrowLeft")):
        page = open_page(f"{server.page()}?lang={language}")
        has_status(page, "b", "running")
        page.keyboard.press("j")
        page.keyboard.press(key)
        expect(page.locator("#timers > li").nth(1)).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(page.locator("#timers > li").nth(0)).to_be_focused()
