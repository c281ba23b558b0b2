"""A display against a scripted server: what the display shows, and the options that its address may have."""

import io
import itertools
import re
import struct
import zlib

import pytest
from playwright.sync_api import expect

from scripted_server import NOW, ScriptedServer, digits, hold, let_pass, server_now, state, wait_until

RUNNING = {"status": "running", "lastElapsedTimeCalculatedAt": NOW}


def pixels(png):
    """Width, height and a function that gives the RGBA of a pixel of a screenshot."""
    at, header, packed = 8, None, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        header = body if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour = struct.unpack(">IIBB", header[:10])
    assert depth == 8 and colour in (2, 6)
    size = 3 if colour == 2 else 4
    rows, source, before = [], io.BytesIO(zlib.decompress(packed)), bytes(width * size)
    for _ in range(height):
        before = unfiltered(source.read(1)[0], source.read(width * size), before, size)
        rows.append(before)
    return width, height, lambda x, y: tuple(rows[y][x * size:x * size + size]) + (() if size == 4 else (255,))


def unfiltered(kind, line, above, size):
    if kind == 2 and not any(line):
        return above  # most lines of a plain picture
    line = bytearray(line)
    for index in range(len(line)):
        left = line[index - size] if index >= size else 0
        up = above[index]
        corner = above[index - size] if index >= size else 0
        guess = left + up - corner
        near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
        line[index] = (line[index] + (0, left, up, (left + up) // 2, near)[kind]) & 255
    return bytes(line)


def move(page):
    page.mouse.move(5, 105)
    page.mouse.move(15, 115)


def show(scripted, visit, query="", init_script=None, hand_turned=False, **fields):
    scripted.states = [state(**{**RUNNING, **fields})]
    page = visit("?timer=kitchen" + query, init_script=init_script, hand_turned=hand_turned)
    expect(digits(page)).not_to_be_empty()
    return page


@pytest.mark.parametrize("part", ["announcements", "tab-icon"])
def test_a_part_that_failed_to_load_is_tried_again_with_the_connection(new_page, scripted, web_files, part):
    scripted.states = [state(**RUNNING)]
    page = new_page(is_alone=True)
    tries = []

    def load(route):
        tries.append(route.request.url)
        return route.abort() if len(tries) == 1 else route.continue_()

    page.route(f"**/display/{part}.js*", load)
    page.route_web_socket("**/ws", lambda socket: scripted.accept(socket))
    page.goto(web_files + "/?timer=kitchen")
    wait_until(page, lambda: len(tries) == 1)
    wait_until(page, lambda: page.evaluate("document.dispatchEvent(new Event('resume'))") and len(tries) == 2)


@pytest.mark.parametrize("elapsed, level", [(0, "calm"), (240, "warning"), (291, "urgent"), (301, "overtime")])
def test_colours_tell_how_far_it_is(visit, scripted, elapsed, level):
    page = show(scripted, visit, warnings=[60, 10], elapsedTime=elapsed, status="paused")

    expect(page.locator("article")).to_have_attribute("data-level", level)
    colours = {"calm": "--muted", "warning": "--warning", "urgent": "--urgent"}
    if level in colours:
        named = page.evaluate(
            "(name) => getComputedStyle(document.documentElement).getPropertyValue(name)", colours[level]
        )
        assert colour_of(page, ".digits") == rgb(named)


def rgb(hexadecimal):
    value = hexadecimal.strip().lstrip("#")
    return f"rgb({int(value[:2], 16)}, {int(value[2:4], 16)}, {int(value[4:], 16)})"


def colour_of(page, selector):
    return page.locator(selector).evaluate("(element) => getComputedStyle(element).color")


def test_digits_never_jump_in_width(visit, scripted):
    page = show(scripted, visit, duration=700, status="paused")

    revisions = itertools.count(10)

    def measure(seconds):
        scripted.snapshot(state(revision=next(revisions), duration=700, elapsedTime=700 - seconds))
        minutes = seconds // 60
        expect(digits(page)).to_have_text(f"{minutes}:{seconds % 60:02}")
        box = digits(page).bounding_box()
        return round(box["width"], 1), digits(page).evaluate("(element) => element.style.fontSize")

    assert len({measure(seconds) for seconds in (611, 634, 677)}) == 1
    assert len({measure(seconds) for seconds in (111, 234, 577)}) == 1
    assert measure(600)[1] == measure(599)[1], "the digits grew from 10:00 to 9:59"


@pytest.mark.parametrize("font", ["DejaVu Serif", "Liberation Serif", "serif"])
def test_digits_of_another_font_stand_as_still(visit, scripted, font):
    page = show(scripted, visit, "&font=" + font.replace(" ", "+"), status="paused")

    revisions = itertools.count(10)

    def width(seconds):
        scripted.snapshot(state(revision=next(revisions), elapsedTime=300 - seconds))
        expect(digits(page)).to_have_text(f"{seconds // 60}:{seconds % 60:02}")
        return round(digits(page).bounding_box()["width"], 1)

    assert len({width(seconds) for seconds in (71, 117, 231, 288)}) == 1
    assert font in family(page)


def test_progress_is_a_bar_with_its_warnings_marked(visit, scripted):
    page = show(scripted, visit, elapsedTime=75, warnings=[60, 10], status="paused")

    bar = page.locator(".progress").bounding_box()
    done = page.locator(".progress div").bounding_box()
    assert done["width"] == pytest.approx(0.75 * bar["width"], rel=0.02)
    marks = [mark.bounding_box()["x"] - bar["x"] for mark in page.locator(".progress i").all()]
    assert marks == pytest.approx([bar["width"] * 60 / 300, bar["width"] * 10 / 300], abs=2)


def test_progress_may_be_a_ring(visit, scripted):
    page = show(scripted, visit, "&progress=ring", elapsedTime=75, status="paused")

    expect(page.locator(".ring")).to_be_visible()
    expect(page.locator(".progress")).to_be_hidden()
    expect(page.locator(".ring .left")).to_have_attribute("style", re.compile("stroke-dashoffset: 25"))
    ring, text = page.locator(".ring").bounding_box(), digits(page).bounding_box()
    assert text["width"] < min(ring["width"], ring["height"])


@pytest.mark.parametrize("query, is_bar", [("none", False), ("dragon", True), ("", True), ("bar", True)])
def test_progress_may_be_left_out_and_nonsense_is_a_bar(visit, scripted, query, is_bar):
    page = show(scripted, visit, "&progress=" + query)

    expect(page.locator(".progress")).to_be_visible(visible=is_bar)
    expect(page.locator(".ring")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_transparent_background_is_transparent(visit, scripted, scheme):
    page = show(scripted, visit, "&background=transparent", status="paused")
    page.emulate_media(color_scheme=scheme)

    width, height = page.viewport_size["width"], page.viewport_size["height"]

    def row(y):
        _, _, pixel = pixels(page.screenshot(omit_background=True, clip={"x": 0, "y": y, "width": width, "height": 1}))
        return [pixel(x, 0)[3] for x in range(width)]

    assert {row(y)[x] for y in (1, height - 2) for x in (1, width - 2)} == {0}
    assert 255 in row(height // 2), "the digits are transparent, too"


@pytest.mark.parametrize(
    "asked, shown", [("ff0000", (255, 0, 0)), ("navy", (0, 0, 128)), ("rgb(0+128+0)", (0, 128, 0))]
)
def test_the_background_may_have_a_colour(visit, scripted, asked, shown):
    page = show(scripted, visit, "&background=" + asked, status="paused")

    assert corner(page) == shown


def corner(page):
    """The colour of the background, as the browser paints it."""
    return pixels(page.screenshot(clip={"x": 1, "y": 1, "width": 1, "height": 1}))[2](0, 0)[:3]


@pytest.fixture(scope="module")
def plain(browser, web_files):
    """The look of a display whose address has no options."""
    scripted = ScriptedServer()
    scripted.states = [state()]
    page = browser.new_page()
    page.route_web_socket("**/ws", lambda socket: scripted.accept(socket))
    page.goto(web_files + "/?timer=kitchen")
    expect(digits(page)).not_to_be_empty()
    yield {
        "colours": [colour_of(page, ".digits"), colour_of(page, "h1")],
        "ground": corner(page),
        "family": family(page),
    }
    page.close()


def family(page):
    return digits(page).evaluate("(element) => getComputedStyle(element).fontFamily")


@pytest.mark.parametrize(
    "asked", ["url(//evil.example/x)", "var(--accent)", "red;position:fixed", "}", "x" * 100, "inherit"]
)
def test_what_is_no_colour_is_left_out(visit, scripted, plain, asked):
    page = show(scripted, visit, "&background=" + asked + "&color=" + asked, status="paused")

    assert [colour_of(page, ".digits"), colour_of(page, "h1")] == plain["colours"]
    assert corner(page) == plain["ground"]


@pytest.mark.parametrize("asked", ['a";color:red', "a,b", "url(x)", "x" * 100, "a{}"])
def test_what_is_no_font_is_left_out(visit, scripted, plain, asked):
    page = show(scripted, visit, "&font=" + asked, status="paused")

    assert family(page) == plain["family"]


def test_digits_may_have_a_colour(visit, scripted):
    page = show(scripted, visit, "&color=0f0")

    assert colour_of(page, ".digits") == colour_of(page, "h1") == "rgb(0, 255, 0)"


def test_it_may_be_mirrored(visit, scripted):
    page = show(scripted, visit, "&mirror=1", status="paused", title="Speech")

    assert page.locator("#grid").evaluate("(element) => new DOMMatrix(getComputedStyle(element).transform).a") == -1
    title = page.locator("h1").bounding_box()
    assert title["x"] + title["width"] > 0.9 * page.viewport_size["width"]


def test_the_time_of_day_is_the_servers_in_the_zone_of_this_place(browser, scripted, web_files):
    context = browser.new_context(timezone_id="Asia/Kathmandu", locale="en-GB")
    page = context.new_page()
    page.route_web_socket("**/ws", lambda socket: scripted.accept(socket))
    page.goto(web_files + "/?timer=kitchen&clock=1&lang=en")

    # NOW is 05:20:00.25 in Greenwich, and Nepal is 5 h 45 min ahead.
    expect(page.locator("#clock")).to_have_text(re.compile(r"^11:05:0\d( AM)?$"))
    context.close()


def test_several_timers_stand_side_by_side(visit, scripted):
    scripted.states = [state(timer=name, **RUNNING) for name in ("a", "b", "c")]

    page = visit("?timer=a&timer=b&timer=c&timer=a")

    boxes = []
    for name in ("a", "b", "c"):
        expect(digits(page, name)).to_have_text(re.compile("^(5:00|4:..)$"))
        boxes.append(page.locator("article", has=digits(page, name)).bounding_box())
    assert page.locator("article").count() == 3
    for index, one in enumerate(boxes):
        for other in boxes[index + 1:]:
            assert one["x"] + one["width"] <= other["x"] + 1 or one["y"] + one["height"] <= other["y"] + 1
    assert scripted.sent("subscribe")[0]["timers"] == ["a", "b", "c"]


def test_the_digits_of_several_timers_are_of_one_size(visit, scripted):
    scripted.states = [state(timer="a", duration=36000, time=36000), state(timer="b", elapsedTime=295)]
    page = visit("?timer=a&timer=b&timer=nobody")
    expect(digits(page, "a")).to_have_text("10:00:00")

    def sizes():
        return {
            float(digits(page, name).evaluate("(element) => element.style.fontSize.replace('px', '')")) for name in "ab"
        }

    (together,) = sizes()
    assert digits(page, "a").bounding_box()["width"] > 0.9 * page.locator(".center").first.bounding_box()["width"]

    scripted.snapshot(state(timer="a", revision=6, elapsedTime=295))
    expect(digits(page, "a")).to_have_text("0:05")
    (larger,) = sizes()
    assert larger > together

    page.set_viewport_size({"width": 390, "height": 844})
    wait_until(page, lambda: sizes() != {larger})
    assert len(sizes()) == 1


# — a line to the speaker —


def test_a_message_is_shown_at_once_and_goes(visit, scripted):
    page = show(scripted, visit)
    expect(page.locator(".speaker-message")).to_be_hidden()

    scripted.snapshot(state(**RUNNING, revision=6, message={"text": "Wrap up\n<b>now</b>", "sentAt": NOW}))
    expect(page.locator(".speaker-message")).to_have_text("Wrap up\n<b>now</b>")
    expect(digits(page)).to_be_visible()
    scripted.snapshot(state(**RUNNING, revision=7))

    expect(page.locator(".speaker-message")).to_be_hidden()


@pytest.mark.parametrize("size", [(320, 568), (390, 844), (1440, 900)])
def test_a_long_message_fits_beside_the_digits(visit, scripted, size):
    page = show(scripted, visit, message={"text": "The bus leaves from the other door. " * 13, "sentAt": NOW})
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.wait_for_timeout(200)

    line, time = page.locator(".speaker-message"), digits(page).bounding_box()
    assert line.evaluate("(element) => element.scrollHeight <= element.clientHeight + 1"), "some of it is cut off"
    assert time["y"] >= 0 and time["y"] + time["height"] <= line.bounding_box()["y"] + 1
    assert line.bounding_box()["y"] + line.bounding_box()["height"] <= size[1]


def test_a_flash_lasts_three_seconds_from_its_sending(visit, scripted):
    page = show(scripted, visit, hand_turned=True)
    hold(page)

    scripted.snapshot(state(**RUNNING, revision=6, signal={"kind": "flash", "sentAt": server_now(page) - 1.5}))

    article = page.locator("article")
    expect(article).to_have_attribute("data-signal", "flash")
    assert article.evaluate("(element) => getComputedStyle(element).animationName") == "flash"
    let_pass(page, 1.49)
    assert article.get_attribute("data-signal") == "flash"
    let_pass(page, 0.02)
    assert article.get_attribute("data-signal") == "none"


def test_an_old_flash_does_not_flash_again(visit, scripted):
    page = show(scripted, visit, signal={"kind": "flash", "sentAt": NOW - 10})

    expect(page.locator("article")).to_have_attribute("data-signal", "none")


def test_no_flash_with_reduced_motion(visit, scripted):
    page = show(scripted, visit, hand_turned=True)
    page.emulate_media(reduced_motion="reduce")
    hold(page)

    scripted.snapshot(state(**RUNNING, revision=6, signal={"kind": "flash", "sentAt": server_now(page)}))

    expect(page.locator("article")).to_have_attribute("data-signal", "flash")
    assert page.locator("article").evaluate("(element) => getComputedStyle(element).animationName") == "none"


def test_a_blackout_is_black_until_it_is_lifted(visit, scripted):
    page = show(
        scripted, visit, signal={"kind": "blackout", "sentAt": NOW - 100}, message={"text": "Soon", "sentAt": NOW}
    )

    expect(page.locator("article")).to_have_attribute("data-signal", "blackout")
    expect(digits(page)).to_be_hidden()
    width, height, pixel = pixels(page.screenshot())
    assert {pixel(x, y)[:3] for x in range(0, width, 40) for y in range(0, height, 40)} == {(0, 0, 0)}

    scripted.snapshot(state(**RUNNING, revision=6))

    expect(digits(page)).to_be_visible()


# — hidden controls —


def opacity(page, selector):
    return float(page.locator(selector).evaluate("(element) => getComputedStyle(element).opacity"))


@pytest.mark.parametrize("how", ["movement", "touch", "key"])
def test_controls_appear_and_go_again(visit, scripted, how):
    page = show(scripted, visit, hand_turned=True)
    hold(page)
    assert page.get_by_role("button", name="Pause").count() == 0

    if how == "movement":
        move(page)
    elif how == "touch":
        page.dispatch_event("main", "touchstart")
    else:
        page.keyboard.press("Shift")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    wait_until(page, lambda: opacity(page, "footer") == 1)

    let_pass(page, 3)
    assert opacity(page, "footer") == 1, "gone before one could press"
    let_pass(page, 5)
    wait_until(page, lambda: opacity(page, "footer") == 0)


def test_an_unseen_button_cannot_be_hit(visit, scripted):
    page = show(scripted, visit, hand_turned=True)
    hold(page)
    move(page)
    button = page.get_by_role("button", name="Pause").bounding_box()
    let_pass(page, 8)
    wait_until(page, lambda: opacity(page, "footer") == 0)

    where = [button["x"] + button["width"] / 2, button["y"] + button["height"] / 2]
    assert page.evaluate("([x, y]) => document.elementFromPoint(x, y).closest('button')", where) is None


def test_by_keyboard_the_controls_are_reached_and_stay(visit, scripted):
    page = show(scripted, visit, hand_turned=True)
    hold(page)
    page.keyboard.press("Tab")

    expect(page.get_by_role("button", name="Pause")).to_be_focused()
    page.keyboard.press("Enter")
    wait_until(page, lambda: scripted.sent("pause"))
    let_pass(page, 20)
    page.wait_for_timeout(300)

    assert opacity(page, "footer") == 1, "gone while the keyboard is on them"


def test_a_timer_of_several_is_paused_alone(visit, scripted):
    scripted.states = [state(timer="a", **RUNNING), state(timer="b", **RUNNING)]
    page = visit("?timer=a&timer=b")
    expect(digits(page, "b")).not_to_be_empty()

    move(page)
    page.locator("article", has=digits(page, "b")).get_by_role("button", name="Pause").click()

    wait_until(page, lambda: scripted.sent("pause"))
    assert [request["timer"] for request in scripted.sent("pause")] == ["b"]


def test_how_well_the_clocks_agree_can_be_seen(visit, scripted):
    page = show(scripted, visit, "&sync=1")

    expect(page.locator("#sync")).to_have_text(re.compile(r"^± \d+ ms, synced \d+ s ago$"))
    wait_until(page, lambda: opacity(page, "#tools") == 1)


# — the tab —


def test_the_icon_counts(visit, scripted):
    page = show(scripted, visit, duration=62)
    icon = page.locator("link[rel=icon]")
    expect(icon).to_have_attribute("href", re.compile("^data:image/png"))
    first = icon.get_attribute("href")

    expect(page).to_have_title(re.compile("^0:5[0-5] · kitchen$"))  # the icon comes a few seconds after the rest

    assert icon.get_attribute("href") != first


# — announcements for screen readers —


HEAR = """
window.heard = [];
document.addEventListener('DOMContentLoaded', () => {
    new MutationObserver(() => heard.push(document.getElementById('announcer').textContent))
        .observe(document.getElementById('announcer'), {childList: true, characterData: true, subtree: true});
});
"""


@pytest.fixture
def heard(visit, scripted):
    """The announcements within `seconds` of a countdown that has been running for a while."""
    def open(seconds, **fields):
        page = show(scripted, visit, init_script=HEAR, hand_turned=True, status="paused")
        hold(page)
        page.evaluate("import('/display/announcements.js').then(() => {})")  # the page loads this after the rest
        page.evaluate("heard.length = 0")
        scripted.snapshot(state(status="running", revision=6, lastElapsedTimeCalculatedAt=server_now(page), **fields))
        expect(page.locator("article")).to_have_attribute("data-status", "running")
        let_pass(page, seconds)
        return page

    def heard(seconds, **fields):
        return open(seconds, **fields).evaluate("heard")

    heard.open = open
    return heard


def test_it_speaks_at_ten_seconds_and_zero_and_never_each_second(heard):
    assert heard(15, duration=300, elapsedTime=288.5, title="Pasta") == ["Pasta: 10 seconds left", "Pasta: time is up"]


@pytest.fixture
def set_clock(scripted):
    """Lets the page learn that the server's clock is `ahead` of the page's estimate."""
    def set_clock(page, ahead):
        def sync(request):
            instant = NOW + request["clientTime"] + ahead
            scripted.reply(request, clientTime=request["clientTime"], receivedAt=instant, sentAt=instant)

        before = page.evaluate("timersync.target")
        scripted.answers["sync"] = sync
        page.evaluate("document.dispatchEvent(new Event('resume'))")
        wait_until(page, lambda: abs(page.evaluate("timersync.target") - before) > abs(ahead) / 2)

    return set_clock


def test_a_clock_that_is_set_back_says_nothing_twice(heard, set_clock):
    page = heard.open(2, duration=300, elapsedTime=288.1)

    set_clock(page, -0.2)
    let_pass(page, 3)

    assert page.evaluate("heard") == ["kitchen: 10 seconds left"]


def test_a_clock_that_is_set_beyond_a_moment_says_it(heard, set_clock):
    page = heard.open(2, duration=300, elapsedTime=287.9)
    assert page.evaluate("heard") == []

    set_clock(page, 0.2)

    assert page.evaluate("heard") == ["kitchen: 10 seconds left"]


def test_the_digits_themselves_are_not_read_out(visit, scripted):
    page = show(scripted, visit)

    assert page.locator("[role=timer]").get_attribute("aria-live") in (None, "off")


@pytest.mark.parametrize("left, words", [(300, "5 minutes left"), (60, "1 minute left")])
def test_it_speaks_at_five_minutes_and_at_one(heard, left, words):
    assert heard(10, duration=400, elapsedTime=400 - left - 1.5) == ["kitchen: " + words]


def test_a_countdown_of_a_minute_does_not_begin_with_one_minute_left(heard):
    assert heard(5, duration=60) == []
