"""Invalid input, and the right answer to each: messages, frames, handshakes and HTTP requests.

A row holds the bytes to send and the expected answer. No row may make a timer, and the server has to go on.
Tokens have a suite of their own.
"""

import json
import os
import struct
from typing import NamedTuple

import pytest

from raw_socket import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    RawSocket,
    frame,
    handshake,
    text,
)
from stalls import Stopwatch

MIB = 1 << 20
# This would make a timer if any part of it were carried out.
START = '{"id":1,"command":"start","timer":"victim","duration":60}'


def assert_nothing_happened(server):
    """Checks that the server answers, and that no invalid input has made a timer."""
    with RawSocket(server.port) as fresh:
        # Changes become durable, and are shown, in the order in which they came, and this one is the last.
        fresh.send(request("POST /api/timers/marker/start HTTP/1.1", "Content-Length: 14", body=b'{"force":true}'))
        assert fresh.answer()[0] == 200
        fresh.send(request("GET /api/timers/victim HTTP/1.1"))
        status, _, body = fresh.answer()
        if status == 200:  # every later test would fail with this timer
            fresh.send(request("DELETE /api/timers/victim HTTP/1.1"))
            fresh.answer()
    assert status == 404, f"the bad input made a timer: {body!r}"


def rows(table):
    """A table as parameters of a test, each named by its first column."""
    return pytest.mark.parametrize("row", table, ids=[row[0].replace(" ", "-") for row in table])


# Messages


class Message(NamedTuple):
    what: str
    text: str
    code: str
    # A word that the error names: the field, or what is wrong with the text.
    names: str = ""
    # The value that comes back as `reply`.
    tag: object = None


def start(fields: str) -> str:
    return f'{{"id":7,"command":"start","timer":"victim",{fields}}}'


def named(name: str) -> str:
    return f'{{"id":7,"command":"start","timer":{name},"duration":60}}'


