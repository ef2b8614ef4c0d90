"""What a column of a protected table can be used for: what the planner accepts of it, asked form by form.

Columns of which the planner knows the same are asked about once in a process.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from proxy.base.errors import Refusal
from proxy.base.written_names import written_name
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.engine.machine_clock import day_of_machine
from proxy.engine.policy_statements import PolicyStatements
from proxy.kernel.plan import PrivatePlan
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext, PublicValues
from proxy.planner.planning import planned
from proxy.policy.column_shapes import column_shape, reading_shape, settings_shape
from proxy.policy.policy_model import Policy
from proxy.query.ir.binding import bind
from proxy.query.ir.query import Query
from proxy.query.syntax.statements import Statement

_CONDITION = "SELECT count(*) FROM {t} WHERE {c} IS NULL"
_GROUPS = "SELECT {c}, count(*) FROM {t} GROUP BY {c}"
_MONTHS = "SELECT date_trunc('month', {c}), count(*) FROM {t} GROUP BY 1"
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


_REMEMBERED = dict[Hashable, tuple[str, ...]]()
_MOST_REMEMBERED = 20_000
_UNREAD = set[Hashable]()  # forms with shapes of columns of which they cannot even be read


def _is_public(plan: PrivatePlan) -> bool:
    """Whether all groups are answered, whatever is in the table."""
    return all(key.values is not None for block in plan.blocks for key in block.keys)


class ColumnUses:
    """Given a policy that was checked against its catalogue. Nothing is read of any table.

    keys: of public tables to which columns refer, as of `referenced_keys`. Others are no public keys."""

    def __init__(self, policy: Policy, catalog: Catalog, keys: PublicValues) -> None:
        self._policy = policy
        self._catalog = catalog
        self._oids = {name: oid for oid, name in enumerate(sorted(policy.tables), start=1)}
        relations = {oid: name for name, oid in self._oids.items()}
        self._statements = PolicyStatements(policy, catalog, relations)
        self._known = PlanningContext(policy, catalog, keys, {}, day=day_of_machine())
        self._loss = Loss(policy.privacy.epsilon, policy.privacy.delta)

        self._settings = settings_shape(policy, catalog, self._known.day)

    def of(self, table: TableName, column: str) -> tuple[str, ...]:
        """In words, in an order that does not change."""
        shape = column_shape(self._policy, self._catalog, table, column)
        if shape is None:
            return self.asked(table, column)
        found = _REMEMBERED.get((self._settings, shape))
        if found is None:
            if len(_REMEMBERED) >= _MOST_REMEMBERED:
                _REMEMBERED.clear()
            found = _REMEMBERED[self._settings, shape] = self.asked(table, column)
        return found

    def asked(self, table: TableName, column: str) -> tuple[str, ...]:
        """As `of`, of the planner itself."""
        return tuple(self._found(table, column))

    def _found(self, table: TableName, column: str) -> Iterator[str]:
        if self._read(table, _CONDITION, column) is not None:  # bounds do not matter to it
            yield "WHERE"
        groups = self._plan(table, _GROUPS, column)
        if groups is not None and _is_public(groups):
            yield "GROUP BY"
        else:
            if groups is not None:
                yield "GROUP BY (values that many have)"
            described = self._catalog.tables[table].column(column)
            if described is not None and described.type.is_time:
                months = self._plan(table, _MONTHS, column)
                if months is not None and _is_public(months):
                    yield "GROUP BY its month (date_trunc)"
            if groups is None and self._plan(table, _PER_UNIT, column) is not None:
                yield "GROUP BY inside a subquery"
        yield from self._aggregates(table, column)

    def _aggregates(self, table: TableName, column: str) -> Iterator[str]:
        """All at once, which most columns with bounds pass; else counts together, and each other by itself."""
        words = tuple(_AGGREGATES)
        if self._are_planned(table, words, column):
            yield from words
            return
        for group in (words[:2], *((word,) for word in words[2:])):
            if self._are_planned(table, group, column):
                yield from group
            elif len(group) > 1:
                yield from (word for word in group if self._are_planned(table, (word,), column))

    def _are_planned(self, table: TableName, words: Sequence[str], column: str) -> bool:
        listed = ", ".join(_AGGREGATES[word] for word in words)
        return self._plan(table, f"SELECT {listed} FROM {{t}}", column) is not None  # noqa: S608

    def _plan(self, table: TableName, form: str, column: str) -> PrivatePlan | None:
        """None: refused."""
        query = self._read(table, form, column)
        if query is None:
            return None
        try:
            return planned(query, self._known, self._loss).private
        except Refusal:
            return None

    def _read(self, table: TableName, form: str, column: str) -> Query | None:
        """None: refused, of which most are by the type of the column alone."""
        shape = reading_shape(self._policy, self._catalog, table, column)
        if (form, shape) in _UNREAD:
            return None
        written = form.format(t=written_name(*table), c=written_name(column))
        try:
            found = self._statements.look(written)
            assert isinstance(found, Statement), "it names a protected table"
            oids = tuple(self._oids[table] for _ in found.relations)
            question = self._statements.read(found, oids, ())
        except Refusal:
            if shape is not None and len(_UNREAD) < _MOST_REMEMBERED:
                _UNREAD.add((form, shape))
            return None
        assert question is not None, "it names a protected table"
        query = question.reading.query
        blocks = tuple(replace(bind(block, {}), outputs=()) for block in query.blocks)
        return replace(query, blocks=blocks)
