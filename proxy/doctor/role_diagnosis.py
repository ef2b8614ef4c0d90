"""What the proxy's role may do beyond reading, by itself or by a role that it could take on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from proxy.catalog.catalog_model import TableName
from proxy.doctor.diagnosis_session import Connection, name_text, table_text
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.policy_model import Policy

_ATTRIBUTES = """
SELECT r.rolsuper, r.rolbypassrls, r.rolcreaterole, r.rolcreatedb, r.rolreplication
FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
"""
_MEMBER_OF = """
SELECT g.rolname, g.rolsuper OR g.rolcreaterole OR g.rolcreatedb OR g.rolreplication OR g.rolbypassrls
FROM pg_catalog.pg_roles g
WHERE g.rolname <> current_user AND pg_catalog.pg_has_role(current_user, g.oid, 'MEMBER')
ORDER BY 1
"""
# Itself, and all that SET ROLE would make of it; membership of a strong role is a finding of its own.
_ROLES = """
SELECT g.oid FROM pg_catalog.pg_roles g
WHERE pg_catalog.pg_has_role(current_user, g.oid, 'MEMBER') AND NOT g.rolsuper AND g.rolname <> ALL (%s)
"""
_OWNED = """
SELECT n.nspname, c.relname
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relowner = ANY (%s::oid[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
  AND n.nspname !~ '^pg_'
ORDER BY 1, 2
"""
_WRITABLE = """
SELECT n.nspname, c.relname, c.relkind = 'S'
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'f', 'S') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND EXISTS (
      SELECT FROM pg_catalog.unnest(%s::oid[]) AS mine (oid)
      WHERE CASE WHEN c.relkind = 'S' THEN pg_catalog.has_sequence_privilege(mine.oid, c.oid, 'USAGE, UPDATE')
            ELSE pg_catalog.has_table_privilege(mine.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
                OR pg_catalog.has_any_column_privilege(mine.oid, c.oid, 'INSERT, UPDATE') END)
ORDER BY 1, 2
"""
_CREATABLE = """
SELECT n.nspname FROM pg_catalog.pg_namespace n
WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND EXISTS (SELECT FROM pg_catalog.unnest(%s::oid[]) AS mine (oid)
              WHERE pg_catalog.has_schema_privilege(mine.oid, n.oid, 'CREATE'))
ORDER BY 1
"""
_DATABASES = """
SELECT d.datname FROM pg_catalog.pg_database d
WHERE EXISTS (SELECT FROM pg_catalog.unnest(%s::oid[]) AS mine (oid)
              WHERE pg_catalog.has_database_privilege(mine.oid, d.oid, 'CREATE'))
ORDER BY 1
"""


def role_findings(connection: Connection, own_role: str) -> Iterator[Finding]:
    """Given  own_role: what to do instead of changing the role, where it is not the proxy's alone"""
    row = connection.execute(_ATTRIBUTES).fetchone()
    assert row is not None
    user = name_text(connection, connection.info.user)
    words = ("SUPERUSER", "BYPASSRLS", "CREATEROLE", "CREATEDB", "REPLICATION")
    for is_so, word in zip(row, words, strict=True):
        if is_so:
            yield Finding(
                name=FindingName.ROLE_ATTRIBUTE,
                where=word,
                what=f"the role {user} {_CAN[word]} ({word})",
                fix=own_role,
            )
        if row[0]:
            return  # a superuser has every attribute, is a member of every role, and may write everywhere
    for name, has_attributes in connection.execute(_MEMBER_OF).fetchall():
        is_strong = has_attributes or name in STRONG_ROLES
        yield Finding(
            name=FindingName.ROLE_MEMBERSHIP if is_strong else FindingName.ROLE_IS_A_MEMBER,
            where=name,
            what=f"the role {user} is a member of {name}, "
            + ("which can do more than read" if is_strong else "and has its rights"),
            fix=own_role or f"REVOKE {name_text(connection, name)} FROM {user};",
        )
    yield from _rights(connection, user, own_role)


_CAN = {
    "SUPERUSER": "can do everything",
    "BYPASSRLS": "passes row security by",
    "CREATEROLE": "can make roles",
    "CREATEDB": "can make databases",
    "REPLICATION": "can copy the whole server",
}


def _rights(connection: Connection, user: str, own_role: str) -> Iterator[Finding]:
    roles = [row[0] for row in connection.execute(_ROLES, (STRONG_ROLES,)).fetchall()]
    owned = {TableName(*row) for row in connection.execute(_OWNED, (roles,)).fetchall()}
    for table in sorted(owned):
        text = table_text(connection, table)
        yield Finding(
            name=FindingName.ROLE_OWNS,
            where=str(table),
            what=f"the role {user} owns {text}: it can change it, and its row security does not hold for it",
            fix=own_role,
        )
    for schema, name, is_sequence in connection.execute(_WRITABLE, (roles,)).fetchall():
        table = TableName(schema, name)
        if table in owned:
            continue
        text = table_text(connection, table)
        rights = (
            "USAGE, UPDATE ON SEQUENCE" if is_sequence else "INSERT, UPDATE, DELETE, TRUNCATE ON"
        )
        yield Finding(
            name=FindingName.ROLE_MAY_WRITE,
            where=str(table),
            what=f"the role {user} can write to {text}",
            fix=own_role or f"REVOKE {rights} {text} FROM {user}, PUBLIC;",
        )
    for (schema,) in connection.execute(_CREATABLE, (roles,)).fetchall():
        text = name_text(connection, schema)
        yield Finding(
            name=FindingName.ROLE_MAY_CREATE,
            where=schema,
            what=f"the role {user} can create objects in schema {text}",
            fix=own_role or f"REVOKE CREATE ON SCHEMA {text} FROM {user}, PUBLIC;",
        )
    for (database,) in connection.execute(_DATABASES, (roles,)).fetchall():
        text = name_text(connection, database)
        yield Finding(
            name=FindingName.ROLE_MAY_CREATE,
            where=database,
            what=f"the role {user} can create schemas in database {text}",
            fix=own_role or f"REVOKE CREATE ON DATABASE {text} FROM {user}, PUBLIC;",
        )


# Whether the proxy's role is one that others need as it is, and what to do then: make another one.
#
# SQL that takes rights from such a role can take the last superuser from a server, or its tables from an
# application. So no finding says it: the one thing to do is to give the proxy a role that nobody else uses.


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
