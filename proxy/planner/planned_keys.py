"""The keys of GROUP BY in a plan: public ones with their values, private ones; which groups are answered;
and how many values a key can have."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.key_plans import KeyPlan
from proxy.planner.bounds import bounded, condition
from proxy.planner.computed_columns import as_computed, computed_values
from proxy.planner.computed_labels import mapping
from proxy.planner.facts import Facts, Values, typed
from proxy.planner.group_combinations import combinations
from proxy.planner.left_out_rows import left_out_rules
from proxy.planner.mapped_texts import LISTED, MOST, depends_on_locale, key_by_text
from proxy.planner.narrowing import narrowed
from proxy.planner.public_keys import is_computed, key_parts, label_values
from proxy.planner.text_lengths import is_long, is_long_number
from proxy.query.ir.expression_walk import children, columns
from proxy.query.ir.expressions import (
    Arithmetic,
    Case,
    Cast,
    ColumnRef,
    Comparator,
    Comparison,
    Connective,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    Is,
    Operator,
    Quotient,
)
from proxy.query.ir.query import AggregateBlock, Key
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind


def planned_keys(
    block: AggregateBlock,
    facts: Facts,
    public: Facts,
    where: Expression | None,
    *,
    can_be_private: bool = True,
) -> tuple[AggregateBlock, tuple[KeyPlan, ...]]:
    """
    Given    public: as of planned_key; can_be_private: False where private keys are refused: whole numbers with
             bounds are public keys there
    Gives    the keys of a block, and the block with the expressions that they are planned for
    Refuses  what planned_key does; NO_VALUES: a private key of groups that are added up, as those that
             partition selection leaves out would be missing in the sums without a word
    """
    if block.is_summed or not can_be_private:
        block = replace(block, keys=tuple(_as_whole_number(key, facts) for key in block.keys))
    block = replace(block, keys=tuple(_as_days(key, public, where) for key in block.keys))
    if not block.is_summed:
        return block, tuple(planned_key(key, facts, public, where) for key in block.keys)
    planned = tuple(planned_key(key, facts, public, where) for key in block.keys)
    for key, plan in zip(block.keys, planned, strict=True):
        if plan.values is None:
            raise Refusal(
                Code.NO_VALUES,
                f"{_named(key.expression)} has no public values, and is joined or compared with answers"
                " whose groups are added up",
                _coarser(key.expression),
                key.position,
            )
    return block, planned


def _coarser(key: Expression) -> str:
    """What to write instead of a key of too many values."""
    if isinstance(key, ColumnRef) and key.type.is_time:
        return "Join by a longer unit in place of the column: date_trunc('day', column) <= day."
    return "GROUP BY it, or ask for a column with `values` in the policy."


def _as_whole_number(key: Key, facts: Facts) -> Key:
    """A column of whole numbers computed from itself, so that its bounds say which values it can have, as those
    of floor(column) do."""
    column = key.expression
    if not isinstance(column, ColumnRef) or not column.type.is_integer:
        return key
    known = facts[column.relation, column.column]
    if known.values is not None or known.is_unit or known.bounds is None:
        return key
    one = Constant(Fraction(1), SqlType.INT4)
    return replace(key, expression=Quotient(column, one, False, column.type, column.position))


_MOST_DAYS = 1_100  # three years: of more, those that many have are chosen


def _as_days(key: Key, public: Facts, where: Expression | None) -> Key:
    """A column of dates computed from itself, where bounds and conditions leave it few days: so its groups are
    those of date_trunc('day', column)."""
    column = key.expression
    if not isinstance(column, ColumnRef) or column.type is not SqlType.DATE:
        return key
    known = public[column.relation, column.column]
    if known.values is not None or known.is_unit or known.bounds is None:
        return key
    days = Cast(Cast(column, SqlType.TIMESTAMP), SqlType.DATE)
    values = computed_values(days, public, where)
    return key if values is None or len(values) > _MOST_DAYS else replace(key, expression=days)


def columns_of_keys(keys: Sequence[Expression], facts: Facts) -> frozenset[tuple[str, str]]:
    """Those that say which values keys have: also what subqueries have computed them of."""
    opened, _ = as_computed(keys, facts)
    return frozenset[tuple[str, str]]().union(*map(columns, (*keys, *opened)))


def planned_key(key: Key, facts: Facts, public: Facts, where: Expression | None) -> KeyPlan:
    """public: the facts as far as the question's own conditions leave them."""
    expression = typed(key.expression, facts)
    if isinstance(expression, ColumnRef) and facts[expression.relation, expression.column].is_unit:
        raise Refusal(
            Code.RAW_ROWS,
            "the privacy unit cannot be a GROUP BY key of the result",
            "GROUP BY it in a subquery and aggregate that: "
            "SELECT avg(n) FROM (SELECT unit, count(*) AS n FROM table GROUP BY unit) q; "
            "after a LEFT JOIN it is the left table's.",
            key.position,
        )
    values = computed_values(expression, public, where)
    mapped = key_by_text(expression, facts) or key_by_parts(expression, facts)
    planned = condition(expression if mapped is None else mapped, facts)
    if mapped is None and depends_on_locale(expression) and is_computed(expression, public):
        values = None  # what the database makes of it is not what was computed here
    if key.type.is_time_of_day:
        raise Refusal(
            Code.NO_VALUES,
            f"{_named(expression)} is a time of day, of which there are too many for a key",
            "Group by its hour, extract(hour FROM column), or by bins of its seconds,"
            " floor(extract(epoch FROM column) / 1800).",
            key.position,
        )
    if key.type.is_compound or key.type is SqlType.INTERVAL:
        raise Refusal(
            Code.NO_VALUES,
            f"{_named(expression)} is a jsonb, an array or an interval, of which a whole value is no key",
            "Group by what is in it: column ->> 'key', 'a' = ANY(column), cardinality(column),"
            " of an interval extract(epoch FROM column).",
            key.position,
        )
    if values is None and not (_can_be_private(expression, key.type) or _is_whole(expression)):
        raise Refusal(
            Code.NO_VALUES,
            f"{_named(expression)} has no public values, and its equal values can print differently",
            "Round it, round((...)::numeric, 2), or group by a column with `values` in the policy.",
            key.position,
        )
    return KeyPlan(
        expression=planned,
        type=key.type,
        type_name=key.type_name,
        values=values,
        is_long=is_long(expression, facts)
        or (values is None and is_long_number(expression, facts)),
        left_out=tuple(left_out_rules(expression, values, public)),
    )


