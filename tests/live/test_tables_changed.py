"""The owner changes a table between two statements of a transaction, and while a statement waits for the table.

No answer is of more than a person's rows may count for, no text has a value of a row, and after the next look
nothing is asked that a plan cannot rely on any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.errors import Diagnostic

from tests.live.served_alone import served_alone
from tests.live.served_database import READER
from tests.live_proxy import LiveProxy
from tests.waiting import until

# 100 people with two rows each; person 7 has 1,000 more, with a value that no text may have.
_SECRET = 987654321
_TABLE = f"""\
DROP TABLE IF EXISTS c.stays CASCADE;
DROP VIEW IF EXISTS c.seen;
DROP DOMAIN IF EXISTS c.feeling;
DROP TYPE IF EXISTS c.mood, c.felt, c.tone;
CREATE TYPE c.tone AS ENUM ('low', 'high');
CREATE TYPE c.mood AS ENUM ('low', 'high', '{_SECRET}');
CREATE TABLE c.stays (id int PRIMARY KEY, person int NOT NULL, cost int NOT NULL, other int NOT NULL, kind text,
    mood c.mood, tone c.tone);
INSERT INTO c.stays SELECT n, 1 + n % 100, 1, 5, 'a', 'low', 'low' FROM generate_series(1, 200) n;
INSERT INTO c.stays SELECT 1000 + n, 7, {_SECRET}, {_SECRET}, '{_SECRET}', '{_SECRET}', 'high'
    FROM generate_series(1, 1000) n;
CREATE VIEW c.seen AS SELECT id, person, cost FROM c.stays;
"""
_SCRIPT = f"CREATE SCHEMA c; {_TABLE}"
_TABLES = """\
tables:
  c.stays:
    unit: {person: person}
    max_rows_per_unit: 2
    columns:
      cost: {bounds: [0, 10]}
      other: {bounds: [0, 10]}
      kind: {values: [a, b]}
      mood: {values: [low, high]}
      tone: {values: [low, high]}
  c.seen:
    unit: {person: person}
    max_rows_per_unit: 2
    columns: {cost: {bounds: [0, 10]}}
"""
changing = served_alone("changing", _SCRIPT, _TABLES, "best", "100")
_CAP = 2 * 100  # rows that count
_SLACK = 15  # noise at epsilon 100 and more of rows, and of sums


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """sql: What the owner does. closes: of c.stays and c.seen, which are not asked after the next look.
    waiting: what waits for the owner's lock."""

    sql: str
    closes: tuple[str, ...] = ()
    waiting: str = "SELECT count(*), sum(cost), sum(other) FROM c.stays"


