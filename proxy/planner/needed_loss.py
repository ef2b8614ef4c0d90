"""What cannot be answered at an epsilon or without delta, and at which the policy allows it would be."""

from __future__ import annotations

from fractions import Fraction

from proxy.base.decimals import decimal_text
from proxy.base.errors import Code, Refusal
from proxy.base.session_settings import how_to_set
from proxy.policy.policy_model import Privacy

LARGEST_DELTA = Fraction(7, 10)  # the smoothed median is proven for delta <= 2/e
_MODERATE = Fraction(1, 10**6)


class NeedsEpsilon(Refusal):
    """INFEASIBLE, but not at `epsilon` of the whole statement, which the policy allows and the hint names."""

    def __init__(
        self, message: str, hint: str, epsilon: Fraction, position: int | None = None
    ) -> None:
        super().__init__(Code.INFEASIBLE, message, hint, position)
        self.epsilon = epsilon

    def at(self, position: int | None) -> NeedsEpsilon:
        return NeedsEpsilon(self.message, self.hint, self.epsilon, position)


def needs_delta(
    message: str, privacy: Privacy, otherwise: str, position: int | None = None
) -> Refusal:
    """
    Given    otherwise: what to do instead, which needs no delta
    """
    most = privacy.max_delta
    if most == 0:
        hint = f"The policy allows no delta: {otherwise}."
    else:
        wanted = most if most <= LARGEST_DELTA else _MODERATE
        hint = f"{how_to_set('dp.delta', decimal_text(wanted))}, or {otherwise}."
    return Refusal(Code.INFEASIBLE, message, hint, position)
