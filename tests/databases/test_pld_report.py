"""What receipts add up to by privacy loss distributions: dp-accounting beside our own convolution, and told.

Skipped where dp-accounting is not installed: `pip install 'dpproxy[pld]'`.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import psycopg
import pytest

from proxy.accounting.amounts import charge, decimal
from proxy.accounting.events import Event, dlaplace, gaussian, mechanism
from proxy.ledger import pld_report
from proxy.ledger.pld_report import NoPld, pld_epsilon, pld_epsilons
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.zcdp import rho_of_loss
from tests.databases.ledger_database import set_limits
from tests.mechanisms.loss_of_rho import loss_of_rho
from tests.mechanisms.rho_layers import exact_epsilon

_DELTA = Fraction(1, 10**6)


def _count(epsilon: Fraction, steps: int = 1) -> Event:
    return dlaplace(Loss(epsilon, Fraction(0)), steps, steps / epsilon)


@pytest.mark.parametrize(
    ("steps", "epsilon", "count"), [(1, 1, 200), (10, 1, 200), (3, Fraction(1, 2), 50)]
)
def test_two_implementations_agree(steps: int, epsilon: Fraction, count: int) -> None:
    pytest.importorskip("dp_accounting")
    found = pld_epsilon([(_count(Fraction(epsilon), steps), count)], _DELTA)
    exact = exact_epsilon(steps, float(epsilon), count, float(_DELTA))
    assert found == pytest.approx(exact, rel=1e-3)
    assert found is not None and found >= exact - 1e-6


def test_it_is_never_above_what_rho_says() -> None:
    pytest.importorskip("dp_accounting")
    sigma2 = 2 / rho_of_loss(Fraction(1), _DELTA)
    noisy = gaussian(Loss(Fraction(1), _DELTA), Fraction(4), sigma2)
    half = mechanism(Loss(Fraction(1, 2), Fraction(0)))
    events = [
        (_count(Fraction(1)), 100),
        (_count(Fraction(1, 3), 50), 300),
        (half, 100),
        (noisy, 50),
    ]
    rho = sum((Fraction(str(event["rho"])) * count for event, count in events), Fraction(0))
    found = pld_epsilon(events, _DELTA)
    assert found is not None
    assert (
        0.8 * float(loss_of_rho(rho, _DELTA).epsilon)
        < found
        < float(loss_of_rho(rho, _DELTA).epsilon)
    )


def test_deltas_of_approximate_mechanisms_are_apart() -> None:
    approx = mechanism(Loss(Fraction(1), _DELTA / 4))
    assert pld_epsilon([(approx, 5)], _DELTA) is None
    assert pld_epsilon([], _DELTA) == 0
    pytest.importorskip("dp_accounting")
    found = pld_epsilon([(approx, 3)], _DELTA)
    assert found is not None and 2.9 < found <= 3.001


def test_it_reports_of_each_line(ledger_dsn: str) -> None:
    pytest.importorskip("dp_accounting")
    set_limits(ledger_dsn, "1000", "1000", delta="1e-6")
    _charge(ledger_dsn, "a", _count(Fraction(1)), 30)
    _charge(ledger_dsn, "b", _count(Fraction(1, 2)), 10)
    found = pld_epsilons(ledger_dsn)
    own, other = found["data", "a"], found["data", "b"]
    together = found["data", "(everybody together)"]
    assert own is not None and other is not None and together is not None
    assert 25 < own <= 30.001 and other <= 5.001 and own < together < own + other


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(pld_report, "import_module", missing)
    with pytest.raises(NoPld, match=r"pip install 'dpproxy\[pld\]'"):
        pld_epsilon([(_count(Fraction(1)), 1)], _DELTA)


def _charge(dsn: str, analyst: str, event: Event, times: int) -> None:
    amount = charge(Loss(Fraction(str(event["epsilon"])), Fraction(0)))
    with psycopg.connect(dsn) as connection:
        for _ in range(times):
            connection.execute(
                "SELECT ledger.reserve_at(1, %s, %s, 0, %s::jsonb, 'f', 'p', now())",
                (analyst, decimal(amount.epsilon), json.dumps([event])),
            )
