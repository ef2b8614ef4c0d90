"""The questions that an audit asks when it is given none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from proxy.base.written_names import quoted
from proxy.policy.policy_model import BoundsKind, IdentifierUnit, Policy, ProtectedTable


def default_questions(policy: Policy) -> Iterator[str]:
    """Of each protected table and each column of it, every aggregate that the column can have; of two tables
    with a join key of the same name, the size and the first sum of their join."""
    for table in policy.protected():
        yield from _of_table(table)
    for left, right in combinations(policy.protected(), 2):
        for key in left.join_keys:
            if key in right.join_keys:
                yield from _of_join(left, right, quoted(key))


def _of_table(table: ProtectedTable) -> Iterator[str]:
    name = _table(table)
    yield _select("count(*)", name)
    if isinstance(table.unit, IdentifierUnit) and table.unit.is_in_column:
        yield _select(f"count(DISTINCT {quoted(table.unit.column)})", name)
    bounded: list[str] = []
    for column in table.columns.values():
        x = quoted(column.name)
        if column.bounds is None:
            continue
        words = ["min", "max"]
        if column.bounds.kind is BoundsKind.NUMBER:
            bounded.append(x)
            words = ["sum", "avg", *words, "variance"]
        for word in words:
            yield _select(f"{word}({x})", name)
        if column.bounds.kind is BoundsKind.NUMBER:
            yield _select(f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {x})", name)
    for column in table.columns.values():
        x = quoted(column.name)
        if column.values is not None:
            yield _select(f"{x}, count(*)", name, x)
            if bounded:
                yield _select(f"{x}, sum({bounded[0]})", name, x)
        elif column.bounds is None:  # private keys, where the type can be one
            yield _select(f"{x}, count(*)", name, x)


def _of_join(left: ProtectedTable, right: ProtectedTable, key: str) -> Iterator[str]:
    tables = f"{_table(left)} a JOIN {_table(right)} b ON a.{key} = b.{key}"
    yield _select("count(*)", tables)
    for alias, table in (("a", left), ("b", right)):
        for column in table.columns.values():
            if column.bounds is not None and column.bounds.kind is BoundsKind.NUMBER:
                yield _select(f"sum({alias}.{quoted(column.name)})", tables)
                break


def _table(table: ProtectedTable) -> str:
    return f"{quoted(table.name.schema)}.{quoted(table.name.name)}"


def _select(listed: str, table: str, by: str | None = None) -> str:
    """A question for the proxy, which reads it like an analyst's."""
    statement = f"SELECT {listed} FROM {table}"  # noqa: S608
    return statement if by is None else f"{statement} GROUP BY {by}"
