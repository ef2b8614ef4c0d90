"""Whether a ledger is a demo's: noted in it when the demo first meets it empty, and never taken back.

A demo gives its analyst a password that it prints, and the budgets of its sample policies. So it takes no
ledger but its own, and its own is nobody's production.
"""

from __future__ import annotations

import psycopg

NOTED = "demo"  # ledger.operation.what; append-only, and part of every backup


class DemoLedger(RuntimeError):
    """The ledger is a demo's and should not be, or is not and should; the text says which."""


def is_of_demo(connection: psycopg.Connection) -> bool:
    row = connection.execute(
        "SELECT EXISTS (SELECT FROM ledger.operation WHERE what = %s)", (NOTED,)
    ).fetchone()
    return row is not None and bool(row[0])


def claim_for_demo(ledger_dsn: str) -> None:
    """
    Gives    the ledger is a demo's
    Refuses  DemoLedger where it holds anything and was not a demo's before
    """
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("LOCK TABLE ledger.operation IN SHARE ROW EXCLUSIVE MODE")
        if is_of_demo(connection):
            return
        row = connection.execute(
            "SELECT EXISTS (SELECT FROM ledger.source) OR EXISTS (SELECT FROM ledger.analyst)"
            " OR EXISTS (SELECT FROM ledger.receipt) OR EXISTS (SELECT FROM ledger.admin_log)"
        ).fetchone()
        if row is None or row[0]:
            raise DemoLedger(
                "the ledger there is not the demo's: it would get the demo's budgets and the password that the"
                " demo prints. Give the demo a --state of its own"
            )
        connection.execute("INSERT INTO ledger.operation (what) VALUES (%s)", (NOTED,))


def refuse_of_demo(ledger_dsn: str) -> None:
    """Refuses  DemoLedger where the ledger is a demo's"""
    with psycopg.connect(ledger_dsn) as connection:
        if is_of_demo(connection):
            raise DemoLedger(
                "the ledger there is the demo's, whose analyst's password is printed and whose budgets are the"
                " samples': use another one for data about people"
            )
