"""Regular expressions as alternatives of LIKE patterns: they find what PostgreSQL finds."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.query.bind.nodes.regular_expressions import like_patterns
from tests.servers_fixture import servers

pytestmark = pytest.mark.postgres

_ATOMS = st.one_of(
    st.sampled_from("abAB01 -"),
    st.sampled_from(
        [*(".", ".*", ".+", "^", "$", r"\.", r"\\", r"\%", "%", "_", "()", "a?", "_*", "%+")]
    ),
    st.text("abAB01 .-_^$\\%[]{}()|*+?ü\n", max_size=3),
)
_WRITTEN = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map("|".join),
        st.tuples(inner, st.sampled_from(["?", "", "*"])).map(lambda pair: f"({pair[0]}){pair[1]}"),
        inner.map(lambda one: f"^{one}"),
        inner.map(lambda one: f"{one}$"),
    ),
    max_leaves=10,
)
_TEXTS = st.lists(st.text("abAB01 .-_\\%]}\tü\n", max_size=8), min_size=1, max_size=12)
# By operator: whether it is that of SIMILAR TO, and whether it ignores case.
_OPERATORS = {"~": (False, False), "~*": (False, True), "SIMILAR TO": (True, False)}


@pytest.fixture(scope="module")
def connection() -> Iterator[psycopg.Connection]:
    with psycopg.connect(servers().protected.dsn(), autocommit=True) as connected:
        yield connected


def _compare(connection: psycopg.Connection, written: str, how: str, texts: list[str]) -> bool:
    is_similar, ignore_case = _OPERATORS[how]
    ours = like_patterns(written, is_similar=is_similar)
    if ours is None or (ignore_case and not written.isascii()):
        return False
    like = "ILIKE" if ignore_case else "LIKE"
    rows = connection.execute(
        f"SELECT t, t {how} %(written)s, t {like} ANY (%(ours)s::text[])"
        " FROM unnest(%(texts)s::text[]) t".encode(),
        {"written": written, "ours": list(ours), "texts": texts},
    ).fetchall()
    assert [text for text, wanted, found in rows if wanted is not found] == [], (written, ours)
    return True


_SETTINGS = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@_SETTINGS
@given(written=_WRITTEN, how=st.sampled_from(sorted(_OPERATORS)), texts=_TEXTS)
def test_they_find_the_same(
    connection: psycopg.Connection, written: str, how: str, texts: list[str]
) -> None:
    _compare(connection, written, how, texts)


@pytest.mark.long
@settings(_SETTINGS, max_examples=20_000)
@given(written=_WRITTEN, how=st.sampled_from(sorted(_OPERATORS)), texts=_TEXTS)
def test_many_find_the_same(
    connection: psycopg.Connection, written: str, how: str, texts: list[str]
) -> None:
    _compare(connection, written, how, texts)


_READ = (
    *(
        "",
        "^a",
        "b$",
        "^a$",
        "a.c",
        "a|",
        "gmail|yahoo",
        r"\.pdf$",
        "^https?://",
        "^...$",
        "ü",
        "^a|b$",
    ),
    *("^(ab|a)b?$", "^(dr|prof)\\.? .*", "a.+c", "(?:a|b)(c|d)", "100%", "a_b", "((a|b)|c)$", "()"),
)
_SAMPLES = [
    "",
    "a",
    "ab",
    "b",
    "abc",
    "abb",
    "me@gmail.com",
    "http://",
    "üü",
    "a.pdf",
    "dr x",
    "100%",
    "a_b",
]


@pytest.mark.parametrize("written", _READ)
def test_read(connection: psycopg.Connection, written: str) -> None:
    assert _compare(connection, written, "~", _SAMPLES)


_NOT_READ = (
    *(
        r"(a)\1",
        "(?=a)b",
        "(?i)a",
        r"\w",
        r"\y",
        "[[:alpha:]]",
        "[a-z]",
        "a**",
        "*a",
        "a+",
        "a{2}",
        "(a",
        "a)",
    ),
    *(
        "[a",
        "^*",
        "(^a)",
        "***=a",
        "\\",
        ".*?a",
        "a\0",
        r"\Z",
        r"\d",
        "a$b",
        "(" * 20 + "a" + ")" * 20,
        "a" * 257,
    ),
    "(a|b)" * 6,
)


@pytest.mark.parametrize("written", _NOT_READ)
def test_not_read(written: str) -> None:
    assert like_patterns(written, is_similar=False) is None
