"""Statements on the demo's data as a product analyst writes them, and what their answers must satisfy.

Columns of the results are named by what they are (`count`, `mean`, `least`, ...), so that one set of rules
checks every statement: no answer contradicts another one of its row, nor the groups that PostgreSQL finds.
"""

from __future__ import annotations

import random  # noqa: TID251  the same statements for the same seed
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

_ORDERED = ("least", "q25", "median", "q75", "most")  # in this order in each row
_NULLABLE = (*_ORDERED, "mean", "spread", "ratio", "share", "moving")
_TIMES = 9  # 95 % intervals: noise is beyond so many of them once in 10^11 numbers
_LEAST_ROWS = 5  # a group whose count is above so many errors of it has ratios that mean something


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStatement:
    """One statement.

    Attributes:
        keys: Output columns that are groups.
        groups: What PostgreSQL is asked for them; "" if groups are not compared.
        is_private: Whether groups are chosen, so that some may be missing.
        is_cut: Whether HAVING or LIMIT leaves groups out.
        floor: HAVING count > floor.
        order: The output column of ORDER BY ... DESC.
    """

    database: str
    sql: str
    keys: tuple[str, ...] = ()
    groups: str = ""
    is_private: bool = False
    is_cut: bool = False
    floor: int | None = None
    order: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """FROM, what it can be grouped by, narrowed by, and measured in. public: keys by their names."""

    database: str
    relation: str
    public: Mapping[str, str]
    measures: Sequence[str]
    conditions: Sequence[str]
    private: Mapping[str, str] = field(default_factory=dict)


_MONTH = "date_trunc('month', o.created_at)"
_YEAR = "extract(year FROM o.created_at)"
_ORDERS = _Source(
    database="shop",
    relation="shop.orders o",
    public={"status": "o.status", "year": _YEAR, "quarter": "date_trunc('quarter', o.created_at)"},
    measures=("o.total", "o.quantity"),
    conditions=(
        "o.created_at >= '2024-01-01'",
        "o.status = 'paid'",
        "o.status IN ('paid', 'shipped')",
        "o.total > 20",
        "o.total BETWEEN 10 AND 200",
        "o.quantity = 1",
        "NOT (o.status = 'cancelled')",
        "o.created_at BETWEEN '2025-01-01' AND '2025-12-31'",
    ),
)
_WITH_PRODUCTS = _Source(
    database="shop",
    relation="shop.orders o JOIN shop.products p ON p.id = o.product_id",
    public={"category": "p.category", "status": "o.status", "year": _YEAR},
    measures=("o.total", "o.quantity"),
    conditions=(*_ORDERS.conditions, "p.category <> 'Toys'", "p.price < 50"),
)
_WITH_CUSTOMERS = _Source(
    database="shop",
    relation="shop.orders o JOIN shop.customers c ON c.id = o.customer_id",
    public={"state": "c.state", "status": "o.status", "year": _YEAR},
    measures=("o.total", "o.quantity"),
    conditions=(*_ORDERS.conditions, "c.state IN ('CA', 'TX')", "c.state <> 'NY'"),
)
_LEFT_PRODUCTS = _Source(
    database="shop",
    relation="shop.orders o LEFT JOIN shop.products p ON p.id = o.product_id",
    public={"category": "p.category"},
    measures=("o.total",),
    conditions=_ORDERS.conditions,
)
_CUSTOMERS = _Source(
    database="shop",
    relation="shop.customers c",
    public={"state": "c.state", "year": "extract(year FROM c.signed_up)"},
    measures=(),
    conditions=(
        "c.birth_date IS NOT NULL",
        "c.signed_up >= '2023-01-01'",
        "c.state IN ('CA', 'TX', 'NY')",
    ),
)
_ADULTS = _Source(
    database="census",
    relation="census.adult a",
    public={
        "region": "a.region",
        "sex": "a.sex",
        "education": "a.education",
        "occupation": "a.occupation",
        "married": "a.married",
        "decade": "floor(a.age / 10) * 10",
    },
    measures=("a.age", "a.income", "a.hours_per_week"),
    conditions=(
        "a.age >= 65",
        "a.age BETWEEN 25 AND 54",
        "a.sex = 'Female'",
        "a.education IN ('Bachelors', 'Masters', 'Doctorate')",
        "a.income > 30000",
        "a.married",
        "a.occupation IS NOT NULL",
    ),
    private={"zip": "a.zip"},
)
_SOURCES = (_ORDERS, _WITH_PRODUCTS, _WITH_CUSTOMERS, _LEFT_PRODUCTS, _CUSTOMERS, _ADULTS, _ADULTS)


