"""The key-value store and the in-app timers, used by several processes, killed, and on disks that refuse."""

import contextlib
import errno
import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from faults import FOREVER, Faults, build_library
from library_process import LibraryProcess
from stalls import Stopwatch
from test_faults import mounted
from timer_server import server_argv

ERRORS = ["EIO", "ENOSPC", "EACCES"]
CALLS = 12


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return build_library(tmp_path_factory.mktemp("library"))


@contextlib.contextmanager
def processes(folder: Path, count: int):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(LibraryProcess(folder)) for _ in range(count)]


def test_four_processes_add_to_one_key_and_nothing_is_lost(tmp_path):
    with processes(tmp_path, 4) as four:
        for process in four:
            process.ask("increment", "n", 1000)
        sums = [int(process.answer()) for process in four]

        assert max(sums) == 4000
        assert len(set(sums)) == 4
    assert (tmp_path / "store" / "n.json").read_text() == "4000"


def test_two_processes_press_pause_and_one_wins(tmp_path):
    with processes(tmp_path, 2) as both:
        assert both[0]("start") == "timer(duration: 100.0)"
        for process in both:
            process.ask("pause")
        answers = sorted(process.answer() for process in both)

    assert answers == ["1", "error timerAlreadyPaused"]


def test_two_processes_add_time_and_nothing_is_lost(tmp_path):
    with processes(tmp_path, 2) as both:
        both[0]("start")
        both[0].ask("add", 60, 50)
        both[1].ask("add", 30, 50)
        answers = [process.answer() for process in both]

    assert "timer(duration: 4600.0)" in answers


def test_a_change_by_another_process_is_told_within_a_second(tmp_path):
    with processes(tmp_path, 2) as (reader, writer):
        for key, command, kind in [("a", ("store", "a", 1), "stored"), ("a", ("remove", "a"), "removed")]:
            assert reader("change", "heard") == "listening"
            with Stopwatch() as watch:
                assert writer(*command) == "ok"
                assert reader.answer() == f"{kind} {key} heard"
            assert watch.seconds < 1


def test_a_process_killed_in_bulk_steps_leaves_whole_ones(tmp_path):
    keys = [f"k{number}" for number in range(8)]
    chance = random.Random(6)
    with LibraryProcess(tmp_path) as reader:
        for round in range(15):
            with LibraryProcess(tmp_path) as writer:
                writer.ask("bulks", 1000 * round + 1, *keys)
                until = time.monotonic() + chance.uniform(0.02, 0.12)
                while time.monotonic() < until:
                    # Values that are read one after the other may get newer, and never older.
                    values = [reader("get", key) for key in keys]
                    numbers = [int(value) for value in values if value != "none"]
                    assert numbers == sorted(numbers)
                writer.kill()
            values = {reader("get", key) for key in keys}
            assert len(values) == 1, values
            files = {(tmp_path / "store" / f"{key}.json").read_text() for key in keys if values != {"none"}}
            assert files == {f'"{value}"' for value in values if value != "none"}
    with LibraryProcess(tmp_path) as process:
        assert process("store", "k0", "last") == "ok"
    assert not [file for file in (tmp_path / "store").iterdir() if file.name.endswith(".new")]


def test_what_was_stored_is_there_after_a_kill(tmp_path):
    for number in range(10):
        with LibraryProcess(tmp_path) as process:
            assert process("store", "key", number) == "ok"
            process.kill()
        assert (tmp_path / "store" / "key.json").read_text() == f'"{number}"'


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("function", ["write", "sync", "rename", "open", "truncate", "unlink"])
def test_a_store_whose_disk_refuses_once_keeps_memory_and_files_the_same(library, tmp_path, function, error):
    code = getattr(errno, error)
    faults = Faults(library, tmp_path, tmp_path / "store")
    with LibraryProcess(tmp_path, faults.environment) as process:
        assert process("bulk", "old", "a", "b") == "ok"
        for call in range(1, CALLS + 1):
            for command, keys in [(("store", "a"), "a"), (("bulk",), "ab"), (("remove", "a"), "a")]:
                before = {key: process("get", key) for key in "ab"}
                value = f"{call}{keys}"
                words = {"store": ("store", "a", value), "bulk": ("bulk", value, "a", "b"), "remove": ("remove", "a")}
                faults.arm(function, code, call)
                answer = process(*words[command[0]])
                faults.disarm()
                after = {key: process("get", key) for key in "ab"}

                if answer == "ok":
                    wanted = "none" if command[0] == "remove" else value
                    assert after == before | dict.fromkeys(keys, wanted), (call, command)
                else:
                    assert os.strerror(code).lower() in answer.lower(), answer
                    assert after == before, (call, command, answer)
                for key, text in after.items():
                    file = tmp_path / "store" / f"{key}.json"
                    assert (file.read_text() if file.exists() else "none").strip('"') == text
    with LibraryProcess(tmp_path) as process:
        assert {key: process("get", key) for key in "ab"} == after


