"""Lists of public tables (x IN (SELECT ...)): read before anything is charged, whatever the protected rows are.

Proof that their values tell nothing: proxy/mechanisms/PROOFS.md, "Lists of public tables".
"""

from __future__ import annotations

from collections.abc import Sequence

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.compiler.backend_query import BackendQuery
from proxy.drawing.drawer import Lists, list_key
from proxy.drawing.protected_reads import ProtectedSession


async def read_lists(session: ProtectedSession, queries: Sequence[BackendQuery]) -> Lists:
    """The values of every list that some statements look up, each read once.

    Refuses  TOO_COMPLEX: more than limits allow, all lists together; UNAVAILABLE
    """
    found: dict[tuple[str, tuple[tuple[str, object], ...]], str] = {}
    number = octets = 0
    for query in queries:
        for wanted in query.lists:
            key = list_key(wanted)
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
