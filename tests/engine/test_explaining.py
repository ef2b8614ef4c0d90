"""The privacy plan as text and JSON: shares add up, and an analyst reads it in a dozen lines."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.catalog.catalog_model import TableName
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.answer_conditions import conditions
from proxy.engine.explain_text import (
    MOST_LINES,
    Explained,
    answer_expectations,
    explain_json,
    explain_lines,
    summary_lines,
    verbose_lines,
)
from proxy.estimates import deviation_mean_estimate
from proxy.kernel.plan import DeviationMean, PrivatePlan
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Policy, ProtectedTable
from proxy.query.ir.query import AggregateBlock
from tests.pipeline_world import POLICIES, walk

LEFT = Loss(Fraction(100), Fraction(1, 10))


def _plan(sql: str, policy: str | Policy = "world") -> PrivatePlan:
    pipeline = walk(sql, POLICIES[policy] if isinstance(policy, str) else policy)
    assert pipeline is not None
    return pipeline.plan


def explained(
    plan: PrivatePlan,
    *,
    remaining: Loss | None = LEFT,
    times: Sequence[str] = (),
    asked: Sequence[AggregateBlock] = (),
) -> Explained:
    """Nothing is free, and no statement of the backend is shown."""
    return Explained(
        plan=plan,
        sql=["..."] * len(plan.blocks),
        remaining=remaining,
        free={},
        lifts=(),
        times=times,
        mechanism=None,
        asked=asked,
        about=None,
    )


def test_verbose_and_json_say_what_epsilon_means_as_odds() -> None:
    plan = _plan("SELECT count(*) FROM people", replace(POLICIES["pure"]))
    assert plan.loss == Loss(Fraction(1), Fraction(0))
    odds = "someone who guesses 1 in 100 that a row is in the data can at most come to 1 in 37"
    assert f"As odds: {odds}" in _text(plan)
    told = explain_json(explained(plan))["odds"]
    assert isinstance(told, dict)
    assert told["text"] == odds and told["at_most"] == pytest.approx(math.e / (99 + math.e))
    both = _plan("SELECT count(*), (SELECT count(*) FROM orders) FROM people")
    assert "that a row or a person is in the data can at most come to 96.8 %" in _text(both)


@pytest.mark.parametrize(
    ("sql", "price"),
    [
        ("SELECT t, sum(i4) FROM orders GROUP BY t", "; the number takes 1.6 of epsilon"),
        ("SELECT t, count(DISTINCT uid) FROM orders GROUP BY t", ""),
    ],
)
def test_explain_says_what_the_smallest_group_takes(sql: str, price: str) -> None:
    (block,) = _plan(sql, "smallest").blocks
    (told,) = [line for line in conditions(block) if line.startswith("min_units_per_group 11")]
    assert told.endswith(f"at most 1 in 1,000 of smaller ones is shown{price}")
    assert not [line for line in conditions(block, are_all=False) if "min_units" in line]


def _text(plan: PrivatePlan) -> str:
    """Without the breaks of long lines."""
    lines = "\n".join(explain_lines(plan, ["..."] * len(plan.blocks)))
    return re.sub(r"\n {8,}", " ", lines)


@pytest.mark.parametrize(
    ("policy", "sql"),
    [
        ("world", "SELECT count(*), sum(i4), avg(i4), variance(i4), stddev(i4) FROM people"),
        ("best", "SELECT sum(i4), count(i4), avg(i4), max(i4), count(DISTINCT i4) FROM visits"),
        ("best", "SELECT count(*), count(id), avg(id) FROM orders"),
        ("ratio", "SELECT avg(i4), avg(n2) FROM trips"),
        ("clipped", "SELECT avg(i4), min(i4) FROM people"),
        ("best", "SELECT corr(i4, i2), regr_slope(i2, i4), avg(i4), count(*) FROM people"),
        ("world", "SELECT covar_pop(i4, i2) FROM people"),
        ("weighted", "SELECT count(*), sum(i4), avg(n2), (SELECT max(i4) FROM people) FROM people"),
    ],
)
def test_shares_add_up_to_the_statement(policy: str, sql: str) -> None:
    plan = _plan(sql, policy)
    entries = accuracies(plan)
    assert len(entries) == sum(len(block.answers) for block in plan.blocks)
    assert sum((entry.epsilon for entry in entries), Fraction(0)) == plan.loss.epsilon == 8
    assert sum((entry.delta for entry in entries), Fraction(0)) == plan.loss.delta
    assert sum((entry.share for entry in entries), Fraction(0)) == 1
    shown = explain_json(explained(plan))["aggregates"]
    assert isinstance(shown, list)
    assert math.isclose(sum(entry["share"] for entry in shown), 1)


def test_weights_are_displayed() -> None:
    text = _text(_plan("SELECT count(*), sum(i4), avg(n2), max(i4) FROM people", "weighted"))
    for name, share in (
        ("count(*)", "12.5 %"),
        ("sum(i4)", "25 %"),
        ("avg(n2)", "50 %"),
        ("max(i4)", "12.5 %"),
    ):
        (line,) = (line for line in text.splitlines() if line.strip().startswith(f"{name}:"))
        assert f"({share})" in line, line


def test_shared_sums_are_named() -> None:
    text = _text(_plan("SELECT sum(i4), count(i4), avg(i4) FROM people", "best"))
    assert "avg(i4): made of count, noisy sum" in text
    assert "shared with sum" in text
    same = _text(_plan("SELECT count(*), count(id) FROM orders"))
    assert "the same as count(*): no such value is NULL" in same


def test_a_medians_partitions_and_least_noise_are_displayed() -> None:
    text = _text(_plan("SELECT avg(i4) FROM people"))
    assert "partitions; NULL for fewer than about " in text
    assert ", 95 % error at least +-" in text
    assert "units, plus their sampling error; the scale of the noise is private" in text


def test_an_error_over_rows_and_one_in_ranks_are_displayed() -> None:
    text = _text(_plan("SELECT avg(i4), max(i4) FROM people", "best"))
    assert re.search(r"avg\(i4\): noisy sum about .* 95 % error \+-[\d,.]+ / n \(", text)
    assert re.search(r"max\(i4\): exponential .* 95 % error \+-[\d,]+ ranks \(", text)
    shared = _text(_plan("SELECT avg(i4), count(i4), variance(i4) FROM people", "best"))
    assert len(re.findall(r"95 % error \+-[\d,.]+ / n \(", shared)) == 2


def test_no_other_noise_is_advised() -> None:
    """What would make this statement more exact may make others worse."""
    name = TableName("w", "orders")
    table = POLICIES["world"].tables[name]
    assert isinstance(table, ProtectedTable)
    many = replace(
        table, max_rows_per_unit=80, max_groups_per_unit=40, max_rows_per_group_per_unit=2
    )
    privacy = replace(POLICIES["world"].privacy, epsilon=Fraction(1), delta=Fraction(1, 10**6))
    policy = replace(
        POLICIES["world"], tables={**POLICIES["world"].tables, name: many}, privacy=privacy
    )
    plan = _plan("SELECT d, count(*), sum(i4) FROM orders GROUP BY d", policy)
    summary = "\n".join(summary_lines(explained(plan)))
    assert "gaussian" not in (_text(plan) + summary).lower()


def test_private_keys_say_how_many_units_they_need() -> None:
    text = _text(_plan("SELECT s, count(*) FROM people GROUP BY s"))
    assert "private, for 4 of epsilon" in text
    # Two: 0.0005 (1 + e^4); three: 1 - e^-4 (1 - 0.0005 (2 + e^4)).
    assert "half of those with 3, 95 % of those with 3" in text


def test_the_summary_says_which_groups_there_are() -> None:
    def protected(sql: str) -> str:
        (found,) = (one for one in summary_lines(explained(_plan(sql))) if "; protected: " in one)
        return found.strip()

    assert protected("SELECT count(*) FROM people") == "On w.people; protected: one row"
    listed = protected("SELECT t, count(*) FROM people GROUP BY t")
    assert re.search(r"protected: one row; \d+ groups, empty ones too$", listed)
    assert "protected: one row; groups that appear, for epsilon 4: half" in protected(
        "SELECT s, count(*) FROM people GROUP BY s"
    )


_SHAPES = [
    "SELECT count(*), sum(i4), avg(i4), min(i4), max(i4), variance(i4), corr(i4, i2) FROM {t}",
    "SELECT t, count(*), sum(n2), avg(n2), max(d), stddev(f8) FROM {t} GROUP BY t",
    "SELECT s, count(*), count(DISTINCT i4) FROM {t} GROUP BY s",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY i4), min(ts) FROM {t}",
    "SELECT t, count(*), avg(i4) FROM {t} GROUP BY ROLLUP (t)",
    "SELECT (SELECT avg(i4) FROM {t}), (SELECT count(*) FROM people), (SELECT max(i4) FROM {t})",
]


@pytest.mark.every(2)
@pytest.mark.parametrize("policy", ["world", "best", "ratio", "clipped", "weighted", "polyplace"])
def test_the_summary_is_a_dozen_lines_in_units_of_the_column(policy: str) -> None:
    for table in ("people", "orders", "visits"):
        for shape in _SHAPES:
            plan = _plan(shape.format(t=table), policy)
            lines = summary_lines(explained(plan, times=["rounded down to a day"]))
            assert len(lines) <= MOST_LINES == 12, shape
            assert max(map(len, lines)) <= 110
            text = "\n".join(lines)
            assert not re.search(r"/ n\b|\bR\b|sensitivity|Laplace|mechanism:", text), text
            assert "SELECT" not in text and "%(p" not in text
            assert all(left not in text for left in ("{", "Fraction", "None"))


def test_bounds_that_are_chosen_are_told_as_round_examples() -> None:
    """Neither as R, nor as the largest one that the plan has before."""
    name = TableName("w", "visits")
    table = POLICIES["best"].tables[name]
    assert isinstance(table, ProtectedTable)
    chosen = replace(
        table,
        max_rows_per_unit=1_000_000,
        chooses_rows=True,
        max_groups_per_unit=None,
        max_rows_per_group_per_unit=None,
    )
    policy = replace(POLICIES["best"], tables={**POLICIES["best"].tables, name: chosen})
    totals = "(SELECT uid, sum(i4) AS t FROM visits GROUP BY uid) q"
    found = "\n".join(
        line
        for sql in (
            "SELECT count(*), count(DISTINCT i4), variance(i4) FROM visits",
            f"SELECT sum(t), avg(t), stddev(t) FROM {totals}",
        )
        for line in summary_lines(explained(_plan(sql, policy)))
    )
    assert "if a person has up to 10 rows" in found
    assert "for values up to 1,000" in found
    assert "1,000,000" not in found and "e+" not in found
    assert not re.search(r"\bR\b", found)


@pytest.mark.parametrize("policy", ["world", "best", "ratio", "clipped"])
def test_numbers_of_rows_are_round(policy: str) -> None:
    """Or of the policy: bounds on units, numbers of units that an answer takes."""
    for table in ("people", "orders", "visits"):
        for shape in _SHAPES:
            for line in summary_lines(
                explained(_plan(shape.format(t=table), policy), remaining=None)
            ):
                numbers = re.findall(r"for ([\d,]+)(?: rows| users| people| persons|,|;|$)", line)
                assert set(numbers) <= {"1,000", "10,000", "100,000", "10", "100"} | {
                    number for number in numbers if "adds up to" in line
                }, line


def test_json_has_the_facts_of_the_summary() -> None:
    for shape in _SHAPES:
        plan = _plan(shape.format(t="orders"), "best")
        lines = "\n".join(summary_lines(explained(plan)))
        told = explain_json(explained(plan))
        entries = told["aggregates"]
        assert isinstance(entries, list)
        for entry in entries:
            examples = entry["expected"]["examples"]
            pattern = re.escape(f"{entry['name']}: ") + r"(?:at least )?\+-([\d.,]+)"
            stated = [float(one.strip(",").replace(",", "")) for one in re.findall(pattern, lines)]
            if not stated:
                continue
            (first, *_) = (one["error_95"] for one in examples if one["error_95"] is not None)
            assert any(one == pytest.approx(first, rel=0.01) for one in stated)


def test_an_average_says_how_many_units_it_takes() -> None:
    """Below that number it is NULL (release/null_answers.py)."""
    plan = _plan("SELECT avg(i4) FROM visits", "best")
    (release,) = plan.blocks[0].releases
    assert isinstance(release, DeviationMean)
    (entry,) = accuracies(plan)
    assert entry.described.units_needed == deviation_mean_estimate.units_needed(
        release.loss.epsilon
    )
    words = " ".join("\n".join(summary_lines(explained(plan))).split())
    assert f"NULL below about {entry.described.units_needed} " in words


def test_a_larger_group_is_never_less_exact() -> None:
    for shape in _SHAPES:
        for table in ("people", "orders", "visits"):
            plan = _plan(shape.format(t=table), "best")
            for _, name, expected in answer_expectations(plan):
                errors = [one.error for one in expected.examples if one.number is not None]
                known = [error for error in errors if error is not None]
                assert known == sorted(known, reverse=True), name
                assert None not in errors[len(errors) - len(known) :], name


_WITHOUT_AGGREGATES = [
    "SELECT DISTINCT t FROM {t}",
    "SELECT DISTINCT t, 1 AS one FROM {t}",
    "SELECT DISTINCT 1 FROM {t}",
    "SELECT t FROM {t} GROUP BY t",
    "SELECT t FROM {t} GROUP BY 1 ORDER BY 1 LIMIT 2",
    "SELECT 1 FROM {t} GROUP BY t",
    "SELECT 'a' FROM {t} GROUP BY ()",
    "SELECT t FROM {t} GROUP BY t HAVING t = 'x'",
    "SELECT t FROM {t} GROUP BY t HAVING 1 = 1",
    "SELECT t, i2 FROM {t} GROUP BY GROUPING SETS ((t), (i2), ())",
    "SELECT t FROM {t} GROUP BY ROLLUP (t)",
    "SELECT DISTINCT t FROM {t} UNION ALL SELECT DISTINCT t FROM people",
    "SELECT count(*) FROM (SELECT DISTINCT t FROM {t}) q",
    "WITH g AS (SELECT DISTINCT t FROM {t}) SELECT t, 1 FROM g",
    "SELECT DISTINCT m.t FROM orders o JOIN members m ON o.uid = m.uid",
]
_ONE_PART_WITHOUT = [
    "SELECT t FROM {t} GROUP BY t HAVING count(*) > 3",
    "SELECT 1 FROM {t} HAVING count(*) > 5",
    "SELECT t, (SELECT count(*) FROM {t}) FROM people GROUP BY t",
    "SELECT t, count(*) FROM {t} GROUP BY t UNION ALL SELECT DISTINCT t, 1 FROM people",
    "SELECT count(*) FROM {t} UNION ALL SELECT 3",
]


@pytest.mark.parametrize("table", ["people", "orders"])
@pytest.mark.parametrize("sql", [*_WITHOUT_AGGREGATES, *_ONE_PART_WITHOUT])
def test_statements_without_aggregates_are_explained(sql: str, table: str) -> None:
    plan = _plan(sql.format(t=table), "best")
    lines = summary_lines(explained(plan))
    assert len(lines) <= MOST_LINES
    assert lines[-1].startswith("Nothing was read or charged.")
    is_free = sql in _WITHOUT_AGGREGATES
    assert lines[0].startswith("Answered from the policy, for epsilon 0") is is_free
    assert ("+-" in "".join(lines)) is not is_free
    assert verbose_lines(explained(plan))[0] == lines[0]
    told = explain_json(explained(plan))
    assert told["privacy"] == {"epsilon": 0.0 if is_free else 8.0, "delta": 0.0}


def test_private_keys_alone_have_a_price_and_no_error() -> None:
    (first, *_) = summary_lines(explained(_plan("SELECT DISTINCT s FROM people", "best")))
    assert first == "Differentially private answer for epsilon 8, delta 0.001"


def test_each_level_of_rollup_has_its_errors() -> None:
    lines = summary_lines(
        explained(_plan("SELECT t, sum(i4), count(*) FROM people GROUP BY ROLLUP (t)"))
    )
    sections = [n for n, line in enumerate(lines) if line.startswith("  On ")]
    assert len(sections) == 2
    for begin in sections:
        named = [line.split(":")[0].strip() for line in lines[begin + 1 : begin + 3]]
        assert named == ["sum(i4)", "count(*)"]


def test_verbose_has_all_lines_of_the_summary() -> None:
    """However many there are, then the details."""
    for policy in ("best", "ratio", "weighted"):
        for shape in [*_SHAPES, *_WITHOUT_AGGREGATES]:
            plan = _plan(shape.format(t="orders"), policy)
            *lines, last = summary_lines(explained(plan, times=["rounded down to a day"]))
            sql = ["..."] * len(plan.blocks)
            verbose = verbose_lines(explained(plan, times=["rounded down to a day"]))
            hidden = 0
            if lines[-1].endswith("EXPLAIN (VERBOSE)"):
                hidden = int(lines.pop().split()[1])
            assert verbose[: len(lines)] == lines
            details = verbose.index(next(explain_lines(plan, sql)))
            assert details - len(lines) >= hidden
            assert "  Times: rounded down to a day" in verbose[:details]
            assert sum(line.strip() == "Backend SQL: ..." for line in verbose) == len(sql)
            assert last.startswith(verbose[-1])


def test_quantiles_are_told_with_their_fractions() -> None:
    parts = ("0.25", "0.5", "0.9", "0.99")
    found = ", ".join(f"percentile_disc({p}) WITHIN GROUP (ORDER BY i4)" for p in parts)
    plan = _plan(f"SELECT {found}, percentile_cont(0.5) WITHIN GROUP (ORDER BY i4 * 2) FROM people")
    for lines in (summary_lines(explained(plan)), list(explain_lines(plan, ["..."]))):
        text = "\n".join(lines)
        for part in parts:
            assert text.count(f"percentile_disc({part}) of i4: ") == 1
        assert text.count("percentile_cont(0.5): ") == 1
