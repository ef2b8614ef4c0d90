"""What an answer means beside its error: what it is compared with, which rows count, what is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proxy.base import limits
from proxy.base.result_columns import is_aggregate_column
from proxy.engine.accuracy import text_of
from proxy.engine.unit_words import counted, one_unit, units_word
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.policy.policy_model import ROWS_AT_MOST
from proxy.query.ir.relations import windows
from proxy.release.small_groups import number_needed

COMPARED = (
    "rows are compared with a noisy answer: how many more or fewer of them count is not known"
)
_TRUTHS = (
    "bool_or() is true where surely some row is so (the low end of the 95 % interval of their number is above"
    " 0), false where none is seen (their noisy number is at most half of its error: a few may be), else NULL;"
    " of bool_and() and every() the same of rows that are not so"
)


def conditions(block: BlockPlan, *, are_all: bool = True) -> Iterator[str]:
    """Say what all answers of a block mean.

    Args:
        are_all: Also limits that are so far up that nothing hangs on them. EXPLAIN says them.
    """
    if block.uses_answers and block.has_truths:
        yield COMPARED
    if block.has_truths:
        yield _TRUTHS
    if block.is_summed:
        yield "the statement adds up such answers, each with an error of its own"
    if block.most_stored is not None and (are_all or stored_rows_matter(block)):
        yield (
            f"at most {counted(block.most_stored, 'row')} of {one_unit(block)} are read, chosen at random,"
            " because the query is long"
        )
    most = block.text_characters
    if most is not None and most < limits.TEXT_CHARACTERS:  # which functions have anyway
        yield f"of each long text the first {most} characters are looked at, as the query computes much of it"
    if are_all:
        yield from fewest_units(block)
    for column in block.unowned:
        yield f"rows whose {column} is null belong to nobody and do not count"
    yield from left_out_rows(block)


def fewest_units(block: BlockPlan) -> Iterator[str]:
    """From how many units on a group is shown, if the policy says it."""
    units, gate = units_word(block), block.fewest
    if gate is not None:
        needed = number_needed(block)
        what = "a group is" if block.keys else "the answer is"
        share = (
            "at most 1 in 1,000 of smaller ones"
            if block.keys
            else "with fewer in 1 of 1,000 answers"
        )
        yield (
            f"min_units_per_group {gate.units}: {what} NULL unless a noisy number counts {needed:,} {units};"
            f" {share} is shown{_price_of_count(block)}"
        )
    elif block.selection is not None and block.selection.fewest > 1:
        yield (
            f"min_units_per_group: a group of fewer than {block.selection.fewest:,} {units} never appears"
        )


def _price_of_count(block: BlockPlan) -> str:
    """What the number costs that no answer is made of."""
    gate = block.fewest
    if gate is None or any(gate.release in one.releases for one in block.answers):
        return ""
    return f"; the number takes {text_of(block.releases[gate.release].loss.epsilon)} of epsilon"


_FAR_UP = 1_000  # rows of one unit


def stored_rows_matter(block: BlockPlan) -> bool:
    """Say whether fewer rows of a unit are read than the policy lets count, or few."""
    if block.most_stored is None:
        return False
    neighbours = block.neighbours
    is_bounded = isinstance(neighbours, UnitNeighbours) and not neighbours.is_unbounded
    if is_bounded and not block.chooses_rows and neighbours.rows < ROWS_AT_MOST:
        return block.most_stored < neighbours.rows
    return block.most_stored < _FAR_UP


def left_out_rows(block: BlockPlan) -> Iterator[str]:
    """Rules by which rows are in no group, or in another than they are in: told with each answer."""
    yield from joint_rules(rule for key in block.keys for rule in key.left_out)
    for column in block.beyond:
        rows = f"rows whose {column} is beyond its bounds in the policy"
        yield f"{rows} count in conditions as at the nearest bound"
    yield from _tied_rows(block)


def _tied_rows(block: BlockPlan) -> Iterator[str]:
    """Which of several rows a row number takes first, where ORDER BY does not say: PostgreSQL takes any."""
    for window in windows(block.source):
        sorted_by = {*window.partition, *(term.expression for term in window.order)}
        others = [column.column for column in window.ties if column not in sorted_by]
        if others:
            by = ", ".join(dict.fromkeys(others))
            if any(
                map(is_aggregate_column, others)
            ):  # of a subquery, which has no name of the client's
                by = "other columns"
            tied = f"of rows of {one_unit(block)} that are equal in ORDER BY"
            yield f"{tied} those with the smaller {by} come first"


def joint_rules(rules: Iterable[str]) -> tuple[str, ...]:
    """Give each rule once, and of one column the rule of the key that moves its rows farthest.

    >>> beyond = "rows whose at is beyond its bounds in the policy"
    >>> joint_rules([f"{beyond} count in the first or last group", f"{beyond} are in no group"])
    ('rows whose at is beyond its bounds in the policy are in no group',)
    """
    found: dict[str, str] = {}
    for rule in rules:
        rows, policy, where = rule.partition(_IN_POLICY)
        if not policy:
            found.setdefault(rule, "")
            continue
        known = found.get(rows + policy, where)
        found[rows + policy] = max(known, where, key=_distance)
    return tuple(rows + where for rows, where in found.items())


_IN_POLICY = " its bounds in the policy "


def _distance(where: str) -> int:
    """How far from their own group rows are: in none, in a wrong one, in the first or last one."""
    if where == "are in no group":
        return 3
    return 2 if "no group" in where else 1 if "wrong group" in where else 0
