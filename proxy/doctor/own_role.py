"""Whether the proxy's role is one that others need as it is, and what to do then: make another one.

SQL that takes rights from such a role can take the last superuser from a server, or its tables from an
application. So no finding says it: the one thing to do is to give the proxy a role that nobody else uses.
"""

from __future__ import annotations

import shlex

from proxy.doctor.diagnosis_session import Connection
from proxy.policy.policy_model import Policy

# Roles that come with PostgreSQL and reach beyond reading tables (PostgreSQL 17 documentation, section 21.5
# "Predefined Roles").
STRONG_ROLES = [
    *("pg_write_all_data", "pg_execute_server_program", "pg_write_server_files"),
    *("pg_read_server_files", "pg_signal_backend", "pg_maintain", "pg_create_subscription"),
    *("pg_checkpoint", "pg_signal_autovacuum_worker"),
]
# By itself, or by a role that it could take on: attributes, predefined strong roles, the bootstrap
# superuser (oid 10), the owner of a database or of anything in this one.
_ADMINISTRATIVE = """
SELECT pg_catalog.bool_or(
           g.rolsuper OR g.rolcreaterole OR g.rolcreatedb OR g.rolreplication OR g.rolbypassrls
           OR g.oid = 10 OR g.rolname = ANY (%s)
           OR EXISTS (SELECT FROM pg_catalog.pg_database d WHERE d.datdba = g.oid)
           OR EXISTS (SELECT FROM pg_catalog.pg_namespace n WHERE n.nspowner = g.oid AND n.nspname !~ '^pg_')
           OR EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                      WHERE c.relowner = g.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
                        AND n.nspname !~ '^pg_'))
FROM pg_catalog.pg_roles g WHERE pg_catalog.pg_has_role(current_user, g.oid, 'MEMBER')
"""
_ROLE = "dpproxy_reader"
OWN_ROLE = "make a role of its own"  # how the fix of every finding about such a role begins


def own_role_fix(connection: Connection, policy: Policy) -> str:
    """
    Gives    the command that makes a role for the proxy alone, where the role is somebody's who administers
             or owns; else nothing: the role may be changed
    """
    row = connection.execute(_ADMINISTRATIVE, (STRONG_ROLES,)).fetchone()
    if row is None or not row[0]:
        return ""
    schemas = sorted({name.schema for name in policy.tables})
    schema = shlex.quote(schemas[0]) if len(schemas) == 1 else "SCHEMA"
    role = _ROLE if connection.info.user != _ROLE else f"{_ROLE}_2"
    database = shlex.quote(connection.info.dbname)
    return (
        f"{OWN_ROLE} and name it in source: dpproxy policy role | psql -v ON_ERROR_STOP=1 -v role={role}"
        f" -v password=\"'...'\" -v schema={schema} {database}"
    )
