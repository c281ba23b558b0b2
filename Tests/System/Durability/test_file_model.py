"""The model of a disk, and the judge of promises: they find the programs that forget a sync, and only those."""

import itertools
import json
import os
import time
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from file_model import PAGE, SECTOR, Disk, File, Folder
from power_cut import walk, with_own_inode
from promises import Asked, Found, Promises, texts, times_in_doubt
from recording import LOG, Call, Kind
from survivors import DataOnly, Everything, LengthsOnly, NamesOnly, Nothing, Random, TornLog

A, B = b"a" * PAGE, b"b" * PAGE


class Trace:
    """A trace of calls, one after the other, as a recorder writes it."""

    def __init__(self):
        self.calls: list[Call] = []
        self.clock = itertools.count(1)
        self.inodes = itertools.count(100)
        self.inode: dict[str, int] = {"": 1}
        self.add(Kind.OPEN, "", 3)

    def add(self, kind: Kind, path: str, result: int = 0, **fields) -> Call:
        call = Call(
            kind, next(self.clock), next(self.clock), result, path=path, inode=self.inode.get(path, 0), **fields)
        self.calls.append(call)
        return call

    def make(self, path: str, data: bytes = b"") -> None:
        self.inode[path] = next(self.inodes)
        self.add(Kind.OPEN, path, 3, number=os.O_CREAT | os.O_RDWR)
        if data:
            self.write(path, data)

    def write(self, path: str, data: bytes, offset: int = 0) -> None:
        self.add(Kind.WRITE, path, len(data), number=offset, bytes=data)

    def cut(self, path: str, length: int) -> None:
        self.add(Kind.CUT, path, number=length)

    def rename(self, path: str, target: str) -> None:
        self.add(Kind.RENAME, path, target=target)
        self.inode[target] = self.inode.pop(path)

    def sync(self, path: str, result: int = 0) -> None:
        self.add(Kind.SYNC, path, result)

    def sync_all(self, result: int = 0) -> None:
        self.add(Kind.SYNC_ALL, "", result)

    def made_folder(self, path: str) -> None:
        self.add(Kind.MKDIR, path)
        self.inode[path] = next(self.inodes)
        self.add(Kind.OPEN, path, 3)

    @property
    def now(self) -> int:
        return self.calls[-1].end + 1

    def disk(self, cut: int | None = None, **options) -> Disk:
        disk = Disk(**options)
        _, at_cut = next(iter(walk(self.calls, [cut or self.now], disk)))
        return at_cut

    def left(self, survivor=None, cut: int | None = None, **options) -> dict[str, bytes]:
        """The files after a power cut."""
        return left(self.disk(cut, **options), survivor or Nothing())

    def may_leave(self, path: str) -> set[bytes | None]:
        """The possible contents of a file after a power cut, found with many random cases."""
        disk = self.disk()
        return {left(disk, Random(seed)).get(path) for seed in range(200)}


def left(disk: Disk, survivor) -> dict[str, bytes]:
    return {path: contents for path, (contents, _) in disk.image(survivor).files.items()}


@pytest.fixture
def trace():
    return Trace()


class TestSyncedFiles:
    def test_what_is_not_synced_may_be_there_or_not(self, trace):
        trace.make("x", A + A)

        assert trace.left(Nothing()) == {}
        assert trace.left(Everything()) == {"x": A + A}
        assert {None, b"", A + A, A + bytes(PAGE), bytes(PAGE) + A} <= trace.may_leave("x")

    def test_a_synced_file_keeps_bytes_length_and_its_new_name(self, trace):
        trace.make("x", A)
        trace.sync("x")

        assert trace.may_leave("x") == {A}

    def test_by_posix_alone_a_new_name_needs_a_sync_of_its_folder(self, trace):
        trace.make("x", A)
        trace.sync("x")
        assert trace.left(Nothing(), keeps_new_names=False) == {}

        trace.sync("")
        assert trace.left(Nothing(), keeps_new_names=False) == {"x": A}

    def test_new_folders_above_a_synced_file_stay_with_it(self, trace):
        trace.made_folder(".timersync")
        trace.make(LOG, A)
        assert trace.left(Nothing()) == {}

        trace.sync(LOG)
        assert trace.left(Nothing()) == {LOG: A}

    def test_a_sync_covers_what_was_written_before_it_began(self, trace):
        trace.make("x", A)
        trace.sync("x")
        began = trace.calls[-1]
        trace.calls[-1] = replace(began, end=began.end + 10)
        trace.calls.append(
            Call(Kind.WRITE, began.begin + 1, began.begin + 2, PAGE, inode=began.inode, path="x", bytes=B))

        assert trace.left(Nothing(), cut=began.end + 20) == {"x": A}
        assert trace.left(Nothing(), cut=began.end) == {}

    def test_overwritten_bytes_are_torn_between_sectors_only(self, trace):
        trace.make("x", A)
        trace.sync("x")
        trace.write("x", B)

        found = trace.may_leave("x")
        assert {A, B} <= found and len(found) > 4
        assert all(
            len(set(contents[at:at + SECTOR])) == 1 for contents in found for at in range(0, PAGE, SECTOR))

    def test_any_of_several_writes_may_be_the_one_that_stays(self, trace):
        trace.make("x", A)
        trace.sync("x")
        trace.write("x", B)
        trace.write("x", b"c" * PAGE)

        assert {A, B, b"c" * PAGE} <= trace.may_leave("x")

    def test_a_call_that_failed_did_nothing(self, trace):
        trace.make("x", A)
        trace.add(Kind.WRITE, "x", -28, bytes=B)
        trace.sync_all()

        assert trace.may_leave("x") == {A}


