"""Limits that are options: a client over one of them waits, or gets an error."""

import json

from raw_socket import RawSocket, text
from timer_server import Server


def test_five_hundred_requests_at_once_are_each_answered(tmp_path):
    """A client with too many unanswered requests is not read for a while, and each is answered, in order."""
    server = Server(tmp_path / "data", "--replies", "4", "--pending", "8").start()
    try:
        with RawSocket(server.port).open() as many, RawSocket(server.port).open() as few:
            start = '{"id":%d,"command":"start","timer":"t%d","duration":60,"force":true}'
            many.send(b"".join(text(start % (number, number % 7)) for number in range(500)))
            few.send(text('{"id":"few","command":"start","timer":"few"}'))
            assert json.loads(few.message())["reply"] == "few"
            replies = [json.loads(many.message()) for _ in range(500)]
        assert [reply["reply"] for reply in replies] == list(range(500))
        assert all(reply["ok"] for reply in replies)
        revisions = [reply["timer"]["revision"] for reply in replies]
        assert revisions == sorted(set(revisions))
    finally:
        assert server.stop() == 0


def test_a_paused_connection_may_close(tmp_path):
    """Connections that send many requests and close without waiting leave nothing behind."""
    server = Server(tmp_path / "data", "--replies", "2").start()
    try:
        for _ in range(20):
            with RawSocket(server.port).open() as one:
                one.send(b"".join(text('{"command":"start","force":true}') for _ in range(200)))
        with RawSocket(server.port).open() as last:
            last.send(text('{"id":1,"command":"list"}'))
            assert json.loads(last.message())["ok"]
            last.send(text('{"id":2,"command":"start","force":true}'))
            assert json.loads(last.message())["ok"]
    finally:
        assert server.stop() == 0


def test_a_client_that_keeps_exceeding_its_rate_is_closed(tmp_path):
    """With 5 requests a second, a client that sends 300 at once is refused, then closed with 1008; 75 only refuse."""
    server = Server(tmp_path / "data", "--requests", "5").start()
    try:
        with RawSocket(server.port).open() as calm, RawSocket(server.port).open() as hasty:
            calm.send(text('{"command":"sync"}') * 75)
            replies = [json.loads(calm.message()) for _ in range(75)]
            hasty.send(text('{"command":"sync"}') * 300)

            assert sum(reply["ok"] for reply in replies) >= 25
            assert {reply["error"]["code"] for reply in replies if not reply["ok"]} == {"rateLimited"}
            assert hasty.close_code() == 1008
            calm.send(text('{"id":"still","command":"sync"}'))
            assert json.loads(calm.message())["reply"] == "still"
    finally:
        assert server.stop() == 0


def test_requests_by_http_are_bounded(tmp_path):
    """Above the allowed requests a second, 429 says when to try again; a WebSocket has a limit of its own."""
    server = Server(tmp_path / "data", "--http-requests", "2").start()
    try:
        with RawSocket(server.port) as one:
            # All requests are sent at once, so that they exceed the budget even if the machine stands still meanwhile:
            # the budget needs half a minute for all of them.
            one.send(b"GET /api/timers HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 75)
            answers = [one.answer() for _ in range(75)]
        statuses = [status for status, _, _ in answers]
        assert set(statuses[:10]) == {200}
        assert statuses.count(429) >= 3, statuses
        _, headers, body = next(answer for answer in answers if answer[0] == 429)
        assert headers["retry-after"] == "1"
        assert json.loads(body)["error"]["code"] == "rateLimited" and json.loads(body)["error"]["retryable"]
        with RawSocket(server.port).open() as one:
            one.send(text('{"id":1,"command":"list"}'))
            assert json.loads(one.message())["ok"]
    finally:
        assert server.stop() == 0


def test_titles_and_warnings_may_be_held_shorter(tmp_path):
    """`--title-bytes` and `--warnings` narrow what the protocol allows, by HTTP too."""
    server = Server(tmp_path / "data", "--title-bytes", "5", "--warnings", "1").start()
    try:
        with RawSocket(server.port).open() as one:
            for message, code in [
                ('{"command":"start","title":"Pasta","warnings":[60]}', None),
                ('{"command":"update","title":"Pasta!"}', "badRequest"),
                ('{"command":"update","warnings":[60,10]}', "badRequest"),
            ]:
                one.send(text(message))
                reply = json.loads(one.message())
                assert reply.get("error", {}).get("code") == code, reply
                assert reply["timer"]["title"] == "Pasta" and reply["timer"]["warnings"] == [60]
            body = b'{"title":"Pasta!"}'
            with RawSocket(server.port) as http:
                http.send(
                    b"POST /api/timers/tea/start HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s"
                    % (len(body), body))
                assert http.answer()[0] == 400
    finally:
        assert server.stop() == 0
