"""Which mechanisms a session may choose for AVG, MIN and MAX: those of the policy, and the smoothed median."""

from __future__ import annotations

from proxy.policy.policy_model import Mechanism, Policy


def allowed_mechanisms(policy: Policy) -> tuple[Mechanism, ...]:
    """List what SET dp.mechanism may name under a policy, in the order of `Mechanism`.

    The smoothed median is always among them. Of a column that the policy does not give it to, the planner
    refuses another one (planner/measuring.py).
    """
    given = {policy.privacy.mechanism, Mechanism.SMOOTH_MEDIAN}
    for table in policy.protected():
        given |= {one.mechanism for one in table.columns.values() if one.mechanism is not None}
    if Mechanism.AUTO in given:
        given.add(Mechanism.BEST)
    return tuple(one for one in Mechanism if one in given and one is not Mechanism.AUTO)
