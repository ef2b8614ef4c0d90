"""`dpproxy policy bounds`: bounds of a policy, chosen privately and paid by the shared budget."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from proxy.base.errors import Code, Refusal
from proxy.catalog.catalog_model import TableName
from proxy.cli.bounds_report import bounds_report
from proxy.cli.building import known_source
from proxy.cli.cli_error import CliError
from proxy.cli.findings_report import refusal_text
from proxy.cli.held_budgets import charging, held_budgets
from proxy.cli.loading import CheckedPolicy, contents_of, verdict_of
from proxy.cli.proxy_servers import accept_command, ledger_only
from proxy.cli.running import run
from proxy.cli.state_folder import state_folder
from proxy.engine.accuracy import text_of
from proxy.engine.bound_proposing import BoundProposals, proposed_bounds
from proxy.engine.machine_clock import day_of_machine
from proxy.kernel.proposal_check import CheckedProposals
from proxy.ledger.bounds_account import POLICY_BOUNDS, open_account
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.text_keys import TextKeyMissing, reading_cipher
from proxy.planner.bound_proposals import proposal_plan
from proxy.planner.facts import planning_context


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """table None: all that has no bounds."""

    table: str | None
    columns: Sequence[str]
    epsilon: Fraction


def proposed(
    checked: CheckedPolicy, wanted: Wanted, state: Path | None, ledger_dsn: str | None
) -> list[str]:
    """Lines of YAML, after the charge.

    Refuses  CliError: not charged; Fault of what goes wrong later: charged
    """
    plan = _plan(checked, wanted)
    verdict = verdict_of(checked)
    if verdict.refuses:
        raise CliError(refusal_text(verdict, checked.text, checked.file))
    home = state_folder(state)
    options = f"--state {shlex.quote(str(home))}" if ledger_dsn is None else "--ledger DSN"
    with ledger_only(state, ledger_dsn) as dsn:
        source = known_source(checked, dsn, Path(checked.file), options)
        try:
            texts = reading_cipher(home)
        except TextKeyMissing as error:
            raise CliError(str(error)) from None
        accept = accept_command(home, ledger_dsn)
        with held_budgets(checked.policy, source.id, dsn, home, accept):
            try:
                open_account(dsn, source.id)
                found = run(_run(checked, plan, LedgerTables(dsn, source.id, texts, connections=1)))
            except Refusal as refusal:
                raise CliError(_refused(refusal, plan)) from None
    receipt = found.receipt
    database, day = checked.policy.database, day_of_machine()
    return list(bounds_report(plan, found.tables, database, POLICY_BOUNDS, receipt, day))


def _plan(checked: CheckedPolicy, wanted: Wanted) -> CheckedProposals:
    known = planning_context(
        checked.policy, checked.catalog, contents_of(checked), day_of_machine()
    )
    table = None
    if wanted.table is not None:
        schema, _, name = wanted.table.rpartition(".")
        table = TableName(schema or "public", name)
    elif wanted.columns:
        raise CliError("--column needs --table")
    try:
        return proposal_plan(known, wanted.epsilon, table, wanted.columns)
    except Refusal as refusal:
        raise CliError(f"{refusal.message}. {refusal.hint}") from None


async def _run(
    checked: CheckedPolicy, plan: CheckedProposals, tables: LedgerTables
) -> BoundProposals:
    async with charging(checked.policy, checked.catalog, tables) as to:
        return await proposed_bounds(plan, POLICY_BOUNDS, to.drawer, to.ledger)


def _refused(refusal: Refusal, plan: CheckedProposals) -> str:
    if refusal.code is not Code.OVER_BUDGET:
        return f"{refusal.message}. {refusal.hint}"
    return (
        f"the shared budget (total) does not cover epsilon {text_of(plan.loss.epsilon)}. Nothing was"
        " read, and nothing is charged. A smaller --epsilon costs less; the total is in the policy"
    )
