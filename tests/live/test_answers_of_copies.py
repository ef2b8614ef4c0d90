"""Through the whole proxy: answers come from a prepared copy where it may serve, else from the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.errors import Diagnostic

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.cli.cli_error import CliError
from proxy.cli.prepare_command import prepare
from proxy.compiler import copy_view
from proxy.compiler.copy_view import copy_script
from proxy.policy.policy_model import Policy, ProtectedTable
from proxy.policy_file.policy_yaml import read_policy
from proxy.protected.catalog_reader import read_catalog
from tests.live.served_database import READER, READER_PASSWORD, policy_head, served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import Servers, servers

# 300 buyers with 10 sales each; buyer 1 has 1,000 more.
_SCRIPT = """\
CREATE SCHEMA c;
CREATE TABLE c.sales (
    id bigint PRIMARY KEY, buyer int, kind text NOT NULL, paid int NOT NULL, price numeric(8,2));
INSERT INTO c.sales SELECT 10 * b + n, b, 'ab'::char(2), n, n FROM generate_series(1, 300) b,
    generate_series(0, 9) n;
UPDATE c.sales SET kind = CASE WHEN paid < 5 THEN 'a' ELSE 'b' END;
INSERT INTO c.sales SELECT 100000 + n, 1, 'a', 9, 9 FROM generate_series(1, 1000) n;
INSERT INTO c.sales VALUES (1, NULL, 'a', 3, 3);
CREATE TABLE c.kinds (kind text PRIMARY KEY);
INSERT INTO c.kinds VALUES ('a'), ('b');
"""
_TABLES = """\
tables:
  c.sales:
    unit: {buyer: buyer}
    max_rows_per_unit: 10
    prepared: {table: dp.sales, max_age: 1h}
    columns:
      kind: {values: [a, b]}
      paid: {bounds: [0, 100]}
      price: {bounds: [0, 100]}
  c.kinds: public
"""
_SALES = TableName("c", "sales")
_AS_OF = "prepared copy, as of"


def _policy(source: str = "host=db") -> Policy:
    return read_policy(policy_head("copies", "best", "100") + _TABLES, "c.yaml", {"DSN": source})


def owner_dsn(pair: Servers, name: str) -> str:
    return make_conninfo(pair.protected.dsn(), dbname=name)


def script(dsn: str, rows: int = 10) -> str:
    """What `dpproxy prepare` prints."""
    table = _policy().tables[_SALES]
    assert isinstance(table, ProtectedTable)
    found = copy_script(table, read_catalog(dsn), rows, READER)
    assert found is not None
    return found


def run_script(dsn: str, text: str) -> None:
    """As psql does: one statement after the other, VACUUM by itself."""
    whole, _, rest = text.partition("COMMIT;\n")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"{whole}COMMIT".encode())
        connection.execute(rest.encode())


@pytest.fixture(scope="module")
def proxy() -> Iterator[LiveProxy]:
    pair = servers()

    def fill(name: str) -> None:
        dsn = owner_dsn(pair, name)
        run_script(dsn, script(dsn))

    def filled(name: str) -> Callable[[], None]:
        return lambda: fill(name)

    databases = [
        served_database(pair, name, _SCRIPT, f"{_TABLES}{more}", "best", filled(name), "100")
        for name, more in (("copies", ""), ("copies_kept", "reuse: 24h\n"))
    ]
    found = start_proxy(pair, databases)
    yield found
    found.stop()


class _Asked:
    """Answers at an epsilon at which noise is below a half, with what is told of them."""

    def __init__(self, live: LiveProxy, database: str = "copies") -> None:
        self.told: list[str] = []
        self.connection = live.connect(database)
        self.connection.add_notice_handler(self._tell)
        self.connection.execute("SET dp.epsilon = 100")

    def _tell(self, notice: Diagnostic) -> None:
        self.told.append(str(notice.message_primary))

    def row(self, statement: str) -> tuple[object, ...]:
        self.told.clear()
        found = self.connection.execute(statement.encode()).fetchone()
        assert found is not None
        return found

    def is_of_copy(self) -> bool:
        return any(_AS_OF in text for text in self.told)


@pytest.fixture
def owner(proxy: LiveProxy) -> Iterator[psycopg.Connection]:
    """The owner's session; what it changes in the copy is made anew after the test."""
    dsn = owner_dsn(proxy.servers, "copies")
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection
    run_script(dsn, script(dsn))


