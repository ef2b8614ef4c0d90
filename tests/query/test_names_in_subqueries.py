"""Subqueries that stay in the text of a SELECT on protected rows: what a name in them means is decided, as the
rows are no more there on the shadow."""

from __future__ import annotations

import pytest

from proxy.base.errors import Code, Refusal
from tests.pipeline_world import read

_SELECT = "SELECT t, count(*) FROM people GROUP BY t"
_AROUND = "SELECT o.code, z.* FROM places o, LATERAL ({}) z"


def _text(sql: str) -> str:
    found = read(sql)
    assert found is not None
    return found[1].text


# # stands before each name that is a key.
KEYS = (
    "HAVING EXISTS (SELECT 1 FROM places p WHERE p.code = #t)",
    "HAVING EXISTS (SELECT 1 FROM places p WHERE p.code = #people.t AND code <> #t)",
    "ORDER BY (SELECT length(#t))",
    "HAVING t IN (SELECT code FROM places WHERE code > #t)",
    "HAVING EXISTS (SELECT FROM places p WHERE EXISTS (SELECT FROM rates WHERE p.code = #t AND k = 1))",
    "HAVING t IN (VALUES ('a'), (#t))",
    "ORDER BY (SELECT min(code) FROM places WHERE code > #t)",
    "ORDER BY (SELECT min(code) FROM places GROUP BY code || #t)",
    "ORDER BY (SELECT x FROM (SELECT #t AS x, 1 AS y) q)",
    "ORDER BY (SELECT x FROM (SELECT code AS x FROM places WHERE code < #t) q(x))",
    "ORDER BY (WITH c AS (SELECT #t AS x) SELECT x FROM c)",
    # ON sees the tables that it joins, and no others.
    "HAVING EXISTS (SELECT FROM places p JOIN rates r ON p.code = #people.t, moods people)",
    "HAVING EXISTS (SELECT FROM rates r JOIN places p ON p.code = #t, (SELECT 1 AS t) q)",
    # A subquery in FROM sees nothing of what stands beside it.
    "HAVING EXISTS (SELECT FROM places people, (SELECT #people.t AS x) q)",
    "HAVING EXISTS (SELECT FROM generate_series(1, 2) g, rates WHERE #people.t = 'x')",
    "HAVING EXISTS (SELECT FROM rates people(t) JOIN (SELECT #t AS x) y ON true)",
    "HAVING EXISTS (SELECT 1 AS t FROM places WHERE code = #t)",
    "HAVING EXISTS (SELECT 1 AS t FROM places ORDER BY #t || 'x')",
)
HIDDEN = (
    "HAVING count(*) > (SELECT max(t) FROM generate_series(1, 2) t WHERE t = 1)",
    "HAVING count(*) > (SELECT max(length(t)) FROM (SELECT code AS t FROM places) q WHERE t > 'x')",
    "HAVING count(*) > (SELECT max(length(t)) FROM places p(t) WHERE t > 'x')",
    "HAVING count(*) > (SELECT max(length(t)) FROM (SELECT * FROM (SELECT code AS t, zone FROM places) x) q)",
    "HAVING count(*) > (SELECT max(length(people.code)) FROM places people)",
    "HAVING count(*) > (WITH c(t) AS (SELECT code FROM places) SELECT count(*) FROM c WHERE t > 'x')",
    "HAVING count(*) > (WITH t AS (SELECT code FROM places) SELECT count(*) FROM t AS people)",
    "HAVING count(*) > (SELECT sum(count(*)) OVER t FROM rates WINDOW t AS () LIMIT 1)",
    "HAVING count(*) > (SELECT count(*) FROM people)",
    "HAVING count(*) > (SELECT max(n) FROM (SELECT t, count(*) AS n FROM people GROUP BY t) q WHERE t = 'a')",
    "ORDER BY (SELECT count(people) FROM places people)",
    "ORDER BY (SELECT code t FROM places ORDER BY t LIMIT 1)",
    "ORDER BY (SELECT code AS t FROM places GROUP BY t ORDER BY t DESC LIMIT 1)",
    "ORDER BY (SELECT k::text FROM rates WHERE EXISTS (SELECT FROM places people WHERE people.code = 'x'))",
)
REFUSED = (
    # Of the rows, and no key.
    ("HAVING EXISTS (SELECT FROM places p WHERE p.code = people.i4::text)", Code.RAW_ROWS),
    ("HAVING EXISTS (SELECT FROM places p WHERE p.code = i4::text)", Code.RAW_ROWS),
    ("ORDER BY (SELECT sum(i4))", Code.RAW_ROWS),
    ("ORDER BY (SELECT count(people))", Code.RAW_ROWS),
    ("ORDER BY (SELECT count(people.*))", Code.RAW_ROWS),
    # An aggregate of keys is one of the SELECT around.
    ("ORDER BY (SELECT max(t))", Code.UNSUPPORTED),
    ("ORDER BY (SELECT max(code || t) FROM places)", Code.UNSUPPORTED),
    ("ORDER BY (SELECT count(*) FILTER (WHERE t = 'x'))", Code.UNSUPPORTED),
    ("ORDER BY (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY t))", Code.UNSUPPORTED),
    ("ORDER BY (SELECT range_intersect_agg(t) FROM places)", Code.UNSUPPORTED),
    # It may be the one or the other.
    ("HAVING EXISTS (SELECT FROM unknown WHERE t = 'x')", Code.UNSUPPORTED),
    ("HAVING EXISTS (SELECT FROM (SELECT * FROM unknown) q WHERE t = 'x')", Code.UNSUPPORTED),
    ("HAVING EXISTS (SELECT FROM pg_catalog.generate_series(1, 2) t WHERE t = 1)", Code.UNSUPPORTED),
    ("HAVING EXISTS (SELECT FROM rates, LATERAL (SELECT t AS x) q)", Code.UNSUPPORTED),
    ("HAVING EXISTS (SELECT FROM (rates people JOIN moods ON true) x WHERE people.t = 'x')", Code.UNSUPPORTED),
    ("HAVING EXISTS (SELECT FROM (VALUES (1)) v WHERE t = 'x')", Code.UNSUPPORTED),
    # It is answered by itself.
    ("HAVING count(*) > (SELECT count(*) FROM orders o WHERE o.t = people.t)", Code.UNSUPPORTED),
    ("HAVING count(*) > (SELECT count(*) + length(people.t) FROM orders o)", Code.UNSUPPORTED),
    # A name of the noisy relation.
    ("HAVING EXISTS (SELECT FROM places dp_b1 WHERE dp_b1.code = people.t)", Code.UNSUPPORTED),
)  # fmt: skip


