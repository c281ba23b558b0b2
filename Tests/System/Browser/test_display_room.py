"""The digits of a display fill the space that is left beside everything else, whenever that changes."""

import pytest
from playwright.sync_api import expect

from scripted_server import NOW, digits, state

# The parts of each timer that overlap the digits; `ring` and `sides` mean that the digits are too large for them.
OVERLAPS = """() => [].concat(...Array.from(document.querySelectorAll('article'), (article) => {
    const box = (element) => element.getBoundingClientRect();
    const digits = box(article.querySelector('.digits'));
    const others = ['header', '.speaker-message', '.progress'].map((part) => article.querySelector(part))
        .concat(document.getElementById('connection'), document.getElementById('clock')).filter(Boolean);
    const hit = others.filter((other) => box(other).height > 0 && box(other).bottom > digits.top + 1
        && box(other).top < digits.bottom - 1).map((other) => other.className || other.id || other.tagName);
    const ring = article.querySelector('.ring');
    const space = box(article.querySelector('.center'));
    const reach = Math.hypot(digits.width, digits.height) / 2;
    return hit.concat(ring && reach > 0.47 * Math.min(space.width, space.height) ? ['ring'] : [])
        .concat(digits.width > space.width + 1 ? ['sides'] : []);
}))"""
TWO_LINES = "A title that is long enough to need two lines wherever it is shown, and then some more words"
MESSAGE = {"text": "Please come to an end, the next speaker is waiting behind the curtain", "sentAt": NOW}


def size(page, name="kitchen"):
    return digits(page, name).evaluate("(element) => parseFloat(element.style.fontSize)")


def settled(page):
    """The size of the digits once everything has been painted."""
    page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
    return size(page)


@pytest.fixture
def display(visit, scripted):
    def display(query="", names=("kitchen",)):
        scripted.states = [state(timer=name) for name in names]
        page = visit("?" + "&".join("timer=" + name for name in names) + query)
        page.set_viewport_size({"width": 844, "height": 390})
        for name in names:
            expect(digits(page, name)).not_to_be_empty()
        return page

    return display


@pytest.mark.parametrize("query", ["", "&progress=ring&clock=1"])
def test_digits_fit_beside_a_message_a_long_title_and_the_offline_bar(display, scripted, query):
    page = display(query)
    alone = settled(page)

    scripted.snapshot(state(revision=6, message=MESSAGE))
    expect(page.locator(".speaker-message")).to_be_visible()
    beside_message = settled(page)
    assert page.evaluate(OVERLAPS) == [] and beside_message < alone

    scripted.snapshot(state(revision=7, title=TWO_LINES))
    expect(page.locator("h1")).to_have_text(TWO_LINES)
    below_title = settled(page)
    assert page.evaluate(OVERLAPS) == [] and below_title > beside_message

    scripted.accept = lambda socket: socket.close()
    scripted.connections[-1].close()
    expect(page.locator("#connection")).to_be_visible()
    settled(page)
    assert page.evaluate(OVERLAPS) == []


def test_digits_are_large_again_when_a_message_is_gone(display, scripted):
    page = display()
    page.set_viewport_size({"width": 1440, "height": 390})
    sizes = []
    for revision, fields in enumerate([
        {"duration": 40000}, {"duration": 300}, {"duration": 40000, "message": MESSAGE}, {"duration": 40000}
    ], start=6):
        scripted.snapshot(state(revision=revision, **fields))
        expect(digits(page)).to_have_text("11:06:40" if fields["duration"] == 40000 else "5:00")
        expect(page.locator(".speaker-message")).to_be_visible(visible="message" in fields)
        sizes.append(settled(page))

    assert sizes[3] == sizes[0] > sizes[2]


def test_all_of_several_timers_make_room_for_a_message_of_one(display, scripted):
    page = display(names=("kitchen", "oven", "tea"))

    scripted.snapshot(state(timer="oven", revision=6, message=MESSAGE, title=TWO_LINES))
    expect(page.locator("article", has=digits(page, "oven")).locator(".speaker-message")).to_be_visible()
    settled(page)
    assert page.evaluate(OVERLAPS) == []
    assert size(page, "kitchen") == size(page, "oven") == size(page, "tea")

    page.set_viewport_size({"width": 390, "height": 844})
    settled(page)
    assert page.evaluate(OVERLAPS) == []
