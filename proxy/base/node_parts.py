"""Nodes of questions and plans by their parts: what walks over them does at each node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import Field, fields, is_dataclass
from fractions import Fraction
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, Protocol, TypeVar


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Node = TypeVar("Node", bound=_Dataclass)
WITHOUT_PARTS = frozenset({type(None), bool, int, str, Fraction})  # most of what is in a node


@cache  # of as many classes as there are
def fields_of(kind: type[Any]) -> tuple[str, ...] | None:
    """
    Gives  the names of a dataclass's fields, in their order; None: it is no dataclass

    >>> fields_of(str) is None
    True
    """
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


@cache
def parts_getter(kind: Any) -> Callable[[Any], tuple[Any, ...]] | None:
    """What gives the fields of a dataclass's instances, all at once; None: it is no dataclass.

    Walks over plans take as long as the rest of planning: one look-up for each part, and one call.
    """
    names = fields_of(kind)
    return None if names is None else getter_of(names)


def getter_of(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives these fields, all at once: attrgetter itself gives no tuple of one."""
    if len(names) < 2:
        return lambda node: tuple(getattr(node, name) for name in names)
    return attrgetter(*names)


@cache
def is_kind_of(kind: type[Any], other: type[Any]) -> bool:
    """
    >>> is_kind_of(bool, int)
    True
    """
    return issubclass(kind, other)


def nodes(*roots: object) -> Iterator[Any]:
    """Every node at and below some, through tuples; shared ones once."""
    waiting: list[Any] = [roots]
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            inside = part
        elif (parts := parts_getter(part.__class__)) is not None and id(part) not in seen:
            seen.add(id(part))
            yield part
            inside = parts(part)
        else:
            continue
        waiting += [one for one in inside if one.__class__ not in WITHOUT_PARTS]
