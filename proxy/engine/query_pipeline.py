"""The pipeline of one query: read, plan, compile, and hand it to charged_queries.py, which runs it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from time import thread_time
from types import MappingProxyType

from proxy.base.decimals import decimal_text
from proxy.base.errors import Code, Refusal
from proxy.base.session_settings import how_to_set
from proxy.base.stages import Stage
from proxy.catalog.catalog_model import TableName
from proxy.compiler.backend_query import BackendQuery
from proxy.drawing.answer_slots import CachedQuestion
from proxy.drawing.drawer import Drawer
from proxy.drawing.statement_run import StatementRun
from proxy.engine.advice import advice_for
from proxy.engine.cached_answers import CachedAnswers, CachedLedger
from proxy.engine.charged_queries import ChargedQueries, PlannedQuery
from proxy.engine.column_errors import reported, unreported
from proxy.engine.copies_in_use import AsOf, CopiesChanged
from proxy.engine.explain_text import (
    Explained,
    FreeBlock,
    charge_of,
    explain_json,
    plan_as_shown,
    summary_lines,
    verbose_lines,
)
from proxy.engine.impossible_conditions import CONFLICT, impossible_conditions, unlisted_lines
from proxy.engine.noisy_answers import NoisyAnswer
from proxy.engine.own_status import ServingProcess
from proxy.engine.policy_limits import policy_rules
from proxy.engine.policy_statements import PolicyStatements, ProtectedQuery, allowed_mechanisms
from proxy.engine.ports import MOST_RECEIPTS, Ledger
from proxy.engine.present_slots import (
    constants,
    ended_lines,
    refuse_offsets,
    settled_arguments,
    span_text,
)
from proxy.engine.published_answers import PublishedSources
from proxy.engine.remembered_plans import PreparedQuery, RememberedPlans
from proxy.engine.session_zone import in_session_zone, zones_used
from proxy.engine.settings import Settings, read_settings
from proxy.engine.text_order import text_order_lines
from proxy.engine.unit_words import charged_blocks
from proxy.engine.work_refusals import in_words_of
from proxy.kernel.checked_plan import CheckedPlan, together
from proxy.kernel.plan import PrivatePlan
from proxy.kernel.work import TooMuchWork
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.facts import PlanningContext, PublicContents, planning_context
from proxy.planner.label_evaluation import EvaluatingKeys
from proxy.planner.later_rows import present_lines, reads_moving
from proxy.planner.lifting import lifted
from proxy.planner.planning import ChosenBounds, planned, planned_on_copies
from proxy.planner.reading_copies import copied_tables
from proxy.planner.series import SeriesTerms
from proxy.planner.time_windows import with_whole_steps
from proxy.policy.moving_bounds import is_moving
from proxy.query.ir.binding import bind
from proxy.query.ir.query import AggregateBlock
from proxy.query.rewrite.account_relations import BUDGET, HISTORY, STATUS
from proxy.query.syntax.statements import StatementKind
from proxy.release.plausible_answers import (
    MADE_UP_SECONDS,
    PLAUSIBLE_ANSWERS,
    plausible_relations,
    plausible_values,
)
from proxy.turns.fair_share import AnalystTurns
from proxy.turns.threads import Turn

_CACHED_SETTINGS = 64
_COPIES_TRIED = 3  # the last time without them, if they come and go
_WITHOUT_COPIES = {"dp.prepared": "off"}
_NO_COPIES: AsOf = MappingProxyType({})
_MADE_AT_ONCE = 100  # numbers of made-up answers, some 2 ms


class Engine:
    """Queries on one protected database under one policy; `statements` reads them."""

    def __init__(
        self,
        drawer: Drawer,
        relations: Mapping[int, TableName],
        ledger: Ledger,
        public: PublicContents | None = None,
        *,
        read_as: Mapping[int, int] | None = None,
        cached: CachedLedger | None = None,
        questions: CachedLedger | None = None,
        naming_key: bytes = b"",
        serving: ServingProcess | None = None,
        evaluating: EvaluatingKeys | None = None,
    ) -> None:
        """drawer: of the policy and catalogue by which it plans; relations, read_as: as of PolicyStatements;
        public: what was read of public tables; cached: where answers are cached; questions: where queries are
        answered from what is published, or cached (of it no method is called for the former); naming_key: under
        which statements and plans have names in ledger and log; serving: for dp.status;
        evaluating: as of PlanningContext."""
        self._serving = serving or ServingProcess()
        policy, catalog = drawer.policy, drawer.catalog
        self.policy = policy
        self.drawer = drawer
        self.earlier: frozenset[tuple[str, str]] = (
            frozenset()
        )  # defaults of policies before this one
        self.public = public or PublicContents()
        self._known = replace(
            planning_context(policy, catalog, self.public),
            naming_key=naming_key,
            evaluating=evaluating,
        )
        self._has_moving = any(map(is_moving, policy.tables.values()))
        self.statements = PolicyStatements(policy, catalog, relations, read_as)
        self._ledger = ledger
        self.published = PublishedSources()
        with_questions = self._keeping(cached or questions)
        self._charged = ChargedQueries(
            drawer,
            ledger,
            cached=None if cached is None else with_questions,
            questions=with_questions,
            published=self.published,
            naming_key=naming_key,
        )
        self._copies: AsOf = _NO_COPIES
        self._of_day: tuple[PlanningContext, PlanningContext] | None = None
        self._turns = AnalystTurns.of_planning()
        self._remembered = RememberedPlans()
        self._mechanisms = allowed_mechanisms(policy)
        self._settings = lru_cache(maxsize=_CACHED_SETTINGS)(self._read_settings)

    def renew(self, public: PublicContents) -> None:
        """Public tables have been read again; what was planned before stays as it was."""
        before, self.public = self._known, public
        self._known = replace(
            planning_context(before.policy, before.catalog, public),
            naming_key=before.naming_key,
            evaluating=before.evaluating,
        )
        cached = self._charged.questions
        if cached is not None:
            self._charged.questions = questions = self._keeping(cached.ledger)
            self._charged.cached = None if self._charged.cached is None else questions
        self._remembered = RememberedPlans()  # last: who holds it plans by these tables

    def defaults(self) -> frozenset[tuple[str, str]]:
        """What a session's settings are where nobody has SET them, under this policy."""
        privacy = self.policy.privacy
        return frozenset(
            {
                ("dp.epsilon", decimal_text(privacy.epsilon)),
                ("dp.delta", decimal_text(privacy.delta)),
            }
        )

    def settings_in_force(self, settings: Mapping[str, str]) -> Mapping[str, str]:
        """Those of a session that may have begun under an earlier policy, of which it has the defaults: they
        count as not set where that makes no statement cost more than the session says."""
        stale = self.earlier and self.earlier - self.defaults()
        if not stale:
            return settings
        now = {name: Fraction(text) for name, text in self.defaults()}
        return {
            name: text
            for name, text in settings.items()
            if (name, text) not in stale or now[name] > Fraction(text)
        }

    def _keeping(self, cached: CachedLedger | None) -> CachedAnswers | None:
        return None if cached is None else CachedAnswers(cached, self._known)

    async def run(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        run: StatementRun,
        day: int | None = None,
    ) -> NoisyAnswer:
        """One answer, charged. EXPLAIN is answered with the plan, free of charge.

        Given    run: names who pays, and is told what was charged; day: as of `day_of`, if it was read
        Refuses  what planning refuses, SETTING, OVER_BUDGET, UNAVAILABLE where no session can be had: not
                 charged; CANCELLED by statement_timeout, which ends nothing that is charged; Fault, the same
                 for whatever goes wrong later: charged
        """
        answer = await self._answered(question, arguments, settings, run, day)
        accounts = question.reading.accounts
        if not accounts:
            return answer
        relation = await with_accounts(
            answer.relation, accounts, self._ledger, run.turn, self._own_status
        )
        return replace(answer, relation=relation)

    async def _answered(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        run: StatementRun,
        day: int | None,
    ) -> NoisyAnswer:
        if question.reads_nothing:
            self.statements.check_preview(question, settings)
            return NoisyAnswer("{}", NOTHING, None, None, None, False, question.why_empty)
        day = await self.day_of(question) if day is None else day
        if question.statement.kind is StatementKind.EXPLAIN:
            found = await self._to_explain(question, arguments, settings, run, day)
            return await self._explained(question, found, run)
        for left in reversed(range(_COPIES_TRIED)):
            if not left:
                settings = {**settings, **_WITHOUT_COPIES}
            with run.in_stage(Stage.PLAN):
                query = await self._offered(question, arguments, settings, run, day)
            self.refuse_changed(query.prepared.private)
            if query.loss == NOTHING:
                return await self._charged.unread(query)
            try:
                return await self._charged.run(query)
            except CopiesChanged:
                continue
        raise AssertionError("without copies none can change")

    async def _to_explain(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        run: StatementRun,
        day: int | None,
    ) -> PreparedQuery:
        """The plan that the statement would run with now. Of copies the times are read, as before a charge."""
        for left in reversed(range(_COPIES_TRIED)):
            if not left:
                settings = {**settings, **_WITHOUT_COPIES}
            with run.in_stage(Stage.PLAN):
                query = await self._offered(question, arguments, settings, run, day)
            is_unread = query.loss == NOTHING or not query.prepared.copied
            if is_unread or await self._charged.is_free(query):
                return query.prepared
            try:
                await self._charged.look_at_copies(query)
            except CopiesChanged:
                continue
            return query.prepared
        raise AssertionError("without copies none can change")

    async def _offered(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        run: StatementRun,
        day: int | None,
    ) -> PlannedQuery:
        """On prepared copies, where there are; but what is published answers at no cost."""
        found = await self._prepared(question, arguments, settings, run.analyst, day)
        query = PlannedQuery(question=question, prepared=found, run=run)
        if not (found.offered and self.policy.publish and found.settings.uses_published):
            return query
        without = {**settings, **_WITHOUT_COPIES}
        found = await self._prepared(question, arguments, without, run.analyst, day)
        stored = PlannedQuery(question=question, prepared=found, run=run)
        return stored if await self._charged.is_free(stored) else query

    async def plausible_relations(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        turn: Turn,
        *,
        is_first: bool,
        day: int | None = None,
    ) -> tuple[str, ...]:
        """Made-up relations of a run, to try it before it is charged. Reads nothing, charges nothing.

        Given    turn: in which long jobs run; is_first: one relation, else all; day: as of `day_of`
        Gives    none where nothing would be charged, where the session has no trials, where documents of the
                 ledger are part of the answer, and where they take too much of the processor
        Refuses  what planning refuses, SETTING
        """
        if question.reads_nothing or question.reading.accounts:
            return ()
        found = await self._prepared(question, arguments, settings, turn.analyst, day)
        private = found.private
        if private.loss == NOTHING or not found.settings.is_tried:
            return ()
        count = 1 if is_first else PLAUSIBLE_ANSWERS
        seconds = MADE_UP_SECONDS / 2 if is_first else MADE_UP_SECONDS
        if plausible_values(private) * count <= _MADE_AT_ONCE:
            return plausible_relations(private, thread_time, count, seconds=seconds)
        return await turn.in_thread(
            plausible_relations, private, thread_time, count, seconds=seconds
        )

    async def day_of(self, question: ProtectedQuery) -> int | None:
        """Read the present, once for a statement whose bounds may end with it.

        Returns:
            The day of the ledger's clock, in days since 1970-01-01, UTC. None: no bounds need it.
        """
        if not (self._has_moving and reads_moving(question.reading.query, self._known)):
            return None
        return await self._ledger.day()

    def keep_undelivered(self, answer: NoisyAnswer) -> None:
        """The statement around the answer has failed: the next one with the same plan is not charged again."""
        kept = answer.undelivered
        if kept is not None:
            self._charged.undelivered.keep(kept)

    async def questions(self, plan: CheckedPlan, turn: Turn) -> tuple[CachedQuestion, ...] | None:
        """As CachedAnswers.parts, where answers are cached or published."""
        questions = self._charged.questions
        return None if questions is None else await questions.parts(plan, turn)

    @property
    def known(self) -> PlanningContext:
        return self._known

    def prepared(
        self,
        question: ProtectedQuery,
        constants: tuple[str | None, ...],
        loss: Loss,
        day: int | None,
        series: SeriesTerms | None = None,
    ) -> PreparedQuery:
        """A question of the data owner's, without parameters, which may cost more than one of an analyst.

        Given    day, series: as of PlanningContext
        Refuses  what planning refuses
        """
        arguments = settled_arguments(question, constants).arguments
        return self._planned(question, arguments, {}, day, loss, series).compiled_with(())

    def refuse_changed(self, private: PrivatePlan) -> None:
        """Refuses  UNAVAILABLE: what the plan relies on is gone"""
        used = {name for block in private.blocks for name in self.drawer.changed_tables(block)}
        for name in sorted(used):
            raise Refusal(
                Code.UNAVAILABLE,
                f"the table {name} is not what the policy was checked against",
                "Ask the operator: what does not fit is in the log (policy_not_taken).",
            )

    def _own_status(self, analyst: str) -> str:
        return self._serving.own_status(analyst, self.policy.database, self.policy.digest)

    async def budget(self, analyst: str) -> str:
        """What is left to the analyst and to everybody, as JSON. Reads the ledger only."""
        return await self._ledger.budget(analyst)

    async def history(
        self, turn: Turn, before: int | None = None, limit: int = MOST_RECEIPTS
    ) -> str:
        """The analyst's receipts as JSON, the latest first. Reads the ledger only.

        Given    before, limit: as of Ledger.history
        """
        return await self._ledger.history(turn, newest_first=True, before=before, limit=limit)

    async def explain(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        run: StatementRun,
    ) -> dict[str, object]:
        """The privacy plan of a question as JSON. Reads no row of people, charges nothing."""
        day = await self.day_of(question)
        found = await self._to_explain(question, arguments, settings, run, day)
        explained = await self._of_statement(question, found, run)
        return {**explain_json(explained), **_told_before(found, explained.free)}

    def planned(
        self,
        question: ProtectedQuery,
        settings: Mapping[str, str],
        chosen: ChosenBounds | None = None,
        constants: tuple[str | None, ...] = (),
        day: int | None = None,
        copies: AsOf = _NO_COPIES,
    ) -> PrivatePlan:
        """As `checked`, as plain data."""
        return self.checked(question, settings, chosen, constants, day, copies).private

    def checked(
        self,
        question: ProtectedQuery,
        settings: Mapping[str, str],
        chosen: ChosenBounds | None = None,
        constants: tuple[str | None, ...] = (),
        day: int | None = None,
        copies: AsOf = _NO_COPIES,
    ) -> CheckedPlan:
        """The plan of a question without parameters. Reads nothing, charges nothing.

        Given    chosen: bounds, where the plan is wanted as it is with them; day: as of PlanningContext;
                 copies: prepared ones that can be read
        Refuses  what planning refuses, SETTING
        """
        arguments = settled_arguments(question, constants).arguments
        found = self._planned(question, arguments, settings, day, copies=copies)
        given = chosen or {}
        return together(
            [
                found.bounded(number, given[number]) if number in given else block
                for number, block in enumerate(found.plan.blocks)
            ]
        )

    async def _prepared(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        analyst: str,
        day: int | None,
    ) -> PreparedQuery:
        self._offer_copies()
        remembered = self._remembered  # another one, where the context is renewed meanwhile
        settled = settled_arguments(question, arguments)
        ended = ended_lines(question, arguments, self.policy)
        arguments = settled.arguments
        request = question, arguments, settings, day
        found = remembered.find(*request, analyst)
        if found is None:
            if remembered.take_quick(question, arguments):
                found = self._plan(*request)
            else:
                found = await self._turns.run(analyst, self._plan, *request)
            remembered.keep(*request, analyst, found)
        rounded = settled.text()
        # A window that begins after that end is told as a condition beyond it.
        ended = tuple(
            line
            for line in ended
            if not any(
                one.startswith(line.replace(" ends with ", " ends at ").partition(",")[0])
                for one in found.unlisted
            )
        )
        times = (*ended, *(() if rounded is None else (rounded,)))
        return replace(found, times=(*found.times, *times)) if times else found

    def _offer_copies(self) -> None:
        """Those that can be read now. Others, or other times, make other plans."""
        usable = self._charged.copies.usable()
        if usable != self._copies:
            self._copies = usable
            self._remembered = RememberedPlans()

    def _plan(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        day: int | None = None,
    ) -> PreparedQuery:
        begun = thread_time()
        found = self._planned(question, arguments, settings, day, copies=self._copies)
        return found.compiled_with(found.lifts, lambda: thread_time() - begun)

    def _planned(
        self,
        question: ProtectedQuery,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        day: int | None = None,
        loss: Loss | None = None,
        series: SeriesTerms | None = None,
        copies: AsOf = _NO_COPIES,
    ) -> PreparedQuery:
        """day, series: as of PlanningContext; loss: other than the settings say; copies: that can be read."""
        chosen = self._settings(frozenset(settings.items()))
        chosen = chosen if loss is None else replace(chosen, loss=loss)
        types = question.argument_types()
        values = constants(arguments, types)
        refuse_offsets(arguments, question.reading.offsets)
        query = question.reading.query
        if not chosen.floats_are_exact and any(kind.is_float for kind in types):
            raise Refusal(
                Code.UNSUPPORTED,
                "parameters of a floating point type need the setting extra_float_digits to be 1 or more",
                how_to_set("extra_float_digits", "1"),
            )
        wanted = chosen.notice or question.with_errors
        written = [bind(block, values) for block in query.blocks]
        whole = list(map(self._with_whole_steps, written))
        blocks = [in_session_zone(block, settings) for block in whole]
        bound = replace(
            query,
            blocks=tuple(reported(block) if wanted else unreported(block) for block in blocks),
        )
        known = self._known_on(day)
        if chosen.mechanism is not None or chosen.is_rounded:
            known = replace(known, mechanism=chosen.mechanism, is_rounded=chosen.is_rounded)
        if series is not None:
            known = replace(known, series=series)
        copied: frozenset[TableName] = frozenset()
        if chosen.uses_copies and loss is None:
            copied = copied_tables(bound, known)
        offered = {name: copies[name] for name in copied if name in copies}
        on_copy = planned_on_copies(bound, known, chosen.loss, offered)
        try:
            found = on_copy or planned(bound, known, chosen.loss)
        except TooMuchWork as refused:
            lexed = question.statement.lexed
            raise in_words_of(refused, lexed, bound, self.policy) from None
        private, reuse = found.private, self.policy.reuse
        impossible = impossible_conditions(bound, self.policy, day)
        unlisted = unlisted_lines(replace(query, blocks=tuple(written)), self.policy)
        is_lifted = self._charged.cached is not None and not chosen.is_fresh
        is_lifted = is_lifted and reuse is not None and reuse.is_lifted
        return PreparedQuery(
            settings=chosen,
            plan=found.checked,
            drawn=found.checked,
            bounded=found.bounded,
            zones=zones_used(blocks, self.policy, day),
            tables=frozenset(name for block in private.blocks for name in block.tables()),
            rules=policy_rules(private),
            unlisted=(*unlisted, *impossible.lines, *text_order_lines(bound)),
            advice=advice_for(
                *(query.blocks, chosen.loss, self.policy.privacy),
                is_hopeless=impossible.is_everywhere,
            ),
            lifts=lifted(bound, found, chosen.loss) if is_lifted else (),
            times=(
                *((self._whole_steps_text(),) if whole != written else ()),
                *present_lines(bound, known),
                *self._charged.copies.texts(offered if on_copy else {}),
                *charged_blocks(found.checked.tables),
            ),
            scalars=query.scalars,
            copied=copied,
            offered=offered,
        )

    def _known_on(self, day: int | None) -> PlanningContext:
        """The last one is remembered: what is known of columns is made once in a context."""
        if day is None:
            return self._known
        last = self._of_day
        if last is None or last[0] is not self._known or last[1].day != day:
            last = self._of_day = self._known, replace(self._known, day=day)
        return last[1]

    def _with_whole_steps(self, block: AggregateBlock) -> AggregateBlock:
        reuse = self.policy.reuse
        if reuse is None or reuse.is_exact:
            return block
        return with_whole_steps(block, reuse.window_step)

    def _whole_steps_text(self) -> str:
        seconds = 1 if self.policy.reuse is None else self.policy.reuse.window_step
        return f"both ends of a time window are rounded down to {span_text(seconds)}"

    def _read_settings(self, given: frozenset[tuple[str, str]]) -> Settings:
        return read_settings(dict(sorted(given)), self.policy.privacy, self._mechanisms)

    async def _explained(
        self, question: ProtectedQuery, found: PreparedQuery, run: StatementRun
    ) -> NoisyAnswer:
        explained = await self._of_statement(question, found, run)
        free = explained.free
        displayed: object
        if question.statement.explain_json:
            displayed = [{**explain_json(explained), **_told_before(found, free)}]
        else:
            written = verbose_lines if question.statement.explain_verbose else summary_lines
            displayed = [*_unlisted_of(found, free), *written(explained)]
        shown = json.dumps({"explain": displayed})
        return NoisyAnswer(shown, NOTHING, explained.remaining, None, None, False)

    async def _of_statement(
        self, question: ProtectedQuery, found: PreparedQuery, run: StatementRun
    ) -> Explained:
        """Gather what EXPLAIN tells. Reads nothing, charges nothing."""
        query = PlannedQuery(question=question, prepared=found, run=run)
        free = await self._charged.explained(query)
        return Explained(
            plan=plan_as_shown(found.private, free),
            sql=_shapes(found),
            remaining=await self._ledger.remaining(run.analyst),
            free=free,
            lifts=found.lifts,
            times=found.times,
            mechanism=_mechanism_of(found),
            asked=question.reading.query.blocks,
            about=self.policy.units_about,
        )


