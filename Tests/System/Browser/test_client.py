"""The page against a scripted server, which does what no real server does on demand."""

import re

import pytest
from playwright.sync_api import expect

from scripted_server import NOW, RECORD_TEXTS, digits, let_pass, state, wait_until


def test_older_snapshots_are_ignored(visit, scripted):
    scripted.states = [state(revision=5, elapsedTime=100, lastElapsedTimeCalculatedAt=NOW)]
    page = visit()
    expect(digits(page)).to_have_text("3:20")

    scripted.snapshot(state(revision=4, elapsedTime=0))
    scripted.snapshot(state(revision=5, elapsedTime=10, lastElapsedTimeCalculatedAt=NOW - 1))
    scripted.snapshot(state(timer="marker"))

    expect(digits(page, "marker")).to_be_visible()
    expect(digits(page)).to_have_text("3:20")


def test_a_late_word_of_a_removed_timer_does_not_bring_it_back(visit, scripted):
    scripted.states = [state(revision=5)]
    page = visit()
    expect(digits(page)).to_be_visible()

    scripted.say(event="removed", timer="kitchen")
    scripted.snapshot(state(revision=5))
    scripted.snapshot(state(timer="marker"))
    expect(digits(page, "marker")).to_be_visible()
    expect(digits(page)).to_have_count(0)

    scripted.snapshot(state(revision=6), "started")
    expect(digits(page)).to_be_visible()


def test_a_new_epoch_counts_even_with_lower_revisions(visit, scripted):
    scripted.states = [state(revision=500, elapsedTime=100), state(timer="gone")]
    page = visit()
    expect(digits(page)).to_have_text("3:20")

    scripted.epoch = "second"
    scripted.states = [state(revision=1, elapsedTime=0)]
    scripted.connections[-1].close(code=1001)

    expect(digits(page)).to_have_text("5:00")
    expect(digits(page, "gone")).to_have_count(0)


@pytest.mark.parametrize("code", [1003, 1007, 1008, 1009])
def test_some_closes_are_for_good_and_say_why(visit, scripted, code):
    page = visit(hand_turned=True)
    wait_until(page, lambda: scripted.sent("subscribe"))

    scripted.connections[-1].close(code=code, reason="because of this")

    expect(page.locator("#connection")).to_contain_text("because of this")
    let_pass(page, 60)
    page.wait_for_timeout(100)
    assert len(scripted.connections) == 1


def test_a_full_server_is_asked_again_ever_more_slowly(visit, scripted):
    def full(_):
        scripted.connections[-1].close(code=1013)

    scripted.answers["subscribe"] = full
    page = visit()
    wait_until(page, lambda: len(scripted.connections) >= 2)

    page.wait_for_timeout(4000)

    assert len(scripted.connections) < 15


def test_another_protocol_is_not_guessed_at(visit, scripted):
    scripted.hello = {"protocol": 2}

    page = visit()

    expect(page.locator("#connection")).to_contain_text("protocol 2")


def test_a_server_that_lets_no_socket_in_is_asked_why_over_http(browser, web_files):
    context = browser.new_context()
    page = context.new_page()
    error = {"code": "unauthorized", "message": "Give a token.", "retryable": False}
    page.route(
        "**/api/timers", lambda route: route.fulfill(status=401, json={"reply": None, "ok": False, "error": error})
    )
    page.route_web_socket("**/ws", lambda socket: socket.close())

    page.goto(web_files)

    expect(page.locator("#connection")).to_have_text("The server refused this page: Give a token.")
    page.unroute_all()
    context.close()


def test_a_press_without_an_answer_is_sent_again_with_the_same_request_id(visit, scripted):
    scripted.states = [state()]
    page = visit()
    expect(digits(page)).to_be_visible()
    scripted.answers["resume"] = lambda _: scripted.connections[-1].close(code=1001)

    page.get_by_role("button", name="Resume").click()
    wait_until(page, lambda: scripted.sent("resume"))
    scripted.answers["resume"] = scripted.reply
    wait_until(page, lambda: len(scripted.sent("resume")) == 2)
    page.wait_for_timeout(500)

    first, second = scripted.sent("resume")
    assert first["requestId"] == second["requestId"]
    assert 0 < len(first["requestId"].encode()) <= 64
    expect(page.locator("article .message")).to_be_empty()


