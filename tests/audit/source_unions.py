"""Random UNION ALL of row-wise relations of one owner."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.audit.expressions import (
    Column,
    one_in,
)
from tests.audit.source_joins import with_public
from tests.audit.source_parts import WHOSE, Names, Rows, in_brackets, table, tables, where

# Expressions of one type, in PostgreSQL and here: parts of a union must agree.
_PALETTE = {
    "int": ("{}.i4", "{}.i4 + {}.i2", "CASE WHEN {}.b THEN {}.i4 ELSE 0 END", "coalesce({}.i4, 1)"),
    "decimal": ("{}.n2", "{}.n", "{}.n2 * 2", "greatest({}.n2, {}.i4)", "{}.i4 * 0.5"),
    "float": ("{}.f8", "{}.f4 + {}.f8", "{}.i4 * {}.f8"),
    "text": (
        *("{}.t", "lower({}.s)", "left({}.t, 1)", "CASE WHEN {}.b THEN 'x' ELSE 'z' END"),
        *("{}.e", "coalesce({}.e, {}.t)"),
    ),
    "enum": ("{}.e", "coalesce({}.e, 'low')", "nullif({}.e, 'x')"),
    "bool": ("{}.b", "({}.i4 > 5)", "({}.t = 'x')"),
    "date": ("{}.d",),
    "ts": ("{}.ts",),
}


def union(
    draw: DrawFn, names: Names, depth: int, ownership: str | None = None, unit: bool = False
) -> Rows:
    whose = ownership or draw(st.sampled_from(WHOSE))
    kinds = draw(st.lists(st.sampled_from(list(_PALETTE)), min_size=1, max_size=3))
    with_unit = whose != "row" and (unit or draw(st.booleans()))
    parts: list[str] = []
    features = {"union all", *(["union of labels"] * ("enum" in kinds))}
    degree, first = 1, ""
    shown = [names.fresh("x") for _ in kinds]
    for _ in range(draw(st.sampled_from([2, 2, 3]))):
        part = table(draw, names, tables(whose, with_unit))
        name, alias = part.text.split()
        if depth > 1 and one_in(draw, 3):
            part = _joined_part(draw, names, part)
        outputs = [draw(st.sampled_from(_PALETTE[k])).replace("{}", alias) for k in kinds]
        listed = [f"{e} AS {n}" for e, n in zip(outputs, shown, strict=True)]
        listed += [f"{alias}.uid"] if with_unit else []
        parts.append(f"SELECT {', '.join(listed)} FROM {part.text}{where(draw, part.scope, ())}")
        if name == first:
            features.add("union of one table twice")
        first = first or name
        degree = max(degree, part.degree)
        features |= part.features
    made = Rows(
        "",
        tuple(Column(n, k) for n, k in zip(shown, kinds, strict=True)),
        whose,
        "uid" if with_unit else None,
        degree=degree,
        features=frozenset(features),
    )
    return in_brackets(draw, names, " UNION ALL ".join(parts), made)


def _joined_part(draw: DrawFn, names: Names, part: Rows) -> Rows:
    if part.unit is not None and draw(st.booleans()):
        right = table(draw, names, tables(part.ownership, unit=True))
        return replace(
            part,
            text=f"{part.text} JOIN {right.text} ON {part.unit} = {right.unit}",
            degree=part.degree + right.degree,
            features=part.features | right.features | {"join on the unit"},
        )
    return with_public(draw, names, part)
