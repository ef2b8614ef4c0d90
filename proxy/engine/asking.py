"""The pipeline of one query, in order: read, plan, compile, look at the budget, take a session, reserve, run,
release, settle.

What fails before the charge costs nothing: by then the budget was looked at and a session on the protected
server is open, its BEGIN answered. Nothing is read from the protected database before the charge is durable,
nothing of the charge is given back after, and what leaves is the noised relation alone.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from typing_extensions import ParamSpec

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import by_oid
from proxy.catalog.model import Catalog, TableName
from proxy.compiler.backend_query import BackendQuery
from proxy.compiler.compiling import compile_block
from proxy.engine.answer_accuracy import Accuracy, accuracies
from proxy.engine.arguments import constants
from proxy.engine.explaining import explain_json, explain_lines
from proxy.engine.ports import Charged, Ledger, ProtectedData, ProtectedSession
from proxy.engine.public_lists import Lists, read_lists, values_of
from proxy.engine.settings import Settings, check_assignment, check_meaning, is_utc, read_settings
from proxy.exact.table import ExactTable
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.facts import PublicValues, Surroundings
from proxy.planner.loss_events import loss_events
from proxy.planner.plan import BlockPlan, PrivatePlan
from proxy.planner.planning import plan
from proxy.policy.model import IdentifierUnit, Policy, ProtectedTable, PublicTable
from proxy.query.account_relations import ACCOUNT_RELATIONS, BUDGET, HISTORY
from proxy.query.assignments import assignment
from proxy.query.exposed import Exposed
from proxy.query.query import bind
from proxy.query.statement_reading import Reading, read_statement
from proxy.query.statements import Execute, Kind, Names, Statement, look, pieces
from proxy.query.time_zones import check_zone
from proxy.release.noised import NoisyTable, relation_json
from proxy.release.releasing import keeper, release_block

_SEED_BITS = 63
_AT_ONCE = 20_000  # numbers, some 20 to 50 ms in which no other session moves
_PER_CHARACTER = 20  # planning 1,000 characters takes as long as that many numbers
_STATEMENTS_KEPT = 128  # of 16 KiB at most; read, each is about a megabyte

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """A statement that asks of protected tables, read once, asked as often as it is bound."""

    statement: Statement
    reading: Reading
    parameter_oids: tuple[int, ...]

    @property
    def reads_nothing(self) -> bool:
        """A probe: its text is run on tables without rows, nothing is planned or charged."""
        return not self.reading.query.blocks


@dataclass(frozen=True, slots=True)
class Answer:
    """relation: JSON for the residual's parameter; receipt None where nothing was charged."""

    relation: str
    loss: Loss
    remaining: Loss | None
    receipt: str | None
    accuracy: tuple[Accuracy, ...]
    notice: bool


