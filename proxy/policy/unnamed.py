"""Tables and columns that the role can read and the policy does not name."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.catalog.catalog_model import Catalog, Table
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.policy_model import IdentifierUnit, Policy, PublicTable


def unnamed_findings(policy: Policy, catalog: Catalog) -> Iterator[Finding]:
    """One a table. A table that the policy does not name comes after those that it names."""
    for name in sorted(catalog.tables, key=lambda name: (name not in policy.tables, name)):
        missing = _missing(policy, catalog.tables[name])
        if name not in policy.tables:
            what = f"{name} is not in the policy"
        elif missing:
            what = f"{name}: not in the policy: {', '.join(missing)}"
        else:
            continue
        path = ("tables", str(name)) if name in policy.tables else ("tables",)
        yield Finding(name=FindingName.NOT_IN_THE_POLICY, where=str(name), what=what, path=path)


def _missing(policy: Policy, there: Table) -> list[str]:
    table = policy.tables.get(there.name)
    columns = [column.name for column in there.columns]
    match table:
        case None:
            return columns
        case PublicTable():
            return [column for column in columns if not table.has(column)]
        case _:
            unit = table.unit.column if isinstance(table.unit, IdentifierUnit) else None
            return [column for column in columns if column not in (*table.columns, unit)]
