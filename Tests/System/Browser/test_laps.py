"""Laps of a stopwatch: listed, and copied for a spreadsheet."""

import csv
import io

import pytest
from playwright.sync_api import expect

from person import choose, digits, press


def test_rows_have_lap_and_split(module_of):
    assert module_of("dialogs/laps.js", "lapRows", [12.5, 30.125, 30.225]) == [
        {"number": 1, "lap": 12.5, "split": 12.5},
        {"number": 2, "lap": 17.625, "split": 30.125},
        {"number": 3, "lap": 0.1, "split": 30.225},
    ]


def test_a_spreadsheet_reads_them_whatever_the_language(module_of):
    text = module_of("dialogs/laps.js", "lapsCSV", [0.000001, 12.5, 3600])

    assert text.endswith("\r\n")
    assert list(csv.reader(io.StringIO(text))) == [
        ["lap", "lap_seconds", "split_seconds"],
        ["1", "0.000001", "0.000001"],
        ["2", "12.499999", "12.5"],
        ["3", "3587.5", "3600"],
    ]
    assert module_of("dialogs/laps.js", "lapsCSV", []) == "lap,lap_seconds,split_seconds\r\n"


@pytest.mark.parametrize(
    "seconds, text",
    [(0, "0:00.00"), (0.009, "0:00.00"), (0.01, "0:00.01"), (59.999, "0:59.99"), (60, "1:00.00"), (0.29, "0:00.29"),
     (1.15, "0:01.15"), (3599.995, "59:59.99"), (3600, "1:00:00.00"), (36000.5, "10:00:00.50")],
)
def test_hundredths_go_down(module_of, seconds, text):
    assert module_of("dialogs/laps.js", "lapText", seconds) == text


def test_fastest_and_slowest_want_three_laps_that_differ(module_of):
    def extremes(*laps):
        return list(
            module_of("dialogs/laps.js", "extremes", module_of("dialogs/laps.js", "lapRows", list(laps))).values()
        )

    assert extremes(5, 15) == [None, None]
    assert extremes(5, 15, 18) == [3, 2]
    assert extremes(5, 10, 15) == [None, None]


def test_laps_are_pressed_listed_and_copied(server, script, open_page):
    script.do("start", timer="run")
    page = open_page(server.page(), permissions=["clipboard-read", "clipboard-write"])
    expect(digits(page, "run")).to_be_visible()

    press(page, "run", "Lap")
    choose(page, "run", "Laps")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("tbody tr")).to_have_count(1)
    dialog.get_by_role("button", name="Lap", exact=True).click()
    dialog.get_by_role("button", name="Lap", exact=True).click()
    expect(dialog.locator("tbody tr")).to_have_count(3)
    dialog.get_by_role("button", name="Copy as CSV").click()

    expect(dialog.locator(".report")).to_have_text("Copied 3 laps.")
    laps = script.do("get", timer="run")["laps"]
    rows = list(csv.DictReader(io.StringIO(page.evaluate("navigator.clipboard.readText()"))))
    assert [float(row["split_seconds"]) for row in rows] == laps
    assert [row.text_content().split()[0] for row in dialog.locator("tbody th").all()] == ["3", "2", "1"]


def test_laps_of_one_run_are_not_those_of_the_next(server, script, open_page):
    script.do("start", timer="run")
    script.do("lap", timer="run")
    page = open_page(server.page())
    expect(page.locator(".note")).to_have_text("1 lap")
    choose(page, "run", "Laps")
    expect(page.locator("tbody tr")).to_have_count(1)

    script.do("reset", timer="run")

    expect(page.get_by_text("No laps yet.")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(0)


def test_a_countdown_has_no_laps(server, script, open_page):
    script.do("start", timer="kitchen", duration=300)
    page = open_page(server.page())

    expect(page.get_by_role("button", name="Lap", exact=True)).to_be_hidden()
