"""The wire word for word: each golden script, both directions."""

import pytest

from golden_script import FOLDER, Play, Script

SCRIPTS = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
async def test_script(server, connect, path):
    """Each message comes as the script has it, and no other."""
    client = await connect(server)

    await Play(client).run(Script(path))


async def test_hello_word_for_word(server, connect):
    """The first message has exactly these fields."""
    client = await connect(server)
    Play(client)._match(
        {"event": "hello", "server": "$text", "protocol": 1, "epoch": "$epoch", "role": "control", "now": "$instant",
         "history": "$text", "revision": 0, "wallOffset": 0, "writable": True},
        client.hello, "hello")
    assert client.hello["server"].startswith("timersync/")


def test_scripts_are_there():
    """The golden folder is not empty, so that none of this passes by looking at nothing."""
    assert len(SCRIPTS) >= 8
