"""What is advised can help: raising epsilon only below the policy's limit, and nothing where no value meets a
condition."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.engine.advice import (
    BEST,
    FEWER,
    MORE,
    OF_KEYS,
    OR_RAISE,
    RAISE,
    SO_RAISE,
    Advice,
    advice_for,
)
from proxy.mechanisms.loss import Loss
from tests.pipeline_world import POLICIES, read

_PRIVACY = replace(POLICIES["best"].privacy, max_epsilon=Fraction(8), max_delta=Fraction(1, 1000))
_MOST = Loss(Fraction(8), Fraction(1, 1000))
_LINES = [
    f"a is NULL. {MORE}",
    f"b is NULL. {FEWER}",
    f"The error is larger than the number itself: c. {RAISE}",
    f"d may be empty. Ask for coarser groups{OR_RAISE}",
    f"HAVING: only clear ones are shown: {SO_RAISE}.",
    "e: adjusted.",
]


def _advice(sql: str, loss: Loss = _MOST, *, is_hopeless: bool = False) -> Advice:
    found = read(sql)
    assert found is not None
    return advice_for(found[1].query.blocks, loss, _PRIVACY, is_hopeless=is_hopeless)


def test_below_the_limit_lines_stay() -> None:
    advice = _advice("SELECT count(*), avg(i4) FROM people", Loss(Fraction(7), Fraction(0)))
    assert list(advice.fitted(_LINES)) == _LINES


@pytest.mark.parametrize(
    ("sql", "advised"),
    [
        ("SELECT count(*) FROM people", "Raise dp.epsilon."),
        (
            "SELECT count(*) FROM people WHERE b",
            "Raise dp.epsilon, or ask for a longer period or with fewer conditions.",
        ),
        (
            "SELECT t, count(*) FROM people GROUP BY t",
            "Raise dp.epsilon, or ask for wider groups or a longer period.",
        ),
    ],
)
@pytest.mark.parametrize("can_raise", [False, True])
def test_of_one_aggregate_no_fewer_can_be_asked(sql: str, advised: str, can_raise: bool) -> None:
    loss = Loss(Fraction(7 if can_raise else 8), Fraction(0))
    lines = list(_advice(sql, loss).fitted([*_LINES, f"No group. {OF_KEYS} or ask the owner."]))
    assert not any("fewer aggregates" in line for line in lines)
    if can_raise:
        assert lines[:2] == [f"a is NULL. {advised}", f"b is NULL. {advised}"]
    raised = "Raise dp.epsilon or dp.delta" if can_raise else "Raise dp.delta"
    assert lines[-1] == f"No group. {raised}, group more coarsely, or ask the owner."
    lines = list(_advice(sql).fitted([f"No group. {OF_KEYS} or ask the owner."]))
    assert lines == ["No group. Group more coarsely, or ask the owner."]


@pytest.mark.parametrize(
    ("sql", "instead"),
    [
        ("SELECT count(*) FROM people", "ask the data owner for a larger max_epsilon"),
        ("SELECT count(*) FROM people WHERE b", "ask for a longer period or with fewer conditions"),
        ("SELECT t, count(*) FROM people GROUP BY t", "ask for wider groups or a longer period"),
        (
            "SELECT count(*), avg(i4) FROM people WHERE b",
            "ask for fewer aggregates or groups at once",
        ),
        (
            "SELECT (SELECT count(*) FROM people), (SELECT count(*) FROM orders)",
            "ask for fewer aggregates or groups at once",
        ),
    ],
)
def test_at_the_limit_something_else_is_advised(sql: str, instead: str) -> None:
    lines = list(_advice(sql).fitted(_LINES))
    assert not any("aise dp.epsilon" in line for line in lines)
    largest = f"dp.epsilon is the largest that the policy allows: {instead}."
    assert lines == [
        f"a is NULL. {largest}",
        f"b is NULL. {largest}",
        f"The error is larger than the number itself: c. {largest}",
        "d may be empty. Ask for coarser groups.",
        f"HAVING: only clear ones are shown: none here, so {instead}.",
        "e: adjusted.",
    ]


def test_what_nobody_can_meet_has_no_advice() -> None:
    for loss in (_MOST, Loss(Fraction(1), Fraction(0))):
        lines = list(_advice("SELECT count(*) FROM people", loss, is_hopeless=True).fitted(_LINES))
        assert not any("aise dp.epsilon" in line for line in lines)
        assert lines[:2] == ["a is NULL.", "b is NULL."]
        assert lines[3] == "d may be empty."
        assert lines[4] == "HAVING: only clear ones are shown: none here."


def test_the_mechanism_that_helps_is_advised_alone() -> None:
    lines = [f"a is NULL. {BEST}", f"b is NULL. {BEST}", f"c is NULL. {MORE}", f"d. {MORE}"]
    assert list(Advice().fitted(lines)) == ["a is NULL.", f"b is NULL. {BEST}", "c is NULL.", "d."]
