"""The same commands over HTTP: bodies, headers and statuses."""

import asyncio
import re
import subprocess
from urllib.parse import quote

import aiohttp
import pytest
import pytest_asyncio
from yarl import URL

import wire
from timer_server import Server, server_argv

TIMEOUT = aiohttp.ClientTimeout(total=30)


class Answer:
    """Status, headers and body of one answer; a reply is checked like any other."""

    def __init__(self, response, body: bytes):
        self.status = response.status
        self.headers = response.headers
        self.body = body

    @property
    def reply(self) -> dict:
        assert self.headers["Content-Type"].split(";")[0] == "application/json", self.headers
        reply = wire.parse(self.body)
        wire.check_message(reply)
        assert reply["ok"] is (self.status == 200), (self.status, reply)
        return reply

    def refused(self, status: int, code: str) -> dict:
        reply = self.reply
        assert (self.status, reply["error"]["code"]) == (status, code), (self.status, reply)
        return reply


class Http:
    """Requests to one server."""

    def __init__(self, server, session: aiohttp.ClientSession):
        self.server, self.session = server, session

    async def send(self, method: str, path: str, body=None, **headers) -> Answer:
        data = wire.dump(body) if isinstance(body, dict) else body
        url = URL(self.server.http + path, encoded=True)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.request(method, url, data=data, headers=names) as response:
            return Answer(response, await response.read())

    async def get(self, timer: str, **headers) -> Answer:
        return await self.send("GET", f"/api/timers/{quote(timer, safe='')}", **headers)

    async def post(self, timer: str, command: str, body=None, **headers) -> Answer:
        return await self.send("POST", f"/api/timers/{quote(timer, safe='')}/{command}", body, **headers)

    async def delete(self, timer: str, **headers) -> Answer:
        return await self.send("DELETE", f"/api/timers/{quote(timer, safe='')}", **headers)


@pytest_asyncio.fixture
async def http(shared_server):
    async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
        yield Http(shared_server, session)


async def test_the_list(server):
    """`GET /api/timers` is `list`: sorted, and empty when nothing is there."""
    async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
        http = Http(server, session)
        assert (await http.send("GET", "/api/timers")).reply == {"reply": None, "ok": True, "timers": []}
        for timer in ("b", "a"):
            await http.post(timer, "start")

        answer = await http.send("GET", "/api/timers")

        assert [state["timer"] for state in answer.reply["timers"]] == ["a", "b"]


async def test_one_state_with_its_revision(http, name):
    """`GET /api/timers/NAME` is `get`; the ETag is history and revision, new with each change."""
    started = (await http.post(name, "start", {"duration": 60})).reply["timer"]

    answer = await http.get(name)

    assert set(answer.reply) == {"reply", "ok", "timer"} and answer.reply["reply"] is None
    assert answer.reply["timer"]["revision"] == started["revision"]
    history, _, revision = answer.headers["ETag"].strip('"').rpartition(":")
    assert history.isalnum() and revision == str(started["revision"])
    assert answer.headers["ETag"].startswith('"'), "an entity tag is quoted"
    paused = await http.post(name, "pause")
    assert paused.headers["ETag"] == f'"{history}:{paused.reply["timer"]["revision"]}"'
    assert paused.headers["ETag"] != answer.headers["ETag"]


async def test_one_that_is_not_there(http, name):
    """An unknown timer is 404, with the reply in the body."""
    reply = (await http.get(name)).refused(404, "unknownTimer")

    assert "timer" not in reply
    (await http.delete(name)).refused(404, "unknownTimer")
    (await http.post(name, "update", {"title": "x"})).refused(404, "unknownTimer")
    (await http.post(name, "remove")).refused(404, "unknownTimer")


