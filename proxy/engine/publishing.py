"""Statements that a policy publishes: what stands of them in the ledger is shown, and serves as a source;
what is due is released (`releasing.py`).

Source  docs/how-to/publish.md, ADR 0072
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from typing import Protocol, cast

import structlog
from typing_extensions import assert_never

from proxy.accounting.amounts import charged_text
from proxy.base.decimals import decimal_text
from proxy.base.errors import Fault, Refusal
from proxy.drawing.statement_run import run_of_owner
from proxy.engine.cached_answers import SEMANTICS
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.public_lists import read_lists, refuse_lacking
from proxy.engine.published_answers import PublishedSource
from proxy.engine.published_ports import (
    PublishedShadow,
    PublishedState,
    PublishedTable,
    ReleaseState,
    Series,
    StoredRelease,
)
from proxy.engine.query_pipeline import Engine
from proxy.engine.releasing import PlannedRelease, Releasing, day_of
from proxy.engine.remembered_plans import PreparedQuery
from proxy.engine.session_zone import ZoneRules
from proxy.estimates.series_noise import (
    largest_sum_sigma2,
    range_sigma2,
    step_sigma2,
)
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
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.facts import PlanningContext
from proxy.planner.later_rows import reads_moving
from proxy.planner.series import BY_DAYS, SeriesTerms, no_series, sums_of_days
from proxy.policy.publication import Publication
from proxy.release.noisy_values import noise_half_width
from proxy.reuse.derivation import variance
from proxy.turns.threads import Turn

# Plans of days that are published: of a series the same plan for each day, and when it ends; of days that are
# released together one plan. And how exact they and their sums will be.

_EPOCH = date(1970, 1, 1)
_MONTH = 30
_FAR = (date(9999, 12, 31) - _EPOCH).days


class PublishedStanding(Protocol):
    """What stands: it is everybody's."""

    async def states(self, wanted: Sequence[Publication]) -> tuple[PublishedState, ...]:
        """Of each, in their order. Reads only."""
        ...

    async def due_day(self, wanted: Publication, *, is_now: bool) -> int:
        """The day of the time that a claim would be for now, in days since 1970-01-01, UTC. Reads only."""
        ...

    async def stored(self, release: int) -> StoredRelease | None: ...


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


