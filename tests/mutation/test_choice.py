"""Which files are mutated, and what is done with what comes out."""

from __future__ import annotations

from datetime import date, timedelta

from tests.mutation.__main__ import _A_NIGHT, chosen, files
from tests.mutation.equivalent import EQUIVALENT

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
