"""From how many units on groups are shown, where a policy has a smallest group. No protected row is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import Catalog
from proxy.cli.explain_command import engine_without_data, protected_query
from proxy.engine.group_threshold import units_needed
from proxy.engine.machine_clock import day_of_machine
from proxy.engine.query_pipeline import Engine
from proxy.engine.unit_words import units_word
from proxy.kernel.plan import BlockPlan
from proxy.planner.facts import PublicContents
from proxy.policy.policy_model import Policy, ProtectedTable
from proxy.release.small_groups import number_needed


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestGroup:
    """Of a table: the policy's number; with how many units a group of public keys, and one of private keys, is
    shown half of the time. None: no such keys are there, or it cannot be asked. At the policy's epsilon, by a
    statement that asks for COUNT(*) alone."""

    table: str
    units: str
    fewest: int
    public_half: int | None
    private_half: int | None

    def text(self) -> str:
        """As a line of `policy check`."""
        told = [f"{self.table}: no group of fewer than {self.fewest:,} {self.units} is shown"]
        if self.public_half is not None:
            told.append(f"by public keys half of those with {self.public_half:,} are")
        if self.private_half is not None:
            told.append(f"by private keys half of those with {self.private_half:,}")
        return ", ".join(told)


def smallest_groups(
    policy: Policy, catalog: Catalog, public: PublicContents
) -> Iterator[SmallestGroup]:
    """One for each table with a number above 1."""
    engine = engine_without_data(policy, catalog, public)
    for table in policy.protected():
        fewest = policy.fewest_units([table.name])
        if fewest <= 1:
            continue
        whole = _planned(engine, table, "")
        private = next(_private(engine, table), None)
        known = whole or private
        yield SmallestGroup(
            table=str(table.name),
            units="units" if known is None else units_word(known),
            fewest=fewest,
            public_half=None if whole is None else number_needed(whole),
            private_half=None
            if private is None or private.selection is None
            else units_needed(private.selection)["half"],
        )


def _private(engine: Engine, table: ProtectedTable) -> Iterator[BlockPlan]:
    """Plans by one key that is not public."""
    for column in table.columns.values():
        found = None if column.values is not None else _planned(engine, table, column.name)
        if found is not None and found.selection is not None:
            yield found


def _planned(engine: Engine, table: ProtectedTable, key: str) -> BlockPlan | None:
    """COUNT(*), by a key if one is named. None: that is refused."""
    by = f" GROUP BY {_quoted(key)}" if key else ""
    name = f"{_quoted(table.name.schema)}.{_quoted(table.name.name)}"
    try:
        query = protected_query(engine, f"SELECT count(*) FROM {name}{by}")  # noqa: S608
        assert query is not None, "it asks of a protected table"
        (block,) = engine.planned(query, {}, day=day_of_machine()).blocks
    except Refusal:
        return None
    return block


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
