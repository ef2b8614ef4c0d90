"""Random subqueries that are asked of each row: EXISTS, IN, scalar aggregates; on the unit or a reference."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.audit.expressions import conditions, one_in
from tests.audit.source_parts import Names, Rows, table, tables

# Of two columns of one kind only some are of one type.
_ALIKE = (("int", "i2", "i4", "i8"), ("text", "t", "s"), ("bool", "b"), ("date", "d"), ("ts", "ts"))
EXISTS, LISTED, SCALAR = "exists", "in a list of units", "scalar subquery of a row"
SECOND, REFERENCE = "exists with another column", "exists along the reference"
ORDERED = "exists before or after"


def can_look_up(rows: Rows) -> bool:
    return rows.ownership != "row" and any(rows.special)


def lookup(draw: DrawFn, names: Names, rows: Rows) -> tuple[str, frozenset[str]]:
    """A condition on each row of these, with what is in it."""
    ways = ["reference"] if rows.reference or rows.target else []
    if rows.unit is not None:
        ways += ["exists", "exists", "list", "scalar"]
    match draw(st.sampled_from(ways)):
        case "reference":
            return _along_the_reference(draw, names, rows)
        case "exists":
            return _exists(draw, names, rows)
        case "list":
            return _list(draw, names, rows)
        case _:
            return _scalar(draw, names, rows)


def _along_the_reference(draw: DrawFn, names: Names, rows: Rows) -> tuple[str, frozenset[str]]:
    inner = table(draw, names, ["lines" if rows.target else "orders"])
    pair = (inner.reference, rows.target) if rows.target else (inner.target, rows.reference)
    text = f"EXISTS (SELECT 1 FROM {inner.text} WHERE {pair[0]} = {pair[1]}{_more(draw, inner)})"
    return _perhaps_not(draw, text), frozenset({REFERENCE})


def _exists(draw: DrawFn, names: Names, rows: Rows) -> tuple[str, frozenset[str]]:
    inner = table(draw, names, tables(rows.ownership, unit=True))
    text = f"{rows.unit} = {inner.unit}{_more(draw, inner)}"
    features = {EXISTS}
    if rows.single and " " in rows.text and one_in(draw, 2):
        kind, *among = draw(st.sampled_from(_ALIKE))
        outer = [c.text for c in rows.columns if c.kind == kind and c.name in among]
        if outer:
            features.add(SECOND)
            name = f"{inner.text.rpartition(' ')[2]}.{draw(st.sampled_from(among))}"
            text += f" AND {name} = {draw(st.sampled_from(outer))}"
    times = [c for c in rows.columns if c.kind == "date"]
    if times and rows.single and " " in rows.text and one_in(draw, 3):
        features.add(ORDERED)
        alias = inner.text.rpartition(" ")[2]
        word = draw(st.sampled_from(["<", "<=", ">", ">=", "<>"]))
        ends = [f"{alias}.d", draw(st.sampled_from(times)).text]
        text += f" AND {f' {word} '.join(ends if draw(st.booleans()) else ends[::-1])}"
    tail = draw(st.sampled_from(["", "", " LIMIT 1"]))
    return _perhaps_not(draw, f"EXISTS (SELECT * FROM {inner.text} WHERE {text}{tail})"), frozenset(
        features
    )


def _list(draw: DrawFn, names: Names, rows: Rows) -> tuple[str, frozenset[str]]:
    """Where the unit is not NULL: rows of nobody, which are no rows here, would make NULLs in the list."""
    inner = table(draw, names, tables(rows.ownership, unit=True))
    text = (
        f"SELECT {inner.unit} FROM {inner.text} WHERE {inner.unit} IS NOT NULL{_more(draw, inner)}"
    )
    if one_in(draw, 3):
        text += f" GROUP BY {inner.unit} HAVING count(*) {draw(st.sampled_from(['> 1', '<> 3']))}"
    word = draw(st.sampled_from(["IN", "NOT IN"]))
    return f"{rows.unit} {word} ({text})", frozenset({LISTED})


def _scalar(draw: DrawFn, names: Names, rows: Rows) -> tuple[str, frozenset[str]]:
    inner = table(draw, names, tables(rows.ownership, unit=True))
    alias = inner.text.rpartition(" ")[2]
    value = draw(
        st.sampled_from(
            [
                *("count(*) {} > 1", "count(*) {} = 0", f"count(DISTINCT {alias}.t) {{}} < 2"),
                *(f"max({alias}.i4) {{}} > 50", f"coalesce(sum({alias}.i4), 0) {{}} < 70"),
                *(f"min({alias}.d) {{}} IS NULL", f"avg({alias}.n2) + count(*) {{}} > 20"),
            ]
        )
    )
    of, _, test = value.partition(" {} ")
    text = f"(SELECT {of} FROM {inner.text} WHERE {inner.unit} = {rows.unit}{_more(draw, inner)})"
    return f"{text} {test}", frozenset({SCALAR})


def _more(draw: DrawFn, inner: Rows) -> str:
    return f" AND {draw(conditions(1, inner.scope))}" if draw(st.booleans()) else ""


def _perhaps_not(draw: DrawFn, text: str) -> str:
    return f"NOT {text}" if draw(st.booleans()) else text
