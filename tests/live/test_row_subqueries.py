"""EXISTS, IN, scalar subqueries and keys beside the unit: as in PostgreSQL, which has no rows of nobody."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from tests.live.row_subquery_statements import ALL, POLICY, REFUSED, SCRIPT
from tests.live.served_database import served_database
from tests.live.window_statements import REFUSED_WINDOWS, WINDOWS
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

_NAME = "row_subqueries"
_NOISE = {
    int: 8,
    Decimal: 800,
    bool: 0,
    str: 0,
}  # counts are of hundreds, sums of tens of thousands


@pytest.fixture(scope="module")
def shop() -> Iterator[LiveProxy]:
    database = served_database(servers(), _NAME, SCRIPT, POLICY, "auto", most="100")
    proxy = start_proxy(servers(), [database])
    yield proxy
    proxy.stop()


def _keyed(rows: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """By the keys of groups: the first column of several rows, the second where it is no number."""
    found = {}
    for row in rows:
        keys = 0 if len(rows) == 1 else 1 if isinstance(row[1], int | Decimal) else 2
        found[row[:keys]] = row[keys:]
    return found


def _is_near(found: tuple[Any, ...], wanted: tuple[Any, ...]) -> bool:
    return all(
        a == b if a is None or b is None else abs(a - b) <= _NOISE[type(b)]
        for a, b in zip(found, wanted, strict=True)
    )


@pytest.mark.long
def test_as_in_postgresql(shop: LiveProxy) -> None:
    """Names, types, groups, and values up to what noise at this epsilon can be."""
    differ = []
    with (
        psycopg.connect(shop.servers.protected.dsn(_NAME), autocommit=True) as direct,
        shop.connect(_NAME, analyst=shop.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        for sql in (*ALL, *WINDOWS):
            exact = direct.execute(sql.replace("w.", "whole.").encode())
            wanted = _keyed(exact.fetchall())
            try:
                answered = connection.execute(sql.encode())
                found = _keyed(answered.fetchall())
            except psycopg.Error as error:
                differ.append((sql, f"{error} / {error.diag.message_hint}"))
                continue
            # Groups that are public but for the rows are answered, too.
            nothing = (0,) * len(next(iter(wanted.values())))
            kinds = [
                [(c.name, c.type_code) for c in x.description or ()] for x in (exact, answered)
            ]
            same = all(_is_near(values, wanted.get(key, nothing)) for key, values in found.items())
            if not same or not wanted.keys() <= found.keys() or kinds[0] != kinds[1]:
                differ.append((sql, f"{found}\n    for {wanted}, {kinds}"))
    assert differ == [], "\n".join(f"{sql}\n    {what}" for sql, what in differ)


@pytest.mark.parametrize(("sql", "hint"), (*REFUSED, *REFUSED_WINDOWS), ids=str)
def test_what_depends_on_other_units_is_refused(shop: LiveProxy, sql: str, hint: str) -> None:
    with (
        shop.connect(_NAME, analyst=shop.servers.new_analyst()) as connection,
        pytest.raises(psycopg.errors.FeatureNotSupported) as refused,
    ):
        connection.execute(sql.encode())
    assert hint in f"{refused.value.diag.message_primary} {refused.value.diag.message_hint}"