@pytest.mark.parametrize("around", ["{}", _AROUND])
@pytest.mark.parametrize("clauses", KEYS)
def test_a_key_is_that_of_the_noisy_relation(clauses: str, around: str) -> None:
    text = _text(around.format(f"{_SELECT} {clauses.replace('#', '')}"))
    wanted = clauses.replace("#people.t", "dp_b1.k1").replace("#t", "dp_b1.k1")
    _, _, inside = wanted.partition("(")
    assert inside in text


@pytest.mark.parametrize("around", ["{}", _AROUND])
@pytest.mark.parametrize("clauses", HIDDEN)
def test_what_the_subquery_defines_stays(clauses: str, around: str) -> None:
    text = _text(around.format(f"{_SELECT} {clauses}"))
    if "people GROUP" not in clauses and "FROM people)" not in clauses:
        assert clauses.partition("(SELECT")[2] in text


@pytest.mark.parametrize(
    "source",
    [
        "rates NATURAL JOIN (moods JOIN places w ON true)",
        "rates NATURAL JOIN places",
        "generate_series(1, 2) WITH ORDINALITY AS w(t)",
        "rates, LATERAL ROWS FROM (generate_series(1, k)) w(t)",
        "rates x, LATERAL (SELECT w.t FROM moods w) y",
        "(rates w JOIN moods ON true) AS y",
        "rates NATURAL JOIN moods JOIN places ON (k) w",
    ],
)
def test_a_name_beside_from_that_is_not_read_is_refused(source: str) -> None:
    sql = f"SELECT t, count(*) FROM people w GROUP BY t HAVING EXISTS (SELECT FROM {source} WHERE w.t = 'x')"
    with pytest.raises(Refusal, match="may be a column"):
        _text(sql)


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT 'x' AS t) w NATURAL JOIN rates",
        "pg_catalog.generate_series(1, 2) w",
        "rates NATURAL JOIN moods x JOIN places ON (k = 1), pg_catalog.generate_series(1, 2) w",
        "(rates JOIN moods ON true) w",
    ],
)
def test_an_alias_of_from_that_is_not_read_is_known(source: str) -> None:
    clause = f"HAVING EXISTS (SELECT FROM {source} WHERE w.t > 1)"
    sql = f"SELECT t, count(*) FROM people w GROUP BY t {clause}"
    _, _, inside = clause.partition("(SELECT")
    assert inside in _text(sql)


