"""An answer, a price and a budget as the console shows them: texts made of the documents of /v1. No I/O."""

from __future__ import annotations

import csv
import io
import math
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Any

from markupsafe import Markup

from proxy.servers.console.charts import Plot, axis_cell, interval_cell

SHOWN_ROWS = 1_000
_CHARTED = range(4, 401)  # points of a line
_DIGITS = 2  # of an error
_TIMES = ("date", "timestamp")
_WIDE, _NARROW = 924, 358
_TICKS = 6
_MIDNIGHT = re.compile(r"\d{4,6}-\d\d-\d\d 00:00:00(?:\+00)?")
_MANY = 20  # values of which one in 20 is told to be beyond its interval

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One value. error: its text, "" where the column has no noise; plot: the same drawn, if it can be;
    is_faint: it cannot be told from zero."""

    text: str
    error: str = ""
    plot: Markup | None = None
    is_faint: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerHead:
    """is_number: it is written to the right; is_noisy: it has an error beside it; axis: of its plots."""

    name: str
    is_number: bool
    is_noisy: bool
    axis: Markup | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPage:
    columns: Sequence[AnswerHead]
    rows: Sequence[Sequence[Cell]]
    more: int
    chart: Markup
    caption: str
    facts: Sequence[tuple[str, str]]
    notes: Sequence[str]
    made: Sequence[Mapping[str, str]]
    download: str


def shown_answer(document: Document, chart: bool = True) -> AnswerPage:
    """Make the page of an answer.

    Args:
        document: The body of /v1/query, its numbers as Decimal.
        chart: Whether a series over time is drawn.
    """
    errors = document["errors"] or {"rows": None, "columns": []}
    noisy = _noisy_columns(document, errors)
    rows, found = document["rows"], errors["rows"]
    axes = {place: _axis(rows, found, place) for place in noisy}
    columns = [
        AnswerHead(
            name=one["name"],
            is_number=_is_number(rows, place),
            is_noisy=place in noisy,
            axis=_axis_of(axes.get(place)),
        )
        for place, one in enumerate(document["columns"])
    ]
    days = _days(rows)
    shown = [
        [
            Cell(text=value.partition(" ")[0])
            if place in days and value is not None
            else _cell(
                value, _error(found, number, place), axes.get(place), is_noisy=place in noisy
            )
            for place, value in enumerate(row)
        ]
        for number, row in enumerate(rows[:SHOWN_ROWS])
    ]
    return AnswerPage(
        columns=columns,
        rows=shown,
        more=max(0, len(rows) - SHOWN_ROWS),
        chart=_chart(document, found, noisy) if chart else Markup(""),
        caption=_caption(rows, noisy, found),
        facts=_facts(document["privacy"]),
        notes=[note.replace("+-", "±") for note in document["notices"]],
        made=[_made(one) for one in document["accuracy"]],
        download=_download(document),
    )


def _noisy_columns(document: Document, errors: Document) -> list[int]:
    return [place for place, one in enumerate(errors["columns"]) if one is not None]


def _is_number(rows: Sequence[Sequence[Any]], place: int) -> bool:
    return any(isinstance(row[place], Decimal | int) and row[place] is not True for row in rows)


def _error(errors: Any, number: int, place: int) -> Decimal | None:
    """The half width of a value's interval. None: it has none, or none that is a number."""
    found = None if errors is None else errors[number][place]
    return Decimal(found) if isinstance(found, Decimal | int) else None


def _axis(rows: Sequence[Sequence[Any]], errors: Any, place: int) -> tuple[float, float] | None:
    """The least and the largest end of all intervals, with zero. None: nothing can be drawn."""
    ends = [0.0]
    for number, row in enumerate(rows):
        value, error = row[place], _error(errors, number, place)
        if isinstance(value, Decimal | int) and error is not None:
            ends += [float(value - error), float(value + error)]
    return (min(ends), max(ends)) if len(ends) > 1 and max(ends) > min(ends) else None


