"""Errors in words and codes: which close a connection, and which do not."""

import asyncio
import contextlib
import json
import re
from decimal import Decimal as D

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

import wire

LIMIT = 16 * 1024


async def still_there(client):
    """Checks that the connection still answers."""
    assert (await client.ok("sync"))["ok"] is True


# Not a request


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "hello", "{", "}", "[]", "[{}]", "null", "true", "5", '"list"', "{]", '{"command":"list"',
        '{"command":"list",}', "{'command':'list'}", '{command:"list"}', '{"command":"list"} x',
        '{"command":"list"}{"command":"list"}', '{"command":"list"} // comment', '{"command":"li\nst"}',
        '{"command":NaN}', '{"id":NaN,"command":"list"}', '{"id":01,"command":"list"}', '{"id":+1,"command":"list"}',
        '{"id":.5,"command":"list"}', '{"id":1.,"command":"list"}', '{"id":0x10,"command":"list"}',
        '{"command":"list\\x"}', '{"command":"list\\u12"}', "\ufeff{}",
    ])
async def test_what_is_no_json_object_is_a_bad_request(client, text):
    """Each such text gets a reply without id, and the connection stays."""
    reply = await client.raw(text)

    assert reply["ok"] is False and reply["reply"] is None
    assert reply["error"]["code"] == "badRequest"
    assert reply["error"]["retryable"] is False
    assert "timer" not in reply
    await still_there(client)


@pytest.mark.parametrize("text", ["[" * 10_000, '{"a":' * 3_000, "[" * 8_000 + "]" * 8_000])
async def test_deep_nesting_is_a_bad_request(client, text):
    """A message of any depth that fits the limit is answered, and the server goes on."""
    reply = await client.raw(text)

    assert reply["error"]["code"] == "badRequest"
    await still_there(client)


async def test_deep_nesting_in_a_field_is_a_bad_request(client):
    """Depth inside a request of the right shape is refused as well."""
    depth = 8_000
    reply = await client.raw('{"command":"list","x":' + "[" * depth + "]" * depth + "}")

    assert reply["error"]["code"] == "badRequest"
    await still_there(client)


@pytest.mark.parametrize(
    "text",
    [
        '{"command":"get","command":"list"}', '{"id":1,"id":2,"command":"list"}',
        '{"command":"start","timer":"twice","duration":1,"duration":60}',
        '{"command":"start","timer":"twice","duration":60,"dur\\u0061tion":60}',
        '{"command":"list","x":{"a":1,"a":2}}',
    ])
async def test_equal_keys_are_a_bad_request(client, text):
    """A repeated key is ambiguous, however it is spelled, and refused."""
    reply = await client.raw(text)

    assert reply["error"]["code"] == "badRequest"
    await client.refused("unknownTimer", "get", "twice")


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1e400"])
async def test_numbers_beyond_all_bounds_are_refused(client, name, number):
    """A number that no type can hold is refused, and makes nothing."""
    reply = await client.raw(f'{{"command":"start","timer":"{name}","duration":{number}}}')

    assert reply["error"]["code"] in {"outOfRange", "badRequest"}
    await client.refused("unknownTimer", "get", name)


async def test_tiny_numbers_do_not_become_wonders(client, name):
    """A duration that rounds to no microsecond is refused or made the shortest, never zero."""
    reply = await client.raw(f'{{"command":"start","timer":"{name}","duration":1e-400}}')

    if reply["ok"]:
        assert reply["timer"]["duration"] > 0
    else:
        assert reply["error"]["code"] in {"outOfRange", "badRequest"}


@pytest.mark.parametrize("spelling", ["60", "60.0", "6e1", "6E+1", "600e-1", "60.000000"])
async def test_a_number_may_be_spelled_as_json_allows(client, name, spelling):
    """Every spelling of a number is that number."""
    reply = await client.raw(f'{{"command":"start","timer":"{name}","duration":{spelling}}}')

    assert reply["timer"]["duration"] == 60


@pytest.mark.parametrize(
    "text",
    [
        '{"command":"start","timer":"\\ud800"}', '{"command":"start","timer":"s","title":"\\udc00 x"}',
        '{"command":"start","timer":"s","title":"\\ud83c\\ud83c"}', '{"id":"\\ud800","command":"list"}',
    ])