def test_a_press_carries_its_instant_on_the_server_clock(visit, scripted):
    scripted.states = [state()]
    page = visit()
    expect(digits(page)).to_be_visible()

    page.get_by_role("button", name="Resume").click()
    wait_until(page, lambda: scripted.sent("resume"))

    now = page.evaluate("performance.now() / 1000 + timersync.offset")
    assert now - 2 < scripted.sent("resume")[0]["at"] <= now


def test_an_instant_that_is_refused_is_left_to_the_server(visit, scripted):
    def choose(request):
        if "at" in request:
            scripted.refuse(request, "outOfRange", "at is out of range")
        else:
            scripted.reply(request)

    scripted.states = [state()]
    scripted.answers["resume"] = choose
    page = visit()
    expect(digits(page)).to_be_visible()

    page.get_by_role("button", name="Resume").click()
    wait_until(page, lambda: len(scripted.sent("resume")) == 2)

    first, second = scripted.sent("resume")
    assert "at" not in second and first["requestId"] != second["requestId"]
    expect(page.locator("article .message")).to_be_empty()


def test_a_refusal_is_shown_beside_its_timer(visit, scripted):
    scripted.states = [state(), state(timer="oven")]
    scripted.answers["resume"] = lambda request: scripted.refuse(
        request, "storageFailed", "The disk is full: <b>free some</b>."
    )
    page = visit()

    page.locator("article", has=digits(page, "oven")).get_by_role("button", name="Resume").click()

    expect(page.locator("article", has=digits(page, "oven")).locator(".message")).to_have_text(
        "The disk is full: <b>free some</b>."
    )
    expect(page.locator("article", has=digits(page)).locator(".message")).to_be_empty()


def test_a_screen_that_may_only_look_is_not_offered_buttons(visit, scripted):
    scripted.hello = {"role": "view"}
    scripted.states = [state()]
    page = visit()

    expect(page.get_by_text("You have view-only access.")).to_be_visible()
    expect(digits(page)).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_have_count(0)


def test_what_is_no_message_does_no_harm(visit, scripted):
    scripted.states = [state()]
    page = visit()
    expect(digits(page)).to_be_visible()

    for text in ["", "not JSON", "null", "[]", "7", '"text"', "{}", '{"event":"later"}', '{"reply":null,"ok":false}']:
        scripted.connections[-1].send(text)
    scripted.snapshot(state(revision=6, elapsedTime=100))

    expect(digits(page)).to_have_text("3:20")


def test_the_first_digit_is_already_right(visit, scripted):
    # `hello` took an hour to arrive; the exchange of clocks corrects the clock before any state comes.
    scripted.hello = {"now": NOW + 3600}
    scripted.states = [state(status="running", lastElapsedTimeCalculatedAt=NOW)]
    page = visit("?timer=kitchen", init_script=RECORD_TEXTS, hand_turned=True)
    expect(digits(page)).not_to_be_empty()
    let_pass(page, 4)

    shown = list(dict.fromkeys(page.evaluate("seen")))
    right = ["5:00"] + [f"4:{second}" for second in range(59, 29, -1)]
    assert len(shown) >= 4 and shown == right[right.index(shown[0]):][:len(shown)]


def test_an_end_that_is_days_away_has_a_date(visit, scripted):
    scripted.states = [
        state(status="running", duration=3 * 86400),
        state(timer="soon", status="running", duration=82800),
    ]
    page = visit()

    expect(page.locator("article", has=digits(page)).locator(".note")).to_have_text(
        re.compile(r"^ends at \w+, Dec \d, ")
    )
    expect(page.locator("article", has=digits(page, "soon")).locator(".note")).to_have_text(
        re.compile(r"^ends at \d+:\d\d ")
    )
