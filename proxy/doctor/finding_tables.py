"""Which tables of a policy a finding concerns: those that are closed while it is open."""

from __future__ import annotations

from collections.abc import Mapping

from proxy.catalog.catalog_model import TableName
from proxy.doctor.diagnosis_session import connect
from proxy.doctor.links_diagnosis import read_relations
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.policy_model import Policy

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
