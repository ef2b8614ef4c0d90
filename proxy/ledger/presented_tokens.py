"""Whose a token is that somebody presents, asked of the ledger each time: what is revoked ends at once."""

from __future__ import annotations

import hmac
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from proxy.base.errors import Fault
from proxy.engine.fair_share import FairShare
from proxy.ledger.bearer_tokens import digest_of, is_token

CONNECTIONS = 2
_WAIT_SECONDS = 5.0
_FOUND = """\
SELECT t.id, a.name, t.source, t.digest, trim_scale(t.epsilon)::text AS epsilon,
       trim_scale(t.spent)::text AS spent
FROM ledger.token t JOIN ledger.analyst a ON a.id = t.analyst
WHERE t.digest = %s AND t.revoked_at IS NULL AND a.removed_at IS NULL AND t.expires_at > clock_timestamp()"""

_VALID = """\
SELECT t.id FROM ledger.token t JOIN ledger.analyst a ON a.id = t.analyst
WHERE t.id = ANY(%s) AND t.revoked_at IS NULL AND a.removed_at IS NULL AND t.expires_at > clock_timestamp()"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGrant:
    """source: the one that it is for; None: all that its analyst may query. epsilon: its limit, or None."""

    number: int
    analyst: str
    source: int | None
    epsilon: str | None
    spent: str


class PresentedTokens:
    """`open` before the first, `close` after the last."""

    def __init__(self, ledger_dsn: str) -> None:
        self._pool = AsyncConnectionPool(
            ledger_dsn,
            min_size=1,
            max_size=CONNECTIONS,
            open=False,
            timeout=_WAIT_SECONDS,
            reconnect_timeout=_WAIT_SECONDS,  # then the next request tries anew
            kwargs={
                "autocommit": True,
                "options": "-c statement_timeout=5s -c search_path=pg_catalog",
            },
            name="tokens",
        )
        # One check of each token at a time: who presents one often waits behind nobody but themselves.
        self._checks = FairShare(CONNECTIONS, each=1)

    async def open(self) -> None:
        await self._pool.open(wait=False)

    async def close(self) -> None:
        await self._pool.close()

    async def find(self, presented: str) -> TokenGrant | None:
        """
        Gives    None for what is no token, is revoked or has expired, or whose analyst was removed
        Refuses  Fault where the ledger cannot be asked; Busy where too many ask for the same token
        """
        if not is_token(presented):
            return None
        digest = digest_of(presented)
        async with self._checks.place(digest.hex(), _WAIT_SECONDS):
            row = next(iter(await self._rows(_FOUND, digest)), None)
        if row is None or not hmac.compare_digest(bytes(row["digest"]), digest):
            return None
        return TokenGrant(
            number=row["id"],
            analyst=row["name"],
            source=row["source"],
            epsilon=row["epsilon"],
            spent=row["spent"],
        )

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