MESSAGES = [
    # No JSON
    Message("nothing", "", "badRequest"),
    Message("a word", "hello", "badRequest"),
    Message("an array", f"[{START}]", "badRequest", "array"),
    Message("null", "null", "badRequest", "null"),
    Message("half an object", START[:-1], "badRequest"),
    Message("two objects", START + START, "badRequest", "after"),
    Message("a comma at the end", START[:-1] + ",}", "badRequest"),
    Message("a comment", START + "//", "badRequest"),
    Message("a byte order mark", "\ufeff" + START, "badRequest"),
    Message("single quotes", START.replace('"', "'"), "badRequest"),
    Message("a raw NUL between fields", START.replace(",", ",\0"), "badRequest"),
    Message("a raw line end in a string", START.replace("victim", "vic\ntim"), "badRequest", "control"),
    Message("depth 10 000", "[" * 10_000, "badRequest", "deep"),
    Message("depth 10 000 in a field", start('"title":' + "[" * 5_000 + "]" * 5_000), "badRequest", "deep"),
    Message("65 fields", "{" + ",".join(f'"f{n}":1' for n in range(65)) + "}", "badRequest", "64"),
    # Keys
    Message("a key twice", start('"duration":60,"duration":61'), "badRequest", "duration"),
    Message("a key twice, one escaped", start('"duration":60,"dur\\u0061tion":60'), "badRequest", "duration"),
    Message("a command twice", '{"command":"list","command":"start"}', "badRequest", "command"),
    Message("an unknown field", start('"duration":60,"colour":"red"'), "badRequest", "colour", 7),
    Message("a field in capitals", start('"Duration":60'), "badRequest", "Duration", 7),
    Message("a field of another command", start('"seconds":60'), "badRequest", "seconds", 7),
    # id and command
    Message("id as an object", '{"id":{},"command":"start","timer":"victim","duration":60}', "badRequest", "id"),
    Message("id as an array", '{"id":[1],"command":"start","timer":"victim","duration":60}', "badRequest", "id"),
    Message("id as a boolean", '{"id":true,"command":"start","timer":"victim","duration":60}', "badRequest", "id"),
    Message("no command", '{"id":7,"timer":"victim","duration":60}', "badRequest", "command", 7),
    Message("command as a number", '{"id":7,"command":1}', "badRequest", "command", 7),
    Message("command as an array", '{"id":7,"command":["start"]}', "badRequest", "command", 7),
    Message("an unknown command", '{"id":7,"command":"strat","timer":"victim"}', "unknownCommand", "strat", 7),
    Message("a command with a space", '{"id":7,"command":"start ","timer":"victim"}', "unknownCommand", "start ", 7),
    # Numbers
    Message("duration 0", start('"duration":0'), "outOfRange", "duration", 7),
    Message("duration -0", start('"duration":-0'), "outOfRange", "duration", 7),
    Message("duration -0.0", start('"duration":-0.0'), "outOfRange", "duration", 7),
    Message("duration -1", start('"duration":-1'), "outOfRange", "duration", 7),
    Message("duration 31 536 001", start('"duration":31536001'), "outOfRange", "duration", 7),
    Message("duration a microsecond too long", start('"duration":31536000.000001'), "outOfRange", "duration", 7),
    Message("duration 1e999", start('"duration":1e999'), "outOfRange", "duration", 7),
    Message("duration -1e999", start('"duration":-1e999'), "outOfRange", "duration", 7),
    Message("duration NaN", start('"duration":NaN'), "badRequest"),
    Message("duration Infinity", start('"duration":Infinity'), "badRequest"),
    Message("duration as a string", start('"duration":"60"'), "badRequest", "duration", 7),
    Message("duration null", start('"duration":null'), "badRequest", "duration", 7),
    Message("duration as an array", start('"duration":[60]'), "badRequest", "duration", 7),
    Message("a leading zero", start('"duration":060'), "badRequest"),
    Message("a leading plus", start('"duration":+60'), "badRequest"),
    Message("a bare point", start('"duration":60.'), "badRequest"),
    Message("hexadecimal", start('"duration":0x3c'), "badRequest"),
    Message("seconds beyond all bounds", '{"id":7,"command":"addRemainingTime","timer":"victim","seconds":1e308}',
            "timerHasNotStarted", "victim", 7),
    Message("seconds missing", '{"id":7,"command":"addElapsedTime","timer":"victim"}', "badRequest", "seconds", 7),
    Message("a revision with a fraction", start('"duration":60,"ifRevision":1.5'), "badRequest", "ifRevision", 7),
    Message("a revision below zero", start('"duration":60,"ifRevision":-1'), "badRequest", "ifRevision", 7),
    Message("a press in the future", start('"duration":60,"at":9999999999'), "outOfRange", "at", 7),
    Message("a press before time began", start('"duration":60,"at":-1e999'), "outOfRange", "at", 7),
    Message("an interval too short", '{"id":7,"command":"subscribe","interval":0.09}', "outOfRange", "interval", 7),
    Message("an interval too long", '{"id":7,"command":"subscribe","interval":3601}', "outOfRange", "interval", 7),
    Message("a client's time in words", '{"id":7,"command":"sync","clientTime":"now"}', "badRequest", "clientTime", 7),
    # Names and other texts
    Message("NUL in a name", named('"vic\\u0000tim"'), "badRequest", "name", 7),
    Message("a line end in a name", named('"vic\\ntim"'), "badRequest", "name", 7),
    Message("U+0085 in a name", named('"vic\\u0085tim"'), "badRequest", "name", 7),
    Message("U+2028 in a name", named('"vic\\u2028tim"'), "badRequest", "name", 7),
    Message("an empty name", named('""'), "badRequest", "name", 7),
    Message("a star for a name", named('"*"'), "badRequest", "name", 7),
    Message("a name of 129 bytes", named(f'"{"n" * 129}"'), "badRequest", "name", 7),
    Message("a name of 33 emoji", named(f'"{"🍵" * 33}"'), "badRequest", "name", 7),
    Message("a number for a name", named("5"), "badRequest", "timer", 7),
    Message("a lone high surrogate", named('"\\ud800"'), "badRequest", "surrogate"),
    Message("a lone low surrogate", named('"\\udc00"'), "badRequest", "surrogate"),
    Message("two high surrogates", start('"title":"\\ud83c\\ud83c"'), "badRequest", "surrogate"),
    Message("a surrogate and no escape", start('"title":"\\ud83cx"'), "badRequest", "surrogate"),
    Message("half an escape", start('"title":"\\u12"'), "badRequest"),
    Message("an unknown escape", start('"title":"\\x41"'), "badRequest"),
    Message("a title of 257 bytes", start(f'"duration":60,"title":"{"t" * 257}"'), "badRequest", "title", 7),
    Message("a title as a number", start('"duration":60,"title":5'), "badRequest", "title", 7),
    Message("17 warnings", start('"duration":60,"warnings":' + json.dumps([1] * 17)), "badRequest", "warnings", 7),
    Message("a warning below zero", start('"duration":60,"warnings":[-1]'), "outOfRange", "warnings", 7),
    Message("warnings in words", start('"duration":60,"warnings":["1m"]'), "badRequest", "warnings", 7),
    Message("an empty requestId", start('"duration":60,"requestId":""'), "badRequest", "requestId", 7),
    Message("a requestId of 65 bytes", start(f'"duration":60,"requestId":"{"r" * 65}"'), "badRequest", "requestId", 7),
    # Fields that contradict each other
    Message("an unknown type", start('"type":"clock"'), "badRequest", "type", 7),
    Message("an unknown end", start('"duration":60,"atZero":"explode"'), "badRequest", "atZero", 7),
    Message("a stopwatch with a duration", start('"duration":60,"type":"stopwatch"'), "badRequest", "duration", 7),
    Message("a countdown without one", start('"type":"timer"'), "badRequest", "duration", 7),
    Message("a repeat too short", start('"duration":0.05,"atZero":"repeat"'), "outOfRange", "duration", 7),
    Message("force in words", start('"duration":60,"force":"yes"'), "badRequest", "force", 7),
    Message("one timer and many", '{"id":7,"command":"subscribe","timer":"victim","timers":[]}',
            "badRequest", "timers", 7),
    Message("timers as a number", '{"id":7,"command":"subscribe","timers":5}', "badRequest", "timers", 7),
    Message("a number among timers", '{"id":7,"command":"subscribe","timers":["victim",5]}', "badRequest", "timers", 7),
    Message("an update of nothing", '{"id":7,"command":"update","timer":"victim"}', "badRequest", "update", 7),
    Message("no token", '{"id":7,"command":"authenticate"}', "badRequest", "token", 7),
]


