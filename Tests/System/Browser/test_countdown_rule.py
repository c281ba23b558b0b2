"""The rule of what a display shows, run in a browser because that is where it lives."""

import pytest

DAY = 86400


@pytest.fixture(scope="module")
def rule(browser, web_files):
    """Calls a function of countdown.js with the given arguments."""
    page = browser.new_page()
    page.goto(web_files + "/favicon.svg")

    def rule(function, *arguments):
        return page.evaluate(
            "([name, given]) => import('/countdown.js').then((rule) => rule[name](...given))",
            [function, list(arguments)],
        )

    rule.page = page
    yield rule
    page.close()


@pytest.mark.parametrize(
    "seconds, text",
    [
        (300, "5:00"),
        (299.9995, "5:00"),
        (299.9994, "5:00"),
        (299.001, "5:00"),
        (299.0005, "5:00"),
        (299.0004, "4:59"),
        (299, "4:59"),
        (298.9996, "4:59"),
        (60.001, "1:01"),
        (60, "1:00"),
        (59.9996, "1:00"),
        (59, "0:59"),
        (1, "0:01"),
        (0.5, "0:01"),
        (0.0006, "0:01"),
        (0.0004, "0:00"),
        (0, "0:00"),
        (-0.0, "0:00"),
        (-0.0004, "0:00"),
        (-0.5, "0:00"),
        (-0.9994, "0:00"),
        (-0.9996, "-0:01"),
        (-1, "-0:01"),
        (-1.0001, "-0:01"),
        (-1.9994, "-0:01"),
        (-2, "-0:02"),
        (-60, "-1:00"),
        (-3600, "-1:00:00"),
        (3599, "59:59"),
        (3599.0006, "1:00:00"),
        (3600, "1:00:00"),
        (DAY - 1, "23:59:59"),
        (DAY, "24:00:00"),
        (DAY + 1, "24:00:01"),
        (360000, "100:00:00"),
        (31536000, "8760:00:00"),
    ],
)
def test_a_countdown_shows_whole_seconds_up(rule, seconds, text):
    assert rule("displayText", seconds, "timer") == text


@pytest.mark.parametrize(
    "seconds, text",
    [
        (0, "0:00"),
        (0.0004, "0:00"),
        (-0.0004, "0:00"),
        (0.9994, "0:00"),
        (0.9996, "0:01"),
        (0.9999999, "0:01"),
        (1, "0:01"),
        (59.999, "0:59"),
        (60, "1:00"),
        (3599.999, "59:59"),
        (3600, "1:00:00"),
        (DAY - 1, "23:59:59"),
        (DAY, "24:00:00"),
        (360000, "100:00:00"),
    ],
)
def test_a_stopwatch_shows_whole_seconds_down(rule, seconds, text):
    assert rule("displayText", seconds, "stopwatch") == text


def test_thirty_seconds_are_thirty_one_texts_with_none_missing_and_none_twice(rule):
    texts = rule.page.evaluate(
        """() => import('/countdown.js').then((rule) => {
            const texts = [];
            for (let milliseconds = 30000; milliseconds >= 0; milliseconds -= 1) {
                const text = rule.displayText(milliseconds / 1000, 'timer');
                if (texts[texts.length - 1] !== text) { texts.push(text); }
            }
            return texts;
        })"""
    )

    assert texts == [f"0:{second:02}" for second in range(30, -1, -1)]


def test_repainting_at_each_next_change_never_skips_a_second(rule):
    shown = rule.page.evaluate(
        """() => import('/countdown.js').then((rule) => {
            const state = {type: 'timer', status: 'running', duration: 30, elapsedTime: 0,
                           lastElapsedTimeCalculatedAt: 1764480000.25, atZero: 'overtime'};
            const texts = [];
            let now = state.lastElapsedTimeCalculatedAt;
            for (let repaint = 0; repaint < 36; repaint += 1) {
                const reading = rule.reading(state, now);
                texts.push(reading.text);
                now += Math.ceil(reading.changesIn * 1000) / 1000;
            }
            return texts;
        })"""
    )

    expected = [f"0:{second:02}" for second in range(30, -1, -1)] + [f"-0:{second:02}" for second in range(1, 6)]
    assert shown == expected


def test_nothing_is_ever_shown_as_minus_nothing(rule):
    has_it = rule.page.evaluate(
        """() => import('/countdown.js').then((rule) => {
            for (let step = -30000; step <= 30000; step += 1) {
                if (/^-0:00$/.test(rule.displayText(step / 10000, 'timer'))) { return true; }
                if (/^-/.test(rule.displayText(Math.abs(step) / 10000, 'stopwatch'))) { return true; }
            }
            return false;
        })"""
    )

    assert not has_it


def state(**fields):
    return {
        "type": "timer", "status": "running", "duration": 300, "elapsedTime": 0,
        "lastElapsedTimeCalculatedAt": 1000, "atZero": "overtime", "warnings": [], **fields,
    }


def test_a_screen_that_is_behind_never_shows_more_than_the_start(rule):
    assert rule("reading", state(), 999.9)["text"] == "5:00"


def test_a_running_timer_counts_from_its_snapshot(rule):
    assert rule("reading", state(elapsedTime=10), 1005)["time"] == 285


@pytest.mark.parametrize("status", ["idle", "paused", "finished"])
def test_a_timer_that_does_not_run_stands_still(rule, status):
    reading = rule("reading", state(status=status, elapsedTime=10), 1005)

    assert (reading["time"], reading["changesIn"]) == (290, None)


@pytest.mark.parametrize("policy", ["finish", "reset", "repeat"])
def test_a_timer_that_ends_at_zero_waits_there_for_the_server(rule, policy):
    reading = rule("reading", state(atZero=policy, duration=5), 1007)

    assert (reading["text"], reading["changesIn"]) == ("0:00", None)


@pytest.mark.parametrize(
    "time, level",
    [
        (61, "calm"),
        (60.001, "calm"),
        (60, "warning"),
        (11, "warning"),
        (10, "urgent"),
        (1, "urgent"),
        (0, "overtime"),
        (-5, "overtime"),
    ],
)
def test_warnings_change_the_level(rule, time, level):
    assert rule("reading", state(warnings=[60, 10], elapsedTime=300 - time), 1000)["level"] == level


def test_one_warning_alone_is_no_urgency(rule):
    assert rule("reading", state(warnings=[60], elapsedTime=299), 1000)["level"] == "warning"
