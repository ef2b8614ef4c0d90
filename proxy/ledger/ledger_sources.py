"""Whose budgets these are: a source of data, known by its server's system identifier and its database.

A ledger belongs to the data, not to the name that clients use for it. An identity that the ledger does not
know (a first start, a copy, pg_upgrade, dump and restore) is refused until an operator says what it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import psycopg

from proxy.accounting import amounts
from proxy.ledger.admin_log import note
from proxy.ledger.bounds_account import renew_account
from proxy.ledger.noted_columns import PUBLIC_COLUMNS, UNIT_COLUMNS
from proxy.policy.blocks_of_time import block_lines
from proxy.policy.policy_model import Accounting, Budget, Budgets, Policy
from proxy.postgres.failure_reason import reason_of

_CONNECT_SECONDS = 10


class UnknownSource(RuntimeError):
    """The ledger does not know this database; `known` are the names of those it knows."""

    def __init__(self, identity: Identity, known: tuple[str, ...]) -> None:
        super().__init__(f"the ledger does not know {identity}")
        self.identity = identity
        self.known = known


class SourceError(RuntimeError):
    """What was asked for cannot be; the text says why."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Of the protected data: both stay the same as long as it is the same data in the same place."""

    system_identifier: str
    database: str

    def __str__(self) -> str:
        return f"database {self.database} of the server {self.system_identifier}"


@dataclass(frozen=True, slots=True)
class Source:
    id: int
    name: str
    identities: tuple[Identity, ...]


def read_identity(source_dsn: str) -> Identity:
    """Refuses  SourceError where the server does not tell"""
    try:
        with psycopg.connect(source_dsn, connect_timeout=_CONNECT_SECONDS) as connection:
            row = connection.execute(
                "SELECT system_identifier::text, pg_catalog.current_database()::text"
                " FROM pg_catalog.pg_control_system()"
            ).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        raise SourceError(
            "the source's role may not read the server's identifier: as its owner run"
            " GRANT EXECUTE ON FUNCTION pg_catalog.pg_control_system() TO the role"
        ) from None
    except psycopg.Error as error:
        raise SourceError(
            f"the protected database cannot be reached ({reason_of(error)})"
        ) from None
    assert row is not None
    return Identity(row[0], row[1])


def refuse_own_source(ledger_dsn: str, source_dsn: str) -> None:
    """Refuses  SourceError where the ledger would stand in the protected database: whoever puts that back from
    a copy puts the ledger back, and the source's owner could write it"""
    if read_identity(ledger_dsn) == read_identity(source_dsn):
        raise SourceError(
            "the ledger may not stand in the protected database itself: give it a database of its own, best"
            " on another server"
        )


def known_sources(ledger_dsn: str) -> tuple[Source, ...]:
    with psycopg.connect(ledger_dsn) as connection:
        rows = connection.execute(
            "SELECT s.id, s.name, i.system_identifier, i.database FROM ledger.source s"
            " LEFT JOIN ledger.source_identity i ON i.source = s.id ORDER BY s.id, i.at"
        ).fetchall()
    found: dict[int, Source] = {}
    for number, name, system, database in rows:
        before = found.get(number, Source(number, name, ()))
        more = () if system is None else (Identity(system, database),)
        found[number] = Source(number, name, (*before.identities, *more))
    return tuple(found.values())


def find_source(ledger_dsn: str, identity: Identity, database: str) -> Source:
    """
    Given    an identity; the name that clients connect to, which finds a ledger of version 0.1 once
    Refuses  UnknownSource
    """
    with psycopg.connect(ledger_dsn) as connection:
        row = connection.execute(
            "SELECT s.id, s.name FROM ledger.source_identity i JOIN ledger.source s ON s.id = i.source"
            " WHERE (i.system_identifier, i.database) = (%s, %s)",
            (identity.system_identifier, identity.database),
        ).fetchone()
        if row is None:
            row = connection.execute(
                "SELECT id, name FROM ledger.source WHERE NOT is_bound AND name = %s FOR UPDATE",
                (database,),
            ).fetchone()
            if row is not None:
                _bind(connection, row[0], identity)
    if row is None:
        raise UnknownSource(identity, tuple(one.name for one in known_sources(ledger_dsn)))
    return Source(row[0], row[1], (identity,))


def adopt_new(ledger_dsn: str, identity: Identity, name: str) -> Source:
    """The data has never been asked about: its budgets begin here. Refuses  SourceError"""
    with psycopg.connect(ledger_dsn) as connection:
        _refuse_known(connection, identity)
        try:
            row = connection.execute(
                "INSERT INTO ledger.source (name, is_bound) VALUES (%s, true) RETURNING id", (name,)
            ).fetchone()
        except psycopg.errors.UniqueViolation:
            raise SourceError(
                f'the ledger has a source named "{name}" already: give another --name, or adopt --as it'
            ) from None
        assert row is not None
        _bind(connection, row[0], identity)
        _note(connection, "adopt new", {"name": name, "identity": str(identity)})
    return Source(row[0], name, (identity,))


