"""Settings of the server, as they are in a session of the proxy's role, that let data out or change answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proxy.base import limits
from proxy.doctor.diagnosis_session import Connection, name_text
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.protected.reading_settings import IS_DISTRIBUTED, MEANING, SETTINGS

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
    *(name.lower() for name in SETTINGS),
    *("statement_timeout", "lock_timeout", "idle_session_timeout"),
    "max_parallel_workers_per_gather",
    *("transform_null_equals", "array_nulls", "temp_file_limit"),
}
_LOADING = {"session_preload_libraries", "local_preload_libraries", "role", "session_authorization"}
# What is looked at on each node.
_LOGGED = (
    *("log_statement", "log_min_duration_statement", "log_min_duration_sample"),
    *("log_transaction_sample_rate", "log_parameter_max_length"),
    "log_parameter_max_length_on_error",
    *("pgaudit.log", "pgaudit.log_parameter", "debug_print_parse", "debug_print_rewritten"),
    *("debug_print_plan", "auto_explain.log_min_duration", "pg_stat_statements.track"),
)
_ASKED = (*_LOGGED, "temp_file_limit", *MEANING)
# The text of each setting, and the number without its unit; NULL where it is unknown.
_OF_A_NODE = f"""
SELECT pg_catalog.json_object_agg(asked, pg_catalog.json_build_array(
           pg_catalog.current_setting(asked, true),
           (SELECT s.setting FROM pg_catalog.pg_settings s WHERE s.name = asked)))::text
FROM pg_catalog.unnest('{{{",".join(_ASKED)}}}'::text[]) AS names (asked)
"""  # noqa: S608
_NODES = f"""
SELECT n.nodename || ':' || n.nodeport, asked.success, asked.result
FROM pg_catalog.run_command_on_all_nodes($_${_OF_A_NODE}$_$) asked
LEFT JOIN pg_catalog.pg_dist_node n ON n.nodeid = asked.nodeid ORDER BY 1
"""  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSettings:
    """The settings of a session of the proxy's role on one server.

    Attributes:
        values: The text of each, and its number as text.
    """

    values: Mapping[str, Sequence[str | None]]

    def text(self, name: str) -> str | None:
        """Give the value as it is shown; None where the server does not know the setting."""
        return self.values[name][0]

    def amount(self, name: str) -> int:
        """Give the number without its unit; -1 where it is off or unknown."""
        number = self.values[name][1]
        return -1 if number is None else int(float(number))


def server_findings(connection: Connection, own_role: str) -> Iterator[Finding]:
    """Find settings that let data out or change answers, on the server and on each node that computes for it.

    Args:
        connection: To the protected server.
        own_role: What to do instead of changing the role, where it is not the proxy's alone.
    """
    yield from _encoding(connection)
    yield from _of_settings(connection, _read(connection, _OF_A_NODE), own_role)
    yield from _role_settings(connection, own_role)
    if not _first(connection, IS_DISTRIBUTED):
        return
    for node, success, result in connection.execute(_NODES.encode()).fetchall():
        if not success:
            yield Finding(
                name=FindingName.SETTING_CHANGES_MEANING,
                where=f"node {node}",
                what=f"node {node} does not say with which settings it computes",
                fix=f"-- see that every node lets {_user(connection)} in, and is up",
            )
            continue
        settings = NodeSettings(values=json.loads(result))
        found = (
            *_of_settings(connection, settings, own_role),
            *_other_meaning(connection, settings, own_role),
        )
        for finding in found:
            yield replace(
                finding, where=f"{finding.where} on {node}", what=f"node {node}: {finding.what}"
            )


def _of_settings(
    connection: Connection, settings: NodeSettings, own_role: str
) -> Iterator[Finding]:
    yield from _logging(connection, settings, own_role)
    yield from _temporary_files(connection, settings, own_role)
    yield from _meaning(connection, settings, own_role)


def _first(connection: Connection, question: str) -> Any:
    row = connection.execute(question.encode()).fetchone()
    assert row is not None
    return row[0]


def _read(connection: Connection, question: str) -> NodeSettings:
    return NodeSettings(values=json.loads(_first(connection, question)))


def _user(connection: Connection) -> str:
    return name_text(connection, connection.info.user)


def _set(connection: Connection, name: str, value: str) -> str:
    return f"ALTER ROLE {_user(connection)} SET {name} = {value};"


def _logging(connection: Connection, settings: NodeSettings, own_role: str) -> Iterator[Finding]:
    """Source   PostgreSQL 17 documentation, section 19.8 "Error Reporting and Logging"; F.3 auto_explain;
    pgaudit's README"""
    reasons = []
    statements = settings.text("log_statement")
    if statements != "none":
        reasons.append(f"log_statement = {statements}")
    for name in ("log_min_duration_statement", "log_min_duration_sample"):
        if settings.amount(name) >= 0:
            reasons.append(name)
    if float(settings.text("log_transaction_sample_rate") or 0) > 0:
        reasons.append("log_transaction_sample_rate")
    if reasons and settings.amount("log_parameter_max_length") != 0:
        yield Finding(
            name=FindingName.LOGS_PARAMETERS,
            where="log_parameter_max_length",
            what=f"the server logs statements with their parameters ({', '.join(reasons)}): the log then holds "
            f"the constants that analysts compare people's values with, and the seeds of partitions",
            fix=own_role or _set(connection, "log_parameter_max_length", "0"),
        )
    if settings.amount("log_parameter_max_length_on_error") != 0:
        yield Finding(
            name=FindingName.LOGS_PARAMETERS,
            where="log_parameter_max_length_on_error",
            what="the server logs the parameters of statements that fail (log_parameter_max_length_on_error)",
            fix=own_role or _set(connection, "log_parameter_max_length_on_error", "0"),
        )
    if (
        settings.text("pgaudit.log") not in (None, "", "none")
        and settings.text("pgaudit.log_parameter") == "on"
    ):
        yield Finding(
            name=FindingName.LOGS_PARAMETERS,
            where="pgaudit.log_parameter",
            what="pgaudit logs statements with their parameters (pgaudit.log_parameter)",
            fix=own_role or _set(connection, "pgaudit.log_parameter", "off"),
        )
    for name in ("debug_print_parse", "debug_print_rewritten", "debug_print_plan"):
        if settings.text(name) == "on":
            yield Finding(
                name=FindingName.LOGS_PLANS,
                where=name,
                what=f"the server logs the trees of statements ({name})",
                fix=own_role or _set(connection, name, "off"),
            )
    if settings.text("auto_explain.log_min_duration") not in (None, "-1"):
        yield Finding(
            name=FindingName.LOGS_PLANS,
            where="auto_explain.log_min_duration",
            what="auto_explain logs plans of the proxy's statements: exact numbers of rows, and parameters",
            fix=own_role or _set(connection, "auto_explain.log_min_duration", "-1"),
        )
    if settings.text("pg_stat_statements.track") not in (None, "none"):
        yield Finding(
            name=FindingName.KEEPS_STATISTICS,
            where="pg_stat_statements.track",
            what="pg_stat_statements keeps numbers of rows and blocks of the proxy's statements, without "
            "parameters, for those who may read it (pg_read_all_stats)",
            fix=own_role or _set(connection, "pg_stat_statements.track", "'none'"),
        )


