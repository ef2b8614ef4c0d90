"""What administrators are told of policies: what is in force, and what a file or a text would change."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import version

from proxy.cli.cli_error import CliError
from proxy.cli.diff_command import AnyVariable, change_json
from proxy.cli.findings_report import findings_json
from proxy.cli.loading import held_policy, verdict_of
from proxy.cli.reloading import PolicyReloads, PolicyWatch
from proxy.engine.policy_report import PrivacyReport, policy_report
from proxy.engine.unit_words import unit_of_policy, with_article
from proxy.ledger.ledger_sources import known_sources
from proxy.ledger.report_facts import ledger_facts, note_report
from proxy.ledger.users import groups, list_analysts
from proxy.mechanisms.loss import Loss
from proxy.policy.change_words import protection_words
from proxy.policy.finding_names import Severity
from proxy.policy.findings import Problem, Verdict
from proxy.policy.odds_words import odds_text
from proxy.policy.people import people_verdict
from proxy.policy.policy_changes import policy_changes
from proxy.policy.policy_model import IdentifierUnit, Policy, PublicTable
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import locate, policy_text, read_policy
from proxy.policy_file.shown_text import shown_text, with_source
from proxy.servers.http.admin_models import (
    FindingEntry,
    PolicyBefore,
    PolicyChangeEntry,
    PolicyFileReport,
    PolicyProblemEntry,
    PolicyReport,
    PromiseEntry,
)

# What a policy promises, in words: who is protected, what analysts can learn, and how far a guess can get.


def promise_words(policy: Policy) -> Iterator[tuple[str, str]]:
    """Give what each sentence is about, and the sentence."""
    yield "Who is protected", _sentence("; ".join(_units(policy)))
    protected = [str(table.name) for table in policy.protected()]
    public = [str(one.name) for one in policy.tables.values() if isinstance(one, PublicTable)]
    learnt = (
        f"Counts, sums and other statistics of {_listed(protected)}, each with noise; never a row."
    )
    if public:
        learnt += (
            f" {_listed(public)}: public, shown as {'it is' if len(public) == 1 else 'they are'}."
        )
    yield "What analysts can learn", learnt
    for of, odds in odds_words(policy):
        yield of, _sentence(odds)


def odds_words(policy: Policy) -> Iterator[tuple[str, str]]:
    """The odds of one statement, of one at the most that a session may ask for, and of all together."""
    one, total = unit_of_policy(policy), policy.budgets.total.limit
    statement = Loss(policy.privacy.epsilon, policy.privacy.delta)
    largest = Loss(policy.privacy.max_epsilon, policy.privacy.max_delta)
    yield "One statement", odds_text(statement, one)
    if largest != statement:
        yield "One statement, at most", odds_text(largest, one)
    if total.epsilon:
        yield "All answers together, within budgets.total", odds_text(total, one)


def _units(policy: Policy) -> Iterator[str]:
    """Who, with all rows of theirs, and in which tables."""
    by_identifier: dict[tuple[str, str], list[str]] = {}
    for table in policy.protected():
        name = str(table.name)
        if isinstance(table.unit, IdentifierUnit):
            unit = table.unit.identifier, table.unit.their_rows
            by_identifier.setdefault(unit, []).append(name)
        else:
            yield f"each row of {name} by itself"
    for (identifier, rows), tables in by_identifier.items():
        yield f"{with_article(identifier)} with {rows} in {_listed(tables)}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else "Nobody."


def _listed(names: Sequence[str]) -> str:
    """
    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = names or ("no table",)
    return f"{', '.join(first)} and {last}" if first else last


_GIVEN = "the text"
_NOT_SHOWN = "# The text is not shown: it cannot be told where its connection string is.\n"


class PolicyReports:
    """
    Args:
        reloads: What watches the policies' files.
    """

    def __init__(self, reloads: PolicyReloads) -> None:
        self._reloads = reloads
        self._turn = asyncio.Lock()  # the protected database is asked by one at a time

    @property
    def names(self) -> Sequence[str]:
        return tuple(self._reloads.watches)

    async def open_findings(self, database: str) -> Mapping[str, int]:
        watch = self._reloads.watches[database]
        people = await asyncio.to_thread(_people_verdict, watch.database.policy, watch)
        opened = people.open if watch.verdict is None else (*watch.verdict.open, *people.open)
        counts = Counter(one.severity.value for one in opened)
        # What later looks at the catalogue found is severe, and may be in the verdict too.
        severe = Severity.SEVERE.value
        counts[severe] = max(counts[severe], len(watch.database.open_findings))
        return counts

    async def report(self, database: str, text: str | None = None) -> PolicyReport:
        async with self._turn:
            return await asyncio.to_thread(_report, self._reloads.watches[database], text)

    async def privacy_report(self, database: str) -> PrivacyReport:
        return await asyncio.to_thread(_privacy_report, self._reloads.watches[database])

    async def note_report(self, database: str, by: str) -> None:
        watch = self._reloads.watches[database]
        lease = watch.database.lease
        await asyncio.to_thread(note_report, lease.ledger_dsn, lease.source, _stated(watch), by)