def listed_groups(
    block: AggregateBlock, keys: tuple[KeyPlan, ...], public: Facts, where: Expression | None
) -> tuple[tuple[KeyPlan, ...], tuple[Values, ...] | None]:
    """
    Given    public, where: as of planned_key
    Gives    which combinations of public keys are answered, and the keys with the values that these have
    """
    if not keys:
        return keys, None
    expressions = [typed(key.expression, public) for key in block.keys]
    found = combinations(expressions, [key.values or () for key in keys], public, where)
    if found is None:
        return keys, None
    there = [set(column) for column in zip(*found, strict=True)] or [
        set[str | None]() for _ in keys
    ]
    changed = (
        replace(key, values=tuple(value for value in key.values or () if value in held))
        for key, held in zip(keys, there, strict=True)
    )
    return tuple(changed), found


def _named(expression: Expression) -> str:
    return (
        f'column "{expression.column}"' if isinstance(expression, ColumnRef) else "this expression"
    )


def _can_be_private(expression: Expression, kind: SqlType) -> bool:
    """Whether a text names a group: equal keys can be printed equally, and each is read as a value of the key's
    type. What is computed for a float is a numeric, of which several are one float, or none."""
    if isinstance(expression, DateTrunc | Extract):
        return True
    if kind.is_float:
        return isinstance(expression, ColumnRef) and expression.type is kind
    return kind.is_text or kind.is_number or kind.is_time or kind in (SqlType.BOOL, SqlType.UUID)


def _is_whole(expression: Expression) -> bool:
    """Whether it is a whole number made a double precision number, as date_part() of a length of time is,
    so small by its type that each is one. Bounds of a policy say nothing here: a key is not clamped."""
    if not (isinstance(expression, Cast) and expression.type is SqlType.FLOAT8):
        return False
    number = expression.operand
    if isinstance(number, Cast) and number.type is SqlType.NUMERIC:
        number = number.operand
    if number.type in (SqlType.INT2, SqlType.INT4):
        return True
    return (
        number.type is SqlType.INT8 and isinstance(number, Quotient) and _is_length_of_time(number)
    )


