"""Whose a token is that somebody presents, asked of the ledger each time: what is revoked ends at once."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import psycopg
from psycopg.rows import TupleRow, dict_row

from proxy.base.errors import Fault
from proxy.ledger.bearer_tokens import WINDOW, NewToken, create_token, digest_of, is_token
from proxy.ledger.ledger_pool import LedgerPool
from proxy.turns.threads import in_thread

CONNECTIONS = 2
MOST_OWN = 100  # valid tokens of an analyst who makes one more: each is a row of the ledger
_WAIT_SECONDS = 5.0  # for a ledger that is away
_FOUND = f"""\
SELECT t.id, a.name, t.source, t.digest, trim_scale(t.epsilon)::text AS epsilon,
       nullif(t.period, 'none') AS per, t.expires_at, {WINDOW}
FROM ledger.token t JOIN ledger.analyst a ON a.id = t.analyst
WHERE t.digest = ANY(%s) AND t.revoked_at IS NULL AND a.removed_at IS NULL
  AND t.expires_at > clock_timestamp()"""  # noqa: S608

_VALID = """\
SELECT t.id FROM ledger.token t JOIN ledger.analyst a ON a.id = t.analyst
WHERE t.id = ANY(%s) AND t.revoked_at IS NULL AND a.removed_at IS NULL AND t.expires_at > clock_timestamp()"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGrant:
    """source: the one that it is for; None: all that its analyst may query. epsilon, per, renews_at: its limit,
    or None. spent: in the window of now."""

    number: int
    analyst: str
    source: int | None
    epsilon: str | None
    spent: str
    per: str | None = None
    renews_at: datetime | None = None
    expires_at: datetime


class PresentedTokens:
    """`open` before the first, `close` after the last.

    All tokens that are presented while the ledger is asked wait for the next question, which is about all of
    them. So nobody waits for more than two questions, however many tokens others present.
    """

    def __init__(self, ledger_dsn: str) -> None:
        self._ledger_dsn = ledger_dsn
        self._pool = LedgerPool(
            ledger_dsn,
            psycopg.AsyncConnection[TupleRow],
            most=CONNECTIONS,
            options="-c search_path=pg_catalog",
            name="tokens",
            away_seconds=_WAIT_SECONDS,
            reconnect_seconds=_WAIT_SECONDS,  # then the next request tries anew
        )
        self._next: dict[bytes, asyncio.Future[dict[str, Any] | Exception | None]] = {}
        self._asking: asyncio.Task[None] | None = None

    async def open(self) -> None:
        await self._pool.open(wait=False)

    async def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
        await self._pool.close()

    async def find(self, presented: str) -> TokenGrant | None:
        """
        Gives    None for what is no token, is revoked or has expired, or whose analyst was removed
        Refuses  Fault where the ledger cannot be asked
        """
        if not is_token(presented):
            return None
        digest = digest_of(presented)
        row = await self._row(digest)
        if row is None or not hmac.compare_digest(bytes(row["digest"]), digest):
            return None
        return TokenGrant(
            number=row["id"],
            analyst=row["name"],
            source=row["source"],
            epsilon=row["epsilon"],
            spent=f"{row['spent'].normalize():f}",
            per=row["per"],
            renews_at=row["renews_at"],
            expires_at=row["expires_at"],
        )

    async def create(
        self, analyst: str, source: int, days: float, epsilon: Decimal, note: str
    ) -> NewToken:
        """A token of the analyst's own making. Refuses  UserError; Fault"""
        try:
            return await in_thread(
                create_token,
                *(self._ledger_dsn, analyst),
                days=days,
                source=source,
                epsilon=epsilon,
                note=note,
                by=f'analyst "{analyst}"',
                most=MOST_OWN,
            )
        except psycopg.Error as error:
            raise Fault("the ledger is not available") from error

    async def _row(self, digest: bytes) -> dict[str, Any] | None:
        loop = asyncio.get_running_loop()
        answer = self._next.setdefault(digest, loop.create_future())
        if self._asking is None:
            self._asking = loop.create_task(self._ask())
        found = await asyncio.shield(answer)  # others may wait for it
        if isinstance(found, Exception):
            raise found
        return found

    async def _ask(self) -> None:
        while self._next:
            asked, self._next = self._next, {}
            try:
                rows = {bytes(row["digest"]): row for row in await self._rows(_FOUND, list(asked))}
            except Exception as error:  # whatever it is, nobody waits for ever
                for answer in asked.values():
                    answer.set_result(error)
            else:
                for digest, answer in asked.items():
                    answer.set_result(rows.get(digest))
        self._asking = None

    async def invalid(self, numbers: Collection[int]) -> frozenset[int]:
        """Those of them that let nobody in any more. Refuses  Fault"""
        valid = {row["id"] for row in await self._rows(_VALID, list(numbers))}
        return frozenset(numbers) - valid

    async def _rows(self, statement: str, parameter: object) -> list[dict[str, Any]]:
        try:
            async with self._pool.connection() as connection:
                cursor = connection.cursor(row_factory=dict_row)
                return await (await cursor.execute(statement.encode(), (parameter,))).fetchall()
        except psycopg.Error as error:
            raise Fault("the ledger is not available") from error
