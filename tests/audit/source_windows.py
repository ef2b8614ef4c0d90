"""Random window functions over the rows of a unit, as columns of a subquery."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.audit.expressions import Column, conditions, numbers, one_in
from tests.audit.source_parts import Names, Rows, in_brackets, where

WINDOW, FIRST_ROWS, SEVERAL = "window", "first rows of a unit", "windows of several orders"
NAMED_ROWS = "names of rows"
TIED = "rows in an order"  # of which PostgreSQL takes any where ORDER BY does not decide
_SORTABLE = ("int", "text", "char", "bool", "date", "ts", "enum", "decimal", "uuid")
_FRAMES = (
    *("", ""),
    " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
)


def windowed(
    draw: DrawFn, names: Names, inner: Rows, needed: tuple[str, ...], way: str | None = None
) -> Rows:
    """Rows of a source that shows its unit, with values of other rows of the unit beside them."""
    assert inner.unit is not None
    outputs: list[str] = []
    columns: list[Column] = []
    features = {WINDOW}
    for column in draw(st.lists(st.sampled_from(inner.columns), max_size=2, unique=True)):
        name = names.fresh("x")
        outputs.append(f"{column.text} AS {name}")
        columns.append(replace(column, text=name))
    orders = [_order(draw, inner)]
    for _ in range(draw(st.integers(1, 3))):
        if one_in(draw, 3):
            features.add(SEVERAL)
            orders.append(_order(draw, inner))
        found = _window(draw, inner, draw(st.sampled_from(orders)))
        name = names.fresh("w")
        outputs.append(f"{found.text} AS {name}")
        columns.append(replace(found, text=name))
        if not found.text.startswith(("rank", "dense", "count", "sum", "avg", "min", "max")) or (
            "CURRENT ROW" in found.text
        ):
            features.add(TIED)
    if one_in(draw, 4):
        features |= {NAMED_ROWS, TIED}
        name = names.fresh("k")
        outputs.append(f"gen_random_uuid() AS {name}")
        columns.append(Column(name, "uuid"))
        way = "brackets"  # in WITH it could be another each time
    number = names.fresh("r")
    if one_in(draw, 2):
        features |= {FIRST_ROWS, TIED}
        outputs.append(f"row_number() OVER (PARTITION BY {inner.unit}{orders[0]}) AS {number}")
    outputs.append(f"{inner.unit} AS uid")
    text = f"SELECT {', '.join(outputs)} FROM {inner.text}{where(draw, inner.scope, needed)}"
    if FIRST_ROWS in features:
        most = draw(st.sampled_from(["= 1", "<= 2", "< 2", "<= 1.5"]))
        listed = ", ".join([*(column.text for column in columns), "uid"])
        text = f"SELECT {listed} FROM ({text}) {names.fresh('q')} WHERE {number} {most}"
    made = Rows(
        "",
        tuple(columns),
        inner.ownership,
        "uid",
        degree=inner.degree,
        features=inner.features | features,
    )
    return in_brackets(draw, names, text, made, way)


def _order(draw: DrawFn, inner: Rows) -> str:
    among = [column.text for column in inner.columns if column.kind in _SORTABLE]
    chosen = draw(st.lists(st.sampled_from(among), max_size=2, unique=True)) if among else []
    ways = ("", " DESC", " NULLS FIRST", " DESC NULLS LAST")
    terms = [f"{one}{draw(st.sampled_from(ways))}" for one in chosen]
    return f" ORDER BY {', '.join(terms)}" if terms else ""


def _window(draw: DrawFn, inner: Rows, order: str) -> Column:
    by = inner.unit
    keys = [c.text for c in inner.columns if c.kind in ("int", "text", "bool", "date")]
    if keys and one_in(draw, 3):
        by = f"{by}, {draw(st.sampled_from(keys))}"
    over = f"OVER (PARTITION BY {by}{order}"
    match draw(st.sampled_from(["rank", "value", "value", "count", "sum", "other"])):
        case "rank":
            word = draw(st.sampled_from(["row_number", "rank", "dense_rank"]))
            return Column(f"{word}() {over})", "int", True)
        case "value":
            column = draw(st.sampled_from(inner.columns))
            word = draw(st.sampled_from(["first_value({})", "lag({})", "lead({}, 2)"]))
            frame = draw(st.sampled_from(_FRAMES)) if "first" in word else ""
            return replace(column, text=f"{word.format(column.text)} {over}{frame})")
        case "other":
            column = draw(st.sampled_from(inner.columns))
            return replace(column, text=f"last_value({column.text}) {over}{_FRAMES[-1]})")
        case "count":
            only = f" FILTER (WHERE {draw(conditions(0, inner.scope))})" if one_in(draw, 3) else ""
            return Column(f"count(*){only} {over}{draw(st.sampled_from(_FRAMES))})", "int", True)
        case _:
            number = draw(numbers(draw(st.integers(0, 1)), inner.scope))
            word = draw(st.sampled_from(["sum", "avg", "min", "max"]))
            kind = "decimal" if number.exact else "float"
            return Column(f"{word}({number.text}) {over}{draw(st.sampled_from(_FRAMES))})", kind)
