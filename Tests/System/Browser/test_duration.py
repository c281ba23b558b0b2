"""Durations as people type them, and times of day until which to count."""

import datetime
import zoneinfo

import pytest


@pytest.fixture(scope="module")
def typed(browser, web_files):
    """Calls a function of duration.js; returns the message of an error instead of raising it."""
    page = browser.new_page(timezone_id="Europe/Berlin")
    page.goto(web_files + "/favicon.svg")

    def typed(function, *arguments):
        return page.evaluate(
            """([name, given]) => import('/shared/duration.js').then((module) => {
                try { return module[name](...given); } catch (error) { return error.message; }
            })""",
            [function, list(arguments)],
        )

    yield typed
    page.close()


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("5m", 300),
        ("1:30", 90),
        ("90", 90),
        ("1h30m", 5400),
        ("1:30:00", 5400),
        ("90s", 90),
        ("1h", 3600),
        ("1h 30m 15s", 5415),
        (" 5M ", 300),
        ("5 min", 300),
        ("1m90s", 150),
        ("0:05", 5),
        ("90:00", 5400),
        ("0.5", 0.5),
        ("1.5h", 5400),
        ("0:00.25", 0.25),
        ("100:00:00", 360000),
        ("8760h", 31536000),
        ("2 hours 5 minutes", 7500),
        ("1 Std 30 Min", 5400),
        ("10 minutos", 600),
        ("٥", 5),
        ("٥ د", 300),
        ("2 heures", 7200),
        ("۱:۳۰", 90), ("１：３０", 90), ("९०", 90), ("৫m", 300), ("๕ min", 300),
        ("1\u202fh\u00a030\u2009min", 5400), ("\u200f٥ د\u200f", 300), ("\u20665m\u2069", 300), ("1\u066b5h", 5400),
        ("1\u22363​0", 90),
    ],
)
def test_a_duration_is_read_as_people_write_it(typed, text, seconds):
    assert typed("parseDuration", text, 0) == seconds


@pytest.mark.parametrize("text", ["", "   "])
def test_no_duration_asks_for_a_stopwatch(typed, text):
    assert typed("parseDuration", text, 0) is None


@pytest.mark.parametrize(
    "text, right",
    [
        ("five", "Enter 5m"), ("5x", "Enter 5m"), ("Infinity", "Enter 5m"), ("NaN", "Enter 5m"), ("0x10", "Enter 5m"),
        ("1e3", "Enter 5m"), (".", "Enter 5m"), ("1.2.3s", "Enter 5m"), ("m", "Enter 5m"), ("5 5", "Enter 5m"),
        ("30m1h", "Enter 5m"), ("-5", "without a sign"), ("-1:00", "without a sign"), ("−5m", "without a sign"),
        ("1:60", "00 to 59"), ("1:5", "00 to 59"), ("1:60:00", "00 to 59"), ("1:2:00", "00 to 59"),
        ("1:00:00:00", "00 to 59"), (":30", "Enter 5m"), ("1:", "00 to 59"), ("1h30", "1h30m"), ("5m30", "1h30m"),
        ("1,5", "Use a point"), ("1,5h", "Use a point"), ("0", "at most 365 days"), ("0:00", "at most 365 days"),
        ("0s", "at most 365 days"), ("8761h", "at most 365 days"), ("31536001", "at most 365 days"),
        ("until", "until 20:30"), ("until noon", "until 20:30"), ("until 1:2", "until 20:30"),
        ("until 24:00", "0:00 to 23:59"), ("until 20:60", "0:00 to 23:59"), ("until 13 pm", "0:00 to 23:59"),
        ("until 0:30 am", "0:00 to 23:59"),
    ],
)
def test_what_is_no_duration_is_refused_with_what_would_be_right(typed, text, right):
    assert right in str(typed("parseDuration", text, 0))


def berlin(*when):
    return datetime.datetime(*when, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")).timestamp()


CLOCKS_GO_BACK = berlin(2026, 10, 25, 1, 0) + 2 * 3600  # from 3:00 to 2:00


@pytest.mark.parametrize(
    "text, now, seconds",
    [
        ("until 20:30", berlin(2026, 11, 30, 20, 0), 1800),
        ("until 20:30", berlin(2026, 11, 30, 20, 29, 59) + 0.25, 0.75),
        ("until 20:30", berlin(2026, 11, 30, 20, 30), 86400),
        ("until 8", berlin(2026, 11, 30, 20, 30), 11.5 * 3600),
        ("until 8:30pm", berlin(2026, 11, 30, 20, 0), 1800),
        ("until 12 am", berlin(2026, 11, 30, 20, 0), 4 * 3600),
        ("until 12 pm", berlin(2026, 11, 30, 11, 0), 3600),
        ("until 20:30:15", berlin(2026, 11, 30, 20, 30), 15),
        ("bis 20:30 Uhr", berlin(2026, 11, 30, 20, 0), 1800),
        ("jusqu'à 20h30", berlin(2026, 11, 30, 20, 0), 1800),
        ("hasta las 20:30", berlin(2026, 11, 30, 20, 0), 1800),
        ("حتى ٢٠:٣٠", berlin(2026, 11, 30, 20, 0), 1800),
        # The night in which clocks go back has 25 hours, and the night in which they go forward has 23.
        ("until 4:00", berlin(2026, 10, 24, 22, 0), 7 * 3600),
        ("until 4:00", berlin(2026, 3, 28, 22, 0), 5 * 3600),
        # When clocks go back, they show 2:00 to 3:00 twice: the next time counts.
        ("until 2:30", CLOCKS_GO_BACK - 1.25 * 3600, 0.75 * 3600),
        ("until 2:30", CLOCKS_GO_BACK - 0.25 * 3600, 0.75 * 3600),
        ("until 2:30", CLOCKS_GO_BACK + 0.25 * 3600, 0.25 * 3600),
        ("until 2:30", CLOCKS_GO_BACK + 0.75 * 3600, 23.75 * 3600),
        ("until 1:30", CLOCKS_GO_BACK - 1.25 * 3600, 24.75 * 3600),
        ("until 3:00", CLOCKS_GO_BACK - 0.25 * 3600, 1.25 * 3600),
        # When clocks go forward, there is no 2:30: an hour later clocks show 3:30.
        ("until 2:30", berlin(2026, 3, 29, 1, 30), 3600),
    ],
)
def test_until_is_a_time_of_day_where_the_viewer_is_on_the_clock_of_the_server(typed, text, now, seconds):
    assert typed("parseDuration", text, now) == pytest.approx(seconds, abs=1e-6)


def test_warnings_are_lengths_between_commas(typed):
    assert typed("parseWarnings", "5m, 1:00; 10s,") == [300, 60, 10]
    assert typed("parseWarnings", " ") == []
    assert "until 8" in typed("parseWarnings", "1m, until 8")
    assert "Enter 5m" in typed("parseWarnings", "1m, soon")


@pytest.mark.parametrize("seconds", [0.25, 1, 59, 60, 61.5, 3600, 5415, 31536000])
def test_what_is_written_is_read_as_the_same(typed, seconds):
    assert typed("parseDuration", typed("writeDuration", seconds), 0) == seconds
