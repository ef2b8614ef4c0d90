"""How groups whose keys are private are selected, and when they cannot be."""

from __future__ import annotations

from proxy.base.errors import Code, Refusal
from proxy.kernel.fewest_units import counted_of
from proxy.kernel.key_plans import Selection
from proxy.kernel.sensitivities import each_selected
from proxy.mechanisms import partition_selection
from proxy.planner.measuring import Priced
from proxy.planner.needed_loss import needs_delta


def select_groups(priced: Priced, position: int | None, units: int = 1) -> Selection:
    """
    Given    position: of the first key that is not public; units: so many a group has at least, by the policy
    Refuses  INFEASIBLE without delta: no key could ever appear
    Source   docs/design/mechanisms.md 4.2
    """
    context, loss = priced.context, priced.loss
    if loss.delta <= 0:
        raise needs_delta(
            "GROUP BY on keys that are not public needs a delta above 0",
            context.privacy,
            "group by a column with public values",
            position,
        )
    try:
        each = each_selected(context.shape, loss)
        partition_selection.release_probability(1, each.epsilon, each.delta)
    except ValueError:  # epsilon or delta too small to choose by, told before anything is charged
        raise Refusal(
            Code.INFEASIBLE,
            "epsilon is too small to select groups: a key would need too many units to appear",
            "Use fewer aggregates in one statement, or group by a column with public values.",
            position,
        ) from None
    return Selection(loss=loss, each=each, fewest=counted_of(units, context.neighbours))
