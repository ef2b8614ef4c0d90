"""Charts as SVG text: intervals, series, steps. No script, and no colour or style of their own.

Colours come from classes of the style sheet, so that a chart follows light and dark mode and a strict
Content-Security-Policy. The page shows each number as text, too. So a chart within a row is hidden from screen
readers, and any other has one sentence as its name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import ROUND_HALF_EVEN, Decimal
from typing import NamedTuple

from markupsafe import Markup, escape

from proxy.base.shown_numbers import shown_number
from proxy.servers.http.admin_models import BudgetEntry

_SIZES = ((1e9, 1e9, " G"), (1e6, 1e6, " M"), (1e4, 1e3, " k"))


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Choose round values from low to high, with at most so many steps between them.

    >>> nice_ticks(0, 663_500)
    [0.0, 200000.0, 400000.0, 600000.0]
    >>> nice_ticks(-90, 2554, 4)
    [0.0, 1000.0, 2000.0]
    """
    rough = ((high - low) or 1.0) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def short(value: float) -> str:
    """Write a number of an axis.

    >>> short(663_500), short(-90), short(1_250_000), short(0.4)
    ('664 k', '−90', '1.25 M', '0.4')
    """
    size, sign = abs(value), "−" if value < 0 else ""
    for least, unit, name in _SIZES:
        if size >= least:
            return f"{sign}{size / unit:.3g}{name}"
    return f"{sign}{size:,.6g}"


def _svg(text: str) -> Markup:
    """Text of our own: numbers, names of classes, and what was escaped."""
    return Markup(text)  # noqa: S704


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


class Point(NamedTuple):
    """A value with its interval, at a place of the x axis."""

    at: float
    value: float
    low: float
    high: float
    is_beyond: bool = False

    @property
    def is_faint(self) -> bool:
        """Whether it is beyond what is possible or cannot be told from zero. Of an interval that ends at its
        value, the other side counts."""
        reach = max(self.value - self.low, self.high - self.value)
        return self.is_beyond or abs(self.value) <= reach


def interval_cell(
    value: float,
    start: float,
    end: float,
    low: float,
    high: float,
    width: int = 220,
    *,
    is_beyond: bool = False,
) -> Markup:
    """Draw one row of an interval plot: a line at zero, a whisker from start to end, a dot at the value.

    Args:
        value, start, end: Of the row.
        low, high: The axis that all rows of the column share.
        width: In pixels.
        is_beyond: The value is beyond what is possible.
    """
    height, middle, pad = 22, 11, 6
    scale = (width - 2 * pad) / ((high - low) or 1.0)

    def x(at: float) -> str:
        return _n(pad + (min(max(at, low), high) - low) * scale)

    a, b, dot, zero = x(start), x(end), x(value), x(0.0)
    faint = " faint" if Point(0.0, value, start, end, is_beyond).is_faint else ""
    caps = "".join(f"M{one} {middle - 4}v8" for one, at in ((a, start), (b, end)) if at != value)
    return _svg(
        f'<svg class="ci{faint}" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' aria-hidden="true"><path class="zero" d="M{zero} 0V{height}"/>'
        f'<path class="stem" d="M{zero} {middle}H{dot}"/>'
        f'<path class="whisker" d="M{a} {middle}H{b}{caps}"/>'
        f'<circle class="dot" cx="{dot}" cy="{middle}" r="3.2"/></svg>'
    )


def axis_cell(low: float, high: float, width: int = 220) -> Markup:
    """Draw the axis under a column of `interval_cell`."""
    pad, height = 6, 20
    scale = (width - 2 * pad) / ((high - low) or 1.0)
    marks, labels = [], []
    for tick in nice_ticks(low, high, 3):
        at = pad + (tick - low) * scale
        anchor = "start" if at < 20 else "end" if at > width - 24 else "middle"
        marks.append(f"M{_n(at)} 0v4")
        labels.append(f'<text x="{_n(at)}" y="16" text-anchor="{anchor}">{short(tick)}</text>')
    return _svg(
        f'<svg class="ci axis" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' aria-hidden="true"><path class="axisline" d="M{pad} .5H{width - pad}{"".join(marks)}"/>'
        f"{''.join(labels)}</svg>"
    )


