"""Settings of the server, and rights and settings of the proxy's role, that are unsafe."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.databases.diagnosis import Connection, Finding, Severity, name_text

_ROLE = """
SELECT r.rolname, r.rolsuper, r.rolbypassrls, r.rolcreaterole, r.rolcreatedb, r.rolreplication
FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
"""
_SUPERVISED = """
SELECT g.rolname FROM pg_catalog.pg_roles g
WHERE g.rolname <> current_user AND pg_catalog.pg_has_role(current_user, g.oid, 'MEMBER')
ORDER BY 1
"""
_OWNED = """
SELECT n.nspname, c.relname
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relowner = current_user::pg_catalog.regrole AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname !~ '^pg_'
ORDER BY 1, 2
"""
_WRITABLE = """
SELECT n.nspname, c.relname
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND (pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
       OR pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
ORDER BY 1, 2
"""
_CREATABLE = """
SELECT n.nspname FROM pg_catalog.pg_namespace n
WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND pg_catalog.has_schema_privilege(n.oid, 'CREATE')
ORDER BY 1
"""
_ROLE_SETTINGS = """
SELECT s.setrole <> 0, s.setdatabase <> 0, pg_catalog.split_part(c.entry, '=', 1)
FROM pg_catalog.pg_db_role_setting s, pg_catalog.unnest(s.setconfig) AS c (entry)
WHERE s.setrole IN (0, (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user))
  AND s.setdatabase IN (0, (SELECT d.oid FROM pg_catalog.pg_database d
                            WHERE d.datname = pg_catalog.current_database()))
ORDER BY 3, 1, 2
"""
# The proxy sets these itself at each session, or they only limit what it may use; log_* and the
# semantic ones are judged by their values.
_HARMLESS = {
    *("default_transaction_read_only", "search_path", "timezone", "datestyle", "jit", "work_mem"),
    *("standard_conforming_strings", "random_page_cost", "application_name", "statement_timeout"),
    *("lock_timeout", "idle_in_transaction_session_timeout", "idle_session_timeout"),
    *("transform_null_equals", "array_nulls", "max_parallel_workers_per_gather"),
}
_LOADING = {"session_preload_libraries", "local_preload_libraries", "role", "session_authorization"}
# Roles that come with PostgreSQL and reach beyond reading (manual, 21.5 "Predefined Roles").
_STRONG = {
    *("pg_write_all_data", "pg_execute_server_program", "pg_write_server_files"),
    *("pg_read_server_files", "pg_signal_backend", "pg_maintain", "pg_create_subscription"),
}


def server_findings(connection: Connection) -> Iterator[Finding]:
    yield from _logging(connection)
    yield from _meaning(connection)
    yield from _role(connection)
    yield from _rights(connection)
    yield from _role_settings(connection)


def _setting(connection: Connection, name: str) -> str | None:
    """Its value in a session of the proxy; None where the server does not know it."""
    row = connection.execute("SELECT pg_catalog.current_setting(%s, true)", (name,)).fetchone()
    return None if row is None else row[0]


def _user(connection: Connection) -> str:
    return name_text(connection, connection.info.user)


def _set(connection: Connection, name: str, value: str) -> str:
    return f"ALTER ROLE {_user(connection)} SET {name} = {value};"


def _unit_amount(connection: Connection, name: str) -> int:
    """The number itself, without its unit; -1 where it is off or unknown."""
    row = connection.execute(
        "SELECT setting FROM pg_catalog.pg_settings WHERE name = %s", (name,)
    ).fetchone()
    return -1 if row is None else int(float(row[0]))


def _logging(connection: Connection) -> Iterator[Finding]:
    """Source   PostgreSQL manual, 19.8 "Error Reporting and Logging"; F.3 auto_explain"""
    reasons = []
    if _setting(connection, "log_statement") == "all":
        reasons.append("log_statement = all")
    for name in ("log_min_duration_statement", "log_min_duration_sample"):
        if _unit_amount(connection, name) >= 0:
            reasons.append(name)
    if float(_setting(connection, "log_transaction_sample_rate") or 0) > 0:
        reasons.append("log_transaction_sample_rate")
    if reasons and _unit_amount(connection, "log_parameter_max_length") != 0:
        yield Finding(
            Severity.UNSAFE,
            f"the server logs statements with their parameters ({', '.join(reasons)}): the log then holds "
            "what analysts compare people's values with, and the seeds of partitions",
            _set(connection, "log_parameter_max_length", "0"),
        )
    if _unit_amount(connection, "log_parameter_max_length_on_error") != 0:
        yield Finding(
            Severity.UNSAFE,
            "the server logs the parameters of statements that fail (log_parameter_max_length_on_error)",
            _set(connection, "log_parameter_max_length_on_error", "0"),
        )
    for name in ("debug_print_parse", "debug_print_rewritten", "debug_print_plan"):
        if _setting(connection, name) == "on":
            yield Finding(
                Severity.UNSAFE,
                f"the server logs the trees of statements ({name})",
                _set(connection, name, "off"),
            )
    if _setting(connection, "auto_explain.log_min_duration") not in (None, "-1"):
        yield Finding(
            Severity.UNSAFE,
            "auto_explain logs plans of the proxy's statements: exact numbers of rows, and parameters",
            _set(connection, "auto_explain.log_min_duration", "-1"),
        )
    if _setting(connection, "pg_stat_statements.track") not in (None, "none"):
        yield Finding(
            Severity.NOTE,
            "pg_stat_statements keeps numbers of rows and blocks of the proxy's statements, without "
            "parameters, for those who may read it (pg_read_all_stats)",
            _set(connection, "pg_stat_statements.track", "'none'"),
        )


def _meaning(connection: Connection) -> Iterator[Finding]:
    """What changes the meaning of compiled statements."""
    copy = name_text(connection, f"{connection.info.dbname}_utf8")
    if _setting(connection, "server_encoding") != "UTF8":
        yield Finding(
            Severity.UNSAFE,
            f"the database's encoding is {_setting(connection, 'server_encoding')}, not UTF8: a text that "
            "cannot be converted makes a statement fail, which says something about a row",
            f"CREATE DATABASE {copy} TEMPLATE template0 ENCODING 'UTF8'; -- then pg_dump | psql",
        )
    for name, wanted in (("transform_null_equals", "off"), ("array_nulls", "on")):
        if _setting(connection, name) != wanted:
            yield Finding(
                Severity.UNSAFE,
                f"{name} is {_setting(connection, name)}: comparisons mean something else than planned",
                _set(connection, name, wanted),
            )


def _role(connection: Connection) -> Iterator[Finding]:
    row = connection.execute(_ROLE).fetchone()
    assert row is not None
    user = _user(connection)
    for is_so, word, why in (
        (row[1], "SUPERUSER", "can do everything"),
        (row[2], "BYPASSRLS", "passes row security by"),
        (row[3], "CREATEROLE", "can make roles"),
        (row[4], "CREATEDB", "can make databases"),
        (row[5], "REPLICATION", "can copy the whole server"),
    ):
        if is_so:
            yield Finding(
                Severity.UNSAFE, f"the role {user} {why} ({word})", f"ALTER ROLE {user} NO{word};"
            )
    if row[1]:
        return  # a superuser is a member of every role, and may write everywhere
    for (name,) in connection.execute(_SUPERVISED).fetchall():
        is_strong = name in _STRONG
        yield Finding(
            Severity.UNSAFE if is_strong else Severity.NOTE,
            f"the role {user} is a member of {name}, "
            + ("which reaches beyond reading" if is_strong else "with whatever that may do"),
            f"REVOKE {name_text(connection, name)} FROM {user};",
        )


def _rights(connection: Connection) -> Iterator[Finding]:
    row = connection.execute(_ROLE).fetchone()
    if row is not None and row[1]:
        return
    user = _user(connection)
    owned = connection.execute(_OWNED).fetchall()
    for schema, table in owned:
        name = name_text(connection, schema, table)
        yield Finding(
            Severity.UNSAFE,
            f"the role {user} owns {name}: it can change it, and its row security does not hold for it",
            f"ALTER TABLE {name} OWNER TO postgres; GRANT SELECT ON {name} TO {user};",
        )
    for schema, table in connection.execute(_WRITABLE).fetchall():
        if (schema, table) not in owned:
            name = name_text(connection, schema, table)
            yield Finding(
                Severity.UNSAFE,
                f"the role {user} can write to {name}",
                f"REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON {name} FROM {user}, PUBLIC;",
            )
    for (schema,) in connection.execute(_CREATABLE).fetchall():
        name = name_text(connection, schema)
        yield Finding(
            Severity.UNSAFE,
            f"the role {user} can create objects in schema {name}",
            f"REVOKE CREATE ON SCHEMA {name} FROM {user}, PUBLIC;",
        )


def _role_settings(connection: Connection) -> Iterator[Finding]:
    """Names only: a value could hold anything."""
    user, database = _user(connection), name_text(connection, connection.info.dbname)
    for of_role, in_database, name in connection.execute(_ROLE_SETTINGS).fetchall():
        if name.lower() in _HARMLESS or name.lower().startswith(("log_", "debug_print_")):
            continue
        whose = f"ROLE {user}" if of_role else "ROLE ALL"
        whose += f" IN DATABASE {database}" if in_database else ""
        is_loading = name.lower() in _LOADING
        yield Finding(
            Severity.UNSAFE if is_loading else Severity.NOTE,
            f"{whose} has the setting {name}, which every session of the proxy starts with"
            + (": foreign code or another role comes with it" if is_loading else ""),
            f"ALTER {whose} RESET {name};",
        )
