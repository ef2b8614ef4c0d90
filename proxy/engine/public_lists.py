"""Lists of public tables (x IN (SELECT ...)): read before anything is charged, whatever the protected rows are.

Proof that their values tell nothing: proxy/mechanisms/PROOFS.md, "Lists of public tables".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.other_values import other_values
from proxy.drawing.answer_slots import CachedQuestion, Claimed, with_derivable
from proxy.drawing.drawer import Lists, list_key
from proxy.drawing.protected_reads import ProtectedSession
from proxy.policy.policy_model import Policy
from proxy.reuse.derivable import Derivable, ListedKey, without


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


# Whether keys of a question still have all values that a public table holds, asked in the session that is to
# read.
#
# Plans go by what public tables held when they were last copied. A row of another value is in no group
# then: the groups do not say so of themselves, but a sum of them would, of all rows. It is asked before the
# charge, of a public table alone, and in the transaction that reads the rows.
#
# Source  docs/design/reuse.md 4


async def confirmed(session: ProtectedSession, parts: Claimed) -> Claimed:
    """Nothing is added up over a key that lacks a value now.

    Refuses  UNAVAILABLE
    """
    held_more: dict[ListedKey, bool] = {}
    found: dict[int, CachedQuestion] = {}
    for number, part in parts.items():
        derivable = part.derivable
        if derivable is not None and derivable.listed:
            policy = part.block.world.policy
            for one in derivable.listed:
                of_all = replace(one, place=0)
                if of_all not in held_more:
                    held_more[of_all] = await _holds_more(session, policy, one)
            part = with_derivable(part, _of(derivable, held_more))
        found[number] = part
    return found


def _of(derivable: Derivable, held_more: Mapping[ListedKey, bool]) -> Derivable:
    more = [one for one in derivable.listed if held_more[replace(one, place=0)]]
    return without(derivable, more) if more else derivable


async def _holds_more(session: ProtectedSession, policy: Policy, listed: ListedKey) -> bool:
    others = other_values(policy, listed.table, listed.column, listed.values)
    return (await session.public_list(others)).number > 0


async def refuse_lacking(session: ProtectedSession, parts: Sequence[CachedQuestion]) -> None:
    """A release would lack groups of what a public table has held since it was copied: sums of its groups would
    not be of all rows."""
    for number, part in (await confirmed(session, dict(enumerate(parts)))).items():
        if part.derivable != parts[number].derivable:
            raise Refusal(
                Code.UNAVAILABLE,
                "a public table holds values that have not been copied yet",
                "It is released when they have been.",
            )