async def test_each_command_by_post(http, name):
    """Every command on one timer may be posted with its fields as the body."""
    for command, fields, status in [
        ("start", {"duration": 60, "title": "Tea", "warnings": [5], "atZero": "finish"}, "running"),
        ("update", {"title": "Coffee"}, "running"), ("addRemainingTime", {"seconds": 5, "clamp": False}, "running"),
        ("pause", None, "paused"), ("resume", {}, "running"), ("finish", {"resetTime": True}, "finished"),
        ("start", {"type": "stopwatch"}, "running"), ("addElapsedTime", {"seconds": 5}, "running"),
        ("reset", None, "idle"), ("get", None, "idle"),
    ]:
        state = (await http.post(name, command, fields)).reply["timer"]
        assert (state["timer"], state["status"], state["title"]) == (
            name, status, "Tea" if command == "start" and fields.get("title") else "Coffee"), command
    assert (await http.post(name, "remove")).reply["ok"] is True


async def test_delete_removes(http, name):
    """`DELETE` forgets the timer."""
    await http.post(name, "start")

    assert (await http.delete(name)).status == 200

    (await http.get(name)).refused(404, "unknownTimer")


@pytest.mark.parametrize(
    "timer", ["a/b", "%2F", "?#", "...", "🍵", "é", "e\u0301", "a b", "a+b", "'", "%", "/" * 128, "a;b=c", "&"])
async def test_names_in_a_path(http, timer):
    """A percent-encoded name in the path is decoded once, and is the name itself."""
    state = (await http.post(timer, "start", {"duration": 60})).reply["timer"]

    assert state["timer"] == timer
    listed = (await http.send("GET", "/api/timers")).reply["timers"]
    assert timer in [state["timer"] for state in listed]
    assert (await http.get(timer)).reply["timer"]["timer"] == timer
    assert (await http.delete(timer)).status == 200


@pytest.mark.parametrize("path", ["%00", "%FF", "a%0Ab", "x" * 129, "*", "%C3", "%E2%80%A8"])
async def test_what_is_no_name_in_a_path(http, path):
    """A path that names no timer is 400."""
    for method, rest in [("GET", ""), ("POST", "/start"), ("DELETE", "")]:
        answer = await http.send(method, f"/api/timers/{path}{rest}")
        assert answer.status == 400, (method, answer.body)


@pytest.mark.parametrize(
    "body",
    ["{", "[]", "null", "5", '"x"', "hello", '{"duration":60,}', '{"duration":"60"}', '{"durration":60}',
     '{"duration":60,"duration":60}', "[" * 10_000, '{"title":"\\ud800"}', b"\xff", b'{"title":"\xc3"}'])
async def test_a_bad_body_is_400(http, name, body):
    """A body of the wrong shape is 400, and makes nothing."""
    (await http.post(name, "start", body)).refused(400, "badRequest")

    (await http.get(name)).refused(404, "unknownTimer")


async def test_out_of_range_is_400(http, name):
    """A number out of range is 400, with its bound."""
    reply = (await http.post(name, "start", {"duration": 31_536_001})).refused(400, "outOfRange")

    assert reply["error"]["limit"] == 31_536_000


async def test_conflicts_are_409(http, name):
    """A command that does not fit the state is 409, with the state beside the error."""
    (await http.post(name, "pause")).refused(409, "timerHasNotStarted")
    await http.post(name, "start", {"duration": 60})
    reply = (await http.post(name, "start", {"duration": 60})).refused(409, "timerAlreadyStarted")
    assert reply["timer"]["status"] == "running"
    (await http.post(name, "resume")).refused(409, "timerHasNotPaused")
    await http.post(name, "pause")
    (await http.post(name, "pause")).refused(409, "timerAlreadyPaused")
    (await http.post(name, "addElapsedTime", {"seconds": 1})).refused(409, "invalidTimerType")


async def test_an_unknown_command_is_refused(http, name):
    """Another command in the path is refused, and makes nothing."""
    answer = await http.post(name, "strat", {"duration": 60})

    assert answer.status in {400, 404}
    assert answer.reply["error"]["code"] == "unknownCommand"
    (await http.get(name)).refused(404, "unknownTimer")


@pytest.mark.parametrize("size", [16 * 1024 + 1, 100_000])
async def test_a_body_over_16_kib_is_413(http, name, size):
    """A body over the limit is 413, and makes nothing."""
    body = '{"duration":60}'.ljust(size)

    assert (await http.post(name, "start", body)).status == 413

    (await http.get(name)).refused(404, "unknownTimer")


