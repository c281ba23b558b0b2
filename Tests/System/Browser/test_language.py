"""English and four other languages, by small tables."""

import re

import pytest
from playwright.sync_api import expect

from conftest import WEB
from person import card, has_status

CODES = ["de", "es", "fr", "ar"]
CATEGORIES = {"de": {"one", "other"}, "es": {"one", "other"}, "fr": {"one", "other"},
              "ar": {"zero", "one", "two", "few", "many", "other"}}


@pytest.fixture(scope="module")
def tables(browser, web_files):
    """The words of each language, by its code. The English words are those that all modules define, together."""
    page = browser.new_page()
    page.goto(web_files + "/dialogs/dialogs.html")
    tables = {"en": {}}
    for path in sorted(WEB.rglob("*.js")):
        if path.name != "language.js":
            for words in re.findall(r"^define\((\{.*?\})\);", path.read_text(), re.DOTALL | re.MULTILINE):
                tables["en"].update(page.evaluate(f"({words})"))
    for code in CODES:
        tables[code] = page.evaluate(
            """(code) => import('/languages/' + code + '.js').then(() => import('/languages/language.js'))
                .then((module) => module.tables[code])""",
            code)
    page.close()
    return tables


def places(entry):
    texts = [entry["other"]] if isinstance(entry, dict) else [entry]
    return set(re.findall(r"\{(\w+)\}", texts[0]))


@pytest.mark.parametrize("code", CODES)
def test_each_word_is_there_with_the_same_places(tables, code):
    english, other = tables["en"], tables[code]

    assert sorted(set(english) - set(other)) == [], "not translated"
    assert sorted(set(other) - set(english)) == [], "nobody says this"
    assert [key for key in english if places(english[key]) != places(other[key])] == []
    assert [key for key in english if isinstance(english[key], dict) != isinstance(other[key], dict)] == []
    for key, entry in other.items():
        if isinstance(entry, dict):
            assert set(entry) == CATEGORIES[code], key
            for text in entry.values():
                assert set(re.findall(r"\{(\w+)\}", text)) <= places(entry), key


@pytest.mark.parametrize("code", CODES)
def test_hardly_a_word_is_left_in_english(tables, code):
    same = [key for key in tables["en"] if tables["en"][key] == tables[code][key]]

    assert len(same) < 15, same


def test_each_word_that_the_page_says_is_defined(tables):
    said = set()
    for path in WEB.rglob("*"):
        if path.suffix == ".js":
            said |= set(re.findall(r"""(?<![\w.])t\("([a-zA-Z.]+[a-zA-Z])"[,)]""", path.read_text()))
        elif path.suffix == ".html":
            said |= set(re.findall(r'data-t(?:-label|-placeholder)?="([^"]+)"', path.read_text()))

    assert len(said) > 100
    assert sorted(said - set(tables["en"])) == []


LAPS = [("en", 1, "1 lap"), ("en", 0, "0 laps"), ("de", 2, "2 Runden"), ("fr", 0, "0 tour"), ("fr", 2, "2 tours"),
        ("es", 1, "1 vuelta"), ("ar", 0, "لا لفات"), ("ar", 2, "لفتان"), ("ar", 3, "3 لفات"), ("ar", 11, "11 لفة"),
        ("ar", 100, "100 لفة"), ("ar", 103, "103 لفات")]


@pytest.mark.parametrize("plurals", ["", "delete Intl.PluralRules;"])
def test_plurals_are_right_with_and_without_the_browsers_help(browser, web_files, plurals):
    page = browser.new_page()
    page.add_init_script(plurals)
    page.route("**/blank?*", lambda route: route.fulfill(content_type="text/html", body="<!doctype html>"))
    said = []
    for code in dict.fromkeys(code for code, _, _ in LAPS):
        page.goto(web_files + "/blank?lang=" + code)
        said += page.evaluate(
            """(counts) => Promise.all([import('/languages/language.js'), import('/shared/timer-words.js')])
                .then(([language]) => language.languageReady.then(() =>
                    counts.map((n) => language.t('card.laps', {n: n}))))""",
            [n for other, n, _ in LAPS if other == code])
    page.close()

    assert said == [text for _, _, text in LAPS]


