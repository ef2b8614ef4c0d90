"""One prepared statement on a connection to the ledger, below psycopg's cursors, which take more than twice as
long: a charge is little else.

Values and rows are still psycopg's: its Transformer dumps the one and loads the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import Any

import psycopg
from psycopg import errors, generators
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.rows import TupleRow

Row = dict[str, Any]
_NUMBERS = count()
_TUPLES, _DONE = ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK


class LedgerConnection(psycopg.AsyncConnection[TupleRow]):
    """prepared: the names of its statements, by text and types. There are some dozens of them in all."""

    prepared: dict[tuple[str, tuple[int, ...]], bytes]


async def rows_of_call(
    connection: LedgerConnection, text: str, values: Sequence[object]
) -> list[Row]:
    """One statement, prepared on its first use.

    Given    a connection in autocommit that nobody else uses; text: with %s for each value, and no other %
    Gives    its rows, by names of columns
    Refuses  psycopg.Error
    """
    transformer = Transformer(connection)
    given = transformer.dump_sequence(values, (PyFormat.AUTO,) * len(values))
    types = transformer.types or ()
    if not hasattr(connection, "prepared"):
        connection.prepared = {}
    name = connection.prepared.get((text, types))
    if name is None:
        # Never one that a call had which was cancelled: it may be there.
        name = b"ledger_%d" % next(_NUMBERS)
        connection.pgconn.send_prepare(name, _numbered(text), types)
        await _result(connection)
        connection.prepared[text, types] = name
    connection.pgconn.send_query_prepared(name, given, transformer.formats)
    result = await _result(connection)
    transformer.set_pgresult(result)
    names = [_name(result, number) for number in range(result.nfields)]
    return transformer.load_rows(0, result.ntuples, lambda row: dict(zip(names, row, strict=True)))


async def _result(connection: LedgerConnection) -> PGresult:
    """Refuses  psycopg.Error; where it is cancelled, the statement is, too"""
    results: list[PGresult] = await connection.wait(generators.execute(connection.pgconn))
    if not results:
        raise psycopg.OperationalError
    result = results[-1]
    if result.status not in (_TUPLES, _DONE):
        raise errors.error_from_result(result)
    return result


def _name(result: PGresult, number: int) -> str:
    name = result.fname(number)
    assert name is not None
    return name.decode()


@lru_cache(maxsize=256)
def _numbered(text: str) -> bytes:
    """
    >>> _numbered("SELECT %s, %s::jsonb")
    b'SELECT $1, $2::jsonb'
    """
    first, *rest = text.split("%s")
    return "".join((first, *(f"${n}{part}" for n, part in enumerate(rest, 1)))).encode()
