"""`dpproxy demo`: two embedded servers with invented data, both listeners, and lines to copy."""

from __future__ import annotations

import contextlib
import importlib
import os
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.cli.progress import working
from proxy.cli.proxy_servers import ProxyServers, servers_being_prepared
from proxy.cli.sample_policies import SamplePolicy, sample_policy
from proxy.cli.state import PROTECTED, claim_demo_folder
from proxy.cli.state_folder import state_folder
from proxy.ledger.ledger_sources import (
    Source,
    UnknownSource,
    adopt_as,
    adopt_new,
    find_source,
    read_identity,
)
from proxy.ledger.users import add_analyst, list_analysts, set_password
from proxy.postgres.embedded import EmbeddedPostgres

if TYPE_CHECKING:
    from proxy.cli.assembly import Database
    from proxy.cli.listen_addresses import ListenerPorts
    from proxy.cli.loading import CheckedPolicy
    from proxy.policy.policy_model import Policy

# The databases of the demo and the tests: the samples `census` (one table) and `shop` (three).

READER = "dp_reader"
DEMO_SAMPLES = ("census", "shop")


def make_demo_data(server_dsn: str) -> dict[str, str]:
    """
    Given    a superuser's DSN of the server to hold the data
    Gives    for each database the DSN of a role that may read it and do nothing else; databases that
             are already there are left as they are. The DSNs hold a password: never log them.
    """
    password = os.urandom(24).hex()
    with psycopg.connect(server_dsn, autocommit=True) as connection:
        there = {row[0] for row in connection.execute("SELECT datname FROM pg_database")}
        _make_reader(connection, password)
        for database in DEMO_SAMPLES:
            if database in there and not _is_complete(make_conninfo(server_dsn, dbname=database)):
                connection.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(database)))
                there.remove(database)
            if database not in there:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
    with ThreadPoolExecutor() as filling:  # PostgreSQL does the work
        for done in [
            filling.submit(
                _fill, make_conninfo(server_dsn, dbname=database), sample_policy(database)
            )
            for database in DEMO_SAMPLES
            if database not in there
        ]:
            done.result()
    return {
        database: make_conninfo(server_dsn, dbname=database, user=READER, password=password)
        for database in DEMO_SAMPLES
    }


def _is_complete(dsn: str) -> bool:
    """Schema and rows are made in one transaction: the schema is there or it is not."""
    with psycopg.connect(dsn) as connection:
        row = connection.execute(
            "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = current_database())"
        ).fetchone()
        return row is not None and bool(row[0])


def _fill(dsn: str, sample: SamplePolicy) -> None:
    with psycopg.connect(dsn) as connection:
        # VACUUM sets no page visible whose commit may not have reached the disk yet (PostgreSQL 17
        # documentation, section 28.4).
        connection.execute("SET LOCAL synchronous_commit = on")
        connection.execute(sample.schema.encode())
        connection.execute(sample.rows.encode())
        connection.execute(
            sql.SQL(
                "REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA {schema} TO {reader};"
                " GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}"
            ).format(schema=sql.Identifier(sample.name), reader=sql.Identifier(READER))
        )
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")  # index-only scans need the visibility map


def _make_reader(connection: psycopg.Connection, password: str) -> None:
    """A role as docs/design/sql.md 4 wants it: reads, owns nothing, its settings cannot be anybody else's."""
    reader = sql.Identifier(READER)
    known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (READER,)).fetchone()
    if known is None:
        connection.execute(sql.SQL("CREATE ROLE {}").format(reader))
    verifier = connection.pgconn.encrypt_password(
        password.encode(), READER.encode(), b"scram-sha-256"
    ).decode()
    connection.execute(
        sql.SQL(
            "ALTER ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
            " NOINHERIT PASSWORD {}"
        ).format(reader, sql.Literal(verifier))
    )
    for setting, value in (
        ("default_transaction_read_only", "on"),
        ("search_path", ""),
        ("temp_file_limit", "10GB"),
    ):
        connection.execute(
            sql.SQL("ALTER ROLE {} SET {} = {}").format(
                reader, sql.Identifier(setting), sql.Literal(value)
            )
        )


ANALYST = "analyst"
ADMINISTRATOR = "admin"
DATABASE = "shop"
_REVENUE = (
    "SELECT p.category, sum(o.total) AS revenue, dp.error(sum(o.total)) AS error_95"
    " FROM shop.orders o JOIN shop.products p ON p.id = o.product_id GROUP BY p.category ORDER BY 2 DESC"
)
QUESTION = (
    "SELECT state, count(*), dp.error(count(*)) AS error_95 FROM shop.customers GROUP BY state"
)
_REFUSED = "SELECT * FROM shop.orders"
_AGES = "SELECT round(avg(age), 1), max(age) FROM census.adult"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Demo:
    """policies: as they were read, of copies in the folder; environment: their sources; secret: of the
    administrator, whose file is `secrets`."""

    servers: ProxyServers
    databases: Sequence[Database]
    password: str
    policies: Sequence[CheckedPolicy]
    environment: Mapping[str, str] = field(repr=False)
    secret: str = field(repr=False)
    secrets: Path