def _days(rows: Sequence[Sequence[Any]]) -> frozenset[int]:
    """Columns of times in UTC that are midnight in each row: their days are shown."""
    places = range(len(rows[0])) if rows else ()
    texts = ([row[place] for row in rows if row[place] is not None] for place in places)
    return frozenset(
        place
        for place, found in zip(places, texts, strict=True)
        if found and all(isinstance(one, str) and _MIDNIGHT.fullmatch(one) for one in found)
    )


def _axis_of(ends: tuple[float, float] | None) -> Markup | None:
    return None if ends is None else axis_cell(*ends)


def _cell(
    value: Any, error: Decimal | None, axis: tuple[float, float] | None, *, is_noisy: bool
) -> Cell:
    if value is None:
        return Cell(text="–", is_faint=True)
    if not isinstance(value, Decimal | int) or isinstance(value, bool):
        return Cell(text=_text(value), error="" if not is_noisy else _width(error))
    if error is None:
        return Cell(text=number_text(value), error="no interval" if is_noisy else "")
    places = _places(value, error)
    plot = None if axis is None else interval_cell(float(value), float(error), *axis)
    return Cell(
        text=number_text(value, places),
        error=f"± {number_text(_three_digits(error), places, ROUND_CEILING)}",
        plot=plot,
        is_faint=abs(Decimal(value)) <= error,
    )


def _width(error: Decimal | None) -> str:
    """Of a time, whose error is a plain number of days or seconds."""
    return "no interval" if error is None else f"± {number_text(error)}"


def _three_digits(error: Decimal) -> Decimal:
    """An error above 1,000 in three digits, rounded up.

    >>> print(_three_digits(Decimal(60415)), _three_digits(Decimal("12.5")))
    60500 12.5
    """
    if error < 1_000:
        return error
    return error.quantize(Decimal(1).scaleb(error.adjusted() - 2), ROUND_CEILING).quantize(1)


def _places(value: Decimal | int, error: Decimal) -> int:
    """Decimals that mean something: those of two digits of the error, at most as many as the value has."""
    exponent = Decimal(value).as_tuple().exponent
    own = max(0, -exponent) if isinstance(exponent, int) else 0
    if not error:
        return own
    return max(0, min(own, _DIGITS - 1 - math.floor(math.log10(abs(error)))))


def number_text(
    value: Decimal | int, places: int | None = None, rounding: str = ROUND_HALF_EVEN
) -> str:
    """Write a number with groups of three digits.

    Args:
        places: Decimals; None: as many as the number has, without zeros at the end.

    >>> number_text(Decimal("-1234.50"), 1), number_text(Decimal("0.500")), number_text(1200)
    ('−1,234.5', '0.5', '1,200')
    """
    exact = Decimal(value)
    if places is not None:
        exact = exact.quantize(Decimal(1).scaleb(-places), rounding=rounding)
    text = f"{exact:,f}"
    if places is None and "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _caption(rows: Sequence[Sequence[Any]], noisy: Sequence[int], errors: Any) -> str:
    count = f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'}."
    if not noisy or errors is None:
        return count
    values = len(rows) * len(noisy)
    many = ""
    if values >= _MANY:
        outside = round(values * 0.05)
        many = (
            f" The 95 % hold for each value alone: of {values:,} about {outside:,} may lie outside."
        )
    return f"Each value with its 95 % interval. {count}{many} Grey values cannot be told from zero."


def _facts(privacy: Document) -> list[tuple[str, str]]:
    """What stands under an answer, as pairs of a word and what is told of it."""
    epsilon, left = Decimal(str(privacy["epsilon"])), privacy["remaining"]
    if not epsilon:
        source = "published" if privacy["reused"] else "nothing protected was asked"
        return [("charged", "nothing"), ("source", source if not privacy["repeated"] else "cached")]
    found = [("charged", f"ε {number_text(epsilon)}")]
    if left is not None:
        found.append(("left", f"ε {number_text(Decimal(str(left['epsilon'])))}"))
    if privacy["receipt"] is not None:
        found.append(("receipt", privacy["receipt"]))
    return [*found, ("source", "cached" if privacy["repeated"] else "fresh")]