async def test_lone_surrogates_are_a_bad_request(client, text):
    """A lone surrogate is not a character."""
    reply = await client.raw(text)

    assert reply["error"]["code"] == "badRequest"
    await still_there(client)


async def test_escaped_characters_are_the_characters(client):
    """A pair of surrogates and other escapes are read as what they stand for."""
    reply = await client.raw(
        '{"command":"start","timer":"tea \\ud83c\\udf75","title":"\\u0041\\/\\"\\\\","duration":60,"force":true}')

    assert (reply["timer"]["timer"], reply["timer"]["title"]) == ("tea 🍵", 'A/"\\')
    assert (await client.state("get", "tea 🍵"))["title"] == 'A/"\\'


# id


@pytest.mark.parametrize(
    "token",
    ["1", "0", "-7", "1.50", "1e2", "12345678901234567890", "0.1000", '"a"', '""', '"1"', '"🍵"', '"\\u00e9\\n\\""'])
async def test_id_comes_back_as_it_was(client, token):
    """A string or a number comes back as the same token."""
    await client.send_text(f'{{"id":{token},"command":"list"}}')
    arrival = await client.wait_for(lambda arrival: "reply" in arrival, "the reply")

    if token.startswith('"'):
        assert arrival["reply"] == json.loads(token)
    else:
        assert f'"reply":{token},' in arrival.text.replace(" ", "")
    assert arrival["ok"] is True


@pytest.mark.parametrize("text", ['{"command":"list"}', '{"id":null,"command":"list"}'])
async def test_no_id_is_answered_with_null(client, text):
    """Without id the reply carries null."""
    reply = await client.raw(text)

    assert reply["reply"] is None and reply["ok"] is True


@pytest.mark.parametrize("token", ["true", "false", "[]", "[1]", "{}"])
async def test_another_id_is_a_bad_request(client, token):
    """An id is a string or a number; else it is refused, naming the field."""
    reply = await client.raw(f'{{"id":{token},"command":"list"}}')

    assert reply["reply"] is None and reply["error"]["code"] == "badRequest"
    assert "id" in reply["error"]["message"]


async def test_errors_carry_the_id(client):
    """A refused request carries its id as well as an accepted one."""
    for text, expected in [
        ('{"id":"x","command":"nonsense"}', "x"), ('{"id":7}', 7), ('{"id":"y","command":"list","x":1}', "y"),
    ]:
        assert (await client.raw(text))["reply"] == expected


# Commands and fields


@pytest.mark.parametrize("command", ["strat", "START", "start ", "", "finishall", "stop", "command"])
async def test_unknown_commands_are_named(client, command):
    """Another command is refused, and so is another spelling."""
    reply = await client.refused("unknownCommand", command)

    assert command in reply["error"]["message"]


@pytest.mark.parametrize("text", ['{"id":1}', '{"id":1,"timer":"x"}'])
async def test_a_missing_command_is_a_bad_request(client, text):
    """A request without command is refused, naming the field."""
    reply = await client.raw(text)

    assert reply["error"]["code"] == "badRequest" and "command" in reply["error"]["message"]


@pytest.mark.parametrize("token", ["null", "5", "true", "[]", '["list"]', "{}"])
async def test_a_command_is_a_string(client, token):
    """Another type is refused, naming the field."""
    reply = await client.raw(f'{{"id":1,"command":{token}}}')

    assert reply["error"]["code"] == "badRequest" and "command" in reply["error"]["message"]


COMMANDS = {
    "start": {}, "update": {"title": "x"}, "pause": {}, "resume": {}, "finish": {}, "finishAll": {}, "reset": {},
    "addRemainingTime": {"seconds": 1}, "addElapsedTime": {"seconds": 1}, "remove": {}, "get": {}, "list": {},
    "subscribe": {}, "unsubscribe": {}, "sync": {},
}