def adopt_as(ledger_dsn: str, identity: Identity, name: str) -> Source:
    """The same data as a source that the ledger knows, in another place: what was spent stays spent. Or in the
    same place: columns of units that were made anew name the same units as before.

    Refuses  SourceError
    """
    with psycopg.connect(ledger_dsn) as connection:
        is_known = _name_of(connection, identity) == name
        if not is_known:
            _refuse_known(connection, identity)
        row = connection.execute("SELECT id FROM ledger.source WHERE name = %s", (name,)).fetchone()
        if row is None:
            raise SourceError(f'the ledger has no source named "{name}"')
        if not is_known:
            _bind(connection, row[0], identity)
            PUBLIC_COLUMNS.forget_numbers(connection, row[0])
        UNIT_COLUMNS.forget_numbers(connection, row[0])
        _note(connection, "adopt as", {"name": name, "identity": str(identity)})
    return Source(row[0], name, (identity,))


def write_budgets(connection: psycopg.Connection, source: int, policy: Policy) -> None:
    """The limits of a source, as the policy states them. In the transaction of the caller."""
    budgets, accounting = policy.budgets, policy.accounting
    lines = [
        _line("total", "", budgets.total, accounting),
        _line("default", "", budgets.default, accounting),
        *(_line("analyst", name, one, accounting) for name, one in budgets.analysts.items()),
        *(_line("group", name, one, accounting) for name, one in budgets.groups.items()),
        *(_line("table", str(name), one, accounting) for name, one in budgets.tables.items()),
        # What one unit may lose: it is in one block, which pays instead of the total.
        *(_line("table", name, budgets.total, accounting) for name in block_lines(policy)),
    ]
    before = connection.execute(
        "SELECT budgets FROM ledger.source WHERE id = %s", (source,)
    ).fetchone()
    as_epsilons = budgets_text(budgets, blocks=block_lines(policy))
    if before is None or before[0] != as_epsilons:
        detail = {"source": source, "policy": policy.digest, "budgets": json.loads(as_epsilons)}
        note(connection, None, "budgets of a policy", detail)
    connection.execute("DELETE FROM ledger.allowance WHERE source = %s", (source,))
    connection.cursor().executemany(
        "INSERT INTO ledger.allowance (source, kind, analyst, epsilon, delta, period, rho)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s)",
        [(source, *line) for line in lines],
    )
    renew_account(connection, source)
    connection.execute(
        "UPDATE ledger.source SET policy_digest = %s, budgets = %s WHERE id = %s",
        (policy.digest, budgets_of(policy), source),
    )


def budgets_of(policy: Policy) -> str:
    """The limits of a policy as one text."""
    return budgets_text(policy.budgets, policy.accounting, block_lines(policy))


def budgets_text(
    budgets: Budgets, accounting: Accounting = Accounting.BASIC, blocks: tuple[str, ...] = ()
) -> str:
    """The same text for the same limits, to compare two policies by. blocks: that the total is of, each."""

    def line(budget: Budget) -> tuple[object, ...]:
        *limits, rho = _line("", "", budget, accounting)
        return tuple(limits) if rho is None else (*limits, rho)

    lines: dict[str, object] = {
        "total": line(budgets.total),
        "default": line(budgets.default),
        "analysts": {name: line(one) for name, one in sorted(budgets.analysts.items())},
    }
    # Left out where there are none, so that the budgets of a ledger from before are the same.
    of_tables = {str(name): budget for name, budget in budgets.tables.items()}
    for key, more in (("groups", budgets.groups), ("tables", of_tables)):
        if more:
            lines[key] = {name: line(one) for name, one in sorted(more.items())}
    if blocks:
        lines["blocks"] = sorted(blocks)
    return json.dumps(lines, default=str, sort_keys=True)


def _line(kind: str, analyst: str, budget: Budget, accounting: Accounting) -> tuple[object, ...]:
    limit = amounts.limit(budget.limit)
    rho = amounts.rho_limit(limit) if accounting is Accounting.ZCDP else None
    return (
        kind,
        analyst,
        amounts.decimal(limit.epsilon),
        amounts.decimal(limit.delta),
        budget.per.value,
        None if rho is None else amounts.decimal(rho),
    )


def _refuse_known(connection: psycopg.Connection, identity: Identity) -> None:
    name = _name_of(connection, identity)
    if name is not None:
        raise SourceError(f'the ledger knows {identity} already, as "{name}"')


def _name_of(connection: psycopg.Connection, identity: Identity) -> str | None:
    row = connection.execute(
        "SELECT s.name FROM ledger.source_identity i JOIN ledger.source s ON s.id = i.source"
        " WHERE (i.system_identifier, i.database) = (%s, %s)",
        (identity.system_identifier, identity.database),
    ).fetchone()
    return None if row is None else str(row[0])


def _bind(connection: psycopg.Connection, source: int, identity: Identity) -> None:
    connection.execute(
        "INSERT INTO ledger.source_identity (system_identifier, database, source) VALUES (%s, %s, %s)",
        (identity.system_identifier, identity.database, source),
    )
    connection.execute("UPDATE ledger.source SET is_bound = true WHERE id = %s", (source,))


def _note(connection: psycopg.Connection, what: str, detail: Mapping[str, str]) -> None:
    connection.execute(
        "INSERT INTO ledger.operation (what, detail) VALUES (%s, %s)", (what, json.dumps(detail))
    )
