"""Short policies for tests: only the tables are written out."""

from __future__ import annotations

from proxy.policy.policy_model import Policy
from proxy.policy_file.policy_yaml import read_policy


def read(tables: str, epsilon: str = "1.0", delta: str = "1e-6") -> Policy:
    """A policy with these tables, not yet held against a catalogue."""
    text = (
        "dpproxy: 1\ndatabase: shop\nsource: host=db\n"
        f"privacy: {{epsilon: {epsilon}, delta: {delta}, mechanism: smooth_median}}\n"
        "budgets: {total: {epsilon: 100, delta: 1e-3}, default: {epsilon: 10, delta: 1e-4}}\n"
        f"{tables.strip()}\n"
    )
    return read_policy(text, "policy.yaml", {})