NO_KNOWN_ROW = (
    "no value in the policy meets the conditions, so the answer is about 0 or NULL; it is charged, as other"
    " values may be stored"
)


def _unlisted_of(found: PreparedQuery, free: Mapping[int, FreeBlock]) -> list[str]:
    """What of the statement the policy does not know, and what that means."""
    is_charged = charge_of(found.private, free) != NOTHING
    is_empty = found.advice.is_hopeless and is_charged
    is_empty &= not any(one.endswith(CONFLICT) for one in found.unlisted)
    return [*found.unlisted, *((NO_KNOWN_ROW,) if is_empty else ())]


def _told_before(found: PreparedQuery, free: Mapping[int, FreeBlock]) -> dict[str, list[str]]:
    """What is to be known before a statement is paid."""
    told = {"unlisted": _unlisted_of(found, free), "limits": list(found.rules.limits)}
    return {name: lines for name, lines in told.items() if lines}


def _mechanism_of(found: PreparedQuery) -> str | None:
    """What the session has chosen for AVG, MIN and MAX."""
    mechanism = found.settings.mechanism
    return None if mechanism is None else mechanism.value


def _shapes(found: PreparedQuery) -> list[str]:
    """The SQL of each block that is drawn, parameters unnamed values."""
    return ["; ".join(map(_with_lists, block.all)) for block in found.compiled]


