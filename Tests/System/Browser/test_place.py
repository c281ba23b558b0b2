"""The dashboard keeps a person's place: a new timer in sight, the search, the scroll position, and Back."""

import pytest
from playwright.sync_api import expect

from person import card, digits, has_status
from scripted_server import state, wait_until

IN_SIGHT = """(name) => {
    const card = document.querySelector(`[data-name="${name}"]`);
    const box = card === null ? { top: -9 } : card.getBoundingClientRect();
    return box.top >= -1 && box.bottom <= innerHeight + 1;
}"""


@pytest.fixture
def many(server, script, open_page):
    for number in range(40):
        script.do("start", timer=f"station {number:02}", duration=3000)
    page = open_page(server.page(), is_alone=True)
    expect(page.locator("#timers > li")).to_have_count(40)
    return page


def start(page, name):
    page.locator("#name").fill(name)
    page.locator("#duration").fill("5m")
    page.locator("#new-timer [type=submit]").click()


def test_a_new_timer_is_in_sight_far_down_and_beside_a_search(many):
    start(many, "zebra")
    expect(digits(many, "zebra")).to_be_visible()
    wait_until(many, lambda: many.evaluate(IN_SIGHT, "zebra"))

    many.locator("#search").fill("station 07")
    expect(many.locator("#timers > li")).to_have_count(1)
    start(many, "yak")
    wait_until(many, lambda: many.evaluate(IN_SIGHT, "yak"))
    expect(many.locator("#timers > li")).to_have_count(2)
    many.locator("#search").fill("station 0")
    expect(many.locator("#timers > li")).to_have_count(13)


def test_the_search_and_the_place_are_there_again_after_back(many, server):
    many.locator("#search").fill("station")
    many.evaluate("scrollTo(0, 700)")
    wait_until(many, lambda: many.evaluate("history.state !== null && history.state.scrollY === 700"))
    many.locator("[data-name='station 20'] [data-command=more]").click()
    many.get_by_role("dialog").get_by_role("link", name="Open display").click()
    many.wait_for_url("**/?timer=*")

    many.go_back()

    expect(many.locator("#search")).to_have_value("station")
    expect(many.locator("#timers > li")).to_have_count(40)
    wait_until(many, lambda: many.evaluate("Math.round(scrollY)") > 500)
    expect(many.get_by_role("dialog")).to_have_count(0)


def test_an_answer_moves_nothing_under_a_finger(visit, scripted, never):
    request = never("start")
    scripted.states = [state(timer=f"station {number:02}") for number in range(40)]
    page = visit()
    expect(page.locator("#timers > li")).to_have_count(40)

    def press(preset, name):
        page.get_by_role("button", name=preset, exact=True).click()
        wait_until(page, lambda: scripted.sent("start") and request()["timer"] == name)
        scripted.states.append(state(timer=name, status="running"))
        scripted.snapshot(scripted.states[-1], cause="start")
        expect(page.locator("#timers > li")).to_have_count(len(scripted.states))
        return request()

    def answer(to):
        scripted.reply(to)
        expect(page.locator("#toast p")).to_have_text(f"Started {to['timer']}.")

    first, second = press("5 min", "Timer 1"), press("10 min", "Timer 2")
    answer(first)
    assert page.evaluate("scrollY") == 0
    answer(second)
    assert page.evaluate("scrollY") > 500

    page.evaluate("scrollTo(0, 0)")
    page.locator("#name").fill("alpha")
    page.locator("#duration").fill("5m")
    page.locator("#duration").press("Enter")
    wait_until(page, lambda: request()["timer"] == "alpha")
    held = page.locator("[data-name='station 00']")
    before = held.bounding_box()
    page.mouse.move(before["x"] + 20, before["y"] + 20)
    page.mouse.down()
    scripted.states.append(state(timer="alpha", status="running"))
    scripted.snapshot(scripted.states[-1], cause="start")
    answer(request())
    assert held.bounding_box() == before
    page.mouse.up()
    expect(page.locator("[data-name=alpha]")).to_be_visible()


def test_a_browser_that_refuses_to_keep_the_place_searches_all_the_same(server, script, open_page):
    for name in ("kitchen", "oven"):
        script.do("start", timer=name, duration=3000)
    page = open_page(server.page(), init_script="""
        window.tries = 0;
        history.replaceState = () => { tries += 1; throw new DOMException('too often', 'SecurityError'); };
    """)
    expect(page.locator("#timers > li")).to_have_count(2)

    page.locator("#search").press_sequentially("kitchen kitchen")
    expect(page.locator("#timers > li")).to_have_count(1)
    wait_until(page, lambda: page.evaluate("tries") > 0)
    assert page.evaluate("tries") < 8


@pytest.mark.parametrize("view", ["/", "/?timer=kitchen&control"])
def test_back_closes_a_dialog_and_leaves_the_page_where_it_is(server, script, open_page, view):
    script.do("start", timer="kitchen", duration=3000)
    page = open_page(server.url + "/healthz", is_alone=True)
    page.goto(server.url + view)
    expect(page.locator("[data-digits]")).not_to_be_empty()
    for how in ("Back", "Escape", "another"):
        page.locator("[data-command=more], .more").first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        if how == "another":
            page.get_by_role("dialog").get_by_role("button", name="Edit settings").click()
            expect(page.get_by_role("dialog").get_by_label("Title")).to_be_visible()
        if how == "Escape":
            page.keyboard.press("Escape")
        else:
            page.go_back()
        expect(page.get_by_role("dialog")).to_have_count(0)
        wait_until(page, lambda: page.evaluate("history.state === null || !history.state.isDialog"))
        assert page.url == server.url + view

    if view == "/":
        expect(card(page, "kitchen")).to_have_attribute("data-status", "running")
    page.go_back()
    assert page.url.endswith("/healthz")


# A browser goes back later, to the entry that was the one before when it was asked.
SLOW_BACK = """void (history.back = () => {
    const { length } = history;
    setTimeout(() => history.go(length - history.length - 1), 300);
})"""


def test_a_dialog_opened_right_after_another_stays(server, script, open_page):
    script.do("start", timer="kitchen", duration=3000)
    page = open_page(server.url + "/healthz", is_alone=True)
    page.goto(server.url + "/")
    has_status(page, "kitchen", "running")
    page.evaluate(SLOW_BACK)
    page.locator("[data-command=more]").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    page.keyboard.press("?")
    page.evaluate("new Promise((resolve) => addEventListener('popstate', () => setTimeout(resolve), { once: true }))")

    expect(page.get_by_role("dialog")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.url == server.url + "/"
