"""Rows of people without a key: where they are stored puts no rows in order, as it is elsewhere where a person
never came.

Rows that are alike in all that can be seen are in any order. Equal jsonb can be told apart, so it puts no such
rows in order (tests/audit/test_equal_forms.py). A cut takes a hash of the place, with a seed of the table.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import Catalog
from tests import pipeline_world
from tests.pipeline_world import CATALOG, POLICIES, walk

_WITHOUT_KEY = ("visits", "calls")
_FIRST = (
    "SELECT count(*) FROM (SELECT {x} AS x, row_number() OVER (PARTITION BY uid ORDER BY i4) AS n FROM {t}) q"
    " WHERE n = 1 AND {condition}"
)
_JOINED = "SELECT count(*) FROM visits v JOIN calls c ON v.uid = c.uid"


@pytest.fixture(autouse=True)
def without_key(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {
        name: replace(table, primary_key=()) if name.name in _WITHOUT_KEY else table
        for name, table in CATALOG.tables.items()
    }
    monkeypatch.setattr(pipeline_world, "CATALOG", Catalog(tables))


def _sql(question: str) -> str:
    found = walk(question, POLICIES["best"])
    assert found is not None
    return "\n".join(query.sql for queries in found.queries for query in queries)


def _first(x: str, condition: str, table: str = "visits") -> str:
    return _FIRST.format(x=x, t=table, condition=condition)


@pytest.mark.parametrize("x", ["i2", "n", "f8", "t", "c", "s", "iv", "ta", "e"])
def test_a_window_reads_no_place(x: str) -> None:
    assert "ctid" not in _sql(_first(x, "true"))


def test_a_jsonb_is_told_apart_by_a_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    question = _first("j", "x ->> 'a' = '1.00'")
    with pytest.raises(Refusal, match="cannot be put in order by j") as refused:
        _sql(question)
    assert refused.value.hint.startswith("Give the table a primary key, or let a subquery take")
    assert _sql(_first("x", "x = '1.00'", "(SELECT uid, i4, j ->> 'a' AS x FROM visits) v"))
    monkeypatch.setattr(pipeline_world, "CATALOG", CATALOG)
    assert "ctid" not in _sql(question)


@pytest.mark.parametrize(
    "question", [_JOINED, "SELECT count(*) FROM visits WHERE j ->> 'a' = '1.00'"]
)
def test_a_cut_takes_hashes_of_places(question: str) -> None:
    sql = _sql(question)
    hashed = r'ORDER BY pg_catalog\.hashtidextended\((r\d+\."ctid"), %\(\w+\)s::bigint\), \1\)'
    assert sql.count('"ctid"') == 2 * len(re.findall(hashed, sql)) > 0


def test_two_tables_have_seeds_of_their_own() -> None:
    seeds = re.findall(r'hashtidextended\(r\d+\."ctid", %\((\w+)\)s', _sql(_JOINED))
    assert len(seeds) == len(set(seeds)) == 2
    same = "SELECT count(*) FROM visits v JOIN visits c ON v.uid = c.uid"
    (seed,) = set(re.findall(r'hashtidextended\(r\d+\."ctid", %\((\w+)\)s', _sql(same)))
    assert seed
