"""The `privacy` and the `agents` of a policy file: epsilon and delta of a question, what the noise of its
answers is, and what an agent may spend without asking a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from proxy.policy.policy_model import Mechanism, MedianNoise, Noise, Privacy, Weighed
from proxy.policy_file.policy_errors import ProblemList
from proxy.policy_file.policy_nodes import fields, member, number_within, switch
from proxy.policy_file.policy_shapes import SWITCH, Keyed, Number, Shape, one_of
from proxy.policy_file.yaml_positions import Entry

LEAST_EPSILON = Fraction(1, 10**6)
LARGEST_EPSILON = Fraction(100)  # e^epsilon is far from overflow; no promise is left by then
LEAST_WEIGHT, LARGEST_WEIGHT = Fraction(1, 1000), Fraction(1000)
LEAST_DELTA = Fraction(1, 10**100)
LARGEST_DELTA = Fraction(735, 1000)  # below 2/e: the smoothed median's theorem needs that

MEDIAN_KEYS: Mapping[str, Shape] = {"noise": one_of(MedianNoise)}
_WEIGHT_KEYS: Mapping[str, Shape] = {
    of.value: Number(LEAST_WEIGHT, LARGEST_WEIGHT) for of in Weighed
}
PRIVACY_KEYS: Mapping[str, Shape] = {
    "epsilon": Number(LEAST_EPSILON, LARGEST_EPSILON),
    "delta": Number(LEAST_DELTA, LARGEST_DELTA),
    "max_epsilon": Number(LEAST_EPSILON, LARGEST_EPSILON),
    "noise": one_of(Noise),
    "median": Keyed(MEDIAN_KEYS, tuple(MEDIAN_KEYS)),
    "mechanism": one_of(Mechanism),
    "weights": Keyed(_WEIGHT_KEYS),
    "round": SWITCH,
    "published": SWITCH,
    "notice": SWITCH,
}
PRIVACY = Keyed(PRIVACY_KEYS, ("epsilon", "delta"), "privacy")
_APPROVE = "approve_above"
AGENTS_KEYS: Mapping[str, Shape] = {_APPROVE: Number(Fraction(0), LARGEST_EPSILON)}
AGENTS = Keyed(AGENTS_KEYS, (_APPROVE,))


def read_privacy(entry: Entry, problems: ProblemList) -> Privacy | None:
    found = fields(entry.value, "privacy", entry.key_at, PRIVACY_KEYS, PRIVACY.required, problems)
    if found is None:
        return None
    noise: Noise | None = Noise.LAPLACE
    if "noise" in found:
        noise = member(found["noise"].value, "noise", Noise, problems)
    median_noise = _median_noise(found.get("median"), problems)
    mechanism: Mechanism | None = Mechanism.AUTO
    if "mechanism" in found:
        mechanism = member(found["mechanism"].value, "mechanism", Mechanism, problems)
    weights = _weights(found.get("weights"), problems)
    is_rounded = switch(found.get("round"), problems, default=False)
    uses_published = switch(found.get("published"), problems, default=True)
    has_notices = switch(found.get("notice"), problems, default=True)
    epsilon, max_epsilon = (
        number_within(found[key].value, key, LEAST_EPSILON, LARGEST_EPSILON, problems)
        if key in found
        else None
        for key in ("epsilon", "max_epsilon")
    )
    delta = None
    if "delta" in found:
        delta = number_within(found["delta"].value, "delta", LEAST_DELTA, LARGEST_DELTA, problems)
    if epsilon is not None and max_epsilon is not None and max_epsilon < epsilon:
        hint = "leave max_epsilon out: it is epsilon then"
        problems.add(found["max_epsilon"].value.at, "max_epsilon cannot be below epsilon", hint)
    if epsilon is None or delta is None:
        return None
    if noise is None or median_noise is None or mechanism is None or weights is None:
        return None
    if is_rounded is None or uses_published is None or has_notices is None:
        return None
    most = epsilon if max_epsilon is None else max_epsilon
    return Privacy(
        *(epsilon, delta, most, delta, noise, median_noise, mechanism, weights),
        is_rounded=is_rounded,
        uses_published=uses_published,
        has_notices=has_notices,
    )


def _median_noise(entry: Entry | None, problems: ProblemList) -> MedianNoise | None:
    if entry is None:
        return MedianNoise.LAPLACE
    found = fields(entry.value, "median", entry.key_at, MEDIAN_KEYS, tuple(MEDIAN_KEYS), problems)
    if found is None or "noise" not in found:
        return None
    return member(found["noise"].value, "noise", MedianNoise, problems)


def _weights(entry: Entry | None, problems: ProblemList) -> Mapping[Weighed, Fraction] | None:
    if entry is None:
        return {}
    known = {member.value: member for member in Weighed}
    found = fields(entry.value, "weights", entry.key_at, _WEIGHT_KEYS, (), problems)
    if found is None:
        return None
    weights = {
        known[key]: number_within(of.value, key, LEAST_WEIGHT, LARGEST_WEIGHT, problems)
        for key, of in found.items()
    }
    read = {of: weight for of, weight in weights.items() if weight is not None}
    return read if len(read) == len(weights) else None


def read_approve_above(entry: Entry | None, problems: ProblemList) -> Fraction | None:
    """Read above which epsilon a person approves a statement of an agent.

    Returns:
        None: nobody has to, or a problem is reported.
    """
    if entry is None:
        return None
    found = fields(entry.value, "agents", entry.key_at, AGENTS_KEYS, AGENTS.required, problems)
    if found is None or _APPROVE not in found:
        return None
    return number_within(found[_APPROVE].value, _APPROVE, Fraction(0), LARGEST_EPSILON, problems)