def _with_lists(query: BackendQuery) -> str:
    return "; ".join((*(wanted.sql for wanted in query.lists), query.sql))


async def with_accounts(
    relation: str,
    accounts: frozenset[TableName],
    ledger: Ledger,
    turn: Turn,
    own_status: Callable[[str], str],
) -> str:
    """The relation, and beside it what the ledger and the process say of the analyst by now."""
    documents = {}
    if BUDGET in accounts:
        documents[BUDGET.name] = await ledger.budget(turn.analyst)
    if HISTORY in accounts:
        documents[HISTORY.name] = await ledger.history(turn)
    if STATUS in accounts:
        documents[STATUS.name] = own_status(turn.analyst)
    if not documents:
        return relation
    parts = [f'"{name}":{document}' for name, document in documents.items()]
    rest = relation.removeprefix("{")
    return "{" + ",".join(parts) + ("" if rest == "}" else ",") + rest


# The engine that the listeners ask, which another one replaces when the policy or the catalogue changes.


@dataclass(slots=True)
class EngineInForce:
    """`now` is looked at once for a step of a statement: what has begun ends with the engine it began with.

    reading, answering: turns of reading long statements and of making answers, shared by the listeners.
    """

    now: Engine
    reading: AnalystTurns = field(default_factory=AnalystTurns.of_reading)
    answering: AnalystTurns = field(default_factory=AnalystTurns.of_answering)