def demo_statements(seed: int, count: int) -> Iterator[DemoStatement]:
    """Give so many statements; those of a smaller count are the first ones."""
    rng = random.Random(seed)
    shapes = (_plain, _plain, _aggregated, _aggregated, _shares, _over_time, _top, _per_person)
    for number in range(count):
        yield shapes[number % len(shapes)](rng)


def _where(source: _Source, rng: random.Random) -> str:
    found = rng.sample(source.conditions, rng.choice((0, 0, 1, 1, 2)))
    return f" WHERE {' AND '.join(found)}" if found else ""


def _keys(source: _Source, rng: random.Random, most: int = 2) -> dict[str, str]:
    if source.private and rng.random() < 0.15:
        return dict(source.private)
    names = rng.sample(list(source.public), min(len(source.public), rng.randint(0, most)))
    return {name: source.public[name] for name in names}


def _statement(
    source: _Source,
    keys: Mapping[str, str],
    columns: Sequence[str],
    where: str,
    tail: str = "",
    **more: Any,
) -> DemoStatement:
    listed = [f"{expression} AS {name}" for name, expression in keys.items()]
    grouped = f" GROUP BY {', '.join(map(str, range(1, len(keys) + 1)))}" if keys else ""
    sql = f"SELECT {', '.join([*listed, *columns])} FROM {source.relation}{where}{grouped}{tail}"
    groups = f"SELECT DISTINCT {', '.join(listed)} FROM {source.relation}{where}" if keys else ""
    return DemoStatement(
        database=source.database,
        sql=sql,
        keys=tuple(keys),
        groups=groups,
        is_private=bool(set(keys) & set(source.private)),
        **more,
    )


_COUNT = ("count(*) AS count", "dp.error(count(*)) AS count_error")


def _plain(rng: random.Random) -> DemoStatement:
    """Counts, sums and means beside each other."""
    source = rng.choice(_SOURCES)
    columns = [*_COUNT]
    if source.measures:
        one = rng.choice(source.measures)
        condition = f"{one} IS NOT NULL"
        columns += [
            f"sum({one}) AS total",
            f"dp.error(sum({one})) AS total_error",
            f"avg({one}) AS mean",
            f"dp.error(avg({one})) AS mean_error",
            f"count({one}) AS known",
            f"dp.error(count({one})) AS known_error",
        ]
        where = _where(source, rng)
        where = f"{where} AND {condition}" if where and rng.random() < 0.2 else where
        return _statement(source, _keys(source, rng, 1), columns, where)
    return _statement(source, _keys(source, rng), columns, _where(source, rng))


def _aggregated(rng: random.Random) -> DemoStatement:
    """Extremes, means and quantiles of one column."""
    source = rng.choice([one for one in _SOURCES if one.measures])
    one = rng.choice(source.measures)
    quantile = rng.choice(("cont", "disc"))
    possible = {
        "least": f"min({one})",
        "mean": f"avg({one})",
        "most": f"max({one})",
        "median": f"percentile_{quantile}(0.5) WITHIN GROUP (ORDER BY {one})",
        "q25": f"percentile_{quantile}(0.25) WITHIN GROUP (ORDER BY {one})",
        "q75": f"percentile_{quantile}(0.75) WITHIN GROUP (ORDER BY {one})",
        "spread": f"stddev({one})",
    }
    names = rng.sample(list(possible), rng.randint(2, 4))
    columns = [f"{possible[name]} AS {name}" for name in names]
    columns += rng.choice(([], list(_COUNT)))
    return _statement(source, _keys(source, rng, 1), columns, _where(source, rng))


