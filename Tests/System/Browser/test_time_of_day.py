"""Times of day follow the browser's region and hour cycle, whatever the page's language; digits are Latin."""

import re

import pytest
from playwright.sync_api import expect

from scripted_server import NOW, digits, state


@pytest.mark.parametrize("locale, language, pattern", [
    ("en-GB", "en", r"[01]\d:\d\d"), ("en-US", "en", r"\d{1,2}:\d\d\s[AP]M"), ("de-AT", "en", r"[012]?\d:\d\d"),
    ("en-US", "de", r"\d{1,2}:\d\d\s[AP]M"), ("ar-EG", "ar", r"\d{1,2}:\d\d\s[صم]"), ("fr-CA", "fr", r"\d\d\sh\s\d\d"),
])
def test_times_follow_the_region_of_the_browser(new_page, web_files, scripted, locale, language, pattern):
    scripted.states = [state(status="running", duration=3000, lastElapsedTimeCalculatedAt=NOW)]
    page = new_page(locale=locale, timezone_id="Asia/Kathmandu")
    page.route_web_socket("**/ws", lambda socket: scripted.accept(socket))
    for address, part in (("/?lang=", ".note"), ("/?timer=kitchen&clock=1&lang=", "#clock")):
        page.goto(web_files + address + language)
        expect(digits(page)).not_to_be_empty()
        seconds = r"(:\d\d|\s(min\s)?\d\d(\ss)?)" if part == "#clock" else ""
        wanted = pattern.replace(r":\d\d", r":\d\d" + seconds) if "h" not in pattern else pattern + seconds
        expect(page.locator(part)).to_have_text(re.compile(wanted + ("$" if part == "#clock" else "")))


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
