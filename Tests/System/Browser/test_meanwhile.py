"""Changes while a person does something else: a late answer, another client's change, a card that moves."""

import pytest
from playwright.sync_api import expect

from person import card, choose, focus, has_status, press, toast
from scripted_server import NOW, digits, hold, let_pass, state, wait_until


def running(**fields):
    return state(**{"status": "running", **fields})


def stopwatch(**fields):
    return running(type="stopwatch", duration=None, time=0, **fields)


@pytest.fixture
def visit_still(visit, scripted):
    """Opens the page on these timers; from then on time passes only by `let_pass`."""
    def visit_still(*states, query=""):
        scripted.states = list(states)
        page = visit(query, hand_turned=True)
        wait_until(page, lambda: scripted.sent("subscribe"))
        hold(page)
        return page

    return visit_still


# A change without an answer


def broken(page, scripted, command, seconds):
    """Breaks the link before that command is answered, and lets the page reconnect after a while."""
    wait_until(page, lambda: scripted.sent(command))
    before = len(scripted.connections)
    let_pass(page, 2)
    scripted.connections[-1].close(code=1001)
    expect(page.locator("#connection")).to_be_visible()
    let_pass(page, seconds)
    wait_until(page, lambda: len(scripted.connections) > before)


def test_a_change_that_is_sent_again_asks_for_the_same_to_the_letter(visit_still, scripted, never):
    # A server that made the change refuses another request with the same key.
    page = visit_still(state())
    never("resume")

    page.get_by_role("button", name="Resume").click()
    broken(page, scripted, "resume", 4)
    wait_until(page, lambda: len(scripted.sent("resume")) == 2)

    first, second = ({**request, "id": None} for request in scripted.sent("resume"))
    assert second == first and "at" in first


def test_an_answer_of_the_first_time_brings_no_timer_back_that_was_removed_meanwhile(visit_still, scripted, never):
    page = visit_still(state())
    never("resume")

    page.get_by_role("button", name="Resume").click()
    wait_until(page, lambda: scripted.sent("resume"))
    scripted.states = [state(timer="marker")]
    scripted.answers["resume"] = lambda request: scripted.say(
        reply=request["id"], ok=True, timer=running(revision=6))
    broken(page, scripted, "resume", 4)

    expect(toast(page)).to_contain_text("Resumed")
    expect(digits(page, "marker")).to_be_visible()
    expect(digits(page)).to_have_count(0)


def test_a_removal_that_is_sent_again_does_not_hide_who_has_started_it_anew_meanwhile(visit_still, scripted, never):
    page = visit_still(state())
    never("remove")

    choose(page, "kitchen", "Remove")
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    wait_until(page, lambda: scripted.sent("remove"))
    scripted.states = [running(revision=9)]
    scripted.answers["remove"] = lambda request: scripted.say(reply=request["id"], ok=True)
    broken(page, scripted, "remove", 4)

    expect(toast(page)).to_contain_text("Removed kitchen.")
    expect(digits(page)).to_be_visible()


def test_what_was_pressed_before_a_sleep_is_not_done_after_it(visit_still, scripted, never):
    page = visit_still(state())
    never("resume")

    page.get_by_role("button", name="Resume").click()
    wait_until(page, lambda: scripted.sent("resume"))
    page.evaluate("(() => { const wall = timersync.wall; timersync.wall = () => wall() + 3600; })()")
    broken(page, scripted, "resume", 4)

    expect(page.locator("article .message")).to_contain_text("No answer")
    assert len(scripted.sent("resume")) == 1


def test_what_could_not_be_undone_for_want_of_a_link_can_be_undone_when_it_is_back(visit_still, scripted):
    page = visit_still(running())
    scripted.states = [state(revision=6)]
    page.get_by_role("button", name="Pause").click()
    expect(toast(page)).to_have_text("Paused kitchen.")

    scripted.connections[-1].close(code=1001)
    expect(page.locator("#connection")).to_be_visible()
    page.keyboard.press("u")
    expect(toast(page)).to_contain_text("Offline")
    let_pass(page, 4)
    expect(page.locator("#connection")).to_be_hidden()
    page.keyboard.press("u")

    wait_until(page, lambda: scripted.sent("resume"))
    assert scripted.sent("resume")[0]["ifRevision"] == 6
    expect(toast(page)).to_have_text("Undone: Paused kitchen.")


