"""Regular expressions as we send them find what PostgreSQL finds with those that were written."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.base.patterns import MOST_STATES, PatternSyntax, read_pattern
from tests.servers_fixture import servers

_MARKS = "abAB01 .-_^$\\%[]{}()|*+?ü\n"
_ATOMS = st.one_of(
    st.sampled_from("abAB01 -"),
    st.sampled_from(
        [
            *(
                ".",
                "[a-b]",
                "[^a]",
                "[^a-z0-9]",
                r"\.",
                r"\\",
                r"\d",
                r"\s",
                "[-a]",
                "[.*]",
                "^",
                "$",
            ),
            *("[ab]{2}", r"[\d_]", r"\-", "}", "]", r"[\]\-]", r"\t", "[^\\s]", "%", "_", "()"),
        ]
    ),
    st.text(_MARKS, max_size=3),
)
_WRITTEN = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map("|".join),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", ""])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=12,
)
_TEXTS = st.lists(st.text("abAB01 .-_\\%]}\tü\n", max_size=8), min_size=1, max_size=12)
_OPERATORS = {
    (PatternSyntax.REGULAR, False): "~",
    (PatternSyntax.REGULAR, True): "~*",
    (PatternSyntax.SIMILAR, False): "SIMILAR TO",
}


@pytest.fixture(scope="module")
def connection() -> Iterator[psycopg.Connection]:
    with psycopg.connect(servers().protected.dsn(), autocommit=True) as connected:
        yield connected


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(written=_WRITTEN, how=st.sampled_from(sorted(_OPERATORS, key=str)), texts=_TEXTS)
def test_they_find_the_same(
    connection: psycopg.Connection, written: str, how: tuple[PatternSyntax, bool], texts: list[str]
) -> None:
    _compare(connection, written, how, texts)


@pytest.mark.long
@settings(
    max_examples=20_000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(written=_WRITTEN, how=st.sampled_from(sorted(_OPERATORS, key=str)), texts=_TEXTS)
def test_many_find_the_same(
    connection: psycopg.Connection, written: str, how: tuple[PatternSyntax, bool], texts: list[str]
) -> None:
    _compare(connection, written, how, texts)


def _compare(
    connection: psycopg.Connection, written: str, how: tuple[PatternSyntax, bool], texts: list[str]
) -> None:
    ours = read_pattern(written, how[0], ignore_case=how[1])
    if ours is None:
        return
    rows = connection.execute(
        f'SELECT t, t {_OPERATORS[how]} %(written)s, t COLLATE "C" ~ %(ours)s'
        " FROM unnest(%(texts)s::text[]) t".encode(),
        {"written": written, "ours": ours.text, "texts": texts},
    ).fetchall()
    assert [text for text, wanted, found in rows if wanted is not found] == [], (written, ours)


_READ = (
    *(
        "^a",
        "b$",
        "^(ab|a)+$",
        "a.c",
        "[a-z]+@[a-z]+[.]com",
        r"^\d{3}-\d{4}$",
        "a|",
        "x*?y",
        "(a)(b)",
    ),
    *("[^a-z]", "gmail|yahoo", r"\.pdf$", "^https?://", "^.{3}$", "ü+", "[-+]?[0-9]+", "a{0}b"),
)
_NOT_READ = (
    *(
        r"(a)\1",
        "(?=a)b",
        "(?i)a",
        "(?!a)",
        r"\w",
        r"\y",
        r"\mword",
        "[[:alpha:]]",
        "[[.a.]]",
        "a**",
    ),
    *(
        "*a",
        "[b-a]",
        "a{2,1}",
        "(a",
        "a)",
        "[a",
        "a{101}",
        "(a{20}){6}",
        "^*",
        "(^a)*",
        "***=a",
        "\\",
    ),
    *("[ä-ö]", "a{,3}", "\\u0041", "a" * 101, "(" * 20 + "a" + ")" * 20, "a\0", r"\Z", "\\q"),
)


@pytest.mark.parametrize("written", _READ)
def test_read(connection: psycopg.Connection, written: str) -> None:
    texts = [
        "",
        "a",
        "ab",
        "b",
        "abc",
        "me@x.com",
        "555-1234",
        "xxxy",
        "http://",
        "üü",
        "-12",
        "a.pdf",
    ]
    assert read_pattern(written, PatternSyntax.REGULAR, ignore_case=False) is not None
    _compare(connection, written, (PatternSyntax.REGULAR, False), texts)


@pytest.mark.parametrize("written", _NOT_READ)
def test_not_read(written: str) -> None:
    assert read_pattern(written, PatternSyntax.REGULAR, ignore_case=False) is None


def test_case_of_other_letters_is_a_locales() -> None:
    assert read_pattern("[ü]", PatternSyntax.REGULAR, ignore_case=True) is None
    found = read_pattern("[^a-c]i", PatternSyntax.REGULAR, ignore_case=True)
    assert found is not None and found.text == "[^A-Ca-c][iI]"


def test_states_are_counted_as_often_as_they_are_repeated() -> None:
    for written, states in (("a{50}", 50), ("(ab){10,20}", 60), ("a*", 2), ("(a|b|c)", 6)):
        found = read_pattern(written, PatternSyntax.REGULAR, ignore_case=False)
        assert found is not None and found.states == states
    assert MOST_STATES == 100


@pytest.mark.parametrize(
    "written", ["(a|ab|abc)*(b|bc)*c", "(a?){30}a{30}", "(.*a){8}", "[^b]*a.{20}$"]
)
def test_a_long_text_takes_time_by_its_length(connection: psycopg.Connection, written: str) -> None:
    found = read_pattern(written, PatternSyntax.REGULAR, ignore_case=False)
    assert found is not None
    connection.execute("SET statement_timeout = '20s'")
    connection.execute("SELECT repeat('ab', 100000) COLLATE \"C\" ~ %s", (found.text,))
