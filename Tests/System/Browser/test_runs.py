"""A press changes the run that the person saw, whatever happens before the press arrives."""

import pytest
from playwright.sync_api import expect

from person import card, choose, make, press, toast
from scripted_server import NOW, digits, state, wait_until

HELLO = {"history": "one", "revision": 5}
QUICK = "Math.random = () => 0.01;"  # the page reconnects after the shortest of its random delays


def run_of(number, **fields):
    """A state of the run that began at revision `number`."""
    return state(**{"status": "running", "run": number, **fields})


@pytest.fixture
def runs(scripted):
    """A server that sends runs: `kitchen` is in run 3."""
    scripted.hello = dict(HELLO)
    scripted.states = [run_of(3)]
    return scripted


def seen_by(runs, command):
    return [request.get("ifRun") for request in runs.sent(command)]


def test_each_press_about_a_run_names_it_and_what_is_about_the_timer_does_not(visit, runs):
    runs.states = [run_of(3), state(timer="fan", run=4, type="stopwatch", duration=None, status="running", laps=[5]),
                   state(timer="oven", run=None, status="idle")]
    page = visit()
    expect(digits(page, "oven")).to_be_visible()

    press(page, "kitchen", "Pause")
    press(page, "kitchen", "+1 min")
    press(page, "fan", "Lap")
    page.keyboard.press("+")
    press(page, "oven", "Start")
    make(page, "kitchen", "5m")
    page.get_by_label("Name").fill("new")
    page.get_by_role("button", name="Stopwatch").click()
    for command, name in (("finish", "Finish"), ("reset", "Reset"), ("remove", "Remove")):
        choose(page, "fan", name)
        page.get_by_role("dialog").get_by_role("button", name=name, exact=True).click()
        wait_until(page, lambda: runs.sent(command))
    choose(page, "kitchen", "Message, flash, blackout")
    page.get_by_role("dialog").get_by_role("button", name="Wrap up").click()
    page.get_by_role("dialog").get_by_role("button", name="Flash").click()
    page.keyboard.press("Escape")
    choose(page, "kitchen", "Edit settings")
    page.get_by_role("dialog").get_by_label("Title").fill("Pasta")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    wait_until(page, lambda: runs.sent("update"))

    assert {command: seen_by(runs, command) for command in
            ("pause", "addRemainingTime", "addElapsedTime", "lap", "start", "finish", "reset", "remove")} == {
        "pause": [3], "addRemainingTime": [3], "addElapsedTime": [4], "lap": [4], "start": [0, 3, 0], "finish": [4],
        "reset": [4], "remove": [4]}
    assert all("ifRun" not in request for command in ("message", "signal", "update", "sync", "subscribe")
               for request in runs.sent(command))


@pytest.mark.parametrize("query", ["?timer=kitchen", "?timer=kitchen&control"])
def test_a_tick_that_leaves_the_run_out_keeps_it(visit, runs, query):
    page = visit(query)
    wait_until(page, lambda: runs.sent("subscribe"))
    page.mouse.move(5, 105)
    page.mouse.move(15, 115)
    tick = run_of(3, elapsedTime=1, lastElapsedTimeCalculatedAt=NOW + 1)
    del tick["run"]

    runs.snapshot(tick, "tick")
    page.locator("footer .primary, .pad .main").click()
    wait_until(page, lambda: runs.sent("pause"))

    assert seen_by(runs, "pause") == [3]


def test_a_press_that_is_sent_again_is_still_about_the_run_that_was_seen(visit, runs, never):
    page = visit(init_script=QUICK)
    expect(digits(page)).to_be_visible()
    never("pause")

    press(page, "kitchen", "Pause")
    wait_until(page, lambda: runs.sent("pause"))
    runs.states = [run_of(9, revision=9)]  # the states that the next connection sends
    runs.connections[-1].close(code=1001)
    wait_until(page, lambda: len(runs.sent("pause")) == 2)
    refused = runs.sent("pause")[-1]
    runs.refuse(refused, "outOfRange", "at is out of range", timer=run_of(11, revision=11))
    wait_until(page, lambda: len(runs.sent("pause")) == 3)

    assert seen_by(runs, "pause") == [3, 3, 3]
    assert "at" in refused and "at" not in runs.sent("pause")[-1]


def test_a_press_is_not_sent_again_to_a_server_with_another_history(visit, runs, never):
    # The runs of another history are different ones, even with the same number.
    page = visit(init_script=QUICK)
    expect(digits(page)).to_be_visible()
    never("pause")

    press(page, "kitchen", "Pause")
    wait_until(page, lambda: runs.sent("pause"))
    runs.hello["history"] = "two"
    runs.connections[-1].close(code=1001)

    expect(card(page, "kitchen").locator(".message")).to_contain_text("may or may not have been applied")
    assert len(runs.sent("pause")) == 1


def test_a_finish_that_is_held_is_about_what_was_seen_when_the_finger_came_down(visit, runs):
    page = visit("?timer=kitchen&control")
    finish = page.locator(".finish")
    expect(finish).to_have_attribute("aria-disabled", "false")

    finish.hover()
    page.mouse.down()
    runs.snapshot(run_of(9, revision=9, title="Next"), "started")
    expect(page.locator("h1")).to_have_text("Next")
    wait_until(page, lambda: runs.sent("finish"))
    page.mouse.up()

    assert seen_by(runs, "finish") == [3]


