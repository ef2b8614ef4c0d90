"""Column names, types and modifiers through the proxy are those PostgreSQL gives for the same statement."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live.column_statements import KEYS, STATEMENTS, with_key
from tests.live.conversing import described, extended, simple
from tests.live_proxy import LiveProxy
from tests.raw_client import RawClient

Both = tuple[RawClient, RawClient]


@pytest.fixture(scope="module")
def both(live: LiveProxy) -> Iterator[Both]:
    """Through the proxy, and straight to the shadow, which knows the real types."""
    with RawClient(live.dsn("kinds")) as proxied, RawClient(live.direct_dsn("kinds")) as direct:
        simple(proxied, "SET dp.epsilon = 2")  # fewer partitions: faster
        yield proxied, direct


def test_there_are_many() -> None:
    assert len(set(STATEMENTS)) == len(STATEMENTS) >= 140


@pytest.mark.every(6)
@pytest.mark.parametrize("text", STATEMENTS)
def test_columns(text: str, both: Both) -> None:
    proxied, direct = both
    wanted = described(direct, text)
    assert wanted.error is None
    assert described(proxied, text).columns == wanted.columns
    for ask in (simple, extended):
        got = ask(proxied, text)
        assert got.error is None
        assert got.columns == wanted.columns
        assert got.status == b"I"


@pytest.mark.every(6)
@pytest.mark.parametrize("key", KEYS)
def test_names_of_keys(key: str, both: Both) -> None:
    proxied, direct = both
    for number, text in enumerate(with_key(key)):
        wanted = described(direct, text)
        assert wanted.error is None
        assert described(proxied, text).columns == wanted.columns
        if number == 0:  # of what is refused, the description says nothing
            assert simple(proxied, text).columns == wanted.columns


def test_a_wrong_type_would_be_seen(both: Both) -> None:
    """The comparison is not blind: text is not integer, numeric(10,2) is not numeric."""
    proxied, direct = both
    one = described(direct, "SELECT count(*) FROM kinds.things").columns
    assert one != described(proxied, "SELECT count(*)::int FROM kinds.things").columns
    num2 = described(direct, "SELECT num2 FROM kinds.things").columns
    assert num2 != described(proxied, "SELECT num2::numeric FROM kinds.things WHERE false").columns
