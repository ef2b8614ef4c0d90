"""The bind parameters of one statement."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from proxy.base.decimals import decimal_text
from proxy.base.result_columns import answer_parameter
from proxy.base.sql_types import SqlType
from proxy.compiler.backend_query import PublicList, public_list
from proxy.query.ir.expressions import ColumnRef, Parameter
from proxy.query.syntax.placeholders import ScalarAnswer


@dataclass(slots=True)
class Binds:
    """Values under names; equal values share one. repeats_names: whether names of rows are made of what is in
    them. The audit asks for that: gen_random_uuid() is another at each run, so that two runs on its synthetic
    databases differ by that chance alone."""

    repeats_names: bool = False
    values: dict[str, object] = field(default_factory=dict)
    scalars: dict[str, ScalarAnswer] = field(default_factory=dict)
    seeds: list[str] = field(default_factory=list)  # names, of those that FROM clauses take
    lists: dict[tuple[str, tuple[tuple[str, object], ...]], PublicList] = field(
        default_factory=dict
    )
    _names: dict[tuple[object, str], str] = field(default_factory=dict)
    _aliases: int = 0

    def alias(self, prefix: str) -> str:
        """A name that no other subquery of the statement has."""
        self._aliases += 1
        return f"{prefix}{self._aliases}"

    def add(self, value: object, kind: str) -> str:
        """A placeholder with its cast. Text in, so that the cast is PostgreSQL's."""
        key = (tuple(value) if isinstance(value, list) else value, kind)
        name = self._names.get(key)
        if name is None:
            name = f"p{len(self.values) + 1}"
            self._names[key] = name
            self.values[name] = value
        return f"%({name})s::{kind}"

    def at_each_run(self, name: str, value: object, kind: str) -> str:
        """A placeholder for what may be chosen anew at each run, with the value that it has otherwise."""
        self.values[name] = value
        return f"%({name})s::{kind}"

    def seed(self, purpose: str) -> str:
        """A placeholder for a fresh random number; one for each purpose."""
        placeholder = self.add(("seed", purpose), "bigint")
        name = self._names[("seed", purpose), "bigint"]
        if name not in self.seeds:
            self.seeds.append(name)
        return placeholder

    def public_list(self, sql: str, given: Binds, kind: str) -> str:
        """A placeholder for the values that a query on a public table finds. given: that query's parameters."""
        query = sql, tuple(given.values.items())
        if query not in self.lists:
            name = f"l{len(self.lists) + 1}"
            self.lists[query] = public_list(name, *query)
            self.values[name] = None
        return f"%({self.lists[query].name})s::{kind}[]"

    def number(self, value: Fraction | int, kind: str = "numeric") -> str:
        return self.add(decimal_text(Fraction(value)), kind)

    def scalar(self, parameter: Parameter, kind: str) -> str:
        """A placeholder for the answer of an earlier block."""
        answer = parameter.source
        assert isinstance(answer, ScalarAnswer), "the client's parameters are bound before"
        name = answer_parameter(answer.index)
        self.scalars[name] = answer
        self.values[name] = None
        return f"%({name})s::{kind}"


# Names of schemas, tables and columns, quoted.


def identifier(name: str) -> str:
    """A quoted identifier; per cent signs doubled, as psycopg wants them."""
    return '"' + name.replace('"', '""').replace("%", "%%") + '"'


def column_sql(column: ColumnRef) -> str:
    """A column of a relation under the alias that the reader gave it; of an inner SELECT by its name."""
    if not column.relation:
        return column.column
    displayed = f"{column.relation}.{identifier(column.column)}"
    if column.type is SqlType.COLLATED:
        return f'({displayed}::text COLLATE pg_catalog."default")'
    return f"{displayed}::text" if column.type is SqlType.ENUM else displayed