def _is_length_of_time(seconds: Expression) -> bool:
    """Whether it is the seconds between two times, fewer than 2^44, or whole parts of them."""
    match seconds:
        case Arithmetic(operator=Operator.SUBTRACT, left=Extract(), right=Extract()):
            return True
        case Quotient(operand=operand, divisor=Constant(value=Fraction() as value)):
            return value >= 1 and _is_length_of_time(operand)
        case _:
            return False


# --- Keys that the database must not evaluate: comparisons of their parts with all values that these have.


def key_by_parts(expression: Expression, facts: Facts) -> Case | None:
    """The key as a comparison of its parts with each combination of their values: where the database must not
    evaluate it, as its locale would have a part in it, or as it could raise."""
    if not must_be_mapped(expression) or not is_computed(expression, facts):
        return None
    parts = key_parts(expression, facts)
    if not parts or not all(map(_is_compared, parts)):
        return None
    found = mapping(expression, parts, [label_values(part, facts) or () for part in parts], facts)
    if found is None or len(found) * len(parts) > MOST:
        return None
    kind = expression.type
    assert kind is not None and kind is not SqlType.BOOL  # whose values are those of its form
    whens = tuple(
        (_all([_is(part, text) for part, text in zip(parts, texts, strict=True)]), _of(label, kind))
        for texts, label in found.items()
    )
    return Case(whens, _other(kind, set(found.values())), kind)


def _is(part: Expression, text: str | None) -> Expression:
    if text is None:
        return Is(part, None)
    assert part.type is not None
    return Comparison(Comparator.EQ, part, _of(text, part.type))


def _all(tests: list[Expression]) -> Expression:
    return tests[0] if len(tests) == 1 else Connective("AND", tuple(tests))


def _is_compared(part: Expression) -> bool:
    kind = part.type
    return kind in (*LISTED, SqlType.DATE) or (kind is not None and kind.is_number)


def _of(text: str | None, kind: SqlType) -> Constant:
    return Constant(Fraction(text) if text is not None and kind.is_number else text, kind)


def _other(kind: SqlType, labels: set[str | None]) -> Constant:
    """What is none of the labels."""
    there = [text for text in labels if text is not None]
    if kind.is_number:
        return Constant(min(map(Fraction, there), default=Fraction(0)) - 1, kind)
    other = "0001-01-01" if kind is SqlType.DATE else "other"
    while other in labels:
        other = "0001-01-02" if kind is SqlType.DATE else f"{other}."
    return Constant(other, kind)


def must_be_mapped(expression: Expression) -> bool:
    """Whether the database's locale has a part in it, or it is a cast of a text that could raise."""
    if isinstance(expression, Cast) and expression.operand.type is not None:
        is_read = expression.operand.type.is_text and not expression.type.is_text
    else:
        is_read = False
    return (
        is_read or depends_on_locale(expression) or any(map(must_be_mapped, children(expression)))
    )


# --- How many different values a column or expression can have, where that is public: COUNT(DISTINCT) is no
# more.
#
# Of the statement, the catalogue, the policy and public tables alone.


def most_values(
    aggregates: Sequence[Aggregate], facts: Facts, where: Expression | None
) -> Iterator[tuple[int, int]]:
    """Give the number of possible values of each COUNT(DISTINCT), if it is public, by the answer's number.

    Args:
        aggregates: Of the block, with their columns in backend types.
        facts: Of the columns.
        where: The block's condition.
    """
    for number, one in enumerate(aggregates, start=1):
        if one.kind is AggregateKind.COUNT_DISTINCT and one.operand is not None:
            named = columns(one.operand)
            left = narrowed(facts, where, named)
            if one.condition is not None:
                left = narrowed(left, typed(one.condition, facts), named)
            most = _number_of_values(one.operand, left)
            if most is not None:
                yield number, most


def _number_of_values(operand: Expression, facts: Facts) -> int | None:
    """NULL is no value."""
    if any(facts[name].is_unit for name in columns(operand)):
        return None
    labels = label_values(operand, facts)
    if labels is not None:
        return len({*labels} - {None})
    return _within_bounds(operand, facts)


def _within_bounds(operand: Expression, facts: Facts) -> int | None:
    """Of whole numbers: those within the bounds. Other types hold values between the steps of their grid."""
    if not isinstance(operand, ColumnRef) or not operand.type.is_integer:
        return None
    try:
        found = bounded(operand, facts).interval
    except Refusal:
        return None
    return None if found is None else math.floor(found.high) - math.ceil(found.low) + 1
