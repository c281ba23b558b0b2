"""The data folder while a server owns it, and between two servers: syncs that fail, folders that are removed,
replaced and restored, files that are gone for a moment, that can't be read, or are not ours."""

import contextlib
import errno
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from faults import FOREVER, Faults, build_library
from session import WITHIN, Session, health, lasting, wait_until_tidy
from test_faults import fill, mounted
from test_startup import put, record, replace
from timer_server import Server, server_argv

NEWER_DATA = 65


def mostly_long(first, *others):
    """The arguments of a test; all but the first are for a long run."""
    return [first, *(pytest.param(other, marks=pytest.mark.long) for other in others)]


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return build_library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def server(tmp_path):
    """A server of this test alone, not started yet."""
    server = Server(tmp_path / "data", "--log-level", "info")
    yield server
    server.kill()


def readiness(server: Server) -> tuple[int, dict]:
    try:
        with urllib.request.urlopen(f"{server.http}/readyz", timeout=WITHIN) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def until(holds, what: str, within: float = WITHIN):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + within
    while not (found := holds()):
        assert time.monotonic() < end, f"{what}: not within {within} s"
        time.sleep(0.02)
    return found


def change_soon(session: Session, title: str) -> dict:
    """Repeats a change until it is made; until then it is refused with the right code only."""
    def change():
        reply = session.ask("update", "tea", title=title)
        assert reply["ok"] or reply["error"]["code"] == "storageFailed", reply
        return reply.get("timer") if reply["ok"] else None
    return until(change, "no change is stored")


def everything(folder: Path) -> dict:
    return {
        str(path.relative_to(folder)): (path.read_bytes() if path.is_file() else None, path.lstat().st_ctime_ns)
        for path in sorted(folder.rglob("*"))}


# A failed sync

@pytest.mark.parametrize("syncs", mostly_long(1, 2))
def test_files_are_written_anew_after_a_failed_sync(server, library, tmp_path, syncs):
    """Linux counts the pages of a failed sync as written: each file is replaced before the log forgets its changes."""
    faults = Faults(library, tmp_path, server.data)
    server.environment = faults.environment
    server.start()
    with Session(server) as session:
        names = [f"timer {number}" for number in range(3)]
        for name in names:
            session.ok("start", name, duration=600)
        files = [server.data / f"timer%20{number}.json" for number in range(3)]
        until(lambda: all(file.exists() for file in files), "the files are written")
        faults.arm("sync", errno.EIO, 1, syncs)
        # The files are held open, so that none of their inodes is given to another file.
        held = [file.open() for file in files]
        before = [os.fstat(file.fileno()).st_ino for file in held]
        until(lambda: faults.failed == syncs, "the sync of all files fails")
        wait_until_tidy(server)

        after = [file.stat().st_ino for file in files]
        assert not set(before) & set(after), "what a failed sync may have lost was not written again"
        assert {json.loads(file.read_text())["timer"] for file in files} == set(names)
        for file in held:
            file.close()


# The folder, the log or the lock is another one

def remove_log(data: Path) -> None:
    (data / ".timersync/log").unlink()


def replace_log(data: Path) -> None:
    fresh = data / ".timersync/log2"
    fresh.write_bytes(b"")
    fresh.rename(data / ".timersync/log")


def remove_inside(data: Path) -> None:
    shutil.rmtree(data / ".timersync")


def remove_lock(data: Path) -> None:
    (data / ".timersync/lock").unlink()


def remove_contents(data: Path) -> None:
    subprocess.run("rm -rf .timersync .server *", shell=True, cwd=data, check=True)


def remove_folder(data: Path) -> None:
    shutil.rmtree(data)
    data.mkdir()


def move_away(data: Path) -> None:
    data.rename(data.with_name("moved away"))
    data.mkdir()


@pytest.mark.parametrize(
    "harm",
    mostly_long(remove_log, remove_folder, replace_log, remove_inside, remove_lock, remove_contents, move_away),
    ids=lambda harm: harm.__name__)
