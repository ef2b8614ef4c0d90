"""Random questions over random relations: keys, aggregates with FILTER, WHERE, policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.audit.clock_changes import CLOCK_CHANGE, key_of_a_clock
from tests.audit.expressions import NUMBERS, Scope, conditions, numbers, one_in
from tests.audit.row_sources import source
from tests.audit.source_joins import REPEATED
from tests.audit.source_lookups import can_look_up, lookup
from tests.audit.source_parts import Names, Rows, where

_POLICIES = (
    *("world", "world", "world", "best", "best", "best", "gaussian", "polyplace"),
    *("clipped", "clipped", "ratio", "joins", "joins best"),
)
_WITH_JOIN_KEYS = ("joins", "joins best", "joins gaussian")
_MEASURES = (
    *(
        "sum",
        "sum",
        "avg",
        "avg",
        "min",
        "min",
        "max",
        "max",
        "variance",
        "var_pop",
        "stddev",
        "stddev_pop",
        "stddev_pop",
    ),
    *("percentile_cont(0.5)", "percentile_disc(0.9)", "percentile_cont(ARRAY[0.1, 0.8])"),
)
INTERVAL = "an interval of values"
_WITH_INTERVAL = ("min(", "max(", "percentile_cont(0.5)", "percentile_disc(")
_PAIRS = ("covar_pop", "covar_samp", "corr", "regr_slope", "regr_intercept", "regr_r2")
_KEYS = (
    *("listed", "listed", "private", "private", "private", "time", "time", "number", "case"),
    *("computed", "computed"),
)
_OF_TEXTS = (
    *("{} || '-' || {}", "concat({}, '/', {})", "coalesce({}, 'none')", "left({} || {}, 2)"),
    "replace({}, 'x', 'yy')",
)
_OF_TIMES = (
    *("to_char({}, 'YYYY-MM')", "extract(year FROM {}) || '-' || extract(quarter FROM {})"),
    *("to_char({}, 'Q')", "(extract(month FROM {}) - 1) % 3 + 1", "date_trunc('year', {})::date"),
    "extract(year FROM {} - interval '45 days')",
)
UNGROUPED = "{}"
_GROUPINGS = ("ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())", "GROUPING SETS ({}, ())")
_TOP = (
    "(SELECT t AS top_key, count(*) AS top_n FROM calls GROUP BY t ORDER BY top_n DESC LIMIT 2) top"
)
_OPERANDS = (1, 0, 1, 2, 2, 3, 4)
_DEPTHS = (2, 0, 1, 1, 2, 2, 3, 3)
_TIMES = ("min({})", "max({})", "percentile_disc(0.25) WITHIN GROUP (ORDER BY {})")


@dataclass(frozen=True)
class Question:
    """ctes: as they stand after WITH; tail: FROM and WHERE; grouping: around the keys."""

    ctes: tuple[str, ...]
    keys: tuple[str, ...]
    measures: tuple[str, ...]
    tail: str
    policy: str
    features: frozenset[str]
    grouping: str = UNGROUPED

    @property
    def items(self) -> tuple[str, ...]:
        levels = () if self.grouping == UNGROUPED else (f"grouping({self.keys[0]})",)
        return (*self.keys, *self.measures, *levels)

    @property
    def head(self) -> str:
        """What stands before the items."""
        return f"WITH {', '.join(self.ctes)} SELECT " if self.ctes else "SELECT "

    @property
    def sql(self) -> str:
        return self.select(self.items)

    def select(self, items: Sequence[str]) -> str:
        """Other columns of the same groups."""
        group = f" GROUP BY {self.grouping.format(', '.join(self.keys))}" if self.keys else ""
        return f"{self.head}{', '.join(items)} FROM {self.tail}{group}"


@st.composite
def questions(draw: DrawFn) -> Question:
    names = Names()
    rows, needed = source(draw, names, draw(st.sampled_from(_DEPTHS)))
    features = set(rows.features)
    keys = _keys(draw, rows.scope)
    if set(keys) & set(rows.scope.of(("enum",))):
        features.add("labels as keys")
    if rows.scope.of(("tz", "ts")) and one_in(draw, 9):
        features.add(CLOCK_CHANGE)
        key, around = key_of_a_clock(draw, rows.scope)
        keys = (
            [*keys[:1], key] if around else [*keys, key]
        )  # of dozens of days there are dozens of groups
        needed = (*needed, around) if around else needed
    if rows.scope.of(NUMBERS) and one_in(draw, 5):
        measures = _of_one_column(draw, rows.scope)
    else:
        measures = [_aggregate(draw, rows) for _ in range(draw(st.integers(1, 3)))]
        for place, measure in enumerate(measures):
            if draw(st.booleans()):
                measures[place] = f"{measure} FILTER (WHERE {draw(conditions(1, rows.scope))})"
    if any(" FILTER (" in measure for measure in measures):
        features.add("filter")
    for place, measure in enumerate(measures):
        if measure.startswith(_WITH_INTERVAL) and one_in(draw, 4):
            features.add(INTERVAL)
            measures[place] = f"dp.error({measure})"
    if can_look_up(rows) and one_in(draw, 4):
        asked, found = lookup(draw, names, rows)
        features |= found
        use = draw(st.sampled_from(["where", "where", "filter", "key"]))
        if use == "where":
            needed = (*needed, asked)
        elif use == "filter":
            measures.append(f"count(*) FILTER (WHERE {asked})")
        else:
            keys.append(f"({asked})")
    condition = where(draw, rows.scope, needed)
    if condition:
        features.add("where")
    if rows.scope.of(NUMBERS) and one_in(draw, 12):
        features.add("scalar subquery in where")
        number = draw(st.sampled_from(rows.scope.of(NUMBERS)))
        answer = draw(st.sampled_from(["avg(i4) FROM calls", "count(*) FROM people WHERE b"]))
        condition += f" {'AND' if condition else 'WHERE'} {number} > (SELECT {answer})"
    texts = [
        column.text for column in rows.scope.columns if column.listed and column.kind == "text"
    ]
    joined = ""
    if texts and draw(st.integers(0, 4)) in (1, 3):
        column = draw(st.sampled_from(texts))
        if "join with commas" not in features and draw(st.booleans()):
            features.add("join with the largest")
            joined = f" JOIN {_TOP} ON {column} = top.top_key"
        else:
            features.add("list of answers in where")
            listed = "SELECT t FROM calls GROUP BY 1 ORDER BY count(*) DESC LIMIT 2"
            condition += f" {'AND' if condition else 'WHERE'} {column} IN ({listed})"
        if column not in keys:  # the groups of the answers are added up, so they are public
            features.add("groups added up")
            keys = [key for key in keys if key in texts]
            measures = [
                "count(*)",
                *(m for m in measures if m.startswith("count(") and "DISTINCT" not in m),
            ]
    grouping = UNGROUPED
    if keys and "list of answers in where" not in features and not joined and one_in(draw, 7):
        features.add("grouping sets")
        grouping = draw(st.sampled_from(_GROUPINGS))
    return Question(
        tuple(f"{name} AS ({text})" for name, text, _ in names.ctes),
        tuple(keys),
        tuple(measures),
        f"{rows.text}{joined}{condition}",
        draw(st.sampled_from(_WITH_JOIN_KEYS if REPEATED in features else _POLICIES)),
        frozenset(features),
        grouping,
    )


def _of_one_column(draw: DrawFn, scope: Scope) -> list[str]:
    """Which can be made of the same sums: of one expression with one FILTER."""
    few, squared = ("count", "avg", "sum"), ("variance", "var_pop", "stddev", "stddev_pop")
    words = draw(st.sampled_from([few[:2], few, (*few, *squared)]))
    chosen = draw(st.lists(st.sampled_from(words), min_size=2, max_size=4, unique=True))
    operand = draw(numbers(draw(st.sampled_from([0, 0, 1])), scope)).text
    rest = f" FILTER (WHERE {draw(conditions(1, scope))})" if draw(st.booleans()) else ""
    return [f"{word}({operand}){rest}" for word in chosen]


def _keys(draw: DrawFn, scope: Scope) -> list[str]:
    count = draw(st.sampled_from([0, 0, 1, 1, 1, 2, 2, 3]))
    return list(dict.fromkeys(_key(draw, scope) for _ in range(count)))


def _key(draw: DrawFn, scope: Scope) -> str:
    listed = [c.text for c in scope.columns if c.listed]
    kind = draw(st.sampled_from(_KEYS))
    if kind == "listed" and listed:
        return draw(st.sampled_from(listed))
    private = [c.text for c in scope.columns if c.kind in ("text", "int", "free", "date", "enum")]
    if kind == "private" and private:
        return draw(st.sampled_from(private))
    times = scope.of(("date", "ts"))
    if kind == "time" and times:
        part = draw(
            st.sampled_from(
                [
                    *(
                        "date_trunc('year', {})",
                        "extract(quarter FROM {})",
                        "extract(year FROM {})",
                    ),
                    *("to_char({}, 'YYYY')", "to_char({}, 'Q')") * 2,
                    "date_trunc('year', {} + interval '3 months') - interval '3 months'",
                    *("extract(year FROM age('2021-05-31', {}))",) * 3,
                ]
            )
        )
        return part.format(draw(st.sampled_from(times)))
    if kind == "computed":
        texts = [c.text for c in scope.columns if c.listed and c.kind in ("text", "char", "enum")]
        among = [part for part, held in ((_OF_TEXTS, texts), (_OF_TIMES, times)) if held]
        if among:
            forms = draw(st.sampled_from(among))
            held = texts if forms is _OF_TEXTS else times
            return draw(st.sampled_from(forms)).format(*[draw(st.sampled_from(held))] * 2)
    bounded = scope.of(("int", "decimal"))
    if kind == "number" and bounded:
        column = draw(st.sampled_from(bounded))
        step = draw(st.sampled_from(["width_bucket({}, 0, 50, 4)", "floor({} / 100)", "({} > 2)"]))
        return step.format(column)
    return f"CASE WHEN {draw(conditions(0, scope))} THEN 'low' ELSE 'high' END"


def _aggregate(draw: DrawFn, rows: Rows) -> str:
    scope = rows.scope
    kind = draw(st.sampled_from(["all", "some", "distinct", "number", "number", "number", "time"]))
    times = scope.of(("date", "ts", "tz"))
    if kind == "some":
        return f"count({draw(st.sampled_from(scope.columns)).text})"
    if kind == "distinct" and scope.of(NUMBERS) and one_in(draw, 3):
        return f"count(DISTINCT {draw(numbers(draw(st.sampled_from(_OPERANDS)), scope)).text})"
    if kind == "distinct" and (rows.unit is not None or scope.distinct):
        if rows.unit is not None and (not scope.distinct or draw(st.booleans())):
            return f"count(DISTINCT {rows.unit})"
        return f"count(DISTINCT {draw(st.sampled_from(scope.distinct))})"
    if kind == "time" and times:
        return draw(st.sampled_from(_TIMES)).format(draw(st.sampled_from(times)))
    if kind == "number" and scope.of(NUMBERS):
        operand = draw(numbers(draw(st.sampled_from(_OPERANDS)), scope)).text
        if one_in(draw, 6):
            second = draw(numbers(draw(st.sampled_from(_OPERANDS)), scope)).text
            return f"{draw(st.sampled_from(_PAIRS))}({operand}, {second})"
        word = draw(st.sampled_from(_MEASURES))
        if word.startswith("percentile"):
            return f"{word} WITHIN GROUP (ORDER BY {operand})"
        return f"{word}({operand})"
    return "count(*)"
