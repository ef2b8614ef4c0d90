"""Proposals of bounds at random, over relations at random of which the tables are charged or are not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.catalog.catalog_model import TableName
from proxy.compiler.backend_query import BackendQuery
from proxy.kernel.bound_choices import BoundChoice
from proxy.kernel.proposal_plan import Proposed, ProposedBound, TableProposals
from proxy.mechanisms.loss import Loss
from proxy.planner.neighbours import choice_of
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Join, Scan
from tests.kernel.made_values import ValueMaker, _Source
from tests.kernel.tiny_database import TinyDatabase
from tests.pipeline_world import CATALOG

_TABLES = ("people", "trips", "visits", "orders", "notes", "members", "calls", "lines", "events")
_STEPS = (Fraction(1), Fraction(1), Fraction(1, 100), Fraction(10), Fraction(86_400))
_BOUNDS = ((1,), (1, 2, 3), (2, 5), (3, 10**6, 10**12))


@dataclass(slots=True)
class ProposalMaker:
    """values: of relations and rows, and of chance."""

    values: ValueMaker

    def proposals(self) -> TableProposals:
        random = self.values.maker.random
        table = random.choice(_TABLES)
        source = self._source(table)
        units = source.named("uid") or source.named("unit") or source.columns
        unit = random.choice(units)
        gathered_by = unit if random.random() < 0.8 else random.choice(source.columns)
        count = min(len(source.columns), random.choice((0, 1, 2)))
        return TableProposals(
            table=TableName("w", table),
            relation=source.relation,
            unit=gathered_by if random.random() < 0.6 else None,
            not_null=unit if random.random() < 0.7 else None,
            keys=tuple(random.sample(source.columns, count)),
            bounds=tuple(self._bound(source.columns) for _ in range(random.choice((1, 2, 3)))),
        )

    def _source(self, table: str) -> _Source:
        random = self.values.maker.random
        found = self._of_table(table)
        if table == "lines":  # whose units are where references lead
            found = self._referring(found, self._of_table("orders"))
        for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
            above = (self.values._filtered, self.values._cut_rows, self.values._per_unit)
            found = random.choice(above)(found)
        return found

    def _of_table(self, table: str) -> _Source:
        alias = self.values._alias()
        columns = CATALOG.tables[TableName("w", table)].columns
        return _Source(
            relation=Scan(alias, TableName("w", table)),
            columns=[ColumnRef(one.name, one.type, None, alias) for one in columns],
        )

    def _referring(self, lines: _Source, orders: _Source) -> _Source:
        random = self.values.maker.random
        pair = (lines.named("order_id")[0], orders.named("id")[0])
        sides = [lines, orders]
        if random.random() < 0.3:
            sides, pair = [orders, lines], (pair[1], pair[0])
        left, right = sides
        is_outer = random.random() < 0.3
        return _Source(
            relation=Join(left.relation, right.relation, is_outer, (pair,), None),
            columns=[*left.columns, *right.columns],
        )

    def _bound(self, columns: list[ColumnRef]) -> ProposedBound:
        random = self.values.maker.random
        ordered = [one for one in columns if one.type.is_number or one.type.is_time]
        return ProposedBound(
            what=random.choice(tuple(Proposed)),
            choice=self._choice(),
            times=random.choice((1, 1, 1, 2, 3, 6)),
            column=random.choice(ordered or columns),
            step=random.choice(_STEPS),
        )

    def _choice(self) -> BoundChoice:
        random = self.values.maker.random
        found = choice_of(Loss(Fraction(1), Fraction(0)), random.choice((4, 100, 10**6)))
        return replace(found, bounds=random.choice(_BOUNDS)) if random.random() < 0.3 else found


def bands(database: TinyDatabase, query: BackendQuery) -> dict[int, Counter[int]]:
    """By the place of a bound: how many units are in each band."""
    found: dict[int, Counter[int]] = {}
    for row in database.table(query).rows:
        place, band, counted = (value or 0 for value in row.values)
        found.setdefault(place, Counter())[band] += counted
    return found
