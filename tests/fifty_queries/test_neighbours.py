"""The fifty questions on invented data of their policies' shape, and its neighbours: no result moves by more
than was planned."""

from __future__ import annotations

import asyncio

import pytest

from proxy.cli.audit import Size, audited, uncompared
from proxy.cli.loading import CheckedPolicy
from tests.fifty_queries.demo_tables import CATALOGS
from tests.fifty_queries.queries import cases, database_of, policy

pytestmark = pytest.mark.long


@pytest.mark.parametrize("database", CATALOGS)
def test_neighbours_move_by_no_more_than_planned(database: str) -> None:
    texts = [
        case.statement
        for case in cases()
        if database_of(case) == database
        and "columns" in case.headers
        and "parameters" not in case.headers
    ]
    checked = CheckedPolicy(policy(database), CATALOGS[database])
    found = asyncio.run(audited(checked, ";\n".join(texts), Size(distance=2)))
    print(f"{len(found.audited_query)} questions, {found.audit.compared} pairs of databases")
    assert found.refused == ()
    assert len(found.audited_query) == len(texts)
    assert found.audit.failed == {}
    assert found.audit.violations == 0
    assert uncompared(found) == []