@rows(MESSAGES)
def test_a_bad_message(shared_server, row):
    """The message gets the right error, which names what is wrong, and the connection stays."""
    with RawSocket(shared_server.port).open() as raw:
        raw.send(text(row.text))

        reply = json.loads(raw.message())

        assert (reply["ok"], reply["error"]["code"], reply["reply"]) == (False, row.code, row.tag), reply
        assert row.names in reply["error"]["message"], reply
        assert reply["error"]["retryable"] is False, reply
        raw.send(text('{"id":"still there","command":"sync"}'))
        assert json.loads(raw.message())["reply"] == "still there"
    assert_nothing_happened(shared_server)


# Frames


class Frames(NamedTuple):
    what: str
    sent: bytes
    # The code of the close frame; None where the connection ends without one.
    code: int | None


def close_frame(code: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, struct.pack("!H", code) + reason)


def in_pieces(payload: bytes, count: int) -> bytes:
    size = -(-len(payload) // count)
    pieces = [payload[place:place + size] for place in range(0, len(payload), size)]
    return b"".join(
        frame(CONTINUATION if index else TEXT, piece, last=index == len(pieces) - 1)
        for index, piece in enumerate(pieces))


def announced(length: int, payload: bytes) -> bytes:
    return frame(TEXT, payload, length=b"\x7f" + struct.pack("!Q", length))


FRAMES = [
    # UTF-8
    Frames("invalid UTF-8 in one frame", text(b'{"command":"\xff"}'), 1007),
    Frames("invalid UTF-8 split over two",
           frame(TEXT, b'{"a":"\xc3', last=False) + frame(CONTINUATION, b'\x28"}'), 1007),
    Frames("a character cut off at the end", text(b'{"a":"\xe2\x82'), 1007),
    Frames("a character cut off before an empty last frame",
           frame(TEXT, b"\xe2\x82", last=False) + frame(CONTINUATION), 1007),
    Frames("a surrogate in UTF-8", text(b"\xed\xa0\x80"), 1007),
    Frames("an overlong slash", text(b"\xc0\xaf"), 1007),
    Frames("beyond Unicode", text(b"\xf4\x90\x80\x80"), 1007),
    # Size
    Frames("a byte over 16 KiB", text(b" " * 16_385), 1009),
    Frames("16 MiB in one frame", text(b"x" * 16 * MIB), 1009),
    Frames("16 MiB in a thousand fragments", in_pieces(b"x" * 16 * MIB, 1000), 1009),
    Frames("a terabyte announced", announced(1 << 40, b"x" * 20_000), 1009),
    Frames("a length with the top bit", announced(1 << 63, b"x"), None),
    # Kinds
    Frames("binary", frame(BINARY, START.encode()), 1003),
    Frames("binary and empty", frame(BINARY), 1003),
    Frames("binary in fragments", frame(BINARY, b"{", last=False) + frame(CONTINUATION, b"}"), 1003),
    *[Frames(f"reserved opcode {opcode}", frame(opcode, START.encode()), 1002) for opcode in (3, 4, 5, 6, 7)],
    *[Frames(f"reserved opcode {opcode}", frame(opcode, START.encode()), 1002) for opcode in (11, 12, 13, 14, 15)],
    Frames("reserved bit 1", text(START, reserved=4), 1002),
    Frames("reserved bit 2", text(START, reserved=2), 1002),
    Frames("reserved bit 3", text(START, reserved=1), 1002),
    Frames("reserved bits of a ping", frame(PING, b"?", reserved=4), 1002),
    Frames("reserved bits of a fragment", frame(TEXT, b"{", last=False) + frame(CONTINUATION, b"}", reserved=1), 1002),
    # Control frames
    Frames("a ping in fragments", frame(PING, b"?", last=False), 1002),
    Frames("a pong in fragments", frame(PONG, b"!", last=False), 1002),
    Frames("a close in fragments", frame(CLOSE, b"\x03\xe8", last=False), 1002),
    Frames("a ping of 126 bytes", frame(PING, b"x" * 126), None),
    Frames("a pong of 126 bytes", frame(PONG, b"x" * 126), None),
    Frames("a close of 126 bytes", close_frame(1000, b"x" * 124), None),
    # Fragments
    Frames("a continuation of nothing", frame(CONTINUATION, START.encode()), 1002),
    Frames("a text within a text", frame(TEXT, b"{", last=False) + text(START), 1002),
    Frames("binary within a text", frame(TEXT, b"{", last=False) + frame(BINARY, b"}"), 1002),
    # Closing
    *[Frames(f"close code {code}", close_frame(code), 1002) for code in (0, 999, 1004, 1005, 1006, 1015, 2999)],
    Frames("a close whose reason is no UTF-8", close_frame(1000, b"\xff"), None),
    Frames("a command after the close", close_frame(1000) + text(START), 1000),
]


@rows(FRAMES)
def test_bad_frames(shared_server, row):
    """The connection ends with the right code, and no part of the input is carried out."""
    with RawSocket(shared_server.port).open() as raw:
        raw.send(row.sent)

        assert raw.close_code() == row.code
        assert raw.is_ended()
    assert_nothing_happened(shared_server)


def test_a_close_of_one_byte(shared_server):
    """A close frame with half a code ends the connection, with or without a close frame in return."""
    with RawSocket(shared_server.port).open() as raw:
        raw.send(frame(CLOSE, b"\x03"))

        assert raw.is_ended()


def test_a_command_before_a_bad_frame(shared_server):
    """Requests before the bad frame are carried out, and those after it are not."""
    with RawSocket(shared_server.port).open() as raw:
        raw.send(text('{"command":"start","timer":"before","duration":60}') + frame(3) + text(START))

        assert raw.close_code() == 1002
    assert_nothing_happened(shared_server)
    with RawSocket(shared_server.port) as fresh:
        fresh.send(request("GET /api/timers/before HTTP/1.1"))
        assert fresh.answer()[0] == 200


def test_unmasked_frames_are_taken(shared_server):
    """The one place where the server is laxer than RFC 6455: libwebsockets does not insist on the mask.

    The mask protects proxies from what a page's script makes a browser send, and a browser always masks.
    """
    with RawSocket(shared_server.port).open() as raw:
        raw.send(text('{"id":1,"command":"list"}', mask=None) + text('{"id":2,"command":"list"}'))

        assert [json.loads(raw.message())["reply"] for _ in range(2)] == [1, 2]


@pytest.mark.parametrize("size", [b"\x7e\x00\x19", b"\x7f\x00\x00\x00\x00\x00\x00\x00\x19"], ids=["16 bits", "64 bits"])
def test_a_length_longer_than_need_be(shared_server, size):
    """A length that is written in more bytes than necessary is read as that length."""
    message = '{"id":1,"command":"list"}'
    with RawSocket(shared_server.port).open() as raw:
        raw.send(frame(TEXT, message.encode(), length=size))

        assert json.loads(raw.message())["reply"] == 1


def test_many_empty_fragments(shared_server):
    """Endless empty fragments cost nothing, and the message that they make is read."""
    with RawSocket(shared_server.port).open() as raw:
        raw.send(frame(TEXT, b'{"id":1,"command"', last=False) + frame(CONTINUATION, last=False) * 20_000)
        raw.send(frame(CONTINUATION, b':"list"}'))

        assert json.loads(raw.message())["reply"] == 1


def test_many_pings(shared_server):
    """Ten thousand pings are answered or ignored, and the next request is answered."""
    with RawSocket(shared_server.port).open() as raw:
        raw.send(frame(PING, b"?") * 10_000 + text('{"id":1,"command":"list"}'))

        opcode = PONG
        while opcode == PONG:
            opcode, payload = raw.frame()
        assert json.loads(payload)["reply"] == 1


# Handshakes


class Handshake(NamedTuple):
    what: str
    sent: bytes
    status: int


HANDSHAKES = [
    Handshake("no key", handshake(without=("sec-websocket-key",)), 400),
    Handshake("a short key", handshake(sec_websocket_key="AAAA"), 400),
    Handshake("a key that is no base64", handshake(sec_websocket_key="!" * 22 + "=="), 400),
    Handshake("two keys", handshake(extra=("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",)), 400),
    Handshake("version 12", handshake(sec_websocket_version="12"), 426),
    Handshake("two versions", handshake(extra=("Sec-WebSocket-Version: 12",)), 400),
    Handshake("no version", handshake(without=("sec-websocket-version",)), 426),
    Handshake("POST", handshake(method="POST", content_length="0"), 405),
    Handshake("HTTP/1.0", handshake(version="HTTP/1.0"), 400),
    Handshake("no Connection", handshake(without=("connection",)), 426),
    Handshake("no Upgrade", handshake(without=("upgrade",)), 426),
    Handshake("an upgrade to h2c", handshake(upgrade="h2c"), 426),
    Handshake("another subprotocol", handshake(sec_websocket_protocol="soap"), 400),
    Handshake("another path", handshake("/other"), 404),
    Handshake("the path in percent", handshake("/%77s"), 404),
    Handshake("a query that is no UTF-8", handshake("/ws?timer=%ff"), 400),
    Handshake("a foreign Origin", handshake(origin="https://evil.example"), 403),
    Handshake("Origin null", handshake(origin="null"), 403),
    Handshake("our host on another port", handshake(origin="http://127.0.0.1:1"), 403),
    Handshake("our host in an origin's path", handshake(origin="https://evil.example/127.0.0.1"), 403),
    Handshake("two Origins", handshake(origin="http://127.0.0.1", extra=("Origin: https://evil.example",)), 400),
    Handshake("a foreign Host", handshake(host="evil.example"), 403),
    Handshake("a Host that begins with an address", handshake(host="127.0.0.1.evil.example"), 403),
    Handshake("a Host that begins with an address in brackets", handshake(host="[::1].evil.example"), 403),
    Handshake("a Host with a user", handshake(host="127.0.0.1@evil.example"), 403),
    Handshake("a Host with two ports", handshake(host="localhost:80:evil.example"), 403),
    Handshake("a Host with a port in words", handshake(host="localhost:evil.example"), 403),
    Handshake("a Host of two words", handshake(host="127.0.0.1 evil.example"), 400),
    Handshake("an empty Host", handshake(host=""), 403),
    Handshake("no Host", handshake(host=None), 400),
    Handshake("two Hosts", handshake(extra=("Host: 127.0.0.1",)), 400),
    Handshake("two Hosts, one foreign", handshake(extra=("Host: evil.example",)), 400),
    Handshake("a header of 20 kB", handshake(x="y" * 20_000), 431),
    Handshake("ten thousand headers", handshake(extra=tuple(f"X{n}: y" for n in range(10_000))), 431),
]


@rows(HANDSHAKES)
def test_a_bad_handshake(shared_server, row):
    """The handshake is refused with the right status, and a command in the same packet is not carried out."""
    with RawSocket(shared_server.port) as raw:
        raw.send(row.sent + text(START))

        status, _, body = raw.answer()

        assert status == row.status, body
        assert raw.is_ended()
    assert_nothing_happened(shared_server)


def test_a_command_in_the_body_of_a_handshake(shared_server):
    """A body that is announced is read as a body, and not as the first frames."""
    command = text(START)
    with RawSocket(shared_server.port) as raw:
        raw.send(handshake(content_length=str(len(command))) + command)

        assert raw.answer()[0] in {101, 400}
    assert_nothing_happened(shared_server)


# HTTP


class Request(NamedTuple):
    what: str
    sent: bytes
    # None: the connection ends without an answer.
    status: int | None


def request(line: str, *headers: str, body: bytes = b"", host: str | None = "127.0.0.1") -> bytes:
    """A request as bytes; nothing is added but the Host."""
    lines = [line, *([] if host is None else [f"Host: {host}"]), *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


POST = "POST /api/timers/victim/start HTTP/1.1"
BODY = b'{"duration":60}'
EXACTLY = f"Content-Length: {len(BODY)}"
CHUNKED = "Transfer-Encoding: chunked"
IN_ONE_CHUNK = b"f\r\n" + BODY + b"\r\n0\r\n\r\n"


def get(target: str) -> bytes:
    return request(f"GET {target} HTTP/1.1")


REQUESTS = [
    # Lengths
    Request("Content-Length short of the body", request(POST, "Content-Length: 5", body=BODY), 400),
    Request("Content-Length below zero", request(POST, "Content-Length: -1", body=BODY), 400),
    Request("Content-Length with a plus", request(POST, "Content-Length: +15", body=BODY), 400),
    Request("Content-Length in hexadecimal", request(POST, "Content-Length: 0xf", body=BODY), 400),
    Request("two Content-Lengths", request(POST, EXACTLY, "Content-Length: 3", body=BODY), 400),
    Request("the same Content-Length twice", request(POST, EXACTLY, EXACTLY, body=BODY), 400),
    Request("a list of Content-Lengths", request(POST, "Content-Length: 15, 15", body=BODY), 400),
    Request("Content-Length beyond 64 bits", request(POST, "Content-Length: 99999999999999999999", body=BODY), 413),
    Request("Content-Length over 16 KiB", request(POST, "Content-Length: 16385"), 413),
    Request("a body over 16 KiB that is asked about",
            request(POST, "Expect: 100-continue", "Content-Length: 99999"), 413),
    Request("Content-Length and chunks", request(POST, EXACTLY, CHUNKED, body=IN_ONE_CHUNK), 400),
    Request("another transfer coding", request(POST, "Transfer-Encoding: gzip", body=BODY), 501),
    Request("chunks within another coding", request(POST, "Transfer-Encoding: chunked, gzip", body=BODY), 400),
    Request("a chunk of no size", request(POST, CHUNKED, body=b"zz\r\n" + BODY), 400),
    Request("a chunk below zero", request(POST, CHUNKED, body=b"-1\r\n" + BODY), 400),
    Request("a chunk beyond 64 bits", request(POST, CHUNKED, body=b"fffffffffffffffff\r\n" + BODY), 413),
    Request("chunks over 16 KiB", request(POST, CHUNKED, body=(b"1000\r\n" + b" " * 4096 + b"\r\n") * 5), 413),
    # Paths
    Request("..%2f", get("/..%2f..%2f..%2fetc/passwd"), 404),
    Request("..%2f in a timer's name", get("/api/timers/..%2f..%2fetc%2fpasswd"), 404),
    Request("..", get("/../../../etc/passwd"), 404),
    Request("%2e%2e", get("/%2e%2e/%2e%2e/etc/passwd"), 404),
    Request("..%5c", get("/..%5c..%5cetc%5cpasswd"), 404),
    Request("....//", get("/....//....//etc/passwd"), 404),
    Request("a hidden file", get("/.git/config"), 404),
    Request("NUL in a path", get("/index.html%00.png"), 404),
    Request("a path that is no UTF-8", get("/%ff"), 400),
    Request("half an escape in a path", get("/%z"), 400),
    Request("a control character in a path", get("/\x01"), 400),
    Request("a fragment in a path", get("/index.html#x"), 400),
    Request("a path of 70 kB", get("/" + "a" * 70_000), 431),
    Request("a path without a slash", get("index.html"), 400),
    Request("somebody else's URL", get("http://evil.example/api/timers"), 403),
    Request("NUL in a name", get("/api/timers/%00"), 400),
    Request("a line end in a name", get("/api/timers/vic%0atim"), 400),
    Request("a name that is no UTF-8", get("/api/timers/%ff"), 400),
    Request("a name of 129 bytes", get("/api/timers/" + "n" * 129), 400),
    Request("a star for a name", get("/api/timers/*"), 400),
    Request("a command by GET", get("/api/timers/victim/start?duration=60"), 404),
    # Heads
    Request("no Host", request("GET /api/timers HTTP/1.1", host=None), 400),
    Request("two Hosts", request("GET /api/timers HTTP/1.1", "Host: 127.0.0.1"), 400),
    Request("a foreign Host", request("GET /api/timers HTTP/1.1", host="evil.example"), 403),
    Request("a change with a foreign Host", request(POST, EXACTLY, body=BODY, host="evil.example"), 403),
    Request("a change from a foreign Origin", request(POST, "Origin: https://evil.example", EXACTLY, body=BODY), 403),
    Request("a change from Origin null", request(POST, "Origin: null", EXACTLY, body=BODY), 403),
    Request("a removal from a foreign Origin",
            request("DELETE /api/timers/victim HTTP/1.1", "Origin: https://evil.example"), 403),
    Request("NUL in a header", request(POST, "X: a\0b", EXACTLY, body=BODY), 400),
    Request("a header without a colon", request(POST, "Nonsense", EXACTLY, body=BODY), 400),
    Request("a header without a name", request(POST, ": x", EXACTLY, body=BODY), 400),
    Request("a space before the colon", request(POST, "Content-Length : 15", body=BODY), 400),
    Request("a bare carriage return", request(POST, "X: a\rb", EXACTLY, body=BODY), 400),
    Request("bare line feeds", request(POST, EXACTLY, body=BODY).replace(b"\r\n", b"\n"), 400),
    Request("a header of 20 kB", request(POST, "X: " + "y" * 20_000, EXACTLY, body=BODY), 431),
    # First lines
    Request("a method in small letters", request("post /api/timers/victim/start HTTP/1.1", EXACTLY, body=BODY), 400),
    Request("a method of our own", request("FOO / HTTP/1.1"), 501),
    Request("TRACE", request("TRACE / HTTP/1.1"), 405),
    Request("CONNECT", request("CONNECT 127.0.0.1:22 HTTP/1.1"), 405),
    Request("PUT of a timer", request("PUT /api/timers/victim HTTP/1.1", EXACTLY, body=BODY), 405),
    Request("HTTP/0.9", b"GET /\r\n\r\n", 400),
    Request("HTTP/2.0", request("GET / HTTP/2.0"), 505),
    Request("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    Request("a space too many", request(POST.replace(" H", " x H"), EXACTLY, body=BODY), 400),
    Request("TLS", bytes.fromhex("16030100c8010000c40303") + os.urandom(193), 400),
    Request("noughts", bytes(64), 400),
    # Bodies
    Request("a body that is no UTF-8", request(POST, "Content-Length: 13", body=b'{"title":"\xff"}'), 400),
    Request("a body that is no object", request(POST, "Content-Length: 2", body=b"[]"), 400),
    Request("a key twice in a body", request(POST, "Content-Length: 29", body=b'{"duration":60,"duration":61}'), 400),
    Request("the timer in the body too", request(POST, "Content-Length: 18", body=b'{"timer":"victim"}'), 400),
    Request("a body with GET", request("GET /api/timers HTTP/1.1", EXACTLY, body=BODY), 400),
    Request("If-Match that is no revision", request(POST, 'If-Match: "x"', EXACTLY, body=BODY), 400),
    Request("an empty Idempotency-Key", request(POST, "Idempotency-Key:", EXACTLY, body=BODY), 400),
    Request("an Idempotency-Key of 65 bytes", request(POST, "Idempotency-Key: " + "k" * 65, EXACTLY, body=BODY), 400),
]


@rows(REQUESTS)
def test_a_bad_request(shared_server, row):
    """The request is answered with the right status, and changes nothing."""
    with RawSocket(shared_server.port) as raw:
        raw.send(row.sent)

        status, headers, body = raw.answer()

        assert status == row.status, body
        assert b"root:" not in body
        assert headers["x-content-type-options"] == "nosniff"
    assert_nothing_happened(shared_server)


@pytest.mark.parametrize(
    "sent", [request(POST, "Content-Length: 100", body=BODY), request(POST, CHUNKED, body=b"f\r\n" + BODY[:5])],
    ids=["Content-Length", "a chunk"])
def test_a_body_shorter_than_announced(shared_server, sent):
    """A request that breaks off in the middle is not carried out."""
    with RawSocket(shared_server.port) as raw:
        raw.send(sent)
        raw.end_sending()

        assert raw.is_ended()
    assert_nothing_happened(shared_server)


# Time


HALVES = {
    "nothing": b"",
    "half a first line": b"GET /ws HT",
    "half a handshake": handshake()[:-2],
    "empty lines": b"\r\n\r\n",
    "half a body": request(POST, "Content-Length: 100", body=BODY),
    "half a chunk": request(POST, CHUNKED, body=b"ff\r\n" + BODY),
}
PATIENCE = 10.0


def test_half_a_request_and_silence(shared_server):
    """A client that sends part of a request is closed after ten seconds, whichever part; this test waits that long."""
    with Stopwatch() as watch:
        silent = {what: RawSocket(shared_server.port) for what in HALVES}
        for what, raw in silent.items():
            raw.send(HALVES[what])

        ended = {}
        while len(ended) < len(silent) and watch.seconds < PATIENCE + 5:
            for what, raw in silent.items():
                if what not in ended and raw.is_ended(0.02):
                    ended[what] = watch.all_seconds, watch.seconds

    for raw in silent.values():
        raw.socket.close()
    assert set(ended) == set(HALVES), f"still there: {set(HALVES) - set(ended)}"
    assert all(PATIENCE - 1 < most and least < PATIENCE + 3 for most, least in ended.values()), ended
    assert_nothing_happened(shared_server)


def test_a_byte_a_second_is_no_progress(shared_server):
    """The time limit is for the whole head, not from one byte to the next; this test waits that long, too."""
    with Stopwatch() as watch, RawSocket(shared_server.port) as raw:
        raw.send(b"GET /api/timers HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
        while not raw.is_ended(0.5):
            assert watch.seconds < PATIENCE + 5, "it is still being listened to"
            raw.send(b"y")
    assert watch.all_seconds > PATIENCE - 1


def test_the_table_is_long_enough():
    """Rows may only be added to the tables."""
    assert len(MESSAGES) + len(FRAMES) + len(HANDSHAKES) + len(REQUESTS) >= 200
