"""Through the whole proxy: no group of fewer people than the policy asks for, whatever makes it."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.errors import Diagnostic

from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

# Regions: 2,000 buyers in `many`, 8 in `few`, none in `none`. Each has two sales.
_SCRIPT = """\
CREATE SCHEMA w;
CREATE TABLE w.sales (id bigint PRIMARY KEY, person int NOT NULL, region text NOT NULL, town text NOT NULL,
    paid int NOT NULL);
INSERT INTO w.sales
SELECT row_number() OVER (), p, CASE WHEN p <= 8 THEN 'few' ELSE 'many' END,
    CASE WHEN p <= 8 THEN 'hamlet' WHEN p <= 60 THEN 'village' ELSE 'city' END, (p * 7 + k) % 400
FROM generate_series(1, 2008) p, generate_series(1, 2) k;
CREATE TABLE w.people (id int PRIMARY KEY, region text NOT NULL);
INSERT INTO w.people SELECT p, CASE WHEN p <= 8 THEN 'few' ELSE 'many' END FROM generate_series(1, 2008) p;
"""
_TABLES = """\
min_units_per_group: 11
tables:
  w.sales:
    unit: {buyer: person}
    max_rows_per_unit: 2
    max_groups_per_unit: 1
    columns:
      region: {values: [few, many, none]}
      town: {}
      paid: {bounds: [0, 500]}
  w.people:
    unit: {buyer: id}
    max_rows_per_unit: 1
    min_units_per_group: 5
    columns:
      region: {values: [few, many, none]}
