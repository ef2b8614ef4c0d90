"""The owner changes a prepared copy: between statements, while one waits for a lock, and while one is charged.

No answer is of more than the copy, or the table, may have of a person. What is charged is answered, or fails
with one text. After that the copy is read if it is one, or else the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import psycopg
import pytest
from psycopg.errors import Diagnostic

from tests.live.served_database import READER, served_database
from tests.live.test_answers_of_copies import _SCRIPT, _TABLES, owner_dsn, run_script, script
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers
from tests.waiting import until

_NAME = "copies_changed"
_SECRET = 987654321  # a value that no text may have
_MOST = (3_000, 300_000, 300_000)  # rows of 300 buyers with 10 each, and their clamped values
_SLACK = (100, 5_000, 5_000)  # noise at epsilon 100 and more

# A schema with a table and a view of the copy's names. The table has 100,000 rows of buyer 1.
_OTHER = f"""\
DROP SCHEMA IF EXISTS other, was CASCADE;
CREATE SCHEMA other;
CREATE TABLE other.sales AS SELECT 1 AS buyer, 1 + n % 10 AS slot, {_SECRET} AS paid, 10000 AS price_i,
    'a'::text AS kind, {_SECRET}.00::numeric(14,2) AS price FROM generate_series(1, 100000) n;
