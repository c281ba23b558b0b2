"""The page in a frame of another site."""

import http.server
import threading

import pytest


@pytest.fixture
def dashboard():
    """Another site, whose page has a frame with the page that its address names: `/?http://…`."""
    class Dashboard(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = f'<!doctype html><title>dashboard</title><iframe src="{self.path[2:]}"></iframe>'.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Dashboard)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_port}"
    site.shutdown()
    site.server_close()


def test_a_site_that_is_named_may_show_the_page(server, dashboard, open_page):
    server.stop()
    server.options = ["--frame-ancestors", dashboard]
    server.start()

    page = open_page(f"{dashboard}/?{server.page('tea')}")

    page.frame_locator("iframe").get_by_text("waiting", exact=False).first.wait_for()


def test_another_one_may_not(server, dashboard, open_page):
    page = open_page(f"{dashboard}/?{server.page('tea')}")
    page.wait_for_load_state("networkidle")

    assert page.frame_locator("iframe").locator("main").count() == 0
