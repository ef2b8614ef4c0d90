"""Pieces that every shape of backend statement has: the select list, keys, WHERE, the finished query."""

from __future__ import annotations

from dataclasses import dataclass, field

from proxy.base import limits
from proxy.base.slots import Slots
from proxy.base.sql_types import SqlType
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.expression_sql import value_sql
from proxy.compiler.full_joins import Condition, condition, conditions, has_value
from proxy.compiler.text_sql import key_characters
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.plan import BlockPlan, DistinctCount
from proxy.query.ir.expressions import ColumnRef, Extract


@dataclass(slots=True)
class Output:
    """A select list in which equal expressions are one column."""

    expressions: dict[str, int] = field(default_factory=dict)

    def add(self, sql: str) -> int:
        return self.expressions.setdefault(sql, len(self.expressions))


def key_sql(key: KeyPlan, binds: Binds) -> str:
    """For rows whose listed keys are among the listed: those are as long as the policy says, and an index
    on them serves."""
    if key.values is None:
        return private_key_sql(key, binds)
    return f"({value_sql(key.expression, binds)})::text"


def private_keys_sql(plan: BlockPlan, binds: Binds) -> list[str]:
    return [private_key_sql(key, binds) for key in plan.keys if key.values is None]


def private_key_names(plan: BlockPlan) -> list[str]:
    """The names of the same, where a subquery of ours has computed them."""
    return [f"k{number}" for number, key in enumerate(plan.keys, 1) if key.values is None]


def any_key_sql(key: KeyPlan, binds: Binds) -> str:
    """For rows with any keys: a longer text than the longest that is listed becomes none of them."""
    if not key.is_long or key.values is None:
        return key_sql(key, binds)
    longest = max((len(value) for value in key.values if value is not None), default=0)
    displayed = f"({value_sql(key.expression, binds)})::text"
    most = max(limits.KEY_CHARACTERS, longest + 1)
    return f"{key_characters(displayed, key.expression, most)}::text"


def distinct_sql(release: DistinctCount, binds: Binds) -> str:
    """What is counted. Of a long text its first characters."""
    displayed = value_sql(release.operand, binds)
    if not release.is_long:
        return displayed
    return key_characters(displayed, release.operand, limits.KEY_CHARACTERS)


def named_by(plan: BlockPlan) -> tuple[object, ...]:
    """What names columns of the plan's source."""
    return plan.where, plan.keys, plan.releases, plan.neighbours, plan.value_choices


def row_conditions(plan: BlockPlan, unit: ColumnRef | None, binds: Binds) -> list[Condition]:
    """The question's condition, and that keys are listed: rows whose key is not are in no group
    (docs/design/sql.md 5.2)."""
    listed = [
        condition(_listed(key, key.values, binds), key.expression)
        for key in plan.keys
        if key.values is not None
    ]
    return _row_conditions(plan, unit, listed, binds)


def conditions_of_all_groups(
    plan: BlockPlan, unit: ColumnRef | None, binds: Binds
) -> list[Condition]:
    """The question's condition alone, for who leaves out unlisted groups later, by `listed_groups_sql`."""
    return _row_conditions(plan, unit, [], binds)


def listed_groups_sql(plan: BlockPlan, binds: Binds) -> str:
    """Whether the group k1, k2, .. is listed: by text, as release looks for it."""
    return " AND ".join(
        _among(f"k{number}", f"k{number}", "text[]", key.values, binds)
        for number, key in enumerate(plan.keys, 1)
        if key.values is not None
    )


def _row_conditions(
    plan: BlockPlan, unit: ColumnRef | None, listed: list[Condition], binds: Binds
) -> list[Condition]:
    of_unit = [] if unit is None else [has_value(unit, binds)]
    return [*of_unit, *listed, *conditions(plan.where, binds)]


def _listed(key: KeyPlan, values: tuple[str | None, ...], binds: Binds) -> str:
    expression = value_sql(key.expression, binds)
    # To read times of texts is not immutable: PostgreSQL would read the list again for each row.
    if isinstance(key.expression, ColumnRef) and not key.expression.type.is_time:
        there = key.expression.type  # what is printed, not what the question's output is
        kind = "bpchar" if there is SqlType.BPCHAR else there.sql
        return _among(expression, expression, f"text[]::{kind}[]", values, binds)
    return _among(f"({expression})::text", expression, "text[]", values, binds)


def _among(
    compared: str, expression: str, kind: str, values: tuple[str | None, ...], binds: Binds
) -> str:
    among = f"{compared} = ANY({binds.add([v for v in values if v is not None], kind)})"
    return f"({among} OR {expression} IS NULL)" if None in values else f"({among})"


def finished(
    sql: str,
    plan: BlockPlan,
    releases: tuple[int, ...],
    binds: Binds,
    seeds: tuple[str, ...],
    slots: tuple[Slots, ...],
    units: int | None,
) -> BackendQuery:
    return BackendQuery(
        sql=sql,
        parameters=binds.values,
        seeds=(*seeds, *binds.seeds),
        keys=len(plan.keys),
        has_sub_partition=bool(plan.sub_partitions),
        slots=slots,
        releases=releases,
        scalars=tuple(binds.scalars.items()),
        units=units,
        lists=tuple(binds.lists.values()),
    )


def private_key_sql(key: KeyPlan, binds: Binds) -> str:
    """What equals prints equally in one type and one session but for floats (0 and -0), numerics (1.0 and 1.00)
    and texts of some collations, which are not read (docs/design/sql.md 5.2)."""
    value, kind = value_sql(key.expression, binds), key.expression.type
    is_float = kind is not None and kind.is_float
    if is_float and isinstance(key.expression, ColumnRef):
        return f"CASE WHEN {value} = 0 THEN '0'::text ELSE ({value})::text END"
    # A float that is computed is printed as a numeric.
    if (kind is SqlType.NUMERIC or is_float) and not isinstance(key.expression, Extract):
        return _number(value, key.is_long, binds)
    displayed = f"({value})::text"
    if not key.is_long:
        return displayed
    return f"{key_characters(displayed, key.expression, limits.KEY_CHARACTERS)}::text"


def _number(value: str, is_long: bool, binds: Binds) -> str:
    """Without zeros at its end. Of too many digits those after the point are cut, which may make it the same as
    another; with too many before it a number is infinite. NaN is above all and stays."""
    if not is_long:
        return f"pg_catalog.trim_scale({value})::text"
    most = binds.add(f"1e{limits.KEY_DIGITS}", "numeric")
    infinite = binds.add("Infinity", "numeric")
    plain = f"pg_catalog.trim_scale(pg_catalog.trunc({value}, {limits.KEY_DIGITS}))::text"
    return (
        f"CASE WHEN {value} >= {most} AND {value} <= {infinite} THEN 'Infinity'::text"
        f" WHEN {value} <= - {most} THEN '-Infinity'::text ELSE {plain} END"
    )
