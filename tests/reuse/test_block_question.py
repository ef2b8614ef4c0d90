"""Which statements are one question, and which only look like it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import ColumnRef, Constant, TextCall
from proxy.reuse.block_question import BlockQuestion, column_name, question_of
from tests.pipeline_world import walk


def _questions(statement: str) -> list[BlockQuestion]:
    pipeline = walk(statement)
    assert pipeline is not None
    return [question_of(block) for block in pipeline.plan.blocks]


def _one(statement: str) -> tuple[str, str]:
    (found,) = _questions(statement)
    return found.question, found.terms


_SPELLINGS = (
    (
        "SELECT count(*) FROM people WHERE i4 > 5 AND b",
        "select  COUNT(*)  from people p where p.b and p.i4 > 5",
        "SELECT count(*) AS n FROM people AS x WHERE NOT (x.i4 <= 5 OR NOT x.b)",
        "SELECT count(*) FROM people WHERE i4 >= 6 AND b AND b",
        "SELECT count(*) * 2 FROM people WHERE 5 < i4 AND (b AND i4 >= 2)",
        "SELECT count(*) FROM people WHERE b AND i4 > 5 ORDER BY 1 LIMIT 3",
        "SELECT dp.error(count(*)) FROM people WHERE i4 > 5.0 AND b HAVING count(*) > 3",
    ),
    (
        "SELECT b, count(*) FROM people GROUP BY b",
        "SELECT count(*), b FROM people GROUP BY 2 ORDER BY 1 DESC",
    ),
    (
        "SELECT b, t, count(*) FROM people WHERE i4 IN (1, 2, 3) GROUP BY b, t",
        "SELECT t, b, count(*) FROM people WHERE i4 = 3 OR i4 IN (2, 1) GROUP BY t, b",
        "SELECT t, b, count(*) FROM people WHERE i4 = 1 OR 2 = i4 OR i4 IN (3, 3) GROUP BY 2, 1",
        "SELECT t, b, count(*) FROM people WHERE NOT (i4 <> 3 AND i4 NOT IN (1, 2)) GROUP BY 1, 2",
    ),
    (
        "SELECT sum(i4), avg(n2) FILTER (WHERE i4 <> 3 AND i4 <> 4) FROM visits",
        "SELECT avg(v.n2) FILTER (WHERE v.i4 NOT IN (4, 3)), sum(v.i4) FROM visits v",
    ),
    (
        "SELECT count(*) FROM visits v JOIN members m ON m.uid = v.uid WHERE m.b",
        "SELECT count(*) FROM visits a JOIN members b ON a.uid = b.uid WHERE b.b",
    ),
)


@pytest.mark.parametrize("spellings", _SPELLINGS, ids=lambda spellings: spellings[0])
def test_spellings_are_one_question(spellings: tuple[str, ...]) -> None:
    first = _one(spellings[0])
    for other in spellings[1:]:
        assert _one(other) == first, other


_OTHERS = (
    ("SELECT count(*) FROM people WHERE b", "SELECT count(*) FROM people WHERE NOT b"),
    ("SELECT count(*) FROM people WHERE b", "SELECT count(*) FROM people WHERE b IS NOT FALSE"),
    ("SELECT count(*) FROM people", "SELECT count(*) FROM trips"),
    ("SELECT count(*) FROM people", "SELECT count(i4) FROM people"),
    ("SELECT sum(i4) FROM people", "SELECT sum(i2) FROM people"),
    ("SELECT min(i4) FROM people", "SELECT max(i4) FROM people"),
    (
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FROM people",
        "SELECT percentile_cont(0.6) WITHIN GROUP (ORDER BY i4) FROM people",
    ),
    (
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FROM people",
        "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) FROM people",
    ),
    # The excluded middle: not of rows where b is NULL.
    ("SELECT count(*) FROM people", "SELECT count(*) FROM people WHERE b OR NOT b"),
    (
        "SELECT count(*) FROM people WHERE b",
        "SELECT count(*) FROM people WHERE (b AND i4 > 3) OR (b AND i4 <= 3)",
    ),
    ("SELECT count(*) FROM people WHERE n > 5", "SELECT count(*) FROM people WHERE n >= 6"),
    ("SELECT count(*) FROM people WHERE s = 'a'", "SELECT count(*) FROM people WHERE s = 'a '"),
    ("SELECT count(*) FROM people WHERE s = 'a'", "SELECT count(*) FROM people WHERE s = 'A'"),
    (
        "SELECT count(*) FROM people WHERE i4 NOT IN (1, 2)",
        "SELECT count(*) FROM people WHERE i4 NOT IN (1, 2, NULL)",
    ),
    (
        "SELECT count(*) FROM visits WHERE i4 > 3",
        "SELECT count(*) FILTER (WHERE i4 > 3) FROM visits",
    ),
    (
        "SELECT count(*) FROM visits v JOIN members m ON m.uid = v.uid WHERE m.b",
        "SELECT count(*) FROM visits v JOIN members m ON m.uid = v.uid WHERE v.b",
    ),
    (
        "SELECT b, count(*) FROM people GROUP BY b",
        "SELECT b, count(*) FROM people WHERE b GROUP BY b",
    ),
)


@pytest.mark.parametrize("one, other", _OTHERS)
def test_others_are_not(one: str, other: str) -> None:
    assert _one(one)[0] != _one(other)[0]


def test_a_smaller_share_is_the_same_question_at_other_terms() -> None:
    """Of two aggregates each has half of epsilon."""
    alone, both = _one("SELECT count(*) FROM people"), _one("SELECT count(*), sum(i4) FROM people")
    assert alone[0] != both[0]
    (more,) = _questions("SELECT sum(i4), count(*) FROM people")
    assert (more.question, more.terms) == both
    assert more.releases in ((0, 1), (1, 0))


@pytest.mark.parametrize(("characters", "is_known"), [(None, True), (3, True), (1, False)])
def test_a_listed_text_that_is_cut_is_known_as_its_column(
    characters: int | None, is_known: bool
) -> None:
    """Where it is longer than each that is listed: other texts have shorter beginnings, too."""
    joined = "visits v JOIN members m ON v.uid = m.uid"
    pipeline = walk(f"SELECT m.t, count(*) FROM {joined} GROUP BY 1")
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    (key,) = block.keys
    cut = key.expression
    assert isinstance(cut, TextCall)
    column = cut.operand
    assert isinstance(column, ColumnRef)
    if characters is not None:
        cut = replace(cut, arguments=(Constant(Fraction(characters), SqlType.INT4),))
    found = question_of(replace(block, keys=(replace(key, expression=cut),)))
    assert found is not None
    assert (column_name(block, column) in found.key_names) == is_known