def test_nothing_answered_is_lost_when_the_folder_is_harmed(server, harm):
    """All answered changes are there after a kill, and the server needed no help to go on."""
    server.start()
    with Session(server, "?timer=*&interval=0") as session:
        session.ok("start", "oven", duration=600)
        session.ok("start", "tea", duration=600)
        wait_until_tidy(server)
        oven = session.ok("pause", "oven")

        harm(server.data)

        tea = change_soon(session, "after")
        tea = change_soon(session, "at last")
        assert readiness(server)[0] == 200
        session.hears_nothing(lambda push: push["event"] == "removed", during=0.7)
    server.kill()
    server.start()
    with Session(server) as session:
        assert {name: lasting(state) for name, state in session.list().items()} == {
            "oven": lasting(oven), "tea": lasting(tea)}


def test_a_folder_that_is_gone_is_waited_for(server, tmp_path):
    """Changes are refused meanwhile, clients can read the reason, and all goes on when the folder is back."""
    server.start()
    with Session(server) as session:
        before = session.ok("start", "tea", duration=600)
        server.data.rename(tmp_path / "elsewhere")

        for _ in range(3):
            reply = session.ask("pause", "tea")
            assert reply["error"]["code"] == "storageFailed"
            assert lasting(reply["timer"]) == lasting(before)
        until(lambda: readiness(server)[0] == 503, "it says that it is not ready")
        told = health(server)
        assert told["writable"] is False and "data folder" in told["reason"] and str(tmp_path) not in told["reason"]
        assert not server.data.exists()

        (tmp_path / "elsewhere").rename(server.data)

        until(lambda: readiness(server)[0] == 200, "it is ready again")
        assert "writable" not in health(server)
        paused = session.ok("pause", "tea")
    server.restart()
    with Session(server) as session:
        assert lasting(session.list()["tea"]) == lasting(paused)


@pytest.mark.long
def test_an_empty_disk_in_its_place_is_not_written_to(server):
    """A disk that was not mounted, or is mounted over the folder: nothing is written there."""
    server.start()
    with Session(server) as session:
        session.ok("start", "tea", duration=600)
        with mounted(server.data, "-t", "tmpfs", "-o", "size=1m", "tmpfs"):
            assert session.ask("pause", "tea")["error"]["code"] == "storageFailed"
            until(lambda: "another disk" in health(server).get("reason", ""), "it says why")
            assert list(server.data.iterdir()) == []
        change_soon(session, "back")


def test_another_folder_in_its_place_is_a_restore(server, tmp_path):
    """The timers of the other folder count, its log included; connections are closed, so that clients reconnect."""
    server.start()
    with Session(server) as session:
        for name in ("tea", "oven"):
            session.ok("start", name, duration=600)
        session.ok("pause", "oven")
        server.kill()
    backup = tmp_path / "backup"
    shutil.copytree(server.data, backup)
    server.start()
    with Session(server, "?timer=*&interval=0") as session:
        session.ok("remove", "oven")
        session.ok("start", "egg", duration=240)
        changed = session.ok("update", "tea", title="after the backup")
        session.hear(lambda push: push.get("cause") == "updated")
        server.data.rename(tmp_path / "old")

        backup.rename(server.data)

        with contextlib.suppress(ConnectionClosed):
            while True:
                session.pushes.append(json.loads(session.socket.recv(WITHIN)))
        assert session.socket.close_code == 1012
        pushes = [(push["event"], push.get("cause")) for push in session.pushes]
        assert ("removed", None) in pushes and ("snapshot", "external") in pushes
    with Session(server) as session:
        found = session.list()
        assert {name: state["status"] for name, state in found.items()} == {"tea": "running", "oven": "paused"}
        assert found["tea"]["title"] == "" and found["tea"]["revision"] > changed["revision"]
        kept = session.ok("update", "tea", title="kept")
    server.restart()
    with Session(server) as session:
        assert lasting(session.list()["tea"]) == lasting(kept)
        assert set(session.list()) == {"tea", "oven"}


