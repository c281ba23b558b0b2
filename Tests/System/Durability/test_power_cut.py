"""Power cuts: what a disk may hold after one is enough for a server to keep all that was answered."""

from dataclasses import replace

import pytest

from power_cut import Report, replay
from recorded_load import SCENES, Recorded, record
from recording import LOG, Kind, build_recorder

# The last recording makes images of 20 MB.
LONG_SCENES = {
    "plain": 40, "checkpoint_fails": 40, "append_fails": 40, "log_in_doubt": 40, "disk_is_full": 40, "names_fail": 40,
    "busy": 15}


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return build_recorder(tmp_path_factory.mktemp("recorder"))


@pytest.fixture(scope="session")
def short(library, tmp_path_factory) -> Recorded:
    """A second of a loaded server, killed once."""
    return record(SCENES["short"], library, tmp_path_factory.mktemp("short"), 1, pauses=16)


@pytest.fixture
def judge(library, tmp_path, capsys):
    """Cuts the power of a recording at `images` instants, and fails when a promise is broken."""
    def run(name: str, recorded: Recorded, images: int) -> Report:
        report = replay(recorded, images, name, tmp_path / "images", library=library)
        with capsys.disabled():
            print(f"\n{name}: {report.figures}")
        assert not report.broken, "\n\n".join([report.figures, *map(str, report.broken[:5])])
        assert len(report.outcomes) == images and report.changes > 100
        return report

    return run


def test_a_loaded_server(judge, short):
    """Nothing answered is lost, nothing refused is there, no damage is reported, nothing is done twice."""
    judge("short", short, 6)


def test_a_sync_of_all_files_that_fails_once(judge, library, tmp_path):
    """The sync after the failed one succeeds, and does not write what the first one lost."""
    judge("short_checkpoint_fails", record(SCENES["short_checkpoint_fails"], library, tmp_path, 1, pauses=16), 6)


def test_a_log_that_is_never_synced_is_caught(short, tmp_path):
    """The same recording, as if the server had not asked for the syncs of its log."""
    unsynced = [call for call in short.calls if call.kind != Kind.SYNC or call.path != LOG]

    report = replay(replace(short, calls=unsynced), 6, "unsynced", tmp_path / "images")

    assert any(fault.startswith("lost: ") for outcome in report.broken for fault in outcome.broken), report.figures


@pytest.mark.long
@pytest.mark.parametrize("name", LONG_SCENES)
def test_all_scenes(judge, library, tmp_path, name):
    """All kinds of scenes: a disk that fails and recovers, a log that begins anew in its bytes, restarts."""
    judge(name, record(SCENES[name], library, tmp_path, f"{name} 1"), LONG_SCENES[name])
