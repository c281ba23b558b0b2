"""Fixtures of all browser tests: a real server, a browser, and a script's own connection to the server.

TIMERSYNC_SERVER is the path of the server's binary, CHROMIUM that of the browser
(/usr/bin/chromium if unset).
"""

import contextlib
import functools
import http.server
import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import tarfile
import threading
import time
import urllib.parse

import pytest
import websockets.sync.client
from playwright.sync_api import expect, sync_playwright

from scripted_server import ScriptedServer

WEB = pathlib.Path(__file__).resolve().parents[3] / "web"
START_WITHIN = 20
BEFORE = pathlib.Path(__file__).with_name("page_of_before.tar.xz")


# The time after which a page counts as hung: on a busy machine short work may take seconds. A test that limits a time
# uses instants that the page itself has recorded.
PATIENCE = 20_000  # milliseconds
expect.set_options(timeout=PATIENCE)


def pytest_configure(config):
    config.addinivalue_line("markers", "measured: held to its milliseconds, so nothing may run beside it")


class Server:
    """The server under test, on a port of its own and with a data folder of its own."""

    def __init__(self, binary, data):
        self.binary = binary
        self.data = data
        self.port = 0
        self.process = None
        self.output = []
        self.options = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        """Starts the server; a later start uses the port of the first one."""
        self.is_killed = False
        arguments = [
            self.binary, "serve", "--port", str(self.port), "--data", str(self.data), "--web", str(WEB), *self.options]
        self.process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        lines = queue.Queue()
        threading.Thread(target=self._read, args=(self.process.stdout, lines), daemon=True).start()
        self.port = self._listening_port(lines)

    @property
    def exit_code(self):
        """The exit code; None while the server runs."""
        return self.process.poll()

    def kill(self):
        self.is_killed = True
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.kill()

    def page(self, name=None):
        return self.url + "/" if name is None else self.url + "/?timer=" + urllib.parse.quote(name, safe="")

    def connect(self):
        return Script(self.url)

    def _read(self, stream, lines):
        for line in stream:
            self.output.append(line)
            lines.put(line)
        lines.put(None)

    def _listening_port(self, lines):
        deadline = time.monotonic() + START_WITHIN
        while time.monotonic() < deadline:
            try:
                line = lines.get(timeout=0.2)
            except queue.Empty:
                continue
            if line is None:
                break
            if "listening on http://" in line:
                return urllib.parse.urlsplit(line.split("listening on ", 1)[1].split()[0]).port
        pytest.fail("the server never said “listening on http://…”, but:\n" + "".join(self.output))


class Script:
    """A script's own connection to the server: sends commands and returns replies."""

    def __init__(self, url):
        self.closing = contextlib.ExitStack()
        self.socket = self.closing.enter_context(websockets.sync.client.connect(url.replace("http", "ws", 1) + "/ws"))
        self.hello = json.loads(self.socket.recv(timeout=10))
        self.last_id = 0

    def ask(self, command, **fields):
        """The reply, whether the command succeeded or not."""
        self.last_id += 1
        self.socket.send(json.dumps({"id": self.last_id, "command": command, **fields}))
        while True:
            message = json.loads(self.socket.recv(timeout=10))
            if "reply" in message and message["reply"] == self.last_id:
                return message

    def do(self, command, **fields):
        """The timer's state after a command that must work."""
        reply = self.ask(command, **fields)
        assert reply["ok"], reply
        return reply.get("timer")

    def close(self):
        self.closing.close()


@pytest.fixture
def server(tmp_path):
    binary = os.environ.get("TIMERSYNC_SERVER")
    if not binary or not os.access(binary, os.X_OK):
        pytest.fail("set TIMERSYNC_SERVER to the path of the built server, say .build/debug/timersync")
    server = Server(binary, tmp_path / "data")
    server.data.mkdir()
    server.start()
    yield server
    died = None if server.is_killed else server.exit_code
    server.stop()
    print("".join(server.output))
    assert died is None, f"the server ended by itself with exit code {died}"


@pytest.fixture
def script(server):
    script = server.connect()
    yield script
    script.close()


