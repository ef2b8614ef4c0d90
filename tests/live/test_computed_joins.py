"""Public tables joined by an expression, and column lists behind a table's alias, are read as by PostgreSQL."""

from __future__ import annotations

import psycopg
import pytest

from tests.live.computed_joins import ALIASES, JOINS, SCRIPT, TABLES
from tests.live.served_alone import served_alone
from tests.live_proxy import LiveProxy

joins = served_alone("joins", SCRIPT, TABLES)


def _asked(connection: psycopg.Connection, sql: str) -> dict[tuple[object, ...], float]:
    cursor = connection.execute(sql.encode())
    assert cursor.description is not None
    place = [column.name for column in cursor.description].index("n")
    return {(*row[:place], *row[place + 1 :]): float(row[place] or 0) for row in cursor.fetchall()}


@pytest.mark.every(6)
@pytest.mark.parametrize("sql", [*JOINS, *ALIASES])
def test_they_are_answered_as_by_postgresql(joins: LiveProxy, sql: str) -> None:
    with (
        psycopg.connect(joins.servers.protected.dsn("joins"), autocommit=True) as plain,
        joins.connect("joins", analyst=joins.servers.new_analyst()) as proxy,
    ):
        proxy.execute("SET dp.epsilon = 100")
        right, found = _asked(plain, sql), _asked(proxy, sql)
    for key in {*right, *found}:
        near = max(40, 0.03 * abs(right.get(key, 0)))
        assert abs(found.get(key, 0) - right.get(key, 0)) <= near, (key, found, right)


@pytest.mark.parametrize(
    "sql",
    [
        # Not unique in the public table, of two relations, or no equality.
        "SELECT count(*) FROM j.events e JOIN j.calendar d ON d.week = e.n + 1",
        "SELECT count(*) FROM j.people p JOIN j.events e ON p.id = e.person"
        " JOIN j.grade g ON g.low = e.n + p.age",
        "SELECT count(*) FROM j.events e JOIN j.calendar d ON d.day > e.at::date",
    ],
)
def test_what_could_multiply_rows_is_refused(joins: LiveProxy, sql: str) -> None:
    analyst = joins.servers.new_analyst()
    with joins.connect("joins", analyst=analyst) as proxy, pytest.raises(psycopg.Error) as caught:
        proxy.execute(sql.encode())
    assert caught.value.diag.message_hint
    assert joins.spent(analyst)[0] == 0


def test_a_column_beside_the_key_of_its_public_table(joins: LiveProxy) -> None:
    start = (
        "SELECT c.code, c.region, count(*) FROM j.events e"
        " JOIN j.country c ON c.code = upper(e.land) GROUP BY c.code"
    )
    with joins.connect("joins", analyst=joins.servers.new_analyst()) as proxy:
        assert len(proxy.execute(start.encode()).fetchall()) == 3
