"""The extreme of a partition has one form before it is divided (tests/audit/test_equal_forms.py)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import psycopg

from proxy.base.sql_types import SqlType
from proxy.compiler.aggregate_sql import RowSource, extreme_sql
from proxy.compiler.binds import Binds
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import Clamped, ColumnRef
from proxy.query.ir.query_aggregates import AggregateKind
from tests.kernel.examples import measured
from tests.servers_fixture import servers

# Just below half of the grid: with more digits the quotient is below one half, with fewer it is one half.
_VALUE = "43199." + "9" * 20


def test_no_order_decides_the_index() -> None:
    column = ColumnRef("n", SqlType.NUMERIC, None, "r1")
    clamp = Bounds(Fraction(0), Fraction(864_000))
    operand = Clamped(column, clamp.low, clamp.high, SqlType.NUMERIC)
    of = replace(measured(0, 10), operand=operand, clamp=clamp, grid=Fraction(86_400))
    binds = Binds()
    index = extreme_sql(AggregateKind.MAX, of, RowSource(binds, inner=False))
    forms = (_VALUE, _VALUE + "0" * 30)
    with psycopg.connect(servers().protected.dsn()) as connection:
        found = set()
        for first, second in (forms, forms[::-1]):
            statement = f"SELECT {index} FROM (VALUES ({first}), ({second})) AS r1(n)"
            found |= set(connection.execute(statement.encode(), binds.values).fetchall())
    assert len(found) == 1