def test_a_bulk_step_whose_renames_fail_is_seen_whole_all_the_same(library, tmp_path):
    faults = Faults(library, tmp_path, tmp_path / "store")
    with LibraryProcess(tmp_path, faults.environment) as process:
        assert process("bulk", "old", "a", "b", "c") == "ok"
        faults.arm("rename", errno.EIO, 2, FOREVER)
        # The log has the values, so they count.
        assert process("bulk", "new", "a", "b", "c") == "ok"
        assert [process("get", key) for key in "abc"] == ["new"] * 3
        assert "Input/output error" in process("store", "a", "newer")
        faults.disarm()
        assert [process("get", key) for key in "abc"] == ["new"] * 3
        assert process("store", "a", "newer") == "ok"
    assert [(tmp_path / "store" / f"{key}.json").read_text() for key in "abc"] == ['"newer"', '"new"', '"new"']


def test_an_emptied_log_is_not_taken_for_empty_before_that_is_on_the_disk(library, tmp_path):
    """The log's entries could return after a power cut and undo later changes, so the next process empties it again."""
    faults = Faults(library, tmp_path, tmp_path / "store")
    log, made = tmp_path / "store/.timersync/log", 0
    with LibraryProcess(tmp_path, faults.environment) as process:
        assert process("bulk", "old", "a", "b") == "ok"
        for call in range(1, CALLS + 1):
            faults.arm("sync", errno.EIO, call, FOREVER)
            answer = process("bulk", f"value-{call}", "a", "b")
            if answer == "ok" and faults.failed:
                made += 1
                # Another thread of the process may be about to replace the log.
                end = time.monotonic() + 2
                while not (log.exists() and log.stat().st_size):
                    assert time.monotonic() < end, "nobody would make sure of it"
                    time.sleep(0.005)
            faults.disarm()
            assert process("store", "c", call) == "ok"
            assert log.stat().st_size == 0
    assert made, "no sync was made after the step was safe"


def test_a_token_whose_removal_could_not_be_synced_can_be_removed_again(library, tmp_path):
    """The disk's contents are unknown: the list is as it was, so that the next try writes it anew."""
    data = tmp_path / "data"
    faults = Faults(library, tmp_path, data)

    def token(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            server_argv("token", *words, "--data", str(data)), capture_output=True, text=True,
            env={**os.environ, **faults.environment})

    assert token("add", "--name", "stage", "--role", "view").returncode == 0
    # The first sync is that of the new file, the second that of its name.
    faults.arm("sync", errno.EIO, 2)
    assert token("remove", "stage").returncode == 69
    faults.disarm()
    assert "stage" in token("list").stdout
    assert token("remove", "stage").returncode == 0
    assert "stage" not in token("list").stdout


def test_a_full_disk_refuses_what_has_no_room_and_keeps_the_rest(tmp_path):
    with (
        mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=256k", "tmpfs") as disk,
        LibraryProcess(disk) as process,
    ):
        assert process("bulk", "old", "a", "b") == "ok"
        big = "x" * 200_000
        assert process("store", "big", big) == "ok"

        for command in [("store", "a", big[:150_000]), ("bulk", big[:100_000], "a", "b")]:
            assert "No space left on device" in process(*command)
            assert [process("get", key) for key in "ab"] == ["old", "old"]
            assert (disk / "store" / "a.json").read_text() == '"old"'
        assert process("get", "big") == big
        assert process("remove", "big") == "ok"
        assert process("store", "a", big[:50_000]) == "ok"


def test_a_read_only_folder_can_be_read_and_refuses_the_rest(tmp_path):
    (tmp_path / "data").mkdir()
    with LibraryProcess(tmp_path / "data") as process:
        assert process("bulk", "old", "a", "b") == "ok"
    with mounted(tmp_path / "bound", "--bind", str(tmp_path / "data")) as bound:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(bound)], check=True)
        with LibraryProcess(bound) as process:
            for command in [("store", "a", "new"), ("bulk", "new", "a", "b"), ("remove", "a"), ("increment", "n", 1)]:
                assert "Read-only file system" in process(*command)
            assert process("keys") == "a b"
            assert [process("get", key) for key in "ab"] == ["old", "old"]


def test_timers_that_are_gone_leave_no_thread_and_no_open_file(tmp_path):
    with LibraryProcess(tmp_path) as process:
        threads_before, files_before, threads, files = map(int, process("timers", 200).split())

    # Threads of the pool come and go by themselves, more of them where the machine is busy; 200 timers would be seen.
    assert threads <= threads_before + 32
    assert files <= files_before + 1