class Engine:
    """Questions on one protected database under one policy."""

    def __init__(
        self,
        policy: Policy,
        catalog: Catalog,
        relations: Mapping[int, TableName],
        data: ProtectedData,
        ledger: Ledger,
        bits: RandomBits,
        public: PublicValues | None = None,
    ) -> None:
        """relations: OID in the shadow -> table of the policy; public: distinct values of columns of public
        tables, which can then be GROUP BY keys."""
        self.policy = policy
        self.changed: frozenset[str] = frozenset()  # tables of which something relied on is gone
        self._known = Surroundings(policy, catalog, public or {})
        self._relations = dict(relations)
        self._data = data
        self._ledger = ledger
        self._left: dict[str, Loss] = {}  # by analyst, after the last charge
        self._bits = bits
        self._exposed = {
            name: _exposed(name, table, catalog) for name, table in policy.tables.items()
        }
        self._public = {
            str(name) for name, table in policy.tables.items() if isinstance(table, PublicTable)
        }
        protected = {table.name.name for table in policy.protected()}
        self._exposed.update(ACCOUNT_RELATIONS)
        accounts = {name.name for name in ACCOUNT_RELATIONS}
        names = Names(protected | accounts, {name.name for name in policy.tables})
        self._names = names
        self._look = lru_cache(maxsize=_STATEMENTS_KEPT)(lambda text: look(text, names))
        self._read = lru_cache(maxsize=_STATEMENTS_KEPT)(self._read_uncached)
        self._compile = lru_cache(maxsize=_STATEMENTS_KEPT)(self._compiled)

    def split(self, text: str) -> tuple[tuple[int, str], ...]:
        """The statements of a simple query string that must be looked at one by one, with offsets."""
        return pieces(text, self._names)

    def look(self, text: str) -> Statement | Execute | None:
        """Whether a statement can touch protected data. None: relay it.

        Refuses  TOO_COMPLEX; SETTING: SET of a dp.* setting that no statement could be run with
        """
        assigned = assignment(text)
        if assigned is not None:
            check_assignment(assigned.name, assigned.value, self.policy.privacy)
            return None
        return self._look(text)

    def read(
        self,
        statement: Statement,
        relation_oids: tuple[int | None, ...],
        parameter_oids: tuple[int, ...],
        settings: Mapping[str, str] | None = None,
    ) -> Question | None:
        """What the statement asks, now that the session has said what its names mean. None: relay it.

        Given    settings: of the session, in which PostgreSQL has read the statement
        Refuses  as query.statement_reading.read_statement; settings by which it means something else; what
                 depends on a time zone other than UTC
        """
        question = self._read(statement, relation_oids, parameter_oids)
        # What is only of dp.budget and dp.history means the same whatever is set.
        of_data = question is not None and not (
            question.reads_nothing and question.reading.accounts
        )
        if question is not None and of_data and settings is not None:
            check_meaning(settings)
            if not is_utc(settings):
                check_zone(question.reading.query)
        return question

    async def read_beside(
        self,
        statement: Statement,
        relation_oids: tuple[int | None, ...],
        parameter_oids: tuple[int, ...],
        settings: Mapping[str, str],
    ) -> Question | None:
        """As `read`; a long statement in a thread, so that other sessions go on meanwhile."""
        work = len(statement.text) * _PER_CHARACTER
        return await _beside(work, self.read, statement, relation_oids, parameter_oids, settings)

    def _read_uncached(
        self,
        statement: Statement,
        relation_oids: tuple[int | None, ...],
        parameter_oids: tuple[int, ...],
    ) -> Question | None:
        resolved = tuple(None if o is None else self._relations.get(o) for o in relation_oids)
        types = tuple(map(by_oid, parameter_oids))
        reading = read_statement(statement, resolved, self._exposed, types)
        return None if reading is None else Question(statement, reading, parameter_oids)

    def renew(self, public: PublicValues) -> None:
        """Public tables have been read again; what was planned before stays as it was."""
        self._known = replace(self._known, public=public)

    async def ask(
        self,
        question: Question,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        analyst: str,
    ) -> Answer:
        """One answer, charged. EXPLAIN is answered with the plan, free of charge.

        Refuses  what planning refuses, SETTING, OVER_BUDGET, UNAVAILABLE where no session can be had: not
                 charged; CANCELLED by statement_timeout: charged once the policy's floor counts; Fault, the
                 same for whatever goes wrong later: charged
        """
        answer = await self._answered(question, arguments, settings, analyst)
        accounts = question.reading.accounts
        return replace(
            answer, relation=await self._with_accounts(answer.relation, accounts, analyst)
        )

    async def _with_accounts(
        self, relation: str, accounts: frozenset[TableName], analyst: str
    ) -> str:
        """The relation, and beside it what the ledger says of the analyst by now."""
        documents = {}
        if BUDGET in accounts:
            documents[BUDGET.name] = await self._ledger.budget(analyst)
        if HISTORY in accounts:
            documents[HISTORY.name] = await self._ledger.history(analyst)
        if not documents:
            return relation
        parts = [f'"{name}":{document}' for name, document in documents.items()]
        rest = relation.removeprefix("{")
        return "{" + ",".join(parts) + ("" if rest == "}" else ",") + rest

    async def _answered(
        self,
        question: Question,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        analyst: str,
    ) -> Answer:
        if question.reads_nothing:
            return Answer("{}", NOTHING, None, None, (), False)
        work = len(question.statement.text) * _PER_CHARACTER
        chosen, private = await _beside(work, self._planned, question, arguments, settings)
        if question.statement.kind is Kind.EXPLAIN:
            return await self._explained(question, private, analyst)
        self._refuse_changed(private)
        if private.loss == NOTHING:  # only public keys: nothing is read, nothing to pay
            return await self._answer(question, private, chosen, None, None, {})
        return await self._charged(question, private, chosen, analyst)

    def _refuse_changed(self, private: PrivatePlan) -> None:
        # A public table may also stand in a condition of any block.
        used = {name for block in private.blocks for name in block.tables()} | self._public
        for name in sorted(self.changed & used):
            raise Refusal(
                Code.UNAVAILABLE,
                f"the table {name} is not what the policy was checked against",
                "Ask the operator to check the policy and to start dpproxy again.",
            )

    async def _charged(
        self, question: Question, private: PrivatePlan, chosen: Settings, analyst: str
    ) -> Answer:
        work = len(question.statement.text) * _PER_CHARACTER
        compiled = await _beside(work, self._compile, private)
        queries = [query for several in compiled for query in several]
        floor = float(self.policy.privacy.timeout_floor)
        clock = asyncio.get_running_loop().time
        begun = clock()
        async with AsyncExitStack() as stack:
            ready = self._ready(stack, private.loss, analyst)
            session = await _within(chosen.seconds, ready, _NOT_CHARGED)
            # Always, whatever rows there are; and a list that is too long costs nothing.
            reading = read_lists(session, queries)
            lists = await _within(chosen.seconds, reading, _NOT_CHARGED)
            charged = await self._ledger.reserve(
                analyst,
                private.loss,
                _fingerprint(question.statement.text),
                self.policy.digest,
                loss_events(private),
            )
            self._left[analyst] = charged.remaining
            answered = False
            try:
                answering = self._answer(question, private, chosen, charged, session, lists)
                seconds = chosen.seconds and max(chosen.seconds - (clock() - begun), floor)
                answer = await _within(seconds, answering, _stays_charged(floor))
                answered = True
                return answer
            finally:
                await self._ledger.settle(charged.receipt, answered)

    async def _ready(self, stack: AsyncExitStack, loss: Loss, analyst: str) -> ProtectedSession:
        """All that an answer needs but its charge."""
        left = self._left.pop(analyst, None)
        # What was left after the last charge covers it, so there is no need to ask: reserve decides.
        if left is None or left.epsilon < loss.epsilon or left.delta < loss.delta:
            await self._ledger.look(analyst, loss)
        return await stack.enter_async_context(self._data.session(analyst))

    async def budget(self, analyst: str) -> str:
        """What is left to the analyst and to everybody, as JSON. Reads the ledger only."""
        return await self._ledger.budget(analyst)

    async def history(self, analyst: str) -> str:
        """The analyst's receipts as JSON, the latest first. Reads the ledger only."""
        return await self._ledger.history(analyst, newest_first=True)

    async def explain(
        self,
        question: Question,
        arguments: tuple[str | None, ...],
        settings: Mapping[str, str],
        analyst: str,
    ) -> dict[str, object]:
        """The privacy plan of a question as JSON. Reads nothing, charges nothing."""
        _, private = self._planned(question, arguments, settings)
        remaining = await self._ledger.remaining(analyst)
        return explain_json(private, remaining, self._shapes(private))

    def planned(self, question: Question, settings: Mapping[str, str]) -> PrivatePlan:
        """The private plan of a question without parameters. Reads nothing, charges nothing.

        Refuses  what planning refuses, SETTING
        """
        return self._planned(question, (), settings)[1]

    def _planned(
        self, question: Question, arguments: tuple[str | None, ...], settings: Mapping[str, str]
    ) -> tuple[Settings, PrivatePlan]:
        chosen = read_settings(settings, self.policy.privacy)
        types = tuple(map(by_oid, question.parameter_oids))
        values = constants(arguments, types)
        query = question.reading.query
        if not chosen.floats_are_exact and any(kind.is_float for kind in types):
            raise Refusal(
                Code.UNSUPPORTED,
                "parameters of a floating point type need the setting extra_float_digits to be 1 or more",
                "SET extra_float_digits = 1",
            )
        bound = replace(query, blocks=tuple(bind(block, values) for block in query.blocks))
        if not chosen.is_utc:
            check_zone(bound)
        return chosen, plan(bound, self._known, chosen.loss)

    def _compiled(self, private: PrivatePlan) -> tuple[tuple[BackendQuery, ...], ...]:
        return tuple(compile_block(block) for block in private.blocks)

    async def _answer(
        self,
        question: Question,
        private: PrivatePlan,
        chosen: Settings,
        charged: Charged | None,
        session: ProtectedSession | None,
        lists: Lists,
    ) -> Answer:
        tables: dict[str, tuple[NoisyTable, frozenset[str]]] = {}
        work = 0
        answers: dict[int, str] = {}  # of earlier blocks, for those that compare with them
        for number, block in enumerate(private.blocks):
            keep = keeper(block, self._bits)
            exact = []
            for place, query in enumerate(self._compile(private)[number]):
                values = {**self._values(query, answers), **values_of(query, lists)}
                assert session is not None, "what reads is charged"
                exact.append(await session.run(query, values, keep if place == 0 else None))
            work += _draws(block, exact)
            noised = await _beside(work, release_block, block, exact, self._bits)
            tables[f"b{number + 1}"] = (noised, block.intervals)
            for scalar in question.reading.query.scalars:
                if scalar.block == number:
                    answers[scalar.number] = noised.rows[0].values[0].text()
        return Answer(
            await _beside(work, relation_json, tables),
            private.loss,
            None if charged is None else charged.remaining,
            None if charged is None else charged.receipt,
            accuracies(private),
            chosen.notice,
        )

    def _values(self, query: BackendQuery, answers: Mapping[int, str]) -> dict[str, int | str]:
        values: dict[str, int | str] = {
            name: self._bits.below(2**_SEED_BITS) for name in query.seeds
        }
        values.update({name: answers[number] for name, number in query.scalars})
        return values

    def _shapes(self, private: PrivatePlan) -> list[str]:
        """The SQL of each block, parameters unnamed values."""
        return ["; ".join(map(_with_lists, several)) for several in self._compile(private)]

    async def _explained(self, question: Question, private: PrivatePlan, analyst: str) -> Answer:
        remaining = await self._ledger.remaining(analyst)
        sql = self._shapes(private)
        shown: object = list(explain_lines(private, remaining, sql))
        if question.statement.explain_json:
            shown = [explain_json(private, remaining, sql)]
        return Answer(json.dumps({"explain": shown}), NOTHING, remaining, None, (), False)