@pytest.mark.parametrize("how", mostly_long("lock removed", "folder copied"))
def test_two_servers_never_own_one_folder(server, tmp_path, how):
    """A second server gets the folder that the first has lost, and the first says so and makes no more changes."""
    server.start()
    with Session(server) as session:
        session.ok("start", "tea", duration=600)
        wait_until_tidy(server)
        second = Server(server.data, "--log-level", "info")
        try:
            # The first server would take the folder back within a second, so its process is stopped meanwhile.
            os.kill(server.process.pid, 19)
            if how == "lock removed":
                remove_lock(server.data)
            else:
                server.data.rename(tmp_path / "old")
                shutil.copytree(tmp_path / "old", server.data)
            second.start()
            os.kill(server.process.pid, 18)

            assert session.ask("update", "tea", title="first")["error"]["code"] == "storageFailed"
            with Session(second) as other:
                kept = other.ok("update", "tea", title="second")
                until(
                    lambda: str(second.process.pid) in health(server).get("reason", ""), "it says which process")
                assert session.ask("update", "tea", title="first")["error"]["code"] == "storageFailed"
                kept = other.ok("pause", "tea")
        finally:
            second.kill()
    server.kill()
    server.start()
    with Session(server) as session:
        assert lasting(session.list()["tea"]) == lasting(kept)


# Gone for a moment

PAUSE = 0.15


def git_checkout(path: Path, contents: bytes) -> None:
    path.unlink()
    time.sleep(PAUSE)
    path.write_bytes(contents)


def move_and_write(path: Path, contents: bytes) -> None:
    path.rename(path.with_name("tea.old"))
    time.sleep(PAUSE)
    path.write_bytes(contents)


def remove_and_move(path: Path, contents: bytes) -> None:
    beside = path.with_name("tea.tmp")
    beside.write_bytes(contents)
    path.unlink()
    time.sleep(PAUSE)
    beside.rename(path)


def sed_in_place(path: Path, contents: bytes) -> None:
    beside = path.with_name("sedAbC")
    beside.write_bytes(contents)
    beside.rename(path)


def truncate_and_write(path: Path, contents: bytes) -> None:
    path.write_bytes(b"")
    time.sleep(PAUSE)
    path.write_bytes(contents)


@pytest.mark.parametrize(
    "save", mostly_long(git_checkout, truncate_and_write, move_and_write, remove_and_move, sed_in_place),
    ids=lambda save: save.__name__)
def test_a_save_removes_no_timer(server, save):
    """However an editor saves, the timer is edited once, and never removed; its named changes stay known."""
    server.start()
    with Session(server, "?timer=*&interval=0") as session:
        session.ok("start", "tea", duration=600)
        session.ok("addRemainingTime", "tea", seconds=5, requestId="once")
        wait_until_tidy(server)
        path = server.data / "tea.json"
        contents = json.dumps(json.loads(path.read_text()) | {"title": "saved"}).encode()

        save(path, contents)

        push = session.hear(lambda push: push.get("cause") == "external")
        assert push["timers"][0]["title"] == "saved"
        session.hears_nothing(lambda push: push["event"] == "removed", during=0.7)
        assert session.list()["tea"]["addedTime"] == 5
        assert session.ok("addRemainingTime", "tea", seconds=5, requestId="once")["addedTime"] == 5
    assert health(server)["faults"] == []


@contextlib.contextmanager
def tokened(server: Server):
    """A server with one token, and a connection that holds it."""
    made = subprocess.run(
        server_argv("token", "add", "--name", "stage", "--role", "control", "--data", str(server.data)),
        capture_output=True, text=True, check=True)
    server.start()
    with Session(server, f"?token={made.stdout.strip()}") as session:
        assert session.hello["role"] == "control"
        yield session, server.data / ".timersync/tokens.json"