_ACCOUNT = "(published)"  # as ledger.bounds_account.PUBLISHED
# Until a statement is looked at again that could not be released: by a full budget, by another, for a fault.
_UNFUNDED_SECONDS, _WAIT_SECONDS, _FAULT_SECONDS = 60.0, 2.0, 10.0
_ASK_NEW = "dpproxy publish --now {} charges a new series"
_ASK = "Run dpproxy publish --now {}: it says why"
_LOG = structlog.get_logger("dpproxy.publishing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """total_epsilon: what is left of the shared budget, None where nothing was charged now; loss: of a
    release; short: the budgets that do not cover it."""

    state: ReleaseState
    loss: Loss
    receipt: int | None
    total_epsilon: Fraction | None
    short: tuple[str, ...]


class Publishing:
    """Of one database. `show` and `release_due` are called again and again; neither raises for what may
    pass."""

    def __init__(
        self,
        engine: Engine,
        ledger: PublishedStanding,
        releasing: Releasing,
        shadow: PublishedShadow,
    ) -> None:
        self.publications = engine.policy.publish
        self.ledger = ledger
        self._engine = engine
        self._shadow = shadow
        self._releasing = releasing
        self._zones = ZoneRules()
        self._stored: dict[int, StoredRelease] = {}
        self._displayed: tuple[PublishedTable, ...] | None = None
        self._sources_of: tuple[tuple[int, ...], PlanningContext] | None = None
        self._messages: dict[str, str] = {}
        self._not_before: dict[str, float] = {}  # by the loop's clock

    async def states(self) -> tuple[PublishedState, ...]:
        return await self.ledger.states(self.publications)

    async def show(self) -> None:
        """Tables and sources as the ledger has them by now.

        Refuses  Fault of the ledger's, ShadowError of the shadow's: all stays as it was
        """
        found = await self.states()
        for one in found:
            if one.id is not None and one.id not in self._stored:
                stored = await self.ledger.stored(one.id)
                if stored is None:  # a later one stands by now: it is shown the next time
                    return
                self._stored[one.id] = stored
        by_name = {one.name: one for one in self.publications}
        displayed = [(by_name[one.name], one) for one in found if one.id is not None]
        ids = {one.id for _, one in displayed}
        self._stored = {number: stored for number, stored in self._stored.items() if number in ids}
        tables = tuple(
            PublishedTable(name=of.name, text=text, comment=comment_of(one))
            for of, one in displayed
            if (text := self._text(of, one)) is not None
        )
        if tables != self._displayed:
            await asyncio.to_thread(self._shadow.show, tables)
            self._displayed = tables
        await self._take_sources(displayed)

    def _text(self, of: Publication, one: PublishedState) -> str | None:
        assert one.id is not None
        text = self._stored[one.id].table
        if text is None:
            self._say("published_not_shown", of, "the key that it was encrypted with is not here")
        return text

    async def _take_sources(self, displayed: Sequence[tuple[Publication, PublishedState]]) -> None:
        """What queries are answered from: what is still the same question under today's policy."""
        known = self._engine.known
        wanted = tuple(one.id for _, one in displayed if one.id is not None), known
        before = self._sources_of
        if before is not None and before[0] == wanted[0] and before[1] is known:
            return
        found: list[PublishedSource] = []
        for of, one in displayed:
            try:
                found += await self._sources(of, one)
            except Refusal as refusal:
                self._say("published_not_a_source", of, _kind_of(refusal))
        self._engine.published.replace(found)
        self._sources_of = wanted

    async def _sources(self, of: Publication, one: PublishedState) -> list[PublishedSource]:
        assert one.id is not None and one.due is not None and one.released_at is not None
        stored = self._stored[one.id]
        if not stored.blocks:
            return []
        question, _ = await asyncio.to_thread(self._shadow.read, of)
        prepared = await self._planned(of, question, stored.constants, day_of(one.due))
        parts = await self._engine.questions(prepared.plan, Turn(_ACCOUNT))
        relations = {(block.question, block.terms): block.relation for block in stored.blocks}
        found = []
        for block, part in zip(prepared.private.blocks, parts or (), strict=False):
            relation = relations.get((part.question, part.terms))
            if part.digest is not None and relation is not None:
                found.append(
                    PublishedSource(
                        name=of.name,
                        due=one.due,
                        released_at=one.released_at,
                        question=part.question,
                        terms=part.terms,
                        order=part.order,
                        block=block,
                        relation=relation,
                        derivable=part.derivable,
                    )
                )
        return found

    async def _planned(
        self,
        of: Publication,
        question: ProtectedQuery,
        constants: tuple[str | None, ...],
        day: int | None,
    ) -> PreparedQuery:
        """day: of the time that the release is for, with which bounds end that end with the present. Those of a
        series end with its last day."""
        if of.continual is not None:
            return await asyncio.to_thread(prepared_series, self._engine, of, question, constants)
        if of.ranges is not None:
            given = self._engine, of, question, constants, day
            return await asyncio.to_thread(prepared_ranges, *given)
        return await asyncio.to_thread(self._engine.prepared, question, constants, of.loss, day)

    async def release_due(self) -> None:
        """Of each statement the release that is due, if there is one and nobody else draws it."""
        for of, one in zip(self.publications, await self.states(), strict=True):
            if one.is_due and self._not_before.get(of.name, 0) <= _clock():
                self._not_before[of.name] = _clock() + await self._tried(of)

    async def _tried(self, of: Publication) -> float:
        """Seconds until it is worth another try."""
        try:
            released = await self.release(of, is_now=False)
        except Refusal as refusal:
            self._say("published_not_released", of, f"{_kind_of(refusal)}. {_ASK.format(of.name)}")
            return _FAULT_SECONDS
        except Fault as fault:
            self._say("published_not_released", of, fault.for_operators)
            return _FAULT_SECONDS
        match released.state:
            case ReleaseState.UNFUNDED:
                self._say(
                    "published_stale", of, f"{' and '.join(released.short)} does not cover it"
                )
                return _UNFUNDED_SECONDS
            case ReleaseState.CHANGED:
                self._say(
                    "published_stale", of, f"its plan has changed. {_ASK_NEW.format(of.name)}"
                )
                return _UNFUNDED_SECONDS
            case ReleaseState.WAIT:
                return _WAIT_SECONDS
            case ReleaseState.DRAW:
                self._messages.pop(of.name, None)
                _LOG.info("published", name=of.name, receipt=released.receipt)
                return 0
            case ReleaseState.DONE:
                return 0
            case _:
                assert_never(released.state)

    async def release(self, of: Publication, *, is_now: bool) -> Released:
        """One release, to its end.

        Refuses  Refusal: it cannot be planned, or no session can be had: nothing is charged; Fault of what goes
                 wrong later: charged, and finished under that charge
        """
        question, constants = await asyncio.to_thread(self._shadow.read, of)
        day = None
        is_moving = reads_moving(question.reading.query, self._engine.known)
        if of.continual is None and is_moving:
            day = await self.ledger.due_day(of, is_now=is_now)
        prepared = await self._planned(of, question, constants, day)
        series = None if of.continual is None else series_of(prepared.private)
        self._engine.refuse_changed(prepared.private)
        run = run_of_owner(_ACCOUNT)
        async with self._engine.drawer.session(run.turn) as session:
            await self._zones.check(session, prepared.zones)
            queries = [one for block in prepared.compiled for one in block.all]
            lists = await read_lists(session, queries)
            await session.refuse_impossible(queries)
            parts = None
            if series is None:
                parts = await self._engine.questions(prepared.plan, run.turn)
            await refuse_lacking(session, parts or ())
            planned = PlannedRelease(
                question=question,
                constants=constants,
                prepared=prepared,
                parts=parts or (),
                lists=lists,
                day=None if series is not None else day,
                series=series,
            )
            claim, is_no_table = await self._releasing.release(
                of, planned, session, run, is_now=is_now
            )
        if is_no_table:
            self._say("published_is_no_table", of, "dpproxy publish list says why")
        return Released(
            state=claim.state,
            loss=NOTHING if claim.is_free else prepared.drawn.loss,
            receipt=claim.receipt,
            total_epsilon=claim.total_epsilon,
            short=claim.short,
        )

    def _say(self, event: str, of: Publication, what: str) -> None:
        """Once, not at each look. what: nothing of a statement, whose literals may be about people."""
        if self._messages.get(of.name) != what:
            self._messages[of.name] = what
            _LOG.warning(event, database=self._engine.policy.database, name=of.name, reason=what)


def _kind_of(refusal: Refusal) -> str:
    """Its message may quote the statement, or PostgreSQL's words about a constant."""
    return f"it is refused ({refusal.code.name.lower().replace('_', ' ')})"


def _clock() -> float:
    return asyncio.get_running_loop().time()


def comment_of(one: PublishedState) -> str:
    """What `\\d+` and catalogues show of a published table."""
    assert one.due is not None and one.released_at is not None and one.loss is not None
    text = (
        f"Published {one.released_at:%Y-%m-%d %H:%M:%S} UTC, due {one.due:%Y-%m-%d %H:%M} UTC, next"
        f" {one.next_due:%Y-%m-%d %H:%M} UTC. Differentially private: epsilon"
        f" {charged_text(one.loss.epsilon)}, delta {float(one.loss.delta):.3g} of the shared budget;"
        f" reading it costs nothing. Policy {cast(str, one.policy_digest)[:12]}."
    )
    if one.stale is not None and one.stale_since is not None:
        text = f"STALE since {one.stale_since:%Y-%m-%d %H:%M} UTC: {one.stale}. {text}"
    elif one.failure is not None:
        text = f"STALE: the latest release is no table: {one.failure}. {text}"
    return text