def _with_lists(query: BackendQuery) -> str:
    return "; ".join((*(wanted.sql for wanted in query.lists), query.sql))


def _draws(block: BlockPlan, exact: Sequence[ExactTable]) -> int:
    """About how many numbers are handled to release a block."""
    groups = (block.groups() or 0) * len(block.releases)
    return groups + sum(len(table.rows) * len(table.releases) for table in exact)


async def _within(seconds: float | None, work: Coroutine[Any, Any, T], hint: str) -> T:
    """
    Refuses  CANCELLED: a matter of the clock and of what the analyst chose, whatever the server was doing
    """
    try:
        return await asyncio.wait_for(work, seconds)
    except asyncio.TimeoutError:
        raise Refusal(
            Code.CANCELLED, "canceling statement due to statement timeout", hint
        ) from None


_NOT_CHARGED = "Nothing was charged. SET statement_timeout to more, or try again later."


def _stays_charged(floor: float) -> str:
    return (
        "What it cost stays charged. SET statement_timeout to more, or ask for less; less than"
        f" {floor:g} s counts as {floor:g} s where protected tables are read."
    )


async def _beside(work: int, function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What takes long runs in a thread, so that other sessions go on meanwhile."""
    if work <= _AT_ONCE:
        return function(*given, **named)
    return await asyncio.to_thread(function, *given, **named)


def _exposed(name: TableName, table: ProtectedTable | PublicTable, catalog: Catalog) -> Exposed:
    """The columns that questions can name: the listed ones and, for conditions and joins, the unit column or
    the reference that leads to it (which is not the unit: several of its values belong to one)."""
    columns = catalog.tables[name].columns
    if isinstance(table, PublicTable):
        return Exposed(name, {c.name: c for c in columns if table.has(c.name)}, protected=False)
    held = table.unit.column if isinstance(table.unit, IdentifierUnit) else None
    found = isinstance(table.unit, IdentifierUnit) and table.unit.path is not None
    listed = {*table.columns, held}
    shown = {c.name: c for c in columns if c.name in listed}
    return Exposed(name, shown, True, None if found else held)


def _fingerprint(text: str) -> str:
    """Names a statement in the ledger without its literals being readable there."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
