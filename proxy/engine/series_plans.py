"""Plans of days that are published: of a series the same plan for each day, and when it ends; of days that are
released together one plan. And how exact they and their sums will be."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from fractions import Fraction

from proxy.base.decimals import decimal_text
from proxy.base.errors import Refusal
from proxy.engine.cached_answers import SEMANTICS
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.published_ports import Series
from proxy.engine.query_pipeline import Engine
from proxy.engine.remembered_plans import PreparedQuery
from proxy.kernel.plan import (
    ContinualNoise,
    DistinctCount,
    GaussianNoise,
    Noise,
    NoisyStatistic,
    PrivatePlan,
    Release,
)
from proxy.kernel.plan_digest import plan_digest
from proxy.mechanisms.continual import (
    largest_sum_sigma2,
    range_sigma2,
    step_sigma2,
)
from proxy.planner.later_rows import reads_moving
from proxy.planner.series import BY_DAYS, SeriesTerms, no_series, sums_of_days
from proxy.policy.publication import Publication
from proxy.release.noisy_values import noise_half_width
from proxy.reuse.derivation import variance

_EPOCH = date(1970, 1, 1)
_MONTH = 30
_RANGES = ("a day", "30 days in a row", "any days in a row")
_FAR = (date(9999, 12, 31) - _EPOCH).days


def prepared_series(
    engine: Engine, of: Publication, question: ProtectedQuery, constants: tuple[str | None, ...]
) -> PreparedQuery:
    """Plan a statement that is released day by day, alike on each day.

    Bounds that end with the present end with the end of the series.

    Raises:
        Refusal: It is no series of so many days.
    """
    assert of.continual is not None
    terms = SeriesTerms(steps=of.continual.days, most_steps=of.continual.most_days)
    is_moving = reads_moving(question.reading.query, engine.known)
    day = _FAR if is_moving else None
    prepared = engine.prepared(question, constants, of.loss, day, terms)
    days = series_days(prepared.private)
    if is_moving:
        after = (days[-1] - _EPOCH).days + 1  # what ends with a day has not that day itself
        prepared = engine.prepared(question, constants, of.loss, after, terms)
        if series_days(prepared.private) != days:
            raise _no_days()
    return prepared


def prepared_ranges(
    engine: Engine,
    of: Publication,
    question: ProtectedQuery,
    constants: tuple[str | None, ...],
    day: int | None,
) -> PreparedQuery:
    """Plan a statement whose days are released together, to be added up.

    Args:
        day: As of PlanningContext.

    Raises:
        Refusal: Its groups are no days in a row.
    """
    assert of.ranges is not None
    terms = SeriesTerms(steps=None, most_steps=of.ranges.most_days)
    prepared = engine.prepared(question, constants, of.loss, day, terms)
    series_days(prepared.private)
    return prepared


def series_of(plan: PrivatePlan) -> Series:
    """The series of a plan that `prepared_series` made: another one, if a version reads it in another way."""
    # The ledger keeps the digest beside the text of the statement's own: it hides nothing.
    named = plan_digest(plan.blocks, f"a published series {SEMANTICS}".encode())
    ends = tuple(
        datetime(day.year, day.month, day.day, tzinfo=timezone.utc) + timedelta(days=1)
        for day in series_days(plan)
    )
    return Series(plan=named, ends=ends)


def series_days(plan: PrivatePlan) -> tuple[date, ...]:
    """The days of a series.

    Raises:
        Refusal: Its groups are no days in a row.
    """
    (key,) = plan.blocks[0].keys
    try:
        days = tuple(date.fromisoformat((value or "")[:10]) for value in key.values or ())
    except ValueError:
        raise _no_days() from None
    is_in_a_row = all((day - days[0]).days == place for place, day in enumerate(days))
    if not days or not key.type.is_time or not is_in_a_row:
        raise _no_days()
    return days


def errors_of_series(of: Publication, plan: PrivatePlan) -> str:
    """How exact a series will be, in a line: it depends on the policy alone.

    The errors of counts and sums in their order: of a day, of the worst sum of days in a row, of all days.
    """
    found = []
    for release in plan.blocks[0].releases:
        noise, grid = _noise_and_grid(release)
        assert isinstance(noise, ContinualNoise), "as the kernel has it"
        day, longest, all_days = (_half_width(sigma2, grid) for sigma2 in sums_of_days(noise))
        kind = release.aggregate.kind.value
        found.append(f"{kind} +-{day} a day, +-{longest} any days in a row, +-{all_days} all days")
    assert of.continual is not None
    cost = f"{of.continual.days} days for epsilon {decimal_text(of.loss.epsilon)} in all"
    return f"published.{of.name}: {cost}; 95 % errors: {'; '.join(found)}"


def errors_of_ranges(of: Publication, plan: PrivatePlan, alone: PrivatePlan) -> str:
    """How exact days that are released together will be, in a line, beside the same statement without `ranges`.

    The errors of counts and sums in their order: of a day, of 30 days in a row, of the worst days in a row.

    Args:
        of: The published statement.
        plan: With `ranges`.
        alone: Of which each day has noise of its own.
    """
    found, gains = [], []
    pairs = zip(plan.blocks[0].answers, alone.blocks[0].answers, strict=True)
    for answer, other in pairs:
        noise, grid = _noise_and_grid(plan.blocks[0].releases[answer.releases[0]])
        own, own_grid = _noise_and_grid(alone.blocks[0].releases[other.releases[0]])
        assert isinstance(noise, ContinualNoise), "as the kernel has it"
        days = len(noise.factor)
        month = min(_MONTH, days)
        of_month = range_sigma2(noise.factor, noise.sigma2, days - month, days)
        worst = largest_sum_sigma2(noise.factor, noise.sigma2)
        sums = (
            ("a day", 1, step_sigma2(noise.factor, noise.sigma2)),
            (f"{month} days", month, of_month),
            ("any days in a row", days, worst),
        )
        texts = (
            f"{name} +-{_half_width(sigma2, grid)} ({_half_width(count * variance(own), own_grid)})"
            for name, count, sigma2 in sums
        )
        found.append(f"{answer.aggregate.kind.value} {', '.join(texts)}")
        gains.append(worst * grid**2 < days * variance(own) * own_grid**2)
    advice = "" if any(gains) else "; ranges gains nothing here: leave it out"
    return (
        f"published.{of.name}: 95 % errors, in brackets without ranges: {'; '.join(found)}{advice}"
    )


def _noise_and_grid(release: Release) -> tuple[Noise, Fraction]:
    if isinstance(release, NoisyStatistic):
        return release.noise, release.grid / release.parts
    assert isinstance(release, DistinctCount), "a count or a sum"
    return release.noise, Fraction(1)


def _half_width(sigma2: Fraction, grid: Fraction) -> str:
    return decimal_text(noise_half_width(GaussianNoise(sigma2=sigma2)) * grid)


def _no_days() -> Refusal:
    return no_series("has groups that are no days in a row", BY_DAYS)
