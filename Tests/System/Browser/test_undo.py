"""Undo takes back this client's last change, and never another client's."""


import pytest
from playwright.sync_api import expect

from person import card, choose, has_status, make, press, toast


def undo(page):
    page.get_by_role("button", name="Undo").first.click()


@pytest.fixture
def page(server, script, open_page):
    script.do("start", timer="kitchen", duration=300, title="Pasta", warnings=[60])
    page = open_page(server.page())
    has_status(page, "kitchen", "running")
    return page


def test_pause_and_resume_are_taken_back(page, script):
    press(page, "kitchen", "Pause")
    has_status(page, "kitchen", "paused")
    undo(page)
    has_status(page, "kitchen", "running")
    expect(toast(page)).to_have_text("Undone: Paused Pasta.")


def test_added_time_is_taken_back(page, script):
    press(page, "kitchen", "+1 min")
    expect(toast(page)).to_contain_text("Changed the time")
    assert script.do("get", timer="kitchen")["addedTime"] == 60

    undo(page)

    expect(toast(page)).to_contain_text("Undone")
    assert script.do("get", timer="kitchen")["addedTime"] == 0


def test_a_new_timer_is_forgotten_again(page, script):
    make(page, "new", "5m")
    undo(page)

    expect(page.locator("#timers > li")).to_have_count(1)
    assert script.ask("get", timer="new")["error"]["code"] == "unknownTimer"


def test_settings_and_a_message_are_taken_back(page, script):
    choose(page, "kitchen", "Edit settings")
    page.get_by_role("dialog").get_by_label("Title").fill("Rice")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(card(page, "kitchen").get_by_role("heading")).to_have_text("Rice")
    undo(page)
    expect(card(page, "kitchen").get_by_role("heading")).to_have_text("Pasta")

    script.do("message", timer="kitchen", text="First")
    choose(page, "kitchen", "Message, flash, blackout")
    page.get_by_role("dialog").get_by_role("button", name="Wrap up").click()
    expect(page.locator(".current")).to_have_text("On the screens: “Wrap up”")
    page.keyboard.press("Escape")
    undo(page)
    expect(card(page, "kitchen").locator(".note")).to_contain_text("“First”")


def test_anothers_change_is_never_undone(page, script):
    press(page, "kitchen", "+1 min")
    expect(toast(page)).to_contain_text("Changed the time")
    script.do("addRemainingTime", timer="kitchen", seconds=5)

    undo(page)

    expect(toast(page)).to_have_text("Pasta has changed since then. Nothing was undone.")
    assert script.do("get", timer="kitchen")["addedTime"] == 65


def test_what_can_not_be_undone_says_so_and_leaves_nothing_to_undo(page, script):
    press(page, "kitchen", "Pause")
    has_status(page, "kitchen", "paused")
    choose(page, "kitchen", "Finish")
    page.get_by_role("dialog").get_by_role("button", name="Finish", exact=True).click()

    expect(toast(page)).to_have_text("Finished Pasta. This can't be undone.")
    expect(page.locator("#undo")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Control+z")
    expect(toast(page)).to_have_text("Nothing to undo.")
    assert script.do("get", timer="kitchen")["status"] == "finished"


RUNNING = {"status": "running", "type": "timer", "duration": 300, "elapsedTime": 10, "time": 290, "addedTime": 0,
           "revision": 7, "title": "", "warnings": [], "atZero": "overtime", "lastElapsedTimeCalculatedAt": 1000}
IDLE = {**RUNNING, "status": "idle", "elapsedTime": 0, "time": 300}


@pytest.mark.parametrize(
    "command, fields, before, after, back",
    [
        ("start", {"duration": 300}, None, RUNNING, ("remove", {})),
        ("start", {}, IDLE, RUNNING, ("reset", {})),
        ("start", {"duration": 60}, IDLE, {**RUNNING, "duration": 60}, None),
        ("start", {}, {**RUNNING, "status": "finished"}, RUNNING, None),
        ("pause", {}, RUNNING, {**RUNNING, "status": "paused"}, ("resume", {})),
        ("resume", {}, {**RUNNING, "status": "paused"}, RUNNING, ("pause", {})),
        (
            "addRemainingTime",
            {"seconds": 60},
            RUNNING,
            {**RUNNING, "time": 350, "addedTime": 60},
            ("addRemainingTime", {"seconds": -60}),
        ),
        # `clamp` subtracted less than was asked for.
        (
            "addRemainingTime",
            {"seconds": -600},
            RUNNING,
            {**RUNNING, "time": 0, "addedTime": -290},
            ("addRemainingTime", {"seconds": 290}),
        ),
        (
            "addRemainingTime",
            {"seconds": -600},
            RUNNING,
            {**RUNNING, "time": 0, "addedTime": -290, "status": "finished"},
            None,
        ),
        (
            "addElapsedTime",
            {"seconds": -60},
            {**RUNNING, "type": "stopwatch"},
            {**RUNNING, "type": "stopwatch", "elapsedTime": 0, "lastElapsedTimeCalculatedAt": 1002},
            ("addElapsedTime", {"seconds": 12}),
        ),
        # The elapsed time never goes below the last lap.
        (
            "addElapsedTime",
            {"seconds": -60},
            {**RUNNING, "type": "stopwatch", "laps": [9]},
            {**RUNNING, "type": "stopwatch", "elapsedTime": 9, "lastElapsedTimeCalculatedAt": 1002, "laps": [9]},
            ("addElapsedTime", {"seconds": 3}),
        ),
        # Another client had just started the timer, and this page did not know it at the press.
        ("pause", {}, None, {**RUNNING, "status": "paused"}, None),
        ("message", {"text": "B"}, None, RUNNING, None),
        ("addRemainingTime", {"seconds": 60}, None, RUNNING, None),
        (
            "update",
            {"title": "B", "warnings": [5]},
            {**RUNNING, "title": "A"},
            {**RUNNING, "title": "B"},
            ("update", {"title": "A", "warnings": []}),
        ),
        (
            "message",
            {"text": "B"},
            {**RUNNING, "message": {"text": "A", "sentAt": 1}},
            RUNNING,
            ("message", {"text": "A"}),
        ),
        ("message", {"text": "B"}, RUNNING, RUNNING, ("message", {"text": ""})),
        (
            "signal",
            {"signal": "blackout"},
            RUNNING,
            {**RUNNING, "signal": {"kind": "blackout", "sentAt": 1}},
            ("signal", {"signal": "none"}),
        ),
        (
            "signal",
            {"signal": "none"},
            {**RUNNING, "signal": {"kind": "blackout", "sentAt": 1}},
            RUNNING,
            ("signal", {"signal": "blackout"}),
        ),
        ("signal", {"signal": "flash"}, RUNNING, {**RUNNING, "signal": {"kind": "flash", "sentAt": 1}}, None),
        ("finish", {}, RUNNING, {**RUNNING, "status": "finished"}, None),
        ("reset", {}, RUNNING, IDLE, None),
        ("remove", {}, RUNNING, None, None),
        ("lap", {}, RUNNING, RUNNING, None),
    ],
)
def test_each_change_has_its_opposite_or_none(module_of, command, fields, before, after, back):
    found = module_of("shared/undo.js", "opposite", command, fields, before, after)

    assert found == (None if back is None else {"command": back[0], "fields": back[1]})
