"""More timers than one message of 64 KiB holds: this page asks for parts, and an older page gets one long message."""

import json

from playwright.sync_api import expect

from scripted_server import wait_until

COUNT = 500

# The name of each card, and the text of its digits.
SHOWN = """() => Array.from(document.querySelectorAll('#timers > li')).map((card) => [
    card.getAttribute('data-name'), card.querySelector('[data-timer]').textContent])"""


def start_many(script, count=COUNT):
    """Starts many countdowns with long titles at once."""
    for number in range(count):
        script.socket.send(json.dumps({
            "command": "start", "timer": f"timer {number:03}", "duration": 3000 + number, "title": "long " * 40}))
    assert len(script.ask("list")["timers"]) == count


def seconds(text):
    whole = 0
    for part in text.split(":"):
        whole = 60 * whole + int(part)
    return whole


def check_all_are_shown(page, script, count=COUNT):
    expect(page.locator("#timers > li")).to_have_count(count)
    wait_until(page, lambda: all(text for _, text in page.evaluate(SHOWN)))
    # The page was painted between these two lists.
    before = {state["timer"]: state["time"] for state in script.ask("list")["timers"]}
    shown = dict(page.evaluate(SHOWN))
    after = {state["timer"]: state["time"] for state in script.ask("list")["timers"]}
    assert set(shown) == set(before)
    wrong = {name: text for name, text in shown.items() if not after[name] - 2 < seconds(text) < before[name] + 2}
    assert wrong == {}


def test_all_timers_are_there_and_stay(server, script, open_page):
    start_many(script)
    page = open_page("about:blank", is_alone=True)
    frames = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    page.goto(server.page())

    check_all_are_shown(page, script)

    assert [frame for frame in frames if '"part":2' in frame]
    assert max(map(len, frames)) <= 60_000
    script.do("remove", timer="timer 007")
    expect(page.locator("#timers > li")).to_have_count(COUNT - 1)


def test_none_is_missing_while_the_parts_of_a_later_set_come(server, script, open_page):
    start_many(script)
    page = open_page(server.page(), is_alone=True)
    expect(page.locator("#timers > li")).to_have_count(COUNT)
    page.evaluate("""() => {
        window.fewest = Infinity;
        new MutationObserver(() => {
            fewest = Math.min(fewest, document.querySelectorAll('#timers > li').length);
        }).observe(document.querySelector('#timers'), {childList: true});
    }""")

    server.kill()
    server.start()
    again = server.connect()
    for number in range(3):
        again.do("remove", timer=f"timer {number:03}")

    expect(page.locator("#timers > li")).to_have_count(COUNT - 3)
    check_all_are_shown(page, again, COUNT - 3)
    assert page.evaluate("fewest") == COUNT - 3
    again.close()


def test_the_page_of_before_forgets_none_and_shows_them_right(server, page_of_before, open_page):
    server.stop()
    server.options = ["--web", str(page_of_before)]
    server.start()
    script = server.connect()
    start_many(script)

    page = open_page(server.page(), is_alone=True)

    check_all_are_shown(page, script)
    page.wait_for_timeout(1500)
    check_all_are_shown(page, script)
    script.close()
