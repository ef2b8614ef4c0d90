"""UNION ALL of SELECTs that give rows, as one relation."""

from __future__ import annotations

from proxy.base.result_columns import union_column
from proxy.base.sql_types import SqlType
from proxy.query.bind.scope import ColumnType
from proxy.query.bind.sources import Sources
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Subquery, UnionAll


def union_all(
    sources: Sources, read: list[tuple[Subquery, dict[str, ColumnType]]], start: int
) -> tuple[Subquery, dict[str, ColumnType]]:
    """
    Given    the SELECTs as relations with their columns; start: the lexeme at which the first begins
    Refuses  different numbers or types of columns
    """
    names = list(read[0][1])
    width = {len(columns) for _, columns in read}
    if len(width) != 1:
        sources.refuse(start, "each UNION query must have the same number of columns")
    places = tuple(union_column(i) for i in range(1, len(names) + 1))
    united: list[Subquery] = []
    for relation, columns in read:
        kinds = tuple(columns.values())
        outputs = tuple(
            (place, ColumnRef(name, kind.type, None, relation.alias))
            for place, name, kind in zip(places, columns, kinds, strict=True)
        )
        united.append(Subquery(sources.alias(), relation, None, outputs))
    if len({tuple(_union(kind.type) for kind in columns.values()) for _, columns in read}) != 1:
        sources.refuse(start, "the columns of UNION ALL must have the same types")
    first = tuple(map(_common_type, zip(*(columns.values() for _, columns in read), strict=True)))
    union = UnionAll(sources.alias(), tuple(united))
    outputs = tuple(
        (name, ColumnRef(place, kind.type, None, union.alias))
        for name, place, kind in zip(names, places, first, strict=True)
    )
    subquery = Subquery(
        sources.alias(), union, None, outputs, sources.lexed.lexemes[start].position
    )
    return subquery, dict(zip(names, first, strict=True))


def _union(kind: SqlType) -> SqlType:
    """As what a column meets those above and below it: labels of an enumeration are text to analysts, and so
    are texts of several collations."""
    return SqlType.TEXT if kind in (SqlType.ENUM, SqlType.COLLATED) else kind


def _common_type(kinds: tuple[ColumnType, ...]) -> ColumnType:
    """Of different lengths or scales PostgreSQL keeps none (PostgreSQL 17 documentation, section 10.5)."""
    if len(set(kinds)) == 1:
        return kinds[0]
    kind = _union(kinds[0].type)
    return ColumnType(kind, "bpchar" if kind is SqlType.BPCHAR else kind.sql)
