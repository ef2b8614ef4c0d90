"""Window functions over the rows of one privacy unit: columns that its own rows decide.

Whatever the question partitions by, rows are also partitioned by the unit, so that what stands in a row is a
function of the rows of its unit, and as many rows are as before: neighbours that differ in a unit differ in its
rows alone, and no bound on them changes. What was asked must say the same, so it has to be partitioned by the
unit, or by a key of a table, each of whose rows is of one unit.

A row number, or the value of another row, depends on the order of rows that ORDER BY does not tell apart. Which
comes first is the server's choice, and by its sorting it could hang on rows of other units. So all columns that
anything above can see follow in ORDER BY: rows that are alike in these are the same to everything above,
whichever is first. Where ORDER BY has the whole key of the table none follows.

All windows of one subquery have one order, so that they take alike rows in the same one
(PostgreSQL 17 documentation, section 7.2.5); others are in subqueries around it, where the rows are told apart
by what this one has made of them.

Where the partition is of a key, or of a unit that an outer join may leave NULL, the rows without it are one
partition in PostgreSQL, of many units: their values are NULL here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Fault, Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import has_one_form, is_ordered_whole, tells_forms_apart
from proxy.kernel.join_rules import met_once
from proxy.kernel.owners import OfUnit, name
from proxy.planner.computed_columns import computed_column
from proxy.planner.facts import (
    ColumnFacts,
    Facts,
    PlanningContext,
    RelationWithUnit,
    UnitRows,
    typed,
)
from proxy.planner.lookups import stored_column
from proxy.planner.rows_per_unit import unit_aggregate
from proxy.planner.unit_truncation import check_forms, key_of
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.rebuilding import rebuild
from proxy.query.ir.relations import (
    OrderTerm,
    Scan,
    Subquery,
    WindowColumn,
    WindowFunction,
)

_OF_A_UNIT = "a window over rows of a protected table must be partitioned by the privacy unit"


def windowed(
    subquery: Subquery,
    passed: Sequence[Expression],
    source: RelationWithUnit,
    public: Facts,
    where: Expression | None,
    known: PlanningContext,
) -> tuple[tuple[WindowColumn, ...], dict[tuple[str, str], ColumnFacts]]:
    """
    Given    passed: the other columns of the subquery; public: facts of the source, narrowed by where
    Gives    its window columns as planned, and what is known of them
    Refuses  UNSUPPORTED: windows that may be over rows of several units
    """
    if len({column.sorts for column in subquery.windows}) > 1:
        raise Fault
    ownership = source.ownership
    if not isinstance(ownership, UnitRows):
        raise Refusal(
            Code.UNSUPPORTED,
            "window functions are not available over rows that are privacy units by themselves",
            "Each row is alone in its partition there: leave the window out, or use it over answers of a"
            " subquery with GROUP BY.",
            subquery.windows[0].position,
        )
    planner = _WindowPlanner(source, ownership, public, where, known)
    ties = planner.ties(passed, subquery.windows)
    planner.check_width(ties, subquery.windows)
    found = {}
    planned = []
    for column in subquery.windows:
        made, facts = planner.column(column, ties)
        planned.append(made)
        found[subquery.alias, column.name] = facts
    return tuple(planned), found


class _WindowPlanner:
    def __init__(
        self,
        source: RelationWithUnit,
        ownership: UnitRows,
        public: Facts,
        where: Expression | None,
        known: PlanningContext,
    ) -> None:
        self._source, self._ownership = source, ownership
        self._public, self._where, self._known = public, where, known

    def ties(
        self, passed: Sequence[Expression], windows: Sequence[WindowColumn]
    ) -> tuple[ColumnRef, ...]:
        """All columns that anything above can see, or that a window is made of.

        Refuses  UNSUPPORTED: a jsonb, of which equal ones can be told apart, in rows without a key
        """
        found: dict[ColumnRef, None] = {}

        def take(part: Expression) -> Expression:
            if isinstance(part, ColumnRef):
                found[replace(part, position=None)] = None
            return part

        parts = [part for column in windows for part in column.expressions]
        for part in (*passed, *(typed(part, self._source.facts) for part in parts)):
            rebuild(part, take)
        if has_one_form(self._ownership.column.type):
            found.pop(self._ownership.column, None)  # alike in all rows of a partition
        named_by = self._ownership.named_by
        if not named_by and not all(tells_forms_apart(column.type) for column in found):
            relation = self._source.relation
            named_by = key_of(relation, self._known) if isinstance(relation, Scan) else ()
        if not named_by and any(column.depends_on_ties for column in windows):
            for column in found:
                check_forms(column, windows[0].position)
        return (*found, *(name for name in named_by if name not in found))

    def check_width(self, used: Sequence[ColumnRef], windows: Sequence[WindowColumn]) -> None:
        """Rows are sorted with all that is used of them, and computed texts stand there at their length, as
        those of GROUP BY keys do, of which there are as few.

        Refuses  TOO_COMPLEX: too many of them
        """
        relation, first = self._source.relation, windows[0]
        by = [*first.partition, *(term.expression for term in first.order)]
        wide = [part for part in used if stored_column(relation, part) is None] + by
        if sum(part.type is None or part.type.is_text for part in wide) > limits.GROUP_KEYS:
            raise Refusal(
                Code.TOO_COMPLEX,
                f"windows over rows of a protected table use at most {limits.GROUP_KEYS} computed texts",
                "Leave columns out of the subquery, or compute them around it.",
                first.position,
            )

    def column(
        self, column: WindowColumn, ties: tuple[ColumnRef, ...]
    ) -> tuple[WindowColumn, ColumnFacts]:
        if column.function is WindowFunction.ROW_NAME:
            return column, ColumnFacts(SqlType.UUID, nullable=False)
        facts, unit = self._source.facts, self._ownership.column
        present = self._names_the_unit(column)
        partition = tuple(self._sorted_by(part, column) for part in column.partition)
        order = tuple(
            replace(term, expression=self._sorted_by(term.expression, column))
            for term in column.order
        )
        planned = replace(
            column,
            partition=(unit, *(part for part in partition if part != unit)),
            order=order,
            ties=ties if column.depends_on_ties and not self._has_a_key(order) else (),
            present=present,
            rows=self._ownership.rows,
        )
        match column.function:
            case WindowFunction.AGGREGATE:
                assert column.aggregate is not None
                aggregate, known = unit_aggregate(column.aggregate, self._ownership, facts)
                planned = replace(planned, aggregate=aggregate)
            case WindowFunction.ROW_NUMBER | WindowFunction.RANK | WindowFunction.DENSE_RANK:
                known = self._numbered()
            case (
                WindowFunction.FIRST_VALUE
                | WindowFunction.LAST_VALUE
                | WindowFunction.LAG
                | WindowFunction.LEAD
            ):
                assert column.operand is not None
                operand, known = computed_column(
                    typed(column.operand, facts), self._public, self._where
                )
                planned, known = replace(planned, operand=operand), _of_another_row(known)
            case WindowFunction.ROW_NAME:
                raise AssertionError("it is of no window")
            case _:
                assert_never(column.function)
        may_lack = planned.present is not None or column.function in _ELSEWHERE
        if may_lack and known.values is not None and None not in known.values:
            known = replace(known, values=(*known.values, None))
        return planned, replace(known, nullable=may_lack or known.nullable)

    def _has_a_key(self, order: Sequence[OrderTerm]) -> bool:
        """Say whether ORDER BY tells all rows of a table apart. Texts do not: they are printed in part."""
        relation, named = self._source.relation, {term.expression for term in order}
        key = key_of(relation, self._known) if isinstance(relation, Scan) else ()
        return bool(key) and all(
            part in named and is_ordered_whole(part.type) and not part.type.is_text for part in key
        )

    def _numbered(self) -> ColumnFacts:
        rows = self._ownership.rows
        values = None
        if rows <= limits.GROUPS_PER_STATEMENT:
            values = tuple(str(n) for n in range(1, rows + 1))
        return ColumnFacts(SqlType.INT8, Bounds(Fraction(1), Fraction(rows)), Fraction(1), values)

    def _names_the_unit(self, column: WindowColumn) -> ColumnRef | None:
        """The column of the partition of which each value is of one unit; None: all rows have one."""
        parts = [typed(part, self._source.facts) for part in column.partition]
        names = [part for part in parts if isinstance(part, ColumnRef)]
        if self._ownership.column in names:
            return None
        found = self._known.attributed(self._source.relation)
        for part in names:
            if found is None or not isinstance(found.owner, OfUnit):
                break
            of, at = found.owner, name(part)
            if at in of.columns:
                return None
            of_unit = of.or_null | {column for column, _ in of.named}
            if at in of_unit or met_once(found, {at}):
                return part if self._source.facts[at].nullable else None
        unit = stored_column(self._source.relation, self._ownership.column)
        named = "unit" if unit is None else unit[1][0]
        raise Refusal(
            Code.UNSUPPORTED,
            _OF_A_UNIT,
            f"Write OVER (PARTITION BY {named} ...), also with further keys; or group first, and use the window"
            " over the answers.",
            column.position,
        )

    def _sorted_by(self, part: Expression, column: WindowColumn) -> Expression:
        """
        Refuses  UNSUPPORTED: a type that may have no order, which raises once there is a row
        """
        expression = typed(part, self._source.facts)
        kind = expression.type
        if kind is None or kind is SqlType.OTHER or kind.is_compound:
            _refuse(
                "rows cannot be ordered by a column of this type",
                "Order and partition by numbers, texts, dates, timestamps, booleans or uuids.",
                column.position,
            )
        return computed_column(expression, self._public, self._where)[0]


# Beside the first and the last row there is none.
_ELSEWHERE = (WindowFunction.LAG, WindowFunction.LEAD)


def _of_another_row(known: ColumnFacts) -> ColumnFacts:
    """What is known of a value wherever it is: not what it adds up to over the rows of a unit, as it may be
    there several times, nor that it is of the public row that others are of."""
    return ColumnFacts(
        known.type,
        known.bounds,
        known.grid,
        known.values,
        step=known.step,
        least=known.least,
        nullable=known.nullable,
        partitions=known.partitions,
        mechanism=known.mechanism,
        characters=known.characters,
        held=known.held,
        open_rows=known.open_rows,
        kept=known.kept,
        unbounded=known.unbounded,
    )


def _refuse(message: str, hint: str, position: int | None) -> NoReturn:
    raise Refusal(Code.UNSUPPORTED, message, hint, position)
