"""Budgets over time: what was left of a line on each day, as charts and texts. No I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

from markupsafe import Markup

from proxy.base.shown_numbers import shown_number
from proxy.servers.console.answer_pages import number_text
from proxy.servers.console.charts import Plot, spark_steps
from proxy.servers.http.admin_models import BudgetEntry

NO_LIMIT = "-"
_WIDE, _NARROW = 1180, 358
_DAY = 86_400.0
_PACE_DAYS = 30

Paid = Mapping[date, Decimal]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLine:
    """One budget. unit: ε, or ρ under zCDP; spark: of the window so far."""

    name: str
    renews: str
    unit: str
    spent: str
    limit: str
    left: str
    used: str
    is_nearly_spent: bool
    delta: str
    delta_limit: str
    receipts: str
    spark: Markup


def unit_of(line: BudgetEntry) -> str:
    return "ε" if line.rho_limit == NO_LIMIT else "ρ"


def amounts(line: BudgetEntry) -> tuple[Decimal, Decimal | None]:
    """What is spent of a line, and its limit: of rho where the policy limits that."""
    if line.rho_limit != NO_LIMIT:
        return Decimal(line.rho), Decimal(line.rho_limit)
    limit = None if line.epsilon_limit == NO_LIMIT else Decimal(line.epsilon_limit)
    return Decimal(line.epsilon), limit


def shown_line(line: BudgetEntry, paid: Paid, today: date) -> ShownLine:
    """
    Args:
        line: As the ledger has it.
        paid: By day, of the same line.
        today: In UTC.
    """
    spent, limit = amounts(line)
    began = window_start(line.per, today)
    days = _cumulative(paid, began, today, spent)
    spark = Markup("")
    if limit and len(days) > 1:
        spark = spark_steps([float(one) for _, one in days], float(limit))
    return ShownLine(
        name=line.budget.strip("()"),
        renews="never" if line.per == "none" else f"each {line.per}",
        unit=unit_of(line),
        spent=amount_text(spent),
        limit="no limit" if limit is None else amount_text(limit),
        left="–" if limit is None else amount_text(max(Decimal(0), limit - spent)),
        used=line.used.removesuffix(" !").replace("-", "–"),
        is_nearly_spent=line.used.endswith("!"),
        delta=delta_text(line.delta),
        delta_limit="–" if line.delta_limit == NO_LIMIT else delta_text(line.delta_limit),
        receipts=line.receipts,
        spark=spark,
    )


def amount_text(value: Decimal) -> str:
    """
    >>> amount_text(Decimal("7.25")), amount_text(Decimal("0.333333333")), amount_text(Decimal(20))
    ('7.25', '0.3333', '20')
    """
    return number_text(round(value, 4).normalize())


def delta_text(text: str) -> str:
    """
    >>> delta_text("0.000001"), delta_text("0"), delta_text("0.0000021")
    ('10⁻⁶', '0', '2.1 × 10⁻⁶')
    """
    value = float(text)
    if not value:
        return "0"
    digits, _, power = f"{value:.1e}".partition("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    digits = digits.removesuffix(".0")
    return f"10{raised}" if digits == "1" else f"{digits} × 10{raised}"


def odds(epsilon: Decimal) -> str:
    """By which factor the odds of a guess about one person can have grown, at most.

    >>> odds(Decimal("0.5")), odds(Decimal("7.25")), odds(Decimal(60))
    ('× 1.6', '× 1,410', '× more than a million')
    """
    factor = math.exp(min(float(epsilon), 50.0))
    if factor > 1e6:
        return "× more than a million"
    return f"× {factor:.2g}" if factor < 10 else f"× {float(f'{factor:.3g}'):,.0f}"


def pace(line: BudgetEntry, paid: Paid, today: date) -> tuple[str, str]:
    """When a lifetime line is spent at the pace of the last 30 days, and that pace."""
    spent, limit = amounts(line)
    recent = sum(
        (one for day, one in paid.items() if (today - day).days < _PACE_DAYS), start=Decimal(0)
    )
    told = f"{unit_of(line)} {amount_text(recent)} in the last {_PACE_DAYS} days"
    if limit is None:
        return "no limit", told
    if spent >= limit:
        return "spent", told
    if recent <= 0:
        return "not in sight", told
    days = float((limit - spent) / recent) * _PACE_DAYS
    if days > 36_500:
        return "in a century", told
    end = today + timedelta(days=math.ceil(days))
    return (f"{end:%b %Y}" if days > 60 else f"{end.day} {end:%b %Y}"), told


def window_start(per: str, day: date) -> date | None:
    """
    >>> window_start("month", date(2026, 11, 27)), window_start("week", date(2026, 11, 27))
    (datetime.date(2026, 11, 1), datetime.date(2026, 11, 23))

    Returns:
        None of a line that is never renewed.
    """
    match per:
        case "none":
            return None
        case "day":
            return day
        case "week":
            return day - timedelta(days=day.weekday())
        case _:  # "month"
            return day.replace(day=1)


def burn_down(line: BudgetEntry, paid: Paid, first: date, today: date) -> Markup:
    """What was left at the end of each day, for wide and for narrow pages; without a limit what was spent.

    Args:
        line, paid: As of `shown_line`; `paid` begins before the window that `first` is in.
        first: The first day that is drawn.
        today: The last one.
    """
    spent, limit = amounts(line)
    points = [
        (day, limit - one if limit is not None else one)
        for day, one in _by_day(line.per, paid, first, today, spent)
    ]
    top = limit if limit is not None else max((one for _, one in points), default=Decimal(1))
    what = "left" if limit is not None else "spent"
    now = points[-1][1] if points else top
    title = f"{unit_of(line)} {what} of {line.budget.strip('()')}: {amount_text(now)} now"
    if limit is not None:
        title += f", of {amount_text(limit)}"
    return Markup("").join(
        _drawn(points, float(top) or 1.0, title, width, name)
        for width, name in ((_WIDE, "plot at-wide"), (_NARROW, "plot at-narrow"))
    )


def _drawn(
    points: Sequence[tuple[date, Decimal]], top: float, title: str, width: int, name: str
) -> Markup:
    places = [(_seconds(day), max(0.0, float(value))) for day, value in points]
    places.append((places[-1][0] + _DAY, places[-1][1]))
    first, last = places[0][0], places[-1][0]
    plot = Plot(width, 200 if width < _WIDE else 260, (first, last), (0, top), left=44)
    count = 3 if width < _WIDE else 8
    step = max(1, math.ceil(len(points) / count))
    labels = [(_seconds(day), f"{day.day} {day:%b}") for day, _ in points[::step]]
    return plot.y_axis(shown_number).x_axis(labels).steps(places).svg(title, name)


def _by_day(
    per: str, paid: Paid, first: date, today: date, spent: Decimal
) -> list[tuple[date, Decimal]]:
    """What of the window was spent at the end of each day.

    >>> days = {date(2026, 10, 30): Decimal(2), date(2026, 11, 1): Decimal(1)}
    >>> found = _by_day("month", days, date(2026, 10, 31), date(2026, 11, 1), Decimal(1))
    >>> [str(one) for _, one in found]
    ['2', '1']
    """
    found: list[tuple[date, Decimal]] = []
    began = window_start(per, first)
    if began is None:
        later = sum((one for day, one in paid.items() if day >= first), start=Decimal(0))
        total, day = max(Decimal(0), spent - later), first
    else:
        total, day = Decimal(0), began
    window = began
    while day <= today:
        now = window_start(per, day)
        if now != window:
            window, total = now, Decimal(0)
        total = max(Decimal(0), total + paid.get(day, Decimal(0)))
        if day >= first:
            found.append((day, total))
        day += timedelta(days=1)
    return found


def _cumulative(
    paid: Paid, began: date | None, today: date, spent: Decimal
) -> list[tuple[date, Decimal]]:
    first = began or min(paid, default=today)
    return _by_day("none", paid, first, today, spent)


def _seconds(day: date) -> float:
    return datetime.combine(day, time(), timezone.utc).timestamp()
