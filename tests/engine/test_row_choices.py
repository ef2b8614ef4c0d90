"""Clauses that leave out groups by noisy numbers: it is said of each, and how many groups clearly pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest

from proxy.engine.answer_accuracy import accuracies
from proxy.engine.answer_notices import answer_notices
from proxy.engine.column_errors import ColumnError, column_errors, large_errors, reported
from proxy.kernel.plan import BlockPlan, LaplaceNoise, NoisyStatistic
from proxy.query.ir.query import AggregateBlock, RowChoice
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.release.noisy_relation import NoInterval, NoisyTable, NullReason
from proxy.release.presenting import presented
from tests.pipeline_world import POLICIES, read, walk

_BY_T = "SELECT t, count(*) AS n FROM people GROUP BY t"
_BY_TB = "SELECT t, b, count(*) AS n FROM people GROUP BY t, b"
_RANKED = "SELECT t, b, row_number() OVER (PARTITION BY t ORDER BY {n} DESC) AS rn FROM {of}"


def _block(sql: str) -> AggregateBlock:
    found = read(sql)
    assert found is not None
    return found[1].query.blocks[0]


def _choices(sql: str) -> tuple[RowChoice, ...]:
    return _block(sql).row_choices


@pytest.mark.parametrize(
    ("sql", "comparators"),
    [
        (f"{_BY_T} HAVING count(*) > 1000", ">"),
        (f"{_BY_T} HAVING 1000 < count(*)", ">"),
        (f"{_BY_T} HAVING count(*) >= 10 AND (sum(i4) / 2 < 50)", ">= <"),
        (f"{_BY_T} HAVING count(*) BETWEEN 10 AND 1000", ">= <="),
        (f"{_BY_T} HAVING round(avg(i4)::numeric, 1) <> 5", "<>"),
        (f"SELECT * FROM ({_BY_T}) q WHERE n > 1000", ">"),
        (f"SELECT * FROM ({_BY_T}) q WHERE q.n * 2 <= 1000", "<="),
        (f"WITH q AS ({_BY_T}) SELECT count(*) FROM q WHERE n = 0", "="),
    ],
)
def test_comparisons_with_numbers_are_read(sql: str, comparators: str) -> None:
    (choice,) = _choices(sql)
    assert choice.is_noisy and choice.comparisons is not None
    assert " ".join(one.comparator for one in choice.comparisons) == comparators


@pytest.mark.parametrize(
    ("sql", "clause"),
    [
        (f"{_BY_T} HAVING count(*) > 1000 OR t = 'x'", "HAVING"),
        (f"{_BY_T} HAVING NOT count(*) > 1000", "HAVING"),
        (f"{_BY_T} HAVING count(*) > 5 AND t <> 'x'", "HAVING"),
        (f"{_BY_T} HAVING coalesce(sum(i4), 0) < 5", "HAVING"),
        (f"{_BY_T} HAVING count(*) > avg(i4)", "HAVING"),
        (f"SELECT * FROM ({_BY_T}) q WHERE n > 5 AND t <> 'x'", "WHERE"),
        (f"SELECT t, max(n) FROM ({_BY_T}) q GROUP BY t HAVING max(n) > 5", "HAVING"),
        (f"WITH q AS ({_BY_T}) SELECT * FROM q WHERE n = (SELECT max(n) FROM q)", "WHERE"),
        (f"WITH q(a, m) AS ({_BY_T}) SELECT * FROM q WHERE m > 4", "WHERE"),
        (f"SELECT * FROM ({_RANKED.format(n='n', of=f'({_BY_TB}) q')}) r WHERE rn = 1", "WHERE"),
        (
            f"SELECT * FROM ({_RANKED.format(n='count(*)', of='people GROUP BY t, b')}) r WHERE rn = 1",
            "WHERE",
        ),
        (f"SELECT DISTINCT ON (t) t, n FROM ({_BY_TB}) q ORDER BY t, n DESC", "DISTINCT ON"),
        (f"SELECT DISTINCT ON (t) t, n FROM ({_BY_TB}) q ORDER BY t, 2 DESC", "DISTINCT ON"),
        (
            f"SELECT * FROM (SELECT * FROM ({_BY_T}) q ORDER BY n LIMIT 3) r WHERE t <> 'x'",
            "ORDER BY with LIMIT",
        ),
    ],
)
def test_of_other_forms_it_is_known_that_noise_has_a_part(sql: str, clause: str) -> None:
    noisy = [one for one in _choices(sql) if one.is_noisy]
    assert [(one.clause, one.comparisons) for one in noisy] == [(clause, None)]
    (text,) = _told(sql, [900, 500, 200, 100])
    assert text.startswith(f"{clause}: noise has a part in which rows are shown")


@pytest.mark.parametrize(
    "sql",
    [
        _BY_T,
        f"{_BY_T} HAVING t <> 'x'",
        f"{_BY_T} ORDER BY t LIMIT 2",
        f"SELECT * FROM ({_BY_T}) q WHERE t <> 'x'",
        f"SELECT DISTINCT ON (t) t, n FROM ({_BY_TB}) q ORDER BY t",
        f"SELECT * FROM ({_RANKED.format(n='b', of='people GROUP BY t, b')}) r WHERE rn = 1",
        "SELECT count(*) FROM people WHERE i4 > 3",
    ],
)
def test_what_keys_choose_has_no_line(sql: str) -> None:
    assert not any(one.is_noisy for one in _choices(sql))
    assert _told(sql, [900, 500, 200, 100]) == []


def _released(
    sql: str, counts: Sequence[int], least: frozenset[int] = frozenset()
) -> tuple[BlockPlan, NoisyTable]:
    """The noise has a half width of about 30."""
    pipeline = walk(sql, POLICIES["best"])
    assert pipeline is not None
    of, block = reported(_block(sql)), pipeline.plan.blocks[0]
    releases = tuple(
        replace(one, noise=LaplaceNoise(scale=Fraction(10)))
        if isinstance(one, NoisyStatistic)
        else one
        for one in block.releases
    )
    block = replace(block, releases=releases, outputs=of.outputs, row_choices=of.row_choices)
    block = replace(block, least_answers=least)
    keys = [((name,) * len(block.keys)) for name in ("x", "y", "z", None)]
    groups = (
        DrawnGroup(key, (DrawnNumber(count),) * len(releases))
        for key, count in zip(keys, counts, strict=False)
    )
    return block, presented(block, DrawnBlock(tuple(groups)))


def _told(sql: str, counts: Sequence[int], least: frozenset[int] = frozenset()) -> list[str]:
    lines = answer_notices(*_released(sql, counts, least))
    return [line for line in lines if "oise has a part" in line or "NULL" in line]


def test_how_many_groups_clearly_pass() -> None:
    having = f"{_BY_T} HAVING count(*) > 300"
    assert _told(having, [900, 500, 200, 100]) == []
    (text,) = _told(having, [900, 310, 200, 100])
    assert text.startswith("HAVING: 1 of the 2 groups that pass clearly meet the condition. ")
    assert "not pass" not in text
    assert text.endswith("in each condition only clear ones are shown: 1 here.")
    (text,) = _told(having, [900, 500, 290, 100])
    assert text.startswith(
        "HAVING: 2 of the 2 groups that pass clearly meet the condition; 1 that "
    )
    assert "dp.low" not in text
    assert "1 that does not pass may meet it" in text
    (text,) = _told(having, [290, 100, 100, 100])
    assert text.startswith("HAVING: no group passes; 1 that does not pass may meet it. ")
    (text,) = _told(f"SELECT * FROM ({_BY_T}) q WHERE n BETWEEN 200 AND 300", [250, 205, 190, 900])
    assert text.startswith("WHERE: 1 of the 2 groups that pass clearly meet ")
    (text,) = _told(f"{_BY_T} HAVING count(*) = 300", [300, 310, 100, 900])
    assert text.startswith("HAVING: 0 of the 1 group that passes clearly meets ")
    assert text.endswith("only clear ones are shown: none here, so raise dp.epsilon.")


_BIASED = (
    "Noise has a part in which rows are shown: the numbers that chose them are biased, and off by more than"
    " their error more often than 1 in 20."
)


@pytest.mark.parametrize(
    ("sql", "counts", "near"),
    [
        # The error is about 30: what is 31 above passes, what is 61 above would with twice the error.
        (f"{_BY_T} HAVING dp.low(count(*)) > 300", [900, 400, 100, 100], "none"),
        (
            f"{_BY_T} HAVING dp.low(count(*)) > 300",
            [900, 345, 320, 100],
            "1 of the 2 groups that pass",
        ),
        (f"{_BY_T} HAVING 300 < dp.low(count(*))", [345, 1, 1, 1], "1 of the 1 group that passes"),
        (
            f"{_BY_T} HAVING dp.high(count(*)) <= 300",
            [255, 20, 340, 900],
            "1 of the 2 groups that pass",
        ),
        (
            f"{_BY_T} HAVING dp.low(2 * count(*)) > 600",
            [900, 345, 320, 1],
            "1 of the 2 groups that pass",
        ),
        (
            f"{_BY_T} HAVING dp.low(count(*)) > 0 AND dp.low(sum(i4)) > 0",
            [900, 45, 1, 1],
            "1 of the 2 ",
        ),
        (f"{_BY_T} HAVING dp.error(count(*)) < 100", [900, 45, 1, 1], "none"),
        (f"{_BY_T} HAVING dp.low(count(*)) > 0", [25, 20, 1, 1], "none"),  # no group passes
        (
            "SELECT * FROM (SELECT t, count(*) AS n, dp.low(count(*)) AS l FROM people GROUP BY t) q"
            " WHERE l > 300",
            [900, 345, 320, 100],
            "1 of the 2 groups that pass",
        ),
        (
            f"SELECT * FROM ({_BY_T} HAVING dp.low(count(*)) > 300) q",
            [900, 345, 320, 100],
            "1 of the 2 groups that pass",
        ),
    ],
)
def test_low_ends_are_chosen_by_noise_as_well(sql: str, counts: Sequence[int], near: str) -> None:
    """Of groups just at the number 1 in 40 passes, and its number is too high by more than its error."""
    told = _told(sql, counts)
    if near == "none":
        assert told == []
        return
    (text,) = told
    assert near in text and "would not with twice the error. " in text and text.endswith(_BIASED)
    assert "dp.low" not in text, "it is no advice to write what is written"


def test_a_low_end_beside_another_condition() -> None:
    (text,) = _told(f"{_BY_T} HAVING dp.low(count(*)) > 300 AND t <> 'x'", [900, 345, 320, 100])
    assert text.startswith("HAVING: noise has a part in which rows are shown: ")
    (text,) = _told(f"{_BY_T} HAVING dp.low(count(*)) > 30 AND sum(i4) > 300", [900, 310, 1, 1])
    assert text.startswith("HAVING: 1 of the 2 groups that pass clearly meet the condition")


def test_a_least_number_is_clearly_above_but_never_below() -> None:
    (text,) = _told(f"{_BY_T} HAVING count(*) > 300", [900, 500, 200, 100], frozenset({1}))
    assert text.startswith(
        "HAVING: 2 of the 2 groups that pass clearly meet the condition; 2 that do"
    )
    (text,) = _told(f"{_BY_T} HAVING count(*) < 300", [900, 500, 200, 100], frozenset({1}))
    assert text.startswith("HAVING: 0 of the 2 groups that pass clearly meet the condition. ")


@pytest.mark.parametrize(
    ("around", "told"),
    [
        ("SELECT x.v, q.n FROM (VALUES ('x')) x (v) LEFT JOIN ({}) q ON q.t = x.v", True),
        ("SELECT max(n) FROM ({}) q", True),
        ("SELECT t, n FROM ({}) q", False),
        ("{}", False),
    ],
)
def test_groups_behind_a_query_around_are_shown_or_not(around: str, told: bool) -> None:
    counts = "SELECT t, sum(i4) AS n FROM people GROUP BY t"
    found = _column(around.format(counts), [0, 0, 0, 90_000])
    assert found.is_behind == told
    (line,) = large_errors([found])
    assert ("n in 3 of 4 groups, shown or not. " in line) == told


def _column(sql: str, counts: Sequence[int]) -> ColumnError:
    block, noisy = _released(sql, counts)
    pipeline = walk(sql, POLICIES["best"])
    assert pipeline is not None
    found = column_errors([(_block(sql), block, noisy)], partial(accuracies, pipeline.plan), ())
    return found[-1]


def test_errors_are_of_the_groups_that_are_shown() -> None:
    counts = [900, 500, 4, 2]
    for sql, groups, larger in (
        (_BY_T, 4, 2),
        (f"{_BY_T} HAVING count(*) > 300", 2, 0),
        (f"{_BY_T} ORDER BY n DESC LIMIT 3", 3, 1),
        (f"{_BY_T} ORDER BY n LIMIT 1", 1, 1),
        (f"SELECT * FROM ({_BY_T}) q WHERE n < 300", 2, 2),
    ):
        found = _column(sql, counts)
        assert (found.groups, found.larger, found.is_behind) == (groups, larger, False), sql
    for sql in (f"{_BY_T} LIMIT 2", f"{_BY_T} HAVING t <> 'x'", f"{_BY_T} HAVING count(*) % 2 = 0"):
        found = _column(sql, counts)
        assert (found.groups, found.larger, found.is_behind) == (4, 2, True), sql


def test_null_is_counted_in_what_is_shown() -> None:
    average = "SELECT t, avg(i4) AS a FROM people GROUP BY t"
    block, noisy = _released(f"{average} ORDER BY a DESC LIMIT 2", [900, 900, 900, 900])
    first, *others = noisy.rows
    (value,) = first.values
    nothing = replace(value, is_missing=True, null_reason=NullReason.TOO_INEXACT, half_width=None)
    noisy = replace(
        noisy,
        rows=(replace(first, values=(nothing,), errors=(None, NoInterval.OF_AN_ANSWER)), *others),
    )
    lines = list(answer_notices(block, noisy))
    assert any(line.startswith("a is NULL in 1 of 2 groups: ") for line in lines)
    assert any("NULL comes first, in 1 of the 2 rows. Write NULLS LAST" in line for line in lines)
    last = replace(block.top, has_nulls_first=False) if block.top else None
    lines = list(answer_notices(replace(block, top=last), noisy))
    assert not any("NULL" in line for line in lines)
    unknown = replace(block, top=None, row_choices=(RowChoice(clause="LIMIT", is_noisy=False),))
    lines = list(answer_notices(unknown, noisy))
    assert any("a is NULL in 1 of 4 groups, shown or not: " in line for line in lines)
