"""Screenshots of each view in three sizes, light and dark, side by side on one sheet, for people to look at.

The screenshots are kept in `.build/screens`, or in the folder TIMERSYNC_SCREENS."""

import os
import pathlib

import pytest
from playwright.sync_api import expect

from conftest import WEB

SIZES = [(390, 844), (1440, 900), (3840, 2160)]
SCHEMES = ["light", "dark"]
VIEWS = {
    "dashboard": "/",
    "control": "/?timer=keynote&control",
    "display": "/?timer=keynote",
    "display-ring": "/?timer=panel&progress=ring&clock=1&sync=1",
    "display-overtime": "/?timer=over",
    "display-several": "/?timer=keynote&timer=panel&timer=break&timer=race",
    "display-waiting": "/?timer=nobody",
}
SHEET_HEIGHT = 220


@pytest.fixture
def folder():
    folder = pathlib.Path(os.environ.get("TIMERSYNC_SCREENS", WEB.parent / ".build" / "screens"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fill(script):
    script.do("start", timer="keynote", duration=1500, title="Keynote — Ada Lovelace", warnings=[300, 60])
    script.do("start", timer="panel", duration=1500, title="Panel: who owns the clock?", warnings=[1499, 60])
    script.do("start", timer="over", duration=0.1, title="Lightning talk")
    script.do("start", timer="break", duration=900, title="Break")
    script.do("pause", timer="break")
    script.do("start", timer="race", title="Race")


# Waits until the page is stable: fonts are loaded, and all changes have been painted.
PAINTED = """() => document.fonts.ready.then(() => new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
}))"""


def shots_of(page, folder, name):
    """A screenshot for each size and scheme, by scheme and size."""
    shots = {}
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate(PAINTED)
            shot = folder / f"{name}-{width}x{height}-{scheme}.jpg"
            page.screenshot(path=shot, scale="css", type="jpeg", quality=85)
            shots[scheme, width] = shot
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            f"{name} scrolls sideways at {width}"
        )
    return shots


def test_each_view_in_each_size_light_and_dark(server, script, open_page, folder):
    fill(script)
    shots = {}
    for name, path in VIEWS.items():
        page = open_page(server.url + path, viewport={"width": 390, "height": 844})
        expect(page.locator("main h1").first).to_be_attached()
        expect(page.locator("#connection")).to_be_hidden()
        expect(page.locator("[data-digits]:visible, .waiting:visible").first).not_to_be_empty()
        shots.update({(*which, name): shot for which, shot in shots_of(page, folder, name).items()})
        page.close()

    sheet = folder / "sheet.html"
    sheet.write_text(
        "<!doctype html><meta charset=utf-8><title>Screens</title>"
        "<body style='background:#888;display:flex;flex-wrap:wrap;gap:8px;font:12px sans-serif'>"
        + "".join(
            f"<figure style='margin:0'><img src='{shot.name}' height={SHEET_HEIGHT}><br>{shot.stem}</figure>"
            for shot in (shots[scheme, width, name] for scheme in SCHEMES for name in VIEWS for width, _ in SIZES))
    )
    page = open_page(sheet.as_uri(), viewport={"width": 2400, "height": 1000})
    page.screenshot(path=folder / "sheet.png", full_page=True)

    assert len(shots) == len(VIEWS) * len(SIZES) * len(SCHEMES)
    assert all(shot.stat().st_size > 1000 for shot in shots.values())
