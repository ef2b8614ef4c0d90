"""Outer joins, and joins along a foreign key, as in PostgreSQL: groups, labels, types, numbers."""

from __future__ import annotations

import psycopg
import pytest

from tests.live.conftest import RELATIONS
from tests.live.levels_and_joins import NOISY, described, differences
from tests.live_proxy import LiveProxy

_STATEMENTS = (
    # Two tables of one unit along a foreign key, the units unsaid.
    "SELECT count(*) FROM r.payments JOIN r.rentals ON r.payments.rental = r.rentals.id",
    "SELECT kind, count(*) FROM r.payments p INNER JOIN r.rentals q ON q.id = p.rental GROUP BY kind",
    "SELECT kind, count(*) FROM r.rentals q LEFT JOIN r.payments p ON q.id = p.rental GROUP BY kind",
    "SELECT paid, count(kind) FROM r.payments p LEFT OUTER JOIN r.rentals q ON q.id = p.rental"
    " WHERE paid GROUP BY paid",
    "SELECT kind, count(*) FROM r.rentals q RIGHT JOIN r.payments p ON q.id = p.rental WHERE q.paid"
    " GROUP BY kind",
    # Each row has a partner, by an enforced reference that is never null: no group of NULL.
    "SELECT q.kind, count(*) FROM r.returns e LEFT JOIN r.rentals q ON e.rental = q.id GROUP BY 1",
    "SELECT q.paid, count(*) AS count, count(q.kind) AS n FROM r.rentals q RIGHT JOIN r.returns e"
    " ON e.rental = q.id WHERE late GROUP BY q.paid",
    "SELECT category, count(*) FROM r.payments p, r.rentals q, r.products s"
    " WHERE p.rental = q.id AND q.product = s.id GROUP BY category",
    # Joins within brackets have names of their own: USING makes a column one within its side alone.
    "SELECT q.kind, count(*) FROM r.payments p JOIN r.rentals q USING (customer)"
    " JOIN (r.returns e JOIN r.rentals f USING (customer)) ON e.customer = p.customer AND e.rental = f.id"
    " WHERE p.rental = q.id GROUP BY 1",
    "SELECT q.kind, count(*) FROM (r.payments p JOIN r.returns e USING (customer, rental))"
    " JOIN (r.products s JOIN r.rentals q ON q.product = s.id) USING (customer) WHERE rental = q.id GROUP BY 1",
    "SELECT e.late, count(*) FROM r.returns e JOIN (r.payments p LEFT JOIN r.rentals q USING (customer))"
    " USING (customer) WHERE customer > 20 AND q.id = e.rental AND p.rental = q.id GROUP BY 1",
    # Public rows that no protected row meets.
    "SELECT category, maker, count(q.id) FROM r.products s"
    " LEFT JOIN r.rentals q ON q.product = s.id GROUP BY 1, 2",
    "SELECT category, count(q.kind) FROM r.rentals q RIGHT OUTER JOIN r.products s ON q.product = s.id"
    " WHERE maker > 1 GROUP BY 1",
    "SELECT s.id, coalesce(count(q.amount) FILTER (WHERE q.paid), 0) AS n FROM r.products s"
    " LEFT JOIN (SELECT * FROM r.rentals WHERE kind <> 'c') q ON q.product = s.id GROUP BY s.id",
    "SELECT kind, count(*) FROM r.products s LEFT JOIN r.rentals q ON q.product = s.id"
    " WHERE q.paid GROUP BY kind",
    "SELECT s.id, s.category, count(q.kind) FROM r.rentals q FULL JOIN r.products s"
    " ON q.product = s.id GROUP BY 1, 2",
    "SELECT category, sum(x) AS n FROM (SELECT s.category, CASE WHEN q.paid THEN 1 ELSE 0 END AS x"
    " FROM r.products s FULL OUTER JOIN r.rentals q ON s.id = q.product) y GROUP BY 1",
)  # fmt: skip


@pytest.mark.every(2)
@pytest.mark.parametrize("sql", _STATEMENTS)
def test_as_in_postgresql(live: LiveProxy, sql: str) -> None:
    with (
        psycopg.connect(live.servers.protected.dsn(RELATIONS)) as direct,
        live.connect(RELATIONS, analyst=live.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        exact, answered = direct.execute(sql.encode()), connection.execute(sql.encode())
        assert described(answered) == described(exact)
        noisy = sum(column.name in NOISY for column in exact.description or ())
        assert differences(answered.fetchall(), exact.fetchall(), noisy) == []
