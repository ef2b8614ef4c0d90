"""What a join by truncation is made of, and how many joined rows change at most when the parts' rows do.

The parts are the tables and subqueries that hold protected rows; the equalities by which they are joined are
the edges of a tree, as each further one joins two trees. Each part is cut by all columns of it that an edge
names, one after the other. Proof: PROOFS.md, "Joins by truncation".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from proxy.query.ir.expressions import ColumnRef


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTruncation:
    """A part has at most `most` rows of one value of the column (T); `changed` of its rows change for each row
    that does before the cut (S): 2 is one that takes the place of another."""

    column: str
    most: int
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedPart:
    """A table or subquery in a join.

    rows: so many of its rows change between neighbours, before it is cut; names: of a row, in whose order it is
    cut; truncations: in their order; factor: so many joined rows at most hold one of its rows; single_on: it
    stands by itself on the right of a LEFT JOIN, on this column of it; crossed: so many LEFT JOINs more it is
    right of.
    """

    alias: str
    rows: int
    names: tuple[ColumnRef, ...]
    truncations: tuple[KeyTruncation, ...] = ()
    factor: int = 1
    single_on: str | None = None
    crossed: int = 0

    @property
    def joined(self) -> int:
        """So many joined rows change at most with this part.

        A row of the right side that comes alone makes pairs, and takes as many rows without partner away: each
        counts twice. One that takes the place of another of the same value does not: a row of the left side
        loses a pair and wins one, or it changes between a pair and a row without partner.
        """
        changed = math.prod(one.changed for one in self.truncations)
        last = self.truncations[-1] if self.truncations else None
        is_in_place = last is not None and last.changed == 2 and last.column == self.single_on
        twice = self.crossed + (self.single_on is not None and not is_in_place)
        return self.rows * changed * self.factor << twice

    def truncated(self, rule: KeyTruncation | None) -> TruncatedPart:
        """With one cut more, unless it is there."""
        if rule is None or rule in self.truncations:
            return self
        return replace(self, truncations=(*self.truncations, rule))


def joined_parts(
    left: Sequence[TruncatedPart],
    right: Sequence[TruncatedPart],
    most: tuple[int, int],
    places: tuple[int, int],
    *,
    outer_on: str | None,
    is_alone: bool,
) -> tuple[TruncatedPart, ...]:
    """The parts of two joins that are joined.

    Given    places: of the parts whose columns are equal, cut by them; most: rows with one value there;
             outer_on: of a LEFT JOIN the right one of these columns; is_alone: nothing is joined to the right
             part before, so that no other table takes its rows away
    """
    ours, theirs = (
        count * parts[place].factor
        for count, parts, place in zip(most, (left, right), places, strict=True)
    )
    found = [replace(part, factor=part.factor * theirs) for part in left]
    for part in right:
        changed = replace(part, factor=part.factor * ours)
        if outer_on is not None and is_alone:
            changed = replace(changed, single_on=outer_on)
        elif outer_on is not None:
            changed = replace(changed, crossed=part.crossed + 1)
        found.append(changed)
    return tuple(found)


def changed_rows(parts: Sequence[TruncatedPart]) -> int:
    """How many joined rows change when all parts do.

    Source   T_l S_r M_r + T_r S_l M_l of two parts (docs/design/mechanisms.md 3.3; Tumult Analytics,
             "Understanding sensitivity")

    >>> excess, unique = (KeyTruncation(column="k", most=t, changed=s) for t, s in ((2, 2), (1, 1)))
    >>> a, b = (TruncatedPart(alias=name, rows=1, names=()).truncated(excess) for name in "ab")
    >>> changed_rows(joined_parts([a], [b], (2, 2), (0, 0), outer_on=None, is_alone=True))
    8
    >>> b = replace(b, truncations=(unique,))
    >>> [changed_rows(joined_parts([a], [b], (2, 1), (0, 0), outer_on=o, is_alone=True)) for o in (None, "k")]
    [4, 6]
    """
    return sum(part.joined for part in parts)
