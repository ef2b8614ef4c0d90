"""What is changed nowhere stays the object that it was, all else comes out as if everything were made anew."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from proxy.base.node_parts import fields_of
from proxy.base.sql_types import SqlType
from proxy.engine.query_pipeline import Engine
from proxy.planner.facts import PublicContents
from proxy.query.ir.expressions import ColumnRef, Constant, Expression
from proxy.query.ir.query import AggregateBlock, changed
from proxy.query.ir.rebuilding import each_changed, rebuild, with_parts
from tests.engine.test_order import Recorder, asked

_TEXTS = (
    "SELECT count(*) FROM people WHERE i4 > 3",
    "SELECT avg(i4) FILTER (WHERE i4 IN (1, 2)), sum(i4) FROM people WHERE NOT (i4 BETWEEN 1 AND 9)",
    "SELECT count(*) FROM people WHERE CASE WHEN i4 = 1 THEN true WHEN i4 > 7 THEN false ELSE i4 < 3 END",
    "SELECT count(*) FROM people WHERE coalesce(i4, 0) + nullif(i4, 2) > abs(i4) / 2 AND i4 IS NOT NULL",
    "SELECT sum(x) FROM (SELECT i4 * 2 AS x FROM people WHERE i4 > 1) AS s WHERE x < 8",
    "SELECT i4 % 3, count(*) FROM people WHERE i4 > 0 GROUP BY 1",
)


def _blocks(text: str) -> tuple[AggregateBlock, ...]:
    _, question = asked(Recorder(), text)
    return question.reading.query.blocks


def _moved(part: Expression) -> Expression:
    """Some leaves are others, some are equal ones, some stay."""
    if isinstance(part, ColumnRef):
        return replace(part, column=part.column + "_moved")
    if isinstance(part, Constant):
        return replace(part)
    return part


@pytest.mark.parametrize("text", _TEXTS)
def test_what_is_not_changed_is_the_same_object(text: str) -> None:
    for block in _blocks(text):
        assert changed(block, lambda part: rebuild(part, lambda one: one)) is block


@pytest.mark.parametrize("text", _TEXTS)
def test_changes_come_out_as_if_all_were_made_anew(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = _blocks(text)
    found = [changed(block, lambda part: rebuild(part, _moved)) for block in blocks]
    for module in ("query", "rebuilding"):
        of = f"proxy.query.ir.{module}"
        monkeypatch.setattr(f"{of}.with_parts", replace)
        monkeypatch.setattr(f"{of}.each_changed", _each)
    anew = [changed(block, lambda part: rebuild(part, _moved)) for block in blocks]
    assert repr(found) == repr(anew)  # with what is not compared
    assert "_moved" in repr(found)


def _each(parts: tuple[Any, ...], change: Any) -> tuple[Any, ...]:
    return tuple(map(change, parts))


@pytest.mark.parametrize("text", _TEXTS)
def test_what_a_context_has_planned_before_changes_nothing(text: str) -> None:
    engine, question = asked(Recorder(), text)
    first, again = (engine._plan(question, (), {}) for _ in range(2))
    other, asked_anew = asked(Recorder(), text)
    fresh = other._plan(asked_anew, (), {})
    assert repr(first.private) == repr(again.private) == repr(fresh.private)
    queries = [[one.all for one in found.compiled] for found in (first, again, fresh)]
    assert queries[0] == queries[1] == queries[2]


def test_another_context_knows_no_facts_of_columns_yet() -> None:
    engine, question = asked(Recorder(), _TEXTS[0])
    engine._plan(question, (), {})
    assert _facts(engine)
    engine.renew(PublicContents())
    assert not _facts(engine)


def _facts(engine: Engine) -> object:
    return engine._known.made_facts


@pytest.mark.parametrize("kind", [ColumnRef, Constant, AggregateBlock, str, tuple, type])
def test_fields_are_those_of_the_class(kind: Any) -> None:
    assert fields_of(kind) == (
        tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None
    )


def test_parts_that_are_equal_but_others_are_taken() -> None:
    one, other = Constant("a", None), Constant("a", None, 7)
    column = ColumnRef("c", SqlType.TEXT, None, "r")
    assert with_parts(column, column="c") is column
    found = each_changed((one,), lambda _: other)
    assert found[0] is other
