"""Each view at three sizes in light and dark, put together as one sheet for people to look at.

It is kept as .build/test-run/contact-sheet.png, or where TIMERSYNC_CONTACT_SHEET says.
"""

import io
import os
import pathlib

from PIL import Image, ImageStat

from test_accessible_screens import fill

SIZES = [(390, 844), (1440, 900), (3840, 2160)]
ROW_HEIGHT = 540
GAP = 20
KEPT = pathlib.Path(__file__).resolve().parents[2] / ".build" / "test-run" / "contact-sheet.png"


def pictures(server, open_page):
    views = {"dashboard": server.page(), "display": server.page("running"), "remote": server.page("running") + "&control"}
    for view, address in views.items():
        page = open_page(address)
        page.locator("[data-digits]").first.wait_for()
        page.wait_for_timeout(500)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                page.wait_for_timeout(100)
                yield (view, scheme, width), Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def test_every_view_is_on_the_contact_sheet(server, script, open_page):
    fill(script)
    shown = dict(pictures(server, open_page))

    assert len(shown) == 18
    for name, picture in shown.items():
        assert picture.width == name[2]
        assert max(ImageStat.Stat(picture.convert("L")).stddev) > 5, f"{name} is blank"
        brightness = ImageStat.Stat(picture.convert("L")).median[0]
        assert brightness > 128 if name[1] == "light" else brightness < 128, f"{name} is not {name[1]}"
    assert keep(shown).stat().st_size > 0


def keep(shown):
    rows = {}
    for (view, scheme, _), picture in shown.items():
        size = (round(picture.width * ROW_HEIGHT / picture.height), ROW_HEIGHT)
        rows.setdefault((view, scheme), []).append(picture.resize(size, Image.LANCZOS))
    width = max(sum(picture.width + GAP for picture in row) for row in rows.values()) + GAP
    sheet = Image.new("RGB", (width, len(rows) * (ROW_HEIGHT + GAP) + GAP), "#808080")
    for y, row in enumerate(rows.values()):
        x = GAP
        for picture in row:
            sheet.paste(picture, (x, GAP + y * (ROW_HEIGHT + GAP)))
            x += picture.width + GAP
    path = pathlib.Path(os.environ.get("TIMERSYNC_CONTACT_SHEET", KEPT))
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path)
    return path
