"""What several keys can be together that are computed of one whole number: a ten is in one fifty only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from proxy.planner.facts import Facts, Values
from proxy.planner.label_work import evaluated
from proxy.planner.public_keys import clamped, label_values
from proxy.query.ir.expression_walk import children, columns, size
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Cast,
    ColumnRef,
    Concat,
    Constant,
    Expression,
    NumericCall,
    Quotient,
    TextCall,
)

_WORK = 100_000  # nodes evaluated for one column: some tenths of a second


def numbers_together(
    keys: Sequence[Expression], facts: Facts
) -> Iterator[tuple[tuple[int, ...], list[Values]]]:
    """The places of keys that are computed of one bounded column of whole numbers, and what these are together.

    Given    facts: narrowed by the question's conditions
    """
    of_each: dict[tuple[str, str], list[int]] = {}
    for place, key in enumerate(keys):
        names = list(columns(key))
        if len(names) == 1 and _is_clamped(key):
            of_each.setdefault(names[0], []).append(place)
    for name, places in of_each.items():
        if len(places) < 2:
            continue
        held = _numbers(name, facts, sum(size(keys[place]) for place in places))
        found = held and _together(name, held, [keys[place] for place in places], facts)
        if found:
            yield tuple(places), found


_ARITHMETIC = (Arithmetic, Quotient, NumericCall, Bucket)


def _is_clamped(key: Expression) -> bool:
    """Whether it is computed of the column within its bounds, whatever is stored: a condition is not."""
    match key:
        case Constant():
            return True
        case Arithmetic() | Quotient() | NumericCall() | Bucket():
            return _is_number(key)
        case Cast() | Concat() | TextCall():
            return all(map(_is_clamped, children(key)))
        case _:
            return False


def _is_number(part: Expression) -> bool:
    return isinstance(part, Constant | ColumnRef) or (
        isinstance(part, _ARITHMETIC) and all(map(_is_number, children(part)))
    )


def _numbers(name: tuple[str, str], facts: Facts, nodes: int) -> list[int] | None:
    """What is left of a column once it is clamped; None: it is no whole number, or that is too much."""
    known = facts[name]
    if not known.type.is_integer or known.bounds is None:
        return None
    ends = (
        [known.bounds] if known.ranges is None else [clamped(known.bounds, r) for r in known.ranges]
    )
    spans = [range(math.ceil(end.low), math.floor(end.high) + 1) for end in ends]
    if sum(map(len, spans)) * nodes > _WORK:
        return None
    return sorted({number for span in spans for number in span})


def _together(
    name: tuple[str, str], numbers: Sequence[int], keys: Sequence[Expression], facts: Facts
) -> list[Values] | None:
    """None: it is not known what PostgreSQL makes of a number, or how it prints it."""
    column = ColumnRef(name[1], facts[name].type, None, name[0])
    labels = [frozenset((*(label_values(key, facts) or ()), None)) for key in keys]
    rows: list[Values] = [*((str(number),) for number in numbers), (None,)]
    found = evaluated(keys, [column], rows)
    if found is None or not all(
        text in there for texts in found for text, there in zip(texts, labels, strict=True)
    ):
        return None
    return list(dict.fromkeys(found))