_MORE = (
    f"SELECT 5000 + n, 7, {_SECRET}, {_SECRET}, 'a', 'low', 'low' FROM generate_series(1, 500) n"
)
_BY_MOOD = "SELECT mood, count(*), sum(cost) FROM c.stays GROUP BY mood"
_OF_MOOD = "SELECT count(*), sum(cost) FROM c.stays WHERE mood < 'high'"
_BY_TONE = "SELECT tone, count(*), sum(cost) FROM c.stays WHERE tone < 'high' GROUP BY tone"
_BOTH = ("c.stays", "c.seen")  # as where the policy does not fit any more
_RETYPED = "ALTER TABLE c.stays ALTER mood TYPE"
_CHANGES = {
    "type": _Change(sql="ALTER TABLE c.stays ALTER other TYPE bigint", closes=("c.stays",)),
    "type of texts": _Change(
        sql="ALTER TABLE c.stays ALTER other TYPE text; UPDATE c.stays SET other = 'x' || other",
        closes=("c.stays",),
    ),
    "names exchanged": _Change(
        sql="ALTER TABLE c.stays RENAME cost TO c; ALTER TABLE c.stays RENAME other TO cost;"
        " ALTER TABLE c.stays RENAME c TO other",
        closes=("c.seen",),
    ),
    "column dropped": _Change(sql="ALTER TABLE c.stays DROP other", closes=("c.stays",)),
    "column made anew": _Change(
        sql=f"ALTER TABLE c.stays DROP other, ADD other int NOT NULL DEFAULT {_SECRET}"
    ),
    "key dropped": _Change(
        sql="ALTER TABLE c.stays DROP CONSTRAINT stays_pkey;"
        f" INSERT INTO c.stays SELECT 1, 7, {_SECRET}, 1, 'a', 'low', 'low' FROM generate_series(1, 500)",
        closes=("c.stays",),
    ),
    "null allowed": _Change(
        sql="ALTER TABLE c.stays ALTER cost DROP NOT NULL; UPDATE c.stays SET cost = NULL WHERE id > 1000",
        closes=("c.stays",),
    ),
    "row security": _Change(
        sql="ALTER TABLE c.stays ENABLE ROW LEVEL SECURITY;"
        " CREATE POLICY few ON c.stays USING (1 / (person - 7) < 2)",
        closes=_BOTH,
    ),
    "child": _Change(
        sql=f"CREATE TABLE c.child () INHERITS (c.stays); INSERT INTO c.child {_MORE};"
        f" GRANT SELECT ON c.child TO {READER}",
        closes=("c.stays",),
    ),
    "trigger": _Change(
        sql="CREATE TRIGGER t BEFORE UPDATE ON c.stays FOR EACH ROW"
        " EXECUTE FUNCTION suppress_redundant_updates_trigger()"
    ),
    "emptied": _Change(sql="TRUNCATE c.stays"),
    "rows": _Change(sql=f"INSERT INTO c.stays {_MORE}"),
    "view replaced": _Change(
        sql="CREATE OR REPLACE VIEW c.seen AS SELECT id, person, other AS cost FROM c.stays",
        closes=("c.seen",),
    ),
    "view of the caller": _Change(
        sql="ALTER VIEW c.seen SET (security_barrier)", closes=("c.seen",)
    ),
    "owner": _Change(sql=f"ALTER VIEW c.seen OWNER TO {READER}", closes=("c.seen",)),
    "grants": _Change(sql=f"REVOKE ALL ON c.stays, c.seen FROM {READER}", closes=_BOTH),
    "label added": _Change(
        sql=f"ALTER TYPE c.mood ADD VALUE 'x{_SECRET}' BEFORE 'low'", waiting=_BY_MOOD
    ),
    "listed label added": _Change(
        sql=f"ALTER TYPE c.tone ADD VALUE 'x{_SECRET}' BEFORE 'low'",
        waiting=_BY_TONE,
        closes=("c.stays",),
    ),
    "label renamed": _Change(
        sql=f"ALTER TYPE c.mood RENAME VALUE 'low' TO 'x{_SECRET}'",
        waiting=_BY_MOOD,
        closes=_BOTH,
    ),
    "listed label renamed": _Change(
        sql=f"ALTER TYPE c.tone RENAME VALUE 'low' TO 'x{_SECRET}'",
        waiting=_BY_TONE,
        closes=_BOTH,
    ),
    "label of a condition renamed": _Change(
        sql=f"ALTER TYPE c.mood RENAME VALUE 'high' TO 'x{_SECRET}'",
        waiting=_OF_MOOD,
        closes=_BOTH,
    ),
    "labels exchanged": _Change(
        sql="ALTER TYPE c.mood RENAME VALUE 'low' TO 'x'; ALTER TYPE c.mood RENAME VALUE 'high' TO 'low';"
        " ALTER TYPE c.mood RENAME VALUE 'x' TO 'high'",
        waiting=_BY_MOOD,
    ),
    "listed labels exchanged": _Change(
        sql="ALTER TYPE c.tone RENAME VALUE 'low' TO 'x'; ALTER TYPE c.tone RENAME VALUE 'high' TO 'low';"
        " ALTER TYPE c.tone RENAME VALUE 'x' TO 'high'",
        waiting=_BY_TONE,
        closes=("c.stays",),
    ),
    "label of many rows renamed": _Change(
        sql="ALTER TYPE c.mood RENAME VALUE 'low' TO 'x';"
        f" ALTER TYPE c.mood RENAME VALUE '{_SECRET}' TO 'low'",
        waiting=_BY_MOOD,
    ),
    "enumeration of texts": _Change(sql=f"{_RETYPED} text", waiting=_BY_MOOD, closes=("c.stays",)),
    "enumeration of texts and back": _Change(
        sql=f"{_RETYPED} text; UPDATE c.stays SET mood = 'low'; {_RETYPED} c.mood USING mood::c.mood",
        waiting=_OF_MOOD,
    ),
    "another enumeration": _Change(
        sql=f"CREATE TYPE c.felt AS ENUM ('high', 'low', '{_SECRET}');"
        f" {_RETYPED} c.felt USING mood::text::c.felt; UPDATE c.stays SET mood = 'low'",
        waiting=_OF_MOOD,
        closes=("c.stays",),
    ),
    "domain of the enumeration": _Change(
        sql=f"CREATE DOMAIN c.feeling AS c.mood CHECK (VALUE <> 'high'); {_RETYPED} c.feeling",
        waiting=_OF_MOOD,
    ),
    "enumeration renamed": _Change(
        sql="ALTER TYPE c.mood RENAME TO felt", waiting=_BY_MOOD, closes=("c.stays",)
    ),
    "another enumeration of the name": _Change(
        sql=f"ALTER TYPE c.mood RENAME TO felt; CREATE TYPE c.mood AS ENUM ('high', 'low', '{_SECRET}');"
        f" {_RETYPED} c.mood USING mood::text::c.mood",
        waiting=_OF_MOOD,
    ),
    "made again": _Change(sql=_TABLE + f"GRANT SELECT ON c.stays, c.seen TO {READER}"),
}
_STATEMENTS = (
    "SELECT count(*), sum(cost), sum(other) FROM c.stays",
    "SELECT kind, count(*), sum(other) FROM c.stays GROUP BY kind",
    "SELECT count(DISTINCT person), count(*), sum(cost) FROM c.stays WHERE other < 100",
    "SELECT count(*), sum(cost) FROM c.seen",
    _BY_MOOD,
    _OF_MOOD,
    _BY_TONE,
)
# Numbers of a statement are at most these: rows that count, and their clamped values.
_MOST = (_CAP, 10 * _CAP, 10 * _CAP)


