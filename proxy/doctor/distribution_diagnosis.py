"""How Citus distributes the tables of a policy: what of one unit is together, and what can be asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import psycopg
from psycopg import sql

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, TableName
from proxy.doctor.diagnosis_session import Connection, name_text, table_text
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.key_texts import printed
from proxy.policy.policy_model import (
    Bounds,
    BoundsKind,
    ColumnPolicy,
    IdentifierUnit,
    Policy,
    ProtectedTable,
    PublicTable,
    RowUnit,
)
from proxy.query.checked_columns import checked_columns

_IS_CITUS = "SELECT pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL"
_DISTRIBUTION = """
SELECT n.nspname, c.relname, p.partmethod::text,
       CASE WHEN p.partkey IS NOT NULL
            THEN pg_catalog.column_to_column_name(p.logicalrelid, p.partkey::text) END, p.colocationid
FROM pg_catalog.pg_dist_partition p
JOIN pg_catalog.pg_class c ON c.oid = p.logicalrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
"""
# Unique keys without a column, which Citus cannot keep where rows are distributed by it: the index, the kind of
# its constraint, the columns, and whether a foreign key refers to it.
_KEYS_WITHOUT = """
SELECT x.relname, k.contype::text, pg_catalog.array_agg(a.attname::text ORDER BY place),
       EXISTS (SELECT FROM pg_catalog.pg_constraint f WHERE f.contype = 'f' AND f.conindid = i.indexrelid)
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS key (number, place)
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = key.number
LEFT JOIN pg_catalog.pg_constraint k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u')
WHERE n.nspname = %s AND c.relname = %s AND i.indisunique AND place <= i.indnkeyatts
GROUP BY i.indexrelid, x.relname, k.contype
HAVING NOT pg_catalog.bool_or(a.attname IS NOT DISTINCT FROM %s) ORDER BY 1
"""
_TYPE = """
SELECT pg_catalog.format_type(a.atttypid, NULL) FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND a.attname = %s
"""
_CONNECTION_LIMIT = "SELECT rolconnlimit FROM pg_catalog.pg_roles WHERE rolname = current_user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Of one table.

    Attributes:
        method: h: by the hash of a column; n: whole on every node.
        column: By which its rows are distributed; None: by none.
        colocation: Tables of one number have equal values on the same node.
    """

    method: str
    column: str | None
    colocation: int


def distribution_findings(connection: Connection, policy: Policy) -> Iterator[Finding]:
    """Find tables whose rows of one unit are not together, on a server that is Citus."""
    row = connection.execute(_IS_CITUS).fetchone()
    if row is None or not row[0]:
        return
    found = {
        TableName(schema, name): Distribution(method=method, column=column, colocation=colocation)
        for schema, name, method, column, colocation in connection.execute(_DISTRIBUTION)
    }
    for name, table in policy.tables.items():
        match table:
            case PublicTable():
                yield from _of_public(connection, name, found.get(name))
            case ProtectedTable():
                yield from _of_protected(connection, table, found.get(name))
    yield from _apart(connection, policy, found)
    yield from _connections(connection)


def _of_public(
    connection: Connection, name: TableName, distribution: Distribution | None
) -> Iterator[Finding]:
    if distribution is None or distribution.method != "n":
        text = table_text(connection, name)
        yield _found(
            name,
            f"{text} is public but no reference table: joins with it move rows between nodes",
            f"SELECT create_reference_table('{text}');",
        )


def _of_protected(
    connection: Connection, table: ProtectedTable, distribution: Distribution | None
) -> Iterator[Finding]:
    unit, text = table.unit, table_text(connection, table.name)
    if isinstance(unit, RowUnit):
        return
    if unit.path is not None:
        yield _found(
            table.name,
            f"{text}: the unit is found through {table_text(connection, unit.path.table)}, so its rows are on "
            "several nodes: questions move rows between nodes, or are refused",
            f"-- give {text} a column with the unit, distribute it by that, and name it in the policy",
        )
        return
    if distribution is None:
        what = f"{text} is not distributed"
        call = f"create_distributed_table('{text}', '{unit.column}')"
    elif distribution.method == "h" and distribution.column == unit.column:
        return
    else:
        what = (
            f"{text} is distributed by {distribution.column or 'nothing'}, not by the privacy unit: each query "
            "sends one row per unit and shard, or every row, to the coordinator"
        )
        call = f"alter_distributed_table('{text}', distribution_column := '{unit.column}')"
    keys = connection.execute(
        _KEYS_WITHOUT, (table.name.schema, table.name.name, unit.column)
    ).fetchall()
    if any(is_referred_to for *_, is_referred_to in keys):
        fix = f"-- foreign keys refer to a key of {text} without {unit.column}, which Citus does not allow then"
        yield _found(table.name, what, fix)
        return
    yield _found(
        table.name, what, _with_unit(connection, table.name, unit, keys) + f"SELECT {call};"
    )


