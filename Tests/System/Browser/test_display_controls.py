"""On a display too, a command without an undo has to be held or confirmed, and every other one can be undone there."""

import pytest
from playwright.sync_api import expect

from person import focus
from scripted_server import digits, hold, let_pass, state, wait_until
from test_display import move


@pytest.fixture
def display(server, script, open_page):
    """Opens a display with its controls on the screen."""
    def display(*names):
        page = open_page(server.page() + "?" + "&".join("timer=" + name for name in names))
        for name in names:
            expect(digits(page, name)).not_to_be_empty()
        page.evaluate("import('/display/controls.js').then(() => {})")
        move(page)
        expect(page.locator("footer").first).to_be_visible()
        return page

    return display


def status(script, name):
    return script.do("get", timer=name)["status"]


def button(page, name, command):
    return page.locator("article", has=digits(page, name)).locator(f"[data-command={command}]")


def words(page, name, part):
    return page.locator("article", has=digits(page, name)).locator(f"footer .{part}")


@pytest.mark.parametrize("command, done, words_done", [
    ("finish", "finished", "Finished Pasta. This can't be undone."),
    ("reset", "idle", "Reset Pasta. This can't be undone."),
])
def test_what_is_final_is_held_or_confirmed(display, script, command, done, words_done):
    script.do("start", timer="kitchen", duration=3000, title="Pasta")
    page = display("kitchen")

    button(page, "kitchen", command).click(delay=200)
    expect(words(page, "kitchen", "message")).to_have_text(f"Hold the button to {command}.")
    assert status(script, "kitchen") == "running"

    focus(button(page, "kitchen", command))
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("can't be undone.")
    page.keyboard.press("Enter")  # Cancel
    expect(dialog).to_be_hidden()
    assert status(script, "kitchen") == "running"

    button(page, "kitchen", command).click(delay=1200)
    expect(words(page, "kitchen", "report")).to_have_text(words_done)
    assert status(script, "kitchen") == done

    script.do("start", timer="kitchen", duration=3000)
    expect(page.locator("article")).to_have_attribute("data-status", "running")
    focus(button(page, "kitchen", command))
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("article")).to_have_attribute("data-status", done)


def test_laps_are_not_thrown_away_by_a_tap_but_a_run_that_is_over_may_be_reset(display, script):
    for name in ("run", "tea"):
        script.do("start", timer=name)
        if name == "run":
            script.do("lap", timer=name)
        script.do("finish", timer=name)
    page = display("run", "tea")

    button(page, "run", "reset").click()
    expect(words(page, "run", "message")).to_have_text("Hold the button to reset.")
    button(page, "tea", "reset").click()
    wait_until(page, lambda: status(script, "tea") == "idle")

    assert status(script, "run") == "finished"


def test_the_last_change_is_undone_where_it_was_made(display, script):
    script.do("start", timer="kitchen", duration=3000)
    script.do("start", timer="oven", duration=3000)
    page = display("kitchen", "oven")
    expect(button(page, "oven", "undo")).to_be_hidden()

    button(page, "oven", "start").or_(button(page, "oven", "pause")).click()
    expect(words(page, "oven", "report")).to_have_text("Paused oven.")
    expect(button(page, "kitchen", "undo")).to_be_hidden()
    button(page, "oven", "undo").click()
    expect(words(page, "oven", "report")).to_have_text("Undone: Paused oven.")
    assert status(script, "oven") == "running"

    button(page, "kitchen", "add").click()
    expect(words(page, "kitchen", "report")).to_have_text("Changed the time of kitchen.")
    expect(words(page, "oven", "report")).to_be_empty()
    button(page, "kitchen", "undo").click()
    wait_until(page, lambda: script.do("get", timer="kitchen")["addedTime"] == 0)


def test_a_report_and_its_undo_end_after_a_while(visit, scripted):
    scripted.states = [state()]
    page = visit("?timer=kitchen", hand_turned=True)
    page.evaluate("import('/display/controls.js').then(() => {})")
    expect(page.locator("footer")).to_be_attached()
    hold(page)
    move(page)
    button(page, "kitchen", "start").or_(button(page, "kitchen", "resume")).click()
    expect(words(page, "kitchen", "report")).to_have_text("Resumed kitchen.")
    let_pass(page, 5)
    expect(words(page, "kitchen", "report")).to_have_text("Resumed kitchen.")

    button(page, "kitchen", "undo").hover()
    let_pass(page, 12)
    expect(button(page, "kitchen", "undo")).to_be_visible()
    page.mouse.move(5, 5)
    let_pass(page, 12)

    expect(words(page, "kitchen", "report")).to_be_empty()
    expect(button(page, "kitchen", "undo")).to_have_attribute("hidden", "")


def test_a_finger_that_holds_a_button_neither_scrolls_nor_selects(visit, scripted):
    scripted.states = [state()]
    page = visit("?timer=kitchen")
    page.evaluate("import('/display/controls.js').then(() => {})")
    expect(page.locator("footer")).to_be_attached()

    for command in ("reset", "finish"):
        wait_until(page, lambda: button(page, "kitchen", command).evaluate(
            "(it) => [getComputedStyle(it).touchAction, getComputedStyle(it).userSelect].join()") == "none,none")


@pytest.mark.parametrize("view", ["", "timer=run", "timer=run&control"], ids=["dashboard", "display", "remote"])
def test_a_start_that_throws_laps_away_is_asked_about_in_every_view(server, script, open_page, view):
    script.do("start", timer="run")
    script.do("lap", timer="run")
    before = script.do("finish", timer="run")
    page = open_page(server.page() + ("?" + view if view else ""))
    expect(page.locator("[data-digits]")).not_to_be_empty()
    if view == "timer=run":
        page.evaluate("import('/display/controls.js').then(() => {})")
        move(page)
    primary = page.locator("[data-command=start]")
    dialog = page.get_by_role("dialog")

    primary.click()
    expect(dialog.get_by_role("heading", name="Start run again?")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    assert script.do("get", timer="run")["laps"] == before["laps"]

    primary.click()
    dialog.get_by_role("button", name="Start").click()
    wait_until(page, lambda: status(script, "run") == "running")
    script.do("finish", timer="run")
    expect(primary).to_be_visible()
    primary.click()  # without laps no question is asked
    wait_until(page, lambda: status(script, "run") == "running")
