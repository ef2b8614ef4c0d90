"""Histories that are about one rule each, beside the simple model; and the faults that each of them finds.

The machine finds them too, with more histories than `make test` has time for (test_histories.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.base.errors import Fault
from proxy.policy.policy_model import Period
from tests.ledger_machine.asked import (
    TOTAL,
    AskedCharge,
    AskedClaim,
    AskedPart,
    AskedRelease,
    Limit,
    Terms,
)
from tests.ledger_machine.faults import planted
from tests.ledger_machine.machine import LedgerMachine
from tests.ledger_machine.one_transaction import LedgerInOneTransaction
from tests.servers_fixture import servers

_WIDE = Limit(epsilon=20, delta=20)
_ONE = Limit(epsilon=2, delta=20)  # epsilon 1, as a part costs here
_PRICE = 1  # of asked.PRICES: epsilon 1
_BACK = (Fraction(-1, 2), Fraction(0), None)


def _terms(
    default: Limit = _WIDE,
    total: Limit = _WIDE,
    *,
    groups: Mapping[str, Limit] | None = None,
    tables: Mapping[str, Limit] | None = None,
) -> Terms:
    return Terms(default=default, total=total, groups=groups or {}, tables=tables or {})


def _part(name: int | None = None, *tables: str, price: int = _PRICE) -> AskedPart:
    return AskedPart(name=name, price=price, tables=tables)


class _Example(LedgerMachine):
    """`a` is in group g, `b` in g and h, `c` is no analyst of the ledger. Parts are of epsilon 1."""

    def claim_parts(self, who: str, *parts: AskedPart, may_draw: bool = True) -> None:
        self.claims([AskedClaim(who=who, parts=parts, may_draw=may_draw)], 0)

    def draw(self, who: str, *parts: AskedPart) -> None:
        self.claim_parts(who, *parts)
        for drawing in list(self.drawings):
            self.finish_drawing(drawing)

    def charge(self, *who: str, part: AskedPart | None = None) -> None:
        self.charges([AskedCharge(who=one, part=part or _part()) for one in who], 0)
        self.compare()

    def pass_days(self, days: int) -> None:
        self.now += timedelta(days=days)
        self.compare()

    def window(self, period: Period, epsilon: int = 4) -> None:
        self.write_terms(_terms(Limit(epsilon=epsilon, delta=20, period=period)))


def _each_pays_once(one: _Example) -> None:
    one.claim_parts("a", _part(1), may_draw=False)
    one.draw("a", _part(1))
    for who in ("a", "b", "b"):
        one.claim_parts(who, _part(1), may_draw=False)
    one.draw("a", _part(1), _part(2), _part(2), _part())


def _name_is_given_again(one: _Example) -> None:
    one.draw("a", _part(1))
    for _ in range(2):
        one.remove_or_add("a", ("g",))
        one.ask_all("a")
        one.claim_parts("a", _part(1))
        one.compare()


def _spent_lines_refuse(one: _Example) -> None:
    """What was shown is still shown, and what another has drawn is not told from what nobody has."""
    short: list[Terms] = [
        _terms(_ONE),
        _terms(total=_ONE),
        _terms(groups={"g": _ONE}),
        _terms(tables={"s.t": _ONE}),
        _terms(Limit(epsilon=20, delta=1)),
    ]
    for place, terms in enumerate(short):
        one.pass_days(1)
        one.write_terms(terms)
        costly = _part(None, "s.t", price=6)  # of epsilon 1, delta 1e-6
        one.charge("a", "c", part=costly)
        one.charge("a", "c", "b", part=costly)
        one.draw("c", _part(place, "s.t", "s.u"))
        for who in ("b", "c", "a"):
            one.claim_parts(who, _part(place, "s.t", "s.u"))
            one.claim_parts(who, _part(place + 10, "s.t"))
        one.compare()


def _drawn_by_another(one: _Example) -> None:
    one.write_terms(_terms(tables={"s.t": Limit(epsilon=3, delta=20)}))
    one.draw("a", _part(1, "s.t"))
    for number in (1, 2):
        one.claim_parts("b", _part(number, "s.t"))
    one.claim_parts("a", _part(1, "s.t"))


def _groups_pay_once(one: _Example) -> None:
    one.draw("c", _part(1, "s.t", "s.u"))
    for who in ("a", "b", "a"):
        one.draw(who, _part(1, "s.t", "s.u"))
        one.compare()


def _draws_are_taken_over(one: _Example) -> None:
    for is_finished in (False, True):
        one.pass_days(1)
        one.lose_a_lease("a", "b", is_finished)
    one.claim_parts("a", _part(1))
    one.claim_parts("b", _part(1), may_draw=False)


def _three_draws(one: _Example) -> None:
    for _ in range(5):
        one.claim_parts("a", _part(1))
        one.let_go_of(one.drawings[-1])
    one.compare()


def _too_large(one: _Example) -> None:
    one.claim_parts("a", _part(1))
    one.now += timedelta(seconds=61)
    one.claim_parts("b", _part(1))
    for drawing in list(one.drawings):
        one.finish_drawing(drawing, is_too_large=True)
    one.claim_parts("a", _part(1))
    one.compare()


def _server_crashes(one: _Example) -> None:
    one.claim_parts("a", _part(1))
    one.crash_with(0)
    one.draw("a", _part(1))
    one.crash_with(0)
    one.claim_parts("a", _part(1))
    one.compare()


def _old_answers_go(one: _Example) -> None:
    one.draw("a", _part(1))
    one.pass_days(62)
    one.draw("a", _part(2))
    one.pass_days(1)
    one.draw("a", _part(3))
    one.compare()


def _put_back(one: _Example) -> None:
    one.draw("a", _part(1))
    one.claim_parts("b", _part(1))
    one.back_up_in_the_midst("a", AskedRelease(name="x"), False)
    one.claim_parts("b", _part(1))
    one.compare()


def _windows(one: _Example) -> None:
    """From a Wednesday over the ends of days, weeks and months."""
    for period in Period:
        one.window(period, epsilon=6)
        for days in (0, 3, 1, 1, 26, 1):
            one.pass_days(days)
            one.charge("a", "a")


def _clock_goes_back(one: _Example) -> None:
    one.window(Period.DAY)
    one.charge("a")
    one.pass_days(-1)
    one.charge("a")
    one.pass_days(1)
    one.charge("a")
    for period in (Period.NONE, Period.DAY):
        one.window(period)
        one.charge("a")


def _budget_comes_later(one: _Example) -> None:
    one.window(Period.DAY)
    for _ in range(2):
        one.charge("a", part=_part(None, "s.t"))
        one.pass_days(1)
    one.charge("a")
    one.window(Period.WEEK, epsilon=8)
    one.charge("a")
    one.write_terms(_terms(groups={"g": Limit(epsilon=3, delta=9, period=Period.MONTH)}))
    one.charge("a")
    one.write_terms(_terms(tables={"s.t": Limit(epsilon=3, delta=9)}))
    one.charge("a", "c", part=_part(None, "s.t"))


def _taken_back(one: _Example) -> None:
    one.write_terms(_terms(groups={"h": Limit(epsilon=4, delta=9)}))
    one.charge("b")
    one.pass_days(1)
    for line in (("group", "h"), ("analyst", "b"), TOTAL):
        one.adjust(line, _BACK)
    one.adjust(("group", "h"), (Fraction(-1), Fraction(0), None))
    one.write_terms(_terms(groups={"h": Limit(epsilon=4, delta=9, period=Period.DAY)}))
    one.charge("b", "b", "b")


def _token_is_spent(one: _Example) -> None:
    one.spend_token("a", [0, 0, 2], 30, None)
    one.spend_token("b", [0, 2, 0, 0], 30, "day")
    one.remove_or_add("b", ("g",))
    for token in one.model.tokens():
        for who in ("a", "b"):
            asked = AskedClaim(who=who, parts=(_part(1),), token=token.token)
            one.claims([asked], 0)
            one.charges([AskedCharge(who=who, part=_part(price=0), token=token.token)], 0)
    one.compare()


def _claims_at_once(one: _Example) -> None:
    one.write_terms(_terms(Limit(epsilon=4, delta=20), groups={"g": Limit(epsilon=6, delta=20)}))
    one.remove_or_add("b", ("g",))
    parts = [_part(1), _part(2, "s.t"), _part(1, "s.t"), _part(3)]
    for who in ("acba", "aabc", "cccc"):
        asked = [AskedClaim(who=name, parts=(part,)) for name, part in zip(who, parts, strict=True)]
        one.claims(asked, 0)
        one.compare()


def _charges_at_once(one: _Example) -> None:
    one.write_terms(_terms(Limit(epsilon=4, delta=20), groups={"g": Limit(epsilon=6, delta=20)}))
    one.remove_or_add("b", ("g",))
    one.charge("a", "c", "b", "a", "a", "c", "c", "c")
    one.write_terms(_terms())
    one.charge("a", "a", "c", "a")
    one.charge("a", "c")


def _waits_for_the_disk(one: _Example) -> None:
    """Where one of several pays."""
    one.draw("a", _part(2))
    for names in ((1, 2, 3), (2, 2), (2, 4), (5, 2)):
        one.claims([AskedClaim(who="a", parts=(_part(name),)) for name in names], 0)
        one.compare()


def _settled_once(one: _Example) -> None:
    one.charge("a", "c")
    for answered in (True, False):
        for receipt in one.receipts:
            one.model.settle(receipt, "answered" if answered else "failed")
            one.ledger.settle(receipt, answered=answered)
    one.compare()


@dataclass(frozen=True, slots=True)
class _History:
    """faults: those of faults.py that it finds."""

    steps: Callable[[_Example], None]
    faults: tuple[str, ...] = ()


_HISTORIES = (
    _History(_each_pays_once, ("who drew pays for all",)),
    _History(
        _name_is_given_again,
        (
            "who gets a name has seen what another saw",
            "who was removed asks",
            "who was removed asks in a batch",
            "who was removed asks for what is cached in a batch",
            "who was removed asks for what is cached",
        ),
    ),
    _History(
        _spent_lines_refuse,
        (
            "analysts have no limit",
            "the shared budget has no limit",
            "groups have no limit",
            "tables have no limit",
            "delta has no limit",
            "deltas are not added up",
        ),
    ),
    _History(_drawn_by_another, ("a spent budget tells what others have asked",)),
    _History(
        _groups_pay_once,
        (
            "a group pays what a member has seen",
            "only the first table pays",
        ),
    ),
    _History(
        _draws_are_taken_over,
        (
            "whoever lets go ends another's lease",
            "a draw is never taken over",
            "a draw is taken over at once",
            "the last draw is shown",
        ),
    ),
    _History(_three_draws, ("one draw more under a charge",)),
    _History(_too_large, ("whoever drew too much forgets another's draw",)),
    _History(
        _server_crashes,
        (
            "what the server may have lost is drawn under its charge",
            "a draw that may be lost is drawn anew for nothing",
        ),
    ),
    _History(_old_answers_go, ("what is served no more stays",)),
    _History(
        _put_back,
        (
            "open draws are restored",
            "a backup without who has seen what",
            "a backup without adjustments",
            "tokens are restored",
        ),
    ),
    _History(
        _windows,
        (
            "weeks begin on Sunday",
            "windows are of the session's zone",
            "a window that renews on another day is told",
        ),
    ),
    _History(
        _clock_goes_back,
        (
            "a clock that goes back opens a window",
            "a receipt is of before its window",
            "only the last of a batch is written",
        ),
    ),
    _History(_budget_comes_later, ("another period keeps what was spent",)),
    _History(
        _taken_back,
        ("more is taken back than was spent", "what was taken back is credit in a new window"),
    ),
    _History(
        _token_is_spent,
        (
            "a token's last charge may be any",
            "a token's window never ends",
            "whoever has the name has the token",
        ),
    ),
    _History(
        _claims_at_once,
        (
            "what became of claims is told in any order",
            "a receipt of a claim keeps another's statement",
        ),
    ),
    _History(
        _charges_at_once,
        (
            "those of a batch are admitted by what was spent before it",
            "receipts go to the wrong charge",
            "all of a batch are who asked first",
            "a refused one stops those behind it",
            "what is told is of after the batch",
            "a receipt keeps another's statement",
            "groups of a person that is alone pay nothing",
            "what became of a batch is told in any order",
        ),
    ),
    _History(
        _waits_for_the_disk, ("one that pays nothing lets others go before they are on disk",)
    ),
    _History(_settled_once),
)


@pytest.fixture
def empty_dsn() -> Iterator[str]:
    pair = servers()
    with psycopg.connect(pair.ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE examples")
        yield make_conninfo(pair.ledger_dsn, dbname="examples")
        server.execute("DROP DATABASE examples WITH (FORCE)")


def _run(ledger: LedgerInOneTransaction, history: _History) -> None:
    machine: _Example = type("Example", (_Example,), {"ledger": ledger})()
    try:
        machine.begin(_terms())
        history.steps(machine)
    except BaseException:
        machine.is_broken = True
        raise
    finally:
        machine.teardown()


def test_each_example_is_as_the_model(empty_dsn: str, tmp_path: Path) -> None:
    ledger = LedgerInOneTransaction(empty_dsn, tmp_path)
    try:
        for history in _HISTORIES:
            _run(ledger, history)
    finally:
        ledger.close()


_FAULTS = [(history, fault) for history in _HISTORIES for fault in history.faults]


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("history", "fault"), _FAULTS, ids=[re.sub(r"\W+", "-", fault) for _, fault in _FAULTS]
)
def test_an_example_finds_its_faults(
    empty_dsn: str, tmp_path: Path, history: _History, fault: str
) -> None:
    with planted(fault), pytest.raises((AssertionError, psycopg.Error, Fault)):
        ledger = LedgerInOneTransaction(empty_dsn, tmp_path)
        try:
            _run(ledger, history)
        finally:
            ledger.close()
