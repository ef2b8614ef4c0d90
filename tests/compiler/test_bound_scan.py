"""What bounds are chosen by, of units with totals at and beside them, against its definition in Python."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

import psycopg
import pytest

from proxy.cli.assembly import Database
from proxy.kernel.plan import BlockPlan
from proxy.mechanisms.unit_means import PARTS
from tests.live.served_database import planned, served_database
from tests.servers_fixture import servers
from tests.unchecked_blocks import compile_choices

_NAME = "bound_scan"
_MOST = 12  # rows of a unit
_HUGE = 4 * 10**14  # times as many rows as public.many allows it is no bigint
_TABLES = f"""\
tables:
  public.many:
    unit: {{person: uid}}
    rows_at_most: 100000
    columns: {{c: {{bounds: [-{_HUGE}, {_HUGE}], grid: 1}}}}
  public.t:
    unit: {{person: uid}}
    rows_at_most: {_MOST}
    columns:
      k: {{values: [x, y]}}
      a: {{bounds: [-5, 5]}}
      b: {{bounds: [0, 10]}}
      c: {{bounds: [-{_HUGE}, {_HUGE}], grid: 1}}
      d: {{bounds: [0, 1000000000]}}
      e: {{bounds: [-1000, -1]}}
"""


class _Row(NamedTuple):
    uid: int
    k: str
    a: int | None
    b: int | None  # hundredths, as what the column holds
    c: int | None
    d: int | None
    e: int | None


def _rows() -> Iterator[_Row]:
    """Units of 1 to 20 rows, of values of one sign, or both, or none; with totals above the largest bound."""
    state = 1
    for uid in range(1, 241):
        for place in range(1 + uid % 20):
            state = state * 6364136223846793005 % 2**64
            draw = state >> 20
            sign = (1, -1)[draw % 2] if uid % 3 else (1, -1)[uid % 2]
            absent = uid % 11 == 0 or draw % 7 == 0
            a = 0 if uid % 13 == 0 else sign * (draw % 9)
            c = sign * (_HUGE if uid % 4 else draw % 2**62)
            values = (a, draw % 1300, c, draw % 2 * 10**9 if uid % 2 else draw % 4, -(draw % 1200))
            yield _Row(uid, "xyz"[(draw + place) % 3], *(None if absent else v for v in values))


_ROWS = tuple(_rows())
_JSON = json.dumps([row._asdict() for row in _ROWS])
_SCRIPT = f"""\
CREATE TABLE public.t (uid int, k text, a int, b numeric(8, 2), c numeric(30, 0), d bigint, e int);
INSERT INTO public.t SELECT uid, k, a, b / 100, c, d, e FROM json_to_recordset('{_JSON}')
    AS r(uid int, k text, a int, b numeric, c numeric, d bigint, e int);