def meter(share: float, width: int = 120, height: int = 6) -> Markup:
    """Draw how much of a budget is left."""
    share = min(max(share, 0.0), 1.0)
    low, radius = " low" if share <= 0.2 else "", f"{height / 2:g}"
    return _svg(
        f'<svg class="meter{low}" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' aria-hidden="true"><rect class="rest" width="{width}" height="{height}" rx="{radius}"/>'
        f'<rect class="left" width="{_n(width * share)}" height="{height}" rx="{radius}"/></svg>'
    )


def spark_steps(
    values: Sequence[float], limit: float, width: int = 150, height: int = 30
) -> Markup:
    """Draw what was spent so far as a small line of steps under its limit."""
    top, bottom = 3, height - 2
    step = (width - 2) / max(len(values) - 1, 1)
    points = [
        (1 + step * n, bottom - (bottom - top) * min(max(value / limit, 0.0), 1.0))
        for n, value in enumerate(values)
    ]
    path = f"M{_n(points[0][0])} {_n(points[0][1])}"
    path += "".join(f"H{_n(x)}V{_n(y)}" for x, y in points[1:])
    return _svg(
        f'<svg class="spark" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' aria-hidden="true"><path class="limit" d="M1 {top}H{width - 1}"/>'
        f'<path class="area" d="{path}V{bottom}H1Z"/><path class="line" d="{path}"/></svg>'
    )


def share_bar(share: float, width: int = 120, height: int = 6) -> Markup:
    """Draw how much of what is allowed was reached; beyond it in the colour of refusals."""
    over, radius = " low" if share > 1 else "", f"{height / 2:g}"
    filled = _n(width * min(max(share, 0.0), 1.0))
    return _svg(
        f'<svg class="meter{over}" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' aria-hidden="true"><rect class="rest" width="{width}" height="{height}" rx="{radius}"/>'
        f'<rect class="left" width="{filled}" height="{height}" rx="{radius}"/></svg>'
    )