@dataclass(slots=True)
class _Analyst:
    connection: psycopg.Connection
    texts: list[str]

    def ask(self, statement: str) -> list[tuple[object, ...]] | None:
        """In a transaction that goes on; None: it was refused, or failed."""
        try:
            with self.connection.transaction():
                rows = self.connection.execute(statement.encode()).fetchall()
        except psycopg.Error as error:
            self.texts += [str(error), str(error.diag.message_detail), str(error.diag.context)]
            assert error.sqlstate is not None, error
            return None
        for row in rows:
            for number, most in zip(
                [one for one in row if not isinstance(one, str)], _MOST, strict=False
            ):
                assert -_SLACK * 10 <= int(str(number or 0)) <= most + _SLACK * 10, (statement, row)
        return rows


@pytest.fixture
def owner(changing: LiveProxy) -> Iterator[psycopg.Connection]:
    dsn = make_conninfo(changing.servers.protected.dsn(), dbname="changing")
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection
        connection.execute(f"{_TABLE}GRANT SELECT ON c.stays, c.seen TO {READER}".encode())
    changing.assembly.databases["changing"].look_for_changes()


@pytest.mark.every(62)
@pytest.mark.parametrize("is_waiting", [False, True], ids=["between", "while"])
@pytest.mark.parametrize("name", _CHANGES)
def test_a_table_that_is_changed_in_the_middle(
    name: str, is_waiting: bool, changing: LiveProxy, owner: psycopg.Connection
) -> None:
    change = _CHANGES[name]
    database = changing.assembly.databases["changing"]
    with changing.connect("changing") as connection, ThreadPoolExecutor(1) as pool:
        analyst = _Analyst(connection, [])

        def tell(notice: Diagnostic) -> None:
            analyst.texts.append(f"{notice.message_primary} {notice.message_detail}")

        connection.add_notice_handler(tell)
        connection.execute("SET dp.epsilon = 100; BEGIN")
        connection.execute("PREPARE kept AS SELECT count(*), sum(cost) FROM c.stays")
        statements = (*_STATEMENTS, "EXECUTE kept")
        assert all(analyst.ask(one) for one in statements), analyst.texts
        if is_waiting:
            with owner.transaction():
                owner.execute("LOCK TABLE c.stays")
                owner.execute(change.sql.encode())
                asked = pool.submit(analyst.ask, change.waiting)
                until(lambda: _is_waited_for(changing))
            asked.result(60)
        else:
            owner.execute(change.sql.encode())
        for one in statements:
            analyst.ask(one)
        database.look_for_changes()
        charged = changing.when_settled(changing.analyst)
        for one in statements:
            closed = ("c.seen" if "c.seen" in one else "c.stays") in change.closes
            assert (analyst.ask(one) is None) is closed, (one, analyst.texts)
            if closed:
                assert changing.when_settled(changing.analyst) == charged, one
            charged = changing.when_settled(changing.analyst)
        connection.execute("ROLLBACK")
        assert not [one for one in analyst.texts if str(_SECRET) in one]


def _is_waited_for(changing: LiveProxy) -> bool:
    with psycopg.connect(changing.servers.protected.dsn(), autocommit=True) as looking:
        row = looking.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = 'changing' AND wait_event_type = 'Lock'"
        ).fetchone()
    return row is not None and row[0] > 0