@pytest.fixture
def asked(proxy: LiveProxy) -> Iterator[_Asked]:
    found = _Asked(proxy)
    yield found
    found.connection.close()


_COUNT = "SELECT count(*) FROM c.sales"


def test_counts_sums_and_means_come_from_the_copy(asked: _Asked) -> None:
    count, total, mean, people = asked.row(
        "SELECT count(*), sum(paid), avg(price), count(DISTINCT buyer) FROM c.sales"
    )
    assert asked.is_of_copy()
    assert abs(int(str(count)) - 3000) < 30
    assert abs(int(str(people)) - 300) < 10
    assert abs(float(str(total)) - 13_500) < 5_000
    assert float(str(mean)) < 9
    explained = asked.connection.execute(f"EXPLAIN VERBOSE {_COUNT}".encode())
    plan = "\n".join(str(row) for row in explained)
    assert '"dp"."sales"' in plan and _AS_OF in plan


def test_numbers_of_the_copy_are_those_of_the_table(asked: _Asked) -> None:
    """Of numerics the copy has grid indices; public tables are joined."""
    whole = "SELECT sum(price), percentile_disc(0.5) WITHIN GROUP (ORDER BY price) FROM c.sales"
    for statement in (
        f"{whole} JOIN c.kinds USING (kind)",
        f"{whole} WHERE price > 2 AND paid < 9",
    ):
        total, median = asked.row(statement)
        assert asked.is_of_copy()
        asked.connection.execute("SET dp.prepared = off")
        of_table, of_median = asked.row(statement)
        asked.connection.execute("RESET dp.prepared")
        # Of the table all of buyer 1's rows count, up to 1,000 together.
        assert abs(float(str(total)) - float(str(of_table))) < 1_100
        assert abs(float(str(median)) - float(str(of_median))) < 1.5
    explained = asked.connection.execute(f"EXPLAIN VERBOSE {whole}".encode())
    assert "price_i" in "\n".join(map(str, explained))


def test_listed_groups_quantiles_and_extremes_come_from_the_copy(asked: _Asked) -> None:
    rows = asked.connection.execute(
        "SELECT kind, count(*), count(DISTINCT buyer), max(paid) FROM c.sales GROUP BY kind ORDER BY kind"
    ).fetchall()
    assert asked.is_of_copy()
    assert [row[0] for row in rows] == ["a", "b"]
    assert all(abs(row[1] - 1500) < 40 and abs(row[2] - 300) < 10 for row in rows)
    asked.row(
        "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY paid) FROM c.sales WHERE kind = 'b'"
    )
    assert asked.is_of_copy()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM c.sales a JOIN c.sales b USING (buyer)",
        "SELECT count(*) FROM (SELECT buyer, sum(paid) AS s FROM c.sales GROUP BY buyer) q WHERE s > 3",
    ],
)
def test_what_the_copy_cannot_serve_comes_from_the_table(asked: _Asked, statement: str) -> None:
    asked.row(statement)
    assert not asked.is_of_copy()


def test_a_session_can_do_without(asked: _Asked) -> None:
    asked.connection.execute("SET dp.prepared = off")
    asked.row(_COUNT)
    assert not asked.is_of_copy()


def test_a_refresh_is_seen_at_once(asked: _Asked, owner: psycopg.Connection) -> None:
    asked.row(_COUNT)
    before = [text for text in asked.told if _AS_OF in text]
    owner.execute(
        "INSERT INTO c.sales SELECT -n, 1000 + n, 'a', 1, 1 FROM generate_series(1, 500) n"
    )
    (old,) = asked.row(_COUNT)
    dsn = owner_dsn(servers(), "copies")
    run_script(dsn, script(dsn))
    (new,) = asked.row(_COUNT)
    assert asked.is_of_copy() and [text for text in asked.told if _AS_OF in text] != before
    assert int(str(new)) - int(str(old)) > 400
    owner.execute("DELETE FROM c.sales WHERE id < 0")


