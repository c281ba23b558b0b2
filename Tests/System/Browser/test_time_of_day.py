"""Times of day follow the browser's region and hour cycle, whatever the page's language; digits are Latin."""

import json
import re

import pytest
from playwright.sync_api import expect

from scripted_server import NOW, digits, state

# The hour of NOW in each zone: in the afternoon, soon after midnight, and soon after noon.
ZONES = {"Asia/Tokyo": 14, "America/New_York": 0, "Asia/Bangkok": 12}


def written(cycle, hour, minute, seconds=""):
    """A pattern for a time of day; `seconds` is a pattern, too."""
    halves = {"am/pm": ("AM", "PM"), "ar": ("ص", "م")}.get(cycle)
    if cycle == "h":
        tail = r"(\smin)?\s" + seconds + r"(\ss)?" if seconds else ""
        return rf"0?{hour}\sh\s{minute:02}" + tail
    tail = ":" + seconds if seconds else ""
    if halves is None:
        return rf"0?{hour}:{minute:02}" + tail
    return rf"{hour % 12 or 12}:{minute:02}" + tail + r"\s" + halves[hour >= 12]


REGIONS = [
    ("en-GB", "en", "24"), ("en-US", "en", "am/pm"), ("de-AT", "en", "24"), ("en-US", "de", "am/pm"),
    ("ar-EG", "ar", "ar"), ("fr-CA", "fr", "h"),
]


def regions_and_zones():
    """Each region with each zone; all but one zone of each are for the long run."""
    for place, region in enumerate(REGIONS):
        for turn, zone in enumerate(ZONES):
            yield pytest.param(*region, zone, marks=[] if turn == place % len(ZONES) else pytest.mark.long)


@pytest.mark.parametrize("locale, language, cycle, zone", regions_and_zones())
def test_times_follow_the_region_of_the_browser(new_page, web_files, scripted, locale, language, cycle, zone):
    scripted.states = [state(status="running", duration=3000, lastElapsedTimeCalculatedAt=NOW)]
    page = new_page(locale=locale, timezone_id=zone)
    page.route_web_socket("**/ws", lambda socket: scripted.accept(socket))
    page.goto(web_files + "/?lang=" + language)
    expect(digits(page)).not_to_be_empty()
    ends = written(cycle, ZONES[zone] + 1, 10)  # fifty minutes later
    expect(page.locator(".note")).to_have_text(re.compile(rf"(?<![\d:]){ends}(?![\d:])"))
    page.goto(web_files + "/?timer=kitchen&clock=1&lang=" + language)
    expect(page.locator("#clock")).to_have_text(re.compile("^" + written(cycle, ZONES[zone], 20, r"\d\d") + "$"))


# Some browsers follow an older ECMA-402: with `hour12` the hours are those of the locale, 0 to 11 or 1 to 24.
OLDER = """
const Current = Intl.DateTimeFormat;
window.made = 0;
Intl.DateTimeFormat = function (locale, options = {}) {
    made += 1;
    const { hour12, ...rest } = options;
    const usual = new Current(locale, { hour: "numeric" }).resolvedOptions().hour12;
    const cycle = hour12 ? (usual ? "h12" : "h11") : usual ? "h24" : "h23";
    return new Current(locale, hour12 === undefined ? options : { ...rest, hourCycle: cycle });
};
Date.prototype.toLocaleString = function (locale, options) {
    return new Intl.DateTimeFormat(locale, options).format(this);
};
"""


@pytest.mark.parametrize("tags, language, zone, time", [
    (["de-DE", "de", "en-US", "en"], "en", "America/New_York", r"0?0:20:\d\d"),
    (["en-US", "en", "de-DE"], "de", "Asia/Bangkok", r"12:20:\d\d\sPM"),
])
def test_mixed_languages_neither_count_to_24_nor_from_0_pm(new_page, web_files, scripted, tags, language, zone, time):
    scripted.states = [state(status="running", duration=3000, lastElapsedTimeCalculatedAt=NOW)]
    page = new_page(locale=tags[0], timezone_id=zone)
    page.add_init_script(
        f"Object.defineProperty(navigator, 'languages', {{ get: () => {json.dumps(tags)} }});" + OLDER)
    page.route_web_socket("**/ws", lambda socket: scripted.accept(socket))
    page.goto(web_files + "/?timer=kitchen&clock=1&lang=" + language)
    clock = page.locator("#clock")
    expect(clock).to_have_text(re.compile("^" + time + "$"))
    shown, made = clock.text_content(), page.evaluate("made")
    expect(clock).not_to_have_text(shown)
    assert page.evaluate("made") == made, "each second makes another formatter"


@pytest.mark.parametrize("language, tags, locale", [
    ("en", ["en-GB", "en"], "en-GB"), ("en", ["de-DE", "de"], "en-DE"), ("ar", ["ar-EG-u-nu-arab"], "ar-EG"),
    ("en", ["de", "en-AU"], "en-AU"), ("fr", ["zh-Hant-TW"], "fr-TW"), ("es", ["de"], "es"), ("es", [], "es"),
])
def test_the_region_comes_from_the_browser_s_languages(module_of, language, tags, locale):
    assert module_of("shared/time-of-day.js", "localeOf", language, tags) == locale


@pytest.mark.parametrize("text, minutes", [
    ("until 8:30 p. m.", 30), ("bis 20 h 30", 30), ("حتى ٨:٣٠ م", 30), ("until ２０：１５", 15),
    ("hasta 8:30\u202fp.\u00a0m.", 30),
])
def test_a_time_of_day_is_read_as_browsers_and_keyboards_write_it(module_of, text, minutes):
    at_eight = module_of("shared/duration.js", "parseDuration", "until 20:00", NOW)

    assert module_of("shared/duration.js", "parseDuration", text, NOW) == at_eight + 60 * minutes


def test_a_search_finds_digits_of_every_keyboard(module_of):
    assert module_of("dashboard/order.js", "matches", {"timer": "Station 12", "title": None}, "١٢")
    assert not module_of("dashboard/order.js", "matches", {"timer": "Station 12", "title": None}, "۱۳")
