"""Faults in what calls the ledger's SQL, which the machine must find; and how any fault is planted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

from proxy.drawing import kept_answers
from proxy.drawing.kept_answers import ClaimedAnswers
from proxy.ledger import (
    cached_claims,
    charge_queue,
    charge_statements,
    ledger_backup,
    ledger_schema,
    ledger_tables,
)
from proxy.ledger.cached_claims import CachedClaims
from proxy.ledger.charge_queue import ChargeQueue
from proxy.ledger.ledger_mark import note_restored
from tests.ledger_machine import driven_ledger
from tests.ledger_machine.sql_faults import SQL


async def _shown_anyway(self: ClaimedAnswers, block: Any, drawn: Any, bits: Any) -> Any:
    del bits
    slot, text = self._slots[block], drawn.text
    cached: Any = slot.cached
    if len(text) > driven_ledger.TOO_LARGE:
        await self._ledger.forget(cached, self._holder)
        return drawn
    stored = await self._ledger.store(cached, text)
    return drawn if stored is None or stored == text else await kept_answers._read(slot, stored)


async def _forgotten_by_any(self: CachedClaims, cached: int, holder: str) -> bool:
    await self._tables.first("SELECT ledger.forget(%s)", (cached,))
    return True


def _without(table: str) -> Any:
    tables = tuple(one for one in ledger_backup.TABLES if one[0] != table)
    return mock.patch.object(ledger_backup, "TABLES", tables)


def _for_all(module: Any, name: str) -> Any:
    text = getattr(module, name)
    known = "ledger.may_charge(n.source, n.name)"
    assert known in text
    return mock.patch.object(module, name, text.replace(known, "true"))


def _in_any_order(rows: Sequence[Any], analysts: Sequence[str]) -> list[Any]:
    del analysts
    return [row if row["may_ask"] else None for row in rows]


def _whoever_waited(self: ChargeQueue[Any, Any]) -> list[Any]:
    found = list(self._waiting)
    self._waiting.clear()
    return found


_restored = note_restored


def _restored_but(table: str) -> Any:
    """Rows of it stay that are not finished."""
    kept = {
        "cached": "DELETE FROM ledger.cached WHERE relation IS NULL",
        "published": "DELETE FROM ledger.published WHERE released_at IS NULL",
        "token": "UPDATE ledger.token SET revoked_at = transaction_timestamp() WHERE revoked_at IS NULL",
    }[table]

    def note(connection: Any, as_of: str) -> None:
        def execute(statement: Any, *given: Any) -> None:
            if statement != kept:
                connection.execute(statement, *given)

        _restored(mock.Mock(execute=execute), as_of)

    return mock.patch.object(ledger_backup, "note_restored", note)


CALLS: Mapping[str, Any] = {
    "what is not there any more is shown": lambda: mock.patch.object(
        ClaimedAnswers, "stored", _shown_anyway
    ),
    "what is shown is not on disk": lambda: mock.patch.object(
        cached_claims, "_STORE", "SELECT ledger.store(%s, %s) AS relation"
    ),
    "whoever drew too much forgets another's draw": lambda: mock.patch.object(
        CachedClaims, "forget", _forgotten_by_any
    ),
    "open draws are restored": lambda: _restored_but("cached"),
    "releases that were being drawn are restored": lambda: _restored_but("published"),
    "tokens are restored": lambda: _restored_but("token"),
    "what became of a batch is told in any order": lambda: mock.patch.multiple(
        ledger_tables, in_their_order=_in_any_order
    ),
    "what became of claims is told in any order": lambda: mock.patch.multiple(
        cached_claims, in_their_order=lambda rows, _: _in_any_order(rows[::-1], ())
    ),
    "one that cannot be charged fails its neighbours": lambda: mock.patch.object(
        charge_queue, "_is_undone", lambda error: False
    ),
    "whoever was cancelled is charged": lambda: mock.patch.object(
        ChargeQueue, "_next", _whoever_waited
    ),
    "a restored ledger is served": lambda: mock.patch.object(
        ledger_backup,
        "note_restored",
        lambda connection, at: connection.execute(
            "DELETE FROM ledger.cached WHERE relation IS NULL"
        ),
    ),
    "a backup without who has seen what": lambda: _without("seen"),
    "a backup without adjustments": lambda: _without("adjustment"),
    "the mark is not looked at": lambda: mock.patch.object(
        driven_ledger, "check_mark", lambda *_: None
    ),
    "who was removed asks for what is cached": lambda: _for_all(charge_statements, "_CLAIM"),
}
FAULTS = (*SQL, *CALLS)


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Before a ledger is made, and while it is used."""
    if name in CALLS:
        with CALLS[name]():
            yield
        return
    fault = SQL[name]
    real = ledger_schema.schema_text
    files = ("tables", *ledger_schema.FUNCTIONS)
    assert any(fault.text in real(file) for file in files), f"not planted: {name}"

    def faulty(file: str) -> str:
        return real(file).replace(fault.text, fault.instead)

    with mock.patch.object(ledger_schema, "schema_text", faulty):
        yield