def test_a_question_is_about_the_run_that_stood_there_when_it_was_asked(visit, runs):
    page = visit()
    choose(page, "kitchen", "Finish")
    runs.snapshot(run_of(9, revision=9, title="Next"), "started")
    expect(card(page, "kitchen").locator("h2")).to_have_text("Next")

    runs.answers["finish"] = lambda request: runs.refuse(
        request, "runMismatch", "another run", timer=run_of(9, revision=9)
    )
    page.get_by_role("dialog").get_by_role("button", name="Finish", exact=True).click()

    expect(page.get_by_role("dialog").locator(".message")).to_have_text(
        "Someone else restarted Next in the meantime. Nothing was changed.")
    assert seen_by(runs, "finish") == [3]


@pytest.mark.parametrize("query, words", [
    ("?", "Someone else restarted Tea in the meantime. Nothing was changed."),
    ("?timer=kitchen&control&lang=de", "Jemand anders hat Tea inzwischen neu gestartet. Nichts wurde geändert."),
    ("?timer=kitchen&lang=fr", "Quelqu’un d’autre a redémarré Tea entre-temps. Rien n’a été modifié."),
])
def test_another_run_is_told_in_plain_words_and_never_pressed_again(visit, runs, query, words):
    runs.states = [run_of(3, title="Tea")]
    runs.answers["pause"] = lambda request: runs.refuse(
        request, "runMismatch", "The run is 9.", timer=run_of(9, revision=9, title="Tea")
    )
    page = visit(query)
    wait_until(page, lambda: runs.sent("subscribe"))
    page.mouse.move(5, 105)
    page.mouse.move(15, 115)

    page.locator("article .main, footer .primary, .pad .main").click()
    expect(page.locator(".message", has_text=words)).to_be_visible()

    assert seen_by(runs, "pause") == [3]


def test_a_timer_that_was_reset_meanwhile_was_not_started_again(visit, runs):
    idle = state(status="idle", run=None, revision=9)
    runs.answers["pause"] = lambda request: runs.refuse(request, "runMismatch", "There is no run.", timer=idle)
    page = visit()

    press(page, "kitchen", "Pause")

    expect(card(page, "kitchen").locator(".message")).to_have_text(
        "kitchen was reset or removed in the meantime. Nothing was changed."
    )


def test_what_is_undone_is_of_the_run_in_which_it_was_done(visit, runs):
    page = visit()
    expect(digits(page)).to_be_visible()
    runs.states = [run_of(3, revision=6, status="paused")]
    press(page, "kitchen", "Pause")
    expect(toast(page)).to_have_text("Paused kitchen.")
    runs.snapshot(run_of(9, revision=9, title="Next"), "started")
    expect(card(page, "kitchen").locator("h2")).to_have_text("Next")
    runs.answers["resume"] = lambda request: runs.refuse(request, "runMismatch", "The run is 9.")

    page.keyboard.press("u")

    expect(toast(page)).to_have_text("kitchen has changed since then. Nothing was undone.")
    assert seen_by(runs, "resume") == [3]


def test_of_many_those_are_finished_that_were_seen(visit, runs):
    runs.states = [run_of(3), run_of(4, timer="oven")]
    page = visit()
    expect(digits(page, "oven")).to_be_visible()
    page.locator("#finish-many").click()
    runs.snapshot(run_of(9, timer="oven", revision=9, title="Next"), "started")
    expect(card(page, "oven").locator("h2")).to_have_text("Next")
    runs.answers["finish"] = lambda request: (
        runs.reply(request)
        if request["timer"] == "kitchen"
        else runs.refuse(
            request, "runMismatch", "The run is 9.", timer=run_of(9, timer="oven", revision=9, title="Next")
        )
    )

    page.get_by_role("dialog").get_by_role("button", name="Finish 2 timers").click()

    expect(toast(page)).to_have_text(
        "Finished 1 timer. This can't be undone. Someone else restarted oven in the meantime. Nothing was changed.")
    assert {request["timer"]: request["ifRun"] for request in runs.sent("finish")} == {"kitchen": 3, "oven": 4}
    assert runs.sent("finishAll") == []


def test_all_that_run_are_finished_in_one_step_whatever_run_it_is(visit, runs):
    runs.answers["finishAll"] = lambda request: runs.say(
        reply=request["id"], ok=True, timers=[run_of(3, status="finished")]
    )
    page = visit()
    press(page, "kitchen", "+1 min")
    page.locator("#finish-many").click()
    page.get_by_role("dialog").get_by_role("button", name="Finish 1 timer").click()
    wait_until(page, lambda: runs.sent("finishAll"))

    assert (seen_by(runs, "addRemainingTime"), seen_by(runs, "finishAll")) == ([3], [None])