def _made(one: Document) -> dict[str, str]:
    """How one aggregate was made, as a row of texts."""
    return {
        "name": one["name"] if "name" in one else one["aggregate"],
        "mechanism": one["mechanism"],
        "sensitivity": one["sensitivity"],
        "epsilon": number_text(Decimal(str(one["epsilon"]))),
        "note": one["note"],
    }


def _download(document: Document) -> str:
    """The answer as CSV in an address, so that saving it asks and charges nothing."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    noisy = _noisy_columns(document, document["errors"] or {"columns": []})
    names = [one["name"] for one in document["columns"]]
    writer.writerow(
        name for place, own in enumerate(names) for name in _named(own, is_noisy=place in noisy)
    )
    found = (document["errors"] or {"rows": None})["rows"]
    for number, row in enumerate(document["rows"][:SHOWN_ROWS]):
        cells: list[str] = []
        for place, value in enumerate(row):
            cells.append("" if value is None else _text(value))
            if place in noisy:
                error = _error(found, number, place)
                cells.append("" if error is None else _text(error))
        writer.writerow(map(_harmless, cells))
    encoded = b64encode(out.getvalue().encode()).decode()
    return f"data:text/csv;charset=utf-8;base64,{encoded}"


def _named(name: str, *, is_noisy: bool) -> tuple[str, ...]:
    return (_harmless(name), _harmless(f"{name}_error_95")) if is_noisy else (_harmless(name),)


def _harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula. Numbers stay.

    >>> _harmless("=1+2"), _harmless("-5.0"), _harmless("CA")
    ("'=1+2", '-5.0', 'CA')
    """
    try:
        Decimal(text)
    except InvalidOperation:
        return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
    return text


def _chart(document: Document, errors: Any, noisy: Sequence[int]) -> Markup:
    """A line over time with whiskers, for wide and for narrow pages; nothing where it is no series."""
    rows, columns = document["rows"], document["columns"]
    if not columns or not noisy or errors is None or len(rows) not in _CHARTED:
        return Markup("")
    if not columns[0]["type"].startswith(_TIMES) or 0 in noisy:
        return Markup("")
    place = noisy[0]
    points = []
    for number, row in enumerate(rows):
        at, value, error = _time(row[0]), row[place], _error(errors, number, place)
        if at is not None and isinstance(value, Decimal | int) and error is not None:
            points.append((at, float(value), float(error)))
    if len(points) not in _CHARTED or len({at for at, _, _ in points}) < len(points):
        return Markup("")
    points.sort()
    title = f"{columns[place]['name']} by {columns[0]['name']}, with 95 % intervals"
    plots = (
        _series(points, title, _WIDE, "plot at-wide"),
        _series(points, title, _NARROW, "plot at-narrow"),
    )
    return Markup("").join(plots)


def _series(
    points: Sequence[tuple[float, float, float]], title: str, width: int, name: str
) -> Markup:
    first, last = points[0][0], points[-1][0]
    pad = (last - first) / (2 * len(points))
    low = min(0.0, min(value - error for _, value, error in points))
    high = max(0.0, max(value + error for _, value, error in points))
    is_small = width < _WIDE
    plot = Plot(width, 250 if is_small else 310, (first - pad, last + pad), (low, high or 1.0))
    most = _TICKS // 2 if is_small else _TICKS
    step = max(1, math.ceil(len(points) / most))
    long = last - first > 2 * 365 * 86_400
    labels = [(at, _day(at, long=long)) for at, _, _ in points[::step]]
    plot.y_axis().x_axis(labels).line([(at, value) for at, value, _ in points], "line thin")
    return plot.intervals(points).svg(title, name)


def _time(value: Any) -> float | None:
    """The seconds since 1970 of a text of PostgreSQL; None of one that Python's calendar has not."""
    if not isinstance(value, str):
        return None
    text = value.replace(" ", "T", 1)
    if len(text) > 3 and text[-3] in "+-":
        text += ":00"
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()


def _day(at: float, *, long: bool) -> str:
    found = datetime.fromtimestamp(at, timezone.utc)
    return f"{found:%b %Y}" if long else f"{found.day} {found:%b %y}"
