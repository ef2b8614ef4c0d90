"""Random questions of one table: one aggregate, filters, public groups."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.audit.expressions import Number, conditions, numbers

_GROUPINGS = ("{}", "{}", "ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())", "({})")
_TABLES = ("people", "events", "trips", "visits", "orders", "notes", "members")


@dataclass(frozen=True)
class Asked:
    table: str
    aggregate: str
    operand: Number | None
    filter: str | None
    where: str | None
    keys: tuple[str, ...]
    grouping: str = "{}"

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
        written = self.grouping.format(", ".join(self.keys))
        group = f" GROUP BY {written}" if self.keys else ""
        head = "".join(f"{key}, " for key in self.keys)
        return f"SELECT {head}{self.call} FROM {self.table}{self.condition}{group}"


@st.composite
def table_questions(draw: DrawFn) -> Asked:
    aggregate = draw(st.sampled_from(["count", "sum", "sum", "avg", "min", "max"]))
    operand = draw(numbers(draw(st.integers(0, 3))))
    everything = aggregate == "count" and draw(st.booleans())
    maybe = st.one_of(st.none(), conditions(1))
    keys = draw(st.sampled_from([(), (), ("t",), ("b",), ("c", "b"), ("i2",), ("e",)]))
    return Asked(
        draw(st.sampled_from(_TABLES)),
        aggregate,
        None if everything else operand,
        draw(maybe),
        draw(maybe),
        keys,
        draw(st.sampled_from(_GROUPINGS)) if keys else "{}",
    )
