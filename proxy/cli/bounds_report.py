"""Proposed bounds as a piece of a policy, with what each of them means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from proxy.base.decimals import decimal_text
from proxy.base.instants import iso_text
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.engine.accuracy import text_of
from proxy.kernel.proposal_check import CheckedProposals
from proxy.kernel.proposal_plan import Proposed, ProposedBound, TableProposals
from proxy.release.choosing_bounds import ChosenBound

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
