"""What keeps SQL from raising: of each guard what stands in its place when it is forgotten.

Of those of the planner a statement is here, of which the kernel refuses the plan then
(tests/kernel/test_planner_mutants.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from types import ModuleType
from typing import Any
from unittest import mock

from proxy.compiler import expression_sql
from proxy.kernel import block_price
from proxy.planner import (
    bounds,
    calendar_clamps,
    computed_columns,
    divisors,
    measuring,
    planned_keys,
)
from proxy.query.ir.function_names import NumericFunction

_CLAMP = frozenset({"22003", "22008", "22012", "22023", "2201E", "2201F", "2201G"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A function that keeps SQL from raising.

    Attributes:
        module: Where it is named.
        attribute: Its name there.
        instead: What stands there when it is forgotten.
        states: The SQLSTATEs that rows cause then. Empty: it is looked for elsewhere, or it costs space alone.
        statement: One of which the plan shows it. Empty: no plan does, as the compiler has it.
    """

    module: ModuleType
    attribute: str
    instead: object
    states: frozenset[str] = frozenset()
    statement: str = ""

    @contextmanager
    def forgotten(self) -> Iterator[None]:
        with mock.patch.object(self.module, self.attribute, self.instead):
            yield


@contextmanager
def without_totality() -> Iterator[None]:
    """The kernel lets plans pass that raise."""
    with mock.patch.object(block_price, "check_totality", lambda *_: None):
        yield


def _as_it_is(operand: Any, *_: Any) -> Any:
    return operand


def _with_its_interval(expression: Any, facts: Any) -> bounds.Bounded:
    """The expression without its clamps, which says that it has them."""
    return bounds.Bounded(expression, bounds.bounded(expression, facts).interval)


def _of_condition(module: ModuleType, attribute: str, condition: str, *states: str) -> Guard:
    """A guard that gives its operand as it is when it is forgotten."""
    return Guard(
        module=module,
        attribute=attribute,
        instead=_as_it_is,
        states=frozenset(states),
        statement=f"SELECT count(*) FROM people WHERE {condition}",
    )


GUARDS: dict[str, Guard] = {
    "columns are clamped": Guard(
        module=expression_sql, attribute="clamp_sql", instead=_as_it_is, states=_CLAMP
    ),
    "dates meet timestamps": Guard(
        module=expression_sql,
        attribute="_LAST_TIMESTAMP_DAY",
        instead="5874897-12-31",
        states=frozenset({"22008"}),
    ),
    "clamped date_trunc": _of_condition(
        bounds, "truncated_within", "date_trunc('month', ts) > '2010-01-01'", "22008"
    ),
    "times within the calendar": _of_condition(
        bounds, "within_calendar", "d::timestamp > '2010-01-01'", "22008"
    ),
    "moved times within the calendar": _of_condition(
        calendar_clamps, "within_calendar", "ts + interval '1 day' > '2010-01-01'", "22008"
    ),
    "no escape at the end": _of_condition(bounds, "check_pattern", "t LIKE E'a\\\\'", "22025"),
    "no negative length": _of_condition(
        bounds, "check_text_call", "substr(t, 1, -1) = 'a'", "22011", "22023"
    ),
    "divisors apart from zero": Guard(
        module=divisors,
        attribute="divided",
        instead=lambda quotient, operand, divisor, facts: (
            replace(quotient, operand=operand[0], divisor=divisor[0]),
            operand[1],
        ),
        states=frozenset({"22012"}),
        statement="SELECT sum(i4 / i2) FROM people",
    ),
    "real functions where they are defined": Guard(
        module=divisors,
        attribute="real_call",
        instead=lambda call, operand: (replace(call, operand=operand[0]), operand[1]),
        states=frozenset({"22003", "22012", "2201E", "2201F"}),
        statement="SELECT sum(ln(n2)) FROM people",
    ),
    "no division by zero": Guard(
        module=divisors,
        attribute="checked_divisor",
        instead=lambda quotient: Fraction(1),
        states=frozenset({"22012"}),
        statement="SELECT sum(i4 / 0) FROM people",
    ),
    "numbers are clamped before they are computed with": Guard(
        module=bounds,
        attribute="_factor",
        instead=_with_its_interval,
        states=frozenset({"22003", "22012", "2201E", "2201F", "2201G"}),
        statement="SELECT sum(n * n2) FROM people",
    ),
    "long numbers are cut, not rounded": Guard(
        module=bounds,
        attribute="NumericFunction",
        instead=mock.Mock(TRUNC=NumericFunction.ROUND),
        states=frozenset({"22003"}),
        statement="SELECT sum(n * n) FROM people",
    ),
    "computed columns of subqueries are clamped": Guard(
        module=computed_columns,
        attribute="bounded",
        instead=_with_its_interval,
        statement="SELECT sum(x) FROM (SELECT n * 2 AS x FROM people) q",
    ),
    "conditions are clamped": Guard(
        module=measuring,
        attribute="condition",
        instead=_as_it_is,
        statement="SELECT count(*) FILTER (WHERE n * 2 > 1) FROM people",
    ),
    "keys are as long as they are": Guard(
        module=planned_keys,
        attribute="is_long",
        instead=lambda *_: False,
        statement="SELECT t, count(*) FROM visits GROUP BY t",
    ),
    "numbers have the least value of their type": Guard(
        module=measuring,
        attribute="_least",
        instead=lambda *_: Fraction(0),
        statement="SELECT sum(n) FROM people",
    ),
    "columns lie on the grid of their type": Guard(
        module=measuring,
        attribute="_on_grid",
        instead=lambda *_: True,
        statement="SELECT sum(n) FROM people",
    ),
}
