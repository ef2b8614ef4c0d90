"""An answer, a price and a budget as the console shows them: texts made of the documents of /v1. No I/O."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    InvalidOperation,
    localcontext,
)
from typing import Any

from markupsafe import Markup

from proxy.servers.console.charts import Plot, Point, axis_cell, interval_cell, number_text

_SHOWN_ROWS, _SHOWN_CELLS = 1_000, 10_000
_SHOWN_CHARACTERS = 2_000  # of a text
_SAVED_CHARACTERS = 2_000_000
_DIGITS_OF_NUMBERS = 150_000  # numeric has 131,072 before the point and 16,383 behind it
_DRAWN = 1e300
_CHARTED = range(4, 401)  # points of a line
_DIGITS = 2  # of an error
_TIMES = ("date", "timestamp")
_WIDE, _NARROW = 924, 358
_TICKS = 6
_STEPS = (1, 2, 3, 4, 6, 12, 24, 36, 60)  # of days or months between labels
_MIDNIGHT = re.compile(r"\d{4,6}-\d\d-\d\d 00:00:00(?:\+00)?")
_UNLISTED = re.compile(r"in the policy; '.*' (is not one of|are not among) them")
_RANKS = re.compile(r"it lies (between about p\d+ and p\d+)")
_BEYOND = "Noise alone puts "
_TAKES = "NULL: it takes about "
_MANY = 20  # values of which one in 20 is told to be beyond its interval

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One value. error: its text, "" where the column has no noise; plot: the same drawn, if it can be;
    is_faint: it cannot be told from zero, or is beyond what is possible."""

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
    file_name: str = "answer.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noisy:
    """A column with noise. at_least, at_most: its error is known to that side alone: what is cut is not; ranks:
    where its values lie instead of an interval; low, high: what is beyond them is not possible."""

    at_least: bool
    at_most: bool
    ranks: str = ""
    low: Decimal | None = None
    high: Decimal | None = None

    def is_beyond(self, value: Decimal) -> bool:
        is_below = self.low is not None and value < self.low
        return is_below or (self.high is not None and value > self.high)

    def ends(self, value: Decimal, error: Decimal) -> tuple[Decimal, Decimal]:
        """Of the interval. The side that is not known ends at the value."""
        return (value if self.at_most else value - error, value if self.at_least else value + error)