class TestLengths:
    def test_a_cut_may_come_back_until_it_is_synced(self, trace):
        trace.make("x", A + A)
        trace.sync("x")
        trace.cut("x", 0)
        assert trace.may_leave("x") == {A + A, b""}

        trace.sync("x")
        assert trace.may_leave("x") == {b""}

    def test_nothing_of_before_a_cut_shows_behind_it(self, trace):
        trace.make("x", A + A)
        trace.sync("x")
        trace.cut("x", 0)
        trace.write("x", B[:100], offset=PAGE)
        trace.sync("x")

        assert trace.may_leave("x") == {bytes(PAGE) + B[:100]}

    def test_what_is_written_after_a_cut_is_not_in_the_file_of_before(self, trace):
        trace.make("x", A)
        trace.sync("x")
        trace.cut("x", 0)
        trace.write("x", B)

        found = trace.may_leave("x")
        assert {A, b"", B, bytes(PAGE)} <= found
        assert all(b"a" not in contents or contents == A for contents in found)

    def test_a_cut_within_a_page_leaves_zeros_when_the_file_grows_again(self, trace):
        trace.make("x", A)
        trace.cut("x", 10)
        trace.write("x", b"b", offset=20)
        trace.sync("x")

        assert trace.may_leave("x") == {A[:10] + bytes(10) + b"b"}


class TestNames:
    def test_a_rename_without_its_data_is_an_empty_file(self, trace):
        trace.make("x", A)
        trace.sync_all()
        trace.make(".x.new", B)
        trace.rename(".x.new", "x")

        assert trace.left(Nothing()) == {"x": A}
        assert trace.left(NamesOnly()) == {"x": b""}
        assert trace.left(LengthsOnly()) == {"x": bytes(PAGE)}
        assert trace.left(DataOnly()) == {"x": A}
        assert trace.left(Everything()) == {"x": B}

    def test_a_synced_file_that_is_renamed_needs_a_sync_of_the_folder(self, trace):
        trace.make("x", A)
        trace.sync_all()
        trace.make(".x.new", B)
        trace.sync(".x.new")
        trace.rename(".x.new", "x")
        assert trace.may_leave("x") == {A, B}

        trace.sync("")
        assert trace.left(Nothing()) == {"x": B}

    def test_a_sync_after_the_rename_does_not_keep_the_name(self, trace):
        trace.make("x", A)
        trace.sync_all()
        trace.make(".x.new", B)
        trace.rename(".x.new", "x")
        trace.sync("x")

        assert trace.left(Nothing())["x"] == A

    def test_an_unlink_may_come_back(self, trace):
        trace.make("x", A)
        trace.sync_all()
        trace.add(Kind.UNLINK, "x")
        assert trace.may_leave("x") == {A, None}

        trace.sync("")
        assert trace.may_leave("x") == {None}

    def test_a_name_of_which_another_folder_was_synced_is_not_sure(self, trace):
        trace.made_folder("inside")
        trace.sync("")
        trace.make("inside/x")
        trace.sync("")
        assert trace.may_leave("inside/x") == {None, b""}

        trace.sync("inside")
        assert trace.may_leave("inside/x") == {b""}