def _shares(rng: random.Random) -> DemoStatement:
    """Of rows that satisfy a condition, or of each group in all of them."""
    source = rng.choice(_SOURCES)
    if rng.random() < 0.5:
        condition = rng.choice(source.conditions)
        share = f"count(*) FILTER (WHERE {condition})::numeric / nullif(count(*), 0)"
        return _statement(
            source, _keys(source, rng, 1), [*_COUNT, f"{share} AS share"], _where(source, rng)
        )
    keys = dict([rng.choice(list(source.public.items()))])
    share = "count(*)::numeric / sum(count(*)) OVER ()"
    return _statement(source, keys, [*_COUNT, f"{share} AS share"], _where(source, rng))


def _over_time(rng: random.Random) -> DemoStatement:
    """By month, with a running sum or a moving average."""
    source = rng.choice((_ORDERS, _WITH_PRODUCTS, _WITH_CUSTOMERS))
    start = rng.choice(("2025-01-01", "2025-07-01", "2026-01-01"))
    where = f" WHERE o.created_at >= '{start}' AND o.created_at < '2026-11-01'"
    window = rng.choice(
        (
            f"sum(count(*)) OVER (ORDER BY {_MONTH}) AS running",
            f"avg(count(*)) OVER (ORDER BY {_MONTH} ROWS 2 PRECEDING) AS moving",
            f"count(*) - lag(count(*)) OVER (ORDER BY {_MONTH}) AS change",
        )
    )
    columns = [*_COUNT, window]
    if rng.random() < 0.4:
        columns.append("avg(o.total) AS mean")
    return _statement(source, {"month": _MONTH}, columns, where, " ORDER BY month")


def _top(rng: random.Random) -> DemoStatement:
    """HAVING, ORDER BY a noisy number, LIMIT."""
    source = rng.choice(_SOURCES)
    keys = dict([rng.choice(list({**source.public, **source.private}.items()))])
    columns, where, tail = [*_COUNT], _where(source, rng), ""
    floor = rng.choice((None, 100, 1000))
    if floor is not None:
        tail += f" HAVING count(*) > {floor}"
    tail += " ORDER BY count DESC"
    if rng.random() < 0.7:
        tail += f" LIMIT {rng.randint(1, 5)}"
    return _statement(source, keys, columns, where, tail, is_cut=True, floor=floor, order="count")


def _per_person(rng: random.Random) -> DemoStatement:
    """Of what each customer did: a subquery; some of them need a bound, and are refused with it."""
    per = rng.choice(
        (
            "count(*) AS x",
            "least(count(*), 100) AS x",
            "least(sum(total), 2000) AS x",
            "sum(total) AS x",
            "max(total) AS x",
            "least(sum(quantity), 100) AS x",
        )
    )
    where = rng.choice(("", " WHERE status = 'paid'", " WHERE created_at >= '2025-01-01'"))
    inner = f"SELECT customer_id, {per} FROM shop.orders{where} GROUP BY customer_id"
    outer = rng.choice(
        (
            "count(*) AS count, dp.error(count(*)) AS count_error, avg(x) AS mean",
            "min(x) AS least, avg(x) AS mean, max(x) AS most",
            "percentile_cont(0.5) WITHIN GROUP (ORDER BY x) AS median, avg(x) AS mean",
            "count(*) FILTER (WHERE x > 10)::numeric / nullif(count(*), 0) AS share, count(*) AS count,"
            " dp.error(count(*)) AS count_error",
        )
    )
    return DemoStatement(database="shop", sql=f"SELECT {outer} FROM ({inner}) q")


Row = Mapping[str, Any]


def contradictions(
    one: DemoStatement, rows: Sequence[Row], groups: set[tuple[Any, ...]], heard: Sequence[str]
) -> Iterator[str]:
    """Say what is wrong with an answer.

    Args:
        rows: By name of their columns.
        groups: Those that PostgreSQL finds.
        heard: The notices.
    """
    if one.groups:
        yield from _wrong_groups(one, rows, groups)
    if one.order:
        ordered = [float(row[one.order]) for row in rows]
        if ordered != sorted(ordered, reverse=True):
            yield "rows are not in order"
    for row in rows:
        yield from _wrong_row(one, row)
    has_null = any(
        row[name] is None and not (name == "share" and row["count"] == 0)  # as nullif() asks for
        for row in rows
        for name in _NULLABLE
        if name in row
    )
    if has_null and not any("NULL" in text for text in heard) and "change" not in rows[0]:
        yield f"NULL without a word: {heard}"
    yield from _wrong_sums(rows)


