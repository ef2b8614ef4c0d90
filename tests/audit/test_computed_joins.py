"""Public tables joined by an expression: a person moves what is counted by no more than planned."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.audit.two_states import TwoStates, two_states
from tests.live.computed_joins import ALIASES, JOINS, SCRIPT, TABLES
from tests.servers_fixture import servers

# A person has more rows than count, in all countries and on many days, or is not there.
_MANY = """\
INSERT INTO j.events SELECT 10000 + i, 5, '2023-01-02'::timestamptz + i * interval '36 hours',
    (ARRAY['de', 'fr', 'it', 'mt', NULL])[1 + i % 5], i % 30 FROM generate_series(1, 40) i;
"""
_GONE = "DELETE FROM j.events WHERE person = 5; DELETE FROM j.people WHERE id = 5;"


@pytest.fixture(scope="module")
def events() -> Iterator[TwoStates]:
    tables = TABLES.removeprefix("tables:\n")
    yield two_states(servers().protected, "computed_joins", SCRIPT + _MANY, tables, _GONE)


@pytest.mark.every(3)
@pytest.mark.parametrize("sql", [*JOINS, *ALIASES])
def test_a_person_moves_no_more_than_planned(events: TwoStates, sql: str) -> None:
    moved = events.movements(sql)
    assert [one for one in moved if one.observed > one.planned] == []
    assert any(one.observed > 0 for one in moved)
