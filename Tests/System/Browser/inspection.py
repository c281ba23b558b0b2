"""Finds what axe complains about on a page, in light and dark, at several widths."""

from axe_playwright_python.sync_playwright import Axe

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

# Rules about colours need both schemes. Rules about room need the smallest and the largest size, and one between.
SIZES = {"light": [(320, 640), (1440, 900)], "dark": [(320, 640), (3840, 2160)]}
ENDS = {"light": [(320, 640)], "dark": [(3840, 2160)]}


def complaints(page):
    """The broken rules, each with its element and the reason. The page returns only these, since the long list of
    rules that hold takes most of the time."""
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(Axe().axe_script)
    violations = page.evaluate(
        """(rules) => axe.run({runOnly: rules, resultTypes: ['violations']}).then((found) => found.violations)""", RULES
    )
    return [
        (violation["id"], node["html"], node.get("failureSummary"))
        for violation in violations
        for node in violation["nodes"]
    ]


def complaints_in_light_and_dark(page, where, sizes=SIZES):
    """The complaints in each scheme and size, with where they occurred, and a page that is wider than its window."""
    found = []
    for scheme in sizes:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for width, height in sizes[scheme]:
            page.set_viewport_size({"width": width, "height": height})
            found += [(where, scheme, width, *complaint) for complaint in complaints(page)]
            overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            found += [(where, scheme, width, f"{overflow} px too wide")] if overflow > 0 else []
    return found