class TestFailedSyncs:
    @pytest.mark.parametrize("kind", [Kind.SYNC, Kind.SYNC_ALL])
    def test_a_later_sync_does_not_bring_back_what_a_failed_one_lost(self, trace, kind):
        trace.make("x", A)
        trace.sync("x")
        trace.write("x", B)
        trace.add(kind, "x" if kind == Kind.SYNC else "", -5)
        trace.sync("x")
        trace.sync_all()

        assert trace.left(Nothing()) == {"x": A}
        assert {A, B} <= trace.may_leave("x")

    def test_what_is_written_again_is_synced_again(self, trace):
        trace.make("x", A + A)
        trace.sync("x")
        trace.write("x", B + B)
        trace.sync("x", -5)
        trace.write("x", b"c", offset=10)
        trace.sync("x")

        # The first page holds in memory what the failed sync was to write.
        assert trace.left(Nothing()) == {"x": B[:10] + b"c" + B[11:] + A}

    def test_a_length_is_durable_after_a_later_sync_and_its_bytes_are_not(self, trace):
        trace.make("x", A)
        trace.sync("x", -5)
        trace.sync("x")

        assert trace.left(Nothing()) == {"x": bytes(PAGE)}

    def test_of_other_files_nothing_is_lost(self, trace):
        trace.make("x", A)
        trace.make("y", B)
        trace.sync("x", -5)
        trace.sync_all()

        assert trace.left(Nothing())["y"] == B


class TestTornLogs:
    @pytest.fixture
    def log(self, trace):
        """A log of three sectors that is synced, and four more, of which the first is shared."""
        trace.made_folder(".timersync")
        trace.make(LOG, b"a" * (SECTOR * 2 + 100))
        trace.sync(LOG)
        trace.write(LOG, b"b" * (SECTOR * 4) + bytes(300), offset=SECTOR * 2 + 100)
        return trace

    def test_only_what_was_not_synced_is_torn(self, log):
        for place, seed in itertools.product(TornLog.PLACES, range(20)):
            contents = log.left(TornLog(place, seed))[LOG]
            assert contents.startswith(b"a" * (SECTOR * 2 + 100)), (place, seed)

    def test_a_torn_head_loses_the_first_sector_alone(self, log):
        contents = log.left(TornLog("head", 1))[LOG]

        assert contents[SECTOR * 2 + 100:SECTOR * 3] == bytes(SECTOR - 100)
        assert contents[SECTOR * 3:SECTOR * 6 + 100] == b"b" * (SECTOR * 3 + 100)

    def test_a_hole_in_the_middle_has_bytes_on_both_sides(self, log):
        contents = {log.left(TornLog("middle", seed))[LOG] for seed in range(20)}

        assert any(
            b"b" in found[:SECTOR * 3] and b"\0" in found and found[SECTOR * 6] == ord("b") for found in contents)


# MARK: - A program, and the judge


class Program:
    """Keeps the revision of one timer in a log and in a file, and answers; some steps can be left out."""

    def __init__(self, without: str = "", order: str = "sync, rename, sync names, answer"):
        self.without = without
        self.order = order
        self.trace = Trace()
        self.messages: list[tuple[int, int, dict]] = []
        self.asked: list[Asked] = []
        self.trace.make("tea.json")
        self.trace.sync_all()

    def change(self, revision: int) -> None:
        self.asked.append(Asked(revision, "start", "tea", {}, None, at=self.trace.now))
        self.trace.make(".tea.new", f"{revision}".encode())
        for step in self.order.split(", "):
            if step == self.without:
                continue
            match step:
                case "sync":
                    self.trace.sync(".tea.new" if ".tea.new" in self.trace.inode else "tea.json")
                case "failed sync":
                    self.trace.sync(".tea.new", -5)
                case "rename":
                    self.trace.rename(".tea.new", "tea.json")
                case "sync names":
                    self.trace.sync("")
                case "answer":
                    answer = {"reply": revision, "ok": True, "timer": state(revision)}
                    self.messages.append((next(self.trace.clock), 1, answer))

    def broken(self) -> list[str]:
        """The promises that are broken at any instant in any of the cases."""
        promises = Promises(self.messages, self.asked)
        faults = []
        survivors = [Nothing(), Everything(), NamesOnly(), DataOnly(), LengthsOnly(), *map(Random, range(20))]
        for cut, disk in walk(self.trace.calls, list(range(10, self.trace.now + 3)), Disk()):
            for survivor in survivors:
                contents = left(disk, survivor).get("tea.json", b"").strip(b"\0")
                timers = {"tea": state(int(contents))} if contents else {}
                faults += promises.broken(cut, Found(timers))
        return faults


