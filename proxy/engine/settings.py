"""The session's settings, read: what one statement may cost, how long it may take, whether to send a notice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from proxy.base.decimals import decimal_text
from proxy.base.errors import Code, Refusal
from proxy.base.session_settings import DP_SETTINGS, SESSION_SETTINGS
from proxy.mechanisms.loss import Loss
from proxy.policy.model import Privacy
from proxy.query.typing_rules import number

_LEAST_EPSILON = Fraction(1, 10**6)  # as in policies; below it noise leaves every type's range
_LEAST_DELTA = Fraction(1, 10**100)
# As current_setting prints a number of milliseconds: in the largest unit of which it is a whole number.
_TIME = re.compile(r"(\d+)(ms|s|min|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Settings:
    loss: Loss  # of one statement
    notice: bool
    seconds: float | None = None  # for the statement, by statement_timeout


def read_settings(given: Mapping[str, str], privacy: Privacy) -> Settings:
    """
    Refuses  SETTING: an unknown setting, no number, or more than the policy allows
    """
    for name in given:
        if name not in SESSION_SETTINGS:
            raise _bad(name, "is not known", f"Known are {', '.join(DP_SETTINGS)}.")
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
    seconds = _seconds(given.get("statement_timeout", "0"))
    return Settings(Loss(epsilon, delta), notice in ("on", "true"), seconds)


def _seconds(timeout: str) -> float | None:
    """
    >>> _seconds("1500ms"), _seconds("5min"), _seconds("0")
    (1.5, 300.0, None)
    """
    found = _TIME.fullmatch(timeout)
    if found is None:
        raise _bad("statement_timeout", "is no time", "SET statement_timeout = '30s'")
    return int(found[1]) * _SECONDS[found[2] or "ms"] or None


def _amount(name: str, given: Mapping[str, str], default: Fraction, most: Fraction) -> Fraction:
    if name not in given:
        return default
    value = number(given[name].strip())
    if value is None:
        raise _bad(name, "must be a number", f"SET {name} = {decimal_text(default)}")
    if value < 0:
        raise _bad(name, "must not be negative", f"SET {name} = {decimal_text(default)}")
    if value > most:
        limit = decimal_text(most)
        raise _bad(
            name, f"is above the policy's limit of {limit}", f"SET {name} = {limit} or less."
        )
    return value


def _bad(name: str, what: str, hint: str) -> Refusal:
    return Refusal(Code.SETTING, f"setting {name} {what}", hint)