@pytest.mark.parametrize("command", COMMANDS)
async def test_unknown_fields_are_named(client, name, command):
    """A misspelled field is refused, not ignored."""
    fields = {"id": 1, "command": command, **COMMANDS[command], "durration": 5}
    if command not in {"finishAll", "list", "sync"}:
        fields["timer"] = name
    reply = await client.raw(json.dumps(fields))

    assert reply["ok"] is False, reply
    assert reply["error"]["code"] == "badRequest"
    assert "durration" in reply["error"]["message"]
    await client.refused("unknownTimer", "get", name)


@pytest.mark.parametrize(
    ("command", "field"),
    [
        ("pause", "duration"), ("resume", "seconds"), ("finish", "force"), ("finishAll", "resetTime"),
        ("reset", "clamp"), ("remove", "title"), ("get", "interval"), ("list", "interval"), ("sync", "seconds"),
        ("addRemainingTime", "resetTime"), ("start", "seconds"), ("unsubscribe", "clientTime"),
    ])
async def test_fields_of_other_commands_are_unknown(client, command, field):
    """A field that belongs to another command is refused, naming it."""
    reply = await client.refused("badRequest", command, **{**COMMANDS[command], field: 1})

    assert field in reply["error"]["message"]


@pytest.mark.parametrize("field", ["Duration", "duration ", "dur\u0430tion", "DURATION"])
async def test_field_names_are_exact(client, name, field):
    """Field names are compared as they are."""
    await client.refused("badRequest", "start", name, **{field: 60})


WRONG = {
    "a number": ["5", [], {}, True],
    "true or false": [1, 0, "true", [], {}],
    "a list": [5, "60", {"0": 60}, True, ["60"], [[60]], [None], [True]],
}
FIELDS = [
    ("start", "timer", {}, [5, [], {}, True]),
    ("start", "duration", {}, WRONG["a number"]),
    ("start", "type", {}, [5, [], {}, True]),
    ("start", "atZero", {"duration": 60}, [5, [], {}, True]),
    ("start", "title", {}, [5, [], {}, True]),
    ("start", "warnings", {}, WRONG["a list"]),
    ("start", "force", {}, WRONG["true or false"]),
    ("start", "ifRevision", {}, [*WRONG["a number"], 1.5]),
    ("start", "at", {}, WRONG["a number"]),
    ("start", "requestId", {}, [5, [], {}, True]),
    ("update", "title", {}, [5, [], {}, True]),
    ("update", "warnings", {}, WRONG["a list"]),
    ("update", "atZero", {}, [5, [], {}, True]),
    ("finish", "resetTime", {}, WRONG["true or false"]),
    ("addRemainingTime", "seconds", {}, [*WRONG["a number"], None]),
    ("addRemainingTime", "clamp", {"seconds": 1}, WRONG["true or false"]),
    ("addElapsedTime", "seconds", {}, [*WRONG["a number"], None]),
    ("addElapsedTime", "clamp", {"seconds": 1}, WRONG["true or false"]),
    ("subscribe", "interval", {}, WRONG["a number"]),
    ("subscribe", "timers", {}, [5, {}, True]),
    ("sync", "clientTime", {}, WRONG["a number"]),
]


@pytest.mark.parametrize(
    ("command", "field", "others", "value"),
    [(command, field, others, value) for command, field, others, values in FIELDS for value in values])
async def test_wrong_types_are_named(client, name, command, field, others, value):
    """A value of another type is refused, naming the field, and changes nothing."""
    fields = {"id": 1, "command": command, **others, field: value}
    if field not in {"timer", "timers"} and command != "sync":
        fields["timer"] = name

    reply = await client.raw(json.dumps(fields))

    assert reply["ok"] is False, reply
    assert reply["error"]["code"] == "badRequest"
    assert field in reply["error"]["message"]
    await client.refused("unknownTimer", "get", name)


@pytest.mark.parametrize(
    "timer",
    ["", "*", "a\u0000b", "\u0000", "a\nb", "\t", "a\u007f", "a\u0085b", "a\u2028b", "a\u2029b", "x" * 129,
     "é" * 64 + "x", "🍵" * 32 + "x"])
async def test_what_is_no_name_is_refused(client, timer):
    """A name has 1 to 128 bytes and no control character, and `*` is none."""
    for command in ("start", "get", "remove"):
        reply = await client.refused("badRequest", command, timer)
        assert "timer" in reply["error"]["message"]


