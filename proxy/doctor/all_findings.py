"""All findings about a policy and the protected database that it is about: the one list that `policy check`,
`serve` and `doctor` print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg

from proxy.catalog.catalog_model import Catalog
from proxy.doctor.diagnosis_session import connect
from proxy.doctor.distribution_diagnosis import distribution_findings
from proxy.doctor.installed_postgres import Installation
from proxy.doctor.links_diagnosis import read_relations
from proxy.doctor.own_role import own_role_fix
from proxy.doctor.people_diagnosis import people_findings
from proxy.doctor.public_sizes import public_size_findings
from proxy.doctor.role_diagnosis import role_findings
from proxy.doctor.server_diagnosis import server_findings
from proxy.doctor.table_diagnosis import table_findings
from proxy.doctor.trusted_socket import trusted_socket_findings
from proxy.doctor.values_diagnosis import values_findings
from proxy.policy.accounting_findings import accounting_findings
from proxy.policy.amount_findings import amount_findings
from proxy.policy.findings import Finding, Verdict, judged
from proxy.policy.policy_model import Policy
from proxy.policy.unnamed import unnamed_findings
from proxy.protected.reachable_catalog import Unreachable, reachable_catalog


def diagnose(policy: Policy, catalog: Catalog, installation: Installation | None = None) -> Verdict:
    """
    Given    catalog: of what the role can read; installation: the policy can accept what is found about it like
             its own; None leaves it out
    Gives    what was found, and what of it the policy accepts
    Refuses  Unreachable
    """
    declared = reachable_catalog(policy.source, declared=True)
    try:
        with connect(policy.source) as connection:
            relations = read_relations(connection)
            own_role = own_role_fix(connection, policy)
            found = [
                *people_findings(policy, catalog, relations, declared),
                *public_size_findings(connection, policy, catalog),
                *values_findings(connection, policy, catalog),
                *role_findings(connection, own_role),
                *server_findings(connection, own_role),
                *table_findings(connection, policy, catalog),
                *distribution_findings(connection, policy),
                *unnamed_findings(policy, catalog),
                *amount_findings(policy),
                *accounting_findings(policy),
                *_installation_findings(connection, installation),
            ]
    except psycopg.OperationalError as error:
        raise Unreachable(str(error).strip()) from None
    return judged(found, policy.accepted)


def _installation_findings(
    connection: psycopg.Connection[Any], installation: Installation | None
) -> Iterator[Finding]:
    if installation is not None:
        yield from installation.findings
        yield from trusted_socket_findings(
            connection, "source", is_kept_apart=installation.is_kept_apart
        )
