"""What the kernel believes: the policy and the catalogue. It believes nothing of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from proxy.catalog.catalog_model import Catalog, TableName
from proxy.policy.policy_model import Policy


@dataclass(frozen=True, slots=True)
class World:
    """policy: whose rows are protected; catalog: types and keys that the server checks (PROOFS.md 22 A2);
    public_sizes: so many rows public tables had when they were read; naming_key: of plan_digest."""

    policy: Policy
    catalog: Catalog
    public_sizes: Mapping[TableName, int] = field(default_factory=dict)
    naming_key: bytes = field(default=b"", repr=False)
