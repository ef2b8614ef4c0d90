"""Bearer tokens of analysts: made, listed, revoked. The ledger keeps the hash; the token is shown once."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
from psycopg.rows import TupleRow, class_row, dict_row

from proxy.base.errors import Fault
from proxy.ledger.admin_log import note as log
from proxy.ledger.charge_queue import LedgerPool
from proxy.ledger.users import UserError, analyst_number, source_number
from proxy.turns.threads import Turn

PREFIX = "dpp_"  # so that scanners of repositories find one that has leaked
LEAST_DAYS = 1 / (24 * 60)  # a minute: one that has expired when it is shown is a mistake
LONGEST_DAYS = 366
LEAST_EPSILON = Decimal("0.000001")  # as of a statement: less could buy nothing
LARGEST_EPSILON = Decimal(1_000_000)
_BYTES = 32
_FORM = re.compile(r"dpp_[A-Za-z0-9_-]{43}")
_NOTE_CHARACTERS = 200
PERIODS = ("hour", "day")
# Of a token: what is spent in the window of now, and when that ends.
WINDOW = """\
CASE WHEN ledger.window_start(t.period, transaction_timestamp()) > t.window_start THEN 0
     ELSE t.spent - t.spent_before END AS spent,
ledger.window_end(t.period, greatest(
     t.window_start, ledger.window_start(t.period, transaction_timestamp()))) AS renews_at"""
_LISTED = f"""\
SELECT t.id AS number, a.name AS analyst, s.name AS source, t.note, t.epsilon, t.created_at, t.expires_at,
       nullif(t.period, 'none') AS per, {WINDOW},
       CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked' WHEN a.removed_at IS NOT NULL THEN 'user removed'
            WHEN t.expires_at <= transaction_timestamp() THEN 'expired' ELSE 'valid' END AS state
FROM ledger.token t JOIN ledger.analyst a ON a.id = t.analyst LEFT JOIN ledger.source s ON s.id = t.source
ORDER BY t.id"""  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """text: to be shown once, and kept nowhere."""

    number: int
    text: str
    expires_at: datetime

    def __repr__(self) -> str:
        return f"NewToken({self.number})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedToken:
    """source None: all databases of the analyst's; epsilon None: no limit of its own, else the most in each
    hour or day (per), or altogether. spent: in the window of now, which ends at renews_at."""

    number: int
    analyst: str
    source: str | None
    note: str
    epsilon: Decimal | None
    spent: Decimal
    per: str | None
    renews_at: datetime | None
    created_at: datetime
    expires_at: datetime
    state: str


def create_token(
    ledger_dsn: str,
    name: str,
    *,
    days: float,
    source: str | int | None = None,
    epsilon: Decimal | None = None,
    per: str | None = None,
    note: str = "",
    by: str | None = None,
    most: int | None = None,
) -> NewToken:
    """
    Given    the analyst's name; days: until it expires; the one source that it is for, by name or number;
             epsilon: the most that all statements through it may cost together, in each hour or day where
             `per` says so; by: who does it, for the log; most: refuse it where the analyst has so many valid
             ones
    Refuses  UserError
    """
    if not LEAST_DAYS <= days <= LONGEST_DAYS:
        raise UserError(
            f"a token expires after a minute at least and {LONGEST_DAYS} days at most: give days between"
            f" {LEAST_DAYS:.4f} and {LONGEST_DAYS}"
        )
    if epsilon is not None and not (
        epsilon.is_finite() and LEAST_EPSILON <= epsilon <= LARGEST_EPSILON
    ):
        raise UserError(f"epsilon is a number from {LEAST_EPSILON} to {LARGEST_EPSILON}")
    if per is not None and (epsilon is None or per not in PERIODS):
        raise UserError("per is hour or day, and says how often epsilon renews: give epsilon, too")
    if len(note) > _NOTE_CHARACTERS or not note.isprintable():
        raise UserError(f"a note is one line of at most {_NOTE_CHARACTERS} characters")
    text = PREFIX + base64.urlsafe_b64encode(os.urandom(_BYTES)).rstrip(b"=").decode()
    with psycopg.connect(ledger_dsn) as connection:
        number = analyst_number(connection, name)
        if most is not None and _valid_tokens(connection, number) >= most:
            raise UserError(f'"{name}" has {most} valid tokens: wait until one expires')
        row = connection.execute(
            "INSERT INTO ledger.token (analyst, digest, note, source, epsilon, period, expires_at)"
            " VALUES (%s, %s, %s, %s, trunc(%s::numeric, 18), %s, transaction_timestamp() + %s)"
            " RETURNING id, expires_at",
            (
                number,
                digest_of(text),
                note,
                source_number(connection, source) if isinstance(source, str) else source,
                epsilon,
                per or "none",
                timedelta(days=days),
            ),
        ).fetchone()
        assert row is not None
        detail: dict[str, Any] = {"token": row[0], "name": name, "expires": row[1].isoformat()}
        detail |= {} if source is None else {"source": source}
        detail |= {} if epsilon is None else {"epsilon": str(epsilon)}
        detail |= {} if per is None else {"per": per}
        log(connection, by, "token create", detail)
    return NewToken(number=row[0], text=text, expires_at=row[1])


def _valid_tokens(connection: psycopg.Connection, analyst: int) -> int:
    row = connection.execute(
        "SELECT count(*) FROM ledger.token WHERE analyst = %s AND revoked_at IS NULL"
        " AND expires_at > transaction_timestamp()",
        (analyst,),
    ).fetchone()
    assert row is not None
    return int(row[0])


def list_tokens(ledger_dsn: str) -> list[ListedToken]:
    with psycopg.connect(ledger_dsn) as connection:
        return connection.cursor(row_factory=class_row(ListedToken)).execute(_LISTED).fetchall()


def revoke_token(ledger_dsn: str, number: int, *, by: str | None = None) -> None:
    """From now on nothing is charged through it. Refuses  UserError"""
    with psycopg.connect(ledger_dsn) as connection:
        row = connection.execute(  # a number of any length may be asked for
            "UPDATE ledger.token t SET revoked_at = transaction_timestamp() FROM ledger.analyst a"
            " WHERE t.id = %s::numeric AND t.revoked_at IS NULL AND a.id = t.analyst RETURNING a.name",
            (number,),
        ).fetchone()
        if row is None:
            raise UserError(f"there is no token {number} that could be revoked")
        log(connection, by, "token revoke", {"token": number, "name": row[0]})


def is_token(text: str) -> bool:
    return _FORM.fullmatch(text) is not None


def digest_of(text: str) -> bytes:
    """Of 256 random bits: there is nothing to guess, so no salt and no slow hash."""
    return hashlib.sha256(text.encode()).digest()


# Whose a token is that somebody presents, asked of the ledger each time: what is revoked ends at once.

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
        self, turn: Turn, source: int, days: float, epsilon: Decimal, note: str
    ) -> NewToken:
        """A token of the analyst's own making. Refuses  UserError; Fault"""
        try:
            return await turn.in_thread(
                create_token,
                *(self._ledger_dsn, turn.analyst),
                days=days,
                source=source,
                epsilon=epsilon,
                note=note,
                by=f'analyst "{turn.analyst}"',
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
