"""The session's settings, read: what one statement may cost, how long it may take, whether to send a notice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.base.decimals import decimal_text
from proxy.base.errors import Code, Refusal
from proxy.base.session_settings import (
    ANSWERED_SETTINGS,
    BY_POLICY,
    DP_SETTINGS,
    SESSION_SETTINGS,
    how_to_reset,
    how_to_set,
)
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Mechanism, Previews, Privacy
from proxy.query.ir.written_numbers import number

_LEAST_EPSILON = Fraction(1, 10**6)  # as in policies; below it noise leaves every type's range
_MOST_ACCEPTED = Fraction(100)
_LEAST_DELTA = Fraction(1, 10**100)
# As current_setting prints a number of milliseconds: in the largest unit of which it is a whole number.
_TIME = re.compile(r"([0-9]{1,10})(ms|s|min|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


# Settings with which PostgreSQL reads a statement as its reader here does, and how to come to them.
_AS_READ = ("standard_conforming_strings", "transform_null_equals", "array_nulls")


@dataclass(frozen=True, slots=True)
class Settings:
    """floats_are_exact: whether the shadow prints all of
    their digits. is_rounded: whether answers are printed to the digits that mean something;
    is_fresh: whether what is cached is left aside; accepted_error: what was shown before, or is published,
    serves with a standard error of so many times a fresh one's; uses_published: whether what is published
    answers what it can; uses_copies: whether prepared copies are read; is_tried: whether a statement runs with
    made-up answers before it is charged."""

    loss: Loss  # of one statement
    notice: bool
    seconds: float | None = None  # for the statement, by statement_timeout
    floats_are_exact: bool = True
    is_rounded: bool = False
    is_fresh: bool = False
    accepted_error: Fraction = Fraction(1)
    uses_published: bool = True
    uses_copies: bool = True
    is_tried: bool = True
    mechanism: Mechanism | None = None  # of AVG, MIN and MAX; None: as the policy says


def read_settings(
    given: Mapping[str, str],
    privacy: Privacy,
    mechanisms: Sequence[Mechanism] = (Mechanism.SMOOTH_MEDIAN,),
) -> Settings:
    """
    Given    mechanisms: as of allowed_mechanisms
    Refuses  SETTING: an unknown setting, no number, or more than the policy allows
    """
    for name in given:
        if name not in SESSION_SETTINGS:
            raise _bad(name, "is not known", f"The settings are {', '.join(DP_SETTINGS)}.")
    check_meaning(given)
    shows_empty_previews(given, Previews.REFUSE)
    epsilon = _amount("dp.epsilon", given, privacy.epsilon, privacy.max_epsilon)
    delta = _amount("dp.delta", given, privacy.delta, privacy.max_delta)
    if epsilon < _LEAST_EPSILON:
        least = decimal_text(_LEAST_EPSILON)
        raise _bad(
            "dp.epsilon",
            f"must be {least} or more",
            f"{how_to_reset('dp.epsilon')} for the policy's value.",
        )
    if 0 < delta < _LEAST_DELTA:
        raise _bad(
            "dp.delta",
            "must be 0, or 1e-100 or more",
            f"{how_to_reset('dp.delta')} for the policy's value.",
        )
    notice = _switch("dp.notice", given, default=privacy.has_notices)
    is_rounded = _switch("dp.round", given, default=privacy.is_rounded)
    seconds = _seconds(given.get("statement_timeout", "0"))
    exact = given.get("extra_float_digits", "1") in ("1", "2", "3")
    is_fresh = _switch("dp.fresh", given, default=False)
    uses_published = _switch("dp.published", given, default=privacy.uses_published)
    accepted = _amount("dp.accept_error", given, Fraction(1), _MOST_ACCEPTED)
    if accepted < 1:
        raise _bad("dp.accept_error", "must be 1 or more", how_to_set("dp.accept_error", "1"))
    return Settings(
        Loss(epsilon, delta),
        notice,
        seconds,
        floats_are_exact=exact,
        is_rounded=is_rounded,
        is_fresh=is_fresh,
        accepted_error=accepted,
        uses_published=uses_published and not is_fresh,
        uses_copies=_switch("dp.prepared", given, default=True),
        is_tried=_switch("dp.trial", given, default=True),
        mechanism=_mechanism(given, mechanisms),
    )


def check_meaning(given: Mapping[str, str]) -> None:
    """
    Refuses  UNSUPPORTED: a setting with which PostgreSQL reads the statement otherwise than we do
    """
    for name in _AS_READ:
        wanted = ANSWERED_SETTINGS[name]
        if given.get(name, wanted) != wanted:
            raise Refusal(
                Code.UNSUPPORTED,
                f"questions on protected tables need the setting {name} to be {wanted}",
                how_to_set(name, wanted),
            )


def check_assignment(
    name: str, value: str, privacy: Privacy, mechanisms: Sequence[Mechanism]
) -> None:
    """A setting dp.* that is about to be SET.

    Refuses  SETTING: as `read_settings`
    """
    read_settings({name: value}, privacy, mechanisms)


def _mechanism(given: Mapping[str, str], allowed: Sequence[Mechanism]) -> Mechanism | None:
    word = given.get("dp.mechanism", BY_POLICY).strip().lower()
    if word == BY_POLICY:
        return None
    for one in allowed:
        if one.value == word:
            return one
    is_known = word in {one.value for one in Mechanism} - {Mechanism.AUTO.value}
    what = "is none that the policy allows" if is_known else "must be the name of a mechanism"
    words = ", ".join((BY_POLICY, *(one.value for one in allowed)))
    hint = how_to_set("dp.mechanism", Mechanism.SMOOTH_MEDIAN.value)
    raise _bad("dp.mechanism", what, f"{hint}. Allowed are {words}.")


def shows_empty_previews(given: Mapping[str, str], default: Previews) -> bool:
    """Read dp.previews.

    Args:
        given: Settings of the session.
        default: The policy's `previews`, where the session has not SET it.

    Raises:
        Refusal: SETTING, another word than those of the policy.
    """
    word = given.get("dp.previews", default.value).strip().lower()
    if word not in (one.value for one in Previews):
        raise _bad("dp.previews", "must be empty or refuse", how_to_set("dp.previews", "empty"))
    return word == Previews.EMPTY.value


def _switch(name: str, given: Mapping[str, str], *, default: bool) -> bool:
    word = given.get(name, "on" if default else "off").strip().lower()
    if word not in ("on", "off", "true", "false"):
        raise _bad(name, "must be on or off", how_to_set(name, "on"))
    return word in ("on", "true")


def _seconds(timeout: str) -> float | None:
    """
    >>> _seconds("1500ms"), _seconds("5min"), _seconds("0")
    (1.5, 300.0, None)
    """
    found = _TIME.fullmatch(timeout)
    if found is None:
        raise _bad("statement_timeout", "is no time", how_to_set("statement_timeout", "'30s'"))
    return int(found[1]) * _SECONDS[found[2] or "ms"] or None


def _amount(name: str, given: Mapping[str, str], default: Fraction, most: Fraction) -> Fraction:
    if name not in given:
        return default
    try:
        value = number(given[name].strip())
    except Refusal:  # more digits than any number of use has
        value = None
    if value is None:
        raise _bad(name, "must be a number", how_to_set(name, decimal_text(default)))
    if value < 0:
        raise _bad(name, "must not be negative", how_to_set(name, decimal_text(default)))
    if value > most:
        limit = decimal_text(most)
        of = "" if name == "dp.accept_error" else "policy's "
        raise _bad(
            name,
            f"is above the {of}limit of {limit}",
            f"{how_to_set(name, limit)}, which is the most.",
        )
    return value


def _bad(name: str, what: str, hint: str) -> Refusal:
    return Refusal(Code.SETTING, f"setting {name} {what}", hint)
