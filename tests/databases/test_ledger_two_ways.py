"""Budgets that are fitted in two ways: what decides, what is told, receipts of before.

The ledger's machine (tests/ledger_machine) has any history of them.
"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import psycopg
import pytest

from proxy.accounting.amounts import charge, decimal, limit, rho_limit
from proxy.base.errors import Refusal
from proxy.ledger.ledger_reports import ledger_problems
from proxy.mechanisms.loss import NOTHING, Loss
from tests.databases.ledger_database import rows, with_ledger
from tests.databases.ledger_histories import (
    MILLIONTH,
    approx_of,
    asked,
    compare,
    gaussian_of,
    half_told,
    mixed,
    mostly_pure,
    pure,
    untold,
    write_limits,
)
from tests.ledger_model.two_ways import Most, unpriced

# Of a budget of epsilon 2, delta 8e-6: which charges are admitted, and what decides.
_DECIDED = {
    "half of delta is for failures": (asked(approx_of, 1, 5), "yyyyn"),
    "Gaussian noise beyond a quarter: epsilons do not count": (
        [*asked(gaussian_of, 1, 2), *asked(pure, 5), *asked(gaussian_of, 1), *asked(pure, 1)],
        "yyyny",
    ),
    "Gaussian noise beyond a quarter: it takes a quarter": (
        [*asked(gaussian_of, 1, 4), *asked(approx_of, 1, 3)],
        "yyyyyyn",
    ),
    "by epsilon": (asked(pure, 5, 5), "yyyyn"),
    "by rho": (asked(gaussian_of, 1, 30), "y" * 30),
    "epsilon that no event tells": (asked(half_told, 6, 4), "yyyn"),
    "delta that no event tells": (asked(untold, 1, 5), "yyyyn"),
    "a Gaussian part that is drawn": (asked(mostly_pure, 9, 3, share=1), "yyn"),
    "nothing is drawn": (asked(approx_of, 3, 5, share=0), "yyyyn"),
    "thirds that are rounded up": (asked(mixed, 1, 5), "yyyyn"),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", _DECIDED)
def test_what_decides(ledger_dsn: str, name: str) -> None:
    steps, admitted = _DECIDED[name]
    assert compare(ledger_dsn, steps) == admitted


def _limits(dsn: str, epsilon: str, delta: str) -> None:
    of = limit(Loss(Fraction(epsilon), Fraction(delta)))
    with psycopg.connect(dsn) as connection:
        both = Most(epsilon=of.epsilon, delta=of.delta, rho=rho_limit(of))
        write_limits(connection, both, both)


@pytest.mark.long
def test_a_budget_of_1000_admits_as_many_counts_as_rho_says(ledger_dsn: str) -> None:
    """1,000 by epsilon; by rho 1,780, to the last one."""
    _limits(ledger_dsn, "1000", "1e-4")
    most = rho_limit(limit(Loss(Fraction(1000), Fraction("1e-4"))))
    loss, events = pure(Fraction(1))
    each = Fraction(str(events[0]["rho"]))
    assert most is not None
    with psycopg.connect(ledger_dsn) as connection:
        row = connection.execute(
            "SELECT count(c.receipt) FROM generate_series(1, 2000) n CROSS JOIN LATERAL"
            " ledger.reserve_at(1, 'a', 1, 0, %s::jsonb, n::text, 'p', now()) c",
            (json.dumps(events),),
        ).fetchone()
    assert row is not None
    assert row[0] == most // each
    assert 1500 < row[0] < 2000
    refusal = with_ledger(ledger_dsn, lambda ledger: _refused(ledger.look("a", loss, events)))
    assert "only epsilon 0." in refusal.message


async def _refused(asked: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        await asked
    return caught.value


def test_what_is_said_to_be_left_can_be_asked(ledger_dsn: str) -> None:
    """By EXPLAIN, dp.budget and refusals: of a pure statement, and no more than a millionth below the most."""
    _limits(ledger_dsn, "200", "1e-4")
    with psycopg.connect(ledger_dsn, autocommit=True) as connection:
        for number in range(8):
            lines = with_ledger(ledger_dsn, lambda ledger: ledger.lines("a"))
            left = min(line.left.epsilon for line in lines)  # the month of one may end meanwhile
            more, events = pure(left * (1 + Fraction(1, 10**6)))
            refusal = with_ledger(
                ledger_dsn,
                lambda ledger, more=more, events=events: _refused(ledger.look("a", more, events)),  # type: ignore[misc]
            )
            assert "privacy budget" in refusal.message
            loss, events = pure(left if number == 7 else left / 3)
            row = connection.execute(
                "SELECT receipt FROM ledger.reserve_at(1, 'a', %s, 0, %s::jsonb, 'f', 'p', now())",
                (decimal(charge(loss).epsilon), json.dumps(events)),
            ).fetchone()
            assert row is not None and row[0] is not None
    assert ledger_problems(ledger_dsn) == ()


def test_receipts_of_before_have_a_rho(ledger_dsn: str) -> None:
    """In a window that opens anew; as one approximate mechanism each."""
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute(
            "INSERT INTO ledger.receipt (source, at, analyst, epsilon, delta, events, fingerprint,"
            " policy_digest) SELECT 1, now(), 'a', e, 1e-6, '[]', 'f', 'p'"
            " FROM unnest(ARRAY[0.3, 1, 7.000000000000000001]) e"
        )
    _limits(ledger_dsn, "100", "1e-4")
    ((spent,),) = rows(
        ledger_dsn,
        "SELECT rho_spent FROM ledger.lines_at(1, 'a', '{}', now()) WHERE kind = 'analyst'",
    )
    each = [Decimal("0.3"), Decimal(1), Decimal("7.000000000000000001")]
    costs = [unpriced(Fraction(one), MILLIONTH) for one in each]
    assert Fraction(spent) == sum(cost.rho for cost in costs)
    assert Fraction(spent) == Fraction("0.045") + Fraction(1, 2) + Fraction("7.000000000000000001")


def test_delta_0_is_basic() -> None:
    assert rho_limit(limit(Loss(Fraction(10), Fraction(0)))) is None
    assert rho_limit(limit(NOTHING)) is None


def test_no_event_is_written_that_cannot_be_priced(ledger_dsn: str) -> None:
    _limits(ledger_dsn, "100", "1e-4")
    for unknown in ('{"v": 3, "kind": "pure"}', '{"v": 2, "kind": "new"}', "{}", "1"):
        with (
            psycopg.connect(ledger_dsn) as connection,
            pytest.raises(psycopg.errors.CheckViolation, match="events_are_known"),
        ):
            connection.execute(
                "SELECT ledger.reserve_at(1, 'a', 1, 0, jsonb_build_array(%s::jsonb), 'f', 'p', now())",
                (unknown,),
            )
