"""What a history asks of a ledger, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from functools import cache

from proxy.accounting import amounts
from proxy.accounting.amounts import charge, limit
from proxy.accounting.events import Event, dlaplace, gaussian, mechanism
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.zcdp import rho_of_loss
from proxy.policy.policy_model import Period
from tests.ledger_model.two_ways import Cost, Most, priced

Line = tuple[str, str]  # kind, name
TOTAL = ("total", "")
PUBLISHED = "(published)"
NAMES = ("a", "b", "c")
GROUPS = ("g", "h")
TABLES = ("s.t", "s.u")
MILLIONTH = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Of one part: the loss and its events."""

    loss: Loss
    events: tuple[Event, ...]
    cost: Cost


def _price(loss: Loss, *events: Event) -> Price:
    return Price(loss=loss, events=events, cost=priced(events, *charge(loss)))


def _pure(tenths: int) -> Price:
    loss = Loss(Fraction(tenths, 10), Fraction(0))
    return _price(loss, mechanism(loss))


# The same few limits are asked for again and again.
rho_limit = cache(amounts.rho_limit)
_THIRD = Loss(Fraction(1, 3), MILLIONTH)
PRICES = (
    *(_pure(5), _pure(10), _pure(7)),
    _price(_THIRD, mechanism(_THIRD)),
    _price(_THIRD, gaussian(_THIRD, Fraction(4), 2 / rho_of_loss(_THIRD.epsilon, _THIRD.delta))),
    _price(
        _THIRD, mechanism(Loss(_THIRD.epsilon, Fraction(0)))
    ),  # events that do not tell all of it
    _price(Loss(Fraction(1), MILLIONTH), mechanism(Loss(Fraction(1, 2), MILLIONTH))),  # nor these
    # More rho than the Gaussian noise of that epsilon, and nothing else.
    _price(Loss(_THIRD.epsilon, Fraction(0)), mechanism(Loss(_THIRD.epsilon, Fraction(0)))),
    # Less of it, as noise of many steps has.
    _price(
        Loss(_THIRD.epsilon, Fraction(0)),
        dlaplace(Loss(_THIRD.epsilon, Fraction(0)), 50, Fraction(150)),
    ),
    # Of both kinds, each rounded up.
    _price(
        Loss(Fraction(1), MILLIONTH),
        *[mechanism(Loss(Fraction(1, 3), MILLIONTH / 3))] * 2,
        gaussian(
            Loss(Fraction(1, 3), MILLIONTH / 3),
            Fraction(2),
            1 / rho_of_loss(Fraction(1, 3), MILLIONTH / 3),
        ),
    ),
    _price(Loss(Fraction(1), Fraction(0))),  # nothing told
)
PURE, THIRD, GAUSSIAN, LAPLACE = 0, 3, 4, 7  # places among them
UNREADABLE: Event = {"kind": "pure", "epsilon": "0", "delta": "0", "rho": "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPart:
    """A block of a statement. name None: it is never cached; price: of PRICES."""

    name: int | None
    price: int = 0
    tables: tuple[str, ...] = ()

    @property
    def of(self) -> Price:
        return PRICES[self.price]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """In halves of epsilon, millionths of delta."""

    epsilon: int
    delta: int
    period: Period = Period.NONE

    @property
    def loss(self) -> Loss:
        return Loss(Fraction(self.epsilon, 2), self.delta * MILLIONTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a policy says. slot: how long and from when, in seconds."""

    default: Limit
    total: Limit
    analysts: Mapping[str, Limit] = field(default_factory=dict)
    groups: Mapping[str, Limit] = field(default_factory=dict)
    tables: Mapping[str, Limit] = field(default_factory=dict)
    is_zcdp: bool = False
    slot: tuple[int, int] = (86_400, 0)

    def of(self, line: Line) -> Limit | None:
        kind, name = line
        match kind:
            case "analyst" if name == PUBLISHED:
                return self.total
            case "analyst":
                return self.analysts.get(name, self.default)
            case "group":
                return self.groups.get(name)
            case "table":
                return self.tables.get(name)
            case _:
                return self.total

    def most(self, line: Line) -> Most | None:
        one = self.of(line)
        if one is None:
            return None
        of = limit(one.loss)
        return Most(epsilon=of.epsilon, delta=of.delta, rho=rho_limit(of) if self.is_zcdp else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """states None: nothing was done, as something were to be drawn; empty: refused."""

    states: tuple[str, ...] | None
    rows: tuple[int | None, ...] = ()
    texts: tuple[str | None, ...] = ()
    paid: Fraction = Fraction(0)
    # What is spent of each budget that has a limit, with the charge.
    lines: tuple[tuple[str, str, Fraction, Fraction, Fraction], ...] = ()
    receipt: int | None = field(default=None, compare=False)
    holder: str = field(default="", compare=False)


NOT_AN_ANALYST = Answer(states=(), paid=Fraction(-1))
NOT_CHARGED = Answer(states=("fault",))
WITHDRAWN = Answer(states=("withdrawn",))
OVER_TOKEN = Answer(states=("over token",))
TOKEN_IS_OVER = Answer(states=("token is over",))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedClaim:
    """is_withdrawn: before it is sent."""

    who: str
    parts: tuple[AskedPart, ...]
    may_draw: bool = True
    token: int | None = None
    is_withdrawn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCharge:
    """Of what is never cached. is_unreadable: the server cannot read its events."""

    who: str
    part: AskedPart
    token: int | None = None
    is_withdrawn: bool = False
    is_unreadable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRelease:
    """Of a published statement. price: what is planned for it today, of PRICES."""

    name: str
    sql: str = "SELECT 1"
    price: int = 0
    tables: tuple[str, ...] = ()
    slot: tuple[int, int] = (86_400, 0)
    is_now: bool = False

    @property
    def of(self) -> Price:
        return PRICES[self.price]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseAnswer:
    """short: the budgets that do not cover it."""

    state: str
    row: int | None = None
    due: datetime | None = None
    receipt: int | None = None
    short: frozenset[Line] = frozenset()
    holder: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseStanding:
    """As PublishedState. row: of the latest that is a table; failure: of a later one that is none."""

    row: int | None
    due: datetime | None
    released_at: datetime | None
    cost: tuple[Fraction, Fraction] | None
    next_due: datetime
    is_due: bool
    stale_since: datetime | None
    stale: str | None
    failure: str | None
