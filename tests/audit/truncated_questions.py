"""Random questions over joins by truncation, of the tables that tests.audit.truncated plants."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.audit.expressions import Column, Scope, conditions, numbers, one_in
from tests.pipeline_world import JOIN_KEYS

# Its other columns are NULL in all rows.
_HELD = (Column("t", "text"), Column("e", "enum"), Column("i2", "int"), Column("i4", "int"))
_TABLES = ("people", "events", "trips", "visits", "notes", "members")
_POLICIES = ("joins", "joins", "joins best", "joins gaussian")
_MEASURES = ("sum", "sum", "avg", "avg", "max", "min", "variance")
# Columns of the same key: texts and labels meet, and whole numbers of all sizes.
_FAMILIES = (("t", "e"), ("i2", "i4"))


@dataclass(frozen=True)
class Asked:
    sql: str
    policy: str
    features: frozenset[str]


@st.composite
def truncated_questions(draw: DrawFn) -> Asked:
    left, right, on = draw(st.sampled_from(_PAIRS))
    features = {f"{left} and {right}", "by a label" if "e" in on else "by another column"}
    sides, columns = [], []
    for alias, table in (("a", left), ("b", right)):
        source = table
        if one_in(draw, 3):
            features.add("subquery")
            shown = ", ".join(column.text for column in _HELD)
            condition = draw(conditions(1, Scope(_HELD)))
            source = f"(SELECT {shown} FROM {table} WHERE {condition})"
        sides.append(f"{source} {alias}")
        columns += [Column(f"{alias}.{c.text}", c.kind, c.listed) for c in _HELD]
    scope = Scope(tuple(columns))
    equal = f"a.{on[0]} = b.{on[1]}"
    if one_in(draw, 4):
        features.add("another condition")
        equal += f" AND {draw(conditions(0, scope))}"
    keys = draw(st.sampled_from([(), (), ("a.t",), ("b.e",), ("a.e", "b.t"), ("(a.i4 > 9)",)]))
    where = f" WHERE {draw(conditions(1, scope))}" if one_in(draw, 3) else ""
    measures = [_measure(draw, scope) for _ in range(draw(st.integers(1, 3)))]
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    features.add("groups" if keys else "no groups")
    text = f"SELECT {', '.join((*keys, *measures))} FROM {sides[0]} JOIN {sides[1]} ON {equal}"
    return Asked(f"{text}{where}{group}", draw(st.sampled_from(_POLICIES)), frozenset(features))


def _measure(draw: DrawFn, scope: Scope) -> str:
    kind = draw(st.sampled_from(["count", "distinct", "number", "number", "number", "quantile"]))
    if kind == "count":
        return "count(*)"
    if kind == "distinct":
        return f"count(DISTINCT {draw(st.sampled_from(scope.columns)).text})"
    operand = draw(numbers(draw(st.sampled_from([0, 1, 1])), scope)).text
    if kind == "quantile":
        return f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {operand})"
    condition = f" FILTER (WHERE {draw(conditions(0, scope))})" if one_in(draw, 4) else ""
    return f"{draw(st.sampled_from(_MEASURES))}({operand}){condition}"


def _family(column: str) -> int:
    return next(n for n, family in enumerate(_FAMILIES) if column in family)


_PAIRS = tuple(
    (left, right, (here, there))
    for left in _TABLES
    for right in _TABLES
    if left != right
    for here in JOIN_KEYS[left]
    for there in JOIN_KEYS[right]
    if _family(here) == _family(there)
)
