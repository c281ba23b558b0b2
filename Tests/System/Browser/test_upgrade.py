"""A page of an earlier version, open or in the service worker's cache, when a new server replaces the old one."""

import re

import pytest
from playwright.sync_api import expect

from person import card, digits, has_status
from scripted_server import wait_until

CACHED = """() => caches.open('timersync-shell').then((cache) => cache.keys())
    .then((requests) => requests.map((request) => new URL(request.url).pathname))"""


@pytest.fixture
def server_of_before(server, page_of_before):
    server.stop()
    server.options = ["--web", str(page_of_before)]
    server.start()
    script = server.connect()
    script.do("start", timer="kitchen", duration=3000, title="Pasta")
    script.close()
    return server


def upgrade(server):
    server.stop()
    server.options = []
    server.start()


def test_a_dashboard_of_before_keeps_working(server_of_before, open_page):
    page = open_page(server_of_before.page(), is_alone=True)
    has_status(page, "kitchen", "running")

    upgrade(server_of_before)
    expect(page.locator("#link")).to_be_visible()
    expect(page.locator("#link")).to_be_hidden()
    card(page, "kitchen").get_by_role("button", name="Pause").click()

    has_status(page, "kitchen", "paused")


def test_a_display_of_before_keeps_counting_and_becomes_the_new_one_when_it_needs_more(server_of_before, open_page):
    page = open_page(server_of_before.page("kitchen"), is_alone=True)
    expect(digits(page, "kitchen")).to_have_text(re.compile("^4[89]:|^50:"))

    upgrade(server_of_before)
    expect(page.locator("#link")).to_be_visible()
    expect(page.locator("#link")).to_be_hidden()
    expect(digits(page, "kitchen")).to_have_text(re.compile("^4[89]:|^50:"))
    page.mouse.move(5, 105)
    page.mouse.move(15, 115)

    expect(page.locator("#connection")).to_be_attached()
    expect(digits(page, "kitchen")).to_have_text(re.compile("^4[89]:|^50:"))
    page.mouse.move(25, 125)
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_the_service_worker_of_before_gives_way_to_the_new_one_and_its_files(server_of_before, open_page):
    page = open_page(server_of_before.page("kitchen"), is_alone=True)
    page.evaluate("navigator.serviceWorker.register('sw.js').then(() => navigator.serviceWorker.ready)")
    wait_until(page, lambda: "/desk.js" in page.evaluate(CACHED))
    page.reload()

    upgrade(server_of_before)
    page.reload()
    expect(digits(page, "kitchen")).to_have_text(re.compile("^4[89]:|^50:"))
    page.evaluate("navigator.serviceWorker.register('sw.js')")
    wait_until(page, lambda: "/shared/commands.js" in page.evaluate(CACHED))
    wait_until(page, lambda: "/desk.js" not in page.evaluate(CACHED))

    server_of_before.kill()
    page.reload()
    expect(page.locator("#connection")).to_contain_text("Offline")
