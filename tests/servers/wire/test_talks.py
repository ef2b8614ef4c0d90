"""The conversations of tests/golden/wire, through the proxy, and with PostgreSQL where they must agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import talk
from tests.servers.wire.conftest import Running

_FOLDER = Path(__file__).parents[2] / "golden" / "wire"
_FILES = sorted(path.name for path in _FOLDER.glob("*.talk"))


@pytest.mark.parametrize("name", _FILES)
def test_conversation(name: str, relay: Running, bless: bool) -> None:
    path = _FOLDER / name
    conversations = talk.read(path)
    assert conversations
    if bless:
        written = []
        for one in conversations:
            before = len(relay.engine.asked)
            heard = one.play(relay.conninfo())
            written.append(one.written(heard, len(relay.engine.asked) - before))
        path.write_text("\n".join(written))
    for conversation in talk.read(path):
        before = len(relay.engine.asked)
        heard = conversation.play(relay.conninfo())
        expected = [answers for _, answers in conversation.turns]
        assert heard == expected, f"{name}:{conversation.line}"
        asks = len(relay.engine.asked) - before
        assert asks == conversation.asks, f"{name}:{conversation.line}"


@pytest.mark.parametrize("name", _FILES)
def test_postgres_says_the_same(name: str, relay: Running) -> None:
    alike = [one for one in talk.read(_FOLDER / name) if one.with_postgres]
    assert alike
    for conversation in alike:
        assert conversation.play(relay.shadow.conninfo()) == [
            answers for _, answers in conversation.turns
        ], f"{name}:{conversation.line}"