def _wrong_groups(
    one: DemoStatement, rows: Sequence[Row], groups: set[tuple[Any, ...]]
) -> Iterator[str]:
    found = [tuple(row[key] for key in one.keys) for row in rows]
    if len(found) != len(set(found)):
        yield "a group twice"
    for row, group in zip(rows, found, strict=True):
        if group in groups:
            continue
        if one.is_private or "count" not in row:
            # Of rows without a count beside them it is not known that there are none.
            if one.is_private or row.get("mean") is not None:
                yield f"a group that there is not: {group}"
        elif abs(row["count"]) > _TIMES * row["count_error"]:
            yield f"rows in a group that there is not: {group}"
    missing = groups - set(found)
    if missing and not one.is_private and not one.is_cut:
        yield f"groups are missing: {sorted(map(str, missing))[:5]}"


def _wrong_row(one: DemoStatement, row: Row) -> Iterator[str]:
    known = [(name, float(row[name])) for name in _ORDERED if row.get(name) is not None]
    for (low, less), (high, more) in pairwise(known):
        if less > more:
            yield f"{low} {less} > {high} {more}"
    mean = row.get("mean")
    for name, value in known:
        sign = {"least": 1, "most": -1}.get(name, 0)
        if mean is not None and sign * (float(mean) - value) < 0:
            yield f"mean {mean} beyond {name} {value}"
    if row.get("spread") is not None and float(row["spread"]) < 0:
        yield "a negative deviation"
    yield from _wrong_mean(row)
    if "count" not in row:
        return
    if row["count"] is None:
        yield "a count is NULL"
        return
    count, error = float(row["count"]), float(row["count_error"])
    if count < -_TIMES * error:
        yield f"count {count} below 0 by more than its error {error}"
    if one.floor is not None and count <= one.floor:
        yield f"count {count} in spite of HAVING"
    yield from _wrong_share(row, count, error)


def _wrong_share(row: Row, count: float, error: float) -> Iterator[str]:
    """A ratio of noisy numbers, of a group that is clearly there."""
    share = row.get("share")
    if share is None or count < _LEAST_ROWS * error:
        return
    slack = _TIMES * error / count
    if not -slack <= float(share) <= 1 + slack:
        yield f"a share of {share}, of {count} +-{error} rows"


def _wrong_mean(row: Row) -> Iterator[str]:
    """Sum over count is the mean, within the intervals of the three."""
    if any(
        row.get(name) is None for name in ("total", "total_error", "mean", "mean_error", "known")
    ):
        return
    total, known, mean = (float(row[name]) for name in ("total", "known", "mean"))
    of_total, of_known, of_mean = (
        float(row[f"{name}_error"]) for name in ("total", "known", "mean")
    )
    if known < _LEAST_ROWS * of_known:
        return
    slack = _TIMES * (of_mean + (of_total + abs(mean) * of_known) / (known - of_known))
    if abs(total / known - mean) > slack:
        yield f"sum / count {total / known} for mean {mean}, +-{slack}"


def _wrong_sums(rows: Sequence[Row]) -> Iterator[str]:
    """A running sum grows by what is added; answers are rounded to a part of their error."""
    before, earlier = 0.0, None
    for row in rows:
        if row.get("running") is not None:
            running, error = float(row["running"]), float(row["count_error"])
            if abs(running - before - float(row["count"])) > max(1.0, error):
                yield f"a running sum grows by {running - before} for {row['count']}"
            before = running
        if row.get("change") is not None and earlier is not None:
            error = float(row["count_error"])
            if abs(float(row["change"]) - (float(row["count"]) - earlier)) > max(1.0, error):
                yield f"a change of {row['change']} from {earlier} to {row['count']}"
        earlier = None if row.get("count") is None else float(row["count"])
