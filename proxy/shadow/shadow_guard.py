"""What the shadow's guard consists of, as one list of rules; making it and verifying it are the same.

The guard is PostgreSQL's own check of rights: analysts hold REFERENCES on protected tables, which keeps
them in the catalogue, and SELECT on none of them. The executor checks it at the start of every
plan, whatever the plan is, and analysts own nothing of it and can grant nothing of it: DROP OWNED,
REASSIGN OWNED and ALTER DEFAULT PRIVILEGES reach what they own. There are no rows in a protected table
and no policy of row security any more: one wall whose loss is an error, not a silence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

import psycopg
from psycopg import sql

from proxy.catalog.catalog_model import TableName
from proxy.ledger.analysts_role import ANALYSTS
from proxy.policy.publication import PUBLISHED_SCHEMA
from proxy.postgres.analyst_limits import DATABASE_SETTINGS
from proxy.query.rewrite.empty_twins import TWIN_SCHEMA, twin_of
from proxy.shadow.shadow_making import identifier
from proxy.shadow.shadow_tables import (
    RESERVED_SCHEMA,
    ShadowError,
    ShadowTable,
    enumerations_of,
)

_RULES = files("proxy.shadow").joinpath("shadow_rules.sql").read_text(encoding="utf-8")


_READABLE = (
    "columns",
    "budget",
    "history",
    "policy",
    "status",
)  # of schema dp, where they are there


_CALLED = (
    *("refuse", "misplaced", "low", "high", "error", "clipped", "answered_apart"),
    *("rehearse", "try_answer", "may_have_effects", "has_effect", "hold_timeouts"),
)


_PASSES = 4  # a REVOKE may take what the next pass grants again


_STATEMENTS = 100  # in one message: a session of the shadow may use little memory


_THEIR_OWN = "settings of "


_OWN_SECONDS = 3  # lock_watch ends the holder sooner


@dataclass(frozen=True, slots=True)
class ShadowRights:
    """What a shadow's rights must be. rights: relation -> the one privilege of analysts on it;
    empty: relations that must have no row; schemas: of which analysts have USAGE."""

    rights: dict[TableName, str]
    empty: tuple[TableName, ...]
    schemas: tuple[str, ...]


def required_rights(tables: Sequence[ShadowTable]) -> ShadowRights:
    rights: dict[TableName, str] = {}
    empty: list[TableName] = []
    for table in tables:
        rights[table.name] = "REFERENCES" if table.protected else "SELECT"
        if table.is_withheld:
            empty.append(table.stored_in)
        if table.protected:
            rights[twin_of(table.name)] = "SELECT"
            empty += [table.name, twin_of(table.name)]
    schemas = {name.schema for name in rights} | {"public", RESERVED_SCHEMA, TWIN_SCHEMA}
    schemas |= {one.schema for one in enumerations_of(tables)}
    return ShadowRights(rights, tuple(empty), tuple(sorted(schemas)))


def with_published(rights: ShadowRights, tables: Sequence[TableName]) -> ShadowRights:
    """With schema `published`, and SELECT on these tables of it, and no others."""
    others = {n: right for n, right in rights.rights.items() if n.schema != PUBLISHED_SCHEMA}
    schemas = tuple(sorted({*rights.schemas, PUBLISHED_SCHEMA}))
    return replace(rights, rights={**others, **dict.fromkeys(tables, "SELECT")}, schemas=schemas)


def check_guard(connection: psycopg.Connection, wanted: ShadowRights) -> tuple[str, ...]:
    """Makes the guard what it must be; in a transaction, as a superuser of the shadow.

    Gives    the names of what was not, and is now; settings that an analyst keeps us from resetting among it
    Refuses  ShadowError: what cannot be repaired, as a table is gone
    """
    with connection.transaction():
        connection.execute("SET LOCAL search_path = pg_catalog; SET LOCAL work_mem = '1MB'")
        repaired: dict[str, None] = {}
        failed: set[str] = set()
        for _ in range(_PASSES):
            found = [one for one in _violations(connection, wanted) if one[0] not in failed]
            if not found:
                return (*repaired, *(f"{what}: not now" for what in sorted(failed)))
            ours: list[str] = []
            for what, statement in found:
                if statement is None:
                    raise ShadowError(f"the shadow's guard cannot be repaired: {what}")
                if not what.startswith(_THEIR_OWN):
                    ours.append(statement)
                elif not _is_done(connection, statement):
                    failed.add(what)
                    continue
                repaired[what] = None
            for begin in range(0, len(ours), _STATEMENTS):  # thousands, at the first look
                connection.execute("; ".join(ours[begin : begin + _STATEMENTS]).encode())
        raise ShadowError(f"the shadow's guard cannot be repaired: {', '.join(repaired)}")


def _is_done(connection: psycopg.Connection, statement: str) -> bool:
    """What an analyst may write they can hold, too: it is no wall, and the next look comes to it again."""
    try:
        with connection.transaction():
            connection.execute(f"SET LOCAL lock_timeout = '{_OWN_SECONDS}s'")
            connection.execute(statement.encode())
    except psycopg.Error:
        if connection.broken:
            raise
        return False
    return True


def _violations(
    connection: psycopg.Connection, wanted: ShadowRights
) -> list[tuple[str, str | None]]:
    facts = {
        "analysts": ANALYSTS,
        "relations": json.dumps(
            [
                {"schema": name.schema, "name": name.name, "privilege": privilege}
                for name, privilege in wanted.rights.items()
            ]
        ),
        "schemas": list(wanted.schemas),
        "readable": list(_READABLE),
        "called": list(_CALLED),
        "settings": json.dumps([{"name": k, "value": v} for k, v in DATABASE_SETTINGS.items()]),
    }
    found = [(row[0], row[1]) for row in connection.execute(_RULES.encode(), facts)]
    if not found:
        found.extend(_rows_where_none_may_be(connection, wanted.empty))
    return found


def _rows_where_none_may_be(
    connection: psycopg.Connection, tables: Sequence[TableName]
) -> Iterator[tuple[str, str]]:
    """A plain table whose file is empty has no rows, and need not be opened; others may have rows elsewhere."""
    filled = connection.execute(
        "SELECT number FROM unnest(%s::text[]) WITH ORDINALITY AS t(name, number)"
        " JOIN pg_class c ON c.oid = name::regclass"
        " WHERE c.relkind <> 'r' OR c.relhassubclass OR pg_relation_size(c.oid) > 0 ORDER BY number",
        ([identifier(table).as_string(connection) for table in tables],),
    ).fetchall()
    for (number,) in filled:
        table = tables[number - 1]
        name = identifier(table)
        has_rows = sql.SQL("SELECT EXISTS (SELECT FROM {})").format(name)
        if connection.execute(has_rows).fetchone() != (False,):
            yield f"rows in {table}", sql.SQL("DELETE FROM {}").format(name).as_string(connection)