@pytest.mark.parametrize("timer", ["x" * 128, "é" * 64, "🍵" * 32, " ", ".", "**", "\u00a0", "\u200b", "null"])
async def test_names_at_the_bounds_are_taken(client, timer):
    """Up to 128 bytes of anything else is a name."""
    assert (await client.state("start", timer))["timer"] == timer
    await client.ok("remove", timer)


@pytest.mark.parametrize(
    ("command", "fields"),
    [("start", {"title": "x" * 10_000}), ("update", {"title": "x" * 10_000}), ("start", {"requestId": "x" * 65}),
     ("start", {"requestId": "é" * 33})])
async def test_strings_too_long_are_named(client, name, command, fields):
    """A string beyond its bound is refused, naming the field."""
    await client.ok("start", name)

    reply = await client.refused("badRequest", command, name, **fields)

    assert next(iter(fields)) in reply["error"]["message"]


@pytest.mark.parametrize("warnings", [[-1], [60, -0.5], [1e12]])
async def test_warnings_out_of_range_are_refused(client, name, warnings):
    """A warning lies at some time left that a countdown can show."""
    reply = await client.refused({"outOfRange", "badRequest"}, "start", name, duration=60, warnings=warnings)

    assert "warnings" in reply["error"]["message"]


@pytest.mark.parametrize(
    ("request_text", "bounds"),
    [('"command":"start","duration":0', "31536000"), ('"command":"start","duration":1e999', "31536000"),
     ('"command":"start","duration":60,"warnings":[-1]', "0 to 31536000"),
     ('"command":"subscribe","interval":0.01', "0 for changes only, or 0.1 to 3600"),
     ('"command":"addElapsedTime","timer":"words","seconds":-1000', "allowed is -")])
async def test_bounds_are_told_in_plain_numbers(client, request_text, bounds):
    """An error's words have numbers as a person writes them, as the messages themselves do."""
    await client.request("start", "words", force=True)
    await client.send_text(f'{{"id":"w",{request_text}}}')
    error = (await client.reply("w"))["error"]

    assert error["code"] == "outOfRange"
    assert bounds in error["message"]
    assert not re.search(r"\de[-+]?\d|\d\.0\b|inf", error["message"]), error["message"]


async def test_every_refusal_of_a_timer_carries_its_state(client, name):
    """The state stands beside each error about a timer that exists."""
    await client.ok("start", name, duration=60)
    running = [
        ("timerAlreadyStarted", "start", {"duration": 5}), ("timerHasNotPaused", "resume", {}),
        ("invalidTimerType", "addElapsedTime", {"seconds": 1}), ("outOfRange", "addRemainingTime", {"seconds": -100}),
        ("revisionMismatch", "pause", {"ifRevision": 1_000_000_000}), ("outOfRange", "pause", {"at": 5}),
    ]
    for code, command, fields in running:
        reply = await client.refused(code, command, name, **fields)
        assert reply["timer"]["status"] == "running", command
    await client.ok("pause", name)
    reply = await client.refused("timerAlreadyPaused", "pause", name)
    assert reply["timer"]["status"] == "paused"
    await client.ok("finish", name)
    reply = await client.refused("timerHasNotStarted", "finish", name)
    assert reply["timer"]["status"] == "finished"


async def test_errors_say_whether_to_try_again(client, name):
    """None of the refusals of the rules is worth repeating as it is."""
    await client.ok("start", name, duration=60)
    for code, command, fields in [
        ("timerAlreadyStarted", "start", {}), ("unknownCommand", "x", {}), ("badRequest", "update", {}),
        ("outOfRange", "addRemainingTime", {"seconds": -100}), ("invalidTimerType", "addElapsedTime", {"seconds": 1}),
    ]:
        reply = await client.refused(code, command, name, **fields)
        assert reply["error"]["retryable"] is False, reply


# Size and frames


def padded(size: int) -> str:
    text = '{"id":1,"command":"list"}'
    return text + " " * (size - len(text))