def test_what_a_server_does_not_know_is_asked_of_it_once_it_is_a_newer_one(visit, runs):
    runs.hello = {}
    page = visit(init_script=QUICK)
    press(page, "kitchen", "+1 min")
    wait_until(page, lambda: runs.sent("addRemainingTime"))

    runs.hello = dict(HELLO)
    runs.connections[-1].close(code=1001)
    wait_until(page, lambda: len(runs.sent("subscribe")) == 2)
    press(page, "kitchen", "+1 min")
    wait_until(page, lambda: len(runs.sent("addRemainingTime")) == 2)

    assert seen_by(runs, "addRemainingTime") == [None, 3]
    assert all("since" not in request for request in runs.sent("subscribe"))
    assert [request.get("parts") for request in runs.sent("subscribe")] == [None, True]


def test_a_second_press_of_start_mentions_no_other_person(visit, runs):
    held = []
    runs.states = [run_of(3, status="finished")]
    runs.answers["start"] = held.append
    page = visit()
    for count in (1, 2):
        press(page, "kitchen", "Start again")
        wait_until(page, lambda: len(held) == count)

    runs.states = [run_of(9, revision=9)]
    runs.reply(held[0])
    runs.refuse(held[1], "runMismatch", "The run is 9.", timer=runs.states[0])

    expect(card(page, "kitchen").locator(".message")).to_have_text("This timer is already running or paused.")
    assert seen_by(runs, "start") == [3, 3]


# With the real server

# The way to the server may be shut: messages are then held back, or lost with the connection.
WAY = (
    QUICK
    + """
window.way = {isShut: false, held: [], sockets: []};
(() => {
    const Real = WebSocket;
    way.open = () => { way.isShut = false; way.held.splice(0).forEach((send) => send()); };
    way.lose = () => {
        way.held = [];
        way.sockets.forEach((socket) => socket.onclose && socket.onclose({code: 1006, reason: ''}));
    };
    window.WebSocket = function (url, protocols) {
        const socket = new Real(way.isShut ? 'ws://127.0.0.1:9/' : url, protocols);
        const send = socket.send.bind(socket);
        socket.send = (text) => way.isShut ? way.held.push(() => send(text)) : send(text);
        way.sockets.push(socket);
        return socket;
    };
})();
"""
)


@pytest.mark.parametrize("happening", ["way.open()", "way.lose(), setTimeout(way.open, 300)"], ids=["late", "lost"])
def test_a_press_that_arrives_after_the_next_run_has_begun_leaves_it_alone(server, script, open_page, happening):
    names = {"end": "Finish", "zero": "Reset", "gone": "Remove", "more": None}
    for name in names:
        script.do("start", timer=name, duration=300)
    page = open_page(server.page(), init_script=WAY, viewport={"width": 390, "height": 844})
    for name in names:
        expect(digits(page, name)).to_be_visible()
    wait_until(page, lambda: page.evaluate("Boolean(window.timersync) && timersync.isSynced"))

    page.evaluate("way.isShut = true")
    for name, label in names.items():
        if label is None:
            press(page, name, "+1 min")
        else:
            choose(page, name, label)
            page.get_by_role("dialog").get_by_role("button", name=label, exact=True).click()
            page.keyboard.press("Escape")
    for name in names:
        script.do("finish", timer=name)
        script.do("start", timer=name, duration=600, title="Next")
    page.evaluate(happening)

    expect(card(page, "more").locator(".message")).to_have_text(
        "Someone else restarted more in the meantime. Nothing was changed."
    )
    for name in names:
        state = script.do("get", timer=name)
        assert (state["status"], state["duration"], state["addedTime"]) == ("running", 600, 0), name
    # A press after the new run is shown changes that run.
    press(page, "more", "+1 min")
    expect(toast(page)).to_contain_text("Changed the time of Next.")
    assert script.do("get", timer="more")["addedTime"] == 60


SEEN = """
() => import('/client/runs.js').then(({RunHistory}) => {
    let now = 0;
    const listeners = {};
    const timers = new Map([['tea', {timer: 'tea', status: 'running', run: 3}]]);
    const session = {client: {timers}, clock: {monotonic: () => now}, state: (name) => timers.get(name),
                     on: (type, listener) => { listeners[type] = listener; }};
    const runs = new RunHistory(session);
    const tell = (at, name, state) => {
        now = at;
        state === undefined ? timers.delete(name) : timers.set(name, state);
        listeners[state === undefined ? 'removed' : 'timer']({timer: name, state: {timer: name}});
    };
    tell(1, 'tea', {status: 'paused', run: 3});
    tell(2, 'tea', {status: 'idle', run: null});
    tell(3, 'tea', {status: 'running', run: 9});
    tell(4, 'tea', undefined);
    tell(5, 'oven', {status: 'running', run: 12});
    return [0, 1.5, 2.5, 3.5, 4.5].map((at) => runs.at('tea', at))
        .concat([runs.at('oven', 4.5), runs.at('oven', 5), runs.at('egg', 5)]);
})
"""


def test_the_run_is_that_of_the_instant_of_the_press(open_page, web_files):
    assert open_page(web_files + "/favicon.svg").evaluate(SEEN) == [3, 3, 0, 9, 0, 0, 12, 0]