def test_explain_says_what_the_next_statement_reads(
    asked: _Asked, owner: psycopg.Connection
) -> None:
    """Also where no statement has found the copy, or the last one has not."""
    dsn, explained = owner_dsn(servers(), "copies"), f"EXPLAIN {_COUNT} WHERE paid > 3"

    def lines() -> list[str]:
        return [line for (line,) in asked.connection.execute(explained.encode())]

    owner.execute(_OLD.encode())
    asked.row(_COUNT)
    assert not asked.is_of_copy() and _AS_OF not in "".join(lines())
    run_script(dsn, script(dsn))
    found = lines()
    assert "  On c.sales; protected: one unit, with up to 10 rows of the copy" in found
    (told,) = (line.strip() for line in found if _AS_OF in line)
    asked.row(f"{_COUNT} WHERE paid > 3")
    assert told.removeprefix("Times: ") in "\n".join(asked.told)
    assert told.endswith(", at most 10 of a buyer")
    asked.connection.execute("SET dp.prepared = off")
    assert _AS_OF not in "".join(lines())


def test_nothing_is_dropped_that_is_no_copy(owner: psycopg.Connection) -> None:
    """A table that has the name, or a view."""
    dsn = owner_dsn(servers(), "copies")
    for what in ("TABLE dp.sales", "VIEW dp.sales_source"):
        owner.execute("DROP TABLE dp.sales; DROP VIEW dp.sales_source")
        owner.execute(f"CREATE {what} AS SELECT 1 AS mine".encode())
        with pytest.raises(psycopg.errors.RaiseException, match="was not made by dpproxy prepare"):
            run_script(dsn, script(dsn))
        assert owner.execute(f"TABLE {what.split()[1]}".encode()).fetchall() == [(1,)]
        owner.execute(f"DROP {what}".encode())
        run_script(dsn, script(dsn))


_OLD = "UPDATE dp.prepared SET as_of = as_of - interval '61 min'"


@pytest.mark.parametrize(
    "change",
    [
        _OLD,
        "UPDATE dp.prepared SET as_of = as_of + interval '1 day'",
        "DELETE FROM dp.prepared",
        "ALTER TABLE dp.sales DROP CONSTRAINT slot_is_bounded",
        "ALTER TABLE dp.sales DROP CONSTRAINT slot_is_bounded;"
        "ALTER TABLE dp.sales ADD CONSTRAINT slot_is_bounded CHECK (slot >= 1 AND slot <= 20)",
        "ALTER TABLE dp.sales DROP CONSTRAINT slot_is_bounded;"
        "ALTER TABLE dp.sales ADD CONSTRAINT slot_is_bounded CHECK (slot >= 1 AND slot <= 10) NOT VALID",
        "ALTER TABLE dp.sales ALTER slot TYPE numeric",
        "ALTER TABLE dp.sales ALTER buyer TYPE text",  # equal there is less than in the table
        f"GRANT INSERT ON dp.sales TO {READER}",
        f"ALTER TABLE dp.sales OWNER TO {READER}",
        "ALTER TABLE dp.sales ENABLE ROW LEVEL SECURITY",
        "CREATE TABLE dp.child () INHERITS (dp.sales)",
        "DROP TABLE dp.sales",
        "DROP VIEW dp.sales_source",
        "CREATE OR REPLACE VIEW dp.sales_source AS SELECT * FROM dp.sales",
    ],
)
def test_a_copy_that_is_not_as_it_has_to_be_is_not_read(
    asked: _Asked, owner: psycopg.Connection, change: str
) -> None:
    asked.row(_COUNT)
    assert asked.is_of_copy()
    owner.execute(change.encode())
    asked.row(_COUNT)
    assert not asked.is_of_copy()
    owner.execute("DROP TABLE IF EXISTS dp.child")


