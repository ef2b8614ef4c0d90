"""A plan that is remembered is the one that would be made now: whatever planning is given is asked for anew."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import Any

import pytest

from proxy.base.errors import Code, Refusal
from proxy.catalog.catalog_model import TableName
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.query_pipeline import Engine
from proxy.engine.remembered_plans import RememberedPlans
from proxy.exact.table import ExactRow
from proxy.planner.facts import PublicContents
from proxy.query.syntax.statements import Statement
from tests.asked_by import run_of
from tests.engine.test_order import _OIDS, Recorder, asked

_INT4 = 23
_TEXT = "SELECT count(*) FROM people WHERE i4 > $1"
_SETTINGS = {"dp.epsilon": "0.5"}


@pytest.fixture
def recorder() -> Recorder:
    return Recorder(rows=(ExactRow((), 0, (41,)),))


def _read(engine: Engine, text: str, *oids: int, with_errors: bool = False) -> ProtectedQuery:
    statement = engine.statements.look(text)
    assert isinstance(statement, Statement)
    by_text = {name.name: oid for name, oid in _OIDS.items()}
    relations = tuple(map(by_text.get, statement.relations))
    question = engine.statements.read(statement, relations, oids, with_errors=with_errors)
    assert question is not None
    return question


class _Counted:
    """How often a question is planned."""

    def __init__(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        real = engine._planned

        def planned(*given: Any, **named: Any) -> Any:
            self.times += 1
            return real(*given, **named)

        monkeypatch.setattr(engine, "_planned", planned)


def _run(
    engine: Engine,
    question: ProtectedQuery,
    value: str = "7",
    settings: Mapping[str, str] = _SETTINGS,
    analyst: str = "alice",
) -> Fraction:
    given = (value,) * len(question.parameter_oids)
    return asyncio.run(engine.run(question, given, settings, run_of(analyst))).loss.epsilon


def test_the_same_is_planned_once_and_charged_each_time(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, _ = asked(recorder, "SELECT count(*) FROM people")
    counted = _Counted(engine, monkeypatch)
    for _ in range(3):
        # Each Parse makes a question of its own, of the reading that is kept.
        assert _run(
            engine, replace(_read(engine, _TEXT, _INT4), result_columns=(("n", 20),))
        ) == Fraction(1, 2)
    assert counted.times == 1
    assert len(recorder.charged) == recorder.calls.count("run") == 3


def test_seeds_are_drawn_at_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    engine, question = asked(recorder, "SELECT avg(i4) FROM people")
    counted = _Counted(engine, monkeypatch)
    for _ in range(3):
        _run(engine, question, settings={})
    assert counted.times == 1
    assert len({tuple(sorted(seeds.items())) for seeds in recorder.seeds if seeds}) == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda engine, again: again(value="8"),
        lambda engine, again: again(settings={"dp.epsilon": "0.25"}),
        lambda engine, again: again(settings={**_SETTINGS, "TimeZone": "Europe/Berlin"}),
        lambda engine, again: again(settings={**_SETTINGS, "dp.notice": "on"}),
        lambda engine, again: again(settings={**_SETTINGS, "statement_timeout": "1min"}),
        lambda engine, again: again(analyst="bob"),
        lambda engine, again: again(question=_read(engine, _TEXT, 20)),
        lambda engine, again: again(question=_read(engine, _TEXT + " ", _INT4)),
        lambda engine, again: again(question=_read(engine, _TEXT, _INT4, with_errors=True)),
        lambda engine, again: (engine.renew(PublicContents()), again()),
    ],
)
def test_what_planning_depends_on_is_planned_anew(
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Engine, Callable[..., Fraction]], object],
) -> None:
    engine, _ = asked(recorder, "SELECT count(*) FROM people")
    question = _read(engine, _TEXT, _INT4)
    counted = _Counted(engine, monkeypatch)

    def again(**given: Any) -> Fraction:
        return _run(engine, given.pop("question", question), **given)

    again()
    change(engine, again)
    assert counted.times == 2


def test_another_epsilon_is_another_charge(recorder: Recorder) -> None:
    engine, _ = asked(recorder, "SELECT count(*) FROM people")
    question = _read(engine, _TEXT, _INT4)
    of = [_run(engine, question, settings={"dp.epsilon": text}) for text in ("0.5", "0.25", "0.5")]
    assert of == [Fraction(1, 2), Fraction(1, 4), Fraction(1, 2)]
    assert [loss.epsilon for loss in recorder.charged] == of


def test_a_table_that_has_changed_is_refused_whatever_is_remembered(recorder: Recorder) -> None:
    engine, _ = asked(recorder, "SELECT count(*) FROM people")
    question = _read(engine, _TEXT, _INT4)
    _run(engine, question)
    engine.drawer.changed = frozenset({str(_people(engine))})
    with pytest.raises(Refusal) as refusal:
        _run(engine, question)
    assert refusal.value.code is Code.UNAVAILABLE
    assert len(recorder.charged) == 1


def _people(engine: Engine) -> TableName:
    (found,) = (name for name in engine.policy.tables if name.name == "people")
    return found


def test_a_refusal_is_refused_again(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, question = asked(recorder, "SELECT avg(free) FROM people")
    counted = _Counted(engine, monkeypatch)
    for _ in range(2):
        with pytest.raises(Refusal):
            _run(engine, question)
    assert counted.times == 2
    assert recorder.calls == []


def test_what_is_planned_while_public_tables_are_read_again_is_not_kept(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, question = asked(recorder, "SELECT count(*) FROM people")
    counted = _Counted(engine, monkeypatch)
    real = engine._planned

    def renewed(*given: Any, **named: Any) -> Any:
        found = real(*given, **named)
        engine.renew(PublicContents())
        return found

    monkeypatch.setattr(engine, "_planned", renewed)
    _run(engine, question)
    monkeypatch.setattr(engine, "_planned", real)
    _run(engine, question)
    assert counted.times == 2


def test_what_was_planned_quickly_is_planned_where_it_is(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the first time, not with long arguments, not with keys, of which there may be more or fewer by the
    arguments, and not what took long the last time."""
    engine, _ = asked(recorder, "SELECT count(*) FROM people")
    question = _read(engine, _TEXT, _INT4)
    grouped = _read(engine, _TEXT + " GROUP BY b ORDER BY b", _INT4)
    real, planned = engine._planned, []

    def here(*given: Any, **named: Any) -> Any:
        planned.append(threading.current_thread() is threading.main_thread())
        return real(*given, **named)

    monkeypatch.setattr(engine, "_planned", here)
    monkeypatch.setattr("proxy.engine.query_pipeline.thread_time", lambda: 0.0)
    for value in ("1", "2", "3" + " " * 64):
        _run(engine, question, value)
    assert planned == [False, True, False]
    planned.clear()
    for value in ("1", "2"):
        _run(engine, grouped, value)
    assert planned == [False, False]
    planned.clear()
    ticks = count()
    monkeypatch.setattr("proxy.engine.query_pipeline.thread_time", lambda: 0.003 * next(ticks))
    for value in ("4", "5"):
        _run(engine, question, value)
    assert planned == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(v) FROM (SELECT i4 IN ({0}) AND i2 IN ({0}) AS v FROM people) q",
        "SELECT count(*) FROM (SELECT uid, count(*) AS n FROM orders WHERE i4 IN ({0}) GROUP BY uid) q",
        "SELECT count(*) FROM (SELECT i4 FROM people UNION ALL SELECT i4 FROM people WHERE i2 IN ({0})) q",
        "SELECT count(*) FROM people WHERE i4 IN ({0}) OR i2 IN ({0}) OR i8 IN ({0}) OR i2 > $1",
    ],
)
def test_what_may_take_longer_with_other_values_is_planned_in_a_thread(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """NULLs spare what distinct constants need: 2 ms with the one were 100 and more with the others."""
    engine, _ = asked(recorder, "SELECT count(*) FROM people")
    listed = ", ".join(f"${n}" for n in range(1, 11))
    question = _read(engine, text.format(listed), *[_INT4] * 10)
    threads = _threads(engine, monkeypatch)
    for values in [(None,) * 10, tuple(map(str, range(10)))]:
        asyncio.run(engine.run(question, values, _SETTINGS, run_of("alice")))
    assert threads == ["another", "another"]


def test_what_was_refused_is_planned_in_a_thread_the_next_time(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is refused it may have taken long, which nobody has measured."""
    engine, _ = asked(recorder, "SELECT count(*) FROM people")
    question = _read(engine, "SELECT count(*) FROM people WHERE n + 1 > 2 * $1", 1700)
    threads = _threads(engine, monkeypatch)
    for value in ("1", "2"):
        _run(engine, question, value)
    with pytest.raises(Refusal):
        _run(engine, question, '"NaN"')
    for value in ("3", "4"):
        _run(engine, question, value)
    assert threads == ["another", "own", "own", "another", "own"]


def _threads(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """In which thread each plan to come is made, all of them quickly."""
    real, found = engine._planned, list[str]()

    def here(*given: Any, **named: Any) -> Any:
        is_own = threading.current_thread() is threading.main_thread()
        found.append("own" if is_own else "another")
        return real(*given, **named)

    monkeypatch.setattr(engine, "_planned", here)
    monkeypatch.setattr("proxy.engine.query_pipeline.thread_time", lambda: 0.0)
    return found


def test_few_are_kept_and_none_with_long_arguments(recorder: Recorder) -> None:
    engine, _ = asked(recorder, "SELECT count(*) FROM people")
    question = _read(engine, _TEXT, _INT4)
    prepared = engine._planned(question, ("7",), {})
    kept = RememberedPlans()
    for number in range(65):
        kept.keep(question, (str(number),), {}, None, "alice", prepared)
    assert kept.find(question, ("0",), {}, None, "alice") is None
    assert kept.find(question, ("1",), {}, None, "alice") is prepared
    kept.keep(question, ("7" * 5000,), {}, None, "alice", prepared)
    assert kept.find(question, ("7" * 5000,), {}, None, "alice") is None


@pytest.mark.long
def test_a_large_plan_is_planned_again(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A subquery that is put in many times makes megabytes of a short text."""
    engine, _ = asked(recorder, "SELECT count(*) FROM people")
    counted = _Counted(engine, monkeypatch)
    items = ", ".join(map(str, range(800)))
    blocks = ", ".join(f"(SELECT count(*) FROM q WHERE i8 > {n})" for n in range(20))
    text = f"WITH q AS (SELECT i8 FROM people WHERE i4 NOT IN ({items})) SELECT {blocks}"
    for _ in range(2):
        asyncio.run(engine.explain(_read(engine, text), (), {}, run_of("alice")))
    assert counted.times == 2
