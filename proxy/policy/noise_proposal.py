"""Where the other noise would be smaller: for questions whose groups one unit can be in several of."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.catalog.catalog_model import Catalog
from proxy.mechanisms import discrete_gaussian, discrete_laplace, zcdp
from proxy.policy.accuracy import rows_of_unit
from proxy.policy.check import fitted
from proxy.policy.policy_model import Noise, Policy, ProtectedTable, RowUnit


@dataclass(frozen=True, slots=True)
class NoiseProposal:
    """With `noise: gaussian` a COUNT by keys of `groups` groups or more is within gaussian_95 in 95 of 100
    answers, with Laplace noise within laplace_95; a SUM in the same proportion."""

    table: str
    groups: int
    laplace_95: int
    gaussian_95: int


def noise_proposals(policy: Policy, catalog: Catalog) -> list[NoiseProposal]:
    """
    Given    a policy for which `check` finds nothing
    Refuses  another one with ValueError
    Source   docs/design/mechanisms.md 3.2: L1 grows with the number of groups, L2 with its root, if
             rows per group are bounded
    """
    policy = fitted(policy, catalog)
    if policy.privacy.noise is not Noise.LAPLACE:
        return []
    found = []
    for table in policy.protected():
        rows = rows_of_unit(table, catalog.tables[table.name])
        proposal = _proposal(table, rows, policy)
        if proposal is not None:
            found.append(proposal)
    return found


def _proposal(table: ProtectedTable, rows: int, policy: Policy) -> NoiseProposal | None:
    per_group = table.max_rows_per_group_per_unit
    if isinstance(table.unit, RowUnit) or per_group is None:
        return None  # all rows of a unit may be in one group
    epsilon, delta = policy.privacy.epsilon, policy.privacy.delta
    groups = min(rows, table.max_groups_per_unit or rows)
    if not zcdp.gaussian_pays(groups, epsilon, delta, per_group):
        return None
    rho = zcdp.rho_of_loss(epsilon, delta)
    laplace = discrete_laplace.scale_for(groups * per_group, epsilon)
    gaussian = discrete_gaussian.sigma2_for(groups * per_group**2, rho)
    return NoiseProposal(
        str(table.name),
        groups,
        discrete_laplace.half_width(laplace),
        discrete_gaussian.half_width(gaussian),
    )
