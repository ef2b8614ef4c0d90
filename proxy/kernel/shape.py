"""How much of a unit counts in a block, over all its groups: what SQL bounds, whatever releases say of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from proxy.kernel.neighbour_kinds import Neighbours, UnitNeighbours
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """neighbours: as the plan has them, checked against its source; count: how many groups are answered,
    None where that is private; is_spread: whether SQL gathers the rows of a unit by group; is_open: whether
    the bound on the rows of a unit is still to be chosen; reach: at most so many groups hold rows of one unit,
    as the unit fixes the other keys, None where nothing is known."""

    neighbours: Neighbours
    count: int | None
    is_spread: bool
    is_open: bool = False
    reach: int | None = None

    @property
    def groups(self) -> int:
        """Bound the groups that one unit, or all rows that change, are in.

        Privacy: SQL keeps so many of a unit (PROOFS.md 18 U3), or no more are answered, or the unit has rows in
            no more (27 K6). A row is in one group.

        >>> from tests.kernel.examples import shape
        >>> shape(count=5, groups=2).groups, shape(count=5, groups=None).groups
        (2, 5)
        >>> shape(count=5, groups=None, reach=1).groups, shape(count=None, groups=None, reach=1).groups
        (1, 1)
        """
        if isinstance(self.neighbours, UnitNeighbours):
            return self._least(self.neighbours.groups, self.reach)
        return self._least(self.neighbours.rows)

    def _least(self, *bounds: int | None) -> int:
        """The least bound on groups of a unit, of these and the number of groups that are answered."""
        count = None if self.count is None else max(1, self.count)
        given = [bound for bound in (*bounds, count) if bound is not None]
        if not given:
            raise NotPrivate(Rule.GROUPS, "groups of a unit without a bound")
        return min(given)

    def values(self, keeps_one_group: bool) -> int:
        """Bound the values that change if each unit has one value in each of its groups; or each row has one.

        Privacy: the value of a unit in a group is a function of its own rows there. SQL keeps one group of each
            unit (PROOFS.md 18 U8); else the unit may be in all that are answered, or in which it has rows (27
            K6), as SQL cuts no others here. A row has one value in one group.

        Raises:
            NotPrivate: A unit may be in any number of groups.

        >>> from tests.kernel.examples import shape
        >>> shape(count=5, groups=2).values(True), shape(count=5, groups=2).values(False)
        (1, 5)
        >>> shape(count=5, groups=2, reach=3).values(False)
        3
        """
        if not isinstance(self.neighbours, UnitNeighbours):
            return self.neighbours.rows
        if keeps_one_group:
            return 1
        return self._least(self.reach)

    @property
    def rows(self) -> int:
        """Bound the rows of a unit that count, over all groups; or the rows that change.

        Privacy: PROOFS.md 18 U1, U2, U4. Without several groups no SQL has `rows_per_group`, so U1 alone holds.

        >>> from tests.kernel.examples import shape
        >>> shape(count=5, groups=2, rows=6, rows_per_group=2).rows
        4
        >>> shape(count=1, groups=2, rows=6, rows_per_group=2).rows
        6
        """
        unit = self.neighbours
        if not isinstance(unit, UnitNeighbours) or not self.is_spread:
            return unit.rows
        bounds = [unit.rows] if unit.is_summed else []
        if unit.rows_per_group is not None:
            bounds.append(self.groups * min(unit.rows, unit.rows_per_group))
        if not bounds:
            raise NotPrivate(Rule.GROUPS, "rows of a unit without a bound")
        return min(bounds)

    @property
    def squared(self) -> Fraction:
        """Bound the squared length of what a unit adds to the counts of all groups.

        Privacy: PROOFS.md 18 U4: the most that so many rows have, where groups hold at most so many of them
            each.

        >>> from tests.kernel.examples import shape
        >>> shape(count=5, groups=2, rows=6, rows_per_group=2).squared
        Fraction(8, 1)
        """
        unit, rows = self.neighbours, self.rows
        if not isinstance(unit, UnitNeighbours) or not self.is_spread:
            return Fraction(rows**2)
        if unit.rows_per_group is None:
            return Fraction(rows**2)
        full, rest = divmod(rows, unit.rows_per_group)
        return Fraction(full * unit.rows_per_group**2 + rest**2)


def shape_of(plan: BlockPlan, *, is_open: bool = False) -> Shape:
    """Find the shape of a block. is_open: whether a bound on rows is still to be chosen."""
    count = plan.groups()
    return Shape(
        neighbours=plan.neighbours,
        count=count,
        is_spread=bool(plan.keys) and count != 1,
        is_open=is_open,
        reach=plan.reach,
    )


def check_groups(plan: BlockPlan) -> None:
    """Let a block pass that answers each group once.

    Privacy: with two answers about one group a row would be in both. A group has one text of each key: of more
        or fewer two groups would be found by the same texts.

    Raises:
        NotPrivate: A group is answered twice, or has more or fewer texts than there are keys.

    >>> from tests.kernel.examples import block_of, key_plan, scan
    >>> check_groups(block_of(scan("r1", "visits"), keys=(key_plan("i2", ("1", "2")),)))
    >>> check_groups(block_of(scan("r1", "visits"), keys=(key_plan("i2", ("1", "1")),)))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    lists: list[tuple[object, ...]] = [key.values for key in plan.keys if key.values is not None]
    if plan.combinations is not None:
        lists = [plan.combinations]
        if any(len(group) != len(plan.keys) for group in plan.combinations):
            raise NotPrivate(Rule.GROUPS, "a group of another number of keys")
    if any(len(set(answered)) < len(answered) for answered in lists):
        raise NotPrivate(Rule.GROUPS, "a group that is answered twice")