@pytest.mark.parametrize("gap", mostly_long("absent", "empty", "malformed"))
def test_tokens_that_are_gone_for_a_moment_stay(server, gap):
    """Replacing the token file in two steps closes no connection whose token stays."""
    with tokened(server) as (session, file):
        contents = file.read_bytes()
        if gap == "absent":
            file.unlink()
        else:
            file.write_bytes(b"" if gap == "empty" else contents[:20])
        time.sleep(PAUSE)
        file.write_bytes(contents)

        session.ok("start", "tea", duration=60)
        time.sleep(0.6)
        session.ok("pause", "tea")
        assert "the previous tokens stay valid" not in server.log


def test_tokens_that_are_gone_are_gone(server):
    """The token file is removed for good: connections that used a token are closed."""
    with tokened(server) as (session, file):
        file.unlink()

        with pytest.raises(ConnectionClosed):
            session.socket.recv(WITHIN)
        assert session.socket.close_code == 1008


# Unreadable, newer, foreign

@pytest.fixture
def unreadable(server, library, tmp_path):
    """A server whose file tea.json can't be opened as long as the fault is armed."""
    put(server.data, "tea.json", record("tea", title="kept"))
    put(server.data, "oven.json", record("oven"))
    faults = Faults(library, tmp_path, server.data / "tea.json")
    server.environment = faults.environment
    return server, faults


@pytest.mark.parametrize("error", mostly_long("EIO", "EACCES"))
def test_a_file_that_can_not_be_read_is_left_and_read_later(unreadable, error):
    """The file is neither moved nor overwritten; its timer is there as soon as it can be read."""
    server, faults = unreadable
    faults.arm("open", getattr(errno, error), 1, FOREVER)
    before = (server.data / "tea.json").stat().st_ino
    server.start()
    with Session(server) as session:
        assert set(session.list()) == {"oven"}
        assert [fault["file"] for fault in health(server)["faults"]] == ["tea.json"]
        for fields in ({}, {"force": True}):
            refused = session.ask("start", "tea", duration=60, **fields)
            assert refused["error"]["code"] == "storageFailed", refused
        assert session.ok("start", "oven")["status"] == "running"

        faults.disarm()

        until(lambda: "tea" in session.list(), "the timer is taken up")
        assert session.list()["tea"]["title"] == "kept"
        assert session.ok("start", "tea")["status"] == "running"
    assert health(server)["faults"] == []
    assert before and not (server.data / "quarantine").exists()


@pytest.mark.long
def test_an_edit_that_can_not_be_read_is_read_later(unreadable):
    """The timer stays as it was, can't be changed meanwhile, and is then what the file says."""
    server, faults = unreadable
    server.start()
    with Session(server, "?timer=*&interval=0") as session:
        faults.arm("open", errno.EIO, 1, FOREVER)
        replace(server.data / "tea.json", record("tea", title="edited"))
        until(lambda: health(server)["faults"], "it is reported")
        assert session.list()["tea"]["title"] == "kept"
        assert session.ask("start", "tea")["error"]["code"] == "storageFailed"

        faults.disarm()

        assert session.hear(lambda push: push.get("cause") == "external")["timers"][0]["title"] == "edited"
        assert session.ok("start", "tea")["title"] == "edited"


FOREIGN = {
    "package": json.dumps({"name": "stage", "version": "1.0.0", "dependencies": {}}).encode(),
    "tsconfig": b'{\n  // A comment, as TypeScript allows.\n  "compilerOptions": {"strict": true}\n}\n',
    "list": b"[1, 2]",
    "notes": b"first, call the crew\n",
    "lock": b'{"version": 3, "packages": {}}',
}


