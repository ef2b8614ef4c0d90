"""Literals: the same text in both settings of standard_conforming_strings, constants of jsonb, and the spans of
constants. PostgreSQL is asked."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.base import limits
from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.query.bind.evaluated_constants import evaluated, evaluated_texts
from proxy.query.ir.json_constants import json_constant, number_of_values
from proxy.query.syntax.constant_spans import constant_spans
from proxy.query.syntax.parameters import settled
from proxy.query.syntax.tokens import lex
from tests.servers_fixture import servers

pytestmark = pytest.mark.postgres

_WORDS = st.sampled_from(
    [
        *(
            "'",
            "''",
            "\\",
            "\\\\",
            "a",
            " ",
            "\n",
            "||",
            "E'",
            "e'\\n'",
            "'b'",
            "'\\'",
            "N'\\'",
            "n'x'",
        ),
        *(
            "$$",
            "$t$",
            "$1",
            '"',
            "--",
            "/*",
            "*/",
            "-- \\'\n",
            "U&'\\0041'",
            "B'1'",
            "x'\\'",
            "date",
            ",",
        ),
    ]
)


@pytest.fixture(scope="module")
def either() -> Iterator[tuple[psycopg.Connection, psycopg.Connection]]:
    dsn = servers().protected.dsn("postgres")
    with psycopg.connect(dsn, autocommit=True) as on, psycopg.connect(dsn, autocommit=True) as off:
        off.execute("SET standard_conforming_strings = off")
        off.execute("SET escape_string_warning = off")
        yield on, off


def _said(connection: psycopg.Connection, text: str) -> object:
    try:
        return connection.execute(text.encode()).fetchall()
    except psycopg.Error as error:
        return error.sqlstate


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_WORDS, max_size=12).map("".join))
def test_it_means_the_same_in_both(
    either: tuple[psycopg.Connection, psycopg.Connection], text: str
) -> None:
    on, off = either
    asked = f"SELECT {text}"
    wanted = _said(on, asked)
    if isinstance(wanted, list):
        assert _said(on, settled(asked)) == wanted
        # U&'' is refused where the setting is off.
        assert _said(off, settled(asked)) in (wanted, "0A000")


@pytest.mark.parametrize(
    "text",
    [
        r"'\'",
        "'a'\n'\\'",
        "'a' -- it's\n  '\\'",
        r"date '2020-01-01' || '\\'",
        r"N'\'",
        r"'it''s \'''",
        r"E'\\' || '\'",
        r"5 &5, '\'",
        r"U&'\0041' || '\'",
    ],
)
def test_constants(either: tuple[psycopg.Connection, psycopg.Connection], text: str) -> None:
    on, off = either
    wanted = _said(on, f"SELECT {text}")
    assert isinstance(wanted, list)
    assert _said(on, settled(f"SELECT {text}")) == wanted
    if "U&" not in text:  # which PostgreSQL refuses where the setting is off
        assert _said(off, settled(f"SELECT {text}")) == wanted


def test_what_has_none_stays_as_it_is() -> None:
    text = "SELECT 'a', E'b', $$c$$"
    assert settled(text) is text


@pytest.mark.parametrize(
    ("written", "read", "values"),
    [
        ('{"a":1.50, "b": [true,null,"\\u00e9"]}', '{"a": 1.5, "b": [true, null, "\u00e9"]}', 6),
        ('{"a": 1, "a": 2}', '{"a": 2}', 2),
        (' "x" ', '"x"', 1),
        ("1e3", "1000", 1),
        ("-0", "0", 1),
        ('"\\ud83d\\ude00"', '"\U0001f600"', 1),
        ('{"": {}}', '{"": {}}', 2),
    ],
)
def test_is_written_in_one_way(written: str, read: str, values: int) -> None:
    constant = json_constant(written, None)
    assert constant.value == read
    assert number_of_values(constant) == values
    assert json_constant(read, None) == constant


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "{a: 1}", "{'a': 1}", "[1,]", "NaN", "-Infinity", "01", "1.", ".5", "[1] 2"),
        *('"\\u0000"', '"\\ud83d"', '"a\nb"', '{"\\u0000": 1}', "1e999999999", "true false"),
        "[" * (limits.NESTING_DEPTH + 1) + "]" * (limits.NESTING_DEPTH + 1),
        "[" * 4000 + "]" * 4000,
        f'"{"x" * limits.CONSTANT_BYTES}"',
    ],
)
def test_is_refused(text: str) -> None:
    with pytest.raises(Refusal):
        json_constant(text, None)


def found(text: str) -> list[str]:
    """As they stand in the text, but for blanks."""
    lexed = lex(text)
    assert lexed is not None
    spans = list(constant_spans(lexed, 0, len(lexed.lexemes)))
    for span in spans:
        first, last = (lexed.lexemes[index] for index in (span.span[0], span.span[1] - 1))
        assert _bare(lexed.text[first.start : last.end]) == _bare(span.text)
    return [_bare(span.text) for span in spans]


def _bare(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a >= now() - interval '1 day'", ["now()-interval'1day'"]),
        ("a >= NOW() - INTERVAL '1' DAY AND b", ["NOW()-INTERVAL'1'DAY"]),
        ("a > interval '1' day to second + now()", ["interval'1'daytosecond+now()"]),
        ("a < current_date - 7 GROUP BY b", ["current_date-7"]),
        ("a > current_timestamp(3)::date", ["current_timestamp(3)::date"]),
        ("a > (now() - b)", ["now()"]),
        ("a > (now() - interval '1 d') * b", ["(now()-interval'1d')"]),
        # What binds more on either side is another sub-expression.
        ("a - now() * 2 > 1", ["now()*2"]),
        ("a + 2 * interval '1 day' > b", ["2*interval'1day'"]),
        ("a + 7 * -5 * interval '1 day' - now() > b", ["7*-5*interval'1day'", "now()"]),
        ("a - interval '1 day 02:00' * b > c", ["interval'1day02:00'"]),
        # A sign binds more than what follows it.
        ("a * - now() * 2 > 1", ["-now()"]),
        ("a IN (- now() * b)", ["-now()"]),
        ("1 + now() * a > 1", ["now()"]),
        ("1 * now() + a > 1", ["1*now()"]),
        ("a - now() - now() > 1", ["now()", "now()"]),
        ("now() - now() - a > 1", ["now()-now()"]),
        ("now() - now() :: text > 1", ["now()-now()::text"]),
        ("'a' || 'b' || c = 'd'", ["'a'||'b'"]),
        ("a || 'b' || 'c' = 'd'", []),
        ("now() at time zone a > b", ["now()"]),
        ("now() at time zone 'UTC' - a > b", ["now()attimezone'UTC'"]),
        ("a > - interval '1 d' ^ b", ["-interval'1d'"]),
        ("a > now() -> 'x'", []),
        ("a > now()[1]", []),
        ('a > now() COLLATE "C"', []),
        ("a > now()::own", []),
        # What the reader of expressions reads itself.
        ("a > 1 AND b = 'x' AND c = $1 AND d = -1.5 AND e = (2)", []),
        ("a - interval '1 day' > b AND a < interval '-2 HOURS' * b", []),
        ("extract(epoch FROM a) / extract(epoch FROM interval '2 weeks') > b", []),
        (
            "extract(epoch FROM a) / extract(epoch FROM interval '1 mon') > b",
            ["extract(epochFROMinterval'1mon')"],
        ),
        (
            "a > interval '1 day'::text AND a > '1 day'::interval",
            ["interval'1day'::text", "'1day'::interval"],
        ),
        # A time with words in it.
        ("a > timestamptz '2026-01-31 Europe/Rome'", ["timestamptz'2026-01-31Europe/Rome'"]),
        ("a > CAST('today' AS date) AND a > 'x'::text", ["CAST('today'ASdate)"]),
        ("a > '2026-01-31T12:00:00Z'::timestamptz AND a > timestamp '2026-01-31T12:00:00'", []),
        ("a > date '2026-01-31' AND b = '1'::int AND c = CAST(1 AS numeric)", []),
        ("a IS NULL AND b = true", []),
        ("a = 2 + 2 AND b = $1::int", ["2+2", "$1::int"]),
        # Nothing but constants, listed functions and listed types.
        ("a > now(b)", []),
        ("a > now() - random()", ["now()"]),
        ("a > clock_timestamp()", []),
        ("a > repeat('x', 9)", []),
        ("a > nextval('s') AND b > pg_sleep(1) AND c > gen_random_uuid()", []),
        ('a > own.now() AND b > pg_temp.now() AND c > "now"()', []),
        ("a > pg_catalog.now()", ["pg_catalog.now()"]),
        ("a > pg_catalog.random()", []),
        ("a > (SELECT now())", ["(SELECTnow())"]),
        ("a > ((SELECT (now() - 1))) AND b", ["((SELECT(now()-1)))"]),
        ("a BETWEEN (SELECT 1) AND (SELECT 2 + 2)", ["(SELECT1)", "(SELECT2+2)"]),
        ("a > (SELECT now() LIMIT 1) OR a = ANY ((SELECT now()))", ["now()"] * 2),
        ("a IN (SELECT now()) OR EXISTS (SELECT now()) OR f((SELECT now()))", ["now()"] * 3),
        ("a > (SELECT b) OR a > (SELECT now() FROM t)", ["now()"]),
        ("a > abs((SELECT 1))", []),
        ("a > abs(count(*))", []),
        ("now > 1 AND date > 2 AND interval = 3", []),
        ("a > 'x' 'y' || 'z'", []),
        ("a > E'x' || 'z'", ["E'x'||'z'"]),
        ("a = U&'!0061' UESCAPE '!' AND b IN (N'a')", ["U&'!0061'UESCAPE'!'", "N'a'"]),
        ("a LIKE b ESCAPE '!' AND c LIKE $1 ESCAPE d", []),
        ("a OPERATOR(pg_catalog.>) 1 + 2 || 'x'", ["1+2"]),
        # In calls and lists
        ("abs(a - (1 + 2)) > 1", ["(1+2)"]),
        ("date_trunc('day', a) > date_trunc('day', now())", ["date_trunc('day',now())"]),
        ("a > make_interval(days => 2)", ["make_interval(days=>2)"]),
        ("extract(year FROM now()) = extract(year FROM a)", ["extract(yearFROMnow())"]),
        ("a IN (now(), $1::date, b)", ["now()", "$1::date"]),
        ("CASE WHEN a > now() THEN now() - a ELSE now() END > b", ["now()"] * 3),
        ("a IS DISTINCT FROM now() OR now() BETWEEN a AND now()", ["now()"] * 3),
        ("a = ANY($1) OR a <> ALL (ARRAY[1, 2])", ["$1", "ARRAY[1,2]"]),
        ("a = ANY('{1}'::int[]) OR a LIKE ANY(ARRAY['a'])", ["'{1}'::int[]", "ARRAY['a']"]),
        ("a = ANY(ARRAY[1, b])", []),
        ("a = ANY(SELECT 1)", []),
        ("a < ANY($1) OR a + ANY($1)", []),
        ("f(ANY($1))", []),
    ],
)
def test_parts(text: str, parts: list[str]) -> None:
    assert found(text) == parts


def test_an_escaped_pattern_is_made_one() -> None:
    lexed = lex("a LIKE 'x!%' || $1 ESCAPE '!' AND b")
    assert lexed is not None
    (span,) = constant_spans(lexed, 0, len(lexed.lexemes))
    given = ",".join(f"({each})::pg_catalog.text" for each in ("'x!%'||$1", "'!'"))
    assert _bare(span.text) == f"pg_catalog.like_escape({given})"
    assert [lexed.lexemes[at].token.text for at in span.span] == ["x!%", "AND"]


def test_a_text_beside_like_any_is_an_array() -> None:
    lexed = lex("a LIKE ANY('{a,b}') OR a NOT ILIKE ALL (E'{a}') OR a = ANY('{a}')")
    assert lexed is not None
    texts = [span.text for span in constant_spans(lexed, 0, len(lexed.lexemes))]
    assert texts == ["('{a,b}')::pg_catalog.text[]", "(E'{a}')::pg_catalog.text[]", "'{a}'"]


def test_comments_are_left_out() -> None:
    lexed = lex("a > to_date('x', 'y') /* ) */ + 1 -- b")
    assert lexed is not None
    (span,) = constant_spans(lexed, 0, len(lexed.lexemes))
    assert _bare(span.text) == "to_date('x','y')+1"


def test_equal_parts_are_one() -> None:
    lexed = lex("a > now() AND b > now ( ) AND c = ANY($1) AND d > interval '1 d'")
    assert lexed is not None
    spans = tuple(constant_spans(lexed, 0, len(lexed.lexemes)))
    known = evaluated(spans, (1184, 1184, 1007, 1186), 1)
    assert sorted(one.index for one in known.placeholders.values()) == [2, 2, 3, 4]
    assert known.types == {
        2: (SqlType.TIMESTAMPTZ, False),
        3: (SqlType.INT4, True),
        4: (SqlType.INTERVAL, False),
    }
    assert evaluated_texts(known, frozenset({1})) == ()
    assert [one.sql for one in evaluated_texts(known, frozenset({3}))] == [
        "NULL::pg_catalog.text",
        "pg_catalog.to_jsonb(($1)::pg_catalog.int4[])::pg_catalog.text",
        "NULL::pg_catalog.text",
    ]
