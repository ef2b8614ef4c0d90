"""Random joins by truncation of two to four tables, nested in brackets and subqueries, and questions about
them.

Beside tests.audit.truncated_questions, where the first table is joined with each other one: any side may be a
join itself, keeps its rows without partner or loses them, and what one join made NULL is joined on again.
"""

from __future__ import annotations

import random  # noqa: TID251  synthetic data must be the same twice
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from proxy.query.ir.relations import Join, Relation, Scan, Subquery, Truncate, scans
from tests.audit.expressions import Column, Scope, conditions, one_in
from tests.audit.truncated import PlantedRow
from tests.pipeline_world import JOIN_KEYS

TABLES = ("people", "events", "trips", "visits", "notes", "members")
_KEYS: Mapping[str, tuple[str, ...]] = {name: tuple(JOIN_KEYS[name]) for name in TABLES} | {
    "members": ("t", "uid")
}
_TEXTS = ("t", "e")  # others are whole numbers of all sizes, uid among them
_HELD = (Column("t", "text"), Column("e", "enum"), Column("i2", "int"), Column("i4", "int"))
_SHOWN = ("t", "e", "i2", "i4", "i8")
_NARROWED = ("i8 > 50", "i8 < 60", "t IS NOT NULL", "i2 > 1", "i4 <> 2", "e = 'low' OR t = 'x'")
_WORDS = ("JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN")
_GROUPED = ("{}.t", "{}.e", "({}.i4 > 3)", "CASE WHEN {}.i2 > 1 THEN 'more' ELSE 'one' END")
_MEASURES = (
    *(
        "count(*)",
        "sum({}.i4)",
        "count({}.i2)",
        "count(DISTINCT {}.i4)",
        "max({}.i4)",
        "avg({}.i4)",
    ),
    *(
        f"percentile_{word} WITHIN GROUP (ORDER BY {{}}.{name})"
        for word in ("cont(0.5)", "disc(0.75)")
        for name in ("i4", "i8")
    ),
)


@dataclass(frozen=True)
class NestedQuestion:
    """aliases: of the tables; keys, measures: as in tests.audit.questions. The last measure is over numbers
    that tell joined rows apart."""

    join: str
    aliases: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    measures: tuple[str, ...]
    where: str

    @property
    def sql(self) -> str:
        group = f" GROUP BY {', '.join(self.keys)}" if self.keys else ""
        return f"SELECT {', '.join((*self.keys, *self.measures))} FROM {self.tail}{group}"

    @property
    def tail(self) -> str:
        return f"{self.join}{self.where}"


@st.composite
def nested_questions(draw: DrawFn) -> NestedQuestion:
    tables = draw(st.permutations(TABLES))[: draw(st.sampled_from([2, 3, 3, 3, 4]))]
    aliased = tuple(zip("abcd", tables, strict=False))
    join = _tree(draw, aliased)
    names = [alias for alias, _ in aliased]
    told = " + ".join(f"{31**n} * coalesce({alias}.i8, 0)" for n, alias in enumerate(names))
    measures = [
        draw(st.sampled_from(_MEASURES)).format(draw(st.sampled_from(names)))
        for _ in range(draw(st.sampled_from([0, 0, 1, 2])))
    ]
    keys: list[str] = []
    for _ in range(draw(st.sampled_from([0, 1, 1, 2]))):
        keys.append(draw(st.sampled_from(_GROUPED)).format(draw(st.sampled_from(names))))
    where = ""
    if one_in(draw, 4):
        columns = [replace(c, text=f"{alias}.{c.text}") for alias in names for c in _HELD]
        where = f" WHERE {draw(conditions(0, Scope(tuple(columns))))}"
    return NestedQuestion(
        join,
        aliased,
        tuple(dict.fromkeys(keys)),
        (*measures, f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {told})"),
        where,
    )


def _tree(draw: DrawFn, leaves: Sequence[tuple[str, str]]) -> str:
    """Joined in this order, in any brackets."""
    if len(leaves) == 1:
        return _leaf(draw, *leaves[0])
    cut = len(leaves) - 1 if draw(st.booleans()) else draw(st.integers(1, len(leaves) - 1))
    left, right = leaves[:cut], leaves[cut:]
    texts = [_tree(draw, left), _tree(draw, right)]
    equal = [
        f"{a}.{x} = {b}.{y}"
        for a, here in left
        for b, there in right
        for x in _KEYS[here]
        for y in _KEYS[there]
        if (x in _TEXTS) == (y in _TEXTS)
    ]
    on = [draw(st.sampled_from(equal)) for _ in range(draw(st.sampled_from([1, 1, 1, 2])))]
    if one_in(draw, 5):
        a, b = draw(st.sampled_from(left))[0], draw(st.sampled_from(right))[0]
        on.append(draw(st.sampled_from([f"{a}.i8 > {b}.i8", f"{b}.i8 > 60", f"{a}.i8 > 60"])))
    bracketed = f"({texts[1]})" if len(right) > 1 else texts[1]
    return f"{texts[0]} {draw(st.sampled_from(_WORDS))} {bracketed} ON {' AND '.join(on)}"


def _leaf(draw: DrawFn, alias: str, table: str) -> str:
    if not one_in(draw, 4):
        return f"{table} {alias}"
    shown = ", ".join((*_SHOWN, *(("uid",) if table == "members" else ())))
    return f"(SELECT {shown} FROM {table} WHERE {draw(st.sampled_from(_NARROWED))}) {alias}"


def planted_rows(generator: random.Random, table: str) -> list[PlantedRow]:
    """Few rows, of which most have a partner and some more than are kept; i8 tells them apart."""
    found = []
    for number in range(
        1, generator.randint(2, 6) if table == "members" else generator.randint(4, 11)
    ):
        found.append(
            PlantedRow(
                number,
                number if table == "members" else generator.choice((1, 1, 1, 2, 2, 3, None)),
                generator.choice(("x", "x", "x", "y", "y", "z", None, "k")),
                generator.choice(("x", "x", "low", "low", "high", None, "a ")),
                generator.choice((1, 1, 2, 2, 3)),
                generator.choice((1, 1, 2, 3, 3, 4, 5, 6)),
                10 * number,
            )
        )
    return found


def single_rows(generator: random.Random, table: str) -> list[PlantedRow]:
    """Each key once in each table, so that nothing is cut."""
    texts = generator.sample(("x", "y", "z", None, "k"), 5)
    labels = generator.sample(("x", "low", "high", None, "a "), 5)
    small, large, units = (generator.sample(range(1, 7), 5) for _ in range(3))
    return [
        PlantedRow(n + 1, units[n], texts[n], labels[n], small[n], large[n], 10 * n + 10)
        for n in range(5)
    ]


def tables_of(relation: Relation) -> Iterator[tuple[str, str]]:
    """The alias of each side that is joined, and its table."""
    match relation:
        case Join():
            yield from tables_of(relation.left)
            yield from tables_of(relation.right)
        case Truncate():
            yield from tables_of(relation.source)
        case Scan():
            yield relation.alias, relation.table.name
        case Subquery():
            yield relation.alias, next(scans(relation.source)).table.name
        case _:
            raise AssertionError(relation)
