"""Equal values of several forms: no row of another unit decides which form is found.

1 and 1.00 are equal numerics, but a third of them has other digits. 0 and -0 are equal floats, 'a' and 'a  '
equal texts of character, jsonb numbers have scales, a day is 24 hours. Where SQL chooses one of several equal
values, the order of arrival must not choose: it depends on the rows of all units, so that one person would
change the rows of others. Units are many, each with both forms; one of them is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from proxy.base.errors import Refusal
from proxy.compiler import relation_sql
from proxy.kernel.work import TooMuchWork
from tests.audit.two_states import TwoStates, two_states
from tests.servers_fixture import servers

_UNITS = 3_000
_LONG = "1." + "0" * 30
_THIRD = "0." + "3" * 20
_ROWS = f"""
INSERT INTO s.t (uid, v, n, c, f, iv, j, b)
    SELECT u, 1, CASE WHEN x < 2 THEN 1 ELSE {_LONG} END, CASE WHEN x < 2 THEN 'a' ELSE 'a  ' END,
        CASE WHEN x < 2 THEN 0 ELSE '-0'::float8 END, CASE WHEN x < 2 THEN '1 day' ELSE '24:00' END::interval,
        CASE WHEN x < 2 THEN '{{"a": 1.0}}' ELSE '{{"a": 1.00}}' END::jsonb, x < 2
    FROM (SELECT u, r, (u * 7 + r * 13) % 5 AS x FROM generate_series(1, 4) r, generate_series(1, {_UNITS}) u) q
    ORDER BY md5(u::text || ' ' || r);
