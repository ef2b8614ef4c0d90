"""Names of relations and columns that dpproxy makes up: what one layer writes, another reads by that name.

The noisy relation of an aggregate subquery is declared by `query` in the rewritten statement and written as
JSON by `release`; one row per unit, and UNION ALL, have columns that `query`, `planner` and `compiler` share.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

NOISY_RELATION = "dp_b"  # how every alias of a noisy relation begins, wherever a plan names it
UNIT_COLUMN = "unit"  # the privacy unit, in one row per unit


def subquery_name(number: int) -> str:
    """Of an aggregate subquery of a statement, from 1: under it the relation parameter holds its rows.

    >>> subquery_name(1), noisy_relation(1)
    ('b1', 'dp_b1')
    """
    return f"b{number}"


def noisy_relation(number: int) -> str:
    """The alias of an aggregate subquery's noisy relation in the rewritten statement."""
    return f"{NOISY_RELATION}{number}"


def account_relation(name: str) -> str:
    """The alias under which a relation of the ledger stands in the rewritten statement.

    >>> account_relation("budget")
    'dp_b_budget'
    """
    return f"{NOISY_RELATION}_{name}"


def key_column(number: int) -> str:
    """Of a GROUP BY key, from 1."""
    return f"k{number}"


def aggregate_column(number: int) -> str:
    """Of an aggregate, from 1: in a noisy relation, and in one row per unit."""
    return f"a{number}"


def is_aggregate_column(name: str) -> bool:
    """
    >>> is_aggregate_column(aggregate_column(12)), is_aggregate_column("age")
    (True, False)
    """
    return name[:1] == "a" and name[1:].isdecimal()


def grouping_column(number: int) -> str:
    """Of a GROUPING() in the statement, from 1."""
    return f"g{number}"


def error_column(number: int) -> str:
    """Of the error of an output column, from 1, where the proxy adds it to the result by itself."""
    return f"x{number}"


def is_made_column(name: str) -> bool:
    """Whether a noisy relation may have a column of this name.

    >>> is_made_column("k1"), is_made_column("c12"), is_made_column("kind")
    (True, True, False)
    """
    return name[:1] in _FIRST_LETTERS and name[1:].isdigit()


def union_column(place: int) -> str:
    """Of UNION ALL, whose columns are matched by place, from 1."""
    return f"c{place}"


def relation_alias(number: int) -> str:
    """Of a relation in SQL on the protected database: nothing of the client's naming gets there."""
    return f"r{number}"


def answer_parameter(index: int) -> str:
    """The bind parameter of compiled SQL that takes the answer of the index-th scalar subquery.

    >>> answer_parameter(0)
    's1'
    """
    return f"s{index + 1}"


class IntervalEnd(Enum):
    """What dp.low, dp.high and dp.error give of an aggregate's 95 % interval, and dp.clipped of the units whose
    part in it was clamped to a bound that was chosen."""

    LOW = "l"
    HIGH = "h"
    ERROR = "e"
    CLIPPED = "c"


@dataclass(frozen=True, slots=True)
class IntervalColumn:
    """The column of a noisy relation that holds it.

    >>> IntervalColumn(IntervalEnd.LOW, 3).name
    'l3'
    """

    end: IntervalEnd
    number: int  # of the aggregate; of an expression over them, counted on from these

    @property
    def name(self) -> str:
        return f"{self.end.value}{self.number}"


_FIRST_LETTERS = ("k", "a", "g", "x", *(end.value for end in IntervalEnd))
