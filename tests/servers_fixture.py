"""The embedded pair for tests, started once per run: the protected server with the demo's data, and the
shadow's server with the shadows of both databases.

    from tests.servers_fixture import servers
    pair = servers()
    psycopg.connect(pair.analyst_dsn("shop", "alice"))

The pair is shared: a test that changes policies, kills servers or spends budgets makes its own
analyst (`new_analyst`), its own database, or its own server (`EmbeddedPostgres(tmp_path, ...)`).
"""

from __future__ import annotations

import atexit
import base64
import functools
import hashlib
import hmac
import itertools
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from proxy.catalog.catalog_model import Catalog, TableName
from proxy.cli.demo.demo_databases import make_demo_data
from proxy.ledger.ledger_home import embedded_ledger
from proxy.ledger.ledger_lease import BudgetLease
from proxy.ledger.ledger_sources import Identity, adopt_new
from proxy.ledger.users import add_analyst, verifiers
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    Budget,
    Budgets,
    ColumnPolicy,
    IdentifierUnit,
    Mechanism,
    Period,
    Policy,
    Privacy,
    ProtectedTable,
    PublicTable,
    RowUnit,
)
from proxy.postgres.embedded import EmbeddedPostgres, start_together
from proxy.protected.catalog_reader import read_catalog
from proxy.shadow.shadow_database import Shadow
from proxy.shadow.shadow_roles import match_roles
from tests.unjudged_rows import unjudged

PASSWORD = "analyst's password"
_AT_ONCE = 16
_STATES = ("CA", "TX", "NY", "FL", "IL", "PA", "OH", "GA", "NC", "MI")
_SCHOOLING = (
    *("HS-grad", "Some-college", "Bachelors", "Masters", "Assoc", "Doctorate", "11th", "Other"),
)


@dataclass(frozen=True)
class Servers:
    """policies and catalogs by database; source_dsns are the hardened reader's; _fresh: analysts that nobody
    has used, made many at a time, since nearly every test of `live` takes one; _matches: the shadow's roles are
    this ledger's analysts."""

    protected: EmbeddedPostgres
    shadow_server: EmbeddedPostgres
    ledger_dsn: str
    source_dsns: Mapping[str, str]
    policies: Mapping[str, Policy]
    catalogs: Mapping[str, Catalog]
    shadows: Mapping[str, Shadow]
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _fresh: deque[str] = field(default_factory=deque)
    _matches: bool = True

    def analyst_dsn(self, database: str, analyst: str, port: int | None = None) -> str:
        """Straight to the shadow, or through whoever listens on `port`."""
        host, shadow_port = self.shadow_server.address
        return make_conninfo(
            host=host,
            port=port or shadow_port,
            user=analyst,
            password=PASSWORD,
            dbname=database,
        )

    def new_analyst(self) -> str:
        """A fresh one, with nothing spent."""
        if not self._fresh:
            self._fresh.extend(f"analyst_{next(self._numbers)}" for _ in range(_AT_ONCE))
            with psycopg.connect(self.ledger_dsn) as connection:
                # The password's verifier is bound to no name: that of one serves all.
                verifier = password_verifier(PASSWORD)
                connection.cursor().executemany(
                    "INSERT INTO ledger.analyst (name, verifier) VALUES (%s, %s)",
                    [(name, verifier) for name in self._fresh],
                )
            self.match_roles()
        return self._fresh.popleft()

    def add_analyst(self, name: str, password: str) -> None:
        add_analyst(self.ledger_dsn, name, password)
        self.match_roles()

    def match_roles(self) -> None:
        """What `serve` does each second."""
        assert self._matches, "this would remove the roles of all who are not in this ledger"
        with psycopg.connect(self.shadow_server.dsn()) as connection:
            names = connection.execute(
                "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres'"
            ).fetchall()
        databases = [name for (name,) in names]
        match_roles(self.shadow_server.dsn(), databases, verifiers(self.ledger_dsn))

    def beside_ledger(self, ledger_dsn: str) -> Servers:
        """The same servers with another ledger, which knows one analyst: theirs is the next that is fresh."""
        name = self.new_analyst()
        with psycopg.connect(ledger_dsn) as connection:
            connection.execute(
                "INSERT INTO ledger.analyst (name, verifier) VALUES (%s, %s)",
                (name, verifiers(self.ledger_dsn)[name]),
            )
        return replace(self, ledger_dsn=ledger_dsn, _fresh=deque([name]), _matches=False)

    def lease(self, policy: Policy) -> BudgetLease:
        """Budgets of their own, as if nobody had served this data before."""
        return new_lease(self.ledger_dsn, policy)


