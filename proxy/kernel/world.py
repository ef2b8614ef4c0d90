"""What the kernel believes: the policy and the catalogue. It believes nothing of a plan."""

from __future__ import annotations

from dataclasses import dataclass, field

from proxy.catalog.catalog_model import Catalog
from proxy.policy.policy_model import Policy


@dataclass(frozen=True, slots=True)
class World:
    """policy: whose rows are protected; catalog: types and keys that the server checks (PROOFS.md 22 A2);
    naming_key: of plan_digest."""

    policy: Policy
    catalog: Catalog
    naming_key: bytes = field(default=b"", repr=False)
