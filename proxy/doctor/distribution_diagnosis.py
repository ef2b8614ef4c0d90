"""How Citus distributes the tables of a policy: what of one unit is together, and what can be asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proxy.catalog.catalog_model import TableName
from proxy.doctor.diagnosis_session import Connection, name_text, table_text
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.policy_model import (
    IdentifierUnit,
    Policy,
    ProtectedTable,
    PublicTable,
    RowUnit,
)

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
