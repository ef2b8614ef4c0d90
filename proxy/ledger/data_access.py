"""Who may query which data, where not everybody may. It stands in the ledger, not in a policy (ADR 0070)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg

from proxy.ledger.admin_log import note
from proxy.ledger.users import UserError, analyst_number, check_name, groups

_LISTED = """\
SELECT s.name, r.source IS NOT NULL,
       coalesce(array_agg(a.name ORDER BY a.name)
                FILTER (WHERE a.id IS NOT NULL AND a.removed_at IS NULL), '{}'),
       coalesce(array_agg(c.grp ORDER BY c.grp) FILTER (WHERE c.grp IS NOT NULL), '{}')
FROM ledger.source s
LEFT JOIN ledger.restricted r ON r.source = s.id
LEFT JOIN ledger.access c ON c.source = s.id
LEFT JOIN ledger.analyst a ON a.id = c.analyst
GROUP BY s.name, r.source ORDER BY s.name"""
_MAY = """\
SELECT r.source, coalesce(array_agg(a.name) FILTER (WHERE ledger.may_query(r.source, a.name)), '{}')
FROM ledger.restricted r LEFT JOIN ledger.analyst a ON a.removed_at IS NULL
WHERE r.source = ANY(%s) GROUP BY r.source"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataAccess:
    """Of one source. is_restricted False: everybody, and the others are empty."""

    source: str
    is_restricted: bool
    analysts: tuple[str, ...]
    groups: tuple[str, ...]


def allow(
    ledger_dsn: str,
    source: str,
    *,
    analyst: str | None = None,
    group: str | None = None,
    by: str | None = None,
) -> None:
    """
    Given    a source's name in the ledger, and one of analyst and group
    Gives    they may query it; where everybody could before, nobody else can from now on
    Refuses  UserError: an unknown source or analyst, or they may already; a name that no group can have
    """
    if group is not None:
        check_name(group)
    with psycopg.connect(ledger_dsn) as connection:
        number = source_number(connection, source)
        person = _whom(connection, analyst, group)
        connection.execute(
            "INSERT INTO ledger.restricted (source) VALUES (%s) ON CONFLICT DO NOTHING", (number,)
        )
        added = connection.execute(
            "INSERT INTO ledger.access (source, analyst, grp) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (number, person, group),
        )
        if added.rowcount != 1:
            raise UserError(f"{_named(analyst, group)} may query {source} already")
        note(connection, by, "access allow", _detail(source, analyst, group))


def withdraw(
    ledger_dsn: str,
    source: str,
    *,
    analyst: str | None = None,
    group: str | None = None,
    by: str | None = None,
) -> None:
    """The reverse. Without anybody left, nobody may: it does not become everybody's again."""
    with psycopg.connect(ledger_dsn) as connection:
        number = source_number(connection, source)
        person = _whom(connection, analyst, group)
        removed = connection.execute(
            "DELETE FROM ledger.access WHERE source = %s"
            " AND analyst IS NOT DISTINCT FROM %s AND grp IS NOT DISTINCT FROM %s",
            (number, person, group),
        )
        if removed.rowcount != 1:
            raise UserError(f"{_named(analyst, group)} was not allowed to query {source}")
        note(connection, by, "access withdraw", _detail(source, analyst, group))


def restrict(ledger_dsn: str, source: str, *, by: str | None = None) -> None:
    """Nobody may, until somebody is allowed to."""
    with psycopg.connect(ledger_dsn) as connection:
        added = connection.execute(
            "INSERT INTO ledger.restricted (source) VALUES (%s) ON CONFLICT DO NOTHING",
            (source_number(connection, source),),
        )
        if added.rowcount != 1:
            raise UserError(f"{source} is restricted already")
        note(connection, by, "access restrict", {"source": source})


def open_to_all(ledger_dsn: str, source: str, *, by: str | None = None) -> None:
    """Everybody may again; the list of who could is gone."""
    with psycopg.connect(ledger_dsn) as connection:
        removed = connection.execute(
            "DELETE FROM ledger.restricted WHERE source = %s", (source_number(connection, source),)
        )
        if removed.rowcount != 1:
            raise UserError(f"everybody may query {source} already")
        note(connection, by, "access open", {"source": source})


def data_access(ledger_dsn: str) -> tuple[DataAccess, ...]:
    with psycopg.connect(ledger_dsn) as connection:
        found = connection.execute(_LISTED).fetchall()
    return tuple(
        DataAccess(
            source=source, is_restricted=restricted, analysts=tuple(names), groups=tuple(grouped)
        )
        for source, restricted, names, grouped in found
    )


def who_may(
    connection: psycopg.Connection[Any], sources: list[int]
) -> Mapping[int, frozenset[str]]:
    """Restricted sources among these -> names of those who may. What is not in it, everybody may."""
    return {
        source: frozenset(names)
        for source, names in connection.execute(_MAY, (sources,)).fetchall()
    }


def source_number(connection: psycopg.Connection[Any], name: str) -> int:
    """Refuses  UserError"""
    row = connection.execute("SELECT id FROM ledger.source WHERE name = %s", (name,)).fetchone()
    if row is None:
        known = [one for (one,) in connection.execute("SELECT name FROM ledger.source ORDER BY 1")]
        raise UserError(
            f'the ledger knows no database "{name}": it knows {", ".join(known) or "none yet"}'
        )
    return int(row[0])


def _whom(
    connection: psycopg.Connection[Any], analyst: str | None, group: str | None
) -> int | None:
    if (analyst is None) == (group is None):
        raise UserError("name either a user or a group")
    if analyst is not None:
        return analyst_number(connection, analyst)
    return None


def check_members(ledger_dsn: str, group: str) -> None:
    """
    Refuses  UserError, with the groups that there are, where nobody is in it. `allow` takes such a group: a
             program may let it in before it has members. A person who typed it has most likely mistyped it.
    """
    known = groups(ledger_dsn)
    if group not in known:
        raise UserError(
            f'there is no group "{group}": there {"are" if len(known) > 1 else "is"}'
            f" {', '.join(known) or 'none yet'}. A group is there while an analyst is in it:"
            " add the first one to it before it is let in"
        )


def _named(analyst: str | None, group: str | None) -> str:
    return f'"{analyst}"' if group is None else f'the group "{group}"'


def _detail(source: str, analyst: str | None, group: str | None) -> dict[str, str]:
    whom = {"name": analyst, "group": group}
    return {"source": source, **{key: one for key, one in whom.items() if one is not None}}
