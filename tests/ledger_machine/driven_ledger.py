"""The product's own code over a ledger whose clock a test sets: statements wait for nothing but the server.

The clock is a function of the name that the ledger's SQL calls, in a schema that is looked at first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import psycopg

from proxy.accounting import amounts
from proxy.accounting.amounts import Amount, charge
from proxy.accounting.budget_lines import BudgetLine, LineKind
from proxy.accounting.statement_record import StatementRecord
from proxy.base.errors import Code, Fault, Refusal
from proxy.drawing import kept_answers
from proxy.drawing.answer_slots import CachedQuestion, CacheState, Unfinished
from proxy.drawing.kept_answers import ClaimedAnswers
from proxy.kernel.checked_plan import CheckedBlock
from proxy.ledger.adjustments import Adjustment, AdjustmentError, WaitingRequest, adjust, confirm
from proxy.ledger.bearer_tokens import create_token, revoke_token
from proxy.ledger.cached_claims import CachedClaims
from proxy.ledger.engine_ledger import _slots_of
from proxy.ledger.ledger_mark import (
    LedgerWentBack,
    MarkFile,
    accept_restored,
    check_mark,
    mark_of,
    restored_as_of,
)
from proxy.ledger.ledger_reports import ledger_problems
from proxy.ledger.ledger_sources import write_budgets
from proxy.ledger.ledger_tables import ChargeOutcome
from proxy.ledger.users import remove_analyst
from proxy.policy.policy_model import Reuse
from tests.asked_by import run_of
from tests.ledger_key import LEDGER_CIPHER
from tests.ledger_machine.asked import (
    NOT_AN_ANALYST,
    NOT_CHARGED,
    OVER_TOKEN,
    PRICES,
    PUBLISHED,
    TOKEN_IS_OVER,
    UNREADABLE,
    WITHDRAWN,
    Answer,
    AskedCharge,
    AskedClaim,
    AskedPart,
    Line,
    Terms,
    rho_limit,
)
from tests.ledger_machine.compared import Found, found_in
from tests.ledger_machine.policy_of_terms import policy_of
from tests.ledger_machine.published import DrivenReleases
from tests.ledger_machine.tables_of_one import SOURCE, TablesOfOne, at_once
from tests.ledger_machine.tokens_spent import Person
from tests.named_slots import named_slot
from tests.unchecked_blocks import priced

TOO_LARGE = 100
CLOCK = """\
CREATE SCHEMA machine;
CREATE FUNCTION machine.transaction_timestamp() RETURNS timestamptz STABLE LANGUAGE sql
AS $$ SELECT current_setting('machine.now')::timestamptz $$;
CREATE FUNCTION machine.clock_timestamp() RETURNS timestamptz STABLE LANGUAGE sql
AS $$ SELECT current_setting('machine.now')::timestamptz $$"""
PATH = "SET search_path = machine, pg_catalog"
# As the ledger's own connections have it, but for the zone, of which nothing may depend.
OPTIONS = "-c plan_cache_mode=force_generic_plan -c jit=off -c timezone=Asia/Tokyo"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A draw that was begun and not finished."""

    process: int
    row: int
    blocks: ClaimedAnswers
    block: CheckedBlock
    holder: str


Claimed = tuple[Answer, list[Drawing]]


@contextmanager
def small_texts() -> Iterator[None]:
    """What is drawn is a text of its own; and what takes long to compute is computed once."""
    with (
        mock.patch.multiple(
            kept_answers,
            cached_text=lambda drawn, order: drawn.text,
            cached_block=lambda text, order, block: SimpleNamespace(text=text),
            _RELATION=TOO_LARGE,
        ),
        mock.patch.object(amounts, "rho_limit", rho_limit),
    ):
        yield