"""
_SCRIPT = f"""
CREATE SCHEMA s;
CREATE TABLE s.t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, uid int NOT NULL, v int NOT NULL, n numeric,
    c bpchar, f float8, iv interval, j jsonb, b boolean NOT NULL);
{_ROWS}
CREATE TABLE s.without_key (LIKE s.t);
INSERT INTO s.without_key SELECT * FROM s.t;
ALTER TABLE s.without_key DROP COLUMN id;
CREATE VIEW s.shown AS SELECT * FROM s.without_key;
ANALYZE;
"""
_ONE_LESS = "DELETE FROM s.t WHERE uid = 1000; DELETE FROM s.without_key WHERE uid = 1000;"
_COLUMNS = "{v: {bounds: [0, 10]}, n: {bounds: [0, 10]}, c: {}, f: {bounds: [-1, 1]}, iv: {}, j: {}, b: {}}"
_TABLES = "".join(
    f"  s.{table}:\n    unit: {{person: uid}}\n    max_rows_per_unit: 5\n    columns: {_COLUMNS}\n"
    for table in ("t", "without_key", "shown")
)
# Numerics that the analyst makes of whole numbers.
_MADE = "CASE WHEN b THEN v / 1000000000000.0 * 1000000000000 ELSE v END"
_NUMBERS = {"a column": "n", "computed": _MADE, "a sum": "n + v - v"}
_CHOSEN = {
    "MAX of a unit": "SELECT uid, max({x}) AS y, count(DISTINCT v) AS q FROM {t} GROUP BY uid",
    "MIN of a unit": "SELECT uid, min({x}) AS y, count(DISTINCT c) AS q FROM {t} GROUP BY uid",
    "a key of GROUP BY": "SELECT uid, {x} AS y, count(DISTINCT v) AS q FROM {t} GROUP BY uid, {x}",
    "MAX over a window": "SELECT max({x}) OVER (PARTITION BY uid) AS y, v AS q FROM {t}",
    "the first value": "SELECT first_value({x}) OVER (PARTITION BY uid ORDER BY v) AS y, v AS q FROM {t}",
    "the row before": "SELECT lag({x}) OVER (PARTITION BY uid ORDER BY v) AS y, v AS q FROM {t}",
}
_TABLES_OF = {
    "a table": "s.t",
    "a table without key": "s.without_key",
    "a view": "(SELECT uid, v, n, c, b FROM s.shown) z",
    "a union": "(SELECT uid, v, n, c, b FROM s.t UNION ALL SELECT uid, v, n, c, b FROM s.t) z",
    "a subquery": "(SELECT uid, v, n, c, b FROM s.t WHERE v > 0) z",
}
# The first row of a unit, and what tells its form.
_FIRST_ROWS = {
    "numeric": ("n", f"n / 3 > {_THIRD}"),
    "character": ("c", "c LIKE 'a '"),
    "float": ("f", "f = 0"),
    "interval": ("iv", "iv > interval '12 hours'"),
    "jsonb": ("j", "j->>'a' = '1.00'"),
}


@pytest.fixture(scope="module")
def people() -> Iterator[TwoStates]:
    """One person is gone."""
    yield two_states(servers().protected, "equal_forms", _SCRIPT, _TABLES, _ONE_LESS)


def _questions() -> Iterator[tuple[str, str]]:
    for what, made in _NUMBERS.items():
        for place, query in _CHOSEN.items():
            for source, table in _TABLES_OF.items():
                inner = query.format(x=made, t=table)
                text = f"SELECT count(*) FROM ({inner}) a WHERE y / 3 > {_THIRD} AND q > 0"
                if place == "a key of GROUP BY":
                    counted = f"count(*) FILTER (WHERE y / 3 > {_THIRD})"
                    text = f"SELECT {counted} FROM ({inner}) a WHERE q > 0"
                yield f"{place}, {what}, of {source}", text
    for kind, (column, condition) in _FIRST_ROWS.items():
        for table in ("s.t", "s.without_key", "s.shown"):
            inner = f"SELECT uid, {column}, row_number() OVER (PARTITION BY uid ORDER BY v) AS w FROM {table}"
            yield (
                f"the first row, {kind}, of {table}",
                f"SELECT count(*) FROM ({inner}) a WHERE w = 1 AND {condition}",
            )
    for kind in ("n", "f", "c"):
        inner = f"SELECT uid, {kind} AS y, count(DISTINCT v) AS q FROM s.t GROUP BY uid, {kind}"
        tells = {"n": f"y / 3 > {_THIRD}", "f": "y >= 0", "c": "y LIKE 'a  '"}[kind]
        yield f"a key, {kind}", f"SELECT count(*) FROM ({inner}) a WHERE {tells} AND q > 0"


_QUESTIONS = dict(_questions())


@pytest.mark.every(18)
@pytest.mark.parametrize("name", _QUESTIONS)
def test_no_form_depends_on_others(people: TwoStates, name: str) -> None:
    try:
        assert people.too_far(_QUESTIONS[name]) == []
    except Refusal as refused:
        # A character without a length may be long, and takes too long to look through for each row.
        is_dear = isinstance(refused, TooMuchWork) and "character" in name
        assert is_dear or "jsonb" in name or "a view" in name or "s.shown" in name, refused.message


def test_a_jsonb_orders_no_rows_without_a_key(people: TwoStates) -> None:
    """The table has a key, which is used though the policy does not list it; a view has none. Where a row is
    stored is no key."""
    assert people.too_far(_QUESTIONS["the first row, jsonb, of s.t"]) == []
    for table in ("s.shown", "s.without_key"):
        with pytest.raises(Refusal, match="cannot be put in order by j"):
            people.plan(_QUESTIONS[f"the first row, jsonb, of {table}"])


def _is_found(people: TwoStates, place: str) -> bool:
    """Whether some question about a choice at this place moves further than planned."""
    names = [name for name in _QUESTIONS if name.startswith(place) and "view" not in name]
    return any(people.too_far(_QUESTIONS[name]) for name in names)


@pytest.mark.parametrize("place", ["MAX of a unit", "a key of GROUP BY", "MAX over a window"])
def test_what_is_printed_as_it_comes_is_found(
    people: TwoStates, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """As it was printed before."""
    for printer in ("_per_unit", "_window"):
        monkeypatch.setattr(relation_sql, printer, _untrimmed(getattr(relation_sql, printer)))
    assert _is_found(people, place)


def _untrimmed(real: Callable[..., str]) -> Callable[..., str]:
    return lambda *given: real(*given).replace("pg_catalog.trim_scale", "")


@pytest.mark.parametrize("place", ["the first value"])
def test_ties_by_value_alone_are_found(
    people: TwoStates, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    real = relation_sql._ordered_sql
    monkeypatch.setattr(relation_sql, "_ordered_sql", lambda column: real(column)[:1])
    assert _is_found(people, place)