def test_a_lost_link_is_shown_as_such_and_not_as_a_missing_permission(visit_still, scripted):
    page = visit_still(running())
    page.keyboard.press("j")
    scripted.connections[-1].close(code=1001)
    expect(page.locator("#connection")).to_be_visible()

    page.keyboard.press("f")
    expect(page.locator("article .message")).to_contain_text("Offline")
    page.locator("#finish-many").click(force=True)
    expect(toast(page)).to_contain_text("Offline")


def test_a_reset_that_is_refused_says_so(visit, scripted):
    scripted.states = [state(status="finished", elapsedTime=300)]
    scripted.answers["reset"] = lambda request: scripted.refuse(request, "storageFailed", "The disk is full.")
    page = visit()

    choose(page, "kitchen", "Reset")

    expect(toast(page)).to_have_text("The disk is full.")


def test_an_admitted_visitor_sees_no_refusal(visit, scripted):
    page = visit(hand_turned=True)
    is_open = []
    error = {"code": "unauthorized", "message": "Give a token.", "retryable": False}
    page.route(
        "**/api/timers", lambda route: route.fulfill(status=401, json={"reply": None, "ok": False, "error": error})
    )
    accept = scripted.accept
    scripted.accept = lambda socket: accept(socket) if is_open else socket.close()
    page.reload()
    expect(page.get_by_role("heading", name="The server refused this page")).to_be_visible()

    is_open.append(True)
    scripted.states = [state()]
    let_pass(page, 30)

    expect(digits(page)).to_be_visible()
    expect(page.locator("#placeholder")).to_be_hidden()


# A dialog that is open


def test_a_late_answer_closes_no_other_dialog(visit, scripted, never):
    scripted.states = [running()]
    page = visit()
    request = never("finish")
    choose(page, "kitchen", "Finish")
    page.get_by_role("dialog").get_by_role("button", name="Finish", exact=True).click()
    wait_until(page, lambda: scripted.sent("finish"))
    page.keyboard.press("Escape")
    choose(page, "kitchen", "Message, flash, blackout")
    page.get_by_label("Message", exact=True).fill("Wrap up soon")

    scripted.reply(request())
    expect(toast(page)).to_contain_text("Finished kitchen.")

    expect(page.get_by_label("Message", exact=True)).to_have_value("Wrap up soon")


def test_the_focus_stays_in_a_dialog_whose_button_goes(visit, scripted):
    scripted.states = [stopwatch(laps=[5])]
    page = visit()
    choose(page, "kitchen", "Laps")
    expect(page.get_by_role("dialog").get_by_role("button", name="Lap", exact=True)).to_be_focused()

    scripted.snapshot(stopwatch(revision=6, laps=[5], status="paused"), "paused")
    expect(page.get_by_role("dialog").locator(".lap")).to_be_hidden()

    assert page.evaluate("document.activeElement.closest('.dialog') !== null")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_laps_of_a_removed_timer_are_gone_from_their_list_too(visit, scripted):
    scripted.states = [stopwatch(laps=[5])]
    page = visit()
    choose(page, "kitchen", "Laps")
    expect(page.get_by_role("dialog").locator("tbody tr")).to_have_count(1)

    scripted.say(event="removed", timer="kitchen")

    expect(page.get_by_role("dialog").locator("tbody tr")).to_have_count(0)
    expect(page.get_by_role("dialog").locator(".lap")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_edit_of_one_field_keeps_others_edits_of_the_rest(server, script, open_page):
    script.do("start", timer="kitchen", duration=3000, title="Pasta", warnings=[60])
    page = open_page(server.page())
    choose(page, "kitchen", "Edit settings")
    page.get_by_role("dialog").get_by_label("Title").fill("Rice")
    script.do("update", timer="kitchen", warnings=[30], atZero="finish")
    script.do("pause", timer="kitchen")
    has_status(page, "kitchen", "paused")

    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)

    now = script.do("get", timer="kitchen")
    assert (now["title"], now["warnings"], now["atZero"]) == ("Rice", [30], "finish")


def test_an_edit_of_a_field_that_was_changed_meanwhile_is_reported_once(server, script, open_page):
    script.do("start", timer="kitchen", duration=3000, title="Pasta")
    page = open_page(server.page())
    choose(page, "kitchen", "Edit settings")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Title").fill("Rice")
    script.do("update", timer="kitchen", title="Soup")
    expect(card(page, "kitchen").locator("h2")).to_have_text("Soup")

    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator(".message")).to_contain_text("changed elsewhere")
    assert script.do("get", timer="kitchen")["title"] == "Soup"
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)

    assert script.do("get", timer="kitchen")["title"] == "Rice"