def _privacy_report(watch: PolicyWatch) -> PrivacyReport:
    lease = watch.database.lease
    (source,) = (one for one in known_sources(lease.ledger_dsn) if one.id == lease.source)
    policy = _stated(watch)
    facts = ledger_facts(lease.ledger_dsn, source, policy)
    return policy_report(policy, facts, version("dpproxy"), datetime.now(timezone.utc))


def _stated(watch: PolicyWatch) -> Policy:
    """The policy in force as its owner wrote it, as the command reads it."""
    return read_policy(watch.text, watch.file.name, AnyVariable())


def _report(watch: PolicyWatch, given: str | None) -> PolicyReport:
    database = watch.database
    before = None
    if watch.before is not None:
        digest, text = watch.before
        changes, people = _changes(text, watch.text, watch)
        before = PolicyBefore(
            digest=digest, text=_shown(text, watch), changes=changes, people=people
        )
    return PolicyReport(
        database=database.policy.database,
        digest=database.policy.digest,
        since=database.policy_since,
        text=_shown(watch.text, watch),
        not_taken=watch.refusal or None,
        promise=[
            PromiseEntry(about=about, text=text) for about, text in promise_words(database.policy)
        ],
        before=before,
        findings=None
        if watch.verdict is None
        else _findings(database.policy, watch.verdict, watch),
        file=_file(watch, given),
    )


def _file(watch: PolicyWatch, given: str | None) -> PolicyFileReport:
    name = str(watch.file) if given is None else _GIVEN
    text, digest = given, None
    problems: list[PolicyProblemEntry] = []
    findings: list[FindingEntry] = []
    try:
        text = policy_text(watch.file) if text is None else with_source(text, watch.text)
        policy = read_policy(text, name, watch.environment)
        digest = policy.digest
        if policy.source != watch.database.policy.source:
            what = "the source is another than the one in force: that takes a new start"
            raise locate([Problem(("source",), what, "", at_key=True)], text, name)
        checked = held_policy(policy, text, name)
        verdict = verdict_of(checked, watch.database.installation)
        findings = _findings(checked.policy, verdict, watch)
    except PolicyErrors as errors:
        problems = [
            PolicyProblemEntry(
                line=one.line, column=one.column, message=one.message, hint=one.hint or None
            )
            for one in errors.problems
        ]
    except (OSError, CliError) as error:
        what = (error.strerror or "") if isinstance(error, OSError) else str(error)
        problems = [PolicyProblemEntry(line=1, column=1, message=what, hint=None)]
    changes, people = ([], []) if text is None else _changes(watch.text, text, watch)
    return PolicyFileReport(
        file=name,
        text=None if text is None else _shown(text, watch),
        digest=digest,
        is_in_force=digest == watch.database.policy.digest,
        problems=problems,
        findings=findings,
        changes=changes,
        people=people,
    )


def _findings(policy: Policy, verdict: Verdict, watch: PolicyWatch) -> list[FindingEntry]:
    whole = verdict.with_more(_people_verdict(policy, watch))
    return [FindingEntry.model_validate(one) for one in findings_json(whole)]


def _people_verdict(policy: Policy, watch: PolicyWatch) -> Verdict:
    """Of now: people are added and removed while a policy is in force."""
    dsn = watch.database.lease.ledger_dsn
    return people_verdict(policy, list_analysts(dsn), groups(dsn))


def _changes(old: str, new: str, watch: PolicyWatch) -> tuple[list[PolicyChangeEntry], list[str]]:
    """Each, and all summed up for people. None of a text that is no policy: its problems are told."""
    with contextlib.suppress(PolicyErrors):
        before, after = (read_policy(text, watch.file.name, AnyVariable()) for text in (old, new))
        found = policy_changes(before, after)
        entries = [PolicyChangeEntry.model_validate(change_json(one)) for one in found]
        return entries, protection_words(before, after, found) if found else []
    return [], []


def _shown(text: str, watch: PolicyWatch) -> str:
    return shown_text(text, watch.database.policy.source) or _NOT_SHOWN
