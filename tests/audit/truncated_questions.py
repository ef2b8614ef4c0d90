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
_POLICIES = ("joins", "joins best", "joins gaussian", "joins gaussian")
# Partitions of a wide join are random, so that medians of two databases cannot be compared.
_WITHOUT_MEDIANS = ("joins best", "joins best", "joins best gaussian")
_MEASURES = ("sum", "sum", "avg", "avg", "max", "min", "variance")
# Columns of the same key: texts and labels meet, and whole numbers of all sizes.
_FAMILIES = (("t", "e"), ("i2", "i4"))


@dataclass(frozen=True)
class Asked:
    """join: of three tables, or one that keeps rows without partner; None: of two."""

    sql: str
    policy: str
    features: frozenset[str]
    join: str | None = None


@st.composite
def truncated_questions(draw: DrawFn) -> Asked:
    left, right, on = draw(st.sampled_from(_PAIRS))
    features = {f"{left} and {right}", "by a label" if "e" in on else "by another column"}
    sides, columns = [], []
    aliased = [("a", left), ("b", right)]
    third = draw(st.sampled_from(_THIRD)) if one_in(draw, 3) else None
    if third is not None and third[1] not in (left, right) and third[0] in JOIN_KEYS[left]:
        aliased.append(("c", third[1]))
        features.add("three tables")
    for alias, table in aliased:
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
        both = Scope(tuple(c for c in columns if not c.text.startswith("c.")))
        equal += f" AND {draw(conditions(0, both))}"
    keys = draw(st.sampled_from([(), (), ("a.t",), ("b.e",), ("a.e", "b.t"), ("(a.i4 > 9)",)]))
    where = f" WHERE {draw(conditions(1, scope))}" if one_in(draw, 3) else ""
    measures = [_measure(draw, scope) for _ in range(draw(st.integers(1, 3)))]
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    features.add("groups" if keys else "no groups")
    word = draw(st.sampled_from(["JOIN", "JOIN", "LEFT JOIN"]))
    join = f"{sides[0]} {word} {sides[1]} ON {equal}"
    if third is not None and len(sides) == 3:
        another = draw(st.sampled_from(["JOIN", "LEFT JOIN"]))
        join += f" {another} {sides[2]} ON a.{third[0]} = c.{third[2]}"
        word += another
    if "LEFT" in word:
        features.add("left join")
    is_wide = "LEFT" in word or len(sides) == 3
    text = f"SELECT {', '.join((*keys, *measures))} FROM {join}{where}{group}"
    policy = draw(st.sampled_from(_WITHOUT_MEDIANS if is_wide else _POLICIES))
    if "gaussian" in policy:
        features.add("gaussian")
    return Asked(text, policy, frozenset(features), join if is_wide else None)


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
# A key of the first table, and another table with one of that family.
_THIRD = tuple(
    (here, right, there) for _, right, (here, there) in dict.fromkeys(_PAIRS) if here in ("t", "i2")
)
