"""Text on a display can be read on every ground that its address asks for, and over every picture."""

import itertools

import pytest
from playwright.sync_api import expect

from inspection import complaints
from scripted_server import NOW, digits, state
from test_display import colour_of, corner, move, pixels

ENOUGH = 7
RUNNING = {"status": "running", "lastElapsedTimeCalculatedAt": NOW}
STATES = {
    "calm": RUNNING, "paused": {}, "warning": {**RUNNING, "elapsedTime": 50, "warnings": [290, 10]},
    "urgent": {**RUNNING, "elapsedTime": 50, "warnings": [290, 280]}, "overtime": {**RUNNING, "elapsedTime": 310},
}


def luminance(colour):
    parts = [value / 255 for value in colour]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    least, most = sorted([luminance(one), luminance(other)])
    return (most + 0.05) / (least + 0.05)


def channels(css):
    return [float(part) for part in css[css.index("(") + 1:-1].split(",")][:3]


def test_every_ground_has_ink_for_each_level(module_of):
    for ground in itertools.product((0, 64, 128, 192, 255), repeat=3):
        palette = module_of("display/contrast.js", "paletteOn", list(ground))
        possible = max(contrast(ground, (0, 0, 0)), contrast(ground, (255, 255, 255)))
        for name in ("ink", "muted", "accent", "warning", "urgent", "overtime"):
            assert contrast(palette[name], ground) >= min(ENOUGH, possible) - 1e-9, (ground, name)
        assert contrast(palette["on-accent"], palette["accent"]) >= 4.5
        assert contrast(palette["card-ink"], palette["card"]) >= min(ENOUGH, possible)


@pytest.fixture
def display_of(new_page, web_files, scripted):
    """Opens a display with a clock by its query, in a color scheme."""
    def display(query, scheme, shown):
        scripted.states = [shown]
        page = new_page()
        page.emulate_media(color_scheme=scheme)
        page.route_web_socket("**/ws", lambda socket: scripted.accept(socket))
        page.goto(web_files + "/?timer=kitchen&clock=1&" + query)
        expect(digits(page)).not_to_be_empty()
        expect(page.locator("#clock")).not_to_be_empty()
        return page

    return display


@pytest.mark.parametrize("query, scheme", [
    ("background=0a0a0a", "light"), ("background=ff8800", "dark"), ("color=ffffff", "light"),
    pytest.param("background=rgb(0+71+187)", "light", marks=pytest.mark.long),
])
def test_ink_follows_the_ground(display_of, scripted, query, scheme):
    page = display_of(query, scheme, state())
    for revision, (level, fields) in enumerate(STATES.items(), start=6):
        scripted.snapshot(state(revision=revision, **fields))
        expect(page.locator("article")).to_have_attribute("data-level", level.replace("paused", "calm"))
        expect(page.locator("article")).to_have_attribute("data-status", fields.get("status", "paused"))
        ground = channels(page.locator("article").evaluate("(element) => getComputedStyle(element).backgroundColor"))
        for part in (".digits", "h1"):
            assert contrast(channels(colour_of(page, part)), ground) >= ENOUGH - 0.05, (level, part)
    assert contrast(channels(colour_of(page, "#clock")), corner(page)) >= ENOUGH - 0.05


@pytest.mark.parametrize("color, scheme, other", [("ffffff", "dark", "light"), ("000000", "light", "dark")])
def test_a_color_stays_legible_when_the_scheme_changes(display_of, color, scheme, other):
    page = display_of("color=" + color, scheme, state(**RUNNING))

    page.emulate_media(color_scheme=other)

    for part in ("h1", "#clock", ".digits"):
        assert contrast(channels(colour_of(page, part)), corner(page)) >= ENOUGH - 0.05, part


def test_ink_needs_no_pixel_of_a_canvas(visit, scripted):
    """Browsers that prevent fingerprinting return false pixels."""
    scripted.states = [state(**RUNNING)]
    page = visit("?timer=kitchen&background=0a0a0a", init_script="""
        CanvasRenderingContext2D.prototype.getImageData = () => ({ data: [250, 240, 250, 255] });
    """)
    expect(digits(page)).not_to_be_empty()

    assert contrast(channels(colour_of(page, "h1")), (10, 10, 10)) >= ENOUGH


def test_a_ring_is_outlined_without_a_filter(visit, scripted):
    scripted.states = [state(**RUNNING)]
    page = visit("?timer=kitchen&progress=ring&background=transparent")
    expect(page.locator(".ring")).to_be_visible()

    styles = page.evaluate("""['.ring', '.ring .edge'].map((part) => {
        const { filter, stroke } = getComputedStyle(document.querySelector(part));
        return [filter, stroke];
    })""")
    assert [filter for filter, _ in styles] == ["none", "none"]
    assert channels(styles[1][1]) == channels(page.evaluate(
        "getComputedStyle(document.body).getPropertyValue('--outline').trim()"))


@pytest.mark.parametrize("query, picture", [
    ("transparent", "white"), ("rgb(255+255+255+/+70%25)", "black"), ("808080", "none"),
])
def test_an_outline_makes_ink_legible_over_every_picture(visit, scripted, query, picture):
    scripted.states = [state(**RUNNING, elapsedTime=299)]
    page = visit("?timer=kitchen&background=" + query)
    expect(page.locator("article")).to_have_attribute("data-level", "overtime")
    scripted.snapshot(state(revision=6, **RUNNING))
    expect(page.locator("article")).to_have_attribute("data-level", "calm")
    page.evaluate("(picture) => { document.body.style.background = picture; }", picture)

    for part in (".digits", "h1"):
        box = page.locator(part).bounding_box()
        width, height, pixel = pixels(page.screenshot(clip={**box, "width": min(box["width"], 200)}))
        middle = [pixel(x, height // 2) for x in range(width)] if part == ".digits" else [
            pixel(x, y) for x in range(width) for y in range(height)]
        ink = channels(colour_of(page, part))
        assert max(contrast(colour[:3], ink) for colour in middle) > 10, part


@pytest.mark.parametrize("ground", ["d03030", "transparent", pytest.param("0a0a0a", marks=pytest.mark.long)])
def test_controls_can_be_read_on_every_ground(visit, scripted, ground):
    scripted.states = [state(**RUNNING)]
    page = visit("?timer=kitchen&background=" + ground)
    page.emulate_media(reduced_motion="reduce", color_scheme="light")
    move(page)
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.wait_for_timeout(300)

    assert [found for found in complaints(page) if "contrast" in found[0]] == []