def _temporary_files(
    connection: Connection, settings: NodeSettings, own_role: str
) -> Iterator[Finding]:
    limit = settings.amount("temp_file_limit")  # in kB
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


def _meaning(connection: Connection, settings: NodeSettings, own_role: str) -> Iterator[Finding]:
    """What changes the meaning of compiled statements, and no session sets."""
    for name, wanted in (("transform_null_equals", "off"), ("array_nulls", "on")):
        if (value := settings.text(name)) != wanted:
            yield Finding(
                name=FindingName.SETTING_CHANGES_MEANING,
                where=name,
                what=f"{name} is {value}: comparisons differ from what is planned",
                fix=own_role or _set(connection, name, wanted),
            )


def _encoding(connection: Connection) -> Iterator[Finding]:
    copy = name_text(connection, f"{connection.info.dbname}_utf8")
    encoding = _first(connection, "SELECT pg_catalog.current_setting('server_encoding')")
    if encoding != "UTF8":
        yield Finding(
            name=FindingName.ENCODING_NOT_UTF8,
            where="server_encoding",
            what=f"the database's encoding is {encoding}, not UTF8: a text that "
            "cannot be converted makes a statement fail, which reveals something about a row",
            fix=f"CREATE DATABASE {copy} TEMPLATE template0 ENCODING 'UTF8'; -- then pg_dump | psql",
        )


def _other_meaning(
    connection: Connection, settings: NodeSettings, own_role: str
) -> Iterator[Finding]:
    """What a session sets does not reach the nodes of a distributed server: the role's settings do."""
    for name in MEANING:
        value, wanted = settings.text(name), SETTINGS.get(name)
        here = _first(connection, f"SELECT pg_catalog.current_setting('{name}')")
        meant = here if wanted is None else wanted.strip("'")
        if value is not None and value.lower() != meant.lower():
            yield Finding(
                name=FindingName.SETTING_CHANGES_MEANING,
                where=name,
                what=f"{name} is {value}, not {meant} as in a session of the proxy: this node would "
                "answer otherwise",
                fix=own_role or _set(connection, name, wanted or f"'{meant}'"),
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