class QuietFiles(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def web_files():
    """The address of the page's files alone, with no timer server behind them."""
    files = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietFiles, directory=WEB))
    threading.Thread(target=files.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{files.server_port}"
    files.shutdown()
    files.server_close()


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def module_of(browser, web_files):
    """Calls a function of one of the page's modules that has no DOM."""
    page = browser.new_page()
    page.goto(web_files + "/favicon.svg")

    def call(file, function, *arguments):
        given = ["undefined" if argument is None else argument for argument in arguments]
        return page.evaluate(
            """([file, name, given]) => import(file).then((module) =>
                module[name](...given.map((value) => value === "undefined" ? undefined : value)))""",
            ["/" + file, function, given],
        )

    yield call
    page.close()


class SharedContext:
    """A context for every test without special needs, because a context of its own costs as much processor time as the
    page in it. No test leaves anything behind for the next."""

    def __init__(self, browser):
        self.context = browser.new_context()
        # Stored data is cleared through a page that never navigates: a test's own pages may be loading, or closed.
        self.keeper = self.context.new_page()
        self.devtools = self.context.new_cdp_session(self.keeper)
        self.addresses = set()

    def new_page(self):
        page = self.context.new_page()
        page.on("framenavigated", lambda frame: self.addresses.add(frame.url))
        return page

    def clear(self):
        for page in self.context.pages:
            if page != self.keeper:
                page.close()
        parts = map(urllib.parse.urlsplit, self.addresses)
        for origin in {f"{part.scheme}://{part.netloc}" for part in parts if part.scheme == "http"}:
            self.devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        self.context.clear_cookies()
        self.addresses.clear()


@pytest.fixture(scope="session")
def shared_context(browser):
    shared = SharedContext(browser)
    yield shared
    shared.context.close()


@pytest.fixture
def new_page(browser, shared_context):
    """Makes an empty page. The page gets a context of its own if it `is_alone` or has an option that holds for a whole
    context: its clock, its network, permissions, a language… An error in the page fails the test."""
    contexts = []
    errors = []

    def new_page(is_alone=False, viewport=None, **options):
        if is_alone or options:
            contexts.append(browser.new_context(**options))
            page = contexts[-1].new_page()
        else:
            page = shared_context.new_page()
        if viewport is not None:
            page.set_viewport_size(viewport)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield new_page
    for context in contexts:
        context.close()
    shared_context.clear()
    assert errors == [], "the page threw"


@pytest.fixture
def open_page(new_page):
    """Opens an address."""
    def open_page(address, init_script=None, wait_until="load", **options):
        page = new_page(**options)
        if init_script is not None:
            page.add_init_script(init_script)
        page.set_default_timeout(PATIENCE)
        page.goto(address, wait_until=wait_until)
        return page

    return open_page


@pytest.fixture
def scripted():
    return ScriptedServer()


@pytest.fixture
def visit(new_page, scripted, web_files):
    """Opens the page; its socket leads to the scripted server, its files come from web/."""
    def visit(query="", init_script=None, hand_turned=False):
        page = new_page(is_alone=hand_turned)
        if init_script is not None:
            page.add_init_script(init_script)
        page.route_web_socket("**/ws", lambda socket: scripted.accept(socket))
        if hand_turned:
            page.clock.install()
        page.goto(web_files + "/" + query)
        return page

    return visit


@pytest.fixture
def never(scripted):
    """The requests of a command that get no answer before the test gives one."""
    def never(command):
        scripted.answers[command] = lambda request: None
        return lambda: scripted.sent(command)[-1]

    return never


@pytest.fixture
def guarded(server):
    """The server with two tokens, by role."""
    def add(role):
        return subprocess.run(
            [server.binary, "token", "add", "--name", role, "--role", role, "--data", str(server.data)],
            check=True, capture_output=True, text=True, timeout=20).stdout.strip()

    server.tokens = {role: add(role) for role in ("view", "control")}
    server.stop()
    server.start()
    return server


@pytest.fixture
def page_of_before(tmp_path):
    """The folder of an old page, from before there were parts and folders, as it may run on a screen for years."""
    with tarfile.open(BEFORE) as archive:
        archive.extractall(tmp_path / "before")
    folder = tmp_path / "before" / "web"
    for icon in WEB.glob("*.png"):  # the archive has no icons
        shutil.copy(icon, folder)
    return folder
