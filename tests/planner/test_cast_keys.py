"""A key that is a cast or a rounding of one with public values has those values, and no others."""

from __future__ import annotations

from decimal import Decimal

import pytest

from proxy.engine.answer_conditions import left_out_rows
from tests.pipeline_world import Pipeline, walk

_FIELDS = (
    *("year", "isoyear", "quarter", "month", "week", "day", "doy", "dow", "isodow"),
    *("hour", "minute"),
)
_CASTS = (
    *("{}::int", "{}::smallint", "{}::bigint", "{}::numeric", "{}::numeric(6, 0)", "{}::float8"),
    *("{}::text", "{}::varchar", "{}::int::text", "{}::int::float8", "{}::float8::int"),
    *("round({})", "floor({})", "ceil({})", "trunc({})", "round({}, 1)", "trunc({})::int", "floor({}::int)"),
    *("round({})::text", "{} || ''", "{}::int + 0", "{} * 1", "{}::int / 1", "{}::int % 10000"),
)  # fmt: skip
_CROSS = [
    (of.replace("FIELD", field), cast)
    for field in _FIELDS
    for of in ("extract(FIELD FROM tz)", "date_part('FIELD', tz)", "extract(FIELD FROM tz::timestamp)")
    for cast in _CASTS
]  # fmt: skip


def _walked(keys: str, where: str = "") -> Pipeline:
    places = ", ".join(str(n + 1) for n in range(keys.count(";") + 1))
    found = walk(f"SELECT {keys.replace(';', ',')}, count(*) FROM people {where} GROUP BY {places}")
    assert found is not None
    return found


def _values(key: str, where: str = "") -> list[Decimal | None]:
    (planned,) = _walked(key, where).plan.blocks[0].keys
    assert planned.values is not None
    return [None if value is None else Decimal(value) for value in planned.values]


@pytest.mark.every(40)
@pytest.mark.parametrize("key, cast", _CROSS)
def test_a_cast_or_rounding_has_the_values_of_its_operand(key: str, cast: str) -> None:
    assert _values(cast.format(key)) == _values(key)
    where = "WHERE tz >= '2010-03-01' AND tz < '2012-02-01'"
    assert sorted(filter(None, _values(cast.format(key), where))) == sorted(
        filter(None, _values(key, where))
    )


@pytest.mark.parametrize(
    "key, values",
    [
        ("floor(extract(year FROM tz) / 10) * 10", [2000, 2010, 2020]),
        ("extract(year FROM tz)::int / 10 * 10", [2000, 2010, 2020]),
        ("trunc(extract(year FROM tz), -1)", [2000, 2010, 2020]),
        ("ceil(extract(year FROM tz) / 10)", [200, 201, 202]),
        ("round(extract(month FROM tz) / 3)", [0, 1, 2, 3, 4]),
        ("extract(year FROM tz)::int - 2000", list(range(21))),
        ("extract(month FROM tz)::int % 5", [1, 2, 3, 4, 0]),
    ],
)
def test_bins_of_known_values(key: str, values: list[int]) -> None:
    assert sorted(v for v in _values(key) if v is not None) == sorted(values)


@pytest.mark.every(4)
@pytest.mark.parametrize("cast", _CASTS)
@pytest.mark.parametrize("other", ["date_trunc('year', d)", "to_char(d, 'YYYY-MM')"])
def test_beside_another_part_of_the_time_it_is_what_it_is_without_the_cast(
    cast: str, other: str
) -> None:
    def number(key: str) -> int:
        plan = _walked(f"{key}; {other}").plan.blocks[0]
        return len(plan.listed_groups)

    assert number(cast.format("extract(year FROM d)")) == number("extract(year FROM d)")


def _beyond(key: str) -> str:
    (block,) = _walked(key).plan.blocks
    (rule,) = [rule for rule in left_out_rows(block) if "bounds" in rule]
    return rule.partition("in the policy ")[2]


_IN_NONE = "are in no group"
_AT_ENDS = "count in the first or last group"


@pytest.mark.parametrize(
    "key, where",
    [
        *((cast.format("extract(year FROM tz)"), _IN_NONE) for cast in _CASTS if "%" not in cast),
        ("extract(year FROM tz) * 100 + extract(month FROM tz)", _IN_NONE),
        ("extract(year FROM tz) || '-' || extract(month FROM tz)", _IN_NONE),
        (
            "extract(year FROM tz)::int % 10",
            "count in a wrong group, as their year is cut to one near the bounds",
        ),
        (
            "floor(extract(year FROM tz) / 10) * 10",
            "count in the last group where they are above, and are in no group where they are below",
        ),
        ("tz::date + 1", _IN_NONE),
        ("date_trunc('month', tz::timestamp)", _IN_NONE),
        ("date_trunc('month', tz)", _AT_ENDS),
        ("date_trunc('month', tz)::date", _AT_ENDS),
        ("extract(year FROM date_trunc('month', tz))::int", _AT_ENDS),
        ("floor(i4::numeric / 10)", _AT_ENDS),
    ],
)
def test_where_rows_beyond_the_bounds_are(key: str, where: str) -> None:
    assert _beyond(key) == where
