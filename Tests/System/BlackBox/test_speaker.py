"""A message and a signal for the speaker: shown, stored, cleared."""

import subprocess

import pytest

from wire import seconds


async def test_a_message_is_answered_and_shown(client, name, connect, shared_server):
    """The reply and the subscribers' snapshot carry the text and the press."""
    watcher = await connect(shared_server)
    await client.ok("start", name, duration=300)
    await watcher.subscribe(name, interval=0)

    state = await client.state("message", name, text="Wrap up\nplease 🍝")

    assert state["message"]["text"] == "Wrap up\nplease 🍝"
    assert state["message"]["sentAt"] == state["lastElapsedTimeCalculatedAt"]
    assert (state["status"], state["duration"]) == ("running", 300)
    assert (await watcher.snapshot("updated", name)).state(name) == state


@pytest.mark.parametrize("kind", ["flash", "blackout"])
async def test_a_signal_is_answered_and_shown(client, name, connect, shared_server, kind):
    """The reply and the subscribers' snapshot carry the kind and the press."""
    watcher = await connect(shared_server)
    await client.ok("start", name, duration=300)
    await watcher.subscribe(name, interval=0)

    state = await client.state("signal", name, signal=kind)

    assert state["signal"] == {"kind": kind, "sentAt": state["lastElapsedTimeCalculatedAt"]}
    assert (await watcher.snapshot("updated", name)).state(name) == state


async def test_both_are_in_ticks(client, name):
    """A display that only receives ticks gets both with them."""
    await client.ok("start", name, duration=300)
    await client.ok("message", name, text="Wrap up")
    await client.ok("signal", name, signal="blackout")
    await client.subscribe(name, interval=0.1)

    state = (await client.snapshot("tick", name)).state(name)

    assert (state["message"]["text"], state["signal"]["kind"]) == ("Wrap up", "blackout")


async def test_the_press_may_be_told(client, name):
    """`at` is the instant at which the prompt was sent."""
    started = await client.state("start", name, duration=300)
    at = seconds(started["startDate"])

    state = await client.state("message", name, text="Wrap up", at=at)

    assert seconds(state["message"]["sentAt"]) == at


@pytest.mark.parametrize("text", ["", None])
async def test_a_message_is_taken_away(client, name, text):
    """An empty text, or null, leaves no message."""
    await client.ok("start", name)
    await client.ok("message", name, text="Wrap up")

    assert "message" not in await client.state("message", name, text=text)
    assert "message" not in await client.state("get", name)


async def test_a_signal_is_taken_back(client, name):
    """`none` leaves no signal."""
    await client.ok("start", name)
    await client.ok("signal", name, signal="blackout")

    assert "signal" not in await client.state("signal", name, signal="none")


@pytest.mark.parametrize("command", ["pause", "finish", "reset"])
async def test_both_outlast_the_run(client, name, command):
    """Both are for the speaker: the end of a run, an idle timer and a new run leave them."""
    await client.ok("start", name, duration=300)
    await client.ok("message", name, text="Wrap up")
    await client.ok("signal", name, signal="blackout")

    after = await client.state(command, name)
    again = await client.state("start", name, duration=60, force=True)

    for state in (after, again):
        assert (state["message"]["text"], state["signal"]["kind"]) == ("Wrap up", "blackout")


async def test_an_idle_timer_takes_both(client, name):
    """Both may be sent before a run begins."""
    await client.ok("start", name, duration=300)
    await client.ok("reset", name)

    await client.ok("message", name, text="In five minutes")
    state = await client.state("signal", name, signal="flash")

    assert (state["status"], state["message"]["text"]) == ("idle", "In five minutes")


async def test_removal_forgets_them(client, name):
    """A new timer of the same name has neither."""
    await client.ok("start", name)
    await client.ok("message", name, text="Wrap up")
    await client.ok("remove", name)

    assert "message" not in await client.state("start", name)


@pytest.mark.parametrize(("command", "fields"), [
    ("message", {"text": "x"}), ("message", {"text": ""}), ("signal", {"signal": "flash"}),
    ("signal", {"signal": "none"})])
async def test_neither_makes_a_timer(client, name, command, fields):
    """Without a timer both are refused, and make none."""
    reply = await client.refused("unknownTimer", command, name, **fields)

    assert "timer" not in reply


