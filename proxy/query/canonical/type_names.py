"""Types by the names that PostgreSQL writes when only its own types have bare names."""

from __future__ import annotations

from collections.abc import Mapping

from proxy.base.sql_types import SqlType
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.trees import TypeTree

_NOT_WRITTEN = frozenset(
    {
        *(SqlType.ENUM, SqlType.COLLATED, SqlType.DURATION, SqlType.CLOCK_TIME, SqlType.TID),
        SqlType.OTHER,
    }
)
_TYPES: Mapping[str, SqlType] = {
    **{kind.sql: kind for kind in SqlType if kind not in _NOT_WRITTEN},
    "character": SqlType.BPCHAR,
    "unknown": SqlType.TEXT,
    "character varying[]": SqlType.TEXT_ARRAY,
}


def type_named(name: TypeTree, enumerations: Mapping[str, tuple[str, ...]]) -> SqlType:
    """
    Args:
        enumerations: Of the policy, by their qualified names.

    Raises:
        Refusal: UNSUPPORTED: a type that is not read, one of the client's among them.
    """
    if name.fields or (name.name == "character" and not name.modifier):
        raise unread(f"the type {written_type(name)}")
    found = _TYPES.get(name.name)
    if found is None and name.name in enumerations:
        return SqlType.ENUM
    if found is None:
        raise unread(f"the type {written_type(name)}")
    return found


def element_type(name: TypeTree) -> TypeTree | None:
    """Of an array; None: it is no array."""
    if not name.name.endswith("[]"):
        return None
    return TypeTree(name.name.removesuffix("[]"), name.modifier)


def written_type(name: TypeTree) -> str:
    """As format_type prints it.

    >>> written_type(TypeTree("numeric", ("8", "2"))), written_type(TypeTree("character", ("2",)))
    ('numeric(8,2)', 'character(2)')
    """
    modifier = f"({','.join(name.modifier)})" if name.modifier else ""
    return f"{name.name}{modifier}"
