"""What the benchmark measures: a protected server with its tables, a shadow, and the proxy in a process of
its own, as in production."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

import psycopg
import structlog
import uvloop
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.catalog.catalog_model import Catalog
from proxy.cli.assembly import assemble
from proxy.cli.served_databases import Assembly
from proxy.compiler.copy_view import copy_script, copy_select, printed_digest
from proxy.ledger.ledger_home import embedded_ledger
from proxy.ledger.ledger_lease import BudgetLease
from proxy.ledger.ledger_sources import Identity, adopt_new
from proxy.ledger.users import add_analyst, verifiers
from proxy.policy.policy_model import Policy
from proxy.postgres.embedded import EmbeddedPostgres, start_together
from proxy.protected.catalog_reader import read_catalog
from proxy.shadow.shadow_database import Shadow
from proxy.shadow.shadow_roles import match_roles
from tests.bench.policies import READER, READER_PASSWORD, served
from tests.bench.stages import StageRecorder
from tests.ledger_key import LEDGER_CIPHER
from tests.unjudged_rows import unjudged

_DATABASE = "bench"
ANALYSTS, _PASSWORD = ("analyst", "another", "third", "fourth"), "analyst's password"
_SETTINGS = {"shared_buffers": "1GB", "max_wal_size": "4GB", "maintenance_work_mem": "512MB"}
_GROWING_ROWS = 1_000_000
_MANY = {"max_connections": "300"}
_SCRIPTS = files("tests.bench")

_Way = tuple[str, str, tuple[str, int]]


class Policies(Protocol):
    def __call__(
        self, source: str, catalog: Catalog, *, scale: bool
    ) -> Mapping[str, tuple[Policy, Catalog]]: ...


Served = Mapping[str, tuple[Policy, Catalog, _Way, str, int]]


@dataclass(frozen=True)
class Servers:
    source: str
    shadow_address: tuple[str, int]
    proxy_address: tuple[str, int]
    proxy_pid: int
    version: str
    ledger: str

    def plain(self) -> psycopg.Connection:
        """Straight to the data, as an analyst without the proxy."""
        return psycopg.connect(self.source, autocommit=True)

    def proxied(self, database: str) -> psycopg.Connection:
        return self._as_analyst(self.proxy_address, database)

    def shadow(self, database: str) -> psycopg.Connection:
        """Straight to the shadow: what the relay stands in front of."""
        return self._as_analyst(self.shadow_address, database)

    def proxy_memory(self) -> int | None:
        """The most that the proxy's process has held so far, in MB, where the system tells."""
        status = Path(f"/proc/{self.proxy_pid}/status")
        if not status.is_file():
            return None
        (peak,) = re.findall(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE)
        return int(peak) // 1024

    def analyst_dsn(
        self, address: tuple[str, int], database: str, analyst: str = ANALYSTS[0]
    ) -> str:
        host, port = address
        return make_conninfo(
            host=host, port=port, user=analyst, password=_PASSWORD, dbname=database
        )

    def _as_analyst(self, address: tuple[str, int], database: str) -> psycopg.Connection:
        return psycopg.connect(self.analyst_dsn(address, database), autocommit=True)


@contextmanager
def servers(
    state: Path,
    pg_bin: Path | None,
    small_rows: int,
    large_rows: int,
    *,
    scale: bool,
    stages: Path | None = None,
    policies: Policies = served,
) -> Iterator[Servers]:
    """
    Given    state: where the protected server stays for the next run; scale: whether all databases of the large
             table are served; stages: of each statement are written there in the end; policies: what is served
    """
    name = f"protected-with-times-{small_rows}-{large_rows}" + ("-other" if pg_bin else "")
    protected = EmbeddedPostgres(state, name, pg_bin=pg_bin, durable=False, settings=_SETTINGS)
    with tempfile.TemporaryDirectory(prefix="dpproxy-bench-") as temporary:
        shadow_server = EmbeddedPostgres(
            Path(temporary), "shadow", pg_bin=pg_bin, disposable=True, settings=_MANY
        )
        ledger_server = EmbeddedPostgres(Path(temporary), "ledger", tcp=False)
        start_together([protected, shadow_server, ledger_server])
        try:
            source = protected.dsn(_DATABASE)
            _load(protected.dsn(), source, small_rows, large_rows)
            ledger = embedded_ledger(ledger_server)
            asked = policies(source, read_catalog(source), scale=scale)
            given = {name: with_copies(source, *one) for name, one in asked.items()}
            found = _shadows(shadow_server, ledger, given)
            with psycopg.connect(source) as connection:
                version = connection.execute("SHOW server_version").fetchone()
            assert version is not None
            with _proxy(found, stages) as (address, pid):
                yield Servers(source, shadow_server.address, address, pid, version[0], ledger)
        finally:
            protected.stop()
            shadow_server.stop()
            ledger_server.stop()


