"""What is computed of the rows of public tables, for all of them.

Claim: of a statement that `kernel.work` lets pass, what is computed of public rows, above plain reading, takes
at most limits.UNIT_NANOSECONDS. One person decides whether they are read: a join that has found no row on one
side reads nothing of the other.

Argument: PostgreSQL computes of a public row what stands in its own subquery and groups, what a join compares,
and each part of a condition above that is about public columns alone, which it may look at below the join. A
public table has so many rows as were counted when its values were read. What is within PLAIN_ROW_NANOSECONDS is
plain reading: it takes as long as the table is large, which is not promised (SECURITY.md, "Time").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from proxy.base import limits
from proxy.catalog.catalog_model import TableName
from proxy.kernel.work_prices import NodePrice
from proxy.query.ir.expression_walk import children
from proxy.query.ir.expressions import Expression


@dataclass(frozen=True, slots=True)
class PublicSource:
    """A relation without protected rows: scans by alias, so many rows it has."""

    scans: frozenset[str]
    rows: int


def joined_source(
    left: PublicSource | None, right: PublicSource | None, is_met_once: bool
) -> PublicSource | None:
    """Count rows of two public relations; None where one of them is protected.

    Args:
        is_met_once: a row of one side has one partner at most.

    >>> few, more = PublicSource(frozenset("a"), 20), PublicSource(frozenset("b"), 30)
    >>> joined_source(few, more, False).rows, joined_source(few, more, True).rows
    (600, 30)
    """
    if left is None or right is None:
        return None
    most = max(left.rows, right.rows)
    rows = most if is_met_once else max(most, left.rows * right.rows)
    return PublicSource(left.scans | right.scans, rows)


def united_source(parts: Sequence[PublicSource | None]) -> PublicSource | None:
    """Count rows of a UNION ALL; None where one part is protected."""
    public = [one for one in parts if one is not None]
    if len(public) < len(parts):
        return None
    scans = frozenset[str]().union(*(one.scans for one in public))
    return PublicSource(scans, sum(one.rows for one in public))


@dataclass(slots=True)
class PublicTally:
    """Adds up, by the scans whose rows are looked at."""

    sizes: Mapping[TableName, int]
    sources: dict[str, PublicSource] = field(default_factory=dict)  # by alias
    tables: dict[str, TableName] = field(default_factory=dict)  # of scans
    spent: dict[frozenset[str], float] = field(default_factory=dict)
    plain: dict[frozenset[str], float] = field(default_factory=dict)

    def scan(self, alias: str, table: TableName) -> PublicSource:
        self.tables[alias] = table
        rows = self.sizes.get(table, limits.PUBLIC_ROWS)
        return self.named(alias, PublicSource(frozenset((alias,)), rows))

    def named(self, alias: str, source: PublicSource) -> PublicSource:
        self.sources[alias] = source
        return source

    def spend(self, nanoseconds: float, source: PublicSource) -> None:
        """Of each row of the source."""
        scans = source.scans
        self.spent[scans] = self.spent.get(scans, 0.0) + nanoseconds * source.rows
        read = max(self._rows_of(scan) for scan in scans) * limits.PLAIN_ROW_NANOSECONDS
        self.plain[scans] = float(read)

    def spend_on_parts(
        self, expression: Expression | None, price: Callable[[Expression], NodePrice]
    ) -> None:
        """Of a condition about public and protected columns: what is computed of public ones alone."""
        if expression is None or not self.sources:
            return
        found = price(expression)
        of_public = [self.sources.get(alias) for alias, _ in found.leaves]
        first, *others = of_public or [None]
        if first is None or None in others:
            for part in children(expression) if any(of_public) else ():
                self.spend_on_parts(part, price)
            return
        source: PublicSource | None = first
        for other in others:
            source = joined_source(source, other, True)
        assert source is not None
        self.spend(found.nanoseconds, source)

    def _rows_of(self, scan: str) -> int:
        return self.sources[scan].rows

    def above_reading(self) -> tuple[float, str]:
        """Nanoseconds above plain reading, and of which table most."""
        above = {scans: max(0.0, self.spent[scans] - self.plain[scans]) for scans in self.spent}
        if not above:
            return 0.0, ""
        first = max(above, key=lambda scans: above[scans])
        return sum(above.values()), str(self.tables[min(first)])
