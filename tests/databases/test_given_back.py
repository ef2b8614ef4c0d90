"""What takes from what is spent waits for another person."""

from __future__ import annotations

from fractions import Fraction

import psycopg
import pytest

from proxy.accounting.amounts import Amount
from proxy.accounting.budget_lines import LineKind
from proxy.ledger.adjustments import (
    Adjusted,
    Adjustment,
    AdjustmentError,
    WaitingRequest,
    adjust,
    confirm,
    waiting_requests,
)
from proxy.ledger.admin_log import admin_events
from proxy.ledger.ledger_reports import ledger_problems
from tests.cli.commands import dpproxy
from tests.databases.ledger_database import rows, set_limits

_IDA, _OTTO = "command line: ida", "admin console: otto from 10.0.0.0/24"


@pytest.fixture
def spent(ledger_dsn: str) -> str:
    """Epsilon 5 of the total, which never renews, and 5 of ann's, which renew each month."""
    set_limits(ledger_dsn, own="10", total="20")
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("UPDATE ledger.allowance SET period = 'month' WHERE kind = 'default'")
        connection.execute(
            "INSERT INTO ledger.analyst (name, verifier) VALUES ('ann', 'SCRAM-SHA-256$')"
        )
    for kind, name in ((LineKind.TOTAL, ""), (LineKind.ANALYST, "ann")):
        assert isinstance(_adjust(ledger_dsn, 5, kind=kind, name=name), Adjusted)
    return ledger_dsn


def _adjust(
    dsn: str,
    epsilon: int,
    delta: int = 0,
    rho: int | None = None,
    *,
    kind: LineKind = LineKind.TOTAL,
    name: str = "",
) -> Adjusted | WaitingRequest:
    wanted = Adjustment(
        kind=kind,
        name=name,
        by=Amount(Fraction(epsilon), Fraction(delta)),
        reason="asked twice",
        rho=None if rho is None else Fraction(rho),
    )
    return adjust(dsn, 1, wanted, _IDA)


def _asked(dsn: str, epsilon: int = -2, **more: object) -> int:
    done = _adjust(dsn, epsilon, **more)  # type: ignore[arg-type]
    assert isinstance(done, WaitingRequest)
    return done.number


def _spent(dsn: str) -> float:
    ((epsilon,),) = rows(dsn, "SELECT epsilon::float8 FROM ledger.balance WHERE kind = 'total'")
    return float(epsilon)


def test_nothing_is_given_back_until_another_person_confirms(spent: str) -> None:
    number = _asked(spent)
    assert _spent(spent) == 5
    assert [one.number for one in waiting_requests(spent)] == [number]
    for same in (_IDA, "admin API: Ida from ::1", "admin console: IDA from 10.1.2.0/24"):
        with pytest.raises(AdjustmentError, match="another administrator"):
            confirm(spent, number, same)
    for nobody in ("", "ida", "admin API: "):
        with pytest.raises((ValueError, AdjustmentError)):
            confirm(spent, number, nobody or "somebody")
    assert _spent(spent) == 5
    assert confirm(spent, number, _OTTO).spent.epsilon == 3 == _spent(spent)
    with pytest.raises(AdjustmentError, match="is confirmed already"):
        confirm(spent, number, _OTTO)
    assert waiting_requests(spent) == [] and ledger_problems(spent) == ()
    last, before = list(admin_events(spent))[-1:-3:-1]
    assert (before.who, before.what, before.detail["request"]) == (_IDA, "adjust request", number)
    assert (last.who, last.what, last.detail["requested_by"]) == (_OTTO, "adjust", _IDA)
    assert (
        last.detail["epsilon"] == "-2.000000000000000000" and last.detail["reason"] == "asked twice"
    )
    found = "SELECT made_by, confirmed_by FROM ledger.adjustment WHERE request IS NOT NULL"
    assert rows(spent, found) == [(_IDA, _OTTO)]


@pytest.mark.every(2)
@pytest.mark.parametrize(("epsilon", "delta", "rho"), [(1, -1, None), (1, 0, -1), (0, 0, -1)])
def test_whatever_is_taken_is_a_request(
    spent: str, epsilon: int, delta: int, rho: int | None
) -> None:
    assert isinstance(_adjust(spent, epsilon, delta, rho), WaitingRequest)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ("at = at - interval '7 days'", "older than 7 days"),
        ("at = date_trunc('month', at, 'UTC') - interval '1 second'", "has ended"),
        ("epsilon = -6", "only epsilon 5, delta 0 is spent"),
    ],
)
def test_what_waits_too_long_or_takes_too_much_is_refused(
    spent: str, changed: str, told: str
) -> None:
    number = _asked(spent, kind=LineKind.ANALYST, name="ann")
    with psycopg.connect(spent) as connection:
        connection.execute("ALTER TABLE ledger.adjustment_request DISABLE TRIGGER append_only")
        connection.execute(f"UPDATE ledger.adjustment_request SET {changed}".encode())
        connection.execute("ALTER TABLE ledger.adjustment_request ENABLE TRIGGER append_only")
    with pytest.raises(AdjustmentError, match=told):
        confirm(spent, number, _OTTO)
    assert rows(spent, "SELECT count(*) FROM ledger.adjustment") == [(2,)]


def test_there_is_no_other_way(spent: str) -> None:
    for number in (0, -1, 99, 2**70):
        with pytest.raises(AdjustmentError, match="there is no request"):
            confirm(spent, number, _OTTO)
    for more in ("", ", NULL, NULL, 'otto'", f", NULL, {_asked(spent)}"):
        with psycopg.connect(spent) as connection:
            call = f"ledger.adjust_at(1, 'total', '', -1, 0, 'why', 'ida', now(){more})"
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="another confirms"):
                connection.execute(f"SELECT {call}".encode())
    assert _spent(spent) == 5


def test_on_the_command_line(spent: str) -> None:
    given = ("--epsilon", "-1", "--reason", "asked twice", "--ledger", spent)
    asked = dpproxy("ledger", "adjust", "--total", *given)
    assert "nothing is given back yet" in asked.out and "dpproxy ledger confirm 1" in asked.out
    listed = dpproxy("ledger", "confirm", "--ledger", spent).out
    assert 'epsilon -1 of (everybody together), "asked twice", by command line' in listed
    for number, told in (("1", "another administrator has to confirm it"), ("2", "no request 2")):
        refused = dpproxy("ledger", "confirm", number, "--ledger", spent)
        assert refused.code != 0 and told in refused.err and _spent(spent) == 5
    confirm(spent, 1, _OTTO)
    assert dpproxy("ledger", "confirm", "--ledger", spent).out == "no request waits\n"
