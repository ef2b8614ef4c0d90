"""Random statements, each with a policy whose bounds are mixed: rows of a unit given, chosen or unbounded,
totals of all signs given or chosen, narrow and wide bounds of values, with and without bounds on groups.

A statement follows from its number alone, so that one that is found can be made again.
"""

from __future__ import annotations

import random  # noqa: TID251  the same statements for the same number
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from proxy.kernel.plan import PrivatePlan
from proxy.planner.planning import ChosenBounds
from proxy.policy.policy_model import (
    ROWS_AT_MOST,
    Bounds,
    ColumnPolicy,
    IdentifierUnit,
    Mechanism,
    Policy,
    ProtectedTable,
)
from tests.pipeline_world import POLICIES

_Choice = TypeVar("_Choice")
_NUMBERS = ("i4", "n2", "i8", "i2", "n", "f4", "f8")
_FILTERS = (
    *("", "", ""),
    *(" FILTER (WHERE i2 > 0)", " FILTER (WHERE b)", " FILTER (WHERE n2 IS NOT NULL)"),
)
_WHERE = ("", "", " WHERE t <> 'x'", " WHERE i4 > 0", " WHERE b", " WHERE d > '2005-01-01'")
_KEYS = (
    *("t", "t", "c", "i2", "s", "b", "e", "d"),
    *("extract(year FROM ts)", "lower(t)", "coalesce(t, 'none')"),
)
_SHOWN = "uid, i2, i4, i8, n2, n, f4, f8, t, c, s, b, e, d, ts"
_SOURCES = (
    *("orders", "orders", "orders", "visits", "notes", "calls", "lines", "members"),
    f"(SELECT {_SHOWN} FROM orders WHERE i4 > 0) q",
    f"(SELECT {_SHOWN} FROM orders UNION ALL SELECT {_SHOWN} FROM orders) q",
)
_ERRORS = ("dp.error", "dp.low", "dp.high", "dp.clipped")
_PLACES = (0, 1, 2, 3, 5, 8, 12, 20, 10**6)


def _bounds(low: int, high: int) -> Bounds:
    return Bounds(Fraction(low), Fraction(high))