INSERT INTO public.t (uid, k, a) VALUES (NULL, 'x', 3);
CREATE TABLE public.many AS SELECT * FROM public.t
"""

_Value = Callable[[_Row], int | None]


def _cut(name: str, low: int, high: int) -> _Value:
    def value(row: _Row) -> int | None:
        found: int | None = getattr(row, name)
        return None if found is None else max(low, min(found, high))

    return value


_A, _B = _cut("a", -5, 5), _cut("b", 0, 1000)
_C, _D, _E = _cut("c", -_HUGE, _HUGE), _cut("d", 0, 10**9), _cut("e", -1000, -1)


def _one(row: _Row) -> int:
    return 1


def _if_a(row: _Row) -> int | None:
    return 1 if row.a is not None and row.a > 0 else None


def _centred(value: _Value, middle: int) -> _Value:
    """About the middle of its bounds, in half steps."""

    def centred(row: _Row) -> int | None:
        found = value(row)
        return None if found is None else 2 * found - middle

    return centred


def _band(total: int, bounds: tuple[int, ...]) -> int:
    place = 0 if total == 0 else 1 + bisect_left(bounds, abs(total))
    return -place if total < 0 else place


def _added(value: _Value, rows: list[_Row]) -> int:
    return sum(found for row in rows if (found := value(row)) is not None)


def _totals(
    value: _Value, bounds: tuple[int, ...], keys: tuple[str, ...] | None
) -> dict[int, tuple[int, int]]:
    """By band: units, the sum of their totals; with keys a total is the sizes of its sums together."""
    units, sums = Counter[int](), Counter[int]()
    for uid in {row.uid for row in _ROWS}:
        own = [row for row in _ROWS if row.uid == uid]
        total = (
            _added(value, own)
            if keys is None
            else sum(abs(_added(value, [row for row in own if row.k == key])) for key in keys)
        )
        band = _band(total, bounds)
        units[band] += band != 0
        sums[band] += total
    return {band: (units[band], sums[band]) for band in units if band}


def _means(value: _Value, bounds: tuple[int, ...]) -> dict[int, tuple[int, int, int, int]]:
    found: dict[int, tuple[int, int, int, int]] = {}
    for uid in {row.uid for row in _ROWS}:
        values = [v for row in _ROWS if row.uid == uid if (v := value(row)) is not None]
        if not values:
            continue
        band, total = _band(len(values), bounds), sum(values)
        mean = int(Fraction(total * PARTS, len(values)))  # towards 0
        before = found.get(band, (0, 0, 0, 0))
        found[band] = tuple(map(sum, zip(before, (1, len(values), total, mean), strict=True)))  # type: ignore[assignment]
    return found


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Database, psycopg.Connection]]:
    pair = servers()
    database = served_database(pair, _NAME, _SCRIPT, _TABLES, "best")
    with psycopg.connect(pair.protected.dsn(_NAME), autocommit=True) as connection:
        yield database, connection


def _read(
    served: tuple[Database, psycopg.Connection], question: str
) -> tuple[BlockPlan, str, dict[int, dict[int, tuple[int, ...]]]]:
    database, connection = served
    (block,) = planned(database, question).blocks
    query = compile_choices(block)
    assert query is not None
    found: dict[int, dict[int, tuple[int, ...]]] = {}
    for place, band, *numbers in connection.execute(
        query.sql.encode(), {**query.parameters, **dict.fromkeys(query.seeds, 42)}
    ):
        found.setdefault(place, {})[band] = tuple(int(number or 0) for number in numbers)
    return block, query.sql, found


def _inner(
    found: Mapping[int, tuple[int, ...]], bounds: tuple[int, ...]
) -> dict[int, tuple[int, int]]:
    """Without the sums above all bounds, which nothing is made of."""
    return {b: (one[0], one[1] if abs(b) <= len(bounds) else 0) for b, one in found.items()}


_KEYS = ("x", "y")
_CASES: dict[str, list[_Value]] = {
    "SELECT count(*) FROM t": [_one],
    "SELECT sum(a) FROM t": [_A],
    "SELECT sum(b), sum(c) FROM t": [_B, _C],
    "SELECT sum(d) FROM t": [_D],
    "SELECT sum(a), sum(b), sum(c), sum(d), sum(e), count(*), count(*) FILTER (WHERE a > 0) FROM t": [
        *(_A, _B, _C, _D, _E, _one, _if_a)
    ],
    "SELECT sum(c) FROM many": [_C],
    "SELECT k, count(*), sum(b), sum(d) FROM t GROUP BY k": [_one, _B, _D],
    "SELECT k, count(*), sum(a) FROM t GROUP BY k": [_one, _A],
    "SELECT k, sum(c), sum(e), sum(b), count(*) FROM t GROUP BY k": [_C, _E, _B, _one],
    # Weights of quantiles are by all rows of a unit, whether they have a value or not.
    "SELECT count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY b) FROM t": [_one, _one],
    "SELECT avg(a), sum(c), percentile_cont(0.5) WITHIN GROUP (ORDER BY b) FROM t": [_C, _one],
    "SELECT k, sum(a), percentile_disc(0.9) WITHIN GROUP (ORDER BY d) FROM t GROUP BY k": [
        _A,
        _one,
    ],
    "SELECT k, sum(b), percentile_disc(0.9) WITHIN GROUP (ORDER BY d) FROM t GROUP BY k": [
        _B,
        _one,
    ],
}


def _product(one: _Value, other: _Value) -> _Value:
    """Of centred values."""

    def product(row: _Row) -> int | None:
        first, second = one(row), other(row)
        return None if first is None or second is None else first * second

    return product


def _filtered(value: _Value) -> _Value:
    return lambda row: value(row) if _if_a(row) else None


def _squares(value: _Value, width: int) -> _Value:
    """Of centred values, less half of what they can be."""

    def squares(row: _Row) -> int | None:
        found = value(row)
        return None if found is None else 2 * found**2 - width**2

    return squares


_A_CENTRED, _B_CENTRED, _C_CENTRED = _centred(_A, 0), _centred(_B, 1000), _centred(_C, 0)
_D_IF_A, _B_IF_A = _filtered(_centred(_D, 10**9)), _filtered(_B_CENTRED)
_SUMS: dict[str, list[_Value]] = {
    "SELECT corr(c, a) FROM t": [
        *(_C, _C_CENTRED, _A_CENTRED, _product(_C_CENTRED, _A_CENTRED)),
        *(_squares(_A_CENTRED, 10), _squares(_C_CENTRED, 2 * _HUGE)),
    ],
    "SELECT covar_pop(d, b) FILTER (WHERE a > 0), sum(a), sum(e) FROM t": [
        *(_D_IF_A, _D_IF_A, _B_IF_A, _product(_D_IF_A, _B_IF_A)),
    ],
    "SELECT covar_pop(a, b), count(a), covar_samp(a, b) FROM t": [
        *(_A, _A_CENTRED, _B_CENTRED, _product(_A_CENTRED, _B_CENTRED)),
    ],
}


@pytest.mark.every(2)
@pytest.mark.parametrize("question", _CASES)
def test_units_are_in_the_bands_of_their_totals(
    served: tuple[Database, psycopg.Connection], question: str
) -> None:
    block, sql, found = _read(served, question)
    keys = _KEYS if block.keys else None
    assert None not in block.choices and len(block.choices) == len(_CASES[question])
    for place, (choice, value) in enumerate(
        zip(block.choices.values(), _CASES[question], strict=True)
    ):
        expected = _totals(value, choice.bounds, keys)
        assert _inner(found[place], choice.bounds) == _inner(expected, choice.bounds), value
        assert len(expected) > 1
    # Rows are gathered by key only where the sizes of sums below 0 add up.
    assert (" AS k1" in sql) == (bool(keys) and bool({_A, _C, _E} & {*_CASES[question]}))


@pytest.mark.parametrize("question", _SUMS)
def test_sums_that_follow_are_in_the_bands_of_their_values(
    served: tuple[Database, psycopg.Connection], question: str
) -> None:
    block, _, found = _read(served, question)
    assert block.is_of_totals
    assert block.rows_choice is not None
    bounds, first = block.rows_choice.bounds, len(block.choices)
    assert _inner(found[0], bounds) == _inner(_totals(_one, bounds, None), bounds)
    expected = [_means(value, bounds) for value in _SUMS[question]]
    assert len(expected) == len(block.sums_of_totals)
    for place, means in enumerate(expected, first):
        of_count = not any(any(sums[2:]) for sums in found[place].values())
        for band, sums in means.items():
            is_within = band <= len(bounds)
            units, count, total, mean = found[place][band]
            assert units == sums[0] and (count == sums[1] or not is_within)
            assert of_count or ((total == sums[2] or not is_within) and mean == sums[3])
        assert found[place].keys() == means.keys()
