"""The page that is built into the program."""

from pathlib import Path
from urllib.request import Request, urlopen

import pytest

WEB = Path(__file__).resolve().parents[2] / "web"
FILES = sorted(path.relative_to(WEB).as_posix() for path in WEB.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", FILES)
def test_each_file_of_the_page_is_built_in(shared_server, name):
    """The program serves the very bytes of the folder, with a type that browsers take."""
    with urlopen(f"{shared_server.http}/{name}", timeout=5) as answer:
        assert answer.read() == (WEB / name).read_bytes()
        kinds = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
        assert answer.headers["Content-Type"].split(";")[0] == kinds[name.rsplit(".", 1)[1]]


def test_the_front_is_the_index(shared_server):
    """The bare address shows the page, and HEAD says how long it is."""
    index = (WEB / "index.html").read_bytes()
    with urlopen(shared_server.http, timeout=5) as answer:
        assert answer.read() == index
    with urlopen(Request(shared_server.http, method="HEAD"), timeout=5) as answer:
        assert answer.read() == b"" and int(answer.headers["Content-Length"]) == len(index)