@contextlib.contextmanager
def demo_databases(state: Path, say: Say) -> Iterator[Demo]:
    """
    Given    a folder, made if it is not there; what is in it is used again
    Gives    the demo's databases, ready to be served, their servers running until the end
    Refuses  Stopped where another demo runs in the folder, or no demo made it
    """
    state = state_folder(state)
    claim_demo_folder(state)  # before anything is said or made
    policies = [_own_policy(state, name) for name in DEMO_SAMPLES]
    protected = EmbeddedPostgres(state, PROTECTED, durable=False)  # invented data can be made again
    is_new = not protected.home.exists()
    with contextlib.ExitStack() as stopping:
        with _step(say, "making" if is_new else "starting", f"three PostgreSQL servers in {state}"):
            prepared = stopping.enter_context(
                servers_being_prepared(state, None, beside=(protected,), for_demo=True)
            )
            # While others work: planner and web framework are seconds of importing.
            importing = threading.Thread(
                target=importlib.import_module, args=("proxy.cli.listeners",)
            )
            importing.start()
            prepared.launch()
            servers = prepared.check_ledger()
        with _step(say, "making" if is_new else "checking", "50,000 people and 60,000 orders"):
            sources = make_demo_data(protected.dsn())
        importing.join()
        from proxy.cli.building import build, shadows_being_built
        from proxy.cli.loading import load_policies

        with _step(say, "checking", "the policies of census and shop; building the shadows"):
            environment = {f"{name.upper()}_DSN": dsn for name, dsn in sources.items()}
            checked = load_policies(policies, environment, quiet=True)
            shadows = shadows_being_built(checked, servers.shadow)
            databases = [
                build(one, servers, _source(one, servers.ledger_dsn), built)
                for one, built in zip(checked, shadows, strict=True)
            ]
            password = _with_analyst(servers.ledger_dsn, state)
            servers.match_roles(tuple(one.policy.database for one in databases))
        try:
            secrets, secret = _with_administrator(state)
            yield Demo(
                *(servers, databases, password, checked, environment),
                secret=secret,
                secrets=secrets,
            )
        finally:
            say("stopping the PostgreSQL servers ...")


def _source(checked: CheckedPolicy, ledger_dsn: str) -> Source:
    """Invented data is adopted without being asked, in the demo's own ledger only; made again, it keeps its
    budgets."""
    name = checked.policy.database
    identity = read_identity(checked.policy.source)
    try:
        return find_source(ledger_dsn, identity, name)
    except UnknownSource as unknown:
        adopt = adopt_as if name in unknown.known else adopt_new
        return adopt(ledger_dsn, identity, name)


def lines_to_copy(ports: ListenerPorts, password: str) -> dict[str, str]:
    """Shell commands that work as they stand. psycopg is in this program's own environment."""
    (wire_host, wire_port), (http_host, http_port) = ports.wire, ports.http
    dsn = f"host={wire_host} port={wire_port} user={ANALYST} password={password} dbname=census"
    script = f'import psycopg; print(*psycopg.connect("{dsn}").execute("{_AGES}"))'
    body = f'{{"database": "{DATABASE}", "sql": "{QUESTION}"}}'
    psql = f"PGPASSWORD={password} psql -h {wire_host} -p {wire_port} -U {ANALYST} {DATABASE} -c"
    return {
        "psql": f'{psql} "{_REVENUE}"',
        "EXPLAIN": f'{psql} "EXPLAIN {_REVENUE}"',
        "a refusal": f'{psql} "{_REFUSED}"',
        "curl": f"curl -u {ANALYST}:{password} http://{http_host}:{http_port}/v1/query"
        f" -H 'Content-Type: application/json' -d '{body}'",
        "Python": f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}",
    }


def budget_line(policies: Sequence[Policy]) -> str:
    """State how many statements of the default epsilon an analyst can run."""
    counts = " and ".join(
        f"{int(policy.budgets.default.limit.epsilon / policy.privacy.epsilon)} of {policy.database}"
        for policy in policies
    )
    return (
        f"Budget of {ANALYST}, in statements a month: {counts}. dp.budget shows what is left;"
        " another --state starts anew."
    )


def _with_analyst(ledger_dsn: str, state: Path) -> str:
    """In the demo's own ledger. The same password at each start: a line copied yesterday works today."""
    password_file = state / "analyst.password"
    if not password_file.exists():
        password_file.touch(mode=0o600)
    password = password_file.read_text() or os.urandom(9).hex()
    password_file.write_text(password)
    if ANALYST in list_analysts(ledger_dsn):
        set_password(ledger_dsn, ANALYST, password)
    else:
        add_analyst(ledger_dsn, ANALYST, password)
    return password


def _own_policy(state: Path, name: str) -> Path:
    """A copy of a sample's policy, to be changed while the demo runs. One that is there is kept."""
    file = state / "policies" / f"{name}.yaml"
    if not file.exists():
        file.parent.mkdir(mode=0o700, exist_ok=True)
        file.write_text(
            sample_policy(name).policy_file.read_text(encoding="utf-8"), encoding="utf-8"
        )
    return file


def _with_administrator(state: Path) -> tuple[Path, str]:
    """The file of secrets, and the one in it: the same at each start."""
    file = state / "admin.secrets"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(f"{ADMINISTRATOR} {os.urandom(32).hex()}\n")
    return file, file.read_text().split()[-1]


@contextlib.contextmanager
def _step(say: Say, verb: str, what: str) -> Iterator[None]:
    say(f"{verb} {what} ...")
    began = time.monotonic()
    with working(f"{verb} {what}"):
        yield
    say(f"  done in {time.monotonic() - began:.1f} s")
