"""Names of analysts and groups in a policy that the ledger does not know.

Those who know no ledger do not look: neither such a finding nor its acceptance is theirs to judge.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator

from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding, Verdict, judged
from proxy.policy.policy_model import Policy

OF_PEOPLE = frozenset({FindingName.NO_SUCH_ANALYST, FindingName.NO_SUCH_GROUP})


def people_verdict(policy: Policy, analysts: Collection[str], groups: Collection[str]) -> Verdict:
    """Hold the names in `budgets` against the ledger.

    Args:
        policy: Its acceptances of these findings are judged, too.
        analysts: All who were added and not removed.
        groups: Those with a member.
    """
    accepted = [one for one in policy.accepted if one.name in OF_PEOPLE]
    return judged(_unknown_people(policy, analysts, groups), accepted)


def _unknown_people(
    policy: Policy, analysts: Collection[str], groups: Collection[str]
) -> Iterator[Finding]:
    for name, instead in _strangers(policy.budgets.analysts, analysts):
        yield Finding(
            name=FindingName.NO_SUCH_ANALYST,
            where=name,
            what=f"budgets.analysts.{name}: there is no analyst with this name, so nobody has this budget",
            fix=f"{instead}add the analyst (dpproxy user add {name}), or remove the line",
            path=("budgets", "analysts", name),
        )
    for name, instead in _strangers(policy.budgets.groups, groups):
        yield Finding(
            name=FindingName.NO_SUCH_GROUP,
            where=name,
            what=f"budgets.groups.{name}: no analyst is in this group, so the budget limits nobody",
            fix=f"{instead}add a member (dpproxy user group add {name} ANALYST), or remove the line",
            path=("budgets", "groups", name),
        )


def _strangers(named: Collection[str], known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Each unknown name, and how the fix begins."""
    for name in sorted(set(named) - set(known)):
        close = difflib.get_close_matches(name, sorted(known), n=1)
        yield name, f"write '{close[0]}', if that is meant; or " if close else ""