def test_the_address_the_device_and_the_browser_say_which(server, script, open_page):
    script.do("start", timer="tee", duration=300)
    german = open_page(server.page(), locale="de-AT")
    expect(german.get_by_role("heading", name="Timer", exact=True)).to_be_visible()
    expect(german.locator("html")).to_have_attribute("lang", "de")

    german.goto(server.page() + "?lang=fr")
    expect(german.get_by_role("heading", name="Minuteurs", exact=True)).to_be_visible()

    german.goto(server.page())
    german.get_by_role("button", name="Tastenkürzel und Einstellungen").click()
    german.get_by_label("Sprache").select_option("es")
    german.get_by_role("button", name="Übernehmen").click()
    expect(german.get_by_role("heading", name="Temporizadores", exact=True)).to_be_visible()
    german.reload()
    expect(german.get_by_role("heading", name="Temporizadores", exact=True)).to_be_visible()


def test_what_is_typed_and_refused_is_told_in_the_same_language(server, script, open_page):
    page = open_page(server.page(), locale="de-DE")

    page.get_by_label("Dauer").fill("1,5h")
    page.get_by_role("button", name="Starten", exact=True).click()
    expect(page.locator("#new-timer .message")).to_contain_text("Gib einen Punkt ein")
    page.get_by_label("Name").fill("tee")
    page.get_by_label("Dauer").fill("bis 20:30")
    page.get_by_role("button", name="Starten", exact=True).click()
    has_status(page, "tee", "running")
    page.get_by_label("Name").fill("tee")
    page.get_by_label("Dauer").fill("5m")
    page.get_by_role("button", name="Starten", exact=True).click()
    expect(page.locator("#new-timer .message")).to_have_text("Dieser Timer läuft bereits oder ist angehalten.")


def test_a_language_that_can_not_be_had_is_english(server, open_page):
    page = open_page(server.page() + "?lang=xx")

    expect(page.get_by_role("heading", name="Timers", exact=True)).to_be_visible()


@pytest.mark.parametrize(
    "language, title, direction",
    [("ar", "Eröffnung und Begrüßung der Gäste", "ltr"), ("en", "افتتاح الحفل والترحيب بالضيوف", "rtl")],
)
def test_a_title_in_another_script_is_cut_at_its_own_end(server, script, open_page, language, title, direction):
    script.do("start", timer="kitchen", duration=3000, title=title)
    script.do("message", timer="kitchen", text=title)

    for query, places in (
        ("?", ["h2"]),
        ("?timer=kitchen&control&", ["h1"]),
        ("?timer=kitchen&", ["h1", ".speaker-message"]),
    ):
        page = open_page(server.page() + query + "lang=" + language, viewport={"width": 320, "height": 568})
        for place in places:
            element = page.locator(f"main {place}", has_text=title)
            expect(element).to_be_visible()
            assert element.evaluate("(element) => getComputedStyle(element).direction") == direction, (query, place)
        expect(page.locator("html")).to_have_attribute("dir", "rtl" if language == "ar" else "ltr")


def test_arabic_runs_from_right_to_left_and_its_digits_do_not(server, script, open_page):
    script.do("start", timer="kitchen", duration=3000, title="Pasta")
    page = open_page(server.page() + "?lang=ar")
    has_status(page, "kitchen", "running")

    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    assert page.locator("h1").bounding_box()["x"] > page.locator("#help").bounding_box()["x"]
    title, status = (
        card(page, "kitchen").locator("h2").bounding_box(),
        card(page, "kitchen").locator(".status").bounding_box(),
    )
    assert title["x"] > status["x"]
    assert re.fullmatch(r"(50:00|49:5\d)", card(page, "kitchen").locator(".digits").text_content())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
