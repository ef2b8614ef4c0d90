"""Histories that are about one rule each, beside the simple model; and the faults that each of them finds.

The machine finds them too, with more histories than `make test` has time for (test_histories.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.base.errors import Fault
from proxy.policy.policy_model import Period
from tests.ledger_machine.asked import (
    GAUSSIAN,
    LAPLACE,
    PRICES,
    THIRD,
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
from tests.ledger_machine.steps import NOON, SLOTS
from tests.servers_fixture import servers

_WIDE = Limit(epsilon=20, delta=20)
_ONE = Limit(epsilon=2, delta=20)  # epsilon 1, as a part costs here
_PRICE = 1  # of asked.PRICES: epsilon 1
_OF_BOTH = len(PRICES) - 2  # of failures and of Gaussian noise
_BACK = (Fraction(-1, 2), Fraction(0), None)
_X = AskedRelease(name="x", price=_PRICE, tables=("s.t",), slot=SLOTS[0])


def _terms(
    default: Limit = _WIDE,
    total: Limit = _WIDE,
    *,
    groups: Mapping[str, Limit] | None = None,
    tables: Mapping[str, Limit] | None = None,
    is_zcdp: bool = False,
) -> Terms:
    return Terms(
        default=default, total=total, groups=groups or {}, tables=tables or {}, is_zcdp=is_zcdp
    )


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

    def take_over(self, first: AskedRelease, second: AskedRelease, pause: timedelta) -> None:
        """Whoever began the first one does nothing more; another asks for the second, later."""
        self.release(first, 0)
        self.now += pause
        self.release(second, 1)
        self.compare()

    def store_all(self, *, is_table: bool = True) -> None:
        """The latest first; whoever is late may not."""
        for begun in self.releasing[::-1]:
            self.store(begun, is_table=is_table)
        self.releasing.clear()
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


def _fitted_in_two_ways(one: _Example) -> None:
    """Until epsilon, rho, or delta of either kind is spent."""
    for price in range(1, len(PRICES)):
        most = Limit(epsilon=4, delta=5 + price % 2 * 11, period=Period.DAY)
        one.write_terms(_terms(most, replace(most, epsilon=6), is_zcdp=True))
        one.pass_days(1)
        prices = [price, GAUSSIAN, GAUSSIAN, price, THIRD, price, *[THIRD] * 4, price]
        one.charges([AskedCharge(who="a", part=_part(price=each)) for each in prices], 0)
        one.charge("b", part=_part(price=price))


def _shared_budget_pays_what_is_drawn(one: _Example) -> None:
    most = Limit(epsilon=6, delta=9, period=Period.DAY)
    one.write_terms(_terms(Limit(epsilon=40, delta=40), most, is_zcdp=True))
    for price in range(1, len(PRICES)):
        one.pass_days(1)
        one.draw("a", _part(1, price=price - 1))
        one.draw("b", _part(1, price=price - 1), _part(2, price=price))
        prices = [GAUSSIAN, price, *[THIRD] * 4, GAUSSIAN, _PRICE]
        one.charges([AskedCharge(who="c", part=_part(price=each)) for each in prices], 0)
        one.compare()


def _releases_are_scheduled(one: _Example) -> None:
    """Each slot once, what was missed not at all, whatever way the clock goes."""
    for hours in (0, 17, 18, 19, 17, 240, 241):
        one.now = NOON + timedelta(hours=hours)
        one.release(_X, 0)
        one.store_all()


def _releases_are_taken_over(one: _Example) -> None:
    """In the same slot, or when the next is due by then."""
    for pause in (timedelta(seconds=61), timedelta(days=3)):
        one.pass_days(1)
        one.take_over(_X, _X, timedelta(seconds=30))
        one.take_over(_X, _X, pause)
        one.store_all()
        one.release(_X, 0)


def _release_is_held(one: _Example) -> None:
    for does in ("hold", "let go", "store"):
        one.pass_days(1)
        one.lose_a_release(_X, does)
        one.store_all()
    one.pass_days(1)
    one.release(_X, 0)
    for _ in range(4):
        one.now += timedelta(seconds=50)
        one.release(_X, 1)
        one._hold(one.releasing[0])
    one._let_go_of(one.releasing[0], 30)
    one.release(_X, 1)
    one.now += timedelta(seconds=31)
    one.release(_X, 1)
    one._hold(one.releasing[0])


def _released_now(one: _Example) -> None:
    """One more each, which counts for its slot."""
    now = replace(_X, is_now=True)
    for _ in range(2):
        one.release(now, 0)
        one.store_all()
    one.release(_X, 0)
    one.take_over(now, now, timedelta(minutes=2))


def _releases_are_paid_by_all(one: _Example) -> None:
    """Own budgets do not count; what cannot be paid is stale until it can."""
    small = Limit(epsilon=3, delta=20)
    for terms in (
        _terms(Limit(epsilon=1, delta=0), small),
        _terms(Limit(epsilon=1, delta=0), tables={"s.t": small}),
        _terms(Limit(epsilon=1, delta=0), replace(small, period=Period.WEEK)),
    ):
        one.write_terms(terms)
        for _ in range(3):
            one.release(_X, 0)
            one.store_all()
            one.pass_days(1)
        one.write_terms(_terms())
        one.release(_X, 0)
        one.store_all()
        one.pass_days(70)


def _releases_of_other_noise(one: _Example) -> None:
    """The policy has changed between a failure and its repetition: a charge pays for what is drawn now in each
    currency, or there is another."""
    one.write_terms(_terms(total=Limit(epsilon=1000, delta=1000)))
    for before, after in (
        *((THIRD, GAUSSIAN), (GAUSSIAN, THIRD), (GAUSSIAN, LAPLACE)),
        *((LAPLACE, _OF_BOTH), (_OF_BOTH, GAUSSIAN), (THIRD, _PRICE)),
    ):
        one.pass_days(1)
        first, second = replace(_X, price=before), replace(_X, price=after)
        one.take_over(first, second, timedelta(seconds=61))
        one.store_all()


def _release_reads_another_table(one: _Example) -> None:
    one.take_over(_X, _X, timedelta(hours=1))
    one.take_over(_X, replace(_X, tables=("s.t", "s.u")), timedelta(hours=1))


def _releases_of_versions(one: _Example) -> None:
    """The former stays what it was, should the policy go back to it."""
    for text in ("SELECT 1", "SELECT 2", "SELECT 1"):
        one.release(replace(_X, sql=text), 0)
        one.store_all()


def _release_is_no_table(one: _Example) -> None:
    """It is not drawn again. Else one would draw until the statement does not fail."""
    for is_table in (True, False):
        for _ in range(2):
            one.release(_X, 0)
            one.store_all(is_table=is_table)
        one.pass_days(1)


def _releases_are_put_back(one: _Example) -> None:
    """What was drawn at a backup may have been finished, and shown, since."""
    one.release(_X, 0)
    one.store_all()
    one.pass_days(1)
    one.release(_X, 0)
    one.back_up()
    one.store_all()
    one.restore(False)
    one.now += timedelta(minutes=2)
    one.release(_X, 0)


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
    _History(
        _fitted_in_two_ways,
        (
            "rho is not added up",
            "Gaussian noise beyond a quarter of delta",
            "what events do not tell is not charged",
        ),
    ),
    _History(
        _shared_budget_pays_what_is_drawn,
        (
            "a part of a Gaussian price is bounded as a pure one",
            "what was drawn fails as all of it",
            "failures are not added up",
            "half of delta is not kept for rho",
        ),
    ),
    _History(_releases_are_scheduled, ("a clock that goes back releases again",)),
    _History(
        _releases_are_taken_over,
        (
            "a release that is taken over is charged again",
            "a release is taken over at once",
            "a release is never taken over",
            "the last to store is shown",
        ),
    ),
    _History(
        _release_is_held, ("whoever lost a release holds it", "whoever lost a release lets it go")
    ),
    _History(_released_now, ("what is finished is drawn again under its charge",)),
    _History(
        _releases_are_paid_by_all,
        (
            "a release costs everybody nothing",
            "tables pay nothing of a release",
            "the account is not held to the shared budget's window",
        ),
    ),
    _History(
        _releases_of_other_noise,
        (
            "what costs more is drawn under the charge that there is",
            "noise of more rho is drawn under the charge that there is",
            "a delta of another kind is drawn under the charge that there is",
        ),
    ),
    _History(_release_reads_another_table, ("a table that was not read then pays nothing",)),
    _History(_releases_of_versions),
    _History(_release_is_no_table),
    _History(_releases_are_put_back, ("releases that were being drawn are restored",)),
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


@pytest.mark.every(15)
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
