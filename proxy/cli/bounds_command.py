"""`dpproxy policy bounds`: bounds of a policy, chosen privately and paid by the shared budget."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from proxy.base.decimals import decimal_text
from proxy.base.errors import Code, Refusal
from proxy.base.instants import iso_text
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
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
from proxy.kernel.proposal_plan import Proposed, ProposedBound, TableProposals
from proxy.ledger.bounds_account import POLICY_BOUNDS, open_account
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.text_keys import TextKeyMissing, reading_cipher
from proxy.planner.bound_proposals import proposal_plan
from proxy.planner.facts import planning_context
from proxy.release.choosing_bounds import ChosenBound

# Proposed bounds as a piece of a policy, with what each of them means.

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_YAML_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_DAY_SECONDS = 86_400


def bounds_report(
    plan: CheckedProposals,
    found: Mapping[TableName, tuple[ChosenBound, ...]],
    database: str,
    account: str,
    receipt: str,
    day: int,
) -> Iterator[str]:
    """Lines of YAML and comments: a piece of a policy that fits the one that it was made for.

    Given    day: today, in days since 1970-01-01
    """
    spent = text_of(plan.loss.epsilon)
    yield f"# Bounds for {database}, proposed privately. It cost epsilon {spent} of the shared budget"
    yield f'# (total); `dpproxy ledger show` has it as "{account}", receipt {receipt}. Another run costs'
    yield "# as much. Put what you take into the same tables of the policy. What is beyond a bound is"
    yield "# clamped to it. Numbers of units (of rows, where a row is the unit) are noisy, and within their"
    yield "# error in 95 of 100 cases."
    yield "tables:"
    for table in plan.proposed:
        yield f"  {_name(str(table.table))}:"
        yield from _table(table, found[table.table], day)


def _table(table: TableProposals, found: tuple[ChosenBound, ...], day: int) -> Iterator[str]:
    units = "rows" if table.unit is None else "units"
    pairs = list(zip(table.bounds, found, strict=True))
    rows: int | None = None
    for bound, chosen in pairs:
        if bound.what is Proposed.ROWS:
            rows = chosen.bound
            yield from _of_unit("max_rows_per_unit", "rows", chosen, chosen.bound)
        elif bound.what is Proposed.GROUPS:
            number = chosen.bound
            if rows is not None and number is not None:
                number = min(number, rows)  # a unit is in no more groups than it has rows
            yield from _of_unit("max_groups_per_unit", "groups of the listed keys", chosen, number)
    columns: dict[str, dict[Proposed, _End]] = {}
    for bound, chosen in pairs:
        if bound.column is not None:
            of_column = columns.setdefault(bound.column.column, {})
            of_column[bound.what] = _End(bound=bound, chosen=chosen)
    if any(
        len(ends) == 2 and any(end.chosen.bound for end in ends.values())
        for ends in columns.values()
    ):
        yield "    columns:"
    for name, ends in columns.items():
        yield from _column(name, ends[Proposed.LOW], ends[Proposed.HIGH], units, day)


def _of_unit(key: str, what: str, chosen: ChosenBound, number: int | None) -> Iterator[str]:
    if number is None:
        yield f"    # {key}: fewer than about {chosen.needed} units, too few to choose by: state what is known."
        return
    yield f"    # {what} of a unit: about {_beyond(chosen)} of {_all(chosen)} units have more."
    yield f"    {key}: {number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    bound: ProposedBound
    chosen: ChosenBound

    @property
    def value(self) -> Fraction:
        """Rounded outwards to two digits, within what the type holds; 0 where nothing was chosen."""
        number = self.chosen.bound
        if number is None:
            return Fraction(0)
        assert self.bound.column is not None and self.bound.most is not None
        kind = self.bound.column.type
        if kind.is_time:
            whole_day = 0 if kind is SqlType.DATE or self.bound.what is Proposed.LOW else 1
            steps = number + whole_day
        else:
            unit = 10 ** max(0, len(str(number)) - 2)
            steps = -(-number // unit) * unit
        value = steps * self.bound.step
        value = value if kind.is_time else min(value, self.bound.most)
        return -value if self.bound.what is Proposed.LOW else value

    def may_be(self, day: int) -> bool:
        """Whether it is a time, and today lies between it and the next smaller bound."""
        column, number = self.bound.column, self.chosen.bound
        if number is None or column is None or not column.type.is_time:
            return False
        smaller = max((one for one in self.bound.choice.bounds if one < number), default=0)
        return smaller < day <= number  # both in days, whatever the type

    def text(self, units: str) -> str:
        side = "below" if self.bound.what is Proposed.LOW else "above"
        if self.chosen.bound is None:
            end = _text(self, Fraction(0))
            return f"fewer than about {self.chosen.needed} {units} have a value {side} {end}"
        return f"about {_beyond(self.chosen)} {units} have a value {side} {_text(self, self.value)}"


def _column(name: str, low: _End, high: _End, units: str, day: int) -> Iterator[str]:
    if low.chosen.bound is None and high.chosen.bound is None:
        yield (
            f"    # {_name(name)}: fewer than about {high.chosen.needed} {units} have a value on either side of"
            f" {_text(high, Fraction(0))}, too few to choose by: state bounds that are known without the data."
        )
        return
    yield f"      # {low.text(units)}; {high.text(units)}."
    if high.may_be(day):
        yield "      # If its values end with the present, write `now` for the upper bound: it moves with it."
    yield f"      {_name(name)}: {{bounds: [{_text(low, low.value)}, {_text(high, high.value)}]}}"


def _text(end: _End, value: Fraction) -> str:
    assert end.bound.column is not None
    kind = end.bound.column.type
    if not kind.is_time:
        return decimal_text(value)
    days = value if kind is SqlType.DATE else value / _DAY_SECONDS
    return iso_text(days, SqlType.DATE)


def _beyond(chosen: ChosenBound) -> str:
    return f"{max(0, chosen.above)} +-{chosen.half_width}"


def _all(chosen: ChosenBound) -> str:
    return f"{max(0, chosen.units)} +-{chosen.half_width}"


def _name(name: str) -> str:
    """As YAML reads it as a text."""
    is_plain = _PLAIN.fullmatch(name) is not None and name.lower() not in _YAML_WORDS
    return name if is_plain else json.dumps(name, ensure_ascii=False)


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