def shown_rows(columns: int) -> int:
    """How many rows a page shows."""
    return max(1, min(_SHOWN_ROWS, _SHOWN_CELLS // max(1, columns)))


def shown_answer(body: bytes, rows: int, database: str = "answer") -> AnswerPage:
    """Make the page of an answer. It takes long: not in a thread that serves others.

    Args:
        body: Of /v1/query, with the rows that are shown.
        rows: How many the answer has.
        database: For the name of a file that it is saved as.
    """
    # Numbers of PostgreSQL have more digits than a context has by default, and integers more than int() reads.
    with localcontext(Context(prec=_DIGITS_OF_NUMBERS, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        document = json.loads(body, parse_float=Decimal, parse_int=Decimal)
        shown = _shown(document, rows)
    return replace(shown, file_name=_file_name(document["privacy"], database))


def _shown(document: Document, count: int) -> AnswerPage:
    errors = document["errors"] or {"rows": None, "columns": []}
    noisy = {
        place: _noisy(one, document["columns"][place]["name"], document["notices"])
        for place, one in enumerate(errors["columns"])
        if one is not None
    }
    rows, found = document["rows"], errors["rows"]
    axes = {place: _axis(rows, found, place, one) for place, one in noisy.items()}
    columns = [
        AnswerHead(
            name=one["name"],
            is_number=any(isinstance(row[place], Decimal) for row in rows),
            is_noisy=place in noisy,
            axis=_axis_of(axes.get(place)),
        )
        for place, one in enumerate(document["columns"])
    ]
    days = _days(rows)

    def cell(number: int, place: int, value: Any) -> Cell:
        if place in days and value is not None:
            return Cell(text=value.partition(" ")[0])
        return _cell(value, _error(found, number, place), axes.get(place), noisy.get(place))

    return AnswerPage(
        columns=columns,
        rows=[[cell(n, *one) for one in enumerate(row)] for n, row in enumerate(rows)],
        more=count - len(rows),
        chart=_chart(document, found, noisy),
        caption=_caption(rows, noisy, found, count),
        facts=_facts(document["privacy"]),
        notes=_notes(document["notices"]),
        made=[_made(one) for one in document["accuracy"]],
        download=_download(document, noisy),
    )


def _noisy(one: Document, name: str, notices: Sequence[str]) -> _Noisy:
    """
    Args:
        one: The errors of a column.
        notices: Of which one says what is not possible.

    >>> reason = "no interval: it lies between about p1 and p9"
    >>> one = {"at_least": False, "at_most": False, "no_interval": reason}
    >>> found = _noisy(one, "a", ["Noise alone puts b above 1 and a below 0 in 2 of 4 groups."])
    >>> found.ranks, found.low, found.high
    ('between about p1 and p9', Decimal('0'), None)
    """
    reason = one.get("no_interval") or ""
    ranks = None if reason.startswith("of ") else _RANKS.search(reason)  # else of a part of it
    impossible = " ".join(note for note in notices if note.startswith(_BEYOND))
    ends = {
        side: re.search(
            rf"(?:puts|,| and) {re.escape(name)} {side} (-?\d+(?:\.\d+)?)\b", impossible
        )
        for side in ("below", "above")
    }
    low, high = (None if end is None else Decimal(end[1]) for end in ends.values())
    return _Noisy(
        at_least=one["at_least"],
        at_most=one["at_most"],
        ranks="" if ranks is None else ranks[1],
        low=low,
        high=high,
    )


def _notes(notices: Sequence[str]) -> list[str]:
    """Where a value is misspelled, more units are no cure.

    >>> few = "count(*) is NULL: it takes about 138 customers, and a noisy count found fewer."
    >>> _notes(["s has the value 'a' in the policy; 'b' is not one of them", few, "x +-1"])[1:]
    ['x ±1']
    """
    is_unlisted = any(_UNLISTED.search(note) for note in notices)
    shown = (note for note in notices if not (is_unlisted and _TAKES in note))
    return [note.replace("+-", "±") for note in shown]


def _file_name(privacy: Document, database: str) -> str:
    """
    >>> _file_name({"receipt": "3"}, "my shop")
    'my-shop-receipt-3.csv'
    """
    receipt = privacy["receipt"]
    name = re.sub(r"[^A-Za-z0-9_]+", "-", database).strip("-")
    now = datetime.now(timezone.utc)
    return f"{name}-{f'{now:%Y%m%d-%H%M%S}' if receipt is None else f'receipt-{receipt}'}.csv"


def _error(errors: Any, number: int, place: int) -> Decimal | None:
    """The half width of a value's interval. None: it has none, or none that is a number."""
    found = None if errors is None else errors[number][place]
    return found if isinstance(found, Decimal) else None


def _axis(
    rows: Sequence[Sequence[Any]], errors: Any, place: int, noisy: _Noisy
) -> tuple[float, float] | None:
    """The least and the largest end of all intervals, with zero. None: nothing can be drawn."""
    ends = [0.0]
    for number, row in enumerate(rows):
        value, error = row[place], _error(errors, number, place)
        if isinstance(value, Decimal) and error is not None:
            ends += map(float, noisy.ends(value, error))
    is_drawn = len(ends) > 1 and max(ends) > min(ends) and max(map(abs, ends)) < _DRAWN
    return (min(ends), max(ends)) if is_drawn else None


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
    value: Any, error: Decimal | None, axis: tuple[float, float] | None, noisy: _Noisy | None
) -> Cell:
    if value is None:
        return Cell(text="–", is_faint=True)
    if noisy is None or error is None:
        is_number = isinstance(value, Decimal)
        text = number_text(value) if is_number else _shortened(_text(value))
        if noisy is None:
            return Cell(text=text)
        side = "at least " if noisy.at_least else "at most " if noisy.at_most else ""
        side = (
            side if axis is None else ""
        )  # else other rows have errors, and this one has none known
        return Cell(text=text, error=f"{side}{text}" if side else noisy.ranks or "no interval")
    if not isinstance(value, Decimal):  # a time, whose error is a plain number of days or seconds
        return Cell(text=_text(value), error=f"± {number_text(error)}")
    places = _places(value, error)
    low, high = noisy.ends(value, error)
    if noisy.at_least or noisy.at_most:
        end = low if noisy.at_least else high
        word, down = ("at least", ROUND_FLOOR) if noisy.at_least else ("at most", ROUND_CEILING)
        told = f"{word} {number_text(end, places, down)}"
    else:
        told = f"± {number_text(_three_digits(error), places, ROUND_CEILING)}"
    plot, is_beyond = None, noisy.is_beyond(value)
    if axis is not None:
        plot = interval_cell(float(value), float(low), float(high), *axis, is_beyond=is_beyond)
    is_faint = is_beyond or abs(value) <= error
    return Cell(text=number_text(value, places), error=told, plot=plot, is_faint=is_faint)


def _three_digits(error: Decimal) -> Decimal:
    """An error above 1,000 in three digits, rounded up.

    >>> print(_three_digits(Decimal(60415)), _three_digits(Decimal("12.5")))
    60500 12.5
    """
    if error < 1_000:
        return error
    return error.quantize(Decimal(1).scaleb(error.adjusted() - 2), ROUND_CEILING).quantize(1)


def _places(value: Decimal, error: Decimal) -> int:
    """Decimals that mean something: those of two digits of the error, at most as many as the value has."""
    exponent = value.as_tuple().exponent
    own = max(0, -exponent) if isinstance(exponent, int) else 0
    return max(0, min(own, _DIGITS - 1 - error.adjusted())) if error else own


def _text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case dict() | list():  # of json and jsonb
            return _json_text(value)
        case _:
            return str(value)


def _json_text(value: Any) -> str:
    """Write a document with the digits that its numbers have.

    >>> _json_text({"a": [Decimal(1), Decimal("0.50"), None, True], "b": Decimal(2**64)})
    '{"a": [1, 0.50, null, true], "b": 18446744073709551616}'
    """
    match value:
        case dict():
            written = ((json.dumps(name, ensure_ascii=False), one) for name, one in value.items())
            return f"{{{', '.join(f'{name}: {_json_text(one)}' for name, one in written)}}}"
        case list():
            return f"[{', '.join(map(_json_text, value))}]"
        case Decimal():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]} …"


def _caption(
    rows: Sequence[Sequence[Any]], noisy: Mapping[int, _Noisy], errors: Any, count: int
) -> str:
    number = f"{count:,} {'row' if count == 1 else 'rows'}."
    if not noisy or errors is None:
        return number
    values = len(rows) * len(noisy)
    many = ""
    if values >= _MANY:
        outside = round(values * 0.05)
        many = (
            f" The 95 % hold for each value alone: of {values:,} about {outside:,} may lie outside. A total of"
            f" rows has a larger error, of all about {math.sqrt(len(rows)):.0f} times: ask for it by itself."
        )
    is_cut = any(one.at_least or one.at_most for one in noisy.values())
    ends = (
        " “At least” and “at most”: the policy cuts values, so that the other end is not known."
        if is_cut
        else ""
    )
    is_faint = any(
        row[place] is not None and _cell(row[place], _error(errors, n, place), None, one).is_faint
        for n, row in enumerate(rows)
        for place, one in noisy.items()
    )
    grey = (
        " Grey values cannot be told from zero, or are beyond what is possible." if is_faint else ""
    )
    return f"Each value with its 95 % interval. {number}{ends}{many}{grey}"


def moment(text: str) -> str:
    """
    >>> moment("2026-12-01T00:00:00+00:00")
    '1 Dec 2026, 00:00 UTC'
    """
    found = datetime.fromisoformat(text).astimezone(timezone.utc)
    return f"{found.day} {found:%b %Y, %H:%M} UTC"


_SINCE = {
    "cached": "first shown to you",
    "derived": "made of what was shown to you",
    "published": "drawn",
}


def _facts(privacy: Document) -> list[tuple[str, str]]:
    """What stands under an answer, as pairs of a word and what is told of it."""
    epsilon, left = Decimal(str(privacy["epsilon"])), privacy["remaining"]
    source = privacy["source"]
    if source is None:
        return [("charged", "nothing"), ("source", "nothing protected was asked")]
    told = source if source == "fresh" else f"{source}, {_SINCE[source]} {moment(privacy['as_of'])}"
    if not epsilon or privacy["receipt"] is None:
        return [("charged", "nothing"), ("source", told)]
    found = [("charged", f"ε {number_text(epsilon)}")]
    if left is not None:
        found.append(("left", f"ε {number_text(Decimal(str(left['epsilon'])))}"))
    return [
        *found,
        ("receipt", privacy["receipt"]),
        ("source", told),
    ]


def _made(one: Document) -> dict[str, str]:
    """How one aggregate was made, as a row of texts."""
    return {
        "name": one["name"] if "name" in one else one["aggregate"],
        "mechanism": one["mechanism"],
        "sensitivity": one["sensitivity"],
        "epsilon": number_text(Decimal(str(one["epsilon"]))),
        "note": one["note"],
    }


def _download(document: Document, noisy: Mapping[int, _Noisy]) -> str:
    """What is shown as CSV in an address, so that saving it asks and charges nothing. "": it is too long."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    names = [one["name"] for one in document["columns"]]
    writer.writerow(
        name for place, own in enumerate(names) for name in _named(own, noisy.get(place))
    )
    found = (document["errors"] or {"rows": None})["rows"]
    for number, row in enumerate(document["rows"]):
        cells: list[str] = []
        for place, value in enumerate(row):
            cells.append("" if value is None else _text(value))
            if place in noisy:
                cells.append(_told(value, _error(found, number, place), noisy[place]))
        writer.writerow(map(_harmless, cells))
        if out.tell() > _SAVED_CHARACTERS:
            return ""
    encoded = b64encode(out.getvalue().encode()).decode()
    return f"data:text/csv;charset=utf-8;base64,{encoded}"


def _told(value: Any, error: Decimal | None, noisy: _Noisy) -> str:
    """The error of a value, or the end that is known."""
    if error is None:
        return ""
    if isinstance(value, Decimal) and (noisy.at_least or noisy.at_most):
        return _text(noisy.ends(value, error)[0 if noisy.at_least else 1])
    return _text(_three_digits(error))


def _named(name: str, noisy: _Noisy | None) -> tuple[str, ...]:
    if noisy is None:
        return (_harmless(name),)
    word = "at_least" if noisy.at_least else "at_most" if noisy.at_most else "error_95"
    return (_harmless(name), _harmless(f"{name}_{word}"))


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


def _chart(document: Document, errors: Any, noisy: Mapping[int, _Noisy]) -> Markup:
    """A line over time with whiskers, for wide and for narrow pages; nothing where it is no series."""
    rows, columns = document["rows"], document["columns"]
    if not columns or not noisy or errors is None or len(rows) not in _CHARTED:
        return Markup("")
    if not columns[0]["type"].startswith(_TIMES) or 0 in noisy:
        return Markup("")
    place = min(noisy)
    points: list[Point] = []
    for number, row in enumerate(rows):
        at, value, error = _time(row[0]), row[place], _error(errors, number, place)
        if at is not None and isinstance(value, Decimal) and error is not None:
            low, high = map(float, noisy[place].ends(value, error))
            points.append(Point(at, float(value), low, high, noisy[place].is_beyond(value)))
    if len(points) not in _CHARTED or len({one.at for one in points}) < len(points):
        return Markup("")
    if max(max(abs(one.low), abs(one.high)) for one in points) >= _DRAWN:
        return Markup("")
    points.sort(key=lambda one: one.at)
    title = f"{columns[place]['name']} by {columns[0]['name']}, with 95 % intervals"
    plots = (
        _series(points, title, _WIDE, "plot at-wide"),
        _series(points, title, _NARROW, "plot at-narrow"),
    )
    return Markup("").join(plots)


def _series(points: Sequence[Point], title: str, width: int, name: str) -> Markup:
    first, last = points[0].at, points[-1].at
    pad = (last - first) / (2 * len(points))
    low = min(0.0, *(one.low for one in points))
    high = max(0.0, *(one.high for one in points))
    is_small = width < _WIDE
    plot = Plot(width, 250 if is_small else 310, (first - pad, last + pad), (low, high or 1.0))
    most = _TICKS // 2 if is_small else _TICKS
    rough = math.ceil(len(points) / most)
    step = next((one for one in _STEPS if one >= rough), rough)
    long = last - first > 2 * 365 * 86_400
    labels = [(one.at, _day(one.at, long=long)) for one in points[::step]]
    plot.y_axis().x_axis(labels).line([(one.at, one.value) for one in points], "line thin")
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