_TOTALS = (
    *(_bounds(0, 300), _bounds(5, 90), _bounds(0, 1)),
    *(_bounds(-200, -10), _bounds(-50, 120), _bounds(-(10**6), 10**9)),
)
_NARROW = (_bounds(-5, -1), _bounds(-5, 5), _bounds(3, 9), _bounds(0, 0), _bounds(7, 7))
_WIDE: Mapping[str, tuple[Bounds, Fraction | None]] = {
    "i8": (_bounds(-(2**40), 2**40), Fraction(1)),
    "i4": (_bounds(-(2**31), 2**31 - 1), None),
    "n": (_bounds(-(10**9), 10**9), Fraction(1, 1000)),
    "f8": (_bounds(-(10**9), 10**9), Fraction(1, 1000)),
    "n2": (_bounds(-999_999, 999_999), None),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedStatement:
    """number: `statement` makes the same one of it again; features: what it has, by name."""

    number: int
    sql: str
    policy: Policy
    features: frozenset[str]

    def __repr__(self) -> str:
        return f"statement({self.number}): {self.sql}"

    def places(self, plan: PrivatePlan) -> ChosenBounds:
        """Any bounds for all that is to be chosen."""
        draw = random.Random(self.number)
        return {
            number: {
                release: choice.bounds[min(draw.choice(_PLACES), len(choice.bounds) - 1)]
                for release, choice in block.choices.items()
                if not choice.is_given
            }
            for number, block in enumerate(plan.blocks)
            if block.chooses
        }


def with_tables(policy: Policy, change: Callable[[ProtectedTable], ProtectedTable]) -> Policy:
    """The policy with its tables about people changed."""
    tables = {
        name: change(one) if isinstance(one, ProtectedTable) else one
        for name, one in policy.tables.items()
    }
    return replace(policy, tables=tables)


def statement(number: int) -> BoundedStatement:
    draw = random.Random(number)
    policy, of_policy = _policy(draw)
    most = 1 if "rows unbounded" in of_policy else 4
    sql, of_sql = _sql(draw, most)
    return BoundedStatement(
        number=number, sql=sql, policy=policy, features=frozenset(of_policy | of_sql)
    )


def _policy(draw: random.Random) -> tuple[Policy, set[str]]:
    name = draw.choice(("best", "best", "gaussian", "world", "ratio", "weighted", "clipped"))
    rows = draw.choice(("given", "given", "chosen", "chosen", "chosen", "unbounded"))
    is_wide = draw.random() < 0.3
    columns = {column: _column(draw, column, is_wide) for column in _NUMBERS}

    def table(one: ProtectedTable) -> ProtectedTable:
        if not isinstance(one.unit, IdentifierUnit):
            return one
        changed = {
            name: columns[name](column) if name in columns else column
            for name, column in one.columns.items()
        }
        return _rows(draw, replace(one, columns=changed), rows)

    policy = with_tables(POLICIES[name], table)
    if rows == "unbounded" and draw.random() < 0.3:
        privacy = replace(policy.privacy, mechanism=Mechanism.CLIPPED_MEAN)
        policy = replace(policy, privacy=privacy)
    features = {f"policy {name}", f"rows {rows}"}
    return policy, features | {"wide bounds"} if is_wide else features


def _column(
    draw: random.Random, name: str, is_wide: bool
) -> Callable[[ColumnPolicy], ColumnPolicy]:
    """One column's total and bounds, the same in all tables."""
    total, of_total = draw.choice(_TOTALS), draw.random()
    narrow, of_values = draw.choice(_NARROW), draw.random()

    def changed(column: ColumnPolicy) -> ColumnPolicy:
        if of_total < 0.2:
            column = replace(column, chooses_per_unit=True)
        elif of_total < 0.65:
            column = replace(column, per_unit=total)
        if is_wide and name in _WIDE and of_values < 0.5:
            bounds, grid = _WIDE[name]
            return replace(column, bounds=bounds, grid=grid or column.grid)
        if of_values < 0.65 and name in ("i2", "i4", "i8", "n") and not is_wide:
            return replace(column, bounds=narrow, grid=Fraction(1))
        return column

    return changed


def _rows(draw: random.Random, one: ProtectedTable, rows: str) -> ProtectedTable:
    """How many rows of a unit count, in how many groups, and in each."""
    match rows:
        case "given":
            most = draw.choice((1, 2, 5, 12, 50))
        case "chosen":
            most = draw.choice((3, 50, 50, 1000, 10**6, 10**9))
        case _:
            most = ROWS_AT_MOST
    groups = draw.choice((None, 1, 2, 2, 3))
    per_group = draw.choice((None, None, 1, 2, 4))
    if rows == "unbounded" and draw.random() < 0.7:
        per_group = None
    return replace(
        one,
        chooses_rows=rows != "given",
        is_unbounded=rows == "unbounded",
        max_rows_per_unit=most,
        join_rows_at_most=draw.choice((2, 4)),
        max_groups_per_unit=None if groups is None else min(groups, most),
        max_rows_per_group_per_unit=None if per_group is None else min(per_group, most),
    )


def _sql(draw: random.Random, most: int) -> tuple[str, set[str]]:
    """most: aggregates; one that needs a bound on rows which there is not is refused with all others."""
    source = draw.choice(_SOURCES)
    keys = _some(draw, lambda: draw.choice(_KEYS), (0, 0, 1, 1, 2))
    numbers = [min(number, most) for number in (1, 1, 2, 3, 4)]
    aggregates = _some(draw, lambda: _aggregate(draw, source), numbers)
    intervals = [f"{draw.choice(_ERRORS)}({a})" for a in aggregates if draw.random() < 0.2]
    sql = f"SELECT {', '.join([*keys, *aggregates, *intervals])} FROM {source}{draw.choice(_WHERE)}"
    features = {
        "keys": bool(keys),
        "private keys": bool({"s", "d", "extract(year FROM ts)"} & {*keys}),
        "filter": "FILTER" in sql,
        "where": " WHERE " in sql.rpartition(" FROM ")[2],
        "several aggregates": len(aggregates) > 1,
        "intervals": bool(intervals),
        "subquery": source.endswith(" q"),
    }
    if keys:
        sql += f" GROUP BY {', '.join(keys)}"
    return sql, {name for name, is_there in features.items() if is_there}


def _some(draw: random.Random, one: Callable[[], _Choice], numbers: Sequence[int]) -> list[_Choice]:
    """Different ones, at most so many."""
    return list(dict.fromkeys(one() for _ in range(draw.choice(numbers))))


def _aggregate(draw: random.Random, source: str) -> str:
    first, second, only = draw.choice(_NUMBERS), draw.choice(_NUMBERS), draw.choice(_FILTERS)
    distinct = "t" if source == "lines" else "uid"  # who a row of lines belongs to is in orders
    rank = draw.choice(("0.1", "0.5", "0.9", "0", "1"))
    ordered = f"WITHIN GROUP (ORDER BY {first})"
    return draw.choice(
        (
            *(f"count(*){only}", f"count({first}){only}", f"sum({first}){only}"),
            *(f"sum({first}){only}", f"sum({first})", f"sum({first})"),
            *(f"avg({first}){only}", f"avg({first})"),
            *(f"variance({first}){only}", f"stddev({first})"),
            *(f"covar_pop({first}, {second}){only}", f"corr({first}, {second})"),
            f"regr_slope({first}, {second})",
            *(f"count(DISTINCT {distinct})", f"count(DISTINCT {first})"),
            *(f"min({first})", f"max({first}){only}", "max(ts)", "min(d)"),
            *(f"percentile_cont(0.5) {ordered}", f"percentile_disc({rank}) {ordered}{only}"),
            *(f"sum(-{first})", f"sum({first} * 2)"),
        )
    )
