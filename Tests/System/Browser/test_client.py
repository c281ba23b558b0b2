"""The page against a scripted server: what no real one does on demand."""

import json
import re

import pytest
from playwright.sync_api import expect

NOW = 1764480000.25
HELLO = {"event": "hello", "server": "timersync/0", "protocol": 1, "role": "control", "now": NOW}


RECORD_TEXTS = """
window.seen = [];
new MutationObserver(() => {
    const digits = document.querySelector('[data-digits]');
    if (digits !== null && digits.textContent !== '') { seen.push(digits.textContent); }
}).observe(document, {subtree: true, childList: true, characterData: true});
"""


# For how long the page has not got the processor when it wanted it, in all, in milliseconds.
STALLS = """
window.stalled = 0;
(() => {
    const now = performance.now.bind(performance);
    let last = now();
    setInterval(() => { const late = now() - last - 50; stalled += Math.max(0, late); last += late + 50; }, 50);
})();
"""


class ScriptedServer:
    """Answers as the protocol says, unless the test has it do something else."""

    def __init__(self):
        self.epoch = "first"
        self.states = []
        self.answers = {}
        self.connections = []
        self.requests = []
        self.hello = {}

    def accept(self, socket):
        self.connections.append(socket)
        socket.on_message(lambda text: self.hear(json.loads(text)))
        self.say(**{**HELLO, "epoch": self.epoch, **self.hello})

    def hear(self, request):
        self.requests.append(request)
        command = request["command"]
        if command in self.answers:
            self.answers[command](request)
        elif command == "sync":
            # A local clock of 0 is NOW here: the way takes no time.
            instant = NOW + request["clientTime"]
            self.reply(request, clientTime=request["clientTime"], receivedAt=instant, sentAt=instant)
        elif command == "subscribe":
            self.reply(request)
            self.say(event="snapshot", cause="subscribed", timers=self.states)
        else:
            self.reply(request)

    def say(self, **message):
        self.connections[-1].send(json.dumps(message))

    def reply(self, request, **fields):
        """Yes; with the state of the timer that it is about, as the real one says it."""
        known = [state for state in self.states if state["timer"] == request.get("timer")]
        self.say(reply=request["id"], ok=True, **({"timer": known[0]} if known else {}), **fields)

    def refuse(self, request, code, message, **fields):
        self.say(reply=request["id"], ok=False, error={"code": code, "message": message, "retryable": False}, **fields)

    def snapshot(self, state, cause="updated"):
        self.say(event="snapshot", cause=cause, timers=[state])

    def sent(self, command):
        return [request for request in self.requests if request["command"] == command]


def state(**fields):
    return {
        "timer": "kitchen", "revision": 5, "status": "paused", "type": "timer", "duration": 300, "elapsedTime": 0,
        "time": 300, "startDate": NOW, "stopDate": None, "pausePeriods": [], "lastElapsedTimeCalculatedAt": NOW,
        "addedTime": 0, "atZero": "overtime", "title": None, "warnings": [], **fields,
    }


@pytest.fixture
def scripted():
    return ScriptedServer()


@pytest.fixture
def visit(new_page, scripted, web_files):
    """Opens the page; its socket leads to the scripted server, its files come from web/."""
    def visit(query="", init_script=None, hand_turned=False):
        page = new_page(is_alone=hand_turned)
        if init_script is not None:
            page.add_init_script(init_script)
        page.route_web_socket("**/ws", lambda socket: scripted.accept(socket))
        if hand_turned:
            page.clock.install()
        page.goto(web_files + "/" + query)
        return page

    return visit


def hold(page):
    """From now on time passes on that page, which was opened with `hand_turned`, when `let_pass` says so."""
    page.clock.pause_at(page.evaluate("Date.now() / 1000") + 1)
    # An answer that takes no time at all: the page knows the server's clock to the microsecond.
    page.evaluate("document.dispatchEvent(new Event('resume'))")
    wait_until(page, lambda: page.evaluate("timersync.roundTrip < 1e-6"))
    let_pass(page, 3)


def let_pass(page, seconds):
    """In steps: what the page asks the server meanwhile is answered in the time of this world."""
    left = round(seconds * 1000)
    while left > 0:
        step = min(left, 1000)
        page.clock.run_for(step)
        left -= step


def server_now(page):
    """What the page takes for the time on the server."""
    return page.evaluate("performance.now() / 1000 + timersync.offset")


def knows_the_clock(page, within):
    """Until the page knows the server's clock to half of `within` seconds.
    (Playwright's own `wait_for_function` would need a looser page policy.)"""
    wait_until(page, lambda: page.evaluate(
        "(within) => Boolean(window.timersync) && timersync.isSynced && timersync.roundTrip < within", within))


def digits(page, name="kitchen"):
    return page.locator(f'[data-digits][data-timer="{name}"]')


def wait_until(page, happened, seconds=20):
    for _ in range(int(seconds * 20)):
        if happened():
            return
        page.wait_for_timeout(50)
    pytest.fail("it never happened")


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
    page.route("**/api/timers", lambda route: route.fulfill(status=401, json={"reply": None, "ok": False, "error": error}))
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
    scripted.answers["resume"] = lambda request: scripted.refuse(request, "storageFailed", "The disk is full: <b>free some</b>.")
    page = visit()

    page.locator("article", has=digits(page, "oven")).get_by_role("button", name="Resume").click()

    expect(page.locator("article", has=digits(page, "oven")).locator(".message")).to_have_text("The disk is full: <b>free some</b>.")
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
    # `hello` was an hour on the way; the exchange of clocks knows better, before any state.
    scripted.hello = {"now": NOW + 3600}
    scripted.states = [state(status="running", lastElapsedTimeCalculatedAt=NOW)]
    page = visit("?timer=kitchen", init_script=RECORD_TEXTS, hand_turned=True)
    expect(digits(page)).not_to_be_empty()
    let_pass(page, 4)

    shown = list(dict.fromkeys(page.evaluate("seen")))
    right = ["5:00"] + [f"4:{second}" for second in range(59, 29, -1)]
    assert len(shown) >= 4 and shown == right[right.index(shown[0]):][:len(shown)]


def test_an_end_that_is_days_away_has_a_date(visit, scripted):
    scripted.states = [state(status="running", duration=3 * 86400), state(timer="soon", status="running", duration=82800)]
    page = visit()

    expect(page.locator("article", has=digits(page)).locator(".note")).to_have_text(re.compile(r"^ends at \w+, Dec \d, "))
    expect(page.locator("article", has=digits(page, "soon")).locator(".note")).to_have_text(re.compile(r"^ends at \d+:\d\d "))
