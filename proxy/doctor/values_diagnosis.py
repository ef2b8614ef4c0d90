"""Public keys beside what the database itself says of them: labels of the enumeration, and CHECKs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import psycopg
from psycopg import sql

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, TableName
from proxy.doctor.diagnosis_session import Connection
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.key_texts import printed
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    ColumnPolicy,
    Policy,
)
from proxy.query.checked_columns import checked_columns

# Also of a domain over an enumeration, and of one over such a domain.
_LABELS = """
WITH RECURSIVE based (type) AS (
    SELECT a.atttypid FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = pg_catalog.to_regclass(%s) AND a.attname = %s AND NOT a.attisdropped
    UNION ALL
    SELECT t.typbasetype FROM based JOIN pg_catalog.pg_type t ON t.oid = based.type
    WHERE t.typtype = 'd'
)
SELECT e.enumlabel FROM pg_catalog.pg_enum e JOIN based ON based.type = e.enumtypid
ORDER BY e.enumsortorder
"""


# Constraints on one column alone, also of the domain that it is of, where the column is called VALUE.
_CHECKS = """
WITH asked AS (
    SELECT w.name, w.attribute, a.attrelid, a.attnum, a.atttypid
    FROM ROWS FROM (pg_catalog.unnest(%(tables)s::text[]), pg_catalog.unnest(%(columns)s::text[]))
    AS w (name, attribute)
    JOIN pg_catalog.pg_attribute a
    ON a.attrelid = pg_catalog.to_regclass(w.name) AND a.attname = w.attribute
)
SELECT a.name, a.attribute, k.conname, pg_catalog.pg_get_expr(k.conbin, k.conrelid), a.attribute
FROM asked a JOIN pg_catalog.pg_constraint k ON k.conrelid = a.attrelid AND k.conkey = ARRAY[a.attnum]
WHERE k.contype = 'c'
UNION ALL
SELECT a.name, a.attribute, k.conname, pg_catalog.pg_get_expr(k.conbin, 0), 'value'
FROM asked a JOIN pg_catalog.pg_constraint k ON k.contypid = a.atttypid
WHERE k.contype = 'c'
"""


_LISTED = 5


_SCALE = 20


class _ColumnCheck(NamedTuple):
    constraint: str
    expression: str
    called: str  # how it names the column


def values_findings(connection: Connection, policy: Policy, catalog: Catalog) -> Iterator[Finding]:
    checks = _checks(connection, policy)
    for table in policy.protected():
        quoted = _quoted(connection, table.name)
        there = catalog.tables.get(table.name)
        for column in table.columns.values():
            real = None if there is None else there.column(column.name)
            if real is not None and isinstance(column.bounds, Bounds):
                stated = checks.get((quoted, column.name), ())
                yield from _bounds(stated, table.name, column, column.bounds)
            if real is None or column.values is None:
                continue
            if real.type is SqlType.ENUM:
                yield from _labels(connection, table.name, column)
            elif real.type is not SqlType.OTHER:
                for one in checks.get((quoted, column.name), ()):
                    yield from _against_check(connection, one, table.name, column, real)
            if real.nullable and None not in column.values:
                yield _left_out(FindingName.VALUES_LEAVE_OUT_NULL, table.name, column, ["null"])


def _checks(connection: Connection, policy: Policy) -> Mapping[tuple[str, str], list[_ColumnCheck]]:
    """Of listed columns of protected tables, by the table's name as SQL and their own; asked once for all."""
    asked = [
        (_quoted(connection, table.name), column)
        for table in policy.protected()
        for column in table.columns
    ]
    given = {"tables": [one[0] for one in asked], "columns": [one[1] for one in asked]}
    found: dict[tuple[str, str], list[_ColumnCheck]] = {}
    for table, column, *check in connection.execute(_CHECKS, given).fetchall():
        found.setdefault((table, column), []).append(_ColumnCheck(*check))
    return found


def _bounds(
    checks: Sequence[_ColumnCheck], table: TableName, column: ColumnPolicy, bounds: Bounds
) -> Iterator[Finding]:
    for stated in checked_columns(tuple(one.expression for one in checks)).values():
        low, high = _number(stated.low), _number(stated.high)
        if bounds.kind is not BoundsKind.NUMBER:
            return
        reason = _against(bounds, low, high)
        if reason:
            yield Finding(
                name=FindingName.BOUNDS_AGAINST_CHECK,
                where=str(table),
                what=f"{table}: the bounds of '{column.name}' {reason}: a CHECK allows {stated.low} to "
                f"{stated.high}",
                fix="write the bounds that the CHECK states",
                path=("tables", str(table), "columns", column.name, "bounds"),
            )