class Plot:
    """A plane with axes. Its methods add marks, and `svg` gives the text.

    Args:
        width, height: In pixels.
        x, y: The least and the largest value of each axis.
        left: Room for the labels of the y axis.
        titles: Of the x axis, below it, and of the y axis, above it.
    """

    _RIGHT, _TOP, _BOTTOM, _TITLE = 20, 16, 28, 18

    def __init__(
        self,
        width: int,
        height: int,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        left: int = 52,
        titles: tuple[str, str] | None = None,
    ) -> None:
        self._width, self._height, self._left = width, height, left
        self._x, self._y = x, y
        self._parts: list[str] = []
        room = self._TITLE if titles else 0
        self._top, self._bottom = self._TOP + room, self._BOTTOM + room
        if titles:
            self._parts.append(
                f'<text class="label" x="{width - self._RIGHT}" y="{height - 6}" text-anchor="end">'
                f'{escape(titles[0])}</text><text class="label" x="2" y="12">{escape(titles[1])}</text>'
            )

    def _px(self, value: float) -> str:
        low, high = self._x
        inside = self._width - self._left - self._RIGHT
        return _n(self._left + (value - low) / ((high - low) or 1) * inside)

    def _py(self, value: float) -> str:
        low, high = self._y
        inside = self._height - self._top - self._bottom
        return _n(self._height - self._bottom - (value - low) / ((high - low) or 1) * inside)

    def y_axis(self, label: Callable[[float], str] = short, most: int = 5) -> Plot:
        end = self._width - self._RIGHT
        for tick in nice_ticks(*self._y, most):
            y, name = self._py(tick), "base" if tick == 0 else "grid"
            self._parts.append(
                f'<path class="{name}" d="M{self._left} {y}H{end}"/><text x="{self._left - 8}" y="{y}"'
                f' dy=".32em" text-anchor="end">{escape(label(tick))}</text>'
            )
        return self

    def x_axis(self, ticks: Sequence[tuple[float, str]]) -> Plot:
        y = self._height - self._bottom
        for number, (at, label) in enumerate(ticks):
            x = self._px(at)
            is_last = number == len(ticks) - 1 and float(x) > self._width - 60
            self._parts.append(
                f'<path class="tick" d="M{x} {y}v4"/><text x="{x}" y="{y + 18}"'
                f' text-anchor="{"end" if is_last else "middle"}">{escape(label)}</text>'
            )
        return self

    def line(self, points: Sequence[tuple[float, float]], name: str = "line") -> Plot:
        path = "".join(
            f"{'L' if n else 'M'}{self._px(x)} {self._py(y)}" for n, (x, y) in enumerate(points)
        )
        self._parts.append(f'<path class="{name}" d="{path}"/>')
        return self

    def filled(self, points: Sequence[tuple[float, float]], name: str) -> Plot:
        """A region with these corners."""
        path = "L".join(f"{self._px(x)} {self._py(y)}" for x, y in points)
        self._parts.append(f'<path class="{name}" d="M{path}Z"/>')
        return self

    def text(self, at: tuple[float, float], text: str) -> Plot:
        """Write into the plane, from this point to the right."""
        x, y = self._px(at[0]), self._py(at[1])
        self._parts.append(f'<text class="label" x="{x}" y="{y}" dy=".32em">{escape(text)}</text>')
        return self

    def steps(self, points: Sequence[tuple[float, float]]) -> Plot:
        """Constant until the next point, as what is left of a budget."""
        (first, high), *rest = points
        path = f"M{self._px(first)} {self._py(high)}"
        path += "".join(f"H{self._px(x)}V{self._py(y)}" for x, y in rest)
        base = self._py(self._y[0])
        self._parts.append(
            f'<path class="area" d="{path}V{base}H{self._px(first)}Z"/><path class="line" d="{path}"/>'
        )
        return self

    def intervals(self, points: Sequence[Point]) -> Plot:
        """A whisker and a dot each. An interval that ends at its value has no cap there."""
        for one in points:
            at, faint = self._px(one.at), " faint" if one.is_faint else ""
            a, b, left = self._py(one.high), self._py(one.low), _n(float(self._px(one.at)) - 3.5)
            ends = ((a, one.high), (b, one.low))
            caps = "".join(f"M{left} {y}h7" for y, end in ends if end != one.value)
            self._parts.append(
                f'<g class="point{faint}"><path class="whisker" d="M{at} {a}V{b}{caps}"/>'
                f'<circle class="dot" cx="{at}" cy="{self._py(one.value)}" r="3.2"/></g>'
            )
        return self

    def svg(self, title: str, name: str = "plot") -> Markup:
        return _svg(
            f'<svg class="{name}" viewBox="0 0 {self._width} {self._height}" role="img"'
            f' aria-label="{escape(title)}"><title>{escape(title)}</title>'
            f"{''.join(self._parts)}</svg>"
        )


# Budgets over time: what was left of a line on each day, as charts and texts. No I/O.

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


def number_text(value: Decimal, places: int | None = None, rounding: str = ROUND_HALF_EVEN) -> str:
    """Write a number with groups of three digits.

    Args:
        places: Decimals; None: as many as the number has, without zeros at the end.

    >>> number_text(Decimal("-1234.50"), 1), number_text(Decimal("0.500")), number_text(Decimal(1200))
    ('−1,234.5', '0.5', '1,200')
    """
    exact = value
    if places is not None:
        exact = value.quantize(Decimal(1).scaleb(-places), rounding=rounding)
    text = f"{exact:,f}"
    if places is None and "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−")
