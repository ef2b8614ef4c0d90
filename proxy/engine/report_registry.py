"""Fields of the public registry of deployments (tier 3) and of the privacy label that a policy has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proxy.engine.unit_words import unit_of_policy
from proxy.policy.policy_model import Accounting, Policy, PublicTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Sentences, and a table below them if it has heads. key: stable, for programs."""

    key: str
    title: str
    text: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def registry_entry(policy: Policy, mechanisms: Iterable[str]) -> Mapping[str, object]:
    """Empty texts are for the owner: a policy does not say them.

    Source: opendp/deployments-registry-data, template of a deployment.
    """
    total = policy.budgets.total.limit
    public = [str(one.name) for one in policy.tables.values() if isinstance(one, PublicTable)]
    domain = [f"{one.name} ({', '.join(one.columns)})" for one in policy.protected()]
    return {
        "basic": {"name": policy.database, "description": "", "intended_use": ""},
        "dp_variant": {
            "variant_name": "Approximate DP" if total.delta else "Pure DP",
            "data_domain": "; ".join(domain),
            "unprotected_quantities": ", ".join(public) or "none",
        },
        "privacy_loss": {
            "privacy_unit": unit_of_policy(policy),
            "privacy_unit_details": "neighbours differ in the rows of one unit (add or remove)",
            "number_of_privacy_units": policy.units_about,
            "privacy_parameters": {"epsilon": float(total.epsilon), "delta": float(total.delta)},
            "privacy_parameters_details": "of all answers together, within a total that does not renew",
        },
        "deployment_model": {
            "model_name": "Central",
            "trust_assumptions": "dpproxy, its operator and the protected database are trusted",
            "release_type": "Many releases",
            "access_type": "Interactive",
        },
        "implementation": {
            "mechanisms": "; ".join(mechanisms),
            "composition": "epsilon and delta add up"
            if policy.accounting is Accounting.BASIC
            else "epsilon and delta add up, or rho (zCDP), whichever admits more",
            "post_processing": "rounding, intervals, and sums of released numbers",
        },
        "administrative": {"status": "Draft", "tier": 3},
    }


def privacy_label(policy: Policy) -> Mapping[str, object]:
    """Source: privacy label of Dibia, Near and others (arXiv 2507.15997)."""
    total = policy.budgets.total.limit
    return {
        "unit": unit_of_policy(policy),
        "epsilon": float(total.epsilon),
        "delta": float(total.delta),
        "epsilon_of_a_statement": float(policy.privacy.epsilon),
        "delta_of_a_statement": float(policy.privacy.delta),
        "model": "central",
    }
