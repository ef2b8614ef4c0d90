"""Which files are mutated, and what is done with what comes out."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.kernel import row_numbers
from proxy.query.ir.expressions import ColumnRef, Comparator, Comparison, Constant
from tests.mutation.__main__ import _A_NIGHT, chosen, files
from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.equivalent_conditions import EQUIVALENT_CONDITIONS
from tests.mutation.removed_conditions import removals

_DAY = date(2026, 11, 22)


def test_a_night_has_its_files_and_a_month_has_most() -> None:
    assert (
        chosen([], _DAY) == chosen([], _DAY) == chosen([_DAY.isoformat()], _DAY + timedelta(days=9))
    )
    month = [set(chosen([], _DAY + timedelta(days=n))) for n in range(30)]
    assert len(set().union(*month)) >= 0.9 * len(files())
    assert all(len(night) == _A_NIGHT and night <= set(files()) for night in month)


def test_files_can_be_named() -> None:
    assert chosen(["planner/truncation.py"], _DAY) == ["planner/truncation.py"]
    assert chosen(["all"], _DAY) == files()


def test_each_equivalent_mutant_has_its_reason_and_its_function() -> None:
    modules = {"proxy." + name.removesuffix(".py").replace("/", ".") for name in files()}
    for (function, before, after), reason in EQUIVALENT.items():
        assert function.rpartition(".")[0] in modules
        assert before != after and len(reason) > 20


def test_a_function_without_a_condition_lets_pass_what_it_refuses() -> None:
    """A column that is no number of rows, and one that is compared with 1."""
    found = {one.what: one for one in removals("kernel/row_numbers.py")}
    weaker = found["without name(condition.left) not in numbered"]
    first = Comparison(
        Comparator.LE,
        ColumnRef("rn", SqlType.INT8, None, "r1"),
        Constant(Fraction(1), SqlType.INT4),
    )
    kept = row_numbers._lets_one_pass.__code__
    assert not row_numbers.one_number(first, frozenset())
    try:
        weaker.put()
        assert row_numbers.one_number(first, frozenset())
    finally:
        row_numbers._lets_one_pass.__code__ = kept
    assert not row_numbers.one_number(first, frozenset())


def test_each_condition_that_cannot_be_missed_is_there_and_has_its_reason() -> None:
    there = {
        (one.file, one.function, one.what)
        for file in {file for file, _, _ in EQUIVALENT_CONDITIONS}
        for one in removals(file)
    }
    assert not set(EQUIVALENT_CONDITIONS) - there
    assert all(len(reason) > 20 for reason in EQUIVALENT_CONDITIONS.values())