def state(revision: int, timer: str = "tea", **fields) -> dict:
    return {
        "timer": timer, "revision": revision, "status": "running", "type": "timer", "duration": 60, "addedTime": 0,
        "atZero": "overtime", "title": "", "warnings": [], "pausePeriods": [], "elapsedTime": 0} | fields


def test_a_program_that_syncs_all_keeps_its_promises():
    program = Program()
    for revision in (1, 2, 3):
        program.change(revision)

    assert program.broken() == []


@pytest.mark.parametrize(("without", "order"), [
    ("sync", "sync, rename, sync names, answer"),
    ("sync names", "sync, rename, sync names, answer"),
    ("rename", "sync, rename, sync names, answer"),
    ("", "rename, sync names, answer, sync"),
    ("", "rename, sync, answer"),
    ("", "sync, rename, answer, sync names"),
    ("", "failed sync, sync, rename, sync names, answer"),
])
def test_a_program_that_forgets_a_sync_is_caught(without, order):
    program = Program(without, order)
    for revision in (1, 2, 3):
        program.change(revision)

    assert any(fault.startswith("lost: tea") for fault in program.broken())


class TestJudge:
    """Each promise of a small recording can be broken, and is not when it is kept."""

    @pytest.fixture
    def promises(self):
        asked = [
            Asked(1, "start", "tea", {}, "first", at=5), Asked(2, "pause", "tea", {}, None, at=15),
            Asked(3, "start", "oven", {}, None, at=15), Asked(4, "remove", "oven", {}, "second", at=25),
            Asked(5, "finishAll", None, {}, None, at=35), Asked(6, "update", "tea", {}, None, at=45)]
        told = [
            (10, {"reply": 1, "ok": True, "timer": state(1)}),
            (20, {"reply": 2, "ok": True, "timer": state(2, status="paused")}),
            (21, {"reply": 3, "ok": True, "timer": state(3, "oven")}),
            (22, {"event": "snapshot", "timers": [state(3, "oven")]}),
            (30, {"reply": 4, "ok": True}),
            (31, {"event": "removed", "timer": "oven"}),
            (32, {"event": "snapshot", "timers": [state(4, "egg")]}),
            (40, {"reply": 5, "ok": True, "timers": [state(5, status="finished"), state(6, "egg", status="finished")]}),
            (50, {"reply": 6, "ok": False, "error": {"code": "storageFailed"}, "timer": state(7)})]
        return Promises([(at, 1, message) for at, message in told], asked)

    TEA = state(2, status="paused")
    EGG = state(4, "egg")
    OVER = {"tea": state(5, status="finished"), "egg": state(6, "egg", status="finished")}

    @pytest.mark.parametrize(("cut", "timers"), [
        (5, {}), (10, {}), (10, {"tea": state(1)}), (11, {"tea": state(1)}),
        (16, {"tea": TEA, "oven": state(3, "oven")}), (31, {"tea": TEA}), (30, {"tea": TEA}),
        (30, {"tea": TEA, "oven": state(3, "oven")}), (36, OVER), (36, {"tea": TEA, "egg": EGG}), (50, OVER),
        (50, OVER | {"tea": state(7, status="finished", title="new")}), (60, OVER),
    ])
    def test_kept(self, promises, cut, timers):
        assert promises.broken(cut, Found(timers)) == []

    @pytest.mark.parametrize(("cut", "timers", "fault"), [
        (11, {}, "lost: tea is gone"),
        (21, {"tea": state(1)}, "lost: tea is at r1"),
        (22, {"tea": TEA}, "lost: oven is gone"),
        (31, {"tea": TEA, "oven": state(3, "oven")}, "lost: oven is at r3"),
        (21, {"tea": state(2)}, "changed: tea"),
        (51, OVER | {"tea": state(7, status="finished")}, "nobody was told, or it was refused: tea"),
        (11, {"tea": state(1), "cup": state(9, "cup")}, "nobody was told, or it was refused: cup"),
        (36, {"tea": OVER["tea"], "egg": EGG}, "torn apart: finishAll"),
    ])
    def test_broken(self, promises, cut, timers, fault):
        broken = promises.broken(cut, Found(timers))

        assert len(broken) == 1 and broken[0].startswith(fault), broken

    def test_what_was_refused_while_no_sync_succeeds_may_be_there(self, promises):
        refused = Found(self.OVER | {"tea": state(7, status="finished")})
        calls = [
            Call(Kind.SYNC, 46, 47, -5, path=LOG), Call(Kind.SYNC, 48, 49, -5, path=LOG),
            Call(Kind.SYNC, 52, 55, 0, path=".timersync"), Call(Kind.SYNC, 57, 58, 0, path=LOG)]
        promises.doubts = times_in_doubt(calls)

        assert promises.doubts == [(47, 55), (49, 55)]
        assert promises.broken(55, refused) == [] and promises.broken(56, refused) != []

    def test_what_was_refused_after_a_sync_that_succeeded_is_not_there(self, promises):
        promises.doubts = times_in_doubt([Call(Kind.SYNC, 46, 47, -5, path=LOG), Call(Kind.SYNC, 48, 49, 0, path=LOG)])

        assert promises.broken(51, Found(self.OVER | {"tea": state(7, status="finished")})) != []

    def test_a_removal_is_told_by_its_answer(self, promises):
        assert [step.told for step in promises.steps["oven"].values()] == [21, 30]

    def test_damage_is_false(self, promises):
        found = Found(self.OVER, faults=[{"file": "tea.json"}], quarantined=["log"])

        assert len(promises.broken(60, found)) == 2

    def test_a_request_that_is_done_again_is_seen(self, promises):
        found = Found(self.OVER, timers_after=self.OVER | {"tea": state(8)})

        assert [fault.split(" ")[0] for fault in promises.broken(60, found)] == ["twice:"]

    def test_a_request_that_is_refused_the_second_time_is_seen(self, promises):
        refusal = {"ok": False, "error": {"code": "timerAlreadyStarted"}}
        found = Found(self.OVER, repeated=[(promises.asked[0], refusal)])

        assert [fault.split(" ")[0] for fault in promises.broken(60, found)] == ["twice:"]

    @pytest.mark.parametrize(("revision", "count"), [(5, 1), (6, 1), (7, 0)])
    def test_revisions_never_go_back(self, promises, revision, count):
        assert len(promises.broken(60, Found(self.OVER, next_revision=revision))) == count

    def test_requests_with_names_are_sent_again_once_they_were_answered(self, promises):
        assert [request.number for request in promises.answered_by_name(30)] == [1]
        assert [request.number for request in promises.answered_by_name(31)] == [1, 4]


