"""The facts of `dpproxy policy report`: who may learn how much about whom, from policy and ledger alone.

Nothing here reads a row, and nothing here is made of `Policy.source`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from proxy.engine.promise_words import odds_words
from proxy.engine.report_changes import EarlierReport, changes_section
from proxy.engine.report_evidence import (
    ASSUMPTIONS,
    NOT_PROMISED,
    OUTSIDE,
    TESTED,
    ProvenPart,
    proven_parts,
)
from proxy.engine.report_registry import privacy_label, registry_entry
from proxy.engine.report_section import Section
from proxy.engine.unit_words import unit_of_policy
from proxy.mechanisms.loss import Loss
from proxy.policy.amount_findings import (
    amount_findings,
    block_findings,
    stated_budgets,
    yearly_losses,
)
from proxy.policy.change_words import word_of
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import judged
from proxy.policy.odds_words import odds_text, reached
from proxy.policy.policy_changes import bounds_text, rows_text, stated_unit_text
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import (
    Accounting,
    Budget,
    ColumnPolicy,
    Period,
    Policy,
    ProtectedTable,
    PublicTable,
    Said,
    StatementTexts,
)
from proxy.policy.publication import Publication

_LISTED = 50  # values of a column
_LARGE = Fraction(10)  # where a guess of 1 in 100 comes to more than 99 %


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerFacts:
    """What the ledger says of one source.

    Attributes:
        spent: Rows of `SPENT_HEADS`, as `dpproxy ledger show` has them. No statement, no answer.
        adjustments: Rows of `ADJUSTMENT_HEADS`.
        waiting: Requests to give budget back that nobody has confirmed.
        earlier: The last report that is noted.
        restored: When the ledger was restored from a backup, and as of when.
        analysts: Rows of `ANALYST_HEADS`.
        first_served: When the policy was served first. None: never.
    """

    source: str
    spent: tuple[tuple[str, ...], ...]
    adjustments: tuple[tuple[str, ...], ...]
    waiting: tuple[str, ...] = ()
    earlier: EarlierReport | None = None
    restored: tuple[str, ...] = ()
    analysts: tuple[tuple[str, ...], ...] = ()
    first_served: str | None = None


SPENT_HEADS = (
    *("budget", "per", "epsilon spent", "epsilon limit", "delta spent", "delta limit"),
    *("rho spent", "rho limit", "used", "receipts"),
)
ANALYST_HEADS = ("analyst", "groups", "may query this database")
ADJUSTMENT_HEADS = ("at", "budget", "epsilon", "delta", "rho", "reason", "by", "confirmed by")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyReport:
    """head: what the report is about, as names and values; registry, label: for programs."""

    head: Mapping[str, str]
    sections: tuple[Section, ...]
    registry: Mapping[str, object]
    label: Mapping[str, object]


def policy_report(
    policy: Policy, ledger: LedgerFacts | None, version: str, at: datetime
) -> PrivacyReport:
    """
    Args:
        policy: Consistent in itself. It is not held against a database.
        ledger: None if no ledger was read.
        version: Of dpproxy.
        at: When it is made, in UTC.
    """
    head = {
        "database": policy.database,
        "policy (SHA-256)": policy.digest,
        "made on": f"{at:%Y-%m-%d %H:%M:%S} UTC",
        "dpproxy": version,
        "ledger": "not read" if ledger is None else f"source {ledger.source}",
    }
    if ledger is not None:
        head["first served"] = ledger.first_served or "never, as far as this ledger knows"
    sections = (
        changes_section(
            policy, None if ledger is None else ledger.earlier, has_ledger=ledger is not None
        ),
        _protected(policy),
        _analysts(ledger),
        _public(policy),
        _accepted(policy),
        _findings(policy),
        _mechanisms(policy),
        _budgets(policy),
        _spent(ledger),
        _adjustments(ledger),
        _year(policy),
        _published(policy),
        _smallest_groups(policy),
        _invariants(policy),
        _clipping(policy),
        _kept(policy),
        Section(
            key="not_promised",
            title="What is not promised",
            text=("The page on security of this version has the details of each.",),
            heads=("what", "in short"),
            rows=tuple(NOT_PROMISED.items()),
        ),
        Section(
            key="tested",
            title="How it was tested",
            text=(
                "The makers of the proxy wrote and run these tests, before each version. No test reads your"
                " data. `dpproxy audit` runs the first one for your policy, on invented data.",
            ),
            heads=("test", "what it does", "where"),
            rows=TESTED,
        ),
        OUTSIDE,
    )
    mechanisms = dict.fromkeys(part.mechanism for part in proven_parts(policy))
    return PrivacyReport(
        head=head,
        sections=sections,
        registry=registry_entry(policy, mechanisms),
        label=privacy_label(policy),
    )


def _protected(policy: Policy) -> Section:
    return Section(
        key="unit",
        title="Who is protected",
        text=(
            "Two databases are neighbours if one of them has the rows of one unit and the other has not"
            " (add or remove one unit). The promise compares the answers of two neighbours.",
            "Trust is central: the proxy and the database's operator see exact rows, analysts do not.",
            f"The same bound holds for any other guess about {unit_of_policy(policy)}, such as what is in their"
            " rows, whatever the guesser knows besides.",
            "A table or a column that is not listed here or as public does not exist for analysts.",
            _about(policy.units_about),
        ),
        heads=("table", "unit", "columns that analysts can use"),
        rows=tuple(
            (str(table.name), stated_unit_text(table.unit), ", ".join(table.columns) or "none")
            for table in policy.protected()
        ),
    )


def _about(units: int | None) -> str:
    if units is None:
        return "The policy does not say about how many units there are (units_about)."
    return f"By public knowledge there are about {units:,} units (units_about of the policy)."


def _public(policy: Policy) -> Section:
    rows: list[tuple[str, ...]] = []
    for table in policy.tables.values():
        match table:
            case PublicTable(name=name, columns=columns, said=said):
                shown = "all columns" if columns is None else ", ".join(columns)
                rows.append((str(name), "public table, copied exactly", shown, *_signed(said)))
            case ProtectedTable(name=name, columns=listed):
                for column in listed.values():
                    where, signed = f"{name}.{column.name}", _signed(column.said)
                    rows += ((where, *one, *signed) for one in _stated(column))
    unsigned = sum(row[3] == "-" for row in rows)
    return Section(
        key="public",
        title="What the owner states as public",
        text=(
            "The owner promises that none of this was read off the data. The proxy cannot check that.",
            f"Of {len(rows)} statements {unsigned} name nobody who says so (`said_by`): ask the owner who does."
            if unsigned
            else "Each names who says so.",
        ),
        heads=("where", "what", "as stated", "said by", "said on"),
        rows=tuple(rows),
    )


def _signed(said: Said) -> tuple[str, str]:
    return said.by or "-", "-" if said.on is None else said.on.isoformat()


def _stated(column: ColumnPolicy) -> Iterator[tuple[str, str]]:
    if column.values is not None:
        yield "listed values", _listed(["NULL" if one is None else one for one in column.values])
    if column.bounds is not None:
        yield "bounds", bounds_text(column.bounds)
    if column.per_unit is not None and not column.chooses_per_unit:
        yield "bounds of a unit's sum", bounds_text(column.per_unit)


def _listed(values: Sequence[str]) -> str:
    more = len(values) - _LISTED
    return ", ".join(values[:_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _accepted(policy: Policy) -> Section:
    return Section(
        key="accepted",
        title="Findings that the owner accepts",
        text=(
            "`dpproxy policy check` explains each finding. It also has those that nobody accepts."
            if policy.accepted
            else "None.",
        ),
        heads=("finding", "where", "covers", "reason", "said by", "said on")
        if policy.accepted
        else (),
        rows=tuple(
            (
                one.name.name,
                one.where or "wherever it is found",
                ", ".join(sorted(one.covers or ())) or "-",
                one.reason,
                *_signed(one.signed),
            )
            for one in policy.accepted
        ),
    )


def _analysts(ledger: LedgerFacts | None) -> Section:
    key, title = "analysts", "Who may ask"
    if ledger is None:
        return Section(key=key, title=title, text=("Not in this report: no ledger was named.",))
    return Section(
        key=key,
        title=title,
        text=(
            "All of them together are bounded by the total below, each by a line of the budgets.",
        ),
        heads=ANALYST_HEADS,
        rows=ledger.analysts,
    )


def _findings(policy: Policy) -> Section:
    found = judged(amount_findings(policy), policy.accepted).open
    found = tuple(one for one in found if one.name is not FindingName.ACCEPTED_WITHOUT_EFFECT)
    return Section(
        key="findings",
        title="Findings that nobody accepts",
        text=(
            "These follow from the policy alone."
            if found
            else "None follows from the policy alone.",
            "Findings about the database and its role need the database: file the output of `dpproxy policy"
            " check` beside this report.",
        ),
        heads=("finding", "severity", "what") if found else (),
        rows=tuple((one.name.name, one.severity.value, one.what) for one in found),
    )


def _mechanisms(policy: Policy) -> Section:
    def row(part: ProvenPart) -> tuple[str, ...]:
        return part.used_for, part.mechanism, f"PROOFS.md {part.section}"

    return Section(
        key="mechanisms",
        title="Mechanisms and their proofs",
        text=(
            "Each statement is (epsilon, delta)-differentially private. Noise is drawn from exact discrete"
            " distributions with random bits of the operating system.",
            "PROOFS.md is in the folder proxy/mechanisms of this version's source. All assumptions are in one"
            f" section: {ASSUMPTIONS}.",
        ),
        heads=("used for", "mechanism", "proof"),
        rows=tuple(map(row, proven_parts(policy))),
    )


def _budgets(policy: Policy) -> Section:
    total = policy.budgets.total
    statement = Loss(policy.privacy.epsilon, policy.privacy.delta)
    largest = Loss(policy.privacy.max_epsilon, policy.privacy.max_delta)
    text = [f"{of}: {odds}." for of, odds in odds_words(policy)]
    if total.limit.epsilon > _LARGE:
        text.append(
            f"Above epsilon {decimal(_LARGE)} the bound excludes hardly any guess. It is the worst case:"
            " somebody who has every answer, and knows everything about everybody else. Ask the owner who can"
            " have all answers, and why the line is not smaller."
        )
    if policy.units_about is not None and total.limit.delta:
        share = decimal(total.limit.delta * policy.units_about * 100)
        text.append(
            f"The total's delta times the number of units is {share} %: below 10 % is the rule."
        )
    if policy.approve_above is not None:
        text.append(
            f"A person approves each statement of an agent above epsilon {decimal(policy.approve_above)}."
        )
    text.append(_ADDED[policy.accounting])
    lines = {("budgets", "total"): total, **dict(stated_budgets(policy))}
    return Section(
        key="budgets",
        title="Budgets",
        text=tuple(text),
        heads=(
            "line of the policy",
            "epsilon",
            "delta",
            "per",
            "a guess of 1 in 100 comes to, at most",
        ),
        rows=(
            (
                "privacy (each statement)",
                *_loss(statement),
                "statement",
                reached(statement.epsilon),
            ),
            (
                "privacy (a statement at most)",
                *_loss(largest),
                "statement",
                reached(largest.epsilon),
            ),
            *(
                (".".join(path), *_line(budget), reached(budget.limit.epsilon))
                for path, budget in lines.items()
            ),
        ),
    )


_ADDED = {
    Accounting.BASIC: "Charges add up: epsilons and deltas of all statements (PROOFS.md 25).",
    Accounting.ZCDP: "Charges add up as epsilons and deltas or as rho (zCDP), whichever admits more, each"
    " with half of the budget's delta (PROOFS.md 25).",
}


def _loss(loss: Loss) -> tuple[str, str]:
    return decimal(loss.epsilon), decimal(loss.delta)


def _line(budget: Budget) -> tuple[str, str, str]:
    return *_loss(budget.limit), "for ever" if budget.per is Period.NONE else budget.per.value


def _spent(ledger: LedgerFacts | None) -> Section:
    if ledger is None:
        return Section(
            key="spent",
            title="What was spent",
            text=("Not in this report: no ledger was named (--ledger or --state).",),
        )
    return Section(
        key="spent",
        title="What was spent",
        text=(
            "As the ledger has it. A charge is durable before data is read. rho is another measure of the same"
            " charges (zCDP): it limits where it has a limit.",
            *(
                f"The ledger was restored {one}: what was spent in between is not in these figures."
                for one in ledger.restored
            ),
        ),
        heads=SPENT_HEADS,
        rows=ledger.spent,
    )


def _adjustments(ledger: LedgerFacts | None) -> Section:
    key, title = "adjustments", "What administrators added and gave back"
    if ledger is None:
        return Section(key=key, title=title, text=("Not in this report: no ledger was named.",))
    waiting = tuple(f"Not confirmed yet, so without effect: {one}." for one in ledger.waiting)
    if not ledger.adjustments:
        return Section(key=key, title=title, text=("None.", *waiting))
    return Section(
        key=key,
        title=title,
        text=(
            "The proxy never gives a charge back. An administrator can, by `dpproxy ledger adjust`: an amount"
            " below 0, which another person has to confirm. What was shown stays shown: the figures of what"
            " was spent are smaller by it than what was charged.",
            *waiting,
        ),
        heads=ADJUSTMENT_HEADS,
        rows=ledger.adjustments,
    )


def _year(policy: Policy) -> Section:
    one, losses = unit_of_policy(policy), yearly_losses(policy)
    blocks = tuple(f"{found.what}." for found in block_findings(policy))
    total = policy.budgets.total.limit
    if not losses:
        return Section(
            key="year",
            title="What a year can come to",
            text=("No budget renews. The total above holds for all years.", *blocks),
        )
    return Section(
        key="year",
        title="What a year can come to",
        text=(
            "For tables without blocks of time the total does not renew."
            if blocks
            else "The total does not renew: all years and all analysts together stay within it, until the"
            " policy raises it or two administrators give budget back. A line above the total ends at the"
            " total.",
            *blocks,
        ),
        heads=("line of the policy", "epsilon", "delta", "as odds"),
        rows=tuple(
            (
                line,
                *_loss(loss),
                "ends at the total"
                if not blocks and loss.epsilon > total.epsilon
                else odds_text(loss, one),
            )
            for line, loss in losses.items()
        ),
    )


def _published(policy: Policy) -> Section:
    return Section(
        key="published",
        title="Tables that are published on a schedule",
        text=() if policy.publish else ("None.",),
        heads=("table", "every", "epsilon", "delta", "covers") if policy.publish else (),
        rows=tuple(
            (
                f"published.{one.name}",
                f"{decimal(Fraction(one.seconds, 3600))} h",
                *_loss(one.loss),
                _covered(one),
            )
            for one in policy.publish
        ),
    )


def _covered(one: Publication) -> str:
    if one.continual is not None:
        days, most = one.continual.days, one.continual.most_days
        return f"all {days} days of a series, a unit in at most {most} of them"
    if one.ranges is not None:
        return f"each release, a unit in at most {one.ranges.most_days} of its days"
    return "each release"


def _smallest_groups(policy: Policy) -> Section:
    return Section(
        key="smallest_groups",
        title="Minimum group size",
        text=(
            "No group is shown unless so many units are in it, up to a stated probability (PROOFS.md 32)."
            " 1: the policy asks for none, and privacy rests on noise and selection alone.",
            "Groups of listed values are always in the answer, also where nobody is in them: that they are"
            " there says nothing. A group of other values with one unit is shown by a statement with a"
            " chance of at most delta.",
        ),
        heads=("table", "units in a group, at least"),
        rows=tuple(
            (str(table.name), str(policy.fewest_units([table.name])))
            for table in policy.protected()
        ),
    )


def _invariants(policy: Policy) -> Section:
    public = [str(one.name) for one in policy.tables.values() if isinstance(one, PublicTable)]
    return Section(
        key="invariants",
        title="Invariants (exact quantities)",
        text=(
            "No exact quantity of a protected table is released.",
            f"Public tables are released exactly, as they are: {', '.join(public)}."
            if public
            else "There are no public tables.",
        ),
    )


def _kept(policy: Policy) -> Section:
    text = [
        "Noisy answers are not kept."
        if policy.reuse is None
        else "Noisy answers are kept encrypted, and shown to who asks the same within"
        f" {decimal(Fraction(policy.reuse.seconds, 3600))} h.",
        "Receipts stay for good: who asked when and at what cost, and a keyed digest of the statement."
        " Nothing of an answer.",
        _TEXTS[policy.statements],
    ]
    if policy.publish:
        text.append(
            "A published table is kept encrypted until its next release, and shown to all analysts."
        )
    if any(one.continual is not None for one in policy.publish):
        text.append(
            "The noise of a series is kept encrypted until its last day. Who has it and the key has exact"
            " numbers."
        )
    text.append(
        "No row of a protected table is kept. On erasure of a person: section 5 of the page Review."
    )
    return Section(key="kept", title="What is kept", text=tuple(text))


_TEXTS = {
    StatementTexts.HASHED: "Texts of statements are not kept.",
    StatementTexts.ENCRYPTED: "Texts of statements are kept encrypted, for the analyst who ran them.",
}


def _clipping(policy: Policy) -> Section:
    return Section(
        key="clipping",
        title="Clipping",
        text=(
            "Values outside the bounds of the section on public facts are moved to the nearest bound. Rows and"
            " groups of a unit beyond these numbers are left out. Answers are biased by both:"
            " `dp.clipped` of a statement says about how much is cut.",
            "auto: chosen privately for each statement, up to the number. not said: as many as rows of a unit.",
        ),
        heads=("table", "rows of a unit", "groups of a unit", "rows of a unit in a group"),
        rows=tuple(
            (
                str(table.name),
                rows_text(table),
                word_of(table.max_groups_per_unit),
                word_of(table.max_rows_per_group_per_unit),
            )
            for table in policy.protected()
        ),
    )
