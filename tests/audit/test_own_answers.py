"""PostgreSQL's own answers as a judge: equal keys are one, and what is wrong is still found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.audit import own_answers
from tests.audit.exact_results import Auditor
from tests.audit.questions import UNGROUPED, Question
from tests.pipeline_world import Pipeline, walk

_SOME = "CASE WHEN i2 IS NOT NULL THEN 'low' ELSE 'high' END"
_SAME = "CASE WHEN (i2 IS NOT NULL) = true THEN 'low' ELSE 'high' END"
_OTHER = "CASE WHEN (i4 IS NOT NULL) = true THEN 'low' ELSE 'high' END"


_MEDIAN = "percentile_disc(0.5) WITHIN GROUP (ORDER BY i4)"
_HIGH = _MEDIAN.replace("0.5", "0.9")


def _question(
    *keys: str, measures: tuple[str, ...] = ("count(*)",), grouping: str = UNGROUPED
) -> Question:
    tail = "(SELECT sum(i2) AS n3, uid FROM visits GROUP BY uid) q" if "n3" in keys[0] else "people"
    return Question((), keys, measures, tail, "world", frozenset(), grouping)


def _planned(question: Question) -> Pipeline:
    pipeline = walk(question.sql)
    assert pipeline is not None and own_answers.is_comparable(question, pipeline)
    return pipeline


def _differences(question: Question, pipeline: Pipeline, auditor: Auditor) -> list[str]:
    return list(own_answers.differences(question, pipeline, auditor))


@pytest.mark.parametrize(
    "question",
    [
        _question(_SOME, _SAME),
        _question(_SOME, "b", _SAME, measures=("sum(i4)", "count(*)", "sum(i4)")),
        _question(_SAME.replace("i2", "n3"), _SOME.replace("i2", "n3")),
        _question("b", "b", measures=("count(i2)", "sum(i4)", "count( i2 )", "count(*)")),
        _question("c", measures=(_MEDIAN, _HIGH.replace("disc", "cont"), _MEDIAN)),
        _question("t", "b", grouping="ROLLUP ({})"),
        _question("t", "b", grouping="GROUPING SETS ({}, ())"),
    ],
    ids=lambda question: f"{question.keys} {question.grouping}",
)
def test_equal_keys_are_one(question: Question, auditor: Auditor) -> None:
    assert _differences(question, _planned(question), auditor) == []


def test_different_keys_that_became_one_are_found(auditor: Auditor) -> None:
    """The plan of two equal keys, for a question of two different ones."""
    planned, asked = _planned(_question(_SOME, _SAME)), _question(_SOME, _OTHER)
    found = _differences(asked, planned, auditor)
    assert any(line.startswith("one key of ours are several") for line in found), found


def test_equal_keys_of_different_levels_are_found(auditor: Auditor) -> None:
    """PostgreSQL takes them for two: one is NULL where only the other is grouped by."""
    planned = _planned(_question(_SOME, _SOME, grouping="ROLLUP ({})"))
    asked = _question(_SOME, _SAME, grouping="ROLLUP ({})")
    moved = len(_SAME) - len(_SOME)
    edits = [
        replace(edit, start=edit.start + moved, end=edit.end + moved)
        if edit.start > len("SELECT , ") + len(_SOME)
        else edit
        for edit in planned.reading.rewritten.edits
    ]
    rewritten = replace(planned.reading.rewritten, edits=tuple(edits))
    planned = replace(planned, reading=replace(planned.reading, rewritten=rewritten))
    found = _differences(asked, planned, auditor)
    assert any(line.startswith("one key of ours are several") for line in found), found


@pytest.mark.parametrize(
    ("planned", "asked", "line"),
    [
        (_question("b"), _question("b", measures=("count(d)",)), "PostgreSQL says"),
        (_question("b", "t"), _question("t", "b"), "PostgreSQL"),
        (_question("b", measures=("sum(i4)",)), _question("b", measures=("sum(i8)",)), "sum "),
        (
            _question("b", measures=(_MEDIAN,)),
            _question("b", measures=(_HIGH,)),
            "percentile_disc ",
        ),
        (_question("t", grouping="CUBE ({})"), _question("t"), "PostgreSQL says None"),
        (_question("t"), _question("t", grouping="CUBE ({})"), "levels of PostgreSQL alone"),
    ],
    ids=lambda one: one if isinstance(one, str) else one.sql,
)
def test_a_wrong_answer_is_found(
    planned: Question, asked: Question, line: str, auditor: Auditor
) -> None:
    found = _differences(asked, _planned(planned), auditor)
    assert any(line in one for one in found), found
