"""Blocks that compare with the answer of an earlier block: they are cached as questions about that answer.

    SELECT count(*) FROM orders WHERE total > (SELECT avg(total) FROM orders)

The inner answer is a released number, so a question about it tells nothing new. Where it is made of other
answers, the number itself is in the digest of the outer question. Where it is claimed, it is what stands in the
ledger: that never changes in a slot, so the digest of the inner question names it before anything is drawn, and
all blocks are one charge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from proxy.drawing.answer_slots import CachedQuestion, Claimed, question_given
from proxy.engine.cached_answers import CachedAnswers, DerivedBlock
from proxy.engine.remembered_plans import PreparedQuery
from proxy.kernel.plan import BlockPlan
from proxy.release.cached_block import with_noises, with_releases
from proxy.release.presenting import presented
from proxy.reuse.canonical_form import CanonicalForm, NotCanonical
from proxy.turns.threads import Turn


async def without_paid_answers(
    prepared: PreparedQuery,
    analyst: str,
    cached: CachedAnswers,
    parts: Sequence[CachedQuestion],
    derived: Mapping[int, DerivedBlock],
) -> Mapping[int, DerivedBlock]:
    """Leave out those that others compare with and that the analyst has paid already: they are the same number
    as before, and cost nothing either."""
    compared = {one.block for one in prepared.scalars} & derived.keys()
    digests = {number: parts[number].digest for number in compared}
    known = [digest for digest in digests.values() if digest is not None]
    if not known:
        return derived
    paid = await cached.ledger.paid_of(analyst, known)
    return {number: one for number, one in derived.items() if digests.get(number) not in paid}


async def with_given_answers(
    prepared: PreparedQuery,
    cached: CachedAnswers,
    claimed: Claimed,
    derived: Mapping[int, DerivedBlock],
    lifted: frozenset[int],
    turn: Turn,
) -> Claimed:
    """Give a question to each claimed block that compares with answers of which it is known which they are.

    Args:
        prepared: The statement.
        cached: Where answers are cached.
        claimed: Its blocks that are to be claimed.
        derived: The others.
        lifted: Claimed blocks whose answer is one group of what is stored under their digest.
        turn: In which long jobs run.
    """
    if not prepared.scalars:
        return claimed
    found = dict(claimed)
    for number, part in sorted(claimed.items()):
        if part.digest is not None or not part.block.block.uses_answers:
            continue
        before = [one for one in prepared.scalars if one.block < number]
        named = {
            one.answer.index: _name(prepared.private.blocks[one.block], one.block, found, derived)
            for one in before
            if one.block not in lifted
        }
        if len(named) < len(before) or None in named.values():
            continue
        asks = await cached.named(part.block, turn)
        if asks is None:
            continue
        given = json.dumps(sorted(named.items()))
        of_ledger = frozenset(found[one.block].block for one in before if one.block in found)
        found[number] = question_given(
            part.block, asks.question, asks.terms, asks.order, given, of_ledger
        )
    return found


def _name(
    block: BlockPlan, number: int, claimed: Claimed, derived: Mapping[int, DerivedBlock]
) -> str | None:
    """What an answer is, by its number or by what stands in the ledger; None: that is not known yet."""
    if number in derived:
        return f"is {_value(block, derived[number])}"
    part = claimed.get(number)
    if part is None or part.digest is None:
        return None
    try:
        as_shown = part.order.releases, block.is_rounded, block.answers, block.fewest
        shown = CanonicalForm().text(as_shown)
    except NotCanonical:
        return None
    return f"of {part.digest.hex()} as {shown}"


def _value(block: BlockPlan, derived: DerivedBlock) -> str | None:
    """As it is put into the statement."""
    cached = derived.block
    if cached.noises:
        block = with_noises(block, cached.noises)
    if cached.releases:
        block = with_releases(block, cached.releases)
    return presented(block, cached.drawn).rows[0].values[0].text()
