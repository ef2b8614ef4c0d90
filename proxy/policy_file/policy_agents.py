"""The `agents` of a policy file: what an agent may spend without asking a person."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from proxy.policy_file.policy_errors import ProblemList
from proxy.policy_file.policy_nodes import fields, number_within
from proxy.policy_file.policy_privacy import LARGEST_EPSILON
from proxy.policy_file.policy_shapes import Keyed, Number, Shape
from proxy.policy_file.yaml_positions import Entry

_KEY = "approve_above"
AGENTS_KEYS: Mapping[str, Shape] = {_KEY: Number(Fraction(0), LARGEST_EPSILON)}
AGENTS = Keyed(AGENTS_KEYS, (_KEY,))


def read_approve_above(entry: Entry | None, problems: ProblemList) -> Fraction | None:
    """Read above which epsilon a person approves a statement of an agent.

    Returns:
        None: nobody has to, or a problem is reported.
    """
    if entry is None:
        return None
    found = fields(entry.value, "agents", entry.key_at, AGENTS_KEYS, AGENTS.required, problems)
    if found is None or _KEY not in found:
        return None
    return number_within(found[_KEY].value, _KEY, Fraction(0), LARGEST_EPSILON, problems)