def test_what_is_typed_while_an_answer_is_on_its_way_stays(visit, scripted, never):
    scripted.states = [running()]
    page = visit()
    request = never("message")
    choose(page, "kitchen", "Message, flash, blackout")
    text = page.get_by_label("Message", exact=True)
    text.fill("One more minute")
    page.keyboard.press("Control+Enter")
    wait_until(page, lambda: scripted.sent("message"))
    text.fill("And now: questions")

    scripted.reply(request())
    expect(toast(page)).to_contain_text("Message sent to the screens")
    expect(text).to_have_value("And now: questions")

    page.keyboard.press("Control+Enter")
    wait_until(page, lambda: len(scripted.sent("message")) == 2)
    scripted.reply(request())
    expect(text).to_have_value("")


def test_the_answer_to_a_start_takes_neither_the_focus_nor_what_is_typed_meanwhile(visit, scripted, never):
    scripted.states = [running()]
    page = visit()
    expect(digits(page)).to_be_visible()
    request = never("start")
    page.get_by_label("Duration").fill("5m")
    page.keyboard.press("Enter")
    wait_until(page, lambda: scripted.sent("start"))
    page.get_by_label("Name").fill("Second")
    focus(page.get_by_label("Search"))

    scripted.say(reply=request()["id"], ok=True, timer=running(timer="Timer 1", revision=9))
    expect(toast(page)).to_contain_text("Started")

    expect(page.get_by_label("Search")).to_be_focused()
    expect(page.get_by_label("Name")).to_have_value("Second")


# Under a finger


def two_that_overtake(visit_still):
    """`a` is paused at 100 s. `b` runs and has more time at first, but less after a while."""
    b = running(timer="b", duration=110)
    page = visit_still(state(timer="a", duration=100), b)
    page.locator("#sort").select_option("time")
    return page, b


def order(page):
    return page.eval_on_selector_all("#timers > li", "(items) => items.map((item) => item.dataset.name)")


def test_a_tick_moves_no_card_under_a_pointer(visit_still, scripted):
    page, b = two_that_overtake(visit_still)
    assert order(page) == ["a", "b"]
    card(page, "a").hover()
    let_pass(page, 20)
    now = page.evaluate("performance.now() / 1000 + timersync.offset")

    scripted.snapshot({**b, "elapsedTime": now - NOW, "lastElapsedTimeCalculatedAt": now}, "tick")
    scripted.snapshot(state(timer="a", duration=100, revision=5, lastElapsedTimeCalculatedAt=NOW + 1), "tick")
    page.wait_for_timeout(200)
    assert order(page) == ["a", "b"]

    page.mouse.move(1, 1)
    let_pass(page, 6)
    assert order(page) == ["b", "a"]


def test_a_press_counts_though_its_card_is_moved_under_the_finger(visit, scripted):
    scripted.states = [state(timer="a"), state(timer="b")]
    page = visit()
    page.locator("#sort").select_option("status")
    expect(digits(page, "b")).to_be_visible()
    card(page, "a").get_by_role("button", name="Resume").hover()
    page.mouse.down()

    scripted.snapshot(running(timer="b", revision=6), "resumed")
    has_status(page, "b", "running")
    page.wait_for_timeout(100)
    page.mouse.up()

    wait_until(page, lambda: scripted.sent("resume"))
    assert scripted.sent("resume")[0]["timer"] == "a"
    wait_until(page, lambda: order(page) == ["b", "a"])


def test_two_fingers_that_have_let_go_finish_nothing(visit_still, scripted):
    page = visit_still(running(), query="?timer=kitchen&control")
    finish = page.locator(".finish")
    expect(finish).to_have_attribute("aria-disabled", "false")

    for kind, pointer in (("pointerdown", 1), ("pointerdown", 2), ("pointerup", 2), ("pointerup", 1)):
        finish.dispatch_event(
            kind, {"button": 0, "pointerId": pointer, "isPrimary": pointer == 1, "pointerType": "touch"}
        )
    let_pass(page, 3)

    assert scripted.sent("finish") == []
    finish.dispatch_event("pointerdown", {"button": 0, "pointerId": 3, "isPrimary": True, "pointerType": "touch"})
    let_pass(page, 1)
    wait_until(page, lambda: scripted.sent("finish"))


def test_a_key_that_is_held_presses_once(visit, scripted):
    scripted.states = [running()]
    page = visit()
    expect(digits(page)).to_be_visible()
    page.keyboard.press("j")

    for _ in range(3):
        page.keyboard.down("p")
    page.keyboard.up("p")
    page.keyboard.press("+")

    wait_until(page, lambda: scripted.sent("addRemainingTime"))
    assert len(scripted.sent("pause")) == 1


