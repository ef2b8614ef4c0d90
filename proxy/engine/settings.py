"""The session's dp.* settings, read: how much one statement may cost, and whether to send a notice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from proxy.base.decimals import decimal_text
from proxy.base.errors import Code, Refusal
from proxy.mechanisms.loss import Loss
from proxy.policy.model import Privacy
from proxy.query.typing_rules import number

_LEAST_EPSILON = Fraction(1, 10**6)  # as in policies; below it noise leaves every type's range
_LEAST_DELTA = Fraction(1, 10**100)
KNOWN = ("dp.epsilon", "dp.delta", "dp.notice")


@dataclass(frozen=True, slots=True)
class Settings:
    loss: Loss  # of one statement
    notice: bool


def read_settings(given: Mapping[str, str], privacy: Privacy) -> Settings:
    """
    Refuses  SETTING: an unknown dp.* setting, no number, or more than the policy allows
    """
    for name in given:
        if name not in KNOWN:
            raise _bad(name, "is not known", f"Known are {', '.join(KNOWN)}.")
    epsilon = _amount("dp.epsilon", given, privacy.epsilon, privacy.max_epsilon)
    delta = _amount("dp.delta", given, privacy.delta, privacy.max_delta)
    if epsilon < _LEAST_EPSILON:
        least = decimal_text(_LEAST_EPSILON)
        raise _bad(
            "dp.epsilon", f"must be {least} or more", "RESET dp.epsilon for the policy's value."
        )
    if 0 < delta < _LEAST_DELTA:
        raise _bad(
            "dp.delta", "must be 0, or 1e-100 or more", "RESET dp.delta for the policy's value."
        )
    notice = given.get("dp.notice", "off").strip().lower()
    if notice not in ("on", "off", "true", "false"):
        raise _bad("dp.notice", "must be on or off", "SET dp.notice = on")
    return Settings(Loss(epsilon, delta), notice in ("on", "true"))


def _amount(name: str, given: Mapping[str, str], default: Fraction, most: Fraction) -> Fraction:
    if name not in given:
        return default
    value = number(given[name].strip())
    if value is None or value < 0:
        raise _bad(name, "must be a number", f"SET {name} = {decimal_text(default)}")
    if value > most:
        limit = decimal_text(most)
        raise _bad(
            name, f"is above the policy's limit of {limit}", f"SET {name} = {limit} or less."
        )
    return value


def _bad(name: str, what: str, hint: str) -> Refusal:
    return Refusal(Code.SETTING, f"setting {name} {what}", hint)