@pytest.mark.parametrize("text", ["é" * 250, "x" * 500, "\n", "\u202e", "<script>alert(1)</script>"])
async def test_a_text_that_is_taken(client, name, text):
    """A text of up to 500 bytes, which may have several lines, comes back unchanged."""
    await client.ok("start", name)

    assert (await client.state("message", name, text=text))["message"]["text"] == text


@pytest.mark.parametrize(
    "text", ["é" * 250 + "x", "x" * 501, "a\tb", "a\r\nb", "\x00", "\x7f", "\u2028", 5, ["x"], True]
)
async def test_a_text_that_is_refused(client, name, text):
    """A text that is too long, has control characters or is missing is refused by field, and the old one stays."""
    await client.ok("start", name)
    await client.ok("message", name, text="old")

    reply = await client.refused("badRequest", "message", name, text=text)

    assert '"text"' in reply["error"]["message"]
    assert "500" in reply["error"]["message"] or not isinstance(text, str)
    assert reply["timer"]["message"]["text"] == "old"


@pytest.mark.parametrize("kind", ["Flash", "off", "", None, 5])
async def test_a_signal_that_is_refused(client, name, kind):
    """Another kind is refused, naming the valid ones."""
    await client.ok("start", name)

    reply = await client.refused("badRequest", "signal", name, signal=kind)

    assert '"signal"' in reply["error"]["message"]


@pytest.mark.parametrize("command", ["message", "signal"])
async def test_what_is_missing_is_asked_for(client, name, command):
    """A missing field is not guessed."""
    await client.ok("start", name)

    reply = await client.refused("badRequest", command, name)

    assert {"message": '"text"', "signal": '"signal"'}[command] in reply["error"]["message"]


async def test_an_old_revision_is_refused(client, name):
    """Two clients that write at the same time do not overwrite each other unawares."""
    first = await client.state("start", name)
    await client.ok("message", name, text="one", ifRevision=first["revision"])

    reply = await client.refused("revisionMismatch", "message", name, text="two", ifRevision=first["revision"])

    assert reply["timer"]["message"]["text"] == "one"


async def test_a_repeated_request_is_made_once(client, name):
    """The same `requestId` is answered as the first time."""
    await client.ok("start", name)
    first = await client.state("message", name, text="one", requestId=f"{name} once")
    await client.ok("message", name, text="two")

    assert await client.state("message", name, text="one", requestId=f"{name} once") == first
    assert (await client.state("get", name))["message"]["text"] == "two"


async def test_both_survive_a_crash(server, connect):
    """Both are on the disk when they are answered."""
    client = await connect(server)
    await client.ok("start", "stage", duration=300)
    await client.ok("message", "stage", text="Wrap up")
    before = await client.state("signal", "stage", signal="blackout")

    server.restart()

    after = await (await connect(server)).state("get", "stage")
    for member, part in (("message", "text"), ("signal", "kind")):
        assert after[member][part] == before[member][part]
        # A server reads its clock anew when it starts.
        assert abs(float(after[member]["sentAt"]) - float(before[member]["sentAt"])) < 0.05


def curl(server, path: str, body: str) -> tuple[int, str]:
    """The answer to `curl`: a status and a body."""
    done = subprocess.run(
        ["curl", "-s", "-m", "30", "-w", "\n%{http_code}", "-X", "POST", "-d", body, server.http + path],
        capture_output=True, check=True, text=True)
    text, _, status = done.stdout.rpartition("\n")
    return int(status), text


def test_by_curl(shared_server):
    """The guide's `curl` command for a message: with a running timer, and refused where there is none."""
    assert curl(shared_server, "/api/timers/by%20curl/message", '{"text":"x"}')[0] == 404
    assert curl(shared_server, "/api/timers/by%20curl/start", '{"duration":300}')[0] == 200

    status, body = curl(shared_server, "/api/timers/by%20curl/message", '{"text":"Wrap up"}')
    assert status == 200 and '"message":{"text":"Wrap up","sentAt":' in body
    status, body = curl(shared_server, "/api/timers/by%20curl/signal", '{"signal":"flash"}')
    assert status == 200 and '"signal":{"kind":"flash","sentAt":' in body
    assert curl(shared_server, "/api/timers/by%20curl/signal", '{"signal":"off"}')[0] == 400
    assert curl(shared_server, "/api/timers/by%20curl/message", '{"txt":"x"}')[0] == 400


async def test_a_text_is_in_no_log(server, connect):
    """Texts to the speaker are not logged."""
    client = await connect(server)
    await client.ok("start", "stage")
    await client.ok("message", "stage", text="between us")

    assert server.stop() == 0
    assert "between us" not in server.log
