"""Each part of a plan has the type that its class declares, and none stands inside of itself.

The rules of the kernel compare numbers and read fields. A float that is no number is below nothing and above
nothing, so it would pass each comparison; a part in a circle would be walked for ever. mypy keeps the project's
own code from both. The kernel believes no code outside of it, so it looks itself, first of all.

What is post-processing of drawn numbers (`SHOWN`) is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from itertools import repeat
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from proxy.base.node_parts import getter_of
from proxy.catalog.catalog_model import TableName
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate, Rule

_LEAVES = frozenset({type(None), bool, int, str, Fraction, TableName})
SHOWN = frozenset(
    {"answers", "intervals", "expressions", "outputs", "top", "row_choices", "kept_totals"}
)
_LEFT = object()  # stands behind a part whose own parts were all looked at


@dataclass(frozen=True, slots=True, eq=False)
class _DeclaredType:
    """What a field may hold.

    Attributes:
        leaves: Classes without parts.
        nodes: Classes with fields.
        each: Of a tuple or frozenset of any length, by its class: what it is of.
        places: Of a tuple of a fixed length: what stands at each place.
    """

    leaves: frozenset[type]
    nodes: frozenset[type]
    each: dict[type, _DeclaredType]
    places: tuple[_DeclaredType, ...] | None


def check_well_formed(part: object, kind: Any) -> frozenset[type]:
    """Let a part of a plan pass that is of its type, down to the last number.

    Args:
        part: A block, or proposals of a table.
        kind: Its class.

    Returns:
        The classes of which nodes stand in it.

    Raises:
        NotPrivate: Something in it is of another type, or inside of itself.

    >>> from tests.kernel.examples import block_with_an_answer
    >>> block = block_with_an_answer()
    >>> BlockPlan in check_well_formed(block, BlockPlan)
    True
    >>> from dataclasses import replace
    >>> check_well_formed(replace(block, sub_partitions=1.5), BlockPlan)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    waiting: list[tuple[Any, Any]] = [(part, _wanted(kind))]
    # Of each node that was met: whether what is looked at stands in it.
    is_above: dict[int, bool] = {}
    classes: set[type] = set()
    while waiting:
        node, wanted = waiting.pop()
        if wanted is _LEFT:
            is_above[id(node)] = False
            continue
        found = node.__class__
        of_parts: Iterable[_DeclaredType]
        if found in wanted.nodes:
            if id(node) in is_above:
                if is_above[id(node)]:
                    raise NotPrivate(Rule.MALFORMED, "a part that stands in itself")
                continue
            is_above[id(node)] = True
            classes.add(found)
            waiting.append((node, _LEFT))
            parts_of, of_parts = _fields(found)
            parts = parts_of(node)
        elif found in wanted.each:
            parts, of_parts = node, repeat(wanted.each[found])
        elif found is tuple and wanted.places is not None and len(wanted.places) == len(node):
            parts, of_parts = node, wanted.places
        else:
            raise NotPrivate(Rule.MALFORMED, "a part of another type")
        # Most parts are numbers or words where they may be.
        each = zip(parts, of_parts, strict=False)
        waiting += [(one, of) for one, of in each if one.__class__ not in of.leaves]
    return frozenset(classes)


@cache
def _fields(kind: type[Any]) -> tuple[Callable[[Any], tuple[Any, ...]], tuple[_DeclaredType, ...]]:
    """What gives the fields of a class that are looked at, and what each may hold."""
    hints = get_type_hints(kind)
    left_out = SHOWN if kind is BlockPlan else frozenset()
    names = [field.name for field in fields(kind) if field.name not in left_out]
    return getter_of(names), tuple(_wanted(hints[name]) for name in names)


def _classes(kind: Any) -> Iterator[Any]:
    """The members of a union, or the class itself."""
    if get_origin(kind) in (Union, UnionType):
        for one in get_args(kind):
            yield from _classes(one)
    else:
        yield kind


@cache
def _wanted(kind: Any) -> _DeclaredType:
    leaves: set[type] = set()
    nodes: set[type] = set()
    each: dict[type, _DeclaredType] = {}
    places: tuple[_DeclaredType, ...] | None = None
    for one in _classes(kind):
        origin, of = get_origin(one), get_args(one)
        if origin is tuple and of[-1] is not Ellipsis:
            assert places is None, "a field holds tuples of one length"
            places = tuple(map(_wanted, of))
        elif origin in (tuple, frozenset):
            each[origin] = _wanted(of[0])
        elif isinstance(one, type) and is_dataclass(one):
            nodes.add(one)
        else:
            assert one in _LEAVES or issubclass(one, Enum), "a class that is in no plan"
            leaves.add(one)
    return _DeclaredType(frozenset(leaves), frozenset(nodes), each, places)