"""
_SURE = "SET dp.epsilon = 50"


@pytest.fixture(scope="module")
def sales() -> Iterator[LiveProxy]:
    pair = servers()
    plain = served_database(pair, "smallest", _SCRIPT, _TABLES, "best", most="100")
    published = (
        'publish:\n  - {name: by_region, sql: "SELECT region, count(*) AS n FROM w.people GROUP BY region",'
        " every: 24h, epsilon: 50}\n"
    )
    kept = served_database(
        pair, "smallest_kept", _SCRIPT, f"{_TABLES}{published}reuse: 24h\n", "best", most="100"
    )
    proxy = start_proxy(pair, [plain, kept])
    yield proxy
    proxy.stop()


def _asked(
    live: LiveProxy, text: str, database: str = "smallest", analyst: str = ""
) -> tuple[list[tuple[object, ...]], list[str]]:
    heard: list[str] = []

    def hear(diagnostic: Diagnostic) -> None:
        heard.append(diagnostic.message_primary or "")

    with live.connect(database, analyst=analyst or live.servers.new_analyst()) as connection:
        connection.add_notice_handler(hear)
        connection.execute(_SURE)
        rows = connection.execute(text.encode()).fetchall()
    return rows, "\n".join(heard).splitlines()


_NULL = "NULL in 2 of 3 groups: too few buyers. The policy shows no group of fewer than"


def test_small_and_empty_groups_of_public_keys_are_null_with_one_notice(sales: LiveProxy) -> None:
    text = (
        "SELECT region, sum(paid), avg(paid), max(paid), count(*), dp.error(sum(paid)) FROM w.sales"
        " GROUP BY region ORDER BY region"
    )
    (few, many, none), heard = _asked(sales, text)
    assert few[1:] == none[1:] == (None,) * 5
    assert None not in many
    assert sum(_NULL in line for line in heard) == 1, heard
    assert f"{_NULL} 11, by a noisy number" in " ".join(heard)


def test_a_table_has_its_own_number(sales: LiveProxy) -> None:
    text = "SELECT region, count(*) FROM w.people GROUP BY region ORDER BY region"
    (few, many, none), heard = _asked(sales, text)
    assert few[1] == pytest.approx(8, abs=2) and many[1] == pytest.approx(2000, abs=2)
    assert none[1] is None
    assert "NULL in 1 of 3 groups" in " ".join(heard)


def test_the_strictest_table_of_a_join_counts(sales: LiveProxy) -> None:
    text = (
        "SELECT p.region, count(DISTINCT p.id) FROM w.people p JOIN w.sales s ON s.person = p.id"
        " GROUP BY p.region ORDER BY 1"
    )
    (few, many, none), _ = _asked(sales, text)
    assert few[1] is None and none[1] is None and many[1] is not None


def test_private_keys_never_show_a_small_group(sales: LiveProxy) -> None:
    for _ in range(5):
        rows, _ = _asked(sales, "SELECT town, count(*) FROM w.sales GROUP BY town ORDER BY town")
        assert [town for town, _ in rows] == ["city", "village"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM w.sales WHERE region = 'few'",
        "SELECT avg(paid) FROM w.sales WHERE person = 3",
        "SELECT sum(n) FROM (SELECT person, count(*) AS n FROM w.sales WHERE region = 'few' GROUP BY person) q",
        "SELECT (SELECT sum(paid) FROM w.sales WHERE region = 'none')",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY paid) FROM w.sales WHERE region = 'few'",
    ],
)
def test_totals_of_few_are_null(sales: LiveProxy, text: str) -> None:
    rows, heard = _asked(sales, text)
    assert rows == [(None,)]
    assert any("too few buyers" in line for line in heard), heard


def test_each_level_of_rollup_is_judged_by_itself(sales: LiveProxy) -> None:
    text = "SELECT region, sum(paid) FROM w.sales GROUP BY ROLLUP (region) ORDER BY 1"
    rows, _ = _asked(sales, text)
    shown = {region: paid for region, paid in rows}  # noqa: C416
    assert len(rows) == 4 and shown["few"] is None and shown["none"] is None
    assert shown["many"] is not None and shown[None] is not None


def test_having_leaves_small_groups_out(sales: LiveProxy) -> None:
    text = "SELECT region FROM w.sales GROUP BY region HAVING count(*) > -1000"
    rows, _ = _asked(sales, text)
    assert rows == [("many",)]


def test_kept_and_derived_answers_keep_to_it(sales: LiveProxy) -> None:
    analyst, name = sales.servers.new_analyst(), "smallest_kept"
    by_region = "SELECT region, count(*), sum(paid) FROM w.sales GROUP BY region ORDER BY region"
    for _ in range(2):
        (few, many, none), _ = _asked(sales, by_region, name, analyst)
        assert few[1:] == none[1:] == (None, None) and None not in many
    for part in ("few", "none"):
        text = f"SELECT sum(paid) FROM w.sales WHERE region = '{part}'"
        assert _asked(sales, text, name, analyst)[0] == [(None,)]
    text = "SELECT region, count(*) FROM w.sales WHERE region IN ('few', 'none') GROUP BY region"
    rows, _ = _asked(sales, text, name, analyst)
    assert {count for _, count in rows} <= {None}


def test_explain_says_so(sales: LiveProxy) -> None:
    rows, _ = _asked(sales, "EXPLAIN SELECT region, sum(paid) FROM w.sales GROUP BY region")
    told = " ".join(str(row[0]).strip() for row in rows)
    assert "min_units_per_group 11: a group is NULL unless a noisy number counts" in told
    rows, _ = _asked(sales, "EXPLAIN SELECT town, count(*) FROM w.sales GROUP BY town")
    told = " ".join(str(row[0]).strip() for row in rows)
    assert "a group of fewer than 11 buyers never appears" in told


def test_keys_alone_are_public(sales: LiveProxy) -> None:
    rows, _ = _asked(sales, "SELECT DISTINCT region FROM w.sales ORDER BY 1")
    assert rows == [("few",), ("many",), ("none",)]


def test_a_small_group_is_an_unknown_to_bool_or(sales: LiveProxy) -> None:
    rows, _ = _asked(
        sales, "SELECT region, bool_or(paid > 1) FROM w.sales GROUP BY region ORDER BY region"
    )
    assert rows[0][1] is None and rows[2][1] is None


def test_no_statement_fails_by_it(sales: LiveProxy) -> None:
    text = (
        "SELECT region, sum(paid) / count(*), round(100.0 * count(*) / sum(count(*)) OVER ()) FROM w.sales"
        " GROUP BY 1"
    )
    rows, _ = _asked(sales, text)
    assert len(rows) == 3
    with pytest.raises(psycopg.Error):
        _asked(sales, "SELECT region, nothing FROM w.sales")
