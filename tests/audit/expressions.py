"""Random expressions and conditions as text, over whatever columns can be named where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import product

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

# What templates ask for. A `free` number has no bounds: it can be compared, not added up.
INTEGERS = ("int",)
EXACT = ("int", "decimal")
NUMBERS = ("int", "decimal", "float")
COMPARED = ("int", "decimal", "float", "free")
TIMES = ("date", "ts", "tz")
COMPOUND = ("json", "texts", "ints", "span", "clock")
TEXTS = ("text", "enum")


@dataclass(frozen=True)
class Column:
    """text: as it is written here; kind: of its type; listed: its values are public."""

    text: str
    kind: str
    listed: bool = False

    @property
    def name(self) -> str:
        return self.text.rpartition(".")[2]


DATA = (
    Column("i2", "int", True),
    Column("i4", "int"),
    Column("i8", "int"),
    Column("n2", "decimal"),
    Column("n", "decimal"),
    Column("f4", "float"),
    Column("f8", "float"),
    Column("t", "text", True),
    Column("c", "char", True),
    Column("s", "text"),
    Column("b", "bool", True),
    Column("d", "date"),
    Column("ts", "ts"),
    Column("tz", "tz"),
    Column("free", "free"),
    Column("e", "enum", True),
    Column("j", "json"),
    Column("ta", "texts"),
    Column("ia", "ints"),
    Column("iv", "span"),
    Column("tod", "clock"),
)


@dataclass(frozen=True)
class Scope:
    columns: tuple[Column, ...] = DATA

    def of(self, kinds: Iterable[str]) -> tuple[str, ...]:
        return tuple(c.text for c in self.columns if c.kind in kinds)

    @property
    def distinct(self) -> tuple[str, ...]:
        """What can be counted with DISTINCT: of a jsonb or an array only what is in it."""
        return tuple(c.text for c in self.columns if c.kind not in COMPOUND)

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(column.kind for column in self.columns)


EVERYTHING = Scope()
Template = tuple[str, tuple[tuple[str, ...], ...]]


@dataclass(frozen=True)
class Number:
    """text of a number; exact: PostgreSQL computes it without floats; smooth: no step in it that a float's
    last digit could push over."""

    text: str
    exact: bool
    smooth: bool


_CONDITIONS: tuple[Template, ...] = (
    *(
        (f"{{}} {operator} {constant}", (COMPARED,))
        for operator, constant in product(
            ("=", "<>", "<", ">=", "IS DISTINCT FROM"),
            ("0", "1", "2.5", "-3", "42", "1e3", "NULL"),
        )
    ),
    ("{} BETWEEN -2 AND 8", (COMPARED,)),
    ("{} NOT IN (1, 2, 42)", (COMPARED,)),
    ("{} IS NOT NULL", (COMPARED,)),
    ("{} < {}", (INTEGERS, INTEGERS)),
    ("{} > {}", (EXACT, EXACT)),
    ("{} * 2 > {} - 5", (INTEGERS, EXACT)),
    ("coalesce({}, 7) = 7", (INTEGERS,)),
    ("nullif({}, 1) IS NULL", (INTEGERS,)),
    ("CASE WHEN {} THEN {} ELSE {} END > 3", (("bool",), INTEGERS, INTEGERS)),
    ("{}", (("bool",),)),
    ("{} IS NOT TRUE", (("bool",),)),
    ("{} = 'x'", (TEXTS,)),
    ("{} LIKE 'a%'", (TEXTS,)),
    (r"{} NOT ILIKE '%\_'", (TEXTS,)),
    ("{} ~ '^(a|b|c)|x$'", (TEXTS,)),
    ("{} !~* '(l|h).+'", (TEXTS,)),
    ("{} SIMILAR TO '%(a|b)_*'", (TEXTS,)),
    ("lower({}) = 'abc'", (TEXTS,)),
    ("length({}) > 2", (TEXTS,)),
    ("left({}, 1) = 'a'", (TEXTS,)),
    ("substr({}, 2, 1) <> 'b'", (TEXTS,)),
    ("starts_with({}, 'SEC')", (("text",),)),
    ("{} || '-' || {} IN ('x-low', 'a-x', '-')", (TEXTS, TEXTS)),
    ("concat({}, {}) < 'b'", (TEXTS, INTEGERS)),
    ("concat_ws('/', {}, {}::text) LIKE 'x/%'", (TEXTS, ("bool",))),
    ("split_part({}, 'b', 2) = 'c'", (TEXTS,)),
    ("replace({}, 'a', 'x') = 'x'", (TEXTS,)),
    ("lpad(reverse({}), 2, '0') = '0x'", (TEXTS,)),
    ("({} > 1) = {}", (COMPARED, ("bool",))),
    ("({} IS NOT NULL) = true", (COMPARED,)),
    ("{} / nullif({}, 0) > 2", (INTEGERS, INTEGERS)),
    ("sqrt(abs({})) < 3", (NUMBERS,)),
    ("{} IN ('a', 'bb')", (("char",),)),
    ("{} = 'low'", (("enum",),)),
    ("{} <> 'no label'", (("enum",),)),
    ("{} IN ('high', 'x', 'no label')", (("enum",),)),
    ("{} LIKE '%l%'", (("enum",),)),
    ("{} > 'low'", (("enum",),)),
    ("coalesce({}, 'none') = 'none'", (("enum",),)),
    ("nullif({}, 'low') IS NULL", (("enum",),)),
    ("{} IN (SELECT e FROM moods)", (("enum", "text", "char"),)),
    ("{} IN (SELECT k FROM rates r WHERE r.k > 5)", (INTEGERS,)),
    ("{} = {}", (("enum",), ("enum", "text", "char"))),
    ("CASE {} WHEN 'low' THEN 'x' ELSE {} END = {}", (("enum",), ("enum",), ("text",))),
    ("{} > '2010-01-01'", (("date",),)),
    ("extract(year FROM {}) > 2005", (("date",),)),
    ("extract(dow FROM {}) = 4", (("ts",),)),
    ("{}::date = '2010-07-08'", (("ts",),)),
    ("{} < '2015-01-01 00:00:00+00'", (("tz",),)),
    ("{} < {}", (("date",), ("ts",))),
    ("{} + interval '1 month' > '2010-01-01'", (("ts",),)),
    ("{} - 7 < '2015-01-01'", (("date",),)),
    ("{} ->> 'k' = 'x'", (("json",),)),
    ("{} -> 'o' ->> 'k' IS NULL", (("json",),)),
    ("""{} @> '{{"k": ["x"]}}'""", (("json",),)),
    ("{} ? 'n'", (("json",),)),
    ("{} ->> 0 = {}", (("json",), TEXTS)),
    ("'x' = ANY({})", (("texts",),)),
    ("'y' <> ALL({})", (("texts",),)),
    ("{} @> ARRAY['x', 'y']", (("texts",),)),
    ("{} && '{{z,unlisted}}'", (("texts",),)),
    ("{}[1] = {}", (("texts",), TEXTS)),
    ("cardinality({}) > 1", (("texts", "ints"),)),
    ("7 = ANY({})", (("ints",),)),
    ("{} > interval '30 days'", (("span",),)),
    ("extract(epoch FROM {}) / 60 < 90", (("span",),)),
    ("{} BETWEEN '09:30' AND '24:00:00'", (("clock",),)),
    ("{} IN ('12:00', '09:30:00.250')", (("clock",),)),
    ("{} <> {}", (("clock",), ("clock",))),
    ("{}::time < '09:30'", (("ts", "tz"),)),
    ("{}::time >= {}", (("ts", "tz"), ("clock",))),
    ("{} - interval '90 minutes' < {}", (("tz",), ("tz",))),
    ("date_trunc('week', {} + interval '1 day') - interval '1 day' <= '2012-03-04'", (("ts",),)),
    ("{} - {} > interval '30 days'", (("ts",), ("ts",))),
    ("{0} - extract(dow FROM {0})::int <= '2010-07-04'", (("date",),)),
    (
        "timestamp '2001-01-01' + interval '2 weeks' * floor(extract(epoch FROM {} - timestamp '2001-01-01')"
        " / extract(epoch FROM interval '2 weeks')) > '2010-07-01'",
        (("ts",),),
    ),
    ("{} - {} < 100", (("date",), ("date",))),
    ("extract(year FROM age('2019-05-31', {})) >= 9", (("date", "ts"),)),
    ("extract(year FROM age({}, '1990-02-28')) BETWEEN 12 AND 20", (("date", "ts"),)),
    ("to_char({}, 'YYYY-MM') < '2010-08'", (TIMES,)),
    ("to_char({}, 'Q') = '3'", (TIMES,)),
    ("{} AT TIME ZONE 'America/New_York' >= '2010-11-07 01:30'", (("tz",),)),
    ("date_trunc('day', {}, 'Europe/Berlin') <= '2010-03-28 00:00+01'", (("tz",),)),
    ("extract(hour FROM {} AT TIME ZONE 'Australia/Lord_Howe') = 1", (("tz",),)),
    ("{} AT TIME ZONE 'America/New_York' < '2010-11-07 06:00+00'", (("ts",),)),
    ("{} AT TIME ZONE 'America/Sao_Paulo' < {}", (("ts",), ("tz",))),
    ("({} AT TIME ZONE 'Europe/Berlin')::date < '2010-10-31'", (("tz",),)),
    ("{} > '80000000-0000-0000-0000-000000000000'", (("uuid",),)),
    ("date_bin('7 days', {}, timestamp '2001-01-01') > '2011-01-01'", (("ts",),)),
)
_LEAVES: tuple[Template, ...] = (
    ("({}::int)", (("bool",),)),
    ("({} % 7)", (INTEGERS,)),
    ("({} / 9)", (INTEGERS,)),
    ("({} / nullif({}, 0))", (INTEGERS, INTEGERS)),
    ("({} % nullif({}, 0))", (INTEGERS, INTEGERS)),
    ("round({}, -1)", (("decimal",),)),
    ("extract(month FROM {})", (("date",),)),
    ("extract(year FROM {})", (("ts",),)),
    ("extract(second FROM {})", (("tz",),)),
    ("extract(hour FROM {} AT TIME ZONE 'America/New_York')", (("tz",),)),
    ("extract(year FROM age('2021-05-31', {}))", (("date", "ts"),)),
    ("(date '2010-07-08' - {})", (("date",),)),
    ("({} - {})", (("date",), ("date",))),
    ("extract(day FROM {} - {})", (("ts",), ("ts",))),
    ("extract(month FROM {} + interval '40 days')", (("ts",),)),
    ("greatest(least(extract(epoch FROM {}), 900), -900)", (("span",),)),
    ("least(cardinality({}), 3)", (("texts", "ints"),)),
    ("extract(hour FROM {})", (("clock",),)),
    ("extract(epoch FROM {})", (("clock",),)),
    ("extract(epoch FROM {}::time)", (("ts", "tz"),)),
)


def one_in(draw: DrawFn, number: int) -> bool:
    """Hypothesis favours the ends of a range; a number in the middle comes about as often as it should."""
    return draw(st.integers(0, number - 1)) == number // 2


@cache
def _usable(templates: tuple[Template, ...], kinds: frozenset[str]) -> list[Template]:
    """Those for which there is a column in every place."""
    return [(text, wanted) for text, wanted in templates if all(kinds & set(w) for w in wanted)]


def filled(draw: DrawFn, templates: tuple[Template, ...], scope: Scope) -> str | None:
    """One of the templates with columns in its places; None where no template fits the scope."""
    usable = _usable(templates, scope.kinds)
    if not usable:
        return None
    text, wanted = draw(st.sampled_from(usable))
    return text.format(*(draw(st.sampled_from(scope.of(kinds))) for kinds in wanted))


@st.composite
def conditions(draw: DrawFn, depth: int, scope: Scope = EVERYTHING) -> str:
    if depth and draw(st.booleans()):
        left, right = draw(conditions(depth - 1, scope)), draw(conditions(depth - 1, scope))
        word = draw(st.sampled_from(["AND", "OR"]))
        text = f"({left} {word} {right})"
        return f"NOT {text}" if draw(st.booleans()) else text
    return filled(draw, _CONDITIONS, scope) or "1 = 1"


_REAL = ("sqrt(abs({}))", "ln(greatest({}, 1))", "(10 / greatest({}, 0.5))")


@st.composite
def numbers(draw: DrawFn, depth: int, scope: Scope = EVERYTHING) -> Number:
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(_leaves(scope))
    a = draw(numbers(depth - 1, scope))
    kind = draw(
        st.sampled_from(["two", "two", "divide", "step", "plain", "case", "choose", "nullif"])
    )
    if kind in ("two", "case", "choose", "nullif"):
        b = draw(numbers(depth - 1, scope))
        exact, smooth = a.exact and b.exact, a.smooth and b.smooth
        if kind == "two":
            operator = draw(st.sampled_from(["+", "-", "*"]))
            return Number(f"({a.text} {operator} {b.text})", exact, smooth)
        if kind == "case":
            condition = draw(conditions(0, scope))
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
    function = draw(st.sampled_from(["abs({})", "(- {})", "({}::numeric)", "({}::float8)", *_REAL]))
    is_exact = a.exact and "float8" not in function and function not in _REAL
    return Number(function.format(a.text), is_exact, a.smooth)


@st.composite
def _leaves(draw: DrawFn, scope: Scope) -> Number:
    kind = draw(st.sampled_from(["exact", "exact", "exact", "float", "constant", "other"]))
    exact, floats = scope.of(EXACT), scope.of(("float",))
    if kind == "float" and floats:
        return Number(draw(st.sampled_from(floats)), False, True)
    if kind == "other":
        other = filled(draw, _LEAVES, scope)
        if other is not None:
            return Number(other, True, True)
    if kind == "constant" or not exact:
        return Number(draw(st.sampled_from(["0", "1", "2.5", "(-3)", "100", "0.001"])), True, True)
    return Number(draw(st.sampled_from(exact)), True, True)
