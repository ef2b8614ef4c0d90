"""All findings about a policy and the protected database that it is about: the one list that `policy check`,
`serve` and `doctor` print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import psycopg

from proxy.catalog.catalog_model import Catalog, TableName
from proxy.doctor.copies_diagnosis import copies_findings
from proxy.doctor.diagnosis_session import connect
from proxy.doctor.distribution_diagnosis import distribution_findings
from proxy.doctor.installed_postgres import Installation, trusted_socket_findings
from proxy.doctor.links_diagnosis import read_relations
from proxy.doctor.people_diagnosis import people_findings
from proxy.doctor.role_diagnosis import own_role_fix, role_findings
from proxy.doctor.server_diagnosis import server_findings
from proxy.doctor.table_diagnosis import public_size_findings, table_findings
from proxy.doctor.values_diagnosis import values_findings
from proxy.policy.amount_findings import accounting_findings, amount_findings
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding, Verdict, judged, unnamed_findings
from proxy.policy.people import OF_PEOPLE
from proxy.policy.policy_model import Policy
from proxy.protected.catalog_reader import Unreachable, reachable_catalog


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
                *copies_findings(connection, policy, catalog),
                *unnamed_findings(policy, catalog),
                *amount_findings(policy),
                *accounting_findings(policy),
                *_installation_findings(connection, installation),
            ]
    except psycopg.OperationalError as error:
        raise Unreachable(str(error).strip()) from None
    return judged(found, [one for one in policy.accepted if one.name not in OF_PEOPLE])


def _installation_findings(
    connection: psycopg.Connection[Any], installation: Installation | None
) -> Iterator[Finding]:
    if installation is not None:
        yield from installation.findings
        yield from trusted_socket_findings(
            connection, "source", is_kept_apart=installation.is_kept_apart
        )


# Which tables of a policy a finding concerns: those that are closed while it is open.


# Of the server, the role, this installation, or amounts of the policy: no table shows more because of them.
OF_NO_TABLE = frozenset(
    {
        *(FindingName.ROLE_ATTRIBUTE, FindingName.ROLE_MEMBERSHIP, FindingName.ROLE_OWNS),
        *(FindingName.ROLE_MAY_WRITE, FindingName.ROLE_MAY_CREATE, FindingName.ROLE_LOADS_CODE),
        *(FindingName.LOGS_PARAMETERS, FindingName.LOGS_PLANS),
        *(FindingName.TEMP_FILES_UNLIMITED, FindingName.TEMP_FILES_TOO_SMALL),
        *(FindingName.SETTING_CHANGES_MEANING, FindingName.ENCODING_NOT_UTF8),
        *(FindingName.OLD_POSTGRESQL, FindingName.OLD_POSTGRESQL_IN_THE_OPEN),
        FindingName.TRUSTED_SOCKET_IN_THE_OPEN,
        *OF_PEOPLE,
        *(FindingName.STATEMENT_DELTA_PUBLISHES, FindingName.PUBLISHING_ENDS_TOTAL),
    }
)


def concerned_tables(finding: Finding, policy: Policy) -> frozenset[TableName]:
    """Tell the tables of the policy that a finding is about: all of them where nobody can tell."""
    if finding.name in OF_NO_TABLE:
        return frozenset()
    named = frozenset(name for name in policy.tables if str(name) == finding.where)
    return named or frozenset(policy.tables)


def sharing_tables(policy: Policy) -> Mapping[TableName, frozenset[TableName]]:
    """Find, for each table of the policy, the tables of the policy that show rows of it: views, parents, heirs.

    Raises:
        psycopg.Error: The protected database cannot be asked.
    """
    with connect(policy.source) as connection:
        links = read_relations(connection).links
    reading = {name: links.readable_from(name) for name in policy.tables}
    return {
        name: frozenset(
            other
            for other, read in reading.items()
            if name in read or other in links.children_of(name)
        )
        for name in policy.tables
    }
