"""What a policy report says of the report before it: what the policy changes, in the words of `policy diff`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from proxy.engine.report_registry import Section
from proxy.policy.change_words import protection_words
from proxy.policy.policy_changes import policy_changes
from proxy.policy.policy_model import Policy
from proxy.policy.publication import kept_statement

_SHORT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierReport:
    """policy: None where its text cannot be read; served: digests of policies that were served for the first
    time since, and when."""

    digest: str
    at: str
    by: str
    policy: Policy | None
    served: tuple[tuple[str, str], ...]


def changes_section(
    policy: Policy, earlier: EarlierReport | None, *, has_ledger: bool = True
) -> Section:
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    if not has_ledger:
        text = [
            "This report cannot tell: no ledger was named (--ledger or --state)."
            " The ledger notes reports that are made with --record.",
        ]
    elif earlier is None:
        text = ["No earlier report is noted in the ledger. A report is noted with --record."]
    else:
        text = [
            f"The last report that is noted is of {earlier.at}, by {earlier.by}, of the policy"
            f" {earlier.digest[:_SHORT]}.",
            *_served(policy, earlier),
        ]
        if earlier.digest == policy.digest:
            text.append("The policy is the same.")
        elif earlier.policy is None:
            text.append("What has changed cannot be told: this version cannot read that policy.")
        else:
            # Connection strings are not kept, so they are not compared; of published statements digests are.
            before = replace(earlier.policy, source=policy.source)
            changes = policy_changes(before, _as_kept(policy))
            text += (
                protection_words(before, policy, changes)
                if changes
                else [
                    "Both policies say the same. Comments and the connection string are not compared."
                ]
            )
            if changes:
                heads = ("key of the policy", "change", "protection of people")
                rows = tuple((one.where, one.what, one.people.value) for one in changes)
    title = "Changes since the last report"
    return Section(key="changes", title=title, text=tuple(text), heads=heads, rows=rows)


def _as_kept(policy: Policy) -> Policy:
    kept = (replace(one, sql=kept_statement(one.sql)) for one in policy.publish)
    return replace(policy, publish=tuple(kept))


def _served(policy: Policy, earlier: EarlierReport) -> Iterator[str]:
    others = [
        f"{digest[:_SHORT]} ({at})" for digest, at in earlier.served if digest != policy.digest
    ]
    if others:
        yield f"Other policies that were served since, for the first time: {', '.join(others)}."