def test_files_of_other_programs_are_left(server):
    """A folder of somebody's project: its files are neither moved nor written over, whatever a timer is called."""
    for name, contents in FOREIGN.items():
        put(server.data, f"{name}.json", contents)
    server.start()
    with Session(server) as session:
        assert session.list() == {}
        for name in FOREIGN:
            for fields in ({}, {}, {"force": True}):
                assert session.ask("start", name, duration=60, **fields)["error"]["code"] == "storageFailed"
        session.ok("start", "tea", duration=60)
        wait_until_tidy(server)
        put(server.data, "later.json", b'{"later": true}')
        until(lambda: any(fault["file"] == "later.json" for fault in health(server)["faults"]), "it is reported")
        assert session.ask("start", "later", duration=60)["error"]["code"] == "storageFailed"
        (server.data / "notes.json").unlink()
        until(lambda: session.ask("start", "notes", duration=60)["ok"], "the name is free")
    server.restart()
    for name in FOREIGN.keys() - {"notes"}:
        assert (server.data / f"{name}.json").read_bytes() == FOREIGN[name]
    assert not (server.data / "quarantine").exists()
    with Session(server) as session:
        assert set(session.list()) == {"tea", "notes"}


@pytest.mark.long
def test_a_file_in_the_place_of_a_timers_is_spared(server):
    """Another program's file over a running timer's: the timer can't be changed, and gets its place back."""
    server.start()
    with Session(server) as session:
        session.ok("start", "package", duration=0.4, atZero="finish")
        wait_until_tidy(server)
        replace(server.data / "package.json", FOREIGN["package"])
        until(lambda: health(server)["faults"], "it is reported")
        assert session.ask("update", "package", title="x")["error"]["code"] == "storageFailed"
        until(lambda: session.list()["package"]["status"] == "finished", "it ends all the same")
        wait = session.ok("start", "tea", duration=60)
        time.sleep(1.2)
        assert (server.data / "package.json").read_bytes() == FOREIGN["package"]
    server.restart()
    with Session(server) as session:
        assert (server.data / "package.json").read_bytes() == FOREIGN["package"]
        found = session.list()
        assert found["package"]["status"] == "finished" and lasting(found["tea"]) == lasting(wait)

        (server.data / "package.json").unlink()

        until(lambda: session.ask("update", "package", title="back")["ok"], "it can be changed again")
        until(lambda: (server.data / "package.json").exists(), "its file is back")


def log_entry(version: int) -> bytes:
    head = {"files": [], "version": version, "generation": 0, "entry": 0, "first": 0, "checksum": 14695981039346656037}
    return json.dumps(head, separators=(",", ":")).encode() + b"\n"


NEWER = {
    "oven.json": json.dumps(record("oven", version=2)).encode(),
    ".server": b'{"version": 2, "revisionCeiling": {"at": 5}}',
    ".requests": b'{"version": 2}',
    ".timersync/log": log_entry(2),
    ".timersync/history": b'{"version": 2, "history": "x"}',
}


@pytest.mark.parametrize("name", NEWER)
@pytest.mark.parametrize("was_used", mostly_long(True, False))
def test_data_of_a_newer_version_ends_the_start(server, name, was_used):
    """The start fails with one line and exit code 65; nothing in the folder is touched."""
    if was_used:
        server.start()
        with Session(server) as session:
            session.ok("start", "tea", duration=600)
        server.kill()
    put(server.data, "damaged.json", b'{"version": 1, "timer": "damaged"')
    put(server.data, ".tea.json.new", b"left over")
    if "/" in name:
        (server.data / ".timersync").mkdir(exist_ok=True)
    put(server.data, name, NEWER[name])
    before = everything(server.data)

    ended = subprocess.run(
        server_argv("serve", "--listen", "127.0.0.1", "--port", "0", "--data", str(server.data)),
        capture_output=True, text=True, timeout=WITHIN)

    assert (ended.returncode, len(ended.stderr.splitlines())) == (NEWER_DATA, 1), ended
    assert name in ended.stderr and "newer" in ended.stderr
    assert everything(server.data) == before


