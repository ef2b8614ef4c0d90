"""The golden pipeline: what each floor makes of a question, or the refusal with its position. `pytest
--bless`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from fractions import Fraction
from pathlib import Path

import pytest
from typing_extensions import assert_never

from proxy.accounting.amounts import Amount, charge, limit
from proxy.accounting.budget_lines import BudgetLine, LineKind
from proxy.accounting.refusal import over_budget
from proxy.base.decimals import decimal_text
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.binds import column_sql
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import (
    Answer,
    BlockPlan,
    ClippedMean,
    ContinualNoise,
    DeviationMean,
    DistinctCount,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    SampleAggregate,
    SmoothedMedian,
    UnitExtreme,
)
from proxy.kernel.statistics import Counted, Measured
from proxy.mechanisms.loss import Loss
from proxy.planner.series import noise_of_a_step
from proxy.policy.policy_model import MedianNoise
from proxy.query.ir.expressions import ColumnRef
from tests.cases import Case, bless_folder, check, in_folder
from tests.kernel.examples import l1
from tests.pipeline_world import POLICIES, Pipeline, walk

GOLDEN = Path(__file__).parents[1] / "golden"
PIPELINE, REFUSED = GOLDEN / "pipeline", GOLDEN / "refused"
# Raised by the shadow, by a cancel request or by a broken server; each has its own test on a real one.
ELSEWHERE = {Code.PROTECTED, Code.CANCELLED, Code.UNAVAILABLE, Code.ROLE, Code.TOO_DEAR}


def arguments_of(case: Case) -> tuple[tuple[SqlType, ...], tuple[str | None, ...]]:
    """`-- parameters: integer 5, text "x", integer NULL`"""
    types: list[SqlType] = []
    values: list[str | None] = []
    for part in filter(None, re.split(r", (?=[a-z])", case.headers.get("parameters", ""))):
        name, value = part.rsplit(" ", 1)
        types.append(next(kind for kind in SqlType if kind.sql == name))
        values.append(None if value == "NULL" else value)
    return tuple(types), tuple(values)


def pipeline_of(case: Case) -> Pipeline | None:
    types, arguments = arguments_of(case)
    settings = dict(
        part.split("=") for part in filter(None, case.headers.get("set", "").split(", "))
    )
    pipeline = walk(
        case.statement, POLICIES[case.headers.get("policy", "world")], types, arguments, settings
    )
    if pipeline is not None and "left" in case.headers:
        _charge(pipeline.plan.loss, case.headers["left"])
    return pipeline


def golden_pipeline(case: Case) -> Pipeline:
    """Of a case that is no relayed statement."""
    pipeline = pipeline_of(case)
    assert pipeline is not None, case.place
    return pipeline


def planned_cases() -> list[Case]:
    """Those that have a plan, and are run when they are asked: neither relayed nor explained."""
    return [
        case
        for case in in_folder(PIPELINE)
        if "plan" in case.sections and not case.statement.upper().startswith("EXPLAIN")
    ]


def _charge(cost: Loss, left: str) -> None:
    amount, rest = charge(cost), limit(Loss(Fraction(left), Fraction(1, 2)))
    if not amount.fits(rest):
        line = BudgetLine(
            kind=LineKind.ANALYST,
            name="alice",
            limit=limit(Loss(Fraction(1000), Fraction(1, 2))),
            spent=Amount(1000 - rest.epsilon, Fraction(1, 2) - rest.delta),
            left=rest,
            cost=amount,
            fits=False,
            renews_at=datetime(2026, 12, 1, tzinfo=timezone.utc),
            renews_in=1000,
        )
        raise over_budget((line,))


def made(case: Case) -> Mapping[str, str]:
    try:
        pipeline = pipeline_of(case)
    except Refusal as refusal:
        word = ""
        if refusal.position is not None:
            rest = case.statement[refusal.position - 1 :]
            word = f" at {refusal.position}: {rest.split()[0][:24]}" if rest else " at the end"
        return {"refused": f"-- {refusal.code.name}{word}\n-- {refusal.message}\n-- {refusal.hint}"}
    if pipeline is None:
        return {"relayed": "-- as it is"}
    return {
        "plan": "\n".join(_block(block) for block in pipeline.plan.blocks),
        "backend": "\n".join(_backend(query) for several in pipeline.queries for query in several),
        "loss": f"-- epsilon {pipeline.plan.loss.epsilon} delta {pipeline.plan.loss.delta}",
        "residual": pipeline.reading.text,
    }


def _block(block: BlockPlan) -> str:
    unit = block.neighbours
    if isinstance(unit, RowNeighbours):
        columns = ", ".join(map(column_sql, unit.hashed_by))
        shown = f"{unit.rows} row(s), partitions by {f'hash of {columns}' if columns else 'random'}"
        shown += f", {column_sql(unit.not_null)} not null" if unit.not_null else ""
        shown += f", at most {unit.partitions} partitions" if unit.partitions else ""
    else:
        shown = f"{column_sql(unit.column)}: rows {unit.rows}, groups {unit.groups}, "
        shown += f"per group {unit.rows_per_group}"
    keys = ", ".join(map(_key, block.keys)) or "none"
    tables = ", ".join(block.tables())
    lines = [f"-- {tables}, unit {shown}; keys {keys}; cells {block.sub_partitions}"]
    if block.selection is not None:
        loss, each = block.selection.loss, block.selection.each
        lines.append(
            f"--   selection: epsilon {loss.epsilon} delta {loss.delta}, "
            f"each epsilon {float(each.epsilon):.6g} delta {float(each.delta):.4g}"
        )
    lines += [f"--   {line}" for line in _answers(block)]
    return "\n".join(lines)


def _answers(block: BlockPlan) -> Iterator[str]:
    """Line by line the answers, then the sums that are only parts of them; each is called by its line."""
    direct: dict[int, int] = {}  # release -> line
    for line, answer in enumerate(block.answers, start=1):
        if answer.calculated is None:
            direct.setdefault(answer.releases[0], line)
    parts = [n for n in range(len(block.releases)) if n not in direct]
    lines = {**direct, **{n: len(block.answers) + i for i, n in enumerate(parts, start=1)}}
    for line, answer in enumerate(block.answers, start=1):
        yield _answer(block, answer, line, lines)
    for number in parts:
        yield f"  {_release(block, number, is_part=True)}"


def _answer(block: BlockPlan, answer: Answer, line: int, lines: Mapping[int, int]) -> str:
    name, calculated = answer.aggregate.kind.value, answer.calculated
    used = [lines[number] for number in answer.releases]
    if calculated is None:
        number, *_ = answer.releases
        shown = f", if release {used[1]} is enough" if len(used) > 1 else ""
        if used[0] != line:
            return f"{name} is release {used[0]}{shown}"
        return _release(block, number) + shown
    measured = ", ".join(map(_measured, calculated.measured))
    return (
        f"{name} made of releases {', '.join(map(str, used))}: {measured}, "
        f"output grid {decimal_text(calculated.output_grid)}"
    )


def _key(key: KeyPlan) -> str:
    named = key.expression.column if isinstance(key.expression, ColumnRef) else "expression"
    return f"{named} of {'private' if key.values is None else len(key.values)}"


def _noise(noise: Noise) -> str:
    match noise:
        case LaplaceNoise():
            return f"scale {noise.scale}"
        case GaussianNoise():
            return f"sigma {float(noise.sigma2) ** 0.5:.6g}"
        case ContinualNoise():
            return f"{len(noise.factor)} steps, {_noise(noise_of_a_step(noise))}"
        case _:
            assert_never(noise)


def _measured(measured: Measured) -> str:
    clamp = f"{decimal_text(measured.clamp.low)} .. {decimal_text(measured.clamp.high)}"
    return f"clamp {clamp}, grid {decimal_text(measured.grid)}"


def _release(block: BlockPlan, number: int, is_part: bool = False) -> str:
    release = block.releases[number]
    loss = f"epsilon {release.loss.epsilon} delta {release.loss.delta}"
    name = release.aggregate.kind.value
    match release:
        case NoisyStatistic(of=Counted()):
            return f"{name}: sensitivity {l1(block, number)}, {_noise(release.noise)}, {loss}"
        case NoisyStatistic(of=tuple() as measured):
            of = f"{release.statistic.value} for {name}" if is_part else name
            steps = "" if is_part else " steps"
            return (
                f"{of}: {', '.join(map(_measured, measured))}, "
                f"sensitivity {l1(block, number)}{steps}, {_noise(release.noise)}, {loss}"
            )
        case DistinctCount():
            of = " of units" if release.of_unit else ""
            return f"{name}{of}: sensitivity {l1(block, number)}, {_noise(release.noise)}, {loss}"
        case RecentredMean():
            return (
                f"{name} from moments: {_measured(release.measured)}, rows {release.measured.rows}, "
                f"output grid {decimal_text(release.output_grid)}, {loss}"
            )
        case DeviationMean():
            rows = "by choice" if release.declared is None else release.declared
            squares = f", squares {release.square_share}" if release.has_squares else ""
            return (
                f"{name} from deviations: {_measured(release.measured)}, rows {rows}{squares}, "
                f"output grid {decimal_text(release.output_grid)}, {loss}"
            )
        case OrderStatistic():
            return (
                f"{name} of order: {_measured(release.measured)}, {_rows_of_order(release)}, "
                f"needed {release.needed}, {loss}, size for {release.size.loss.epsilon}"
            )
        case UnitExtreme():
            among = release.places.last + 1
            return (
                f"{name} of units: {_measured(release.measured)}, values {release.measured.rows}, "
                f"{_kept(release)}, {among} places, least {release.least} units, {loss}"
            )
        case KeptUnits():
            return (
                f"units of {name}: {_kept(release)}, sensitivity {l1(block, number)}, "
                f"{_noise(release.noise)}, {loss}"
            )
        case SampleAggregate():
            return f"{name}: {_sampled(release)}"
        case _:
            raise AssertionError(release)


def _rows_of_order(release: OrderStatistic) -> str:
    if release.weights is None:
        return f"rows {release.measured.rows}"
    return f"rows weighed to {release.measured.rows} of a unit"


def _kept(release: UnitExtreme | KeptUnits) -> str:
    return "one group of a unit" if release.keeps_one_group else "all groups of a unit"


def _sampled(release: SampleAggregate) -> str:
    loss = f"epsilon {release.loss.epsilon} delta {release.loss.delta}"
    head = (
        f"{release.low} .. {release.high} steps of {decimal_text(release.output_grid)}, "
        f"fill {release.fill}"
    )
    gate = release.gate
    loss = f"gate {gate.least} units, scale {gate.noise.scale}, {loss}"
    match release.mechanism:
        case ClippedMean(changed=changed):
            return f"{head}, mean of {release.partitions} partitions, {changed} moved, {loss}"
        case SmoothedMedian(noise=noise, each=each):
            return (
                f"{head}, {release.partitions} partitions, {loss}, "
                f"each epsilon {each.epsilon} delta {float(each.delta):.4g}"
                + (", polyplace" if noise is MedianNoise.POLYPLACE else "")
            )
        case _:
            assert_never(release.mechanism)


def _backend(query: BackendQuery) -> str:
    lines = [query.sql]
    for name, value in query.parameters.items():
        if name not in {wanted.name for wanted in query.lists}:
            is_of_places = f"%({name})s::bigint[]" in query.sql
            displayed = _ends(value) if is_of_places and isinstance(value, list) else value
            lines.append(f"--   {name} = {'random' if name in query.seeds else displayed}")
    for wanted in query.lists:
        lines.append(f"--   {wanted.name} = {wanted.sql}")
        lines += [f"--     {name} = {value}" for name, value in wanted.parameters]
    return "\n".join(lines)


def _ends(places: Sequence[object]) -> object:
    """Of many places the first ones and the last one."""
    if len(places) <= _LISTED:
        return places
    return f"{', '.join(map(str, places[:3]))} .. {places[-1]}, {len(places)} in all"


_LISTED = 100
CASES = [*in_folder(PIPELINE), *in_folder(REFUSED)]


@pytest.fixture(scope="module", autouse=True)
def blessed(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--bless"):
        bless_folder(PIPELINE, made)
        bless_folder(REFUSED, made)
        CASES[:] = [*in_folder(PIPELINE), *in_folder(REFUSED)]


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n].name)
def test_golden(number: int) -> None:
    case = CASES[number]
    check(case, made(case))


def test_a_refused_case_is_refused_and_an_answered_one_is_not() -> None:
    for case in CASES:
        is_refused = set(case.sections) == {"refused"}
        assert is_refused == (case.path.parent == REFUSED), case.place


def test_names_are_unique() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


def test_every_refusal_code_has_a_case() -> None:
    text = "\n".join(case.sections.get("refused", "") for case in CASES)
    missing = {code for code in Code if f"-- {code.name}" not in text} - ELSEWHERE
    assert not missing


def test_every_refusal_of_a_word_says_where() -> None:
    """Settings, budgets and too much of something have no one word to point at, nor has a FROM clause."""
    nowhere = {"SETTING", "OVER_BUDGET", "INFEASIBLE", "TOO_COMPLEX"}
    of_from = ("Join on the privacy unit", "Give each of its columns")
    for case in in_folder(REFUSED):
        first = case.sections["refused"].splitlines()[0].split()[1]
        has_place = " at " in case.sections["refused"].splitlines()[0]
        is_of_from = any(words in case.sections["refused"] for words in of_from)
        assert has_place or is_of_from or first in nowhere or "parameters" in case.headers, (
            case.place
        )
