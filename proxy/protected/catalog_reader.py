"""Read the catalogue of a PostgreSQL database: tables, columns, types, keys. Never a row or a statistic."""

from __future__ import annotations

from collections import defaultdict
from importlib.resources import files

import psycopg
from psycopg.rows import dict_row

from proxy.base.sql_types import SqlType, of_column
from proxy.catalog.catalog_model import (
    IN_NORMAL_FORMS,
    Catalog,
    Column,
    ColumnBeneath,
    Enumeration,
    ForeignKey,
    RowBound,
    Table,
    TableName,
)
from proxy.planner.facts import PublicContents
from proxy.policy.missing_grants import MissingGrants
from proxy.policy.policy_model import Policy
from proxy.postgres.failure_reason import reason_of
from proxy.protected.public_values import read_public_contents

# Marks on a letter are equal in either order, so that the case of letters decides: ICU puts them in one order,
# in n^2 steps, where languages have many (Greek, Hebrew, Hindi, Persian).
_NORMALIZES = r"""SELECT (E'a\u0301\u0316a' > E'a\u0316\u0301A' COLLATE pg_catalog."default")
  <> (E'a\u0301\u0316A' > E'a\u0316\u0301a' COLLATE pg_catalog."default") AS normalizes"""
_QUERIES = files("proxy.protected").joinpath("catalog_reader.sql")
ROW_BOUNDS = files("proxy.protected").joinpath("row_bounds.sql").read_text(encoding="utf-8")


def read_catalog(dsn: str, *, declared: bool = False) -> Catalog:
    """
    Given    a libpq connection string; declared: whether tables and columns are wanted that the role may not
             read, too: they are declared all the same, and nothing is read from them
    Gives    every table and view, outside the system's schemas, of which the role may read a column,
             with the columns it may read; keys are those the server itself enforces (valid, whole,
             on plain columns), unique ones only where no NULL can repeat. A column of a nondeterministic
             collation is of type OTHER: the text of a group, or of MIN, would be that of any of its rows.
             Where columns have several collations other than the database's, they are of type COLLATED:
             two of them that meet would raise 42P22, but only once there is a row (PostgreSQL 17
             documentation, section 24.2.2). So are those of ICU, which may sort the marks on a letter one
             by one. A virtual
             generated column is OTHER: what it raises on a row, it raises when read, not when stored. A
             domain is the type beneath it: its CHECK is about what is stored, and no question stores
    Source   PostgreSQL 17 documentation, section 53 "System Catalogs"
    """
    tables, keys, references, indexed, labelled, checked, showing, lower = (
        part.strip() for part in _QUERIES.read_text(encoding="utf-8").split("-- next --")
    )
    # Settings are SET: as `options` they would take the place of those that the source names, a role maybe.
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ  # one state of affairs
        connection.read_only = True
        # An empty search_path makes format_type name every type that is not the system's by its schema.
        connection.execute("SET search_path = ''; SET DateStyle = 'ISO, YMD'")
        columns: dict[TableName, list[Column]] = defaultdict(list)
        placed: set[TableName] = set()
        views: set[TableName] = set()
        table_comments: dict[TableName, str | None] = {}
        oids: dict[TableName, int] = {}
        whose = {"declared": declared}
        described = connection.execute(tables.encode(), whose).fetchall()
        collations = {row["collation"] for row in described if not row["is_loose"]} - {None}
        for row in described:
            name = TableName(row["schema"], row["table"])
            columns[name].append(_column(row, len(collations) > 1))
            table_comments[name] = row["table_comment"]
            oids[name] = row["oid"]
            if row["has_ctid"]:
                placed.add(name)
            if row["is_view"]:
                views.add(name)
        primary: dict[TableName, tuple[str, ...]] = {}
        unique: dict[TableName, list[tuple[str, ...]]] = defaultdict(list)
        for row in connection.execute(keys.encode(), whose):
            name, key = TableName(row["schema"], row["table"]), tuple(row["columns"])
            if row["is_primary"]:
                primary[name] = key
            else:
                unique[name].append(key)
        foreign: dict[TableName, list[ForeignKey]] = defaultdict(list)
        for row in connection.execute(references.encode(), whose):
            foreign[TableName(row["schema"], row["table"])].append(
                ForeignKey(
                    tuple(row["columns"]),
                    TableName(row["target_schema"], row["target_table"]),
                    tuple(row["target_columns"]),
                )
            )
        indexes: dict[TableName, list[tuple[str, ...]]] = defaultdict(list)
        for row in connection.execute(indexed.encode(), whose):
            indexes[TableName(row["schema"], row["table"])].append(tuple(row["columns"]))
        checks: dict[TableName, list[tuple[str, str]]] = defaultdict(list)
        for row in connection.execute(checked):
            checks[TableName(row["schema"], row["table"])].append((row["name"], row["expression"]))
        bounded = {
            TableName(row["schema"], row["table"]): RowBound(column=row["column"], rows=row["rows"])
            for row in connection.execute(ROW_BOUNDS.encode())
        }
        shown = {
            TableName(row["schema"], row["table"]): str(row["digest"])
            for row in connection.execute(showing, whose)
        }
        beneath: dict[TableName, list[ColumnBeneath]] = defaultdict(list)
        for row in connection.execute(lower.encode(), whose):
            beneath[TableName(row["schema"], row["view"])].append(
                ColumnBeneath(
                    table=TableName(row["table_schema"], row["table"]),
                    column=row["column"],
                    relation=row["oid"],
                    number=row["number"],
                )
            )
        enumerations = {
            row["type_name"]: Enumeration(row["schema"], row["name"], tuple(row["labels"]))
            for row in connection.execute(labelled)
        }
        ((encoding,),) = (one.values() for one in connection.execute("SHOW server_encoding"))
        if encoding == "UTF8" and any(one["normalizes"] for one in connection.execute(_NORMALIZES)):
            encoding = IN_NORMAL_FORMS
    return Catalog(
        {
            name: Table(
                name=name,
                columns=tuple(found),
                primary_key=primary.get(name, ()),
                unique=tuple(key for key in unique[name] if key != primary.get(name)),
                foreign_keys=tuple(foreign[name]),
                has_ctid=name in placed,
                is_view=name in views,
                shows=shown.get(name, ""),
                oid=oids[name],
                beneath=tuple(beneath[name]),
                comment=table_comments[name],
                indexes=tuple(indexes[name]),
                checks=tuple(checks[name]),
                row_bound=bounded.get(name),
            )
            for name, found in columns.items()
        },
        encoding,
        enumerations,
    )


