"""The right to copy public rows without a verdict, for tests of what comes after it."""

from __future__ import annotations

from proxy.policy.policy_model import Policy
from proxy.protected.judged_rows import JudgedRows, catalogue_state


def unjudged(policy: Policy) -> JudgedRows:
    return JudgedRows.of_all(policy, catalogue_state(policy.source), ())
