"""What one row can cost because of what the analyst supplies: bounded, through subqueries too.

A text that a CASE gives for one person's row and a function that goes through it is a clock that only that
person starts; copied into many columns or keys it fills the disk for that person alone. So the bytes of
constants are followed through the outputs of subqueries, and counted wherever they are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.node_parts import is_kind_of, parts_getter
from proxy.base.patterns import PatternSyntax
from proxy.base.result_columns import key_column, union_column
from proxy.query.ir.expressions import (
    Choice,
    Choose,
    ColumnRef,
    Comparator,
    Comparison,
    Concat,
    Constant,
    Expression,
    Inside,
    InsideLook,
    Like,
    TextCall,
    TextFunction,
)
from proxy.query.ir.json_constants import number_of_values
from proxy.query.ir.pattern_checks import text_pattern
from proxy.query.ir.query import AggregateBlock
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll

# Of a function that goes through its text once: so many comparisons of a byte it costs, at the worst
# (upper, lower and collations by ICU).
_ONE_PASS = 16
_ORDERED = (Comparator.LT, Comparator.LE, Comparator.GT, Comparator.GE)
_SEARCHES = (
    TextFunction.STRPOS,
    TextFunction.STARTS_WITH,
    TextFunction.BTRIM,
    TextFunction.LTRIM,
    TextFunction.RTRIM,
    TextFunction.SPLIT_PART,
    TextFunction.REPLACE,
)


@dataclass(frozen=True, slots=True)
class _Cost:
    """Of one expression, subqueries put in: bytes of the text constants in it, its nodes, and how often it
    looks into a jsonb or an array."""

    octets: int
    nodes: int
    looks: int = 0


_NOTHING = _Cost(0, 1)
_Outputs = dict[tuple[str, str], _Cost]


def check_row_work(block: AggregateBlock) -> None:
    """
    Given    a block whose parameters are bound
    Refuses  TOO_COMPLEX: what one row can cost is above base.limits
    """
    outputs: _Outputs = {}
    _collect(block.source, outputs)
    if len(block.keys) > limits.GROUP_KEYS:
        raise _too_much(f"a GROUP BY on a protected table has at most {limits.GROUP_KEYS} keys")
    keys = [_cost(key.expression, outputs) for key in block.keys]
    if sum(cost.octets for cost in (*outputs.values(), *keys)) > limits.CARRIED_BYTES:
        raise _too_much(
            "the text constants in subquery columns and GROUP BY keys of this query are too long together: at "
            f"most {limits.CARRIED_BYTES} bytes"
        )
    work = searched = nodes = looks = 0
    for part in parts_of(block):
        work += _work(part, outputs)
        searched += _searched(part)
        if isinstance(part, ColumnRef):
            below = outputs.get((part.relation, part.column), _NOTHING)
            nodes, looks = nodes + below.nodes, looks + below.looks
        else:
            nodes, looks = nodes + 1, looks + _looks(part)
    if work > limits.TEXT_WORK:
        raise _too_much(
            "the text constants of this query, multiplied by what is searched for in them, are too long "
            "together"
        )
    if looks > limits.INSIDE_LOOKS:
        raise _too_much(
            "this query looks into columns of jsonb and arrays too often: each step of a path and each constant"
            f" counts, at most {limits.INSIDE_LOOKS}"
        )
    if searched > limits.SEARCHED_TOGETHER:
        raise _too_much(
            "the search texts of this query are too long together: at most"
            f" {limits.SEARCHED_TOGETHER} bytes, and 16 for each search"
        )
    if nodes > limits.EXPANDED_NODES:
        raise _too_much(
            "the expressions of this query, with subqueries expanded, are too large together"
        )


def parts_of(value: object) -> Iterator[Any]:
    """Every node below a value, once for each place where it stands."""
    waiting: list[Any] = [value]
    while waiting:
        part = waiting.pop()
        kind = part.__class__
        if is_kind_of(kind, tuple):
            waiting += part
        elif (parts := parts_getter(kind)) is not None:
            yield part
            waiting += parts(part)


def octets(part: object) -> int:
    """Of a text constant; 0 of everything else."""
    if isinstance(part, Constant) and isinstance(part.value, str):
        return len(part.value.encode("utf-8", "surrogatepass"))
    return 0


def _collect(relation: Relation, outputs: _Outputs) -> None:
    """What the columns of subqueries cost, from the inside out."""
    match relation:
        case Scan():
            return
        case Join():
            _collect(relation.left, outputs)
            _collect(relation.right, outputs)
        case Subquery():
            _collect(relation.source, outputs)
            for name, expression in relation.outputs:
                outputs[relation.alias, name] = _cost(expression, outputs)
            for column in relation.windows:  # and what it is ordered by, which the rows carry
                outputs[relation.alias, column.name] = _cost(column.expressions, outputs)
        case UnionAll():
            for branch in relation.parts:
                _collect(branch, outputs)
                for place, (_, expression) in enumerate(branch.outputs, start=1):
                    key = (relation.alias, union_column(place))
                    outputs[key] = _larger(outputs.get(key, _NOTHING), _cost(expression, outputs))
        case GroupByUnit():
            _collect(relation.source, outputs)
            for number, grouped in enumerate(relation.keys, start=1):
                outputs[relation.alias, key_column(number)] = _cost(grouped, outputs)
        case Truncate():
            _collect(relation.source, outputs)
        case _:
            assert_never(relation)


def _cost(expression: object, outputs: _Outputs) -> _Cost:
    carried = nodes = looks = 0
    growth = 1
    for part in parts_of(expression):
        if isinstance(part, ColumnRef):
            below = outputs.get((part.relation, part.column), _NOTHING)
            carried, nodes = carried + below.octets, nodes + below.nodes
            looks += below.looks
        else:
            carried, nodes = carried + octets(part) + _padded(part), nodes + 1
            looks += _looks(part)
            growth = min(growth * _growth(part), limits.CARRIED_BYTES)
    carried *= growth
    return _Cost(
        min(carried, limits.CARRIED_BYTES + 1),
        min(nodes, limits.EXPANDED_NODES + 1),
        min(looks, limits.INSIDE_LOOKS + 1),
    )


def _looks(part: object) -> int:
    """Each unpacks the value, or goes through it. An element of a jsonb constant is compared with all that is
    there."""
    if not isinstance(part, Inside):
        return 0
    if part.look is InsideLook.HOLDS:
        return len(part.path) + sum(
            number_of_values(one) for one in part.arguments if isinstance(one, Constant)
        )
    # The text of a member is looked at three times, to see how long it is, what a subquery carries twice.
    times = {InsideLook.TEXT: 3, InsideLook.MEMBER: 2}.get(part.look, 1)
    return times * len(part.path) + max(len(part.arguments), 1)


def _growth(part: object) -> int:
    """By how much what replace() puts in is longer than what it takes out."""
    if not isinstance(part, TextCall) or part.function is not TextFunction.REPLACE:
        return 1
    taken, put = (octets(argument) for argument in part.arguments)
    return max(1, -(-put // max(taken, 1)))


def _padded(part: object) -> int:
    """Bytes that lpad() and rpad() can add."""
    if not isinstance(part, TextCall) or part.function not in (
        TextFunction.LPAD,
        TextFunction.RPAD,
    ):
        return 0
    most = part.arguments[0].value if isinstance(part.arguments[0], Constant) else None
    return 4 * int(most) if isinstance(most, Fraction) and most > 0 else 0


def _larger(one: _Cost, other: _Cost) -> _Cost:
    return _Cost(
        max(one.octets, other.octets),
        max(one.nodes, other.nodes),
        max(one.looks, other.looks),
    )


def _work(part: object, outputs: _Outputs) -> int:
    match part:
        case Like():
            passes = 2 * _ONE_PASS if part.ignore_case else 0
            looked_for = max(octets(part.pattern), _states(part))
            return _supplied((part.operand,), outputs) * (passes + looked_for)
        case TextCall():
            given = sum(map(octets, part.arguments))
            return _supplied((part.operand,), outputs) * (_ONE_PASS + given)
        case Concat():
            return _supplied(part.operands, outputs)
        case Comparison() if part.comparator in _ORDERED:
            return _supplied((part.left, part.right), outputs) * _ONE_PASS
        case Choose() if part.choice is not Choice.COALESCE:
            return _supplied(part.operands, outputs) * _ONE_PASS
        case _:
            return 0


def _states(like: Like) -> int:
    """Of a regular expression: each character of a text can be a step through all of them, of which one costs
    about as much as eight comparisons. And not more than 32 of them, which is how many PostgreSQL keeps
    compiled (regexp.c, MAX_CACHED_RES): others would be compiled for each row."""
    if like.syntax is PatternSyntax.LIKE:
        return 0
    found = text_pattern(like)
    return 0 if found is None else max(8 * found.states, limits.SEARCHED_TOGETHER // 32)


def _supplied(operands: Iterable[Expression], outputs: _Outputs) -> int:
    """Bytes of the text constants below operands. A text itself costs nothing: PostgreSQL computes once what is
    constant, whatever the rows are."""
    return sum(
        _cost(operand, outputs).octets for operand in operands if not isinstance(operand, Constant)
    )


def _searched(part: object) -> int:
    """What is looked for in a text, which may be a stored one."""
    match part:
        case Like():
            return _ONE_PASS + max(octets(part.pattern), _states(part))
        case TextCall() if part.function in _SEARCHES:
            return _ONE_PASS + sum(map(octets, part.arguments))
        case Concat():
            return _ONE_PASS * len(part.operands)
        case _:
            return 0


def _too_much(message: str) -> Refusal:
    return Refusal(Code.TOO_COMPLEX, message, "Split it into several statements.")
