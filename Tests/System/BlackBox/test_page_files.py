"""The page that is built into the program."""

import json
import re
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from timer_server import Server

WEB = Path(__file__).resolve().parents[3] / "web"
KINDS = {
    "html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "png": "image/png",
    "webmanifest": "application/manifest+json", "json": "application/json", "ico": "image/x-icon",
    "woff2": "font/woff2", "txt": "text/plain", "md": "text/markdown",
}
FILES = sorted(path.relative_to(WEB).as_posix() for path in WEB.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", FILES)
def test_each_file_of_the_page_is_built_in(shared_server, name):
    """The program serves the very bytes of the folder, with a type that browsers take."""
    with urlopen(f"{shared_server.http}/{name}", timeout=30) as answer:
        assert answer.read() == (WEB / name).read_bytes()
        assert answer.headers["Content-Type"].split(";")[0] == KINDS[name.rsplit(".", 1)[1]]
        # A browser revalidates each time, so that an old page never meets a newer server.
        assert answer.headers["Cache-Control"] == "no-cache"
        tag = answer.headers["ETag"]
    with pytest.raises(HTTPError) as known:
        urlopen(Request(f"{shared_server.http}/{name}", headers={"If-None-Match": tag}), timeout=30)
    assert known.value.code == 304
    with urlopen(Request(f"{shared_server.http}/{name}", method="HEAD"), timeout=30) as answer:
        assert answer.headers["ETag"] == tag and answer.read() == b""


def test_the_list_of_files_names_each_file_that_is_built_in(shared_server):
    """The service worker downloads the files of this list."""
    with urlopen(f"{shared_server.http}/files.json", timeout=30) as answer:
        assert answer.headers["Content-Type"].split(";")[0] == "application/json"
        assert sorted(json.load(answer)) == FILES


def test_the_front_is_the_index(shared_server):
    """The bare address shows the page, and HEAD says how long it is."""
    index = (WEB / "index.html").read_bytes()
    with urlopen(shared_server.http, timeout=30) as answer:
        assert answer.read() == index
    with urlopen(Request(shared_server.http, method="HEAD"), timeout=30) as answer:
        assert answer.read() == b"" and int(answer.headers["Content-Length"]) == len(index)


@pytest.mark.parametrize(("options", "allowed"), [
    ((), "'none'"), (("--frame-ancestors", "none"), "'none'"), (("--frame-ancestors", "*"), "*"),
    (("--frame-ancestors", "self", "--frame-ancestors", "https://dash.example"), "'self' https://dash.example"),
])
def test_only_listed_sites_may_frame_the_page(tmp_path, options, allowed):
    """The page and the API name the sites of `--frame-ancestors` that may embed them; without the option, none."""
    server = Server(tmp_path / "data", *options).start()
    try:
        for path in ("/", "/main.js", "/api/timers", "/nothing-here"):
            request = Request(server.http + path)
            try:
                with urlopen(request, timeout=30) as answer:
                    policy = answer.headers["Content-Security-Policy"]
            except HTTPError as error:
                policy = error.headers["Content-Security-Policy"]
            assert re.findall(r"frame-ancestors ([^;]*)", policy) == [allowed], path
    finally:
        assert server.stop() == 0