def _against(bounds: Bounds, low: Fraction | None, high: Fraction | None) -> str:
    """Bounds are clamps: those of large amounts are narrower than a CHECK by right."""
    if (low is not None and bounds.high <= low) or (high is not None and bounds.low >= high):
        return "hold none of its values, or one"
    if low is None or high is None:
        return ""
    width, allowed = bounds.high - bounds.low, high - low
    if width > 2 * allowed:
        return "are more than twice as wide as its values: noise grows with them"
    if allowed <= _SCALE and 2 * width < allowed:
        return "hold less than half of its scale"
    return ""


def _number(text: str | None) -> Fraction | None:
    try:
        return None if text is None else Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def _labels(connection: Connection, table: TableName, column: ColumnPolicy) -> Iterator[Finding]:
    found = connection.execute(_LABELS, (_quoted(connection, table), column.name)).fetchall()
    known = [row[0] for row in found]
    wrong = [key for key in column.values or () if key is not None and key not in known]
    left_out = [label for label in known if label not in (column.values or ())]
    if left_out:
        yield _left_out(FindingName.VALUES_LEAVE_OUT_LABELS, table, column, left_out)
    if known and wrong:
        yield _finding(
            FindingName.VALUES_NOT_IN_ENUMERATION,
            table,
            column,
            wrong,
            "the enumeration has no such label",
            f"its labels: {_listed(known)}",
        )


def _left_out(
    name: FindingName, table: TableName, column: ColumnPolicy, missing: list[str]
) -> Finding:
    listed = ", ".join(missing[:_LISTED])
    return Finding(
        name=name,
        where=str(table),
        what=f"{table}: the values of '{column.name}' leave out {listed}, which the column may hold: rows with "
        "it are in no group",
        fix="add it to values",
        path=("tables", str(table), "columns", column.name, "values"),
    )


def _unlisted(expression: str, column: ColumnPolicy, real: Column) -> list[str]:
    """What a constraint allows, of a list, and the policy does not name."""
    stated = checked_columns((expression,))
    allowed = [value for one in stated.values() for value in one.values or ()]
    texts = []
    for value in allowed:
        try:
            texts.append(printed(value, real))
        except ValueError:
            return []  # another spelling than the policy's: nothing can be said
    return [text for text in texts if text not in (column.values or ())]


def _against_check(
    connection: Connection,
    check: _ColumnCheck,
    table: TableName,
    column: ColumnPolicy,
    real: Column,
) -> Iterator[Finding]:
    """The constraint's own expression is evaluated, on the keys alone: no row is read."""
    keys = [key for key in column.values or () if key is not None]
    if missing := _unlisted(check.expression, column, real):
        yield _left_out(FindingName.VALUES_LEAVE_OUT_LABELS, table, column, missing)
    statement = sql.SQL(
        "SELECT k.key FROM pg_catalog.unnest({keys}::text[]) AS k (key)"
        " CROSS JOIN LATERAL (SELECT k.key::{type} AS {called} OFFSET 0) AS v WHERE NOT ({check})"
    ).format(
        type=sql.SQL(real.type_name),
        called=sql.Identifier(check.called),
        check=sql.SQL(check.expression),
        keys=sql.Literal(keys),  # no parameters: a name may hold %
    )
    try:
        wrong = [row[0] for row in connection.execute(statement).fetchall()]
    except psycopg.Error:
        return  # what a constraint means elsewhere (a function, a cast) is not known here
    if wrong:
        why = f"the constraint {check.constraint} forbids that"
        yield _finding(
            FindingName.VALUES_AGAINST_CHECK, table, column, wrong, why, check.expression
        )


def _finding(
    name: FindingName,
    table: TableName,
    column: ColumnPolicy,
    wrong: list[str],
    why: str,
    more: str,
) -> Finding:
    first = (column.values or ()).index(wrong[0])
    return Finding(
        name=name,
        where=str(table),
        what=f"{table}: column '{column.name}' has the keys {_listed(wrong)}: {why}",
        fix=f"take them out of values; {more}",
        path=("tables", str(table), "columns", column.name, "values", first),
    )


def _listed(keys: list[str]) -> str:
    displayed = ", ".join(f"'{key}'" for key in keys[:_LISTED])
    return displayed if len(keys) <= _LISTED else f"{displayed} and {len(keys) - _LISTED} more"


def _quoted(connection: Connection, table: TableName) -> str:
    return sql.Identifier(*table).as_string(connection)