def test_nobody_waits_for_a_refresh(asked: _Asked, owner: psycopg.Connection) -> None:
    asked.row(_COUNT)
    with owner.transaction():
        owner.execute("LOCK TABLE dp.sales IN ACCESS EXCLUSIVE MODE")
        asked.row(_COUNT)
        assert not asked.is_of_copy()
    asked.row(_COUNT)
    assert asked.is_of_copy()


def test_the_database_keeps_to_the_bound(owner: psycopg.Connection) -> None:
    for slot in (11, 0, 5):
        with pytest.raises((psycopg.errors.CheckViolation, psycopg.errors.UniqueViolation)):
            owner.execute(
                "INSERT INTO dp.sales (buyer, slot, kind, paid) VALUES (1, %s, 'a', 1)", (slot,)
            )


def test_columns_at_known_offsets_come_first(owner: psycopg.Connection) -> None:
    """So that PostgreSQL reads the indices without a look at what is of variable width."""
    found = owner.execute(
        "SELECT attname::text FROM pg_attribute WHERE attrelid = 'dp.sales'::regclass AND attnum > 0"
        " ORDER BY attnum"
    ).fetchall()
    assert [name for (name,) in found] == ["buyer", "slot", "paid", "price_i", "kind", "price"]


def test_types_of_fixed_width_are_those_of_the_server(owner: psycopg.Connection) -> None:
    for kind in SqlType:
        row = owner.execute(
            "SELECT typlen > 0 FROM pg_type WHERE oid = %s", (max(kind.oid, 0),)
        ).fetchone()
        if row is not None:
            assert row[0] is (kind in copy_view._FIXED_WIDTH), kind


def test_a_copy_in_another_order_of_columns_is_not_read(
    asked: _Asked, owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an earlier release printed it: its view is not what is printed now."""
    dsn = owner_dsn(servers(), "copies")
    with monkeypatch.context() as patch:
        patch.setattr(copy_view, "_FIXED_WIDTH", frozenset())
        other = script(dsn)
    assert other != script(dsn)
    run_script(dsn, other)
    asked.row(_COUNT)
    assert not asked.is_of_copy()
    run_script(dsn, script(dsn))
    asked.row(_COUNT)
    assert asked.is_of_copy()


def test_answers_of_the_copy_and_of_the_table_are_kept_apart(proxy: LiveProxy) -> None:
    asked = _Asked(proxy, "copies_kept")
    statement = "SELECT count(*) FROM c.sales WHERE paid > 3"

    def spent(text: str = statement) -> float:
        before = proxy.spent()[1]
        asked.row(text)
        return proxy.spent()[1] - before

    assert spent() == 100 and asked.is_of_copy()
    assert spent() == 0 and asked.is_of_copy()
    asked.connection.execute("SET dp.prepared = off")
    assert spent() == 100 and not asked.is_of_copy()
    asked.connection.execute("SET dp.prepared = on")
    assert spent() == 0
    dsn = owner_dsn(proxy.servers, "copies_kept")
    run_script(dsn, script(dsn))
    asked.row(_COUNT)  # finds the refresh
    assert spent() == 100 and asked.is_of_copy()
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute(_OLD.encode())
    asked.row("SELECT count(*) FROM c.sales WHERE paid > 4")
    assert spent() == 0 and not asked.is_of_copy()
    asked.connection.close()


def test_the_command_prints_what_the_owner_runs(
    proxy: LiveProxy,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dsn, file = owner_dsn(proxy.servers, "copies"), tmp_path / "c.yaml"
    file.write_text(policy_head("copies", "best", "100") + _TABLES, encoding="utf-8")
    monkeypatch.setenv("DSN", make_conninfo(dsn, user=READER, password=READER_PASSWORD))
    for rows in (None, 7):
        prepare(file, None, rows)
        assert capsys.readouterr().out.strip() == script(dsn, rows or 10).strip()
    with pytest.raises(CliError, match="prepared"):
        prepare(file, "c.kinds", None)
