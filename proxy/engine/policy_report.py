"""The facts of `dpproxy policy report`: who may learn how much about whom, from policy and ledger alone.

Nothing here reads a row, and nothing here is made of `Policy.source`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from proxy.engine.report_evidence import (
    ASSUMPTIONS,
    OUTSIDE,
    TESTED,
    ProvenPart,
    limits_section,
    proven_parts,
    words_section,
)
from proxy.engine.report_sections import (
    EarlierReport,
    Section,
    adjustments_section,
    budgets_section,
    changes_section,
    loss_text,
    privacy_label,
    registry_entry,
    year_section,
)
from proxy.engine.unit_words import unit_of_policy
from proxy.policy.amount_findings import (
    amount_findings,
)
from proxy.policy.change_words import word_of
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import judged
from proxy.policy.policy_changes import bounds_text, rows_text, stated_unit_text
from proxy.policy.policy_decimals import decimal
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    ColumnPolicy,
    Noise,
    Policy,
    ProtectedTable,
    PublicTable,
    Said,
    StatementTexts,
)
from proxy.policy.publication import Publication

_LISTED = 50  # values of a column
_LARGEST_EXPONENT = 690


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
    if ledger is None:
        head["do not file"] = (
            "nothing of the ledger is in it. File that of dpproxy policy report POLICY --state DIR --record"
        )
    else:
        head["first served"] = ledger.first_served or "never, as far as this ledger knows"
    head["in force"] = "where SELECT * FROM dp.policy shows an analyst this SHA-256"
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
        budgets_section(policy),
        _spent(ledger),
        adjustments_section(
            None if ledger is None else (ledger.adjustments, ledger.waiting), ADJUSTMENT_HEADS
        ),
        year_section(policy),
        _published(policy),
        _smallest_groups(policy),
        _invariants(policy),
        _clipping(policy, at),
        _kept(policy),
        limits_section(policy),
        Section(
            key="tested",
            title="How it was tested",
            text=(
                "The makers of the proxy wrote and run these tests, before each version. No test reads your"
                " data. `dpproxy audit` runs the first one alone for your policy, on invented data.",
            ),
            heads=("test", "what it does", "where"),
            rows=TESTED,
        ),
        OUTSIDE,
    )
    mechanisms = dict.fromkeys(part.mechanism for part in proven_parts(policy))
    return PrivacyReport(
        head=head,
        sections=(*sections, words_section(sections)),
        registry=registry_entry(policy, mechanisms),
        label=privacy_label(policy),
    )


def _protected(policy: Policy) -> Section:
    return Section(
        key="unit",
        title="Who is protected",
        text=(
            "Two databases are neighbours if one of them has the rows of one unit and the other has not"
            " (add or remove one unit). The promise compares the answers of two neighbours: no answer to a"
            f" statement is more than {_factor(policy.privacy.epsilon)} times as probable on one of them as on"
            f" the other, but for delta{_of_more(policy)}. For all answers together that factor is"
            f" {_factor(policy.budgets.total.limit.epsilon)}.",
            "Who sees exact rows: the proxy, the protected server, and the people who operate them (the central"
            " model of trust). Analysts do not.",
            f"The same bound holds for any other guess about {unit_of_policy(policy)}, such as what is in their"
            " rows, whatever the guesser knows besides. What statistics say about people like them is not"
            " protected: it would be learnt without their rows, too.",
            "A unit is not always a person. Somebody with two accounts is two units, and can lose twice the"
            " epsilon. Rows whose unit is empty, or leads nowhere, are in no answer.",
            "A table or a column that is not listed here or as public does not exist for analysts.",
            *(
                ()
                if policy.units_about
                else ("The policy does not say about how many units there are.",)
            ),
        ),
        heads=("table", "unit", "columns that analysts can use"),
        rows=tuple(
            (str(table.name), stated_unit_text(table.unit), ", ".join(table.columns) or "none")
            for table in policy.protected()
        ),
    )


def _of_more(policy: Policy) -> str:
    most = policy.privacy.max_epsilon
    if most == policy.privacy.epsilon:
        return ""
    return f", and {_factor(most)} times at epsilon {decimal(most)}, the most that an analyst may ask for"


def _factor(epsilon: Fraction) -> str:
    """e^epsilon, rounded up.

    >>> _factor(Fraction(1, 2)), _factor(Fraction(20)), _factor(Fraction(1000))
    ('1.65', '485,165,196', 'beyond 10^300')
    """
    if epsilon > _LARGEST_EXPONENT:
        return "beyond 10^300"
    factor = math.exp(epsilon)
    return f"{math.ceil(factor * 100) / 100:g}" if factor < 100 else f"{math.ceil(factor):,}"


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
    if policy.units_about is not None:
        rows.append(
            ("units_about", "number of units", f"about {policy.units_about:,} units", "-", "-")
        )
    unsigned = sum(row[3] == "-" for row in rows)
    return Section(
        key="public",
        title="What the owner states as public",
        text=(
            "The owner promises that none of this was read off the data. The proxy cannot check that. A bound"
            " that is the largest value of the data tells every analyst that value of one person, exactly, and"
            " no budget counts it (runbook: A bound was read off the data).",
            f"Of {len(rows)} facts {unsigned} name nobody who says so (`said_by`): ask the owner who does."
            " The proxy makes no finding of that."
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
            f" section: {ASSUMPTIONS}. In short: no row makes the generated SQL fail; the catalogue of the"
            " database is right; random bits of the operating system are unpredictable; PostgreSQL's seeded"
            " hashes are like random functions, for tables without a key; the server's clock is right for"
            " windows of budgets; the database answers a statement as PostgreSQL documents it. No proof"
            " covers time.",
        ),
        heads=("used for", "mechanism", "proof"),
        rows=tuple(map(row, proven_parts(policy))),
    )


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
                *loss_text(one.loss),
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
    fewest = {table.name: policy.fewest_units([table.name]) for table in policy.protected()}
    text = []
    if min(fewest.values(), default=1) == 1:
        text.append(
            "1: no minimum is asked for, and privacy rests on noise and selection alone. A group of listed"
            " values is always in the answer, with noise, also where nobody is in it. Another group with one"
            " unit is shown by a statement with a chance of at most delta."
        )
    if max(fewest.values(), default=1) > 1:
        text.append(
            "Above 1: of smaller groups those of listed values show no numbers, but for a chance of 1 in 1,000"
            " for each group and answer; others are never shown (PROOFS.md 32)."
        )
    elif policy.privacy.noise is Noise.LAPLACE:
        most = math.ceil(3 / policy.privacy.epsilon)
        text.append(
            "What a group of one shows: a statement's only COUNT, of a table with one row for each unit, is"
            f" within {most} of the truth in 95 of 100 answers, also of groups of one or none."
        )
    text.append(
        "Demand 5, 10 or more where a law, a committee or a contract wants a smallest cell"
        " (`min_units_per_group`). It costs answers: section 6 of the page Choose says which groups are left"
        " out."
    )
    return Section(
        key="smallest_groups",
        title="Minimum group size",
        text=tuple(text),
        heads=("table", "units in a group, at least"),
        rows=tuple((str(name), str(number)) for name, number in fewest.items()),
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
    rows = [
        _kept_answers(policy),
        (
            "receipts: who asked when, at what cost, a keyed digest of the statement; nothing of an answer",
            "each analyst their own (dp.history); all: who can read the ledger",
            "for good",
            "no",
        ),
        _TEXTS[policy.statements],
        (
            "query log: who asked when, of which tables, at what cost, the time in steps of 0.05 s; no text",
            "who can read the log of serve",
            "as long as the operator keeps it",
            "--log-queries none; without names: --log-analysts number",
        ),
    ]
    if policy.publish:
        rows.append(
            ("published tables", "all analysts", "until the next release", "leave publish out")
        )
    if any(one.continual is not None for one in policy.publish):
        rows.append(
            (
                "noise of a series",
                "who has both ledger and ledger.key, and so the exact numbers",
                "until its last day; in no backup",
                "leave continual out",
            )
        )
    return Section(
        key="kept",
        title="What is kept",
        text=(
            "No row of a protected table is kept. On erasure of a person: section 5 of the page Review.",
            "Answers and texts are encrypted in the ledger. Who has it and `ledger.key`, which is in the"
            " folder of `--state` and in no backup, can read them. The name of an analyst can be a pseudonym.",
        ),
        heads=("what", "who can read it", "how long", "switched off by"),
        rows=tuple(rows),
    )


def _kept_answers(policy: Policy) -> tuple[str, ...]:
    if policy.reuse is None:
        return "noisy answers", "-", "not kept", "it is off"
    return (
        "noisy answers",
        "analysts who ask the same: free for who was shown it before, at their own charge for others",
        f"shown within {decimal(Fraction(policy.reuse.seconds, 3600))} h; encrypted in the ledger for 62 days"
        " more, and then until the next answer is stored",
        "reuse: none",
    )


_TEXTS = {
    StatementTexts.HASHED: ("texts of statements", "-", "not kept", "it is off"),
    StatementTexts.ENCRYPTED: (
        "texts of statements",
        "the analyst who ran them (dp.history)",
        "as long as receipt and ledger.key",
        "statements: hashed",
    ),
}


def _clipping(policy: Policy, at: datetime) -> Section:
    return Section(
        key="clipping",
        title="Clipping",
        text=(
            "Values outside the bounds of the section on public facts are moved to the nearest bound. Rows and"
            " groups of a unit beyond these numbers are left out. Answers are biased by both:"
            " `dp.clipped` of a statement says about how much is cut.",
            "A row whose value is not among the listed values is in no group.",
            *(f"{one}: the bounds ended before this report." for one in _ended(policy, at)),
            "These numbers decide how exact answers are, not how well people are protected. auto: chosen"
            " privately for each statement, up to the number, out of the statement's epsilon. not said: as many"
            " as rows of a unit.",
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


def _ended(policy: Policy, at: datetime) -> Iterator[str]:
    """Columns of time whose bounds end before a moment."""
    for table in policy.protected():
        for column in table.columns.values():
            bounds = column.bounds
            if not isinstance(bounds, Bounds) or bounds.kind is BoundsKind.NUMBER:
                continue
            seconds = 86_400 if bounds.kind is BoundsKind.DATE else 1
            if (bounds.high + (bounds.kind is BoundsKind.DATE)) * seconds <= at.timestamp():
                yield f"{table.name}.{column.name} {bounds_text(bounds)}"