async def test_a_body_of_16_kib_is_read(http, name):
    """Up to the limit a body is a body."""
    assert (await http.post(name, "start", '{"duration":60}'.ljust(16 * 1024))).status == 200


async def test_if_match_is_if_revision(http, name):
    """A change with the current ETag is made, and one with another ETag is 409."""
    tag = (await http.post(name, "start", {"duration": 60})).headers["ETag"]

    answer = await http.post(name, "pause", If_Match=tag)
    assert answer.status == 200
    reply = (await http.post(name, "resume", If_Match=tag)).refused(409, "revisionMismatch")
    assert reply["timer"]["status"] == "paused"
    (await http.delete(name, If_Match=tag)).refused(409, "revisionMismatch")
    assert (await http.delete(name, If_Match=answer.headers["ETag"])).status == 200


@pytest.mark.parametrize("tag", ['"x"', "x", "", '"1', "1", "1.5", '"-1"', 'W/"1"'])
async def test_an_if_match_that_is_no_revision_changes_nothing(http, name, tag):
    """An If-Match that is no revision is refused, and not ignored."""
    # So that the timer is not at revision 1, whichever test comes first.
    await http.post(f"{name} before", "start", {"duration": 60})
    await http.post(name, "start", {"duration": 60})

    assert (await http.post(name, "pause", If_Match=tag)).status in {400, 409}

    assert (await http.get(name)).reply["timer"]["status"] == "running"


async def test_idempotency_key_is_request_id(http, name):
    """A change sent again with the same key is made once and answered as the first time."""
    await http.post(name, "start", {"duration": 60})

    first = await http.post(name, "addRemainingTime", {"seconds": 10}, Idempotency_Key=f"{name} k")
    second = await http.post(name, "addRemainingTime", {"seconds": 10}, Idempotency_Key=f"{name} k")

    assert first.reply == second.reply
    assert (await http.get(name)).reply["timer"]["duration"] == 70
    assert (await http.delete(name, Idempotency_Key=f"{name} d")).status == 200
    assert (await http.delete(name, Idempotency_Key=f"{name} d")).status == 200
    (await http.delete(name)).refused(404, "unknownTimer")


@pytest.mark.parametrize(
    ("method", "path", "parameter"),
    [("POST", "/start?duration=300", "duration"), ("POST", "/pause?token=x&force=true", "force"),
     ("DELETE", "?ifRevision=1", "ifRevision")])
async def test_a_field_in_the_url_is_no_field(http, name, method, path, parameter):
    """A field in the URL is refused by its name, since the request would be another one without it."""
    await http.post(f"{name} b", "start", {"duration": 60})
    timer = quote(f"{name} b") if method != "POST" else quote(name)

    reply = (await http.send(method, f"/api/timers/{timer}{path}")).refused(400, "badRequest")

    assert f'"{parameter}"' in reply["error"]["message"]
    (await http.get(name)).refused(404, "unknownTimer")
    assert (await http.get(f"{name} b")).status == 200


@pytest.mark.parametrize("path", ["/api/timers/%ff", "/api/timers/%zz/start", "/api/timers?x=%ff", "/metrics?x=%c0%ae"])
async def test_what_is_no_utf8_is_refused_in_the_shape_of_a_reply(http, path):
    """A path or a query that can't be decoded is a `badRequest` like any other."""
    (await http.send("GET", path)).refused(400, "badRequest")


