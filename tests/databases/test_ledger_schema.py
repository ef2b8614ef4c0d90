"""The ledger's schema, made new or brought from an earlier version, is one; nothing spent is forgotten."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.ledger.ledger_reports import ledger_problems
from proxy.ledger.ledger_schema import (
    OLDEST,
    OLDEST_COMMIT,
    LedgerTooNew,
    LedgerTooOld,
    bring_to_newest,
    schema_steps,
)
from tests.databases.ledger_database import make_ledger, rows, set_limits, with_ledger
from tests.databases.ledger_histories import pure
from tests.ledger_of_before import make_as_of_10
from tests.servers_fixture import Servers

_CHECKOUT = Path(__file__).parents[2]
_OBJECTS = """\
SELECT 'function', p.oid::regprocedure::text, pg_get_functiondef(p.oid) FROM pg_proc p
WHERE pronamespace = 'ledger'::regnamespace
UNION ALL SELECT 'column', a.attrelid::regclass::text, concat_ws(' ', a.attname,
    format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attidentity)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relnamespace = 'ledger'::regnamespace
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind <> 'i'
UNION ALL SELECT 'constraint', conrelid::regclass::text, conname || pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'ledger'::regnamespace
UNION ALL SELECT 'trigger', tgrelid::regclass::text, pg_get_triggerdef(t.oid)
FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid AND relnamespace = 'ledger'::regnamespace
WHERE NOT tgisinternal
UNION ALL SELECT 'index', tablename, indexdef FROM pg_indexes WHERE schemaname = 'ledger'
UNION ALL SELECT 'view', viewname, definition FROM pg_views WHERE schemaname = 'ledger'
ORDER BY 1, 2, 3"""


@pytest.fixture
def other_dsn(pair: Servers) -> Iterator[str]:
    """An empty database."""
    with psycopg.connect(pair.ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE other_ledger")
        try:
            yield make_conninfo(pair.ledger_dsn, dbname="other_ledger")
        finally:
            server.execute("DROP DATABASE other_ledger WITH (FORCE)")


def _charged(dsn: str, times: int) -> None:
    set_limits(dsn, own="10", total="20")
    loss, events = pure(Fraction(1, 2))
    for _ in range(times):
        with_ledger(dsn, lambda one: one.reserve("a", loss, "f", "p", events))


def test_it_is_made_once_and_never_goes_back(ledger_dsn: str) -> None:
    _charged(ledger_dsn, 2)
    before = rows(ledger_dsn, _OBJECTS), rows(ledger_dsn, "SELECT r::text FROM ledger.receipt r")
    version = bring_to_newest(ledger_dsn)
    assert version == max(schema_steps())
    assert bring_to_newest(ledger_dsn) == version
    assert before == (
        rows(ledger_dsn, _OBJECTS),
        rows(ledger_dsn, "SELECT r::text FROM ledger.receipt r"),
    )
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("INSERT INTO ledger.migration (version) VALUES (%s)", (version + 1,))
    with pytest.raises(LedgerTooNew, match="newer dpproxy"):
        bring_to_newest(ledger_dsn)


def test_each_step_from_the_oldest_on_gives_what_a_new_ledger_has(
    ledger_dsn: str, other_dsn: str
) -> None:
    make_ledger(other_dsn)
    _charged(other_dsn, 3)
    make_as_of_10(other_dsn)
    assert rows(other_dsn, _OBJECTS) != rows(ledger_dsn, _OBJECTS)
    assert bring_to_newest(other_dsn) == max(schema_steps())
    assert rows(other_dsn, _OBJECTS) == rows(ledger_dsn, _OBJECTS)
    spent = (
        "SELECT sum(epsilon) FROM ledger.receipt UNION ALL SELECT max(epsilon) FROM ledger.balance"
    )
    assert rows(other_dsn, spent) == [(1.5,), (1.5,)]
    assert ledger_problems(other_dsn) == ()


def test_an_older_one_is_refused_with_what_brings_it_over(ledger_dsn: str) -> None:
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("DELETE FROM ledger.migration WHERE version >= %s", (OLDEST,))
    with pytest.raises(
        LedgerTooOld, match=f"serve it once with the version of commit {OLDEST_COMMIT}"
    ):
        bring_to_newest(ledger_dsn)
    assert rows(ledger_dsn, "SELECT max(version) FROM ledger.migration") == [(OLDEST - 1,)]


def _of_history(path: str) -> str:
    done = subprocess.run(
        ["git", "show", f"{OLDEST_COMMIT}:{path}"],
        cwd=_CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"no commit {OLDEST_COMMIT} in this checkout")
    return done.stdout


def test_nothing_is_forgotten_of_a_ledger_that_the_oldest_wrote(
    ledger_dsn: str, other_dsn: str
) -> None:
    """By that commit's own SQL: charges, a limit of a group, an adjustment; then by today's."""
    folder = "proxy/ledger/ledger_migrations/"
    listed = [line for line in _of_history(folder).splitlines() if line.endswith(".sql")]
    assert len(listed) == OLDEST
    with psycopg.connect(other_dsn, autocommit=True) as connection:
        connection.execute("SET search_path = pg_catalog")
        connection.execute("CREATE SCHEMA ledger")
        connection.execute(
            "CREATE TABLE ledger.migration (version integer PRIMARY KEY,"
            " at timestamptz NOT NULL DEFAULT transaction_timestamp())"
        )
        for number, name in enumerate(sorted(listed), start=1):
            connection.execute(_of_history(f"{folder}{name}").encode())
            connection.execute("INSERT INTO ledger.migration (version) VALUES (%s)", (number,))
        connection.execute("INSERT INTO ledger.source (name, is_bound) VALUES ('data', true)")
        connection.execute(
            "INSERT INTO ledger.allowance (source, kind, analyst, epsilon, delta, period) VALUES"
            " (1, 'total', '', 20, 0.5, 'none'), (1, 'default', '', 10, 0.5, 'month')"
        )
        for _ in range(3):
            connection.execute(
                "SELECT ledger.reserve_at(1, 'a', 1.5, 0.001, '[]', 'f', 'p', now(), '{}')"
            )
        connection.execute(
            "SELECT ledger.adjust_at(1, 'analyst', 'a', -0.5, 0, 'a reason', 'an operator', now())"
        )
    balances = "SELECT kind, analyst, epsilon, delta, rho FROM ledger.balance ORDER BY 1, 2"
    receipts = "SELECT id, at, epsilon, delta, place, digest FROM ledger.receipt ORDER BY 1"
    before = rows(other_dsn, balances), rows(other_dsn, receipts)
    assert [row[2] for row in before[0]] == [4, 4.5]
    bring_to_newest(other_dsn)
    assert (rows(other_dsn, balances), rows(other_dsn, receipts)) == before
    assert rows(other_dsn, _OBJECTS) == rows(ledger_dsn, _OBJECTS)
    assert ledger_problems(other_dsn) == ()
    loss, events = pure(Fraction(11, 2))
    assert with_ledger(other_dsn, lambda one: one.reserve("a", loss, "f", "p", events)).id == 4
