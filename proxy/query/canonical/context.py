"""What is known of one statement while it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from proxy.base import limits
from proxy.base.result_columns import relation_alias
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.query.canonical.constants import KnownConstants
from proxy.query.canonical.trees import CteTree, QueryTree, SelectTree, TableInFrom
from proxy.query.ir.exposed import Exposed
from proxy.query.syntax.tokens import too_complex


@dataclass(frozen=True, slots=True)
class VisibleCte:
    """around: What its own query can name."""

    tree: CteTree
    around: Ctes


Ctes = Mapping[str, VisibleCte]


@dataclass(slots=True, eq=False)
class StatementContext:
    """
    Attributes:
        tables: Of the policy, with all columns that the shadow has, in its order.
        enumerations: Labels by the qualified names of types.
    """

    tables: Mapping[TableName, Exposed]
    parameters: tuple[SqlType, ...]
    enumerations: Mapping[str, tuple[str, ...]]
    constants: KnownConstants
    _aliases: int = 0
    natures: dict[int, object] = field(default_factory=dict)

    def alias(self) -> str:
        """
        Raises:
            Refusal: TOO_COMPLEX: CTEs that name each other twice would double them at each step.
        """
        self._aliases += 1
        if self._aliases > limits.RELATIONS:
            raise too_complex(f"of more than {limits.RELATIONS} tables and subqueries, CTEs put in")
        return relation_alias(self._aliases)

    def table(self, item: TableInFrom) -> Exposed | None:
        """Of the policy. A name without a schema is a CTE, or a relation of the client's own."""
        return self.tables.get(TableName(item.schema, item.name)) if item.schema else None


def with_ctes(query: QueryTree, around: Ctes) -> Ctes:
    """What names mean inside a query."""
    found = dict(around)
    for tree in query.ctes:
        found[tree.name] = VisibleCte(tree, dict(found))
    return found


def cte_of(item: TableInFrom, ctes: Ctes) -> VisibleCte | None:
    return None if item.schema else ctes.get(item.name)


def is_grouped(select: SelectTree) -> bool:
    return bool(select.group) or (select.is_distinct and not select.distinct_on)
