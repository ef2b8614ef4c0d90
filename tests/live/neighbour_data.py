"""The data of the hostile and of the public corpus, three times: with a person, without, with once more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psycopg
from psycopg.conninfo import make_conninfo

from tests.live import attacks, public_data
from tests.live.served_database import served_database
from tests.live_proxy import start_proxy
from tests.servers.http.both_listeners import BothListeners, open_http
from tests.servers_fixture import servers

PERSON = 4242
WITH, WITHOUT, AGAIN = SIDES = ("with", "without", "again")
LAB, PUBLIC = "lab", "public"

_TABLES = """\
SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"""
_LEAVES_THE_LAB = "".join(
    f"DELETE FROM {table} WHERE user_id = {PERSON};" for table in ("adult", "visits", "salaries")
)
# Whom the statements are after, where they are after somebody.
_CUSTOMER = "SELECT customer_id FROM chinook.invoice WHERE invoice_id = 37"
_LEAVE_THE_PUBLIC_DATA = f"""\
DELETE FROM census.adult WHERE person_id = {PERSON};
DELETE FROM census.pums WHERE ctid = (SELECT min(ctid) FROM census.pums);
DELETE FROM census.pums_pid WHERE pid = 42;
DELETE FROM census.pums_dup WHERE pid = 42;
DELETE FROM census.pums_null WHERE pid = 42;
DELETE FROM shop.orders WHERE user_id = 1;
DELETE FROM shop.people WHERE id = 1;
DELETE FROM shop.reviews WHERE reviewer = (SELECT reviewer FROM shop.reviews WHERE id = 1);
CREATE TEMPORARY TABLE one AS {_CUSTOMER};
DELETE FROM chinook.invoice_line l USING chinook.invoice i, one
    WHERE l.invoice_id = i.invoice_id AND i.customer_id = one.customer_id;
DELETE FROM chinook.invoice i USING one WHERE i.customer_id = one.customer_id;
DELETE FROM chinook.customer c USING one WHERE c.customer_id = one.customer_id;
"""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """One proxy before all of them. prefix: of the databases' names."""

    listeners: BothListeners
    prefix: str
    data: tuple[str, ...]

    def name(self, data: str, side: str) -> str:
        return f"{self.prefix}_{data}_{side}"


@contextmanager
def neighbours(prefix: str, data: tuple[str, ...]) -> Iterator[Neighbours]:
    databases = []
    pair = servers()
    for one in data:
        for side in SIDES:
            name = f"{prefix}_{one}_{side}"
            if one == LAB:
                script, tables, mechanism = attacks.script(), attacks.TABLES, "smooth_median"
            else:
                script, tables = public_data.script(), public_data.policy_tables()
                mechanism = "best"
            databases.append(
                served_database(pair, name, script, tables, mechanism, _filler(name, one, side))
            )
    proxy = start_proxy(pair, databases)
    listeners = open_http(proxy)
    try:
        yield Neighbours(listeners, prefix, data)
    finally:
        listeners.close()
        proxy.stop()


def _filler(name: str, data: str, side: str) -> Callable[[], None]:
    protected = servers().protected

    def fill() -> None:
        if data == PUBLIC:
            public_data.load(protected, name)
        leaves = {LAB: _LEAVES_THE_LAB, PUBLIC: _LEAVE_THE_PUBLIC_DATA}[data]
        dsn = make_conninfo(protected.dsn(), dbname=name)
        with psycopg.connect(dsn, autocommit=True) as connection:
            if side == WITHOUT:
                connection.execute(leaves.encode())
            # What was deleted or updated leaves no gap that takes time to read over.
            tables = connection.execute(_TABLES).fetchall()
            connection.execute(
                f"VACUUM (FULL, ANALYZE) {', '.join(name for (name,) in tables)}".encode()
            )

    return fill


@contextmanager
def synthetic(of: Neighbours, on_her_row: str) -> Iterator[None]:
    """Something that is evaluated on the person's row of the hostile corpus alone, as a leak would be."""
    with ExitStack() as stack:
        for side in SIDES:
            dsn = make_conninfo(servers().protected.dsn(), dbname=of.name(LAB, side))
            connection = stack.enter_context(psycopg.connect(dsn, autocommit=True))
            condition = (
                f"CASE WHEN user_id = {PERSON} THEN ({on_her_row}) IS NOT NULL ELSE true END"
            )
            connection.execute(f"CREATE POLICY planted ON adult USING ({condition})".encode())
            connection.execute("ALTER TABLE adult ENABLE ROW LEVEL SECURITY")
            stack.callback(connection.execute, "ALTER TABLE adult DISABLE ROW LEVEL SECURITY")
            stack.callback(connection.execute, "DROP POLICY planted ON adult")
        yield
