"""What a column of a protected table can be used for: what the planner accepts of it, asked form by form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from proxy.base.errors import Refusal
from proxy.base.written_names import written_name
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.engine.machine_clock import day_of_machine
from proxy.engine.policy_statements import PolicyStatements
from proxy.kernel.plan import PrivatePlan
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext
from proxy.planner.planning import planned
from proxy.policy.policy_model import Policy, ProtectedTable
from proxy.query.ir.binding import bind
from proxy.query.ir.query import Query
from proxy.query.syntax.statements import Statement

_CONDITION = "SELECT count(*) FROM {t} WHERE {c} IS NULL"
_GROUPS = "SELECT {c}, count(*) FROM {t} GROUP BY {c}"
_PER_UNIT = "SELECT count(*) FROM (SELECT {c} FROM {t} GROUP BY {c}) q"
_AGGREGATES = {
    "COUNT": "count({c})",
    "COUNT(DISTINCT)": "count(DISTINCT {c})",
    "SUM": "sum({c})",
    "AVG": "avg({c})",
    "MIN": "min({c})",
    "MAX": "max({c})",
    "variance": "variance({c})",
    "percentiles": "percentile_cont(0.5) WITHIN GROUP (ORDER BY {c})",
}


class ColumnUses:
    """Given a policy that was checked against its catalogue. Nothing is read of any table."""

    def __init__(self, policy: Policy, catalog: Catalog) -> None:
        self._policy = policy
        self._oids = {name: oid for oid, name in enumerate(sorted(policy.tables), start=1)}
        relations = {oid: name for name, oid in self._oids.items()}
        self._statements = PolicyStatements(policy, catalog, relations)
        self._known = PlanningContext(policy, catalog, {}, {}, day=day_of_machine())
        self._loss = Loss(policy.privacy.epsilon, policy.privacy.delta)

    def of(self, table: TableName, column: str) -> tuple[str, ...]:
        """In words, in an order that does not change."""
        return tuple(self._found(table, column))

    def _found(self, table: TableName, column: str) -> Iterator[str]:
        names = {"t": written_name(*table), "c": written_name(column)}
        if self._read(table, _CONDITION, names) is not None:  # bounds do not matter to it
            yield "WHERE"
        groups = self._plan(table, _GROUPS, names)
        if groups is not None:
            is_public = all(key.values is not None for block in groups.blocks for key in block.keys)
            # The keys of a public table are read when they are asked for.
            is_public |= self._refers(table, column)
            yield "GROUP BY" if is_public else "GROUP BY (values that many have)"
        elif self._plan(table, _PER_UNIT, names) is not None:
            yield "GROUP BY inside a subquery"
        yield from self._aggregates(table, names)

    def _aggregates(self, table: TableName, names: dict[str, str]) -> Iterator[str]:
        """All at once, which most columns with bounds pass; else counts together, and each other by itself."""
        words = tuple(_AGGREGATES)
        if self._are_planned(table, words, names):
            yield from words
            return
        for group in (words[:2], *((word,) for word in words[2:])):
            if self._are_planned(table, group, names):
                yield from group
            elif len(group) > 1:
                yield from (word for word in group if self._are_planned(table, (word,), names))

    def _are_planned(self, table: TableName, words: Sequence[str], names: dict[str, str]) -> bool:
        listed = ", ".join(_AGGREGATES[word] for word in words)
        return self._plan(table, f"SELECT {listed} FROM {{t}}", names) is not None  # noqa: S608

    def _plan(self, table: TableName, form: str, names: dict[str, str]) -> PrivatePlan | None:
        """None: refused."""
        query = self._read(table, form, names)
        if query is None:
            return None
        try:
            return planned(query, self._known, self._loss).private
        except Refusal:
            return None

    def _read(self, table: TableName, form: str, names: dict[str, str]) -> Query | None:
        """None: refused."""
        try:
            found = self._statements.look(form.format(**names))
            assert isinstance(found, Statement), "it names a protected table"
            oids = tuple(self._oids[table] for _ in found.relations)
            question = self._statements.read(found, oids, ())
        except Refusal:
            return None
        assert question is not None, "it names a protected table"
        query = question.reading.query
        blocks = tuple(replace(bind(block, {}), outputs=()) for block in query.blocks)
        return replace(query, blocks=blocks)

    def _refers(self, table: TableName, column: str) -> bool:
        exposed = self._policy.tables[table]
        known = exposed.columns.get(column) if isinstance(exposed, ProtectedTable) else None
        return known is not None and known.references is not None
