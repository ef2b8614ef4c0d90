"""All findings about the protected database of a policy."""

from __future__ import annotations

import psycopg

from proxy.catalog.model import Catalog
from proxy.databases.diagnosis import Finding, connect, ordered
from proxy.databases.given_server import Unreachable
from proxy.databases.reads_diagnosis import reads_findings
from proxy.databases.server_diagnosis import server_findings
from proxy.databases.table_diagnosis import table_findings
from proxy.policy.model import Policy


def diagnose(policy: Policy, catalog: Catalog) -> tuple[Finding, ...]:
    """
    Given    catalog: of what the role can read
    Gives    findings, the worst first
    Refuses  Unreachable
    """
    try:
        with connect(policy.source) as connection:
            return ordered(
                [
                    *server_findings(connection),
                    *table_findings(connection, policy, catalog),
                    *reads_findings(connection, policy),
                ]
            )
    except psycopg.OperationalError as error:
        raise Unreachable(str(error).strip()) from None
