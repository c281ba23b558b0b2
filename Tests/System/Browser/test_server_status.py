"""The server's status: a lost link, its wall clock, a disk that can't be written, and messages of unknown kinds."""

import pytest
from playwright.sync_api import expect

from person import card
from scripted_server import NOW, digits, hold, let_pass, state, wait_until
from test_runs import WAY

HELLO = {"history": "one", "revision": 7, "wallOffset": 0, "writable": True}
QUICK = "Math.random = () => 0.01;"  # the page reconnects after the shortest of its random delays
ANNOUNCED = QUICK + """
window.announced = [];
document.addEventListener('DOMContentLoaded', () => {
    new MutationObserver(() => { announced.push(document.getElementById('announcer').textContent); })
        .observe(document.getElementById('announcer'), {childList: true, characterData: true, subtree: true});
});
"""


@pytest.fixture
def server_of_now(scripted):
    scripted.hello = dict(HELLO)
    scripted.states = [state(status="running", run=3)]
    return scripted


def comes_back(page, server, code=1001, **hello):
    """Breaks the link, and waits until the page has subscribed on another one."""
    before = len(server.sent("subscribe"))
    server.hello.update(hello)
    server.connections[-1].close(code=code)
    wait_until(page, lambda: len(server.sent("subscribe")) > before)


def since(server):
    return [request.get("since") for request in server.sent("subscribe")]


# Missed messages


@pytest.mark.parametrize("query", ["", "?timer=kitchen"])
def test_what_was_missed_is_asked_for_from_where_the_link_was_lost(visit, server_of_now, query):
    page = visit(query, init_script=QUICK)
    expect(digits(page)).not_to_be_empty()
    server_of_now.snapshot(state(revision=12, run=3))
    expect(page.locator("article")).to_have_attribute("data-status", "paused")

    comes_back(page, server_of_now, revision=20)
    syncs = len(server_of_now.sent("sync"))
    wait_until(page, lambda: len(server_of_now.sent("sync")) > syncs + 1)
    comes_back(page, server_of_now, history="two", revision=6)
    comes_back(page, server_of_now, revision=8)

    assert since(server_of_now) == [None, "one:12", "one:20", "two:6"]


def test_a_link_that_breaks_before_all_that_was_missed_is_told_asks_from_the_same_place(visit, server_of_now):
    def break_off(request):
        server_of_now.reply(request)
        server_of_now.say(event="snapshot", cause="subscribed", timers=[state(revision=20, run=3)])
        del server_of_now.answers["subscribe"]
        server_of_now.connections[-1].close(code=1001)

    page = visit(init_script=QUICK)
    expect(digits(page)).to_be_visible()
    server_of_now.answers["subscribe"] = break_off
    comes_back(page, server_of_now, revision=20)
    wait_until(page, lambda: len(server_of_now.sent("subscribe")) == 3)

    assert since(server_of_now) == [None, "one:7", "one:7"]


def test_an_end_that_is_told_again_is_not_announced_again(visit, server_of_now):
    def end(timer, at, **fields):
        server_of_now.say(
            event="snapshot", cause="ended", endedAt=at, timers=[state(timer=timer, revision=9, run=3)], **fields
        )

    page = visit(init_script=ANNOUNCED)
    expect(digits(page)).to_be_visible()
    end("kitchen", NOW + 1)
    wait_until(page, lambda: "kitchen: time is up" in page.evaluate("announced"))

    comes_back(page, server_of_now)
    for timer, at in (("oven", NOW + 2), ("kitchen", NOW + 1), ("fan", NOW + 1)):
        end(timer, at, late=True)
    wait_until(page, lambda: "fan: time is up" in page.evaluate("announced"))

    told = page.evaluate("announced.filter((words) => /time is up/.test(words))")
    assert told == ["kitchen: time is up", "oven: time is up", "fan: time is up"]


def test_an_end_that_was_missed_is_announced_once_when_the_link_is_back(server, script, open_page):
    for name in ("tea", "eggs"):
        script.do("start", timer=name, duration=300)
    page = open_page(server.page(), init_script=WAY + ANNOUNCED)
    expect(digits(page, "eggs")).to_be_visible()

    for name in ("tea", "eggs"):
        page.evaluate("way.isShut = true; way.lose()")
        script.do("addRemainingTime", timer=name, seconds=-1000, clamp=True)
        wait_until(page, lambda: script.do("get", timer=name)["time"] <= 0)
        page.evaluate("way.open()")
        wait_until(page, lambda: f"{name}: time is up" in page.evaluate("announced"))

    assert page.evaluate("announced.filter((words) => /time is up/.test(words))") == [
        "tea: time is up",
        "eggs: time is up",
    ]


def test_a_server_that_goes_for_a_while_is_come_back_to_as_after_a_restart(visit, server_of_now):
    page = visit(init_script="Math.random = () => 0.99;", hand_turned=True)
    wait_until(page, lambda: server_of_now.sent("subscribe"))
    hold(page)

    server_of_now.connections[-1].close(code=1012)
    expect(page.locator("#connection")).to_be_visible()
    let_pass(page, 2)
    page.wait_for_timeout(100)
    assert len(server_of_now.connections) == 1
    let_pass(page, 1)

    wait_until(page, lambda: len(server_of_now.connections) == 2)


# Wall time


IN_KATHMANDU = {"timezone_id": "Asia/Kathmandu", "locale": "en-GB"}  # NOW is 11:05:00.25 in this time zone


@pytest.fixture
def visit_kathmandu(new_page, web_files, server_of_now):
    def visit(query):
        page = new_page(**IN_KATHMANDU)
        page.add_init_script(QUICK)
        page.route_web_socket("**/ws", lambda socket: server_of_now.accept(socket))
        page.goto(web_files + "/" + query)
        return page

    return visit


