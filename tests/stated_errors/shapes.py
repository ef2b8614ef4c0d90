"""Shapes of queries: those of the public corpus that are answered, and others on the same data for what it
hardly has (ratios, differences, deviations, quantiles, distinct values, comparisons, rounded answers)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.live import public_data


@dataclass(frozen=True)
class Shape:
    """name: of the corpus, or a kind and a number; own: what PostgreSQL is asked instead for the exact answers,
    one statement for each block, its columns in the block's order; else sql itself."""

    name: str
    sql: str
    own: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return self.name.partition("-")[0]


# Blocks whose answers are not the columns of the statement.
_INNER = {
    "mb-17": ("SELECT count(*), source FROM shop.people GROUP BY source",),
    "adm-07": ("SELECT count(*) FROM shop.orders", "SELECT count(*) FROM shop.people"),
}


def corpus() -> list[dict[str, Any]]:
    text = (public_data.FOLDER / "queries_public.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def corpus_shapes() -> Iterator[Shape]:
    """Those that may be answered, on tables that the policy has."""
    for query in corpus():
        if query["expect"] != "reject":
            yield Shape(query["id"], query["sql"], _INNER.get(query["id"], ()))


_ORDERS, _PEOPLE = "shop.orders", "shop.people"
_BY_SOURCE = f"{_ORDERS} o JOIN {_PEOPLE} p ON p.id = o.user_id"
_BY_CATEGORY = f"{_ORDERS} o JOIN shop.products c ON c.id = o.product_id"
_ADULT, _DUP, _REVIEWS = "census.adult", "census.pums_dup", "shop.reviews"
_LARGE = "count(*) FILTER (WHERE quantity > 4)"
# By kind: expressions over aggregates, keys, what they are from.
_MORE: dict[str, tuple[tuple[str, str, str], ...]] = {
    "sum": (
        ("sum(total)", "", _ORDERS),
        ("sum(quantity)", "source", _BY_SOURCE),
        ("sum(subtotal)", "c.category", _BY_CATEGORY),
        ("sum(hours_per_week)", "sex", _ADULT),
        ("sum(capital_gain)", "", _ADULT),
        ("sum(income)", "married", _DUP),
        ("sum(rating)", "", _REVIEWS),
        ("sum(total)", "state", _BY_SOURCE),
    ),
    "mean": (
        ("avg(total)", "state", _BY_SOURCE),
        ("avg(hours_per_week)", "education", _ADULT),
        ("avg(rating)", "", _REVIEWS),
        ("avg(income)", "sex", _DUP),
        ("avg(quantity)", "", f"{_ORDERS} WHERE total > 50"),
    ),
    "spread": (
        ("stddev(age)", "sex", _ADULT),
        ("variance(hours_per_week)", "", _ADULT),
        ("var_pop(total)", "", _ORDERS),
        ("stddev_pop(subtotal)", "source", _BY_SOURCE),
        ("corr(total, quantity)", "", _ORDERS),
        ("covar_pop(age, hours_per_week)", "income", _ADULT),
        ("regr_slope(hours_per_week, age)", "", _ADULT),
        ("stddev(income)", "", _DUP),
    ),
    "ratio": (
        ("sum(total) / count(*)", "", _ORDERS),
        ("sum(total) / nullif(count(*), 0)", "source", _BY_SOURCE),
        (f"100.0 * {_LARGE} / count(*)", "source", _BY_SOURCE),
        ("100.0 * count(*) FILTER (WHERE age > 40) / count(*)", "sex", _ADULT),
        ("sum(income) / count(*)", "married", _DUP),
        ("sum(tax) / sum(subtotal)", "", _ORDERS),
    ),
    "difference": (
        ("sum(total) - sum(subtotal)", "", _ORDERS),
        ("count(*) - count(discount)", "source", _BY_SOURCE),
        (f"count(*) - 2 * {_LARGE}", "", _ORDERS),
        ("sum(hours_per_week) - 40 * count(*)", "income", _ADULT),
        ("avg(total) - avg(subtotal)", "source", _BY_SOURCE),
        ("greatest(sum(income) - 20000 * count(*), 0)", "", _DUP),
    ),
    "distinct": (
        ("count(DISTINCT user_id)", "c.category", _BY_CATEGORY),
        ("count(DISTINCT age)", "sex", _ADULT),
        ("count(DISTINCT zip)", "", _ADULT),
        ("count(DISTINCT product_id)", "", _ORDERS),
        ("count(DISTINCT quantity)", "source", _BY_SOURCE),
    ),
    "compared": (
        ("count(*)", "", f"{_ORDERS} WHERE total > (SELECT avg(total) FROM {_ORDERS})"),
        ("count(*)", "sex", f"{_ADULT} WHERE age > (SELECT avg(age) FROM {_ADULT})"),
    ),
}
_ROUNDED = (
    ("sum(total)", "source", _BY_SOURCE),
    ("count(*)", "", _ORDERS),
    ("avg(age)", "education", _ADULT),
    ("sum(hours_per_week)", "education", _ADULT),
    ("sum(total) / count(*)", "source", _BY_SOURCE),
)


_CLIPPED = (
    ("count(*)", "", _ORDERS),
    ("sum(total)", "source", _BY_SOURCE),
    ("avg(income)", "sex", _DUP),
)


def more_shapes() -> Iterator[Shape]:
    for kind, found in _MORE.items():
        for number, (of, keys, rest) in enumerate(found, start=1):
            yield Shape(f"{kind}-{number}", _statement(of, keys, rest))
    for number, (of, keys, rest) in enumerate(_ROUNDED, start=1):
        rounding = {"dp.round": "on"}
        yield Shape(f"rounded-{number}", _statement(of, keys, rest), settings=rounding)
    for number, (of, keys, rest) in enumerate(_CLIPPED, start=1):
        asked = _statement(f"{of}, dp.clipped({of})", keys, rest)
        yield Shape(f"clipped-{number}", asked, own=(_statement(of, keys, rest),))


def _statement(of: str, keys: str, rest: str) -> str:
    if not keys:
        return f"SELECT {of} FROM {rest}"
    return f"SELECT {keys}, {of} FROM {rest} GROUP BY {keys}"


@dataclass(frozen=True)
class RankShape:
    """An order statistic: its error is stated in ranks. fraction: 0 of MIN, 1 of MAX."""

    of: str
    column: str
    fraction: float
    rest: str

    @property
    def sql(self) -> str:
        return f"SELECT {self.of} FROM {self.rest}"

    @property
    def values(self) -> str:
        return f"SELECT {self.column} FROM {self.rest}"


def rank_shapes() -> Iterator[RankShape]:
    within = "percentile_cont({}) WITHIN GROUP (ORDER BY {})"
    for column, rest in (
        ("age", "census.pums"),
        ("income", "census.pums"),
        ("hours_per_week", _ADULT),
        ("total", _ORDERS),
        ("income", _DUP),
    ):
        for fraction in (0.5, 0.9):
            yield RankShape(within.format(fraction, column), column, fraction, rest)
        yield RankShape(f"min({column})", column, 0, rest)
        yield RankShape(f"max({column})", column, 1, rest)