def new_servers() -> Servers:
    """Beside those of the run, for what rebuilds their shadows."""
    home = Path(tempfile.mkdtemp(prefix="dpproxy-test-"))
    protected = EmbeddedPostgres(home, "protected", durable=False)
    shadow_server = EmbeddedPostgres(home, "shadow", disposable=True, for_analysts=True)
    ledger_server = EmbeddedPostgres(home, "ledger", tcp=False)

    def stop() -> None:
        protected.stop()
        shadow_server.stop()
        ledger_server.stop()
        shutil.rmtree(home, ignore_errors=True)

    atexit.register(stop)
    start_together([protected, shadow_server, ledger_server])
    source_dsns = make_demo_data(protected.dsn())
    catalogs = {database: read_catalog(dsn) for database, dsn in source_dsns.items()}
    policies = {
        "census": census_policy(source_dsns["census"]),
        "shop": shop_policy(source_dsns["shop"]),
    }
    shadows = {
        database: Shadow(shadow_server.dsn(), database, shadow_server.address)
        for database in policies
    }
    for database, shadow in shadows.items():
        shadow.build(policies[database], catalogs[database], unjudged(policies[database]))
    ledger = embedded_ledger(ledger_server)
    found = Servers(protected, shadow_server, ledger, source_dsns, policies, catalogs, shadows)
    for analyst in ("alice", "bob"):
        found.add_analyst(analyst, PASSWORD)
    return found


servers = functools.cache(new_servers)


def password_verifier(password: str) -> str:
    """As PostgreSQL keeps it (RFC 5803), but hashed once: see `tests/initdb_once.py`."""
    salt = os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 1)
    stored, server = (
        hmac.digest(salted, name, "sha256") for name in (b"Client Key", b"Server Key")
    )
    stored = hashlib.sha256(stored).digest()
    keys = ":".join(base64.b64encode(key).decode() for key in (stored, server))
    return f"SCRAM-SHA-256$1:{base64.b64encode(salt).decode()}${keys}"


_LEASES = itertools.count(1)


def new_lease(ledger_dsn: str, policy: Policy) -> BudgetLease:
    """On a source that is nobody else's."""
    name = f"{policy.database} {next(_LEASES)} of {os.getpid()}"
    source = adopt_new(ledger_dsn, Identity("invented", name), name)
    return BudgetLease(ledger_dsn, source.id, policy)


PRIVACY = Privacy(
    epsilon=Fraction(1),
    delta=Fraction(1, 10**6),
    max_epsilon=Fraction(2),
    max_delta=Fraction(1, 10**6),
    mechanism=Mechanism.SMOOTH_MEDIAN,
    has_notices=False,  # tests/live/test_agreeing_answers.py has the default
)


def budgets(
    total: int = 10**6, each: int = 10**4, per: Period = Period.NONE, delta: str = "0.9"
) -> Budgets:
    """Large enough for a whole test run."""
    return Budgets(
        Budget(Loss(Fraction(total), Fraction(delta))),
        Budget(Loss(Fraction(each), Fraction(delta)), per),
        {},
    )


def census_policy(source: str) -> Policy:
    table = ProtectedTable(
        TableName("census", "adult"),
        RowUnit(),
        _columns(
            ColumnPolicy("age", bounds=_numbers(17, 90)),
            ColumnPolicy("sex", values=("Female", "Male")),
            ColumnPolicy("education", values=_SCHOOLING),
            ColumnPolicy("occupation"),
            ColumnPolicy("region", values=("North", "South", "East", "West", "Centre")),
            ColumnPolicy("hours_per_week", bounds=_numbers(1, 99)),
            ColumnPolicy("income", bounds=_numbers(0, 250000)),
            ColumnPolicy("married"),
        ),
    )
    return Policy("census", source, PRIVACY, {table.name: table}, budgets(), "census policy 1")


def shop_policy(source: str) -> Policy:
    customers, orders, products = (
        TableName("shop", name) for name in ("customers", "orders", "products")
    )
    tables: dict[TableName, ProtectedTable | PublicTable] = {
        customers: ProtectedTable(
            customers,
            IdentifierUnit("person", "id"),
            _columns(
                ColumnPolicy("state", values=_STATES),
                ColumnPolicy("birth_date", bounds=_days(-25567, 20453)),
            ),
            max_rows_per_unit=1,
        ),
        orders: ProtectedTable(
            orders,
            IdentifierUnit("person", "customer_id"),
            _columns(
                ColumnPolicy("id"),
                ColumnPolicy("product_id", references=(products, "id")),
                ColumnPolicy("quantity", bounds=_numbers(1, 5)),
                ColumnPolicy("total", bounds=_numbers(0, 175), grid=Fraction(1, 100)),
                ColumnPolicy("status", values=("paid", "shipped", "returned", "cancelled")),
                ColumnPolicy("created_at"),
            ),
            max_rows_per_unit=40,
        ),
        products: PublicTable(products),
    }
    privacy = replace(PRIVACY, mechanism=Mechanism.AUTO)  # 5,000 customers are few for medians
    return Policy("shop", source, privacy, tables, budgets(), "shop policy 1")


def _columns(*columns: ColumnPolicy) -> dict[str, ColumnPolicy]:
    return {column.name: column for column in columns}


def _numbers(low: int, high: int) -> Bounds:
    return Bounds(Fraction(low), Fraction(high))


def _days(low: int, high: int) -> Bounds:
    return Bounds(Fraction(low), Fraction(high), BoundsKind.DATE)