def _column(row: dict[str, object], can_conflict: bool) -> Column:
    kind = SqlType.ENUM if row["is_enum"] else of_column(int(str(row["type_oid"])))
    type_name = str(row["type_name"])
    if row["is_loose"]:
        kind, type_name = SqlType.OTHER, f"{type_name}, in a nondeterministic collation"
    elif row["is_virtual"]:
        kind, type_name = SqlType.OTHER, f"{type_name}, generated at each reading"
    elif row["replaced_by"] is not None:
        kind = SqlType.OTHER
        type_name = f"{type_name} ({row['replaced_by']} is not PostgreSQL's own)"
    elif (can_conflict or row["is_icu"]) and kind.is_text and row["collation"] is not None:
        kind, type_name = SqlType.COLLATED, SqlType.COLLATED.sql
    modifier = int(str(row["modifier"]))
    precision = scale = None
    if kind is SqlType.NUMERIC and modifier >= 4:
        # numerictypmodin, src/backend/utils/adt/numeric.c: the scale has 11 bits and a sign.
        precision = (modifier - 4) >> 16 & 0xFFFF
        scale = ((modifier - 4 & 0x7FF) ^ 1024) - 1024
    return Column(
        name=str(row["column"]),
        type=kind,
        type_name=type_name,
        nullable=bool(row["nullable"]),
        precision=precision,
        scale=scale,
        is_enforced=bool(row["is_enforced"]),
        comment=None if row["comment"] is None else str(row["comment"]),
        default=None if row["default"] is None else str(row["default"]),
        identity=str(row["identity"]),
        number=int(str(row["number"])),
    )


# The catalogue of a PostgreSQL server that dpproxy does not run, by its connection string.


class Unreachable(RuntimeError):
    """Its text names server and role, never a password."""


def reachable_catalog(dsn: str, *, declared: bool = False) -> Catalog:
    """As read_catalog. Refuses  Unreachable"""
    try:
        return read_catalog(dsn, declared=declared)
    except psycopg.Error as error:
        raise Unreachable(_reason(error)) from None


def missing_grants(dsn: str) -> MissingGrants:
    """What the role of a connection string would need a GRANT for. Refuses  Unreachable"""
    declared = reachable_catalog(dsn, declared=True)
    try:
        with psycopg.connect(dsn) as connection:
            return MissingGrants(declared=declared, role=connection.info.user)
    except psycopg.Error as error:
        raise Unreachable(_reason(error)) from None


def reachable_contents(policy: Policy, catalog: Catalog) -> PublicContents:
    """Read public tables as `serve` does. Raises: Unreachable; its text quotes no row."""
    try:
        return read_public_contents(policy, catalog)
    except psycopg.Error as error:
        raise Unreachable(f"{type(error).__name__}: {reason_of(error)}") from None


_OF_THE_SYSTEM = (
    ". The server asks there for the user of the system, not for a password: name a host in the connection "
    "string, such as host=127.0.0.1, or let pg_hba.conf ask for scram-sha-256"
)


def _reason(error: psycopg.Error) -> str:
    """libpq's text: host, port, database and role. A bad connection string may be quoted: left out."""
    if isinstance(error, psycopg.OperationalError):
        text = str(error).strip()
        by_system_user = (
            "Peer authentication failed" in text or "Ident authentication failed" in text
        )
        return text + (_OF_THE_SYSTEM if by_system_user else "")
    return "the connection string cannot be parsed, or the catalogue cannot be read"
