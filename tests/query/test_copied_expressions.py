"""What of CHECK constraints and defaults of public tables is taken over, and what is not; what stands in a
statement several times and is read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Enumeration
from proxy.query.bind import source_reading
from proxy.query.bind.scope import Scope
from proxy.query.bind.sources import Sources
from proxy.query.copied_expressions import copied_check, copied_default
from proxy.query.ir.relations import Relation, scans
from proxy.query.syntax.from_clause import Item, read_from
from proxy.query.syntax.selects import Select, Span
from proxy.query.syntax.tokens import Lexed
from tests.cases import Case, in_folder
from tests.pipeline_world import read, walk
from tests.planner.test_golden_pipeline import PIPELINE, REFUSED, arguments_of

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


_CASES = [*in_folder(PIPELINE), *in_folder(REFUSED)]
_TWICE = (
    "WITH q AS (SELECT uid, i4 FROM orders WHERE i4 > 1) "
    "SELECT count(*) FROM q a JOIN q b ON a.uid = b.uid"
)
_Counts = tuple[Counter[Span], Counter[int]]


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Counts]:
    """How often each FROM clause is parsed, by its lexemes; made a relation, by its SELECT."""
    parsed: Counter[Span] = Counter()
    bound: Counter[int] = Counter()
    bind = source_reading._read_source

    def parsing(lexed: Lexed, span: Span) -> Item:
        parsed[span] += 1
        return read_from(lexed, span)

    def binding(known: Sources, select: Select) -> tuple[Relation, Scope]:
        bound[select.keyword] += 1
        return bind(known, select)

    monkeypatch.setattr("proxy.query.bind.sources.read_from", parsing)
    monkeypatch.setattr(source_reading, "_read_source", binding)
    yield parsed, bound


@pytest.mark.every(8)
@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.name)
def test_each_from_is_read_once(case: Case, counts: _Counts) -> None:
    try:
        found = read(case.statement, arguments_of(case)[0])
    except Refusal:
        found = None
    parsed, bound = counts
    assert max((*parsed.values(), *bound.values()), default=1) == 1
    if found is not None and found[1].query.blocks:
        assert parsed
        assert bound


def test_a_cte_that_is_used_twice_is_two_relations(counts: _Counts) -> None:
    found = read(_TWICE)
    assert found is not None
    parsed, bound = counts
    assert set(parsed.values()) == {1}
    assert sorted(bound.values()) == [1, 2]
    aliases = [scan.alias for scan in scans(found[1].query.blocks[0].source)]
    assert len(set(aliases)) == len(aliases) == 2


_MEAN = "(SELECT avg(i4) FROM people)"
_ABOVE = f"(SELECT count(*) FROM people WHERE i4 > {_MEAN})"


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (f"SELECT {_MEAN}, {_MEAN}", 1),
        (f"SELECT count(*), {_MEAN} FROM people WHERE i4 > {_MEAN}", 2),
        (f"SELECT count(*) FROM people WHERE i4 > {_MEAN} AND i8 < {_MEAN}", 2),
        (f"SELECT {_ABOVE}, {_ABOVE}", 2),
        (f"SELECT {_MEAN}, (SELECT AVG(i4)  FROM /* all */ people)", 2),
        ("SELECT count(*) FROM people UNION ALL SELECT count(*) FROM people", 1),
        (
            "SELECT a.n, b.n FROM (SELECT i4 > 3 AS f, count(*) AS n FROM people GROUP BY i4 > 3) a"
            " JOIN (SELECT i4 > 3 AS f, count(*) AS n FROM people GROUP BY i4 > 3) b ON b.f = a.f",
            1,
        ),
        ("SELECT (SELECT count(*) FROM people), (SELECT count(*) FROM people WHERE i4 > 3)", 2),
        (
            "SELECT (SELECT count(*) FROM people WHERE i4 = 1), (SELECT count(*) FROM people WHERE i4 = 2)",
            2,
        ),
        # The same words, in which a name means something else.
        (
            f"SELECT {_MEAN}, q.x FROM (WITH people AS (SELECT * FROM w.people WHERE i4 > 3)"
            f" SELECT {_MEAN} AS x) q",
            2,
        ),
    ],
)
def test_it_is_asked_once(text: str, blocks: int) -> None:
    pipeline = walk(text)
    assert pipeline is not None
    assert len(pipeline.plan.blocks) == blocks
