"""What random FROM clauses are put together from: tables, subqueries in brackets, CTEs, with their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.audit.expressions import DATA, Column, Scope, conditions

# Whose rows a table holds; only rows of one owner meet. visits has its persons in another type.
OWNERS = {
    **dict.fromkeys(("people", "events", "trips"), "row"),
    **dict.fromkeys(("orders", "members", "calls", "lines"), "person"),
    "visits": "visitor",
    "notes": "author",
}
_PRIVATE_LABELS = ("trips", "visits", "notes", "lines")  # their policies do not list the labels
WHOSE = ("row", "row", "person", "person", "visitor", "author")
_WITHOUT_UNIT_COLUMN = ("people", "events", "trips", "lines")
MOST_DEGREE = 2


@dataclass(frozen=True)
class Rows:
    """text: what stands in FROM; unit: a column that holds the unit; reference, target: lines.order_id and
    orders.id; degree: how many tables with many rows per unit are multiplied in it; single: it is
    one table or subquery, not a join."""

    text: str
    columns: tuple[Column, ...]
    ownership: str
    unit: str | None = None
    reference: str | None = None
    target: str | None = None
    degree: int = 1
    single: bool = True
    features: frozenset[str] = frozenset()

    @property
    def scope(self) -> Scope:
        return Scope(self.columns)

    @property
    def special(self) -> tuple[str | None, str | None, str | None]:
        return self.unit, self.reference, self.target

    def with_(self, *features: str) -> Rows:
        return replace(self, features=self.features | set(features))

    def bracketed(self) -> str:
        return self.text if self.single else f"({self.text})"


@dataclass
class Names:
    """Fresh names within one question, and its CTEs so far, each as what its columns are called."""

    ctes: list[tuple[str, str, Rows]] = field(default_factory=list)
    count: int = 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"


def tables(ownership: str | None = None, unit: bool = False) -> list[str]:
    return [
        name
        for name, whose in OWNERS.items()
        if ownership in (None, whose) and not (unit and name in _WITHOUT_UNIT_COLUMN)
    ]


def table(draw: DrawFn, names: Names, among: Sequence[str]) -> Rows:
    name = draw(st.sampled_from(among))
    alias = names.fresh("p")
    columns = tuple(
        replace(
            column,
            text=f"{alias}.{column.text}",
            listed=column.listed and (column.kind != "enum" or name not in _PRIVATE_LABELS),
        )
        for column in DATA
    )
    return Rows(
        f"{name} {alias}",
        columns,
        OWNERS[name],
        None if name in _WITHOUT_UNIT_COLUMN else f"{alias}.uid",
        f"{alias}.order_id" if name == "lines" else None,
        f"{alias}.id" if name == "orders" else None,
        0 if name == "members" else 1,
        features=frozenset({f"table {name}"}),
    )


def where(draw: DrawFn, scope: Scope, needed: tuple[str, ...]) -> str:
    parts = list(needed)
    if draw(st.booleans()):
        parts.append(draw(conditions(1, scope)))
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def in_brackets(draw: DrawFn, names: Names, text: str, found: Rows, way: str | None = None) -> Rows:
    """A subquery under an alias, with or without names for its columns, or a CTE."""
    columns, special = found.columns, found.special
    way = way or draw(st.sampled_from(["brackets", "brackets", "cte", "named"]))
    listed = ""
    if way == "named" and "*" not in text.partition(" FROM ")[0]:
        fresh = [names.fresh("y") for _ in columns]
        columns = tuple(replace(c, text=n) for c, n in zip(columns, fresh, strict=True))
        listed = f"({', '.join(fresh)})"
        found = found.with_("named columns")
    if way == "cte":
        cte = names.fresh("w")
        names.ctes.append((cte, text, replace(found, columns=columns)))
        return named_again(names.ctes[-1], names).with_("cte")
    alias = names.fresh("q")
    return _under(replace(found, columns=columns), alias, f"({text}) {alias}{listed}", special)


def named_again(cte: tuple[str, str, Rows], names: Names) -> Rows:
    alias = names.fresh("q")
    return _under(cte[2], alias, f"{cte[0]} AS {alias}", cte[2].special)


def _under(found: Rows, alias: str, text: str, special: Sequence[str | None]) -> Rows:
    columns = tuple(replace(c, text=f"{alias}.{c.text}") for c in found.columns)
    unit, reference, target = (None if name is None else f"{alias}.{name}" for name in special)
    return replace(found, text=text, columns=columns, unit=unit, reference=reference, target=target)