CREATE VIEW other.sales_source AS SELECT * FROM other.sales;
CREATE TABLE other.prepared AS TABLE dp.prepared;
GRANT USAGE ON SCHEMA other TO {READER};
GRANT SELECT ON ALL TABLES IN SCHEMA other TO {READER};
"""
_MADE_AGAIN = "DROP SCHEMA IF EXISTS dp, other, was CASCADE;"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """sql: What the owner does; empty: a refresh. is_read: whether the copy is read after it. fails: whether a
    statement fails that was to read the copy, since the owner waits for no lock of it."""

    sql: str
    is_read: bool = False
    fails: bool = False


_HEAVY = f"""\
ALTER TABLE dp.sales DROP CONSTRAINT slot_is_bounded;
INSERT INTO dp.sales (buyer, slot, kind, paid, price, price_i)
    SELECT 1, 1000 + n, 'a', {_SECRET}, 9, 10000 FROM generate_series(1, 50000) n;"""
_UNDER_ITS_NAME = """\
ALTER TABLE dp.sales RENAME TO was;
ALTER TABLE other.sales SET SCHEMA dp;
COMMENT ON TABLE dp.sales IS 'dpproxy prepare';"""
_CHANGES = {
    "refreshed": _Change(sql="", is_read=True),
    "filled with other rows": _Change(
        sql=f"UPDATE dp.sales SET paid = {_SECRET}, price_i = 2000000000, kind = 'a' WHERE buyer < 20;"
        f" UPDATE dp.sales SET paid = -{_SECRET}, price_i = -2000000000 WHERE buyer > 290",
        is_read=True,
    ),
    "rows of one buyer": _Change(
        sql="DELETE FROM dp.sales; INSERT INTO dp.sales (buyer, slot, kind, paid, price_i)"
        f" SELECT 1, n, 'a', {_SECRET}, 1 FROM generate_series(1, 10) n",
        is_read=True,
    ),
    "emptied": _Change(sql="TRUNCATE dp.sales", is_read=True),
    "too many rows": _Change(sql=_HEAVY),
    "key dropped": _Change(
        sql="ALTER TABLE dp.sales DROP CONSTRAINT sales_new_pkey;"
        f" INSERT INTO dp.sales (buyer, slot, kind, paid, price_i)"
        f" SELECT 1, 1, 'a', {_SECRET}, 10000 FROM generate_series(1, 50000) n"
    ),
    "dropped": _Change(sql="DROP TABLE dp.sales"),
    "renamed": _Change(sql="ALTER TABLE dp.sales RENAME TO was"),
    "another under its name": _Change(sql=_UNDER_ITS_NAME),
    "another with its comments": _Change(
        sql=f"DROP VIEW dp.sales_source; {_UNDER_ITS_NAME}"
        "ALTER TABLE dp.was RENAME CONSTRAINT slot_is_bounded TO was_bounded;"
        "ALTER TABLE dp.sales ADD CONSTRAINT slot_is_bounded CHECK (slot >= 1 AND slot <= 10);"
    ),
    "view with its comment": _Change(
        sql="ALTER VIEW dp.sales_source RENAME TO was_source;"
        "CREATE VIEW dp.sales_source AS SELECT * FROM dp.sales;"
        "DO $$ BEGIN EXECUTE format('COMMENT ON VIEW dp.sales_source IS %L',"
        " obj_description('dp.was_source'::regclass, 'pg_class')); END $$"
    ),
    "owner": _Change(sql=f"ALTER TABLE dp.sales OWNER TO {READER}"),
    "schema of another owner": _Change(sql=f"ALTER SCHEMA dp OWNER TO {READER}", is_read=True),
    "columns exchanged": _Change(
        sql="ALTER TABLE dp.sales RENAME paid TO x; ALTER TABLE dp.sales RENAME price_i TO paid;"
        "ALTER TABLE dp.sales RENAME x TO price_i",
        is_read=True,
    ),
    "types": _Change(sql="ALTER TABLE dp.sales ALTER paid TYPE numeric"),
    "times": _Change(sql="UPDATE dp.prepared SET as_of = as_of - interval '2 h'"),
    "times gone": _Change(sql="DROP TABLE dp.prepared"),
    "grants": _Change(sql=f"REVOKE ALL ON dp.sales FROM {READER}", fails=True),
    "schema exchanged": _Change(
        sql="ALTER SCHEMA dp RENAME TO was; ALTER SCHEMA other RENAME TO dp", fails=True
    ),
    "schema gone": _Change(sql="ALTER SCHEMA dp RENAME TO was", fails=True),
    "other schema, and back": _Change(
        sql="ALTER SCHEMA dp RENAME TO was; ALTER SCHEMA other RENAME TO dp;"
        "ALTER SCHEMA dp RENAME TO other; ALTER SCHEMA was RENAME TO dp",
        is_read=True,
    ),
}
# The number makes a question of its own: an answer that is paid is given again after an error.
_STATEMENTS = (
    "SELECT count(*), sum(paid), sum(price) FROM c.sales WHERE paid > -{}",
    "SELECT count(*), sum(paid), sum(price) FROM c.sales WHERE kind = 'a' AND paid > -{}",
    "SELECT avg(paid) FROM c.sales WHERE paid > -{}",
    "SELECT count(*), sum(paid) FROM c.kinds JOIN c.sales USING (kind) WHERE paid > -{}",
)
_CHARGED = "the statement could not be run\nHINT:  What it cost stays charged: receipt "
_NOT_CHARGED = "Nothing was charged"


def _refresh() -> None:
    dsn = owner_dsn(servers(), _NAME)
    run_script(dsn, script(dsn))


@pytest.fixture(scope="module")
def changing() -> Iterator[LiveProxy]:
    pair = servers()
    served = served_database(pair, _NAME, _SCRIPT, _TABLES, "best", _refresh, "100")
    proxy = start_proxy(pair, [served])
    yield proxy
    proxy.stop()


@pytest.fixture
def owner(changing: LiveProxy) -> Iterator[psycopg.Connection]:
    with psycopg.connect(owner_dsn(changing.servers, _NAME), autocommit=True) as connection:
        connection.execute(_OTHER.encode())
        yield connection
        connection.execute(_MADE_AGAIN.encode())
    _refresh()


@dataclass(slots=True)
class _Analyst:
    """texts: of the last statement. is_refused: whether it was."""

    proxy: LiveProxy
    connection: psycopg.Connection
    texts: list[str]
    is_refused: bool = False

    def tell(self, notice: Diagnostic) -> None:
        self.texts.append(f"{notice.message_primary} {notice.message_detail}")

    def ask(self, statement: str) -> bool:
        """In a transaction that goes on. Says whether the answer is of the copy."""
        self.texts.clear()
        before, row, is_charged = self.receipts(), None, True
        try:
            with self.connection.transaction():
                row = self.connection.execute(statement.encode()).fetchone()
        except psycopg.Error as error:
            is_charged = _CHARGED in str(error)
            assert is_charged or _NOT_CHARGED in str(error), error
            self.texts += [str(error), str(error.diag.message_detail), str(error.diag.context)]
        self.is_refused = row is None
        assert self.receipts() == before + is_charged, (statement, self.texts)
        assert not [one for one in self.texts if str(_SECRET) in one], self.texts
        for number, most, slack in zip(row or (), _MOST, _SLACK, strict=False):
            assert -slack <= float(str(number or 0)) <= most + slack, (statement, row)
        return any("prepared copy, as of" in one for one in self.texts)

    def receipts(self) -> int:
        return self.proxy.spent()[0]


@contextmanager
def _charging(proxy: LiveProxy) -> Iterator[str]:
    """Charges wait, after the look at the copy. Gives where they do."""
    proxy.when_settled(proxy.analyst)
    dsn = proxy.assembly.databases[_NAME].lease.ledger_dsn
    with psycopg.connect(dsn) as ledger:
        ledger.execute("LOCK TABLE ledger.receipt IN EXCLUSIVE MODE")
        yield dsn


@contextmanager
def _waiting(proxy: LiveProxy) -> Iterator[str]:
    """Statements on the public table wait, after the look at the copy."""
    dsn = owner_dsn(proxy.servers, _NAME)
    with psycopg.connect(dsn) as holder:
        holder.execute("LOCK TABLE c.kinds")
        yield dsn


_Hold = Callable[[LiveProxy], AbstractContextManager[str]]
_HOLDS: dict[str, _Hold | None] = {
    "between": None,
    "charging": _charging,
    "waiting": _waiting,
}


def _do(owner: psycopg.Connection, change: _Change) -> None:
    if change.sql:
        owner.execute(change.sql.encode())
    else:
        _refresh()


def _lock_waits(dsn: str) -> int:
    with psycopg.connect(dsn, autocommit=True) as looking:
        row = looking.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND wait_event_type = 'Lock'"
        ).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.every(66)
@pytest.mark.parametrize("hold", _HOLDS)
@pytest.mark.parametrize("name", _CHANGES)
def test_a_copy_that_is_changed_in_the_middle(
    name: str, hold: str, changing: LiveProxy, owner: psycopg.Connection
) -> None:
    change, holding = _CHANGES[name], _HOLDS[hold]
    source = owner_dsn(changing.servers, _NAME)
    with changing.connect(_NAME) as connection, ThreadPoolExecutor(2) as pool:
        analyst = _Analyst(changing, connection, [])
        connection.add_notice_handler(analyst.tell)
        connection.execute("SET dp.epsilon = 100; BEGIN")
        assert all(analyst.ask(one.format(1)) for one in _STATEMENTS)
        if holding is None:
            _do(owner, change)
        else:
            with holding(changing) as dsn:
                answered = pool.submit(analyst.ask, _STATEMENTS[-1].format(2))
                until(lambda: _lock_waits(dsn) == 1)
                changed = pool.submit(_do, owner, change)
                is_counted = dsn == source
                until(lambda: changed.done() or _lock_waits(source) > is_counted)
            assert answered.result(60) is not change.fails, analyst.texts
            assert analyst.is_refused is change.fails
            changed.result(60)
        for one in _STATEMENTS:
            assert analyst.ask(one.format(3)) is change.is_read, (one, analyst.texts)
            assert not analyst.is_refused
        connection.execute("ROLLBACK")


def test_a_look_waits_for_no_owner(changing: LiveProxy, owner: psycopg.Connection) -> None:
    """Who waits with a lock on a copy can be in the way of its owner, who has the times and wants the copy."""
    with changing.connect(_NAME) as connection:
        analyst = _Analyst(changing, connection, [])
        connection.add_notice_handler(analyst.tell)
        connection.execute("SET dp.epsilon = 100; BEGIN")
        for number, locked in enumerate(("dp.prepared", "dp.sales")):
            with owner.transaction():
                owner.execute(f"LOCK TABLE {locked}".encode())
                with ThreadPoolExecutor(1) as pool:
                    is_of_copy = pool.submit(analyst.ask, _STATEMENTS[0].format(4 + number)).result(
                        60
                    )
                assert not is_of_copy and not analyst.is_refused
                owner.execute(b"LOCK TABLE dp.sales, dp.prepared")
            assert analyst.ask(_STATEMENTS[0].format(6 + number)), analyst.texts
        connection.execute("ROLLBACK")
