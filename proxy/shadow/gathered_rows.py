"""The rows of one statement, taken from libpq as they come in: no more than a response may hold."""

from __future__ import annotations

import asyncio
import fcntl
import termios
from array import array

from psycopg.abc import PQGen
from psycopg.pq.abc import PGconn, PGresult
from psycopg.waiting import Wait

from proxy.base.errors import Code, Refusal

RESULT_ROWS = 100_000
RESULT_BYTES = 64 * 1024 * 1024  # in memory
CHUNK_ROWS = 20  # that libpq holds before it hands one out; before version 17 a single one
_CHUNK_BYTES = 16 * 1024 * 1024
_CELL_BYTES = 64  # that a value takes in memory beside its own bytes
_BYTES_AT_ONCE = 512 * 1024  # that are taken over before others have their turn


def fetched(pgconn: PGconn) -> PQGen[PGresult | None]:
    """psycopg's generators.fetch, and an end to what the server sends for one result. Exact behind a
    PacedSocket: nothing comes between the count and the reading."""
    received = 0
    while pgconn.is_busy():
        while not (yield Wait.R):
            continue
        received += _unread_bytes(pgconn.socket)
        if received > _CHUNK_BYTES:
            raise _too_large(
                f"{CHUNK_ROWS} rows of the result, one after another, have more than {_CHUNK_BYTES} bytes"
            )
        pgconn.consume_input()
    return pgconn.get_result()


def _unread_bytes(descriptor: int) -> int:
    unread = array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, unread)
    return unread[0]


def _too_large(message: str) -> Refusal:
    return Refusal(Code.TOO_COMPLEX, message, "Use LIMIT, or connect with a PostgreSQL client.")


class GatheredRows:
    """The rows of one statement, as they come in; not more than a response may hold."""

    def __init__(self) -> None:
        self.shape: tuple[tuple[str, int, int], ...] = ()
        self.values: list[tuple[bytes | None, ...]] = []
        self._bytes = 0

    async def take(self, result: PGresult) -> None:
        fields = range(result.nfields)
        self.shape = tuple(
            ((result.fname(index) or b"").decode(), result.ftype(index), result.fmod(index))
            for index in fields
        )
        taken = 0
        for row in range(result.ntuples):
            values = tuple(result.get_value(row, index) for index in fields)
            self.values.append(values)
            taken += sum(len(value or b"") + _CELL_BYTES for value in values)
            if taken > _BYTES_AT_ONCE:
                self._count(taken)
                taken = 0
                await asyncio.sleep(0)
        self._count(taken)

    def _count(self, taken: int) -> None:
        """Refuses  TOO_COMPLEX"""
        self._bytes += taken
        if len(self.values) > RESULT_ROWS:
            raise _too_large(f"the result has more than {RESULT_ROWS} rows")
        if self._bytes > RESULT_BYTES:
            raise _too_large(
                f"the result takes more than {RESULT_BYTES} bytes, each value {_CELL_BYTES} beside its own"
            )