def _load(server: str, source: str, small_rows: int, large_rows: int) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        known = connection.execute("SELECT FROM pg_database WHERE datname = %s", (_DATABASE,))
        if known.fetchone() is None:
            connection.execute(f"CREATE DATABASE {_DATABASE}")
        if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (READER,)).rowcount == 0:
            role = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
            connection.execute(role.format(sql.Identifier(READER), sql.Literal(READER_PASSWORD)))
    with psycopg.connect(source) as connection:  # one transaction: all of it or nothing
        if not _is_there(connection, "bench.people"):
            _run(connection, "small.sql", small_rows)
            print(f"making {large_rows:,} rows in {connection.info.dbname}, once ...", flush=True)
            _run(connection, "large.sql", large_rows)
        if not _is_there(connection, "bench.growing"):
            _run(connection, "growing.sql", min(large_rows, _GROWING_ROWS))
        elif _is_there(connection, "bench.events_of_user_country"):
            return
        _run(connection, "large_indexes.sql", large_rows)
    with psycopg.connect(source, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = on")  # as where copies are made
        connection.execute("VACUUM (ANALYZE)")  # index-only scans need the visibility map


def with_copies(owner: str, policy: Policy, catalog: Catalog) -> tuple[Policy, Catalog]:
    """Make the prepared copies that a policy names, unless they are there as they are printed.

    Returns:
        The policy, and the catalogue as its role sees it, with bounds of copies.
    """
    tables = [table for table in policy.protected() if table.prepared is not None]
    if not tables:
        return policy, catalog
    with psycopg.connect(owner, autocommit=True) as connection:
        # Else VACUUM finds rows whose commit is not written yet, and index-only scans look them up.
        connection.execute("SET synchronous_commit = on")
        for table in tables:
            assert table.prepared is not None and table.max_rows_per_unit is not None
            rows = table.max_rows_per_unit
            script, select = (
                copy_script(table, catalog, rows, READER),
                copy_select(table, catalog, rows),
            )
            assert script is not None and select is not None, f"no copy of {table.name} can be made"
            view = sql.Identifier(*table.prepared.view).as_string(None)
            (made_of,) = connection.execute(_COMMENT, (view,)).fetchone() or ("",)
            if printed_digest(select) not in made_of:
                print(f"making the prepared copy of {table.name}, once ...", flush=True)
                whole, _, vacuum = script.partition("COMMIT;\n")
                connection.execute(f"{whole}COMMIT".encode())
                connection.execute(vacuum.encode())
            schema, reader = sql.Identifier(table.name.schema), sql.Identifier(READER)
            connection.execute(_GRANT.format(schema=schema, reader=reader))
    return policy, read_catalog(policy.source)


_COMMENT = "SELECT coalesce(obj_description(to_regclass(%s), 'pg_class'), '')"
_GRANT = sql.SQL(
    "GRANT USAGE ON SCHEMA {schema} TO {reader}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}"
)


def _is_there(connection: psycopg.Connection, relation: str) -> bool:
    """Whether it was kept from an earlier run."""
    row = connection.execute("SELECT to_regclass(%s)", (relation,)).fetchone()
    return row is not None and row[0] is not None


def _run(connection: psycopg.Connection, script: str, rows: int) -> None:
    text = _SCRIPTS.joinpath(script).read_text(encoding="utf-8")
    connection.execute(text.replace("{rows}", str(rows)).encode())


def _shadows(
    server: EmbeddedPostgres, ledger: str, given: Mapping[str, tuple[Policy, Catalog]]
) -> Served:
    found = {}
    for database, (policy, catalog) in given.items():
        way = server.dsn(), database, server.address  # a shadow cannot be handed to another process
        Shadow(*way).build(policy, catalog, unjudged(policy))
        identity = Identity("bench", database)
        found[database] = (
            policy,
            catalog,
            way,
            ledger,
            adopt_new(ledger, identity, database).id,
        )
    for analyst in ANALYSTS:
        add_analyst(ledger, analyst, _PASSWORD)
    match_roles(server.dsn(), list(found), verifiers(ledger))
    return found


@contextmanager
def _proxy(found: Served, stages: Path | None) -> Iterator[tuple[tuple[str, int], int]]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(found, theirs, stages), daemon=True)
    process.start()
    theirs.close()
    try:
        assert process.pid is not None
        yield ours.recv(), process.pid
    finally:
        ours.close()  # its end is the signal to stop
        process.join(60)
        if process.is_alive():
            process.kill()


def _serve(found: Served, pipe: Connection, stages: Path | None) -> None:
    quiet = structlog.make_filtering_bound_logger(logging.WARNING)
    structlog.configure(wrapper_class=quiet)  # the table is what is to be read
    recorder = None if stages is None else StageRecorder()
    uvloop.run(_serving(found, pipe))
    if recorder is not None and stages is not None:
        recorder.write(stages)


def _built(policy: Policy, way: _Way) -> Shadow:
    """A shadow that was built by another process, with its right to the public rows."""
    shadow = Shadow(*way)
    shadow.rows = unjudged(policy)
    return shadow


async def _serving(found: Served, pipe: Connection) -> None:
    assembly = Assembly(
        [
            assemble(
                policy,
                catalog,
                _built(policy, way),
                BudgetLease(ledger, source, policy),
                LEDGER_CIPHER,
            )
            for policy, catalog, way, ledger, source in found.values()
        ]
    )
    await assembly.open()
    server = assembly.wire_server()
    await server.start("127.0.0.1", 0)
    pipe.send(server.address)
    await asyncio.get_running_loop().run_in_executor(None, pipe.poll, None)
    await server.stop(grace_seconds=1.0)
    await assembly.close()