async def test_each_answer_says_what_a_cache_may_do(http, name):
    """Caches revalidate reads and store nothing else; a 304 has the same Cache-Control as the 200."""
    tag = (await http.post(name, "start")).headers["ETag"]
    tag = (await http.post(name, "pause")).headers["ETag"]
    path = f"/api/timers/{quote(name)}"

    for answer, status, caching in [
        (await http.get(name), 200, "no-cache"),
        (await http.get(name, If_None_Match=tag), 304, "no-cache"),
        (await http.send("GET", "/api/timers"), 200, "no-cache"),
        (await http.send("GET", "/"), 200, "no-cache"),
        (await http.send("GET", "/readyz"), 200, "no-store"),
        (await http.send("GET", "/healthz"), 200, "no-store"),
        (await http.send("GET", "/nothing"), 404, "no-store"),
        (await http.send("GET", "/api/nothing"), 404, "no-store"),
        (await http.send("POST", f"{path}/pause", " " * 20_000), 413, "no-store"),
        (await http.send("GET", "/ws"), 426, "no-store"),
        (await http.send("POST", "/"), 405, "no-store"),
        (await http.send("GET", f"{path}%ff"), 400, "no-store"),
    ]:
        assert (answer.status, answer.headers.getall("Cache-Control")) == (status, [caching])


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/api/timers", "GET, HEAD"),
        ("/api/timers/x", "GET, HEAD, DELETE"),
        ("/api/timers/x/start", "GET, HEAD, POST, DELETE"),
        ("/metrics", "GET, HEAD"),
        ("/api/qr", "POST"),
        ("/", "GET, HEAD"),
    ],
)
async def test_a_wrong_method_is_told_the_right_ones(http, path, methods):
    """A 405 lists the allowed methods, and POST as well where the path names a command."""
    answer = await http.send("PUT", path)

    assert (answer.status, answer.headers["Allow"]) == (405, methods)


async def test_refusals_are_counted(http, name):
    """Every refusal over HTTP is counted by its code, even before the command is read."""
    async def count(code: str) -> int:
        text = (await http.send("GET", "/metrics")).body.decode()
        line = rf'^timersync_requests_refused_total\{{code="{code}"\}} (\d+)$'
        return int(re.search(line, text, re.MULTILINE).group(1))

    async def bad_body():
        return await http.post(name, "start", "nonsense")

    async def unknown_field():
        return await http.post(name, "start", {"colour": "red"})

    async def unknown_command():
        return await http.post(name, "strat")

    async def foreign_page():
        return await http.post(name, "start", Origin="http://evil.example")

    async def foreign_host():
        return await http.get(name, Host="evil.example")

    for code, request in [
        ("badRequest", bad_body), ("badRequest", unknown_field), ("unknownCommand", unknown_command),
        ("forbidden", foreign_page), ("forbidden", foreign_host),
    ]:
        before = await count(code)
        assert (await request()).reply["error"]["code"] == code
        assert await count(code) == before + 1, request.__name__


async def test_an_idempotency_key_is_bounded(http, name):
    """A key over 64 bytes is 400."""
    (await http.post(name, "start", {"duration": 60}, Idempotency_Key="x" * 65)).refused(400, "badRequest")


async def test_body_fields_for_conditions(http, name):
    """`ifRevision` and `requestId` may be in the body as well."""
    revision = (await http.post(name, "start", {"duration": 60})).reply["timer"]["revision"]

    (await http.post(name, "pause", {"ifRevision": revision + 1})).refused(409, "revisionMismatch")
    assert (await http.post(name, "pause", {"ifRevision": revision, "requestId": f"{name} b"})).status == 200
    assert (await http.post(name, "pause", {"ifRevision": revision, "requestId": f"{name} b"})).status == 200


async def test_a_key_is_one_over_http_and_sockets(http, shared_server, connect, name):
    """A change sent by a socket and again by HTTP with the same key is made once."""
    client = await connect(shared_server)
    await client.ok("start", name, duration=60)
    state = await client.state("addRemainingTime", name, seconds=10, requestId=f"{name} x")

    answer = await http.post(name, "addRemainingTime", {"seconds": 10}, Idempotency_Key=f"{name} x")

    assert answer.reply["timer"] == state


@pytest.mark.parametrize("path", ["/api/timers", "/healthz", "/readyz", "/metrics"])
async def test_head_is_get_without_the_body(http, path):
    """`HEAD` has the status and type of `GET`, and no body."""
    get, head = await http.send("GET", path), await http.send("HEAD", path)

    assert head.status == get.status == 200
    assert head.body == b"" and get.body != b""
    assert head.headers.get("Content-Type") == get.headers.get("Content-Type")