def _with_unit(
    connection: Connection,
    table: TableName,
    unit: IdentifierUnit,
    keys: Sequence[tuple[object, ...]],
) -> str:
    """Unique keys get the unit's column, without which Citus does not distribute by it."""
    text = table_text(connection, table)
    lines = []
    for index, constraint, columns, _ in keys:
        name = name_text(connection, str(index))
        assert isinstance(columns, list)
        listed = ", ".join(name_text(connection, column) for column in (unit.column, *columns))
        if constraint is None:
            schema = name_text(connection, table.schema)
            lines.append(
                f"DROP INDEX {schema}.{name};\nCREATE UNIQUE INDEX ON {text} ({listed});\n"
            )
        else:
            kind = "PRIMARY KEY" if constraint == "p" else "UNIQUE"
            lines.append(f"ALTER TABLE {text} DROP CONSTRAINT {name};\n")  # Citus: each by itself
            lines.append(f"ALTER TABLE {text} ADD {kind} ({listed});\n")
    return "".join(lines)


def _apart(
    connection: Connection, policy: Policy, found: Mapping[TableName, Distribution]
) -> Iterator[Finding]:
    """Tables of one kind of unit that are distributed by it, each in its own way."""
    kinds: defaultdict[str, list[ProtectedTable]] = defaultdict(list)
    for table in policy.protected():
        unit, here = table.unit, found.get(table.name)
        if here is None or not isinstance(unit, IdentifierUnit) or unit.path is not None:
            continue
        if here.column == unit.column:
            kinds[unit.identifier].append(table)
    for first, *others in kinds.values():
        for other in others:
            if found[first.name].colocation == found[other.name].colocation:
                continue
            one, another = (table_text(connection, table.name) for table in (first, other))
            kind, other_kind = (_type_of_unit(connection, table) for table in (first, other))
            fix = f"SELECT update_distributed_table_colocation('{another}', colocate_with := '{one}');"
            if kind != other_kind:
                fix = f"-- make the units of one type: they are {kind} and {other_kind}"
            yield _found(
                other.name,
                f"{one} and {another} are not colocated: a unit's rows of both are on different nodes, and "
                "joins of them are refused",
                fix,
            )


def _type_of_unit(connection: Connection, table: ProtectedTable) -> str:
    assert isinstance(table.unit, IdentifierUnit)
    name = table.name
    row = connection.execute(_TYPE, (name.schema, name.name, table.unit.column)).fetchone()
    return "unknown" if row is None else str(row[0])


def _connections(connection: Connection) -> Iterator[Finding]:
    """A statement takes a connection to each node for each shard that is read at the same time."""
    row = connection.execute(_CONNECTION_LIMIT).fetchone()
    if row is not None and row[0] >= 0:
        user = name_text(connection, connection.info.user)
        yield Finding(
            name=FindingName.DISTRIBUTION,
            where=connection.info.user,
            what=f"the role {user} may have {row[0]} connections to each node, and a statement takes several: "
            "what finds none left fails after it was charged",
            fix=f"ALTER ROLE {user} CONNECTION LIMIT -1; -- the proxy limits its own sessions",
        )


def _found(name: TableName, what: str, fix: str) -> Finding:
    return Finding(
        name=FindingName.DISTRIBUTION,
        where=str(name),
        what=what,
        fix=fix,
        path=("tables", str(name)),
    )


# Public keys beside what the database itself says of them: labels of the enumeration, and CHECKs.

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
