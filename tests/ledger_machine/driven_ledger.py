"""The product's own code over a ledger whose clock a test sets: statements wait for nothing but the server.

The clock is a function of the name that the ledger's SQL calls, in a schema that is looked at first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast
from unittest import mock

import psycopg

from proxy.accounting.amounts import Amount, charge
from proxy.accounting.budget_lines import LineKind
from proxy.accounting.statement_record import StatementRecord
from proxy.base.errors import Code, Refusal
from proxy.catalog.catalog_model import TableName
from proxy.engine import cached_answers
from proxy.engine.cached_answers import CachedQuestion, CacheState, ClaimedBlocks, Unfinished
from proxy.ledger.adjustments import Adjustment, AdjustmentError, adjust
from proxy.ledger.cached_claims import CachedClaims
from proxy.ledger.ledger_check import ledger_problems
from proxy.ledger.ledger_mark import LedgerWentBack, MarkFile, check_mark, mark_of
from proxy.ledger.ledger_restored import accept_restored, restored_as_of
from proxy.ledger.ledger_sources import write_budgets
from proxy.ledger.ledger_tables import ChargeOutcome, LedgerTables
from proxy.ledger.users import remove_analyst
from proxy.policy.policy_model import Accounting, Budget, Budgets, Policy, Reuse
from proxy.release.cached_block import Order
from tests.ledger_machine.asked import (
    GROUPS,
    NAMES,
    NOT_AN_ANALYST,
    PRICES,
    TABLES,
    TOTAL,
    Answer,
    AskedPart,
    Limit,
    Line,
    Terms,
)
from tests.ledger_machine.simple_model import Person
from tests.ledger_machine.single_charges import SingleCharges

T = TypeVar("T")
SOURCE = 1
TOO_LARGE = 100
CLOCK = """\
CREATE SCHEMA machine;
CREATE FUNCTION machine.transaction_timestamp() RETURNS timestamptz STABLE LANGUAGE sql
AS $$ SELECT current_setting('machine.now')::timestamptz $$"""
PATH = "SET search_path = machine, pg_catalog"
LINES: tuple[Line, ...] = (
    *(("analyst", name) for name in NAMES),
    *(("group", name) for name in GROUPS),
    *(("table", name) for name in TABLES),
    TOTAL,
)
_SPENT = """\
SELECT l.kind, l.name, s.epsilon_spent, s.delta_spent, s.rho_spent
FROM unnest(%s::text[], %s::text[]) l(kind, name)
CROSS JOIN LATERAL ledger.line_at(1, l.kind, l.name, machine.transaction_timestamp()) s"""
_ROWS = """\
SELECT k.id, get_byte(k.digest, 0), k.question, k.relation, k.holder::text, k.draws,
       ARRAY(SELECT s.viewer FROM ledger.seen s WHERE s.cached = k.id)
FROM ledger.cached k"""
_ORDER = Order(keys=(), releases=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A draw that was begun and not finished."""

    process: int
    row: int
    blocks: ClaimedBlocks
    place: int
    holder: str


Asked = tuple[str, tuple[AskedPart, ...]]
Claimed = tuple[Answer, list[Drawing]]


class AwaitedRows:
    def __init__(self, rows: psycopg.Cursor[Any]) -> None:
        self._rows = rows

    async def execute(self, statement: bytes, parameters: Any = None) -> AwaitedRows:
        self._rows.execute(statement, parameters)
        return self

    async def fetchone(self) -> Any:
        return self._rows.fetchone()

    async def fetchall(self) -> Any:
        return self._rows.fetchall()