async def test_head_of_one_timer(http, name):
    """`HEAD` of a timer returns its revision, and 404 for an unknown one."""
    tag = (await http.post(name, "start")).headers["ETag"]

    answer = await http.send("HEAD", f"/api/timers/{quote(name)}")

    assert (answer.status, answer.headers["ETag"], answer.body) == (200, tag, b"")
    assert (await http.send("HEAD", f"/api/timers/{quote(name)}x")).status == 404


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_health(http, path):
    """A running server is alive and ready."""
    assert (await http.send("GET", path)).status == 200


async def test_metrics_are_prometheus_text(http):
    """Each line of `/metrics` is a comment or a sample, and each sample has a type."""
    await http.post("measured", "start")

    answer = await http.send("GET", "/metrics")

    assert answer.headers["Content-Type"].startswith("text/plain")
    typed, samples = set(), []
    for line in answer.body.decode().splitlines():
        if line.startswith("# TYPE "):
            _, _, metric, kind = line.split(" ")
            assert kind in {"counter", "gauge", "histogram", "summary"}, line
            typed.add(metric)
        elif line and not line.startswith("#"):
            match = re.fullmatch(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[^}]*\})? (-?[0-9.e+-]+|NaN|[+-]Inf)( \d+)?', line)
            assert match, line
            samples.append(match.group(1))
    assert samples
    for sample in samples:
        assert re.sub(r"_(bucket|sum|count)$", "", sample) in typed or sample in typed, sample


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", "/api/timers/x"), ("POST", "/api/timers"), ("DELETE", "/api/timers"), ("PATCH", "/api/timers/x"),
     ("POST", "/healthz"), ("GET", "/api"), ("GET", "/api/timers/x/y/z"), ("GET", "/api/nothing"),
     ("POST", "/api/timers/x/"), ("GET", "/nothing")])
async def test_other_methods_and_paths_are_refused(http, method, path):
    """A request that the protocol does not have is refused, and the server goes on."""
    assert (await http.send(method, path, "{}" if method != "GET" else None)).status in {400, 403, 404, 405, 501}

    assert (await http.send("GET", "/healthz")).status == 200


@pytest.mark.parametrize("command", ["start", "remove", "get"])
async def test_a_url_alone_changes_nothing(http, name, command):
    """Without `--allow-get`, `GET …/COMMAND` is no command."""
    await http.post(name, "start", {"duration": 60})

    assert 400 <= (await http.send("GET", f"/api/timers/{quote(name)}/{command}?force=true")).status < 500

    assert (await http.get(name)).reply["timer"]["duration"] == 60


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
async def test_a_change_from_another_origin_is_403(http, name, origin):
    """A page from elsewhere changes nothing, whatever it posts."""
    await http.post(name, "start", {"duration": 60})

    for answer in (
        await http.post(name, "pause", Origin=origin), await http.delete(name, Origin=origin),
        await http.post(f"{name} new", "start", Origin=origin),
    ):
        assert answer.status == 403

    assert (await http.get(name)).reply["timer"]["status"] == "running"
    (await http.get(f"{name} new")).refused(404, "unknownTimer")


@pytest_asyncio.fixture
async def listed(tmp_path):
    """A server with a token that knows the pages of another site."""
    data = tmp_path / "data"
    token = subprocess.run(
        server_argv("token", "add", "--name", "stage", "--role", "control", "--data", str(data)),
        capture_output=True, text=True, check=True).stdout.split()[-1]
    server = Server(data, "--origin", "https://show.example").start()
    async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
        yield Http(server, session), f"Bearer {token}"
    server.kill()


