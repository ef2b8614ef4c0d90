"""`dpproxy explain`: the privacy plan of a statement from policy, catalogue and public tables, without ledger.

It starts a shadow of its own only where constants have to be evaluated."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Sequence
from typing import NoReturn

from proxy.base.errors import Code, Fault, Refusal
from proxy.catalog.catalog_model import Catalog
from proxy.cli.cli_error import CliError
from proxy.cli.loading import CheckedPolicy
from proxy.drawing.answer_slots import CachedQuestion, PaidAnswer
from proxy.drawing.charges import Payable
from proxy.drawing.drawer import Drawer
from proxy.drawing.statement_run import StatementRun, run_of_owner
from proxy.engine.machine_clock import day_of_machine
from proxy.engine.policy_statements import ProtectedQuery, numbered, resolved
from proxy.engine.query_pipeline import Engine
from proxy.planner.facts import PublicContents
from proxy.planner.label_evaluation import EvaluatingKeys
from proxy.policy.policy_model import Policy
from proxy.query.syntax.statements import Execute, Statement
from proxy.shadow.constant_evaluation import (
    Evaluating,
    ShadowLabels,
    beside,
    own_shadow,
    read_with_constants,
)
from proxy.shadow.shadow_tables import ShadowError
from proxy.turns.threads import Turn

__all__ = ["NoData", "NoLedger", "explanation", "refusal_text", "resolved"]

_EXPLAIN, _EXPLAIN_JSON = "EXPLAIN ", "EXPLAIN (FORMAT JSON) "


# What the shadow would make of it is not known here: a misspelt SELECT is such a statement, too.
_NOT_PLANNED = (
    "there is no privacy plan for this statement: it is not a query that names a protected table of the policy."
    " PostgreSQL itself, without any data about people, would run it or refuse it as it is"
)
_NO_ROWS = (
    "there is no privacy plan for this statement: it needs no row of a protected table, and nothing"
    " is charged"
)
_WRAPPED = "EXPLAIN takes a query: explain the SELECT in this statement by itself"
_EXECUTE = "what EXECUTE runs is known to its session only: explain the prepared statement itself"


async def explanation(
    checked: CheckedPolicy, public: PublicContents, sql: str, *, as_json: bool
) -> str:
    """Explain the plan of a statement, as `serve` plans it before anything is cached or published.

    Args:
        checked: Policy and catalogue.
        public: Of the policy's public tables, as `serve` reads them.
        sql: One statement, with or without EXPLAIN.
        as_json: Whether JSON is wanted.

    Returns:
        The plan as text or JSON, without the remaining budget, which the ledger knows.

    Raises:
        Refusal: As of the engine, with positions in `sql`.
        CliError: There is nothing to plan.
    """
    with contextlib.ExitStack() as opened:
        shadow = functools.cache(
            lambda: opened.enter_context(own_shadow(checked.policy, checked.catalog))
        )
        labels = opened.enter_context(contextlib.closing(ShadowLabels(lambda: beside(shadow()))))
        engine = engine_without_data(checked.policy, checked.catalog, public, labels)
        return await _explanation(
            engine, sql, lambda: contextlib.nullcontext(shadow()), as_json=as_json
        )


async def _explanation(engine: Engine, sql: str, opening: Evaluating, *, as_json: bool) -> str:
    """opening: opens a session that evaluates them."""
    words = sql.split(maxsplit=1)
    prefix = _EXPLAIN_JSON if as_json else _EXPLAIN
    if words and words[0].lower() == "explain":
        prefix = ""
    statements = engine.statements.split(sql)
    if len(statements) > 1:
        second = len(sql) - len(sql[statements[1][0] :].lstrip()) + 1
        raise Refusal(
            Code.SYNTAX, "there is more than one statement", "Explain them one by one.", second
        )
    try:
        if isinstance(engine.statements.look(sql), Execute):
            raise CliError(_EXECUTE)
        question, constants = read_with_constants(
            engine.statements,
            prefix + sql,
            lambda found: resolved(found, numbered(engine.policy)),
            opening,
        )
        if question is None or question.reads_nothing:
            # Of rows, EXPLAIN says nothing; the statement itself says why they cannot be had.
            prefix = ""
            itself = protected_query(engine, sql)
            raise CliError(_why_no_plan(itself))
        answer = await engine.run(question, constants, {}, run_of_owner(""))
    except ShadowError as error:
        raise CliError(f"constants of the statement cannot be evaluated: {error}") from None
    except Refusal as refusal:
        if refusal.position is None:
            raise
        raise refusal.at(refusal.position - len(prefix)) from None
    displayed = json.loads(answer.relation)["explain"]
    if question.statement.explain_json:
        return json.dumps(displayed[0], indent=2)
    return "\n".join(displayed)


def _why_no_plan(question: ProtectedQuery | None) -> str:
    if question is None:
        return _NOT_PLANNED
    return _NO_ROWS if question.reads_nothing else _WRAPPED


def engine_without_data(
    policy: Policy,
    catalog: Catalog,
    public: PublicContents,
    evaluating: EvaluatingKeys | None = None,
) -> Engine:
    """Build an engine that plans as the one of `serve`, and neither reads nor charges."""
    ledger = NoLedger()
    cached = None if policy.reuse is None else ledger
    return Engine(
        *(Drawer(policy, catalog, NoData(), NoBits()), numbered(policy), ledger, public),
        cached=cached,
        questions=ledger if policy.publish else None,
        evaluating=evaluating,
    )


def protected_query(engine: Engine, sql: str) -> ProtectedQuery | None:
    """One statement, read; None where it asks of nothing protected.

    Refuses  as PolicyStatements.look and read
    """
    found = engine.statements.look(sql)
    if not isinstance(found, Statement):
        return None
    return engine.statements.read(found, resolved(found, numbered(engine.policy)), ())


def refusal_text(refusal: Refusal, sql: str) -> str:
    """As psql shows an error: the line of the statement and a caret.

    >>> from proxy.base.errors import Code
    >>> print(refusal_text(Refusal(Code.SYNTAX, "no", "Do.", 3), "a b"))
    ERROR:  no
    LINE 1: a b
              ^
    HINT:  Do.
    """
    lines = [f"ERROR:  {refusal.message}"]
    if refusal.position is not None:
        before = sql[: refusal.position - 1]
        number = before.count("\n") + 1
        head = f"LINE {number}: "
        column = len(before) - (before.rfind("\n") + 1)
        lines += [head + sql.split("\n")[number - 1], " " * (len(head) + column) + "^"]
    if refusal.hint:
        lines.append(f"HINT:  {refusal.hint}")
    return "\n".join(lines)


class NoBits:
    def below(self, n: int) -> NoReturn:
        raise Fault("an explanation draws nothing")


class NoData:
    def session(self, turn: Turn) -> NoReturn:
        raise Fault("an explanation reads nothing")


class NoLedger:
    """A ledger that knows of nothing spent and nothing shown, and takes no charge."""

    async def look(self, analyst: str, plan: Payable) -> NoReturn:
        raise Fault("an explanation charges nothing")

    async def reserve(
        self,
        run: StatementRun,
        plan: Payable,
        fingerprint: str,
        digest: str,
        text: str | None = None,
    ) -> NoReturn:
        raise Fault("an explanation charges nothing")

    async def settle(self, receipt: str, answered: bool) -> None:
        raise Fault("an explanation charges nothing")

    async def claim(
        self,
        run: StatementRun,
        parts: Sequence[CachedQuestion],
        fingerprint: str,
        digest: str,
        *,
        may_draw: bool,
        text: str | None = None,
    ) -> NoReturn:
        raise Fault("an explanation charges nothing")

    async def shown(self, run: StatementRun, cached: int) -> NoReturn:
        raise Fault("an explanation shows nothing")

    async def paid_about(self, analyst: str, wanted: Sequence[bytes]) -> Sequence[PaidAnswer]:
        return ()

    async def paid_of(self, analyst: str, digests: Sequence[bytes]) -> frozenset[bytes]:
        return frozenset()

    async def remaining(self, analyst: str) -> None:
        return None

    async def admitted(self, analyst: str) -> None:
        return None

    async def day(self) -> int:
        return day_of_machine()

    async def person(self, analyst: str) -> None:
        return None

    async def budget(self, analyst: str) -> str:
        return "[]"

    async def history(
        self,
        turn: Turn,
        *,
        newest_first: bool = False,
        before: int | None = None,
        limit: int = 10_000,
    ) -> str:
        return "[]"
