"""The documentation says what the server does: metrics, options, steps of the code, and links that lead somewhere."""

import re
import subprocess
import urllib.request
from pathlib import Path

import pytest

from timer_server import REPOSITORY, server_argv

ARTICLES = REPOSITORY / "Sources/timersync/timersync.docc"
ARCHITECTURE = REPOSITORY / "Sources/TimerServer/TimerServer.docc/Architecture.md"
WEB = REPOSITORY / "web"
PAGES = sorted(
    path.relative_to(REPOSITORY) for path in REPOSITORY.glob("**/*.md") if ".build" not in path.parts)


def rows(text: str) -> list[list[str]]:
    """The cells of all tables, without their heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if not set("".join(row)) <= set("-| ")]


def names(text: str, pattern: str) -> set[str]:
    """The matches of a pattern in the first cells of tables."""
    return {name for row in rows(text) if row for name in re.findall(rf"`({pattern})", row[0])}


def test_every_metric_is_told(shared_server):
    """Each metric, reason and type as the server has them, and no others."""
    served = urllib.request.urlopen(f"{shared_server.http}/metrics", timeout=30).read().decode()
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", served, re.MULTILINE))
    article = (ARTICLES / "Metrics.md").read_text()
    gauges, _, counters = article.partition("\n## Counters\n")

    told = dict.fromkeys(names(gauges, r"timersync_\w+"), "gauge")
    told |= dict.fromkeys(names(counters, r"timersync_\w+"), "counter")
    assert told == types
    for metric in set(re.findall(r"^(\w+){reason=", served, re.MULTILINE)):
        reasons = set(re.findall(rf'^{metric}{{reason="(\w+)"}}', served, re.MULTILINE))
        section = article.partition(f"\n### `{metric}`\n")[2].partition("\n#")[0]
        assert names(section, r"\w+") - {"reason"} == reasons


def test_every_option_is_told():
    """Each option of the server, and the default of each limit."""
    text = subprocess.run(
        server_argv("serve", "--help"), capture_output=True, check=True, text=True, timeout=30).stdout
    options = set(re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE))
    article = (ARTICLES / "Operating.md").read_text()
    limits = article.partition("\n## Limits\n")[2].partition("\n## ")[0]

    assert {option for row in rows(article) for option in re.findall(r"`(--[a-z-]+)", row[0])} == options
    for row in rows(limits):
        option = re.match(r"`(--[a-z-]+)`", row[0])
        if option is not None:
            entry = re.search(rf"^  {option[1]} .*?(?=^  --|^    Fixed|\Z)", text, re.MULTILINE | re.DOTALL)
            assert re.search(rf"\(default\s+{row[2]}\)", entry[0]), f"the default of {option[1]}"


def sources() -> dict[str, str]:
    """Source files by name, or by path for the page's."""
    swift = {path.name: path.read_text() for path in (REPOSITORY / "Sources").glob("*/**/*.swift")}
    return swift | {f"web/{path.relative_to(WEB)}": path.read_text() for path in WEB.glob("**/*.js")}


def test_every_step_of_a_change_is_in_the_code():
    """The functions of the architecture's table stand in the files that it names."""
    files = sources()
    steps = [row for row in rows(ARCHITECTURE.read_text()) if row[0].isdigit()]

    assert len(steps) in range(20, 41)
    assert [int(row[0]) for row in steps] == list(range(1, len(steps) + 1))
    for _, function, file, _ in steps:
        name = re.fullmatch(r"`(?:\w+\.)?(\w+)`", function)[1]
        text = files[file.strip("`")]
        assert re.search(rf"\b{name}\(", text), function


def hub_files() -> list[str]:
    """The files of the hub in the order of the architecture's table, the step that comes first at the top."""
    steps = {"event", "request", "change", "publish", "shared"}
    table = [row for row in rows(ARCHITECTURE.read_text()) if row[0] in steps]
    return [name for row in table for name in re.findall(r"`(Hub[^`]*\.swift)`", row[1])]


def test_the_hub_calls_in_one_direction():
    """A file of the hub calls no function of a file above it, and the table names every file."""
    folder = REPOSITORY / "Sources/TimerServer/Hub"
    order = hub_files()
    texts = {name: re.sub(r"//.*|\bcase \w+\(", "", (folder / name).read_text()) for name in order}
    homes: dict[str, set[int]] = {}
    for place, name in enumerate(order):
        for function in re.findall(r"\bfunc (\w+)", texts[name]):
            homes.setdefault(function, set()).add(place)

    extensions = {path.name for path in folder.glob("*.swift") if "extension Hub {" in path.read_text()}
    assert extensions | {"Hub.swift"} == set(order)
    assert {function: places for function, places in homes.items() if len(places) > 1} == {}
    calls = {(name, function) for name in order for function in homes
             if re.search(rf"(?<![\w.]){function}\(", re.sub(rf"\bfunc {function}\b", "", texts[name]))}
    assert len(calls) > 100
    assert {(name, function) for name, function in calls if order.index(name) > min(homes[function])} == set()


def test_functions_that_prose_names_exist():
    """`Type.function` anywhere in the architecture and the decisions."""
    text = "\n".join(sources().values())
    for article in [ARCHITECTURE, ARCHITECTURE.with_name("Decisions.md")]:
        named = re.findall(r"`([A-Z]\w+)\.((?!swift)[a-z]\w+)(?:\([^`]*\))?`", article.read_text())
        for kind, function in named:
            assert re.search(rf"\b(?:class|struct|enum|extension|protocol) {kind}\b", text), f"{article.name}: {kind}"
            assert re.search(rf"\b{function}\b", text), f"{article.name}: {kind}.{function}"


def links(page: Path) -> list[str]:
    """The links of a page that stay in the repository; code has none."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    found = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(page: Path) -> set[str]:
    """The texts that a link may have behind its #, as GitHub and DocC make it of headings."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", head).strip() for head in heads]
    return {re.sub(r"\s", "-", head).lower() for head in plain}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page):
    """Each link within the repository leads to a file that exists and to a heading in it."""
    for link in links(REPOSITORY / page):
        path, _, anchor = link.partition("#")
        target = (REPOSITORY / page).parent / path if path else REPOSITORY / page
        # The picture is made by hand, from the page as it is.
        assert target.exists() or path.endswith(".png"), link
        if anchor:
            assert anchor.lower() in anchors(target), link


def test_every_page_is_reached_from_the_index():
    """Every page is linked from another one, because nobody finds a page without a link."""
    reached: set[Path] = set()
    waiting = [ARTICLES / "timersync.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page not in reached and page.suffix == ".md" and page.exists():
            reached.add(page)
            waiting += [page.parent / link.partition("#")[0] for link in links(page) if not link.startswith("#")]

    assert {page for page in PAGES if (REPOSITORY / page).resolve() not in reached} == set()