@pytest.mark.parametrize("size", [LIMIT - 1, LIMIT])
async def test_a_message_of_16_kib_is_read(shared_server, connect, size):
    """Up to the limit, a message is a message."""
    client = await connect(shared_server)

    assert (await client.raw(padded(size)))["ok"] is True


@pytest.mark.parametrize("size", [LIMIT + 1, 100_000, 1_000_000])
async def test_a_message_over_16_kib_closes(shared_server, connect, size):
    """Beyond the limit the connection closes with 1009, and the server goes on."""
    client = await connect(shared_server)

    with contextlib.suppress(ConnectionClosed):  # The server may close while we still write.
        await client.send_text(padded(size))

    assert await client.wait_closed() == 1009
    await still_there(await connect(shared_server))


async def fragments(parts):
    for part in parts:
        yield part
        await asyncio.sleep(0)


async def test_a_fragmented_message_is_one_message(shared_server, connect):
    """A message may come in pieces, also within a character."""
    client = await connect(shared_server)
    text = '{"id":1,"command":"get","timer":"🍵 in pieces"}'.encode()
    await client.socket.send(fragments([text[:31], text[31:33], b"", text[33:]]), text=True)

    reply = await client.reply(1)

    assert reply["error"]["code"] == "unknownTimer"


@pytest.mark.parametrize(("size", "taken"), [(LIMIT, True), (LIMIT + 1, False)])
async def test_the_limit_counts_the_whole_message(shared_server, connect, size, taken):
    """Fragments are counted together."""
    client = await connect(shared_server)
    text = padded(size)
    pieces = [text[index:index + 1000] for index in range(0, size, 1000)]
    with contextlib.suppress(ConnectionClosed):  # As above.
        await client.socket.send(fragments(pieces))

    if taken:
        assert (await client.reply(1))["ok"] is True
    else:
        assert await client.wait_closed() == 1009


async def test_binary_closes(shared_server, connect):
    """A binary message closes the connection with 1003."""
    client = await connect(shared_server)

    await client.socket.send(b'{"id":1,"command":"list"}')

    assert await client.wait_closed() == 1003


@pytest.mark.parametrize(
    "payload",
    [b"\xff", b'{"id":1,"command":"\xc3"}', b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b'{"a":"\xe2\x82"}'])
async def test_invalid_utf8_closes(shared_server, connect, payload):
    """Text that is no UTF-8 closes the connection with 1007."""
    client = await connect(shared_server)

    await client.socket.send(payload, text=True)

    assert await client.wait_closed() == 1007


async def test_what_came_before_a_bad_frame_is_answered(shared_server, connect, name):
    """Requests before the invalid frame are carried out, and other clients receive the changes."""
    watcher, client = await connect(shared_server), await connect(shared_server)
    await watcher.subscribe(name, interval=0)

    await client.send({"id": 1, "command": "start", "timer": name, "duration": 60})
    await client.socket.send(b"\x00")

    assert await client.wait_closed() == 1003
    await watcher.snapshot("started", name)


async def test_a_reserved_opcode_closes(shared_server, connect):
    """A frame that RFC 6455 does not define closes the connection with 1002."""
    client = await connect(shared_server)
    frame = Frame(Opcode.TEXT, b"{}").serialize(mask=True)
    client.socket.transport.write(bytes([0x83]) + frame[1:])

    assert await client.wait_closed() == 1002


async def test_a_vanished_client_leaves_nothing_behind(server, connect, punctual):
    """Clients that drop without a close frame do not disturb the others."""
    watcher = await connect(server)
    await watcher.subscribe("tea", interval=0.1)
    for _ in range(20):
        client = await connect(server)
        await client.subscribe("tea", interval=0.1)
        client.socket.transport.abort()

    await watcher.ok("start", "tea", duration=60)

    seen = [await watcher.snapshot("tick", "tea") for _ in range(3)]
    punctual.in_step(seen, [a.state("tea")["time"] for a in seen], [D("59.9"), D("59.8"), D("59.7")])


def test_errors_have_a_closed_list_of_codes():
    """A reply with a code that the protocol does not know fails the suite."""
    with pytest.raises(AssertionError, match="no code of the protocol"):
        wire.check_error({"code": "oops", "message": "x", "retryable": False})
