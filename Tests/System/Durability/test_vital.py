"""A failure of something vital ends the server clearly: with one line that says what is wrong and what would be right,
an exit code, and nothing left behind."""

import errno
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from faults import FOREVER, Faults
from session import WITHIN, Session, health
from test_folder import everything, mostly_long, until
from test_startup import put, record
from timer_server import BINARY, Server, server_argv

NOBODY = 65_534


def run(*arguments: str, environment: dict[str, str] | None = None, launcher: tuple[str, ...] = ()):
    without_homes = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_DATA_HOME")}
    return subprocess.run(
        [*launcher, *server_argv(*arguments)], capture_output=True, text=True, timeout=WITHIN,
        stdin=subprocess.DEVNULL, env={**without_homes, **(environment or {})})


# A place for the timers

@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("token", "list")])
@pytest.mark.parametrize("environment", mostly_long(
    {"XDG_DATA_HOME": "relative", "HOME": ""}, {}, {"HOME": ""}, {"HOME": "relative"}, {"XDG_DATA_HOME": ""}))
def test_no_home_and_no_folder_is_a_wrong_command_line(command, environment, tmp_path, monkeypatch):
    """The error says which option is missing, and no folder is made anywhere."""
    monkeypatch.chdir(tmp_path)

    done = run(*command, environment=environment)

    assert done.returncode == 64 and done.stdout == ""
    assert "--data FOLDER" in done.stderr
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("share", ["", "relative/share", None])
def test_a_share_that_is_no_path_counts_as_none(tmp_path, monkeypatch, share):
    monkeypatch.chdir(tmp_path)
    environment = {"HOME": str(tmp_path)} | ({} if share is None else {"XDG_DATA_HOME": share})

    done = run("token", "add", "--name", "stage", "--role", "view", environment=environment)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / ".local/share/timersync/.timersync/tokens.json").exists()


@pytest.mark.parametrize("option", ["--data", "--tokens", "--web"])
def test_an_empty_path_is_none(option):
    done = run("serve", "--port", "0", option, "", environment={"HOME": "/nowhere"})

    assert done.returncode == 64 and option in done.stderr


# Nothing left behind

def taken_port(folder: Path, stack) -> list[str]:
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    stack.append(taken)
    return ["--port", str(taken.getsockname()[1])]


def no_certificate(folder: Path, stack) -> list[str]:
    return ["--tls-cert", str(folder / "none.pem"), "--tls-key", str(folder / "none.key")]


def no_page(folder: Path, stack) -> list[str]:
    return ["--web", str(folder / "none")]


def damaged_tokens(folder: Path, stack) -> list[str]:
    (folder / "tokens").write_text("{")
    return ["--tokens", str(folder / "tokens")]


def no_tokens(folder: Path, stack) -> list[str]:
    return ["--tokens", str(folder / "none/tokens")]


@pytest.mark.parametrize("before", mostly_long("nothing", "an empty folder", "timers"))
@pytest.mark.parametrize("why", [taken_port, no_certificate, no_page, damaged_tokens, no_tokens])
def test_a_start_that_fails_leaves_nothing_behind(tmp_path, why, before):
    """No folder, lock or record is left, and everything from before is untouched."""
    data = tmp_path / "above/data"
    if before != "nothing":
        data.mkdir(parents=True)
    if before == "timers":
        put(data, "tea.json", record("tea"))
        put(data, ".oven.json.new", b"{")
        put(data, "broken.json", b'{"version": 1, "timer": "')
    seen, stack = everything(tmp_path), []
    options = why(tmp_path, stack)

    done = run("serve", "--listen", "127.0.0.1", "--data", str(data), *(options if "--port" in options else [
        "--port", "0", *options]))

    assert done.returncode == 69 and len(done.stderr.splitlines()) == 1, done.stderr
    (tmp_path / "tokens").unlink(missing_ok=True)
    assert everything(tmp_path) == seen
    for taken in stack:
        taken.close()


def test_tokens_that_change_nothing_make_nothing(tmp_path):
    for arguments, code in ((["remove", "stage"], 65), (["list"], 0)):
        done = run("token", *arguments, "--data", str(tmp_path / "above/data"))

        assert done.returncode == code
        assert list(tmp_path.iterdir()) == []


# Errors of the disk

