"""Fixtures: real servers with folders of their own, and the clients of the black-box tests."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "BlackBox")]

import timer_server  # noqa: E402
from faults import Faults, build_library  # noqa: E402


def pytest_sessionstart(session):
    if not os.access(timer_server.BINARY, os.X_OK):
        pytest.exit(f"no server at {timer_server.BINARY}: build it, or set TIMERSYNC_SERVER", returncode=3)


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return build_library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def faults(library, tmp_path):
    return Faults(library, tmp_path, tmp_path / "data")
