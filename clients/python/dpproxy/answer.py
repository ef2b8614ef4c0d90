"""An answer: rows, the error of each value, what it cost, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dpproxy.values import reader_of

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas
    import polars

_KNOWN = ("columns", "rows", "privacy", "accuracy", "clipped", "notices", "errors")
_OF_CHARGE = ("epsilon", "delta", "remaining", "source", "as_of", "receipt", "reused", "repeated")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer.

    Attributes:
        name, type: As PostgreSQL calls them.
        is_noisy: Whether its values have noise.
        at_least: What a bound cuts is not in the error: the exact value may be larger.
        at_most: As `at_least`, of values that may be smaller.
        no_interval: Why there is no interval, if there is none.
        note: What else the server says of its error.
    """

    name: str
    type: str
    is_noisy: bool = False
    at_least: bool = False
    at_most: bool = False
    no_interval: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Charge:
    """What an answer cost, and where it comes from.

    Attributes:
        epsilon, delta: What was charged.
        remaining_epsilon, remaining_delta: What is left; None if no budget concerns the statement.
        source: `fresh`, `cached`, `derived` or `published`; None if nothing protected was asked.
        as_of: When you were first shown it, or when it was published.
        receipt: The number of the charge; None if it cost nothing.
        more: What this version of the client does not know.
    """

    epsilon: float
    delta: float
    remaining_epsilon: float | None
    remaining_delta: float | None
    source: str | None
    as_of: datetime | None
    receipt: str | None
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Charge:
        left = given.get("remaining") or {}
        as_of = given.get("as_of")
        return cls(
            epsilon=float(given.get("epsilon") or 0),
            delta=float(given.get("delta") or 0),
            remaining_epsilon=_number(left.get("epsilon")),
            remaining_delta=_number(left.get("delta")),
            source=given["source"] if "source" in given else _older_source(given),
            as_of=datetime.fromisoformat(as_of.replace("Z", "+00:00")) if as_of else None,
            receipt=given.get("receipt"),
            more={name: _floats(value) for name, value in given.items() if name not in _OF_CHARGE},
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a statement.

    Attributes:
        columns: In their order.
        rows: Tuples of Python values: numeric is Decimal, dates are dates.
        errors: Beside `rows`, half of the width of each value's 95 % interval; None where none is known.
        charge: What it cost, and where it comes from.
        notices: What is to be known of the numbers.
        clipped: How many people the chosen bounds cut, about.
        accuracy: How each aggregate became private.
        more: What this version of the client does not know.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    errors: tuple[tuple[float | None, ...], ...]
    charge: Charge
    notices: tuple[str, ...] = ()
    clipped: tuple[Mapping[str, Any], ...] = ()
    accuracy: tuple[Mapping[str, Any], ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Answer:
        """Read the body of `POST /v1/query`."""
        told = given.get("errors") or {}
        of_columns = told.get("columns") or [None] * len(given["columns"])
        columns = tuple(
            _column(one, error) for one, error in zip(given["columns"], of_columns, strict=True)
        )
        readers = [reader_of(column.type) for column in columns]
        rows = tuple(
            tuple(read(value) for read, value in zip(readers, row, strict=True))
            for row in given["rows"]
        )
        widths = told.get("rows")
        none: tuple[float | None, ...] = (None,) * len(columns)
        errors = (
            (none,) * len(rows)
            if widths is None
            else tuple(tuple(_number(width) for width in row) for row in widths)
        )
        return cls(
            columns=columns,
            rows=rows,
            errors=errors,
            charge=Charge.read(given.get("privacy") or {}),
            notices=tuple(given.get("notices") or ()),
            clipped=tuple(map(_floats, given.get("clipped") or ())),
            accuracy=tuple(map(_floats, given.get("accuracy") or ())),
            more={name: _floats(value) for name, value in given.items() if name not in _KNOWN},
        )

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Rows as dictionaries. Of two columns of one name the last one counts."""
        names = [column.name for column in self.columns]
        return (dict(zip(names, row, strict=True)) for row in self.rows)

    def column(self, name: str) -> list[Any]:
        """Get all values of a column."""
        place = self._place(name)
        return [row[place] for row in self.rows]

    def error(self, name: str) -> list[float | None]:
        """Get half of the width of each value's 95 % interval."""
        place = self._place(name)
        return [row[place] for row in self.errors]

    def interval(self, name: str) -> list[tuple[float | None, float | None]]:
        """Get the 95 % interval of each value. An end that is not known is None."""
        column = self.columns[self._place(name)]
        found: list[tuple[float | None, float | None]] = []
        for value, error in zip(self.column(name), self.error(name), strict=True):
            if value is None or error is None:
                found.append((None, None))
                continue
            low = None if column.at_most else float(value) - error
            found.append((low, None if column.at_least else float(value) + error))
        return found

    def to_dict(self, *, errors: bool = True) -> dict[str, list[Any]]:
        """Get columns by name, with a column `NAME_error` behind each noisy one.

        Raises:
            ValueError: Two columns have one name. Name them in the statement with AS.
        """
        columns: dict[str, list[Any]] = {}
        for place, column in enumerate(self.columns):
            if column.name in columns:
                raise ValueError(f"two columns are called {column.name}: name them with AS")
            columns[column.name] = [row[place] for row in self.rows]
            if errors and column.is_noisy:
                columns[f"{column.name}_error"] = [row[place] for row in self.errors]
        return columns

    def to_pandas(self, *, errors: bool = True) -> pandas.DataFrame:
        """Make a DataFrame with the error columns of `to_dict`. Needs pandas; numeric is float there."""
        import pandas

        frame = pandas.DataFrame(_with_floats(self.to_dict(errors=errors), self.columns))
        frame.attrs["dpproxy"] = {"source": self.charge.source, "receipt": self.charge.receipt}
        return frame

    def to_polars(self, *, errors: bool = True) -> polars.DataFrame:
        """Make a DataFrame with the error columns of `to_dict`. Needs polars; numeric is float there."""
        import polars

        return polars.DataFrame(
            _with_floats(self.to_dict(errors=errors), self.columns), strict=False
        )

    def plot(
        self, x: str | None = None, y: str | None = None, *, ax: matplotlib.axes.Axes | None = None
    ) -> matplotlib.axes.Axes:
        """Draw values with their error bars. Needs matplotlib.

        Args:
            x: The column of the labels; the first one without noise, if none is named.
            y: The column of the values; the first noisy one, if none is named.
            ax: Where to draw; a new figure, if it is left out.
        """
        from dpproxy.plot import error_bars

        return error_bars(self, x, y, ax)

    def _place(self, name: str) -> int:
        places = [place for place, column in enumerate(self.columns) if column.name == name]
        if len(places) != 1:
            names = ", ".join(column.name for column in self.columns)
            raise KeyError(
                f"{'two columns are' if places else 'no column is'} called {name}: {names}"
            )
        return places[0]


def _column(given: Mapping[str, Any], error: Mapping[str, Any] | None) -> Column:
    told = error or {}
    return Column(
        name=given["name"],
        type=given["type"],
        is_noisy=error is not None,
        at_least=bool(told.get("at_least")),
        at_most=bool(told.get("at_most")),
        no_interval=told.get("no_interval"),
        note=told.get("note") or "",
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _floats(given: Any) -> Any:
    """All but rows needs no more digits than a float has."""
    match given:
        case Decimal():
            return float(given)
        case dict():
            return {name: _floats(value) for name, value in given.items()}
        case list():
            return [_floats(value) for value in given]
        case _:
            return given


def _older_source(given: Mapping[str, Any]) -> str | None:
    """Of servers that told `reused` and `repeated` in place of `source`."""
    if given.get("reused"):
        return "published"
    if given.get("repeated"):
        return "cached"
    return "fresh" if given.get("receipt") else None


def _with_floats(given: dict[str, list[Any]], columns: Sequence[Column]) -> dict[str, list[Any]]:
    exact = {column.name for column in columns if column.type.partition("(")[0] == "numeric"}
    return {
        name: [_number(value) for value in values] if name in exact else values
        for name, values in given.items()
    }