async def test_a_listed_page_may_change_and_read(listed):
    """A browser lets a page of an allowed site read the answer, after a preflight request."""
    http, token = listed
    asked = await http.send(
        "OPTIONS", "/api/timers/tea/start", Origin="https://show.example", Access_Control_Request_Method="POST",
        Access_Control_Request_Headers="authorization,content-type")
    made = await http.post("tea", "start", {"duration": 60}, Origin="https://show.example", Authorization=token)
    refused = await http.get("tea", Origin="https://show.example")

    assert (asked.status, asked.body) == (204, b"")
    assert "POST" in asked.headers["Access-Control-Allow-Methods"].split(", ")
    allowed = asked.headers["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "content-type", "if-match", "idempotency-key"} <= set(allowed)
    assert (made.status, refused.status) == (200, 401)
    for answer in (asked, made, refused):
        assert answer.headers.getall("Access-Control-Allow-Origin") == ["https://show.example"]
        assert answer.headers["Vary"] == "Origin"
    assert "ETag" in made.headers["Access-Control-Expose-Headers"]


@pytest.mark.parametrize("origin", ["https://evil.example", "http://show.example", "null", "https://show.example.evil.example"])
async def test_a_page_that_is_not_listed_is_shown_nothing(listed, origin):
    """No CORS header lets the site's browser read a response, and its preflight request is refused."""
    http, token = listed

    answers = [
        await http.send("OPTIONS", "/api/timers/tea/start", Origin=origin, Access_Control_Request_Method="POST"),
        await http.get("tea", Origin=origin, Authorization=token), await http.send("GET", "/", Origin=origin)]

    assert answers[0].status == 403
    assert not [name for answer in answers for name in answer.headers if name.lower().startswith("access-control")]


async def test_where_no_site_is_listed_none_is_told(http):
    """A server without allowed origins sends no CORS header."""
    answers = [await http.send(method, "/api/timers", Origin=http.server.http) for method in ("GET", "OPTIONS")]

    assert [answer.status for answer in answers] == [200, 405]
    assert not [name for answer in answers for name in answer.headers if name.lower().startswith("access-control")]


async def test_a_change_from_our_own_page_is_made(http, name):
    """The server's own page may post."""
    answer = await http.post(name, "start", {"duration": 60}, Origin=http.server.http)

    assert answer.status == 200


@pytest.mark.parametrize("host", ["evil.example", "rebound.example:80", "127.0.0.1.evil.example"])
async def test_a_foreign_host_is_403(http, name, host):
    """A foreign name that resolves to this address does not pass as the server's own, not even to read."""
    assert (await http.post(name, "start", {"duration": 60}, Host=host)).status == 403
    assert (await http.send("GET", "/api/timers", Host=host)).status == 403

    (await http.get(name)).refused(404, "unknownTimer")


@pytest.mark.parametrize("path", ["/", "/main.js", "/nothing"])
async def test_the_page_is_not_shown_under_a_foreign_name(http, path):
    """The page is not served either: a browser under another site's name gets an error with the reason."""
    answer = await http.send("GET", path, Host="rebound.example")

    assert answer.status == 403
    assert "--host" in answer.reply["error"]["message"]
    assert (await http.send("GET", path, Host="localhost")).status == (404 if path == "/nothing" else 200)


@pytest.mark.parametrize("host", ["localhost", "localhost:80", "127.0.0.1", "[::1]:8080", "192.168.1.7:8080"])
async def test_an_address_or_localhost_is_a_host(http, host):
    """An IP address and `localhost` are our own, by any port."""
    assert (await http.send("GET", "/api/timers", Host=host)).status == 200


async def test_requests_on_one_connection_are_answered_in_order(shared_server, name):
    """HTTP requests in a row on one connection get their answers in a row."""
    reader, writer = await asyncio.open_connection("127.0.0.1", shared_server.port)
    path = f"/api/timers/{quote(name)}"
    writer.write(b"".join(
        f"{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        for line, body in [
            (f"POST {path}/start", '{"duration":60}'), (f"GET {path}", ""), (f"POST {path}/pause", ""),
            (f"DELETE {path}", ""), (f"GET {path}", "")]))
    statuses = []
    async with asyncio.timeout(30):
        while len(statuses) < 5:
            line = await reader.readline()
            assert line, f"the connection ended after {statuses}"
            # A body without a line end stands before the next status line.
            if match := re.search(rb"HTTP/1\.[01] (\d{3})", line):
                statuses.append(int(match.group(1)))
    writer.close()

    assert statuses == [200, 200, 200, 200, 404]


async def test_a_change_over_http_is_durable(server):
    """An answered change is there after a crash."""
    async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
        http = Http(server, session)
        revision = (await http.post("tea", "start", {"duration": 600})).reply["timer"]["revision"]

        server.restart()

    async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
        assert (await Http(server, session).get("tea")).reply["timer"]["revision"] == revision