class TestSentMessages:
    HEAD = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"

    def sends(self, *parts: bytes) -> list[Call]:
        return [Call(Kind.SEND, 10 * at, 10 * at + 1, len(part), bytes=part) for at, part in enumerate(parts, 1)]

    def test_a_message_is_told_when_its_last_byte_is_sent(self):
        long = b"x" * 300
        sends = self.sends(
            self.HEAD + b"\x81\x02{}", b"\x89\x00\x81\x7e\x01", b"\x2c" + long[:100], long[100:] + b"\x81")

        assert texts(sends) == [(10, b"{}"), (40, long)]

    def test_bytes_that_the_kernel_did_not_take_were_not_sent(self):
        sends = self.sends(self.HEAD, b"\x81\x04{  }", b"  }")
        sends[1] = replace(sends[1], result=3)

        assert texts(sends) == [(30, b"{  }")]

    def test_what_is_no_web_socket_tells_nothing(self):
        assert texts(self.sends(b"HTTP/1.1 200 OK\r\n\r\n\x81\x02{}")) == []


class TestHistory:
    """The file `history`, by which a server recognises a folder."""

    HISTORY = ".timersync/history"

    def test_an_image_is_the_same_folder(self):
        image = with_own_inode(self.HISTORY, b'{"version":1,"history":"h","inode":17}', 17, 99)

        assert json.loads(image) == {"version": 1, "history": "h", "inode": 99}

    def test_an_image_was_written_now(self):
        image = with_own_inode(self.HISTORY, b'{"version":1,"history":"h","inode":17,"modified":5}', 17, 99)

        assert time.time_ns() - 60 * 10**9 < json.loads(image)["modified"] <= time.time_ns()

    @pytest.mark.parametrize("contents", [b'{"version":1,"history":"h","inode":18}', b"", b"\0\0", b"[17]"])
    def test_a_copy_stays_one(self, contents):
        assert with_own_inode(self.HISTORY, contents, 17, 99) == contents

    def test_other_files_are_left_alone(self):
        assert with_own_inode("tea.json", b'{"inode":17}', 17, 99) == b'{"inode":17}'


def test_a_folder_that_lies_there_is_durable(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside/x").write_bytes(A + b"rest")
    disk = Disk.of(tmp_path)

    assert isinstance(disk.node("inside"), Folder) and isinstance(disk.node("inside/x"), File)
    assert disk.image(Nothing()).files["inside/x"][0] == A + b"rest"
    assert Nothing().name(PurePosixPath("x"), [None]) is None
