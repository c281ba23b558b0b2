"""Fixtures: real servers with folders of their own, clients that wait with bounds, and names nobody else uses."""

import itertools
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from _pytest.runner import runtestprotocol

sys.path.insert(0, str(Path(__file__).parent))

# Before they are imported, so that their assertions explain themselves as those of the tests do.
pytest.register_assert_rewrite("golden_script", "punctuality", "stamped", "timer_client", "wire")

import timer_server  # noqa: E402
from punctuality import Punctuality, TooLate  # noqa: E402
from stalls import Stalls  # noqa: E402
from timer_client import Client  # noqa: E402
from timer_server import Server  # noqa: E402

_names = itertools.count(1)


def pytest_sessionstart(session):
    if not os.access(timer_server.BINARY, os.X_OK):
        pytest.exit(f"no server at {timer_server.BINARY}: build it, or set TIMERSYNC_SERVER", returncode=3)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Puts the server's log beside a failure."""
    outcome = yield
    report = outcome.get_result()
    if call.excinfo is not None and call.excinfo.errisinstance(TooLate):
        report.too_late = str(call.excinfo.value).splitlines()[0][:300]
    if report.failed:
        for server in getattr(item, "funcargs", {}).values():
            if isinstance(server, Server) and server.log:
                report.sections.append(("log of the server", server.log[-8000:]))


@pytest.fixture
def server(tmp_path):
    """A server of this test alone."""
    server = Server(tmp_path / "data").start()
    yield server
    died = server.process is not None and server.process.poll() is not None
    server.kill()
    assert not died, f"the server died during the test\n{server.log}"


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    """A server that the tests of one module share; each test has timers of its own."""
    server = Server(tmp_path_factory.mktemp("shared") / "data").start()
    yield server
    died = server.process is not None and server.process.poll() is not None
    server.kill()
    assert not died, f"the server died during the tests\n{server.log}"


@pytest.fixture
def name():
    """A timer's name that no other test uses."""
    return f"timer {next(_names)}"


@pytest_asyncio.fixture
async def connect():
    """Opens clients that are closed, and checked for faults, when the test ends."""
    async with AsyncExitStack() as stack:
        async def open_client(server, **options) -> Client:
            client = await Client.open(server, **options)
            stack.push_async_callback(client.close)
            return client

        yield open_client


@pytest_asyncio.fixture
async def client(shared_server, connect):
    """A client of the shared server."""
    return await connect(shared_server)


@pytest.fixture
def punctual():
    """Checks that messages came in time. A test that asks for this is repeated when the machine had a stall."""
    with Stalls() as stalls:
        yield Punctuality(stalls)


# A test that fails only because a message was late is run again: a shared machine stands still now and then.

ATTEMPTS = 3
_repeated: list[str] = []


def pytest_runtest_protocol(item, nextitem):
    if "punctual" not in item.fixturenames:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in range(1, ATTEMPTS + 1):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if attempt == ATTEMPTS or not any(getattr(report, "too_late", None) for report in reports):
            break
        _repeated.append(next(f"{item.nodeid}: {r.too_late}" for r in reports if getattr(r, "too_late", None)))
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter):
    """Shows how late messages were over all tests, and which tests had to be repeated."""
    ordered = sorted(Punctuality.all_seconds)
    if ordered:
        figures = {"median": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
        shown = ", ".join(
            f"{name} {ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000:.1f} ms"
            for name, share in figures.items())
        terminalreporter.write_line(f"lateness of {len(ordered)} timed messages: {shown}")
    for line in _repeated:
        terminalreporter.write_line(f"repeated, was late: {line}")
