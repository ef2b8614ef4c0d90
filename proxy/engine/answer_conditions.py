"""What an answer means beside its error: what it is compared with, which rows count, what is made of it."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.base import limits
from proxy.engine.unit_words import one_unit
from proxy.kernel.plan import BlockPlan

COMPARED = (
    "rows are compared with a noisy answer: how many more or fewer of them count is not known"
)
_TRUTHS = (
    "bool_or() and its kin are true or false where the number of such rows is surely more than its noise (the"
    " low end of its 95 % interval above 0), else NULL"
)


def conditions(block: BlockPlan) -> Iterator[str]:
    """Of all answers of a block."""
    if block.uses_answers and not block.has_uncertain_rows:
        yield COMPARED
    if block.has_truths:
        yield _TRUTHS
    if block.is_summed:
        yield "the statement adds up such answers, each with an error of its own"
    if block.most_stored is not None:
        yield (
            f"at most {block.most_stored:,} rows of {one_unit(block)} are read, chosen at random, because the"
            " query is long"
        )
    most = block.text_characters
    if most is not None and most < limits.TEXT_CHARACTERS:  # which functions have anyway
        yield f"of each long text the first {most} characters are looked at, as the query computes much of it"
    for column in block.unowned:
        yield f"rows whose {column} is null belong to nobody and do not count"
    yield from left_out_rows(block)


def left_out_rows(block: BlockPlan) -> Iterator[str]:
    """Rules by which rows are in no group, or in another than they are in: told with each answer."""
    yield from dict.fromkeys(rule for key in block.keys for rule in key.left_out)
    for column in block.beyond:
        rows = f"rows whose {column} is beyond its bounds in the policy"
        yield f"{rows} count in conditions as at the nearest bound"