class DrivenLedger(DrivenReleases):
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

    def may_fail(self) -> AbstractContextManager[None]:
        """Around a step, one transaction of which may be undone while the others stand."""
        return nullcontext()

    def nothing_happened(self) -> None:
        """In a step: there was nothing to commit."""

    def write_terms(self, terms: Terms) -> None:
        write_budgets(self.session, SOURCE, policy_of(terms))
        self.use_slots(terms)

    def use_slots(self, terms: Terms) -> None:
        reuse = Reuse(*terms.slot)
        self._claims = [CachedClaims(tables, reuse) for tables in self.processes]
        self.serve_releases()

    def claim_each(self, process: int, asked: Sequence[AskedClaim]) -> list[Claimed]:
        works = [(self._claimed(process, one), one.is_withdrawn) for one in asked]
        with self.each_transaction(process):
            found = self.processes[process].together(works)
        return [one or (WITHDRAWN, []) for one in found]

    def each_transaction(self, process: int) -> AbstractContextManager[None]:
        """Around several, some of which may not wait for the disk."""
        del process
        return nullcontext()

    def committed_each(self, expected: Sequence[bool | None]) -> bool:
        """
        Given    of each of these transactions, whether it has to wait; None: nothing is done
        Gives    whether the last waited though it had not to
        """
        del expected
        return False

    async def _claimed(self, process: int, asked: AskedClaim) -> Claimed:
        questions = [_question(part) for part in asked.parts]
        claims, run = self._claims[process], run_of(asked.who, asked.token)
        try:
            claimed = await claims.claim(
                run, questions, "f", "p", text=_text_of(asked.who), may_draw=asked.may_draw
            )
        except Refusal as refused:
            return _refused(refused), []
        if claimed is None:
            return Answer(states=None), []
        receipt = claimed.receipt
        answer = Answer(
            states=tuple(one.value for one in claimed.states),
            rows=claimed.cached,
            texts=claimed.relations,
            paid=Fraction(0) if receipt is None else receipt.charged.epsilon,
            lines=() if receipt is None else _spent_of(receipt.lines),
            receipt=None if receipt is None else receipt.id,
            holder=claimed.holder,
        )
        slots = tuple(_slots_of(questions, claimed))
        blocks, holder = ClaimedAnswers(claims, run, claimed.holder, slots), claimed.holder
        drawings = [
            Drawing(process, one.cached, blocks, one.part.block, holder)
            for one in slots
            if one.state is CacheState.DRAW and one.cached is not None
        ]
        return answer, drawings

    def finish(self, drawing: Drawing, text: str) -> str | None:
        """What is shown of it; None: nothing."""
        drawn = SimpleNamespace(text=text, drawn=SimpleNamespace(groups=()))
        try:
            shown = at_once(drawing.blocks.stored(drawing.block, cast(Any, drawn)))
        except Unfinished:
            return None
        return str(cast(Any, shown).text)

    def text_of(self, row: int) -> str | None:
        found = self.session.execute(
            "SELECT relation FROM ledger.cached WHERE id = %s", (row,)
        ).fetchone()
        return (
            None
            if found is None
            else at_once(self._claims[0]._opened(run_of("alice"), row, found[0]))
        )

    def let_go(self, drawing: Drawing) -> None:
        at_once(self._claims[drawing.process].let_go(drawing.row, drawing.holder))

    def reserve_each(self, process: int, asked: Sequence[AskedCharge]) -> list[Answer]:
        works = [(self._reserved(process, one), one.is_withdrawn) for one in asked]
        return [one or WITHDRAWN for one in self.processes[process].together(works)]

    async def _reserved(self, process: int, asked: AskedCharge) -> Answer:
        part = asked.part
        tables = dict.fromkeys(part.tables, part.of.loss)
        record = StatementRecord(text=_text_of(asked.who), tables=tables)
        fingerprint = f"{asked.who} {part.of.cost.epsilon}"
        events = (UNREADABLE,) if asked.is_unreadable else part.of.events
        try:
            receipt = await self.processes[process].reserve(
                asked.who, part.of.loss, fingerprint, "p", events, record, asked.token
            )
        except Refusal as refused:
            return _refused(refused)
        except Fault:
            if asked.is_unreadable:
                return NOT_CHARGED
            raise
        return Answer(
            states=("apart",),
            paid=receipt.charged.epsilon,
            lines=_spent_of(receipt.lines),
            receipt=receipt.id,
        )

    def settle(self, receipt: int, *, answered: bool) -> None:
        outcome = ChargeOutcome.ANSWERED if answered else ChargeOutcome.FAILED
        at_once(self.processes[0].settle_each({receipt: outcome}))

    def adjust(self, line: Line, by: Amount, rho: Fraction | None) -> bool:
        kind, name = line
        wanted = Adjustment(kind=LineKind(kind), name=name, by=by, reason="a test", rho=rho)
        try:
            done = adjust(self.dsn, SOURCE, wanted)
            if isinstance(done, WaitingRequest):
                confirm(self.dsn, done.number, "admin API: another")
        except AdjustmentError:
            return False
        return True

    def add(self, who: str, groups: frozenset[str]) -> Person:
        row = self.session.execute(  # as add_analyst, which takes milliseconds for a verifier
            "WITH made AS (INSERT INTO ledger.analyst (name, verifier)"
            " VALUES (%s, 'SCRAM-SHA-256$') RETURNING id),"
            " grouped AS (INSERT INTO ledger.membership SELECT id, g FROM made, unnest(%s::text[]) g)"
            " SELECT id FROM made",
            (who, sorted(groups)),
        ).fetchone()
        assert row is not None
        return Person(row[0], True, groups)

    def remove(self, who: str) -> None:
        remove_analyst(self.dsn, who)

    def make_token(
        self, who: str, days: int, epsilon: Fraction | None, per: str | None = None
    ) -> int:
        most = None if epsilon is None else amounts.decimal(epsilon)
        return create_token(self.dsn, who, days=days, epsilon=most, per=per).number

    def revoke_token(self, token: int) -> None:
        revoke_token(self.dsn, token)

    def found(self) -> Found:
        return found_in(self.session)

    def receipts(self) -> list[tuple[int, str, Fraction, Fraction]]:
        rows = self.session.execute(
            "SELECT id, analyst, epsilon, drawn_epsilon, fingerprint, statement FROM ledger.receipt"
            " ORDER BY place"
        ).fetchall()
        found = []
        for number, who, own, drawn, fingerprint, statement in rows:
            if who != PUBLISHED:  # whose statement is no analyst's
                assert fingerprint in ("f", f"{who} {Fraction(own)}"), fingerprint
                assert LEDGER_CIPHER.decrypted(statement, (who, fingerprint)) == _text_of(who)
            found.append((number, who, Fraction(own), Fraction(drawn)))
        return found

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

    def close(self) -> None:
        for one in self.processes:
            one.loop.close()


def _text_of(who: str) -> str:
    """Of a statement."""
    return f"asked by {who}"


def _refused(refused: Refusal) -> Answer:
    is_of_token = refused.message.startswith("the token")
    match refused.code:
        case Code.OVER_BUDGET:
            return OVER_TOKEN if is_of_token else Answer(states=())
        case Code.PROTECTED:
            return TOKEN_IS_OVER if is_of_token else NOT_AN_ANALYST
        case _:
            raise AssertionError(refused)


def _spent_of(
    lines: Sequence[BudgetLine],
) -> tuple[tuple[str, str, Fraction, Fraction, Fraction], ...]:
    return tuple((one.kind.value, one.name, *one.spent, one.rho_spent) for one in lines)


def _question(part: AskedPart) -> CachedQuestion:
    price = PRICES[part.price]
    assert charge(price.loss).epsilon == price.cost.epsilon
    digest = None if part.name is None else bytes([part.name]) * 32
    return named_slot(priced(price.loss, price.events, part.tables), digest)
