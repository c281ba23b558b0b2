"""A token file behind links, as secrets are mounted: whichever link changes, a removed token ends within a second."""

import contextlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from session import WITHIN, Session
from timer_server import Server, server_argv

# A second, and the time that a busy machine takes.
SOON = 3.0
EMPTY = {"version": 1, "tokens": []}


def token_file(path: Path) -> str:
    """Makes a file with one token, and returns the token."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        server_argv("token", "add", "--name", "stage", "--role", "control", "--tokens", str(path)),
        capture_output=True, text=True, check=True).stdout.strip()


def relink(link: Path, target: str) -> None:
    """Replaces a link by another one in one step."""
    beside = link.with_name(link.name + ".tmp")
    beside.symlink_to(target)
    beside.rename(link)


def link_of_the_folder(root: Path):
    """Mounts the file as Kubernetes mounts a secret: a link into `..data`, which is a link to the newest folder."""
    secret = token_file(root / "..v1/tokens.json")
    (root / "..v2").mkdir()
    (root / "..v2/tokens.json").write_text(json.dumps(EMPTY))
    (root / "..data").symlink_to("..v1")
    # The file's own folder is another one than that of the link that is swapped.
    (root / "etc").mkdir()
    (root / "etc/tokens.json").symlink_to("../..data/tokens.json")
    return secret, root / "etc/tokens.json", lambda: relink(root / "..data", "..v2")


def link_of_a_folder_above(root: Path):
    secret = token_file(root / "one/etc/tokens.json")
    (root / "two/etc").mkdir(parents=True)
    (root / "two/etc/tokens.json").write_text(json.dumps(EMPTY))
    (root / "now").symlink_to("one")
    return secret, root / "now/etc/tokens.json", lambda: relink(root / "now", "two")


def target_of_the_file(root: Path):
    """The link stays, and its target is replaced in the target's own folder."""
    secret = token_file(root / "elsewhere/real")
    (root / "etc").mkdir()
    (root / "etc/tokens.json").symlink_to(root / "elsewhere/real")

    def replace() -> None:
        (root / "elsewhere/next").write_text(json.dumps(EMPTY))
        (root / "elsewhere/next").rename(root / "elsewhere/real")
    return secret, root / "etc/tokens.json", replace


def another_name_of_the_file(root: Path):
    """The file is written through a hard link in another folder."""
    secret = token_file(root / "etc/tokens.json")
    (root / "elsewhere").mkdir()
    os.link(root / "etc/tokens.json", root / "elsewhere/other")
    return secret, root / "etc/tokens.json", lambda: (root / "elsewhere/other").write_text(json.dumps(EMPTY))


def tool_through_the_link(root: Path):
    secret, path, _ = target_of_the_file(root)
    return secret, path, lambda: subprocess.run(
        server_argv("token", "remove", "stage", "--tokens", str(path)), check=True)


@pytest.fixture
def following(tmp_path):
    """Starts a server with one of these places, and a connection that holds its token."""
    with contextlib.ExitStack() as stack:
        def start(place):
            secret, path, change = place(tmp_path / "root")
            server = Server(tmp_path / "data", "--tokens", str(path), "--log-level", "info").start()
            stack.callback(server.kill)
            session = stack.enter_context(Session(server, f"?token={secret}"))
            assert session.hello["role"] == "control"
            return server, session, change
        yield start


def is_closed(session: Session, within: float = SOON) -> bool:
    end = time.monotonic() + within
    try:
        while (rest := end - time.monotonic()) > 0:
            session.socket.recv(rest)
    except TimeoutError:
        return False
    except ConnectionClosed:
        assert session.socket.close_code == 1008
        return True
    return False


@pytest.mark.parametrize("place", [link_of_the_folder, target_of_the_file, *(
    pytest.param(place, marks=pytest.mark.long)
    for place in (link_of_a_folder_above, another_name_of_the_file, tool_through_the_link))])
def test_a_token_ends_whatever_link_is_swapped(following, place):
    _, session, change = following(place)

    change()

    assert is_closed(session), "who holds a token that was removed may still change timers"


@pytest.mark.long
def test_a_token_ends_when_another_file_is_mounted_over_its_own(tmp_path, following):
    server, session, _ = following(another_name_of_the_file)
    (tmp_path / "empty").write_text(json.dumps(EMPTY))
    tokens = tmp_path / "root/etc/tokens.json"
    subprocess.run(["mount", "--bind", str(tmp_path / "empty"), str(tokens)], check=True)
    try:
        assert is_closed(session)
    finally:
        subprocess.run(["umount", "--lazy", str(tokens)], check=True)


def test_a_link_that_leads_nowhere_for_a_moment_ends_nothing(tmp_path, following):
    """A link is swapped in two steps, and for an incomplete file: the tokens stay, and the second fault is logged."""
    server, session, _ = following(link_of_the_folder)
    link = tmp_path / "root/..data"
    link.unlink()
    time.sleep(0.3)
    link.symlink_to("..v1")
    shutil.copytree(tmp_path / "root/..v1", tmp_path / "root/..v3")
    (tmp_path / "root/..v3/tokens.json").write_text("{")
    assert not is_closed(session, within=0.7)
    relink(link, "..v3")

    server.logged("the previous tokens stay valid")

    session.ok("start", "tea", duration=60)
    relink(link, "..v2")
    assert is_closed(session)


def test_the_tool_changes_what_a_link_leads_to(tmp_path):
    """The link stays a link, so that everything else that follows it sees the change too."""
    token_file(tmp_path / "elsewhere/real")
    (tmp_path / "etc").mkdir()
    link = tmp_path / "etc/tokens.json"
    link.symlink_to("../elsewhere/real")

    subprocess.run(server_argv("token", "remove", "stage", "--tokens", str(link)), check=True)

    assert link.is_symlink()
    assert json.loads((tmp_path / "elsewhere/real").read_text())["tokens"] == []
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["elsewhere", "etc", "real", "tokens.json"]


def test_a_ring_of_links_is_told(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    done = subprocess.run(
        server_argv("token", "list", "--tokens", str(tmp_path / "a")), capture_output=True, text=True, timeout=WITHIN)

    assert (done.returncode, len(done.stderr.splitlines())) == (69, 1)
    assert "symbolic links" in done.stderr


def test_a_data_folder_behind_a_link_is_followed(tmp_path):
    """The link is changed to lead to another folder: that folder's timers count, even if no client changes a timer."""
    one, two, link = tmp_path / "one", tmp_path / "two", tmp_path / "data"
    for folder, title in ((one, "one"), (two, "two")):
        folder.mkdir()
        (folder / "tea.json").write_text(
            json.dumps({"version": 1, "timer": "tea", "type": "timer", "duration": 60, "title": title}))
    link.symlink_to("one")
    server = Server(link, "--log-level", "info").start()
    try:
        with Session(server) as session:
            assert session.list()["tea"]["title"] == "one"
            relink(link, "two")
            end = time.monotonic() + 10
            with pytest.raises(ConnectionClosed):
                while time.monotonic() < end:
                    session.socket.recv(10)
        with Session(server) as session:
            assert session.list()["tea"]["title"] == "two"
    finally:
        server.kill()
