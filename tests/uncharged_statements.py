"""Statements that nobody is charged for, run as if they were: for tests of what is compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, cast

from proxy.audit.uncharged_reads import UnchargedReads
from proxy.compiler import compiling
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.compiling import CompiledQuery
from proxy.drawing.charges import PaidQuery, uncharged
from proxy.exact.table import ExactTable
from proxy.kernel.checked_plan import CheckedBlock
from proxy.protected.protected_database import ProtectedDatabase

_PARTS = tuple(one.name for one in fields(BackendQuery))


def written(query: BackendQuery) -> BackendQuery:
    """A statement as plain data, which may be changed."""
    return BackendQuery(**{name: getattr(query, name) for name in _PARTS})


def compiled_anyhow(query: BackendQuery, of: CheckedBlock | None = None) -> CompiledQuery:
    """Say of a statement that it was compiled of something that was checked."""
    if isinstance(query, CompiledQuery):
        return query
    parts: Any = {name: getattr(query, name) for name in _PARTS}
    return CompiledQuery(**parts, of=cast(Any, of), made=compiling._HERE)


def unpaid(query: BackendQuery) -> PaidQuery:
    """Say of a statement that it is charged."""
    return uncharged(compiled_anyhow(query))


async def read(
    data: ProtectedDatabase,
    query: BackendQuery,
    values: Mapping[str, int | str | None],
    is_selected: Callable[[int], bool] | None = None,
) -> ExactTable:
    """The exact results of one statement, in a session of its own."""
    return await UnchargedReads(data).run(compiled_anyhow(query), values, is_selected)
