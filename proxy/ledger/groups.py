"""Groups of analysts: names that people are in, and that rights and budgets can be given to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg

from proxy.ledger.admin_log import note
from proxy.ledger.users import UserError, check_name


def add_to_group(ledger_dsn: str, group: str, name: str, *, by: str | None = None) -> None:
    """
    Given    by: who does it, for the log; None for who runs this process
    Refuses  UserError: no such analyst, in the group already, a name that no group has
    """
    check_name(group)
    with psycopg.connect(ledger_dsn) as connection:
        added = connection.execute(
            "INSERT INTO ledger.membership (analyst, grp) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (analyst_number(connection, name), group),
        )
        if added.rowcount != 1:
            raise UserError(f'"{name}" is in the group "{group}" already')
        note(connection, by, "group add", {"group": group, "name": name})


def remove_from_group(ledger_dsn: str, group: str, name: str, *, by: str | None = None) -> None:
    """
    Refuses  UserError: no such analyst, or not in the group
    """
    with psycopg.connect(ledger_dsn) as connection:
        removed = connection.execute(
            "DELETE FROM ledger.membership WHERE analyst = %s AND grp = %s",
            (analyst_number(connection, name), group),
        )
        if removed.rowcount != 1:
            raise UserError(f'"{name}" is not in the group "{group}"')
        note(connection, by, "group remove", {"group": group, "name": name})


def groups(ledger_dsn: str) -> Mapping[str, tuple[str, ...]]:
    """Group -> names of those in it who were not removed; groups of nobody are none."""
    with psycopg.connect(ledger_dsn) as connection:
        found = connection.execute(
            "SELECT m.grp, array_agg(a.name ORDER BY a.name) FROM ledger.membership m"
            " JOIN ledger.analyst a ON a.id = m.analyst AND a.removed_at IS NULL"
            " GROUP BY m.grp ORDER BY m.grp"
        ).fetchall()
    return {group: tuple(names) for group, names in found}


def analyst_number(connection: psycopg.Connection[Any], name: str) -> int:
    """Of the one who has the name now. Locked, so that what is given is given to somebody who is there.

    Refuses  UserError
    """
    row = connection.execute(
        "SELECT id FROM ledger.analyst WHERE name = %s AND removed_at IS NULL FOR SHARE", (name,)
    ).fetchone()
    if row is None:
        raise UserError(f'there is no analyst "{name}"')
    return int(row[0])