@pytest.mark.parametrize(
    "where, button", [("", "article .main"), ("?timer=kitchen&control", ".main"), ("?timer=kitchen", "footer .primary")]
)
def test_a_double_click_and_a_key_that_is_held_press_once(visit, scripted, where, button):
    def change(request):
        status = {"pause": "paused", "resume": "running"}[request["command"]]
        scripted.states = [state(status=status, revision=scripted.states[0]["revision"] + 1)]
        scripted.reply(request)

    scripted.answers.update(pause=change, resume=change)
    scripted.states = [running()]
    page = visit(where)
    wait_until(page, lambda: scripted.sent("subscribe"))
    page.mouse.move(5, 105)
    page.mouse.move(15, 115)
    main = page.locator(button)
    expect(main).to_have_attribute("data-command", "pause")

    box = main.bounding_box()
    page.mouse.move(box["x"] + 9, box["y"] + 9)
    for count in (1, 2):
        page.mouse.down(click_count=count)
        page.mouse.up(click_count=count)
        expect(main).to_have_attribute("data-command", "resume")
    for _ in range(3):
        page.keyboard.down("Enter")
        expect(main).to_have_attribute("data-command", "pause")
    page.keyboard.up("Enter")

    assert [request["command"] for request in scripted.requests if request["command"] in ("pause", "resume")] == [
        "pause",
        "resume",
    ]


def test_a_minute_more_may_be_pressed_twice_at_once(visit, scripted):
    scripted.states = [running()]
    page = visit()

    card(page, "kitchen").get_by_role("button", name="+1 min").dblclick()

    wait_until(page, lambda: len(scripted.sent("addRemainingTime")) == 2)


def test_a_hold_of_finish_without_effect_says_why(visit_still, scripted):
    page = visit_still(state(status="finished", elapsedTime=300), query="?timer=kitchen&control")

    page.locator(".finish").dispatch_event("pointerdown", {"button": 0, "pointerId": 1, "isPrimary": True})
    let_pass(page, 1)

    expect(page.locator(".pad .message")).to_have_text("kitchen isn't running. There is nothing to finish.")
    assert scripted.sent("finish") == []


def test_keys_are_not_about_a_card_that_the_search_hides(visit, scripted):
    scripted.states = [running(timer="a"), running(timer="b")]
    page = visit()
    press(page, "a", "+1 min")
    wait_until(page, lambda: scripted.sent("addRemainingTime"))
    page.get_by_label("Search").fill("b")
    page.get_by_role("heading", name="Timers").click()

    page.keyboard.press("p")
    page.keyboard.press("j")
    page.keyboard.press("p")

    wait_until(page, lambda: scripted.sent("pause"))
    assert [request["timer"] for request in scripted.sent("pause")] == ["b"]


# Elements that vanish while they have the focus


def has_focus(page):
    return page.evaluate(
        "document.activeElement !== document.body && document.activeElement.getClientRects().length > 0"
    )


def test_a_card_that_no_longer_matches_the_search_hands_the_focus_on(visit, scripted):
    scripted.states = [running(timer="a", title="Talk one"), running(timer="b", title="Talk two")]
    page = visit()
    page.get_by_label("Search").fill("talk")
    focus(card(page, "a").get_by_role("button", name="Pause"))

    scripted.snapshot(running(timer="a", title="Break", revision=6))
    expect(page.locator("#timers > li")).to_have_count(1)

    expect(page.locator("#timers > li")).to_be_focused()


def test_undoing_by_keyboard_from_the_bar_keeps_the_focus(visit, scripted):
    scripted.states = [running()]
    page = visit()
    expect(digits(page)).to_be_visible()
    scripted.states = [state(revision=6)]
    press(page, "kitchen", "Pause")
    expect(toast(page)).to_have_text("Paused kitchen.")
    focus(page.locator("#toast button"))

    page.keyboard.press("Enter")
    expect(toast(page)).to_contain_text("Undone")

    assert has_focus(page)


def test_the_remote_keeps_the_focus_when_its_timer_comes_and_goes(visit, scripted):
    page = visit("?timer=kitchen&control")
    focus(page.get_by_role("button", name="5 min", exact=True))

    scripted.snapshot(running(), "started")
    expect(page.locator(".pad")).to_be_visible()
    expect(page.locator(".main")).to_be_focused()

    scripted.say(event="removed", timer="kitchen")
    expect(page.locator(".presets")).to_be_visible()
    assert has_focus(page)