@pytest.mark.parametrize("around", ["{}", _AROUND])
@pytest.mark.parametrize(("clauses", "code"), REFUSED)
def test_anything_else_of_the_rows_is_refused(clauses: str, code: Code, around: str) -> None:
    with pytest.raises(Refusal) as caught:
        _text(around.format(f"{_SELECT} {clauses}"))
    assert caught.value.code is code
    assert caught.value.hint
    assert caught.value.position is not None


@pytest.mark.parametrize(
    "select",
    [
        "SELECT count(*) FROM people GROUP BY t HAVING t = k1",
        "SELECT count(*), k1 FROM people GROUP BY t",
        "SELECT count(*), (SELECT k1) FROM people GROUP BY t",
        "SELECT count(*), (SELECT a1 || code FROM places LIMIT 1) FROM people GROUP BY t",
        "SELECT count(*) FROM people GROUP BY t HAVING t = dp_b1.k1",
        "SELECT count(*) FROM people GROUP BY t HAVING EXISTS (SELECT FROM places WHERE code = dp_b1.k1)",
    ],
)
def test_a_name_of_the_noisy_relation_hides_none_around_it(select: str) -> None:
    with pytest.raises(Refusal, match="cannot be used in a SELECT"):
        _text(f"SELECT * FROM (SELECT 'x' AS k1, 'y' AS a1) dp_b1, LATERAL ({select}) z")
    # By itself it can mean nothing else than what the subquery says, or nothing.
    assert _text(
        "SELECT t AS k1, (SELECT max(k1) FROM rates r(k1)) FROM people GROUP BY t ORDER BY k1"
    )


def test_a_column_of_an_unknown_table_may_be_called_as_a_table_is() -> None:
    sql = f"{_SELECT} HAVING EXISTS (SELECT FROM published.unknown WHERE people = 'x')"
    assert "WHERE people = 'x')" in _text(sql)
    with pytest.raises(Refusal, match="may be a column"):
        _text(_AROUND.format(sql))


@pytest.mark.parametrize(
    ("subquery", "wanted"),
    [
        ("(SELECT t)", '(SELECT dp_b1.k1 AS "t")'),
        ("(SELECT t x)", "(SELECT dp_b1.k1 x)"),
        ("(SELECT 1 FROM (SELECT people.t, code FROM places) q WHERE t = code)", 'dp_b1.k1 AS "t", code FROM'),
        ("(SELECT DISTINCT ON (code) t FROM places)", 'ON (code) dp_b1.k1 AS "t" FROM'),
    ],
)  # fmt: skip
def test_a_column_of_a_subquery_has_the_name_of_the_key(subquery: str, wanted: str) -> None:
    assert wanted in _text(f"SELECT {subquery}, count(*) FROM people GROUP BY t")
