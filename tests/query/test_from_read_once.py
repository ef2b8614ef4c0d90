"""FROM is read once for each SELECT, however many questions are asked about it."""

from __future__ import annotations

from collections import Counter

import pytest

from proxy.base.errors import Refusal
from proxy.query.bind import sources
from proxy.query.syntax.blocks import Span
from proxy.query.syntax.from_clause import Item
from proxy.query.syntax.tokens import Lexed
from tests.cases import Case, in_folder
from tests.planner.test_golden_road import REFUSED, ROAD, arguments_of
from tests.world import read

_CASES = [*in_folder(ROAD), *in_folder(REFUSED)]


def _counted(case: Case, patch: pytest.MonkeyPatch) -> Counter[Span]:
    """How often each FROM clause of a statement is read, by its lexemes."""
    found: Counter[Span] = Counter()
    real = sources.read_from

    def counting(lexed: Lexed, span: Span) -> Item:
        found[span] += 1
        return real(lexed, span)

    patch.setattr(sources, "read_from", counting)
    try:
        read(case.statement, arguments_of(case)[0])
    except Refusal as refusal:
        assert refusal.hint
    return found


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.name)
def test_each_from_is_read_once(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(_counted(case, monkeypatch).values()) <= {1}


def test_the_count_is_not_blind(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [_counted(case, monkeypatch) for case in _CASES[:50]]
    assert sum(map(len, counts)) >= 50
