"""Which combinations of public keys are answered: not those that no row can have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import conjuncts
from proxy.planner.computed_columns import as_computed
from proxy.planner.computed_labels import combined
from proxy.planner.facts import Facts, Values
from proxy.planner.label_evaluation import LabelWork
from proxy.planner.narrowing import has_listed_parts, holds, public_rows
from proxy.planner.possible_truth import Row, Truths, listed_value, truths
from proxy.planner.public_keys import clamped, key_parts, label_values
from proxy.planner.time_combinations import times_together
from proxy.query.ir.expression_walk import children, columns, size
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Cast,
    ColumnRef,
    Concat,
    Constant,
    DateTrunc,
    Expression,
    NumericCall,
    Quotient,
    TextCall,
)

_Domain = tuple[tuple[int, ...], list[Values]]  # places of keys, and what they can be together


def combinations(
    keys: Sequence[Expression], values: Sequence[Values], facts: Facts, where: Expression | None
) -> tuple[Values, ...] | None:
    """The groups in the order of the keys' values; None: all combinations of these.

    Given    facts: narrowed by the condition
    Refuses  TOO_COMPLEX: more than a limit
    """
    opened, every = as_computed([*keys, *conjuncts(where)], facts)
    computed, about = opened[: len(keys)], opened[len(keys) :]
    domains = list(_domains(computed, values, every, about))
    number = math.prod(len(domain) for _, domain in domains)
    if number > limits.GROUPS_PER_STATEMENT:
        raise _too_many(number, keys, values)
    whole = math.prod(map(len, values))
    tests = list(_tests(keys, where, number, facts.labels))
    if number == whole and not tests:
        return None
    places = [place for domain, _ in domains for place in domain]
    kinds = [key.type or SqlType.OTHER for key in keys]
    found = []
    for parts in product(*(domain for _, domain in domains)):
        texts = dict(zip(places, (text for part in parts for text in part), strict=True))
        group = tuple(texts[place] for place in range(len(keys)))
        read = [listed_value(text, kind) for text, kind in zip(group, kinds, strict=True)]
        if all(True in test(read) for test in tests):
            found.append(group)
    if len(found) == whole:
        return None
    order = [{text: n for n, text in enumerate(listed)} for listed in values]

    def place_of(group: Values) -> list[int]:
        return [numbers[text] for numbers, text in zip(order, group, strict=True)]

    return tuple(sorted(found, key=place_of))


def _domains(
    keys: Sequence[Expression], values: Sequence[Values], facts: Facts, about: Sequence[Expression]
) -> Iterator[_Domain]:
    """Keys of one public row together, those that are parts of one time or number, each other key by itself."""
    together: dict[str, list[int]] = {}
    taken: set[int] = set()
    for places, numbered in numbers_together(keys, facts):
        taken |= set(places)
        yield places, _listed(numbered, [values[place] for place in places])
    left = [place for place in range(len(keys)) if place not in taken]
    parts = _computed(
        [keys[place] for place in left], [values[place] for place in left], facts, about
    )
    for found, groups in parts:
        places = tuple(left[place] for place in found)
        taken |= set(places)
        yield places, groups
    simple = [place for place in range(len(keys)) if place not in taken]
    for found, listed_times in times_together([keys[place] for place in simple], facts):
        places = tuple(simple[place] for place in found)
        taken |= set(places)
        yield places, _listed(listed_times, [values[place] for place in places])
    for place, key in enumerate(keys):
        if place in taken:
            continue
        row = facts[key.relation, key.column].of_row if isinstance(key, ColumnRef) else None
        together.setdefault(str(place) if row is None else f"row {row.alias}", []).append(place)
    for of_one in together.values():
        if len(of_one) == 1:
            yield (of_one[0],), [(text,) for text in values[of_one[0]]]
            continue
        of_row = [key for key in (keys[place] for place in of_one) if isinstance(key, ColumnRef)]
        rows = public_rows(
            {key: facts[key.relation, key.column] for key in of_row}, (), facts.labels
        )
        yield tuple(of_one), _listed(rows or (), [values[place] for place in of_one])


def _computed(
    keys: Sequence[Expression], values: Sequence[Values], facts: Facts, about: Sequence[Expression]
) -> Iterator[_Domain]:
    """Keys that are computed of the same columns, or public row, one of them of several parts."""
    parts = [key_parts(key, facts) for key in keys]
    # A row where one of these is not listed is in no group. Of others, a condition may be true or false of it.
    listed_parts = {
        part
        for key, each in zip(keys, parts, strict=True)
        if each is not None and (each == (key,) or has_listed_parts(key, facts))
        for part in each
    }
    left = [n for n, each in enumerate(parts) if each is None or listed_parts.issuperset(each)]
    while left:
        first = left.pop(0)
        places, named = [first], _bases(keys[first], facts)
        for place in [*left, *left]:  # again, for those that another has brought
            if place in left and _bases(keys[place], facts) & named:
                places.append(place)
                left.remove(place)
                named |= _bases(keys[place], facts)
        of_each = [parts[place] for place in sorted(places)]
        is_computed = any(
            each != (keys[place],) for place, each in zip(sorted(places), of_each, strict=True)
        )
        if len(places) < 2 or None in of_each or not is_computed:
            continue
        several = tuple(dict.fromkeys(part for each in of_each for part in each or ()))
        found = combined(
            [keys[place] for place in sorted(places)],
            several,
            [label_values(part, facts) or () for part in several],
            facts,
            about,
        )
        if found is not None:
            listed = [values[place] for place in sorted(places)]
            yield tuple(sorted(places)), _listed(found, listed)


def _bases(key: Expression, facts: Facts) -> frozenset[tuple[str, ...]]:
    """The columns that a key is computed of; those of one public row are one."""
    return frozenset(
        name if (row := facts[name].of_row) is None else (row.alias,) for name in columns(key)
    )


def _listed(groups: Iterable[Values], values: Sequence[Values]) -> list[Values]:
    """Those of which each part is among the values of its key."""
    listed = [frozenset(each) for each in values]
    return [
        group for group in groups if all(t in there for t, there in zip(group, listed, strict=True))
    ]


def _tests(
    keys: Sequence[Expression], where: Expression | None, number: int, labels: LabelWork
) -> Iterator[Callable[[Row], Truths]]:
    """The conditions that speak of several keys."""
    known = {key: place for place, key in enumerate(keys)}
    for part in conjuncts(where):
        if sum(holds(part, key) for key in keys) > 1 and labels.allowed(number * size(part)):
            yield truths(part, known)


def _too_many(number: int, keys: Sequence[Expression], values: Sequence[Values]) -> Refusal:
    """Says what to do about the key with the most values."""
    place = max(range(len(keys)), key=lambda n: len(values[n]))
    key, most = keys[place], len(values[place])
    named = f'"{key.column}"' if isinstance(key, ColumnRef) else f"number {place + 1}"
    coarser = "or group by fewer columns"
    if isinstance(key, DateTrunc):
        coarser = f"truncate to a unit longer than a {key.unit}, {coarser}"
    return Refusal(
        Code.TOO_COMPLEX,
        f"the keys of GROUP BY have {number} combinations, more than {limits.GROUPS_PER_STATEMENT}",
        f"Key {named} has the most values, {most}: narrow it in WHERE (=, IN, BETWEEN), {coarser}.",
    )


# --- What several keys can be together that are computed of one whole number: a ten is in one fifty only.


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
    found = facts.labels.evaluated(keys, [column], rows)
    if found is None or not all(
        text in there for texts in found for text, there in zip(texts, labels, strict=True)
    ):
        return None
    return list(dict.fromkeys(found))
