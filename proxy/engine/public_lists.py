"""Lists of public tables (x IN (SELECT ...)): read before anything is charged, whatever the protected rows are.

Proof that their values tell nothing: proxy/mechanisms/PROOFS.md, "Lists of public tables".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.compiler.backend_query import BackendQuery
from proxy.engine.ports import ProtectedSession

# By the list's own SQL and its parameters: a name is one statement's.
Lists = Mapping[tuple[str, tuple[tuple[str, object], ...]], str]


async def read_lists(session: ProtectedSession, queries: Sequence[BackendQuery]) -> Lists:
    """The values of every list that some statements look up, each read once.

    Refuses  TOO_COMPLEX: more than limits allow, all lists together; UNAVAILABLE
    """
    found: dict[tuple[str, tuple[tuple[str, object], ...]], str] = {}
    number = octets = 0
    for query in queries:
        for wanted in query.lists:
            key = wanted.sql, wanted.parameters
            if key in found:
                continue
            values = await session.public_list(wanted)
            number, octets = number + values.number, octets + values.octets
            large = number > limits.PUBLIC_LIST_ELEMENTS or octets > limits.PUBLIC_LIST_BYTES
            if values.text is None or large:
                raise Refusal(
                    Code.TOO_COMPLEX,
                    f"lists from public tables have more than {limits.PUBLIC_LIST_ELEMENTS} values or "
                    f"{limits.PUBLIC_LIST_BYTES // 1024**2} MiB",
                    "Narrow IN (SELECT ... WHERE ...), or join the public table on its key.",
                )
            found[key] = values.text
    return found


def values_of(query: BackendQuery, lists: Lists) -> Mapping[str, str]:
    """The parameters of one statement that take lists."""
    return {wanted.name: lists[wanted.sql, wanted.parameters] for wanted in query.lists}