def test_the_time_of_day_is_the_servers_wall_time_and_follows_it_at_once(visit_kathmandu, server_of_now):
    server_of_now.hello["wallOffset"] = -3600
    server_of_now.states = [state()]
    page = visit_kathmandu("?timer=kitchen&clock=1&lang=en")
    expect(page.locator("#clock")).to_contain_text("10:05:")

    server_of_now.say(event="server", wallOffset=1800.5, writable=True)
    expect(page.locator("#clock")).to_contain_text("11:35:")
    expect(digits(page)).to_have_text("5:00")
    comes_back(page, server_of_now, wallOffset=60)

    expect(page.locator("#clock")).to_contain_text("11:06:")


@pytest.mark.parametrize(
    "query, note", [("?lang=en", "article .note"), ("?timer=kitchen&control&lang=en", ".face .note")]
)
def test_the_end_of_a_countdown_is_told_in_wall_time(visit_kathmandu, server_of_now, query, note):
    server_of_now.hello["wallOffset"] = 3600
    server_of_now.states = [state(status="running", duration=7200, run=3)]
    page = visit_kathmandu(query)
    expect(page.locator(note)).to_contain_text("ends at 14:05")

    server_of_now.say(event="server", wallOffset=-3600, writable=True)

    expect(page.locator(note)).to_contain_text("ends at 12:05")


def test_until_a_time_of_day_is_until_the_servers_wall_clock_shows_it(visit_kathmandu, server_of_now):
    server_of_now.hello["wallOffset"] = 3600
    page = visit_kathmandu("?lang=en")
    expect(digits(page)).to_be_visible()

    for offset in (3600, -1800):
        server_of_now.say(event="server", wallOffset=offset, writable=True)
        page.get_by_label("Duration").fill("until 12:35")
        before = len(server_of_now.sent("start"))
        page.keyboard.press("Enter")
        wait_until(page, lambda: len(server_of_now.sent("start")) > before)

    assert [(request["at"] + request["duration"] - NOW) for request in server_of_now.sent("start")] == pytest.approx(
        [1799.75, 7199.75], abs=1e-5)


# A disk that can't be written


CANNOT = {"writable": False, "reason": "the disk is full"}


@pytest.mark.parametrize("query, words", [
    ("?", "Changes can't be saved right now: the disk is full"),
    ("?lang=de", "Änderungen können zurzeit nicht gespeichert werden: the disk is full"),
    ("?timer=kitchen&control&lang=es", "Ahora mismo no se pueden guardar los cambios: the disk is full"),
    ("?timer=later&control&lang=fr",
     "Les modifications ne peuvent pas être enregistrées pour le moment : the disk is full"),
    ("?timer=kitchen&lang=ar", "لا يمكن حفظ التغييرات الآن: \u2068the disk is full\u2069"),
])
def test_controllers_see_that_nothing_can_be_saved_and_why_while_it_lasts(
    visit, server_of_now, query, words
):
    server_of_now.hello.update(CANNOT)
    page = visit(query, init_script=QUICK)
    wait_until(page, lambda: server_of_now.sent("subscribe"))
    page.mouse.move(5, 105)
    page.mouse.move(15, 115)
    bar = page.locator("#saving")
    expect(bar).to_be_visible()
    expect(bar).to_have_text(words)

    server_of_now.say(event="server", wallOffset=0, writable=True)
    expect(bar).to_be_hidden()
    server_of_now.say(event="server", wallOffset=0, writable=False)
    expect(bar).to_be_visible()
    del server_of_now.hello["writable"], server_of_now.hello["reason"]
    comes_back(page, server_of_now)  # an older server does not send `writable`

    expect(bar).to_be_hidden()


@pytest.mark.parametrize("query", ["", "?timer=kitchen"])
def test_viewers_do_not_see_storage_trouble(visit, server_of_now, query):
    server_of_now.hello.update(CANNOT, role="view")
    page = visit(query, init_script=QUICK)
    expect(digits(page)).not_to_be_empty()
    page.mouse.move(5, 105)
    page.mouse.move(15, 115)
    expect(page.locator("#tools, #view-only")).to_be_visible()
    expect(page.locator("#saving")).to_be_hidden()

    # After a reconnection with the role `control` the same status is shown.
    comes_back(page, server_of_now, role="control")
    page.mouse.move(5, 125)
    page.mouse.move(15, 135)
    expect(page.locator("#saving")).to_be_visible()


# Unknown messages


def test_what_is_unknown_is_passed_over(visit, server_of_now):
    held = []
    server_of_now.answers["pause"] = held.append
    page = visit(init_script=ANNOUNCED)
    card(page, "kitchen").get_by_role("button", name="Pause").click()
    wait_until(page, lambda: held)

    # An event is not a reply, even if it has the members of one.
    server_of_now.say(event="identify", reply=held[0]["id"], ok=False, error={"code": "odd", "message": "Odd."})
    server_of_now.say(event="shared", key="presets", value=[1])
    server_of_now.say(
        event="snapshot", cause="continued", part=2, timers=[state(revision=8, run=3, endsAt=NOW, novel={"a": 1})]
    )
    expect(card(page, "kitchen")).to_have_attribute("data-status", "paused")
    assert page.evaluate("announced.filter((words) => /kitchen/.test(words))") == []
    server_of_now.states = [state(revision=9, run=3)]
    server_of_now.reply(held[0], novel=True)

    expect(page.locator("#toast p")).to_have_text("Paused kitchen.")
    expect(card(page, "kitchen").locator(".message")).to_be_empty()
