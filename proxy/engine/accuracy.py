"""How exact one answer will be, with an honest name for each kind of error. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.shown_numbers import shown_number
from proxy.base.sql_types import SqlType


class ErrorKind(Enum):
    """What is known in advance of how far an answer may be off, in 95 of 100 answers. Values: JSON fields.

    HALF_WIDTH: the noise is within it. FLOOR: it is that at the very least, whatever the data; its scale is
    private. TIMES_ROWS: about this / n over n rows, where n is large beside the count's noise. IN_RANK: in rows
    of the sorted values; MIN and MAX aim about so many inside as well. TIMES_BOUND: so many times the bound
    that is chosen privately when the statement runs, of what the error is one of the others.
    """

    HALF_WIDTH = "error_95"
    FLOOR = "floor_95"
    TIMES_ROWS = "error_times_rows"
    IN_RANK = "error_in_rank"
    TIMES_BOUND = "error_times_bound"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerError:
    """In the unit of the answer: days of a date, seconds of a timestamp; of a rank, rows. of: of an error for
    each unit of a bound, of which kind it is then. least: in small groups, where it grows with the
    number of rows."""

    kind: ErrorKind
    value: Fraction
    of: ErrorKind | None = None
    least: Fraction | None = None

    def text(self) -> str:
        match self.kind:
            case ErrorKind.HALF_WIDTH:
                return f"+-{text_of(self.value)}"
            case ErrorKind.FLOOR:
                return f"at least +-{text_of(self.value)}"
            case ErrorKind.TIMES_ROWS:
                return f"+-{text_of(self.value)} / n"
            case ErrorKind.IN_RANK:
                least = "" if self.least is None else f"{self.least} to +-"
                return f"+-{least}{self.value} ranks{'' if self.least is None else ' by group'}"
            case ErrorKind.TIMES_BOUND:
                after = {ErrorKind.TIMES_ROWS: " / n", ErrorKind.IN_RANK: " ranks"}
                unit = "" if self.of is None else after.get(self.of, "")
                return f"+-{text_of(self.value)} R{unit}"
            case _:
                assert_never(self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseAccuracy:
    """How one release becomes private. change: the sensitivity as a number; scale: of its Laplace noise, or
    sigma of Gaussian noise; both in the unit of the answer, and None where there are several or they are
    private. error: None where nothing is known in advance; the note says why. no_interval: why dp.low, dp.high
    and dp.error of the answer are NULL; "" where they are not."""

    mechanism: str
    note: str
    sensitivity: str = ""
    change: Fraction | None = None
    scale: Fraction | None = None
    error: AnswerError | None = None
    partitions: int | None = None
    units_needed: int | None = None  # about: fewer have no answer
    no_interval: str = ""

    def as_json(self) -> dict[str, object]:
        errors: dict[str, object] = dict.fromkeys(kind.value for kind in ErrorKind)
        if self.error is not None:
            in_rank = self.error.kind is ErrorKind.IN_RANK
            errors[self.error.kind.value] = (int if in_rank else number_of)(self.error.value)
        return {
            "mechanism": self.mechanism,
            "sensitivity": self.sensitivity,
            "scale": None if self.scale is None else number_of(self.scale),
            **errors,
            "partitions": self.partitions,
            "units_needed": self.units_needed,
            "note": self.note,
            "no_interval": self.no_interval or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """How one aggregate of a statement becomes private, as EXPLAIN, the NOTICE, HTTP and `dpproxy policy
    check` report it."""

    block: int
    aggregate: str
    described: ReleaseAccuracy
    epsilon: Fraction
    delta: Fraction
    share: Fraction  # of the statement's epsilon
    condition: str = ""  # of what data the error speaks, where that is not the data alone

    @property
    def error(self) -> AnswerError | None:
        return self.described.error

    def as_json(self) -> dict[str, object]:
        return {
            "block": self.block,
            "aggregate": self.aggregate,
            **self.described.as_json(),
            "condition": self.condition or None,
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "share": float(self.share),
        }


def number_of(value: Fraction) -> float | int:
    """For JSON, which knows no largest number: beyond a double a whole one.

    >>> number_of(Fraction(1, 4)), number_of(Fraction(10**400)) == 10**400
    (0.25, True)
    """
    try:
        return float(value)
    except OverflowError:
        return round(value)


def text_of(value: Fraction) -> str:
    """Six digits, of any number.

    >>> text_of(Fraction(1, 3)), text_of(Fraction(10**6)), text_of(Fraction(10**400))
    ('0.333333', '1,000,000', '1.00000e+400')
    """
    number = number_of(value)
    return shown_number(number if isinstance(number, float) else Decimal(number))


_UNITS = {
    SqlType.DATE: "days",
    SqlType.TIMESTAMP: "seconds",
    SqlType.TIMESTAMPTZ: "seconds",
}


def unit_of_error(kind: SqlType | None) -> str | None:
    """In what errors of times are; None of other types."""
    return None if kind is None else _UNITS.get(kind)
