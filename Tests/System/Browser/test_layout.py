"""Positions on the screen: at five sizes, with one timer, a few and many, in each layout."""

import pytest
from playwright.sync_api import expect

SIZES = [(390, 844), (844, 390), (820, 1180), (1440, 900), (3840, 2160)]
LEGIBLE = 12  # the characters of a cut name that have to be legible

# Elements that extend beyond the sides of the window; those in a strip that scrolls by itself (the presets) may.
BEYOND = """() => Array.from(document.querySelectorAll('body *')).filter((element) => {
    const box = element.getBoundingClientRect();
    const isCut = element.closest('.presets, .visually-hidden, .icons, svg') !== null;
    return box.width > 0 && !isCut && (box.right > innerWidth + 1 || box.left < -1);
}).slice(0, 3).map((element) => element.outerHTML.slice(0, 90))
    .concat(document.documentElement.scrollWidth > innerWidth ? ['the page scrolls sideways'] : [])"""

# Names that are cut so much that too few characters can be read.
CUT_NAMES = """(characters) => Array.from(document.querySelectorAll('h2, h1')).filter((name) => {
    if (name.closest('#timers, .face, .timer') === null) {
        return false;
    }
    const range = document.createRange();
    const text = name.firstChild;
    range.setStart(text, 0);
    range.setEnd(text, Math.min(characters, text.length));
    const dots = text.length > characters ? parseFloat(getComputedStyle(name).fontSize) : 0;
    return name.getClientRects().length > 0 && range.getBoundingClientRect().width + dots > name.clientWidth + 1;
}).map((name) => name.textContent)"""

# The number of left edges in each column of the compact layout: one, whatever the rows show.
COLUMNS = """() => ['.main', '.icon'].map((part) => new Set(Array.from(document.querySelectorAll('#timers ' + part),
    (element) => Math.round(element.getBoundingClientRect().left))).size)"""
CUT_LABELS = """() => Array.from(document.querySelectorAll('#timers button'))
    .filter((button) => button.scrollWidth > button.clientWidth).map((button) => button.textContent)"""


def fill(script, first, last):
    for number in range(first, last):
        name = f"Station number {number} in the great hall"
        script.do("start", timer=name, **({} if number % 4 == 3 else {"duration": [90, 3000, 40000][number % 3]}))
        if number % 3 == 1:
            script.do("pause", timer=name)
        elif number % 3 == 2:
            script.do("update", timer=name, title=f"A title of station {number} that is as long")
            script.do("finish", timer=name)


def wrong_at_each_size(page, what, *checks):
    found = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(50)
        found += [(what, width, *wrong) for wrong in [check(page) for check in checks] if wrong]
    return found


def beyond(page):
    return page.evaluate(BEYOND)


def cut_names(page):
    return page.evaluate(CUT_NAMES, LEGIBLE)[:3]


def uneven_columns(page):
    return [] if page.evaluate(COLUMNS) == [1, 1] else ["the columns are uneven"]


def cut_labels(page):
    return page.evaluate(CUT_LABELS)[:3]


@pytest.mark.parametrize(
    "language, counts", [("en", [1, 40]), ("de", [8]), pytest.param("fr", [1, 8, 200], marks=pytest.mark.long)])
def test_the_dashboard_fits_and_names_can_be_read(server, script, open_page, language, counts):
    page = open_page(server.page() + "?lang=" + language)
    found = []
    for before, count in zip([0, *counts], counts):
        fill(script, before, count)
        expect(page.locator("#timers > li")).to_have_count(count)
        for layout in ("large", "compact"):
            page.locator(f"button[data-layout={layout}]").click()
            checks = [beyond, cut_names, cut_labels] + ([uneven_columns] if layout == "compact" else [])
            found += wrong_at_each_size(page, f"{layout}, {count} timers", *checks)

    assert found == []


def test_displays_and_the_remote_fit_and_names_can_be_read(server, script, open_page):
    fill(script, 0, 8)
    name = "Station number 0 in the great hall"
    found = []
    for view, address in {
        "display": server.page(name),
        "eight": server.page() + "?" + "&".join(f"timer=Station number {n} in the great hall" for n in range(8)),
        "remote": server.page(name) + "&control",
    }.items():
        page = open_page(address)
        expect(page.locator("[data-digits]").first).not_to_be_empty()
        found += wrong_at_each_size(page, view, beyond, *([] if view == "eight" else [cut_names]))

    assert found == []