@pytest.fixture
def open_folder():
    """A folder that everybody may read."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o755)
    program = folder / "timersync"
    shutil.copy(BINARY, program)
    program.chmod(0o755)
    yield folder, program
    shutil.rmtree(folder)


def as_nobody(program: Path, *arguments: str):
    return subprocess.run(
        ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", str(program), *arguments],
        capture_output=True, text=True, timeout=WITHIN, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("what", mostly_long("the folder", "the folder above", "its inside", "the tokens"))
@pytest.mark.parametrize("command", ["serve", "add", "list", "remove"])
def test_a_missing_permission_is_reported_with_the_user_that_lacks_it(open_folder, what, command):
    folder, program = open_folder
    data = folder / "above/data"
    inside = data / ".timersync"
    inside.mkdir(parents=True)
    put(inside, "tokens.json", {"version": 1, "tokens": []})
    closed = {"the folder above": data.parent, "the folder": data, "its inside": inside,
              "the tokens": inside / "tokens.json"}[what]
    closed.chmod(0)
    arguments = {
        "serve": ["serve", "--port", "0"], "list": ["token", "list"], "remove": ["token", "remove", "stage"],
        "add": ["token", "add", "--name", "stage", "--role", "view"]}[command]

    done = as_nobody(program, *arguments, "--data", str(data))

    assert done.returncode == 69 and len(done.stderr.splitlines()) == 1, done
    assert "Permission denied" in done.stderr and str(data) in done.stderr and f"uid {NOBODY}" in done.stderr


@pytest.mark.parametrize(("make", "words"), [
    (lambda folder: folder.symlink_to(folder.name), "symbolic links"),
    (lambda folder: folder.write_text(""), "Not a directory"),
])
def test_a_folder_that_is_none_is_told(tmp_path, make, words):
    data = tmp_path / "data"
    make(data)
    for arguments in (["serve", "--port", "0"], ["token", "add", "--name", "stage", "--role", "view"]):
        done = run(*arguments, "--data", str(data))

        assert done.returncode == 69 and len(done.stderr.splitlines()) == 1, done
        assert words in done.stderr


def test_a_name_that_is_too_long_is_told(tmp_path):
    done = run("serve", "--port", "0", "--data", str(tmp_path / ("x" * 300) / "data"))

    assert done.returncode == 69 and "too long" in done.stderr
    assert list(tmp_path.iterdir()) == []


# Parts that can't be read

def test_recent_requests_that_can_not_be_read_do_not_keep_the_timers(tmp_path, library):
    """The keys cover the last minutes only: their file is moved to quarantine and logged, and the server starts."""
    data = tmp_path / "data"
    server = Server(data).start()
    with Session(server) as session:
        session.ok("start", "tea", duration=600, requestId="once")
    server.stop()
    before = (data / ".requests").read_bytes()
    faults = Faults(library, tmp_path, data / ".requests")
    server.environment = faults.environment
    faults.arm("open", errno.EACCES, 1, FOREVER)

    server.start()

    try:
        assert "Permission denied" in server.logged(".requests")
        assert [fault["file"] for fault in health(server)["faults"]] == [".requests"]
        with Session(server) as session:
            assert set(session.list()) == {"tea"}
            session.ok("pause", "tea")
        assert (data / "quarantine/.requests").read_bytes() == before
        assert server.stop() == 0
    finally:
        server.kill()


@pytest.mark.parametrize("command", mostly_long("update", "remove"))
def test_a_mistyped_edit_is_kept_when_its_timer_changes(tmp_path, command):
    """A change overwrites the edit, which goes to quarantine, and the log says where; a second edit is kept, too."""
    server = Server(tmp_path / "data", "--log-level", "info").start()
    try:
        with Session(server) as session:
            session.ok("start", "tea", duration=600)
            kept = []
            for number in range(2):
                mistyped = f'{{"version": 1, "timer": "tea", "title": "hours of work {number}"'.encode()
                until(lambda: (server.data / "tea.json").exists(), "the file is written")
                (server.data / "tea.json").write_bytes(mistyped)
                kept.append(mistyped)
                until(lambda: server.log.count("can't be loaded") >= 1 and health(server)["faults"], "it is told")
                if command == "remove" and number == 1:
                    session.ok("remove", "tea")
                else:
                    session.ok("update", "tea", title=f"by wire {number}")
                until(lambda: len(list((server.data / "quarantine").glob("*"))) == number + 1, "it is put aside")
                until(lambda: health(server)["faults"] == [], "it is no fault any more")
        assert {path.read_bytes() for path in (server.data / "quarantine").iterdir()} == set(kept)
        assert str(server.data / "quarantine") in server.logged("was replaced by a change of its timer")
    finally:
        server.kill()
