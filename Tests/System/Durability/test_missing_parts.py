"""Optional parts may be missing: the server starts, says what works less well, and does it another way."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from library_process import LibraryProcess
from session import WITHIN, Session
from test_startup import put, record
from timer_server import Server, server_argv

HERE = Path(__file__).resolve().parent
# The server looks through the files each second.
SOON = 5.0


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    library = tmp_path_factory.mktemp("shim") / "unwatched.so"
    compiler = shutil.which("gcc") or shutil.which("cc")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, HERE / "unwatched.c", "-ldl"], check=True)
    return library


@pytest.fixture
def unwatched(shim, tmp_path):
    """The environment of a program that gets no watches, and the file that causes that."""
    mark = tmp_path / "unwatched"
    mark.touch()
    return {"LD_PRELOAD": str(shim), "UNWATCHED": str(mark)}, mark


@pytest.fixture
def server(tmp_path, unwatched):
    server = Server(tmp_path / "data", "--log-level", "info", environment=unwatched[0])
    yield server
    server.kill()


def test_edits_are_seen_without_watches(server, unwatched):
    """Files are added, edited and removed by hand, first without watches, then with them; two warnings are logged."""
    put(server.data, "oven.json", record("oven"))
    server.start()
    with Session(server, "?timer=*&interval=0") as session:
        for _ in range(2):
            put(server.data, "tea.json", record("tea", title="by hand"))
            session.hear(lambda push: any(timer.get("title") == "by hand" for timer in push.get("timers", [])), SOON)
            put(server.data, "oven.json", record("oven", title="edited"))
            session.hear(lambda push: any(timer.get("title") == "edited" for timer in push.get("timers", [])), SOON)
            (server.data / "tea.json").unlink()
            session.hear(lambda push: push["event"] == "removed", SOON)
            put(server.data, "oven.json", record("oven"))
            session.hear(lambda push: any(
                timer["timer"] == "oven" and not timer.get("title") for timer in push.get("timers", [])), SOON)
            unwatched[1].unlink(missing_ok=True)
            time.sleep(1.2)
    warnings = [line for line in server.log.splitlines() if " warning " in line]
    assert len(warnings) == 2, warnings
    assert all("max_user_instances" in line for line in warnings)


def test_an_edit_that_is_gone_for_a_moment_is_no_removal_without_watches(server):
    put(server.data, "tea.json", record("tea", title="kept"))
    server.start()
    with Session(server, "?timer=*&interval=0") as session:
        for _ in range(2):
            contents = (server.data / "tea.json").read_bytes()
            (server.data / "tea.json").unlink()
            time.sleep(0.3)
            (server.data / "tea.json").write_bytes(contents)
            time.sleep(0.3)
        session.hears_nothing(lambda push: push["event"] == "removed", during=0.3)


def test_tokens_are_followed_without_watches(server):
    made = subprocess.run(
        server_argv("token", "add", "--name", "stage", "--role", "control", "--data", str(server.data)),
        capture_output=True, text=True, check=True)
    server.start()
    with Session(server, f"?token={made.stdout.strip()}") as session:
        subprocess.run(server_argv("token", "remove", "stage", "--data", str(server.data)), check=True)
        with pytest.raises(ConnectionClosed):
            session.socket.recv(SOON)
        assert session.socket.close_code == 1008


def test_a_store_tells_changes_without_watches(tmp_path, unwatched):
    """The library notices changes too, but not values from before."""
    with LibraryProcess(tmp_path / "store", unwatched[0]) as other, LibraryProcess(tmp_path / "store") as one:
        one("store", "before", "1")
        other.ask("change", "seen")
        assert other.answer() == "listening"
        time.sleep(1.5)
        one("store", "after", "2")
        assert other.answer() in ("stored before seen", "stored after seen")


@pytest.mark.long
def test_many_files_cost_little_without_watches(server):
    """Ten thousand files that nobody touches: looking at them takes a hundredth of a core, and an edit is still
    seen."""
    server.data.mkdir()
    for number in range(10_000):
        put(server.data, f"t{number}.json", record(f"t{number}"))
    server.start()
    time.sleep(3)

    def cpu() -> float:
        fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before, start = cpu(), time.monotonic()
    time.sleep(3)
    # The server has nothing else to do. The bound leaves room for a busy machine.
    assert cpu() - before < 0.06 * (time.monotonic() - start)


@pytest.mark.parametrize("missing", ["/proc", "/usr/share/zoneinfo"])
def test_a_machine_without(tmp_path, missing):
    """In a chroot or a small container the server starts, serves and stops."""
    script = f'mount -t tmpfs none {missing} && exec "$@"'
    server = Server(
        tmp_path / "data", launcher=("unshare", "--mount", "sh", "-c", script, "sh"),
        environment={"HOME": "/nowhere"}).start()
    try:
        with Session(server) as session:
            session.ok("start", "tea", duration=60)
        assert server.stop() == 0
    finally:
        server.kill()
    assert json.loads((tmp_path / "data/tea.json").read_text())["timer"] == "tea"


def test_a_machine_without_randomness(tmp_path):
    """A missing part that is required is reported in one line, and no data folder is left behind."""
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /dev && exec "$@"', "sh", *server_argv(
            "serve", "--listen", "127.0.0.1", "--port", "0", "--data", str(tmp_path / "data"))],
        capture_output=True, text=True, timeout=WITHIN, stdin=subprocess.DEVNULL)

    assert done.returncode == 69 and len(done.stderr.splitlines()) == 1, done
    assert "/dev/urandom" in done.stderr
    assert not (tmp_path / "data").exists()
