"""FROM is read once for each SELECT, however many questions are asked about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from proxy.base.errors import Refusal
from proxy.query.bind import source_reading
from proxy.query.bind.scope import Scope
from proxy.query.bind.sources import Sources
from proxy.query.ir.relations import Relation, scans
from proxy.query.syntax.from_clause import Item, read_from
from proxy.query.syntax.selects import Select, Span
from proxy.query.syntax.tokens import Lexed
from tests.cases import Case, in_folder
from tests.pipeline_world import read
from tests.planner.test_golden_pipeline import PIPELINE, REFUSED, arguments_of

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
