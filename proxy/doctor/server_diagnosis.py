"""Settings of the server, as they are in a session of the proxy's role, that let data out or change answers."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.base import limits
from proxy.doctor.diagnosis_session import Connection, name_text
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding

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
    *("transform_null_equals", "array_nulls", "max_parallel_workers_per_gather", "temp_file_limit"),
}
_LOADING = {"session_preload_libraries", "local_preload_libraries", "role", "session_authorization"}


def server_findings(connection: Connection, own_role: str) -> Iterator[Finding]:
    """Given  own_role: what to do instead of changing the role, where it is not the proxy's alone"""
    yield from _logging(connection, own_role)
    yield from _temporary_files(connection, own_role)
    yield from _meaning(connection, own_role)
    yield from _role_settings(connection, own_role)


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


def _logging(connection: Connection, own_role: str) -> Iterator[Finding]:
    """Source   PostgreSQL 17 documentation, section 19.8 "Error Reporting and Logging"; F.3 auto_explain;
    pgaudit's README"""
    reasons = []
    statements = _setting(connection, "log_statement")
    if statements != "none":
        reasons.append(f"log_statement = {statements}")
    for name in ("log_min_duration_statement", "log_min_duration_sample"):
        if _unit_amount(connection, name) >= 0:
            reasons.append(name)
    if float(_setting(connection, "log_transaction_sample_rate") or 0) > 0:
        reasons.append("log_transaction_sample_rate")
    if reasons and _unit_amount(connection, "log_parameter_max_length") != 0:
        yield Finding(
            name=FindingName.LOGS_PARAMETERS,
            where="log_parameter_max_length",
            what=f"the server logs statements with their parameters ({', '.join(reasons)}): the log then holds "
            f"the constants that analysts compare people's values with, and the seeds of partitions",
            fix=own_role or _set(connection, "log_parameter_max_length", "0"),
        )
    if _unit_amount(connection, "log_parameter_max_length_on_error") != 0:
        yield Finding(
            name=FindingName.LOGS_PARAMETERS,
            where="log_parameter_max_length_on_error",
            what="the server logs the parameters of statements that fail (log_parameter_max_length_on_error)",
            fix=own_role or _set(connection, "log_parameter_max_length_on_error", "0"),
        )
    if (
        _setting(connection, "pgaudit.log") not in (None, "", "none")
        and _setting(connection, "pgaudit.log_parameter") == "on"
    ):
        yield Finding(
            name=FindingName.LOGS_PARAMETERS,
            where="pgaudit.log_parameter",
            what="pgaudit logs statements with their parameters (pgaudit.log_parameter)",
            fix=own_role or _set(connection, "pgaudit.log_parameter", "off"),
        )
    for name in ("debug_print_parse", "debug_print_rewritten", "debug_print_plan"):
        if _setting(connection, name) == "on":
            yield Finding(
                name=FindingName.LOGS_PLANS,
                where=name,
                what=f"the server logs the trees of statements ({name})",
                fix=own_role or _set(connection, name, "off"),
            )
    if _setting(connection, "auto_explain.log_min_duration") not in (None, "-1"):
        yield Finding(
            name=FindingName.LOGS_PLANS,
            where="auto_explain.log_min_duration",
            what="auto_explain logs plans of the proxy's statements: exact numbers of rows, and parameters",
            fix=own_role or _set(connection, "auto_explain.log_min_duration", "-1"),
        )
    if _setting(connection, "pg_stat_statements.track") not in (None, "none"):
        yield Finding(
            name=FindingName.KEEPS_STATISTICS,
            where="pg_stat_statements.track",
            what="pg_stat_statements keeps numbers of rows and blocks of the proxy's statements, without "
            "parameters, for those who may read it (pg_read_all_stats)",
            fix=own_role or _set(connection, "pg_stat_statements.track", "'none'"),
        )


def _temporary_files(connection: Connection, own_role: str) -> Iterator[Finding]:
    limit = _unit_amount(connection, "temp_file_limit")  # in kB
    least = -(-limits.UNIT_CARRIED_BYTES // 1024)
    if 0 <= limit < least:
        yield Finding(
            name=FindingName.TEMP_FILES_TOO_SMALL,
            where="temp_file_limit",
            what=f"temp_file_limit is {limit} kB in a session of the role, less than the {least} kB that one "
            "person's rows can take: a query that fails because of it reveals something about that person",
            fix=own_role or _set(connection, "temp_file_limit", "'10GB'"),
        )
    if limit == -1:
        yield Finding(
            name=FindingName.TEMP_FILES_UNLIMITED,
            where="temp_file_limit",
            what="temp_file_limit is -1 in a session of the role: temporary files can fill the disk, and "
            "whether they do can depend on one person; only a superuser of the protected server can set "
            "it",
            fix=own_role or _set(connection, "temp_file_limit", "'10GB'"),
        )


def _meaning(connection: Connection, own_role: str) -> Iterator[Finding]:
    """What changes the meaning of compiled statements."""
    copy = name_text(connection, f"{connection.info.dbname}_utf8")
    encoding = _setting(connection, "server_encoding")
    if encoding != "UTF8":
        yield Finding(
            name=FindingName.ENCODING_NOT_UTF8,
            where="server_encoding",
            what=f"the database's encoding is {encoding}, not UTF8: a text that "
            "cannot be converted makes a statement fail, which reveals something about a row",
            fix=f"CREATE DATABASE {copy} TEMPLATE template0 ENCODING 'UTF8'; -- then pg_dump | psql",
        )
    for name, wanted in (("transform_null_equals", "off"), ("array_nulls", "on")):
        if (value := _setting(connection, name)) != wanted:
            yield Finding(
                name=FindingName.SETTING_CHANGES_MEANING,
                where=name,
                what=f"{name} is {value}: comparisons differ from what is planned",
                fix=own_role or _set(connection, name, wanted),
            )


def _role_settings(connection: Connection, own_role: str) -> Iterator[Finding]:
    """Names only: a value could hold anything."""
    user, database = _user(connection), name_text(connection, connection.info.dbname)
    for of_role, in_database, name in connection.execute(_ROLE_SETTINGS).fetchall():
        if name.lower() in _HARMLESS or name.lower().startswith(("log_", "debug_print_")):
            continue
        whose = f"ROLE {user}" if of_role else "ROLE ALL"
        whose += f" IN DATABASE {database}" if in_database else ""
        is_loading = name.lower() in _LOADING
        yield Finding(
            name=FindingName.ROLE_LOADS_CODE if is_loading else FindingName.ROLE_SETTING,
            where=name,
            what=f"{whose} has the setting {name}, which every session of the proxy starts with"
            + (": foreign code or another role comes with it" if is_loading else ""),
            fix=own_role if of_role and own_role else f"ALTER {whose} RESET {name};",
        )