@pytest.mark.long
def test_an_edit_of_a_newer_version_is_left(server):
    """The edit is reported, and not overwritten; the timer stays as it was."""
    server.start()
    with Session(server) as session:
        before = session.ok("start", "oven", duration=600)
        wait_until_tidy(server)
        replace(server.data / "oven.json", NEWER["oven.json"])
        until(lambda: health(server)["faults"], "it is reported")
        assert session.ask("pause", "oven")["error"]["code"] == "storageFailed"
        assert lasting(session.list()["oven"]) == lasting(before)
        session.ok("start", "other", duration=60)
        until(lambda: (server.data / "other.json").exists(), "another timer's file is written")
        time.sleep(1.2)
    assert (server.data / "oven.json").read_bytes() == NEWER["oven.json"]


def test_every_start_tells_of_the_quarantine(server):
    for name in ("tea", "oven"):
        put(server.data, f"{name}.json", b'{"version": 1, "timer": "' + name.encode())
    for _ in range(2):
        server.start()
        assert "2 files, oven.json, tea.json" in server.logged("in quarantine")
        server.kill()
        server._log.clear()


@pytest.mark.parametrize("revision", mostly_long(2**53, 2**53 - 1, 2**52 + 1))
def test_an_implausible_revision_harms_nothing(server, revision):
    """A huge revision that somebody wrote is not where the counter goes on, and does not harm other timers."""
    put(server.data, "tea.json", record("tea", revision=revision))
    put(server.data, "oven.json", record("oven", revision=7))
    for _ in range(3):
        server.start()
        with Session(server) as session:
            kept = {name: session.ok("start", name, force=True) for name in ("tea", "oven", "egg")}
            assert all(7 < state["revision"] < 2**40 for state in kept.values())
        server.stop()
    server.start()
    with Session(server) as session:
        assert {name: lasting(state) for name, state in session.list().items()} == {
            name: lasting(state) for name, state in kept.items()}
    assert health(server)["faults"] == []


# A left-over log, copies and histories

@pytest.fixture
def crashed(server):
    """A killed server whose log holds a change of tea and a removal of oven; tea's file is older than that change."""
    server.start()
    with Session(server) as session:
        while True:
            for name in ("tea", "oven"):
                session.ok("start", name, duration=600, force=True)
            wait_until_tidy(server)
            before = (server.data / "tea.json").read_bytes()
            paused = session.ok("pause", "tea")
            session.ok("remove", "oven")
            if (server.data / ".timersync/log").stat().st_size:
                break
    server.kill()
    return server, before, paused


@pytest.mark.parametrize("name", mostly_long("tea", "oven"))
def test_a_restored_file_wins_over_a_left_over_log(crashed, name):
    """Somebody puts a file there after the crash: the timer has the file's state, and the log says so."""
    server, _, paused = crashed
    replace(server.data / f"{name}.json", record(name, title="restored"))

    server.start()

    with Session(server) as session:
        found = session.list()
        assert found[name]["title"] == "restored"
        if name == "oven":
            assert lasting(found["tea"]) == lasting(paused)
    server.logged(f"{name}.json was changed by others")


def test_a_copy_goes_by_its_log_and_has_a_history_of_its_own(crashed, tmp_path):
    """A folder is copied while files are behind the log: the log counts, and revisions go on far above."""
    server, before, paused = crashed
    history = json.loads((server.data / ".timersync/history").read_text())
    (server.data / "tea.json").write_bytes(before)
    copy = Server(tmp_path / "copy", "--log-level", "info")
    shutil.copytree(server.data, copy.data)
    # Of a copy all times are those of the copying: this one comes last.
    (copy.data / "tea.json").write_bytes(before)
    copy.start()
    try:
        with Session(copy) as session:
            assert {name: lasting(state) for name, state in session.list().items()} == {"tea": lasting(paused)}
            assert session.ok("resume", "tea")["revision"] > paused["revision"] + 900_000
    finally:
        copy.kill()
    fresh = json.loads((copy.data / ".timersync/history").read_text())
    assert fresh["history"] != history["history"] and len(fresh["history"]) >= 16
    assert fresh["inode"] == (copy.data / ".timersync/history").stat().st_ino


