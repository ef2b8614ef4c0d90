"""What of CHECK constraints and defaults of public tables is taken over, and what is not."""

from __future__ import annotations

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Enumeration
from proxy.query.copied_expressions import copied_check, copied_default

_COLUMNS = {
    "n": SqlType.NUMERIC,
    "i": SqlType.INT4,
    "t": SqlType.TEXT,
    "v": SqlType.VARCHAR,
    "d": SqlType.DATE,
    "ok": SqlType.BOOL,
    "Odd name": SqlType.INT8,
    "at": SqlType.TIMESTAMPTZ,
    "e": SqlType.ENUM,
    "x": SqlType.OTHER,
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("(i > 0)", '("i" > 0)'),
        ("(\"Odd name\" >= '-1'::integer)", "(\"Odd name\" >= ('-1')::integer)"),
        ("((n >= (0)::numeric) AND (n < 1.50))", '(("n" >= (0)::numeric) AND ("n" < 1.50))'),
        ("(t = 'it''s'::text)", "(\"t\" = ('it''s')::text)"),
        (
            "((v)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))",
            "((\"v\")::text IN (('a')::character varying, ('b')::character varying))",
        ),
        (
            "((d > '2020-01-31'::date) OR (NOT ok))",
            '(("d" > (\'2020-01-31\')::date) OR (NOT "ok"))',
        ),
        (
            "((t IS NOT NULL) AND (ok IS NOT TRUE))",
            '(("t" IS NOT NULL) AND (NOT ("ok" IS true)))',
        ),
        ("(length((v)::text) < 9)", '(pg_catalog.length((("v")::text)::text) < 9)'),
        ("((i + (2 * i)) <> - 5)", '(("i" + (2 * "i")) <> (- 5))'),
    ],
)
def test_copied(text: str, wanted: str) -> None:
    assert copied_check(text, _COLUMNS) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "(lo_import('/etc/passwd'::text) > (0)::oid)",
        "(pg_read_file('/etc/passwd'::text) = ''::text)",
        "(query_to_xml('SELECT 1'::text, true, true, ''::text) IS NOT NULL)",
        "(cat.spy(t))",
        "(t OPERATOR(cat.=) 'a'::text)",
        "(i > ( SELECT 1))",
        "(t ~ '^a'::text)",
        "(t ~~ 'a%'::text)",
        "(t > 'a'::text)",  # another collation, another order
        "(lower(t) = 'a'::text)",
        "((t)::integer > 0)",  # raises on rows
        "((i)::text = '1'::text)",
        "((d)::text = 'x'::text)",
        "((i / 2) > 1)",
        "(at > '2020-01-31 00:00:00+00'::timestamp with time zone)",
        "(at > now())",
        "(e = 'a'::cat.mood)",
        "(x = 1)",
        "(hidden > 1)",
        "(parts.i > 1)",
        "(i = t)",
        "(t = 'a\\b'::text)",
        "(t COLLATE \"C\" = 'a'::text)",
        "(i = ANY (ARRAY[i, 2]))",
        "(i > 1); DROP TABLE cat.parts",
        "(i > 1) -- )",
        "i",
        "",
        "(" * 900 + "i > 1" + ")" * 900,
        "(t = '" + "a" * 5_000 + "'::text)",
    ],
)
def test_left_out(text: str) -> None:
    found = copied_check(text, _COLUMNS)
    assert found is None or (text.endswith("-- )") and found == '("i" > 1)')


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0", "0"),
        ("'-1'::integer", "('-1')::integer"),
        ("'none'::character varying", "('none')::character varying"),
        ("'{}'::text[]", "('{}')::text[]"),
        ("'{}'::jsonb", "('{}')::jsonb"),
        ("true", "true"),
        ("NULL::character varying", "(NULL)::character varying"),
        ("now()", "now()"),
        ("CURRENT_DATE", "CURRENT_DATE"),
        ("gen_random_uuid()", "gen_random_uuid()"),
        ("nextval('cat.parts_id_seq'::regclass)", None),
        ("cat.spy('x'::text)", None),
        ("(1 + 2)", None),
        ("CURRENT_USER", None),
        ("'a'::cat.own", None),
        ("now(), 1", None),
        ("pg_sleep((10)::double precision)", None),
        ("'a\\b'::text", None),
    ],
)
def test_defaults(text: str, wanted: str | None) -> None:
    assert copied_default(text) == wanted


def test_defaults_that_are_labels() -> None:
    mood = Enumeration("cat", "mood", ("low", "it's"))
    assert copied_default("'it''s'::cat.mood", mood) == "'it''s'"
    assert copied_default("'SECRET'::cat.mood", mood) is None
    assert copied_default("cat.spy()", mood) is None
