"""Plans of which any part is exchanged for another one of its type: numbers, columns, relations, releases.

Nothing here knows what a part is for, so that no condition of the kernel is left out for being forgotten.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from random import Random  # noqa: TID251  the same plans for the same seed
from typing import Any

from proxy.kernel.plan import BlockPlan
from proxy.kernel.well_formed import SHOWN, _DeclaredType, _fields, _wanted

# Of a block: what decides nothing about what is drawn.
_WORDS = frozenset(
    {"is_summed", "has_truths", "unstated", "clipped", "least_answers", "is_rounded", "present"}
    | {"beyond", "clamped", "coarse", "unit_name", "unowned", "most_stored", "text_characters"}
    | {"compared", "grouped", "most_values"}
)
_MOST_OF_A_CLASS = 40

Steps = tuple[str | int, ...]
_Parts = Mapping[type, Sequence[Any]]


def parts_of(
    node: Any, wanted: _DeclaredType | None, path: Steps = ()
) -> Iterator[tuple[Steps, _DeclaredType]]:
    """Each part at and below a node that has a type of its own, and what may stand there."""
    if node.__class__ is tuple and wanted is not None:
        for place, part in enumerate(node):
            each = wanted.each.get(tuple) or (wanted.places or ())[place]
            yield (*path, place), each
            yield from parts_of(part, each, (*path, place))
    elif is_dataclass(node):
        is_block = node.__class__ is BlockPlan
        names = [f.name for f in fields(node) if not (is_block and f.name in SHOWN)]
        for name, each in zip(names, _fields(node.__class__)[1], strict=True):
            if name != "position" and not (is_block and name in _WORDS):
                yield (*path, name), each
                yield from parts_of(getattr(node, name), each, (*path, name))


def at(node: Any, path: Steps) -> Any:
    for step in path:
        node = node[step] if isinstance(step, int) else getattr(node, step)
    return node


def with_part(node: Any, path: Steps, value: object) -> Any:
    if not path:
        return value
    first, rest = path[0], path[1:]
    if isinstance(first, int):
        return (*node[:first], with_part(node[first], rest, value), *node[first + 1 :])
    return replace(node, **{first: with_part(getattr(node, first), rest, value)})


@dataclass(slots=True)
class Exchanger:
    """random: what chooses; others: parts of other plans, by their class."""

    random: Random
    others: _Parts

    def exchanged(self, block: BlockPlan) -> BlockPlan | None:
        """The block with one to three parts exchanged. None: a class does not take what was put there."""
        found = block
        try:
            for _ in range(self.random.choice((1, 1, 1, 2, 3))):
                found = self._exchanged(found)
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
            return None
        return None if found == block else found

    def _exchanged(self, block: BlockPlan) -> BlockPlan:
        path, wanted = self.random.choice(list(parts_of(block, _wanted(BlockPlan))))
        old = at(block, path)
        options = [*self._values(old, wanted)]
        own = by_class([block])
        # A set of classes has another order in each process.
        for kind in sorted(wanted.nodes, key=lambda one: one.__qualname__):
            options += [*own.get(kind, ()), *self.others.get(kind, ())][:_MOST_OF_A_CLASS]
        found: BlockPlan = with_part(block, path, self.random.choice(options)) if options else block
        return found

    def _values(self, old: Any, wanted: _DeclaredType) -> Iterator[Any]:
        if type(None) in wanted.leaves:
            yield None
        if {
            str,
            bool,
        } <= wanted.leaves:  # of a constant: a value of another kind than its type says
            yield from (True, "-1", "0", "NaN", Fraction(0))
        match old:
            case bool():
                yield not old
            case int():
                yield from (old + 1, old - 1, old * 2, old // 2, 0, 1, 2)
            case Fraction():
                yield from (old + 1, old - 1, old * 2, old / 2, Fraction(0), Fraction(1))
            case str():
                yield from ("a", "1", "x")
            case Enum():
                yield from type(old)
            case tuple():
                yield from (old[1:], old[:-1], old[::-1], old + old[:1], ())
            case frozenset():
                yield from (frozenset(), frozenset({0}), old | {0, 1})
            case None:
                yield from (one for one in (1, 2, 3) if int in wanted.leaves)
                yield from (Fraction(1, n) for n in (1, 2) if Fraction in wanted.leaves)
            case _:
                return


def by_class(blocks: Sequence[BlockPlan]) -> dict[type, list[Any]]:
    """The parts of plans, by their class."""
    found: dict[type, list[Any]] = defaultdict(list)
    for block in blocks:
        for path, _ in parts_of(block, _wanted(BlockPlan)):
            part = at(block, path)
            if is_dataclass(part):
                found[type(part)].append(part)
    return found
