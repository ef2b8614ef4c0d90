"""Random questions as text: expressions over the columns of tests.world, aggregates, filters, groups."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

_INTEGERS = ("i2", "i4", "i8")
_EXACT = (*_INTEGERS, "n2", "n")
_FLOATS = ("f4", "f8")
_TABLES = ("people", "events", "trips", "visits", "orders", "notes", "members")


@dataclass(frozen=True)
class Number:
    """text of a number; exact: PostgreSQL computes it without floats; smooth: no step in it that a float's
    last digit could push over."""

    text: str
    exact: bool
    smooth: bool


@dataclass(frozen=True)
class Asked:
    table: str
    aggregate: str
    operand: Number | None
    filter: str | None
    where: str | None
    keys: tuple[str, ...]

    @property
    def call(self) -> str:
        inside = "*" if self.operand is None else self.operand.text
        return f"{self.aggregate}({inside})" + (
            f" FILTER (WHERE {self.filter})" if self.filter else ""
        )

    @property
    def condition(self) -> str:
        return f" WHERE {self.where}" if self.where else ""

    @property
    def sql(self) -> str:
        group = f" GROUP BY {', '.join(self.keys)}" if self.keys else ""
        head = "".join(f"{key}, " for key in self.keys)
        return f"SELECT {head}{self.call} FROM {self.table}{self.condition}{group}"


@st.composite
def conditions(draw: DrawFn, depth: int) -> str:
    if depth and draw(st.booleans()):
        left, right = draw(conditions(depth - 1)), draw(conditions(depth - 1))
        word = draw(st.sampled_from(["AND", "OR"]))
        text = f"({left} {word} {right})"
        return f"NOT {text}" if draw(st.booleans()) else text
    column = draw(st.sampled_from([*_EXACT, *_FLOATS, "free"]))
    constant = draw(st.sampled_from(["0", "1", "2.5", "-3", "42", "1e3", "NULL"]))
    operator = draw(st.sampled_from(["=", "<>", "<", ">=", "IS DISTINCT FROM"]))
    return draw(
        st.sampled_from(
            [
                f"{column} {operator} {constant}",
                f"{column} BETWEEN -2 AND 8",
                f"{column} NOT IN (1, 2, 42)",
                f"{column} IS NOT NULL",
                "b",
                "b IS NOT TRUE",
                "t = 'x'",
                "s LIKE 'a%'",
                r"s NOT ILIKE '%\_'",
                "lower(s) = 'abc'",
                "length(s) > 2",
                "left(s, 1) = 'a'",
                "substr(s, 2, 1) <> 'b'",
                "starts_with(s, 'SEC')",
                "c IN ('a', 'bb')",
                "d > '2010-01-01'",
                "extract(year FROM d) > 2005",
                "extract(dow FROM ts) = 4",
                "ts::date = '2010-07-08'",
                "tz < '2015-01-01 00:00:00+00'",
                "d < ts",
                "i2 < i4",
                "n2 > n",
                "i4 * 2 > n2 - 5",
                "coalesce(i4, 7) = 7",
                "nullif(i2, 1) IS NULL",
                "CASE WHEN b THEN i4 ELSE i2 END > 3",
            ]
        )
    )


@st.composite
def numbers(draw: DrawFn, depth: int) -> Number:
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(_leaves())
    a = draw(numbers(depth - 1))
    kind = draw(
        st.sampled_from(["two", "two", "divide", "step", "plain", "case", "choose", "nullif"])
    )
    if kind in ("two", "case", "choose", "nullif"):
        b = draw(numbers(depth - 1))
        exact, smooth = a.exact and b.exact, a.smooth and b.smooth
        if kind == "two":
            operator = draw(st.sampled_from(["+", "-", "*"]))
            return Number(f"({a.text} {operator} {b.text})", exact, smooth)
        if kind == "case":
            condition = draw(conditions(0))
            text = f"CASE WHEN {condition} THEN {a.text} ELSE {b.text} END"
            return Number(f"({text})", exact, smooth)
        if kind == "choose":
            word = draw(st.sampled_from(["coalesce", "greatest", "least"]))
            return Number(f"{word}({a.text}, {b.text})", exact, smooth)
        return Number(f"nullif({a.text}, {b.text})", exact, smooth and exact)
    if kind == "divide":
        divisor = draw(st.sampled_from(["2", "-3", "7", "0.5", "1000"]))
        return Number(f"({a.text} / {divisor})", a.exact, False)
    if kind == "step":
        function = draw(
            st.sampled_from(["round({}::numeric, 1)", "floor({})", "ceil({})", "trunc({})"])
        )
        return Number(function.format(a.text), a.exact and "::" in function, False)
    function = draw(st.sampled_from(["abs({})", "(- {})", "({}::numeric)", "({}::float8)"]))
    return Number(function.format(a.text), a.exact and "float8" not in function, a.smooth)


@st.composite
def _leaves(draw: DrawFn) -> Number:
    kind = draw(st.sampled_from(["exact", "exact", "exact", "float", "constant", "other"]))
    if kind == "exact":
        return Number(draw(st.sampled_from(_EXACT)), True, True)
    if kind == "float":
        return Number(draw(st.sampled_from(_FLOATS)), False, True)
    if kind == "constant":
        return Number(draw(st.sampled_from(["0", "1", "2.5", "(-3)", "100", "0.001"])), True, True)
    return draw(
        st.sampled_from(
            [
                Number("(b::int)", True, True),
                Number("(i4 % 7)", True, True),
                Number("(i8 / 9)", True, True),
                Number("extract(month FROM d)", True, True),
                Number("extract(year FROM ts)", True, True),
                Number("extract(second FROM tz)", True, True),
            ]
        )
    )


@st.composite
def questions(draw: DrawFn) -> Asked:
    aggregate = draw(st.sampled_from(["count", "sum", "sum", "avg", "min", "max"]))
    operand = draw(numbers(draw(st.integers(0, 3))))
    everything = aggregate == "count" and draw(st.booleans())
    maybe = st.one_of(st.none(), conditions(1))
    keys = draw(st.sampled_from([(), (), ("t",), ("b",), ("c", "b"), ("i2",)]))
    return Asked(
        draw(st.sampled_from(_TABLES)),
        aggregate,
        None if everything else operand,
        draw(maybe),
        draw(maybe),
        keys,
    )
