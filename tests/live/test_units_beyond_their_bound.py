"""Units that have more rows than the policy says: of SUM, COUNT and AVG of a column the same rows count, so
that a mean is one of values that are there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live.served_database import served_database
from tests.live.session_answers import answers_to
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

_MECHANISMS = ("sum_over_count", "auto", "clipped_mean")
# Each of 500 people has 40 visits, of which 4 count, at costs of 0 to 9 within bounds of 20.
_SCRIPT = """\
CREATE SCHEMA k;
CREATE TABLE k.visits (id int PRIMARY KEY, person int NOT NULL, cost int NOT NULL, paid int,
    kind text NOT NULL);
INSERT INTO k.visits SELECT n, 1 + n % 500, n / 500 % 10, nullif(n / 500 % 10, 3), (ARRAY['a', 'b'])[1 + n % 2]
FROM generate_series(1, 20000) n;
"""
_TABLES = """\
reuse: 24h
tables:
  k.visits:
    unit: {person: person}
    max_rows_per_unit: 4
    columns:
      cost: {bounds: [0, 20]}
      paid: {bounds: [-20, 20]}
      kind: {values: [a, b]}
"""
_STATEMENTS = (
    "SELECT avg(cost) FROM k.visits",
    "SELECT avg(cost), sum(cost), count(*) FROM k.visits",
    "SELECT avg(paid), sum(paid), count(paid) FROM k.visits",
    "SELECT avg(cost + 1), count(*) FROM k.visits WHERE kind = 'a'",
    "SELECT avg(cost) FROM k.visits GROUP BY kind",
    "SELECT avg(cost) FILTER (WHERE cost > 4), count(*) FROM k.visits GROUP BY kind",
)


@pytest.fixture(scope="module")
def beyond() -> Iterator[LiveProxy]:
    pair = servers()
    found = [
        served_database(pair, f"beyond_{name}", _SCRIPT, _TABLES, name, most="100")
        for name in _MECHANISMS
    ]
    proxy = start_proxy(pair, found)
    yield proxy
    proxy.stop()


@pytest.mark.every(3)
@pytest.mark.parametrize("text", _STATEMENTS)
@pytest.mark.parametrize("mechanism", _MECHANISMS)
def test_a_mean_is_of_values_that_are_there(beyond: LiveProxy, mechanism: str, text: str) -> None:
    """In none of them is 10, which a sum of all rows over a number of some would exceed."""
    analyst = beyond.servers.new_analyst()
    (rows,) = answers_to(beyond, analyst, text, database=f"beyond_{mechanism}", epsilon="100")
    assert rows and all(3 < float(mean) < 10 for mean, *_ in rows), rows


@pytest.mark.parametrize("mechanism", ["sum_over_count", "auto"])
def test_columns_of_one_statement_agree(beyond: LiveProxy, mechanism: str) -> None:
    analyst, text = (
        beyond.servers.new_analyst(),
        "SELECT sum(cost), count(*), avg(cost) FROM k.visits",
    )
    (((total, rows, mean),),) = answers_to(
        beyond, analyst, text, database=f"beyond_{mechanism}", epsilon="100"
    )
    assert float(total) / rows == pytest.approx(float(mean), abs=0.1)


def test_a_mean_made_of_a_sum_and_a_count_is_a_fresh_one(beyond: LiveProxy) -> None:
    """It is free, and says what is said where it is drawn."""
    analyst, database = beyond.servers.new_analyst(), "beyond_sum_over_count"
    texts = ("SELECT sum(cost), count(*) FROM k.visits", "EXPLAIN SELECT avg(cost) FROM k.visits")
    _, plan = answers_to(beyond, analyst, *texts, database=database, epsilon="50")
    assert "at no cost" in str(plan)
    asked = "SELECT avg(cost) FROM k.visits"
    (((made,),),) = answers_to(beyond, analyst, asked, database=database)
    (((drawn,),),) = answers_to(beyond, analyst, asked, database=database, fresh="on", epsilon="50")
    assert float(made) == pytest.approx(float(drawn), abs=0.2)
