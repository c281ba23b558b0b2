"""Golden scripts: messages to send, and the exact messages that must come, except values that no script can know.

A script is `{"about": SENTENCE, "steps": [STEP, …]}`. A step sends a message, `{"send": MESSAGE}`, or a text as it is,
`{"sendText": TEXT}`, or expects messages, `{"expect": [MESSAGE, …]}`. Replies and events each come in this order, but a
reply may come before or after an event. No other message may have come when the script ends.

In what is expected, these strings stand for what no script can know:

- `$instant` an instant near now; `$instant:NAME` the same, and each time again the same one; `$instant:NAME+0.25`
  exactly that much after it;
- `$revision:NAME` a revision greater than all before, and each time again the same one;
- `$seconds:LOW..HIGH` a number within these bounds;
- `$epoch` and `$text` a string that is not empty.

In what is sent, `$after:NAME+0.25` is that instant, sent when it has passed.
"""

import json
import time
from decimal import Decimal as D
from pathlib import Path

from timer_client import Client

FOLDER = Path(__file__).parent / "golden"
QUIET = 0.1


class Script:
    """A golden file."""

    def __init__(self, path: Path):
        content = json.loads(path.read_text(encoding="utf-8"), parse_float=D)
        assert set(content) == {"about", "steps"}, path
        self.about: str = content["about"]
        self.steps: list[dict] = content["steps"]


class Play:
    """A script that is being run, with the names that it has bound so far."""

    def __init__(self, client: Client):
        self.client = client
        self.instants: dict[str, D] = {}
        self.revisions: dict[str, int] = {}

    async def run(self, script: Script) -> None:
        for number, step in enumerate(script.steps):
            [(kind, value)] = step.items()
            if kind == "send":
                await self.client.send(await self._filled(value))
            elif kind == "sendText":
                await self.client.send_text(value)
            elif kind == "expect":
                for expected in value:
                    await self._expect(expected, f"step {number}")
            else:
                raise AssertionError(f"no such step: {kind}")
        rest = [arrival.message for arrival in await self.client.collect(QUIET)]
        assert rest == [], f"more came than the script tells: {rest}"

    async def _expect(self, expected: dict, where: str) -> None:
        kind = "reply" if "reply" in expected else "event"
        arrival = await self.client.wait_for(lambda arrival: kind in arrival, f"{kind} of {where}: {expected}")
        self._match(expected, arrival.message, where)

    # Sending

    async def _filled(self, value):
        if isinstance(value, dict):
            return {key: await self._filled(inner) for key, inner in value.items()}
        if isinstance(value, str) and value.startswith("$after:"):
            instant = self._sum(value.removeprefix("$after:"))
            if self.client.offset is None:
                await self.client.calibrate()
            await self.client.sleep_until(instant)
            return instant
        return value

    def _sum(self, text: str) -> D:
        name, _, more = text.partition("+")
        return self.instants[name] + D(more or "0")

    # Matching

    def _match(self, expected, actual, where: str) -> None:
        if isinstance(expected, dict):
            assert isinstance(actual, dict) and set(actual) == set(expected), (
                f"{where}: {sorted(actual)} instead of {sorted(expected)}\n{actual}")
            for key in expected:
                self._match(expected[key], actual[key], f"{where}.{key}")
        elif isinstance(expected, list):
            assert isinstance(actual, list) and len(actual) == len(expected), f"{where}: {actual} for {expected}"
            for index, (one, other) in enumerate(zip(expected, actual)):
                self._match(one, other, f"{where}[{index}]")
        elif isinstance(expected, str) and expected.startswith("$"):
            self._match_placeholder(expected, actual, where)
        else:
            assert type(actual) is type(expected) or isinstance(expected, (int, D)), f"{where}: {actual!r}"
            assert isinstance(actual, bool) == isinstance(expected, bool), f"{where}: {actual!r}"
            assert actual == expected, f"{where}: {actual!r} instead of {expected!r}"

    def _match_placeholder(self, expected: str, actual, where: str) -> None:
        kind, _, name = expected[1:].partition(":")
        if kind in {"text", "epoch"}:
            assert isinstance(actual, str) and actual.strip(), f"{where}: {actual!r} is no text"
        elif kind == "seconds":
            low, _, high = name.partition("..")
            assert D(low) <= D(actual) <= D(high), f"{where}: {actual} is not within {name}"
        elif kind == "instant":
            if "+" in name or name in self.instants:
                assert D(actual) == self._sum(name), f"{where}: {actual} is not {name}, {self._sum(name)}"
            else:
                assert abs(float(actual) - time.time()) < 10, f"{where}: {actual} is no instant near now"
                if name:
                    self.instants[name] = D(actual)
        elif kind == "revision":
            if name in self.revisions:
                assert actual == self.revisions[name], f"{where}: {actual} is not {name}, {self.revisions[name]}"
            else:
                newest = max(self.revisions.values(), default=0)
                assert type(actual) is int and actual > newest, f"{where}: {actual} does not follow {newest}"
                self.revisions[name] = actual
        else:
            raise AssertionError(f"no such placeholder: {expected}")
