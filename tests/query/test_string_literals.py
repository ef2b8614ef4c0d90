"""String constants mean what PostgreSQL takes them for, or are not read at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.query.syntax.parameters import escaped
from proxy.query.syntax.slices import parse
from proxy.query.syntax.tokens import lex
from tests.seeded_bits import SeededBits
from tests.servers_fixture import servers

pytestmark = pytest.mark.postgres

_SEED = 20261121
_PIECES = [
    *"abux017", "''", "\\\\", "\\'", "\\n", "\\t", "\\b", "\\q", "\\x41", "\\x7", "\\xc3\\xa9", "\\101", "\\7",
    "\\303", "\\u00e9", "\\U0001F600", "\\ud83d", "\\u12", "\\0", "\\x", "é", "\n", "--", "/*", "$$", '"',
]  # fmt: skip
_INSIDE = ["a", "", "''", "b--", "\\"]
_BETWEEN = ["\n", " \n ", " -- c\n", "\r", " ", "\t", "/* c */", " -- c\n -- 'd'\n\t"]


def _one(bits: SeededBits, of: Sequence[str]) -> str:
    return of[bits.below(len(of))]


def _value(text: str) -> str | None:
    """As our reader takes it. None: not read."""
    lexed = lex(text)
    if lexed is None:
        return None
    try:
        node = parse(lexed, (0, len(lexed.lexemes)), {})
    except Refusal:
        return None
    return str(node.this) if type(node).__name__ == "Literal" and node.is_string else None


def _in_postgres(connection: psycopg.Connection, text: str) -> str | None:
    try:
        row = connection.execute(f"SELECT {text}::text".encode()).fetchone()
    except psycopg.Error:
        return None
    assert row is not None
    return str(row[0])


@pytest.fixture(scope="module")
def connection() -> Iterator[psycopg.Connection]:
    with psycopg.connect(servers().shadow_server.dsn(), autocommit=True) as connection:
        yield connection


def test_escapes(connection: psycopg.Connection) -> None:
    bits = SeededBits(_SEED)
    read = 0
    for _ in range(1500):
        inside = "".join(_one(bits, _PIECES) for _ in range(bits.below(6)))
        text = f"{_one(bits, 'eE')}'{inside}'"
        theirs = _in_postgres(connection, text)
        if theirs is None:
            continue  # the shadow has refused it before anybody reads it
        ours = escaped(text)
        if ours is not None:
            read += 1
            assert ours == theirs, text
            assert _value(text) in (None, theirs), text
    assert read > 500


def test_continued(connection: psycopg.Connection) -> None:
    bits = SeededBits(_SEED)
    read = 0
    for _ in range(500):
        parts = [f"'{_one(bits, _INSIDE)}'" for _ in range(3)]
        text = parts[0] + "".join(_one(bits, _BETWEEN) + part for part in parts[1:])
        theirs = _in_postgres(connection, text)
        ours = _value(text)
        if theirs is not None:
            read += ours is not None
            assert ours in (None, theirs), text
    assert read > 100


@pytest.mark.parametrize("space", ["\v", "\u00a0", "\u2003", "\u2028", "\x1c", "\x85"])
def test_odd_white_space_is_refused(space: str) -> None:
    with pytest.raises(Refusal, match="white space"):
        lex(f"SELECT count(*){space}FROM t")
    for text in (f"SELECT '{space}' FROM t", f'SELECT 1 AS "{space}" FROM t -- {space}\n'):
        assert lex(text) is not None
