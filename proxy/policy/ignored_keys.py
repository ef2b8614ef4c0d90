"""Keys of earlier versions, which a policy may still have."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.policy_model import Policy


def ignored_key_findings(policy: Policy) -> Iterator[Finding]:
    if policy.has_timeout_floor:
        yield Finding(
            name=FindingName.KEY_WITHOUT_EFFECT,
            where="privacy.timeout_floor",
            what="timeout_floor has no effect: no statement_timeout ends a statement once it is charged",
            fix="delete the line timeout_floor",
            path=("privacy", "timeout_floor"),
        )