class AwaitedConnection:
    """Each await ends at once."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def cursor(self, **given: Any) -> AwaitedRows:
        return AwaitedRows(self._connection.cursor(**given))

    async def execute(self, statement: Any, parameters: Any = None) -> AwaitedRows:
        return await self.cursor().execute(statement, parameters)


class TablesOfOne(LedgerTables):
    """Over one connection, in place of a pool."""

    def __init__(self, session: psycopg.Connection[Any]) -> None:
        super().__init__("", SOURCE)
        self.session = session
        self._reserving = cast(Any, SingleCharges(self._reserve_each))

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        yield AwaitedConnection(self.session)


def at_once(work: Coroutine[Any, Any, T]) -> T:
    try:
        work.send(None)
    except StopIteration as ended:
        return cast(T, ended.value)
    raise AssertionError("it waits")


@contextmanager
def small_texts() -> Iterator[None]:
    """What is drawn is a text of its own."""
    with mock.patch.multiple(
        cached_answers,
        cached_text=lambda drawn, order: drawn.text,
        cached_block=lambda text, order, block: SimpleNamespace(text=text),
        _RELATION=TOO_LARGE,
    ):
        yield


def policy_of(terms: Terms) -> Policy:
    def budget(one: Limit) -> Budget:
        return Budget(one.loss, one.period)

    budgets = Budgets(
        total=budget(terms.total),
        default=budget(terms.default),
        analysts={name: budget(one) for name, one in terms.analysts.items()},
        groups={name: budget(one) for name, one in terms.groups.items()},
        tables={TableName(*n.split(".")): budget(one) for n, one in terms.tables.items()},
    )
    accounting = Accounting.ZCDP if terms.is_zcdp else Accounting.BASIC
    made = SimpleNamespace(budgets=budgets, accounting=accounting, digest="p", database="data")
    return cast(Policy, made)


class DrivenLedger:
    """dsn: for what connects by itself; folder: of the mark and the backup."""

    def __init__(self, dsn: str, sessions: list[psycopg.Connection[Any]], folder: Path) -> None:
        self.dsn = dsn
        self.backup_file = folder / "backup"
        self.mark = MarkFile(folder)
        self.processes = [TablesOfOne(session) for session in sessions]
        self._claims: list[CachedClaims] = []

    @property
    def session(self) -> psycopg.Connection[Any]:
        return self.processes[0].session

    def at(self, now: datetime) -> None:
        for session in {id(one.session): one.session for one in self.processes}.values():
            session.execute(
                "SELECT set_config('machine.now', %s, false), set_config('synchronous_commit', 'on', false)",
                (now.isoformat(),),
            )

    def write_terms(self, terms: Terms) -> None:
        write_budgets(self.session, SOURCE, policy_of(terms))
        self.use_slots(terms)

    def use_slots(self, terms: Terms) -> None:
        reuse = Reuse(*terms.slot)
        self._claims = [CachedClaims(tables, reuse) for tables in self.processes]
        for claims in self._claims:
            claims._claiming = cast(Any, SingleCharges(claims._claim_each))

    def claim(
        self, process: int, who: str, parts: tuple[AskedPart, ...], *, may_draw: bool
    ) -> Claimed:
        questions = [_question(part) for part in parts]
        claims = self._claims[process]
        try:
            claimed = at_once(claims.claim(who, questions, "f", "p", may_draw=may_draw))
        except Refusal as refused:
            return _refused(refused), []
        if claimed is None:
            return Answer(states=None), []
        answer = Answer(
            states=tuple(one.value for one in claimed.states),
            rows=claimed.cached,
            texts=claimed.relations,
            paid=Fraction(0) if claimed.receipt is None else claimed.receipt.charged.epsilon,
            receipt=None if claimed.receipt is None else claimed.receipt.id,
            holder=claimed.holder,
        )
        blocks = ClaimedBlocks(cast(Any, claims), dict(enumerate(questions)), cast(Any, claimed))
        drawings = [
            Drawing(process=process, row=row, blocks=blocks, place=place, holder=claimed.holder)
            for place, (state, row) in enumerate(zip(claimed.states, claimed.cached, strict=True))
            if state is CacheState.DRAW and row is not None
        ]
        return answer, drawings

    def finish(self, drawing: Drawing, text: str) -> str | None:
        """What is shown of it; None: nothing."""
        block = SimpleNamespace(releases=(), keys=())
        drawn = SimpleNamespace(text=text, drawn=SimpleNamespace(groups=()))
        try:
            shown = at_once(
                drawing.blocks.stored(drawing.place, cast(Any, block), cast(Any, drawn))
            )
        except Unfinished:
            return None
        return str(cast(Any, shown).text)

    def text_of(self, row: int) -> str | None:
        try:
            return at_once(self._claims[0].relation_of(row))
        except Unfinished:
            return None

    def let_go(self, drawing: Drawing) -> None:
        at_once(self._claims[drawing.process].let_go(drawing.row, drawing.holder))

    def reserve(self, process: int, who: str, part: AskedPart) -> Answer:
        record = StatementRecord(tables=dict.fromkeys(part.tables, part.of.loss))
        tables = self.processes[process]
        try:
            receipt = at_once(tables.reserve(who, part.of.loss, "f", "p", part.of.events, record))
        except Refusal as refused:
            return _refused(refused)
        return Answer(states=("apart",), paid=receipt.charged.epsilon, receipt=receipt.id)

    def settle(self, receipt: int, *, answered: bool) -> None:
        outcome = ChargeOutcome.ANSWERED if answered else ChargeOutcome.FAILED
        at_once(self.processes[0].settle_each({receipt: outcome}))

    def adjust(self, line: Line, by: Amount, rho: Fraction | None) -> bool:
        kind, name = line
        wanted = Adjustment(kind=LineKind(kind), name=name, by=by, reason="a test", rho=rho)
        try:
            adjust(self.dsn, SOURCE, wanted)
        except AdjustmentError:
            return False
        return True

    def add(self, who: str, groups: frozenset[str]) -> Person:
        row = self.session.execute(  # as add_analyst, which takes milliseconds for a verifier
            "INSERT INTO ledger.analyst (name, verifier) VALUES (%s, 'SCRAM-SHA-256$') RETURNING id",
            (who,),
        ).fetchone()
        assert row is not None
        self.session.cursor().executemany(
            "INSERT INTO ledger.membership VALUES (%s, %s)", [(row[0], group) for group in groups]
        )
        return Person(row[0], True, groups)

    def remove(self, who: str) -> None:
        remove_analyst(self.dsn, who)

    def spent(self) -> Mapping[Line, tuple[Fraction, ...]]:
        kinds, names = zip(*LINES, strict=True)
        rows = self.session.execute(_SPENT, (list(kinds), list(names))).fetchall()
        return {(row[0], row[1]): tuple(map(Fraction, row[2:])) for row in rows}

    def standing(self) -> dict[int, tuple[object, ...]]:
        return {row[0]: (*row[1:6], set(row[6])) for row in self.session.execute(_ROWS)}

    def receipts(self) -> list[tuple[str, Fraction, Fraction]]:
        rows = self.session.execute(
            "SELECT analyst, epsilon, drawn_epsilon FROM ledger.receipt ORDER BY place"
        ).fetchall()
        return [(who, Fraction(own), Fraction(drawn)) for who, own, drawn in rows]

    def settled(self) -> dict[int, str]:
        return dict(self.session.execute("SELECT receipt, outcome FROM ledger.settlement"))

    def problems(self) -> tuple[str, ...]:
        """As `dpproxy ledger verify` finds them."""
        return ledger_problems(self.dsn)

    def follow_mark(self) -> None:
        self.mark.follow(mark_of(self.dsn))

    def is_refused(self) -> bool:
        """Whether a process would refuse to serve it."""
        try:
            check_mark(self.dsn, self.mark)
        except LedgerWentBack:
            return True
        return restored_as_of(self.dsn) is not None

    def accept(self) -> None:
        """As `dpproxy ledger accept`."""
        accept_restored(self.dsn)
        self.mark.write(mark_of(self.dsn))


def _refused(refused: Refusal) -> Answer:
    if refused.code is Code.OVER_BUDGET:
        return Answer(states=())
    assert refused.code is Code.PROTECTED
    return NOT_AN_ANALYST


def _question(part: AskedPart) -> CachedQuestion:
    price = PRICES[part.price]
    assert charge(price.loss).epsilon == price.cost.epsilon
    return CachedQuestion(
        digest=None if part.name is None else bytes([part.name]) * 32,
        question=part.question,
        terms="t",
        order=_ORDER,
        loss=price.loss,
        events=price.events,
        tables=part.tables,
    )