def test_a_restart_keeps_the_history(server):
    """Restarts and kills keep the history; a lost or damaged record of the server does not."""
    def history() -> str:
        server.start()
        with Session(server) as session:
            session.ok("start", "tea", duration=600, force=True)
        server.kill()
        return json.loads((server.data / ".timersync/history").read_text())["history"]

    first = history()
    assert [history() for _ in range(2)] == [first] * 2
    (server.data / ".timersync/log").write_bytes(b"")
    (server.data / ".server").unlink()
    second = history()
    assert second != first
    (server.data / ".timersync/log").write_bytes(b"")
    (server.data / ".server").write_bytes(b"{")
    assert history() not in (first, second)


# A start on a disk that takes nothing

def test_a_start_on_a_full_disk(tmp_path):
    """All timers are read from the log, changes are refused, and all goes on when there is room."""
    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=2m", "tmpfs") as disk:
        server = Server(disk / "data", "--log-level", "info").start()
        try:
            with Session(server) as session:
                for number in range(300):
                    session.ok("start", f"timer {number % 30}", duration=600, force=True)
                kept = {name: lasting(state) for name, state in session.list().items()}
            server.kill()
            for path in server.data.glob("*.json"):
                if path.name.endswith("7.json"):
                    path.write_bytes(b"")
            fill(disk / "ballast")

            server.start()

            assert readiness(server)[0] == 503 and "No space left" in health(server)["reason"]
            with Session(server, "?timer=*&interval=0.1") as session:
                assert {name: lasting(state) for name, state in session.list().items()} == kept
                session.hear(lambda push: push.get("cause") == "tick")
                assert session.ask("pause", "timer 1")["error"]["code"] == "storageFailed"
                (disk / "ballast").unlink()
                until(lambda: readiness(server)[0] == 200, "it is ready")
                session.ok("pause", "timer 1")
            server.restart()
            with Session(server) as session:
                assert set(session.list()) == set(kept)
        finally:
            server.kill()


@pytest.mark.long
@pytest.mark.parametrize("function", ["sync", "write", "rename"])
def test_a_start_on_a_disk_that_fails(crashed, library, tmp_path, function):
    """The log is read, changes are refused, and the files get the log's changes when the disk works again."""
    server, _, paused = crashed
    faults = Faults(library, tmp_path, server.data)
    server.environment = faults.environment
    faults.arm(function, errno.EIO, 1, FOREVER)
    server.start()
    with Session(server) as session:
        assert lasting(session.list()["tea"]) == lasting(paused)
        reply = session.ask("resume", "tea")
        assert reply["ok"] or reply["error"]["code"] == "storageFailed"
        faults.disarm()
        until(lambda: readiness(server)[0] == 200, "it is ready")
        change_soon(session, "again")
        wait_until_tidy(server)
    assert json.loads((server.data / "tea.json").read_text())["title"] == "again"
    assert len(re.findall("changes can't be stored", server.log)) <= 1


def test_a_disk_that_fails_is_told_until_it_works(server, library, tmp_path):
    """A running server isn't ready after a failed change, and is ready again even if no client asks for another one."""
    faults = Faults(library, tmp_path, server.data)
    server.environment = faults.environment
    server.start()
    with Session(server) as session:
        session.ok("start", "tea", duration=600)
        faults.arm("write", errno.ENOSPC, 1, FOREVER)
        for _ in range(30):
            assert session.ask("update", "tea", title="x")["error"]["code"] == "storageFailed"
        status, told = readiness(server)
        assert status == 503 and "No space left" in told["reason"], told
        assert "No space left" in health(server)["reason"]

        faults.disarm()

        until(lambda: readiness(server)[0] == 200, "it is ready")
        session.ok("update", "tea", title="y")
    said = [line for line in server.log.splitlines() if "stored" in line]
    assert [" error " in line for line in said] == [True, False], said
