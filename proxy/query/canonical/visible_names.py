"""What names mean in one SELECT: a column is known by its name and an alias, unique in the statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from proxy.base.sql_types import SqlType
from proxy.query.canonical.constants import NO_CONSTANTS, KnownConstants
from proxy.query.canonical.trees import Call, ExistsQuery, InQuery, ScalarQuery
from proxy.query.canonical.values import TypedValue
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Relation

SubqueryTree = ExistsQuery | InQuery | ScalarQuery


@dataclass(frozen=True, slots=True)
class VisibleRelation:
    """alias: Ours. columns: By the names that the statement has for them."""

    alias: str
    columns: Mapping[str, TypedValue]


class RowQuestions(Protocol):
    """Subqueries that are asked of each row of one SELECT, as joins."""

    def joined(self, relation: Relation) -> Relation: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleNames:
    """
    Attributes:
        relations: By the aliases of the statement, those of the SELECTs around among them.
        own: Our aliases of the relations of this SELECT.
        merged: Columns that JOIN USING has made one.
        parameters: Types of $1, $2, ...
        enumerations: Labels by the qualified names of types.
        aggregate, window, subquery: How such a part is read here; None: it is refused.
        lookups: What `subquery` has found.
        constants: What the shadow evaluates.
    """

    relations: Mapping[str, VisibleRelation] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    merged: Mapping[str, ColumnRef] = field(default_factory=dict)
    parameters: tuple[SqlType, ...] = ()
    enumerations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    aggregate: Callable[[Call, VisibleNames], TypedValue] | None = None
    window: Callable[[Call, VisibleNames], TypedValue] | None = None
    subquery: Callable[[SubqueryTree, VisibleNames], TypedValue] | None = None
    lookups: RowQuestions | None = None
    constants: KnownConstants = NO_CONSTANTS

    def joined(self, relation: Relation) -> Relation:
        """The FROM clause with what has been looked up for its rows."""
        return relation if self.lookups is None else self.lookups.joined(relation)
