"""What was found about a policy and its database, and what of it the owner accepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from proxy.catalog.catalog_model import Catalog, Table, TableName
from proxy.policy.finding_names import FindingName, Severity
from proxy.policy.policy_model import (
    TIMES_OF_COPIES,
    Acceptance,
    IdentifierUnit,
    Policy,
    PublicTable,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """where: the table, setting, role or attribute, as `accept` names it. fix: SQL for an administrator of
    the protected database, or YAML for the policy; empty where there is nothing to do. path: of the keys of
    the policy that it is about, as in a Problem. subjects: the columns of `where`, or the other tables, that
    the finding names. An acceptance of a severe finding names them all, so that what comes later is open."""

    name: FindingName
    where: str
    what: str
    fix: str = ""
    path: tuple[str | int, ...] = ("source",)
    subjects: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        return self.name.severity


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedFinding:
    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """open: what nobody has accepted, the worst first."""

    open: tuple[Finding, ...]
    accepted: tuple[AcceptedFinding, ...]

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.open if finding.severity is severity)

    @property
    def refuses(self) -> bool:
        return bool(self.of(Severity.SEVERE))

    def with_more(self, other: Verdict) -> Verdict:
        """Join two verdicts on one policy."""
        return Verdict(
            open=_worst_first((*self.open, *other.open)),
            accepted=(*self.accepted, *other.accepted),
        )


def judged(findings: Iterable[Finding], acceptances: Sequence[Acceptance]) -> Verdict:
    """
    Given    acceptances: of the policy
    Gives    each finding once, open or accepted; an acceptance of what was not found is a finding too
    """
    open_findings: list[Finding] = []
    accepted: list[AcceptedFinding] = []
    used: set[Acceptance] = set()
    covered: set[tuple[Acceptance, str]] = set()
    for finding in dict.fromkeys(findings):
        about = [one for one in acceptances if _is_about(one, finding)]
        used.update(about)
        covered.update((one, subject) for one in about for subject in finding.subjects)
        matching = [one for one in about if not uncovered(finding, one)]
        if matching:
            accepted.append(AcceptedFinding(finding=finding, reason=matching[0].said))
        else:
            open_findings.append(_reopened(finding, about[0]) if about else finding)
    for one in acceptances:
        places = [each.finding.where for each in accepted if each.finding.name is one.name]
        if places and one.where is None and _is_of_public_tables(one.name):
            open_findings.append(_wherever(one, places))
    open_findings += [_without_effect(one) for one in acceptances if one not in used]
    for one in used:
        stale = [subject for subject in one.covers or () if (one, subject) not in covered]
        if stale:
            open_findings.append(_without_effect(one, sorted(stale)))
    return Verdict(open=_worst_first(open_findings), accepted=tuple(accepted))


def _worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    rank = list(Severity)
    return tuple(sorted(findings, key=lambda finding: rank.index(finding.severity)))


def _is_about(acceptance: Acceptance, finding: Finding) -> bool:
    return acceptance.name is finding.name and acceptance.where in (None, finding.where)


def uncovered(finding: Finding, acceptance: Acceptance) -> list[str]:
    """The subjects of a finding that an acceptance of it does not name. Of a warning it need not name any."""
    covers = acceptance.covers
    if covers is None:
        return list(finding.subjects) if finding.severity is Severity.SEVERE else []
    return [subject for subject in finding.subjects if subject not in covers]


def _reopened(finding: Finding, acceptance: Acceptance) -> Finding:
    missing = ", ".join(uncovered(finding, acceptance))
    return replace(finding, what=f"{finding.what}; accept does not cover {missing}")


def _is_of_public_tables(name: FindingName) -> bool:
    return name.severity is Severity.SEVERE and name.name.startswith("PUBLIC_")


def _wherever(acceptance: Acceptance, places: Sequence[str]) -> Finding:
    first, name = places[0], acceptance.name.name
    return Finding(
        name=FindingName.ACCEPTED_WHEREVER,
        where=name,
        what=f"the policy accepts {name} wherever it is found (now of {', '.join(places)}): the next public "
        "table passes unseen",
        fix=f'name the table: {name}: {{{first}: "the reason"}}',
        path=("accept", name),
    )


def _without_effect(acceptance: Acceptance, stale: Sequence[str] = ()) -> Finding:
    of = "" if acceptance.where is None else f" of {acceptance.where}"
    of += f": {', '.join(stale)}" if stale else ""
    path = ("accept", acceptance.name.name)
    return Finding(
        name=FindingName.ACCEPTED_WITHOUT_EFFECT,
        where=acceptance.name.name,
        what=f"the policy accepts {acceptance.name.name}{of}, which was not found",
        fix="remove it from covers" if stale else "remove the line from accept",
        path=path if acceptance.where is None else (*path, acceptance.where),
    )


# Tables and columns that the role can read and the policy does not name.


def unnamed_findings(policy: Policy, catalog: Catalog) -> Iterator[Finding]:
    """One a table. A table that the policy does not name comes after those that it names."""
    copies = {one.prepared.table for one in policy.protected() if one.prepared is not None}
    copies |= {TableName(copy.schema, TIMES_OF_COPIES) for copy in copies}
    for name in sorted(catalog.tables.keys() - copies, key=lambda n: (n not in policy.tables, n)):
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


# One thing that is wrong with a policy, by the path of keys that leads to it.


@dataclass(frozen=True, slots=True)
class Problem:
    """path: ("tables", "shop.orders", "columns", "total", "bounds"); a list's item by its index.

    at_key: the key itself is wrong (a column that is not there), not what it is given.
    """

    path: tuple[str | int, ...]
    message: str
    hint: str = ""
    at_key: bool = False

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))}: {self.message}"
