"""UNION ALL of SELECTs that give rows, as one relation."""

from __future__ import annotations

from proxy.base.result_columns import union_column
from proxy.base.sql_types import SqlType
from proxy.base.written_names import written_name
from proxy.query.bind.declared_types import without_modifier
from proxy.query.bind.scope import ColumnType
from proxy.query.bind.sources import Sources
from proxy.query.ir.exposed import unit_columns
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Scan, Subquery, UnionAll
from proxy.query.syntax.slices import HINT

# Each with what PostgreSQL makes of it beside one before it (PostgreSQL 17 documentation, section 10.5).
_NUMBERS = (
    *(SqlType.INT2, SqlType.INT4, SqlType.INT8, SqlType.NUMERIC, SqlType.FLOAT4, SqlType.FLOAT8),
)
_APART = "Ask each table by itself, and add the answers up."
_WIDENED = (_NUMBERS, (SqlType.DATE, SqlType.TIMESTAMP))


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
    for place in range(len(names)):
        kinds_here = [list(columns.values())[place].type for _, columns in read]
        if len({_union(kind) for kind in kinds_here}) != 1:
            message = "the columns of UNION ALL must have the same types"
            parts = [relation for relation, _ in read]
            is_unit = all(_is_unit(sources, part, place) for part in parts)
            # Casts would not help: units of different types are not gathered.
            sources.refuse(
                start, message, _APART if is_unit else _cast_hint(parts, place, kinds_here)
            )
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


def _is_unit(sources: Sources, part: Subquery, place: int) -> bool:
    return (part.alias, part.outputs[place][0]) in unit_columns(part, sources.tables.values())


def _cast_hint(parts: list[Subquery], place: int, kinds: list[SqlType]) -> str:
    """How the first two SELECTs of different types are written with casts to the type that PostgreSQL finds."""
    order = next((o for o in _WIDENED if set(kinds) <= set(o)), None)
    if order is None:
        return HINT
    common = max(kinds, key=order.index)
    other = next(number for number, kind in enumerate(kinds) if kind is not kinds[0])
    written = [
        _written(parts[number], place, None if kinds[number] is common else common)
        for number in (0, other)
    ]
    return f"Cast them to one type: {written[0]} UNION ALL {written[1]}."


def _written(part: Subquery, place: int, kind: SqlType | None) -> str:
    """A SELECT of the question with one of its columns. kind: to which that is cast."""
    name, expression = part.outputs[place]
    item, is_named = "(...)" if kind else "...", True
    if isinstance(expression, ColumnRef) and expression.position is not None:
        item, is_named = written_name(expression.column), expression.column != name
    if kind is not None:
        item += f"::{kind.sql.removesuffix(' without time zone')}"
    if is_named:
        item += f" AS {written_name(name)}"
    table = written_name(*part.source.table) if isinstance(part.source, Scan) else "..."
    return f"SELECT {item} FROM {table}"  # noqa: S608


def _union(kind: SqlType) -> SqlType:
    """As what a column meets those above and below it: labels of an enumeration are text to analysts, and so
    are texts of several collations."""
    return SqlType.TEXT if kind in (SqlType.ENUM, SqlType.COLLATED) else kind


def _common_type(kinds: tuple[ColumnType, ...]) -> ColumnType:
    """Of different lengths or scales PostgreSQL keeps none (PostgreSQL 17 documentation, section 10.5)."""
    if len(set(kinds)) == 1:
        return kinds[0]
    kind = _union(kinds[0].type)
    name = without_modifier(kinds[0].type_name) if kind is kinds[0].type else kind.sql
    return ColumnType(kind, name)
