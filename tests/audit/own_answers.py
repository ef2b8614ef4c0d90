"""PostgreSQL's own answers to generated questions, on rows of which nothing is cut or clamped.

Counts are PostgreSQL's to the last row; sums up to a grid step per row, by which values are rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import psycopg

from proxy.planner.neighbour_kinds import UnitNeighbours
from proxy.planner.plan import DistinctCount, NoisyStatistic
from proxy.planner.statistics import Statistic
from tests.audit.exact_results import Auditor
from tests.audit.questions import Question
from tests.audit.selected_groups import among_shown
from tests.audit.source_windows import TIED
from tests.audit.synthetic import MILD
from tests.audit.without_noise import Keys
from tests.pipeline_world import Pipeline

_ROWS = 40  # more than the tables have, pairs of them included, in which a sum is rounded


def is_comparable(question: Question, pipeline: Pipeline) -> bool:
    """Where groups of a unit may be cut, or an answer stands in a condition, PostgreSQL's own is another."""
    unit = pipeline.plan.blocks[-1].neighbours
    cut = isinstance(unit, UnitNeighbours) and (unit.groups, unit.rows_per_group) != (None, None)
    return not cut and len(pipeline.plan.blocks) == 1 and TIED not in question.features


def differences(question: Question, pipeline: Pipeline, auditor: Auditor) -> Iterator[str]:
    block = pipeline.plan.blocks[-1]
    theirs = _own(question, auditor)
    if theirs is None:
        return
    mine, nothing = auditor.exact(block, MILD), (None,) * len(question.measures)
    # Equal measures are one release, and an array of two is two; releases stand in the order in which they
    # first come.
    different = [(k, m) for k, m in enumerate(question.measures) if m not in question.measures[:k]]
    places = [k for k, measure in different for _ in range(1 + ("(ARRAY[" in measure))]
    for place, answer in enumerate(block.answers):
        n = answer.releases[0]
        release = block.releases[n]
        if answer.calculated is not None or not isinstance(release, NoisyStatistic | DistinctCount):
            continue
        for keys in mine.shown:
            number = Fraction(mine.numbers[n].get(keys, (0,))[0])
            own = theirs.get(keys, nothing)[places[place]] or Fraction(0)
            if isinstance(release, NoisyStatistic) and release.statistic is Statistic.STEPS:
                grid = release.grid
                if abs(number * grid - own) > grid * _ROWS:
                    yield f"sum {float(number * grid)} of {keys}, PostgreSQL says {float(own)}"
            elif number != own:
                yield f"{release.aggregate.kind.value} {number} of {keys}, PostgreSQL says {own}"


def _own(question: Question, auditor: Auditor) -> dict[Keys, tuple[Fraction | None, ...]] | None:
    """By groups. None where PostgreSQL itself has no answer: smallint out of range and the like."""
    keys = [f"({key})::text" for key in question.keys]
    measures = [f"({measure})::text" for measure in question.measures]
    try:
        with among_shown(auditor.connection, MILD):
            rows = auditor.connection.execute(
                question.select([*keys, *measures]).encode()
            ).fetchall()
    except psycopg.errors.DataError:
        return None
    width = len(keys)
    return {
        tuple(None if k is None else str(k) for k in row[:width]): tuple(map(_number, row[width:]))
        for row in rows
    }


def _number(text: object) -> Fraction | None:
    try:
        return None if text is None else Fraction(Decimal(str(text)))
    except (ValueError, ArithmeticError):
        return None
