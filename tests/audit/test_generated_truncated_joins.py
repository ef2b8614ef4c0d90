"""Generated questions over joins by truncation: a change of one table or of both moves them by no more than the
policy's rows and join keys promise."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from proxy.base.errors import Code, Refusal
from tests.audit import truncated
from tests.audit.exact_results import Auditor
from tests.audit.expressions import Column, Scope, conditions, numbers, one_in
from tests.audit.test_generated_questions import SLOW
from tests.pipeline_world import JOIN_KEYS, POLICIES, walk

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


# A generated expression may have too fine a grid or too many groups; nothing else may be refused.
_ALLOWED = {Code.UNSUPPORTED, Code.INFEASIBLE, Code.TOO_COMPLEX}


def _run(rounds: range, examples: int, auditor: Auditor) -> Counter[str]:
    seen: Counter[str] = Counter()
    asked: set[Asked] = set()

    def check(question: Asked) -> None:
        if question in asked:
            return
        asked.add(question)
        try:
            walk(question.sql, POLICIES[question.policy])
        except Refusal as refusal:
            assert refusal.code in _ALLOWED, f"{refusal.message}: {question.sql}"
            seen["refused"] += 1
            return
        rows = 0 if question.join is None else truncated.rows_of_all(question.join)
        assert list(truncated.violations(auditor, [question.sql], question.policy, rows)) == []
        if question.join is None:
            assert list(truncated.too_dear([question.sql], question.policy)) == []
        seen["answered"] += 1
        seen.update([*question.features, question.policy])

    for start in rounds:
        given_question = given(truncated_questions())(check)
        seed(start)(
            settings(
                max_examples=examples, deadline=None, suppress_health_check=SLOW, database=None
            )(given_question)
        )()
    return seen


_KINDS = (
    *("by a label", "by another column", "subquery", "another condition", "groups", "no groups"),
    *("joins", "joins best", "joins gaussian", "joins best gaussian", "gaussian", "left join"),
)


@pytest.mark.long
def test_some_generated_truncated_joins(auditor: Auditor) -> None:
    seen = _run(range(1), 16, auditor)
    assert seen["answered"] >= 10, seen


@pytest.mark.long
def test_generated_truncated_joins(auditor: Auditor) -> None:
    seen = _run(range(2), 20, auditor)
    assert seen["answered"] >= 25, seen
    assert all(seen[kind] for kind in _KINDS), seen


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 120, 5))
def test_many_generated_truncated_joins(first: int, auditor: Auditor) -> None:
    """In pieces, each far under the time that a test has, also where others run beside it."""
    seen = _run(range(first, first + 5), 50, auditor)
    assert seen["answered"] >= 150 and seen["refused"] <= seen["answered"] // 5, seen
    assert all(seen[kind] >= 12 for kind in _KINDS) and seen["three tables"] >= 8, seen
