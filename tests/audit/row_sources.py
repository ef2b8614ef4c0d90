"""Random FROM clauses over tests.world: tables, joins, subqueries, CTEs, UNION ALL, rows per unit.

What the policy forbids is not made: a join is on the unit, along the reference or on a public table's key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.audit.expressions import (
    DATA,
    NUMBERS,
    TIMES,
    Column,
    Scope,
    conditions,
    numbers,
    one_in,
)

# Whose rows a table holds; only rows of one owner meet. visits has its persons in another type.
OWNERS = {
    **dict.fromkeys(("people", "events", "trips"), "row"),
    **dict.fromkeys(("orders", "members", "calls", "lines"), "person"),
    "visits": "visitor",
    "notes": "author",
}
_WITHOUT_UNIT_COLUMN = ("people", "events", "trips", "lines")
MOST_DEGREE = 2


@dataclass(frozen=True)
class Rows:
    """text: what stands in FROM; unit: a column that holds the unit; reference, target: lines.order_id and
    orders.id; degree: how many tables with many rows per unit are multiplied in it; single: it is
    one table or subquery, not a join."""

    text: str
    columns: tuple[Column, ...]
    owner: str
    unit: str | None = None
    reference: str | None = None
    target: str | None = None
    degree: int = 1
    single: bool = True
    features: frozenset[str] = frozenset()

    @property
    def scope(self) -> Scope:
        return Scope(self.columns)

    def with_(self, *features: str) -> Rows:
        return replace(self, features=self.features | set(features))


@dataclass
class Names:
    """Fresh names within one question, and its CTEs so far, each as what its columns are called."""

    ctes: list[tuple[str, str, Rows]] = field(default_factory=list)
    count: int = 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"


def tables(owner: str | None = None, unit: bool = False) -> list[str]:
    return [
        name
        for name, whose in OWNERS.items()
        if owner in (None, whose) and not (unit and name in _WITHOUT_UNIT_COLUMN)
    ]


def table(draw: DrawFn, names: Names, among: Sequence[str]) -> Rows:
    name = draw(st.sampled_from(among))
    alias = names.fresh("a")
    columns = tuple(replace(column, text=f"{alias}.{column.text}") for column in DATA)
    return Rows(
        f"{name} {alias}",
        columns,
        OWNERS[name],
        None if name in _WITHOUT_UNIT_COLUMN else f"{alias}.uid",
        f"{alias}.order_id" if name == "lines" else None,
        f"{alias}.id" if name == "orders" else None,
        0 if name == "members" else 1,
        features=frozenset({f"table {name}"}),
    )


def rows(
    draw: DrawFn, names: Names, depth: int, owner: str | None = None, unit: bool = False
) -> Rows:
    """Any relation of this depth. unit: it shows a unit column."""
    among = tables(owner, unit)
    if depth <= 0:
        return table(draw, names, among)
    kinds = ["table", "join", "join", "join", "subquery", "subquery", "union"]
    if owner != "row":
        kinds += ["per unit", "per unit"]
    match draw(st.sampled_from(kinds)):
        case "join":
            return joined(draw, names, depth, owner, unit)
        case "subquery":
            return subquery(draw, names, depth, owner, unit)
        case "union":
            return union(draw, names, depth, owner, unit)
        case "per unit":
            return per_unit(draw, names, depth, owner)
        case _:
            return table(draw, names, among)


# --- joins -------------------------------------------------------------------------------------------


def joined(
    draw: DrawFn, names: Names, depth: int, owner: str | None = None, unit: bool = False
) -> Rows:
    whose = owner or draw(st.sampled_from(["row", "person", "person", "visitor", "author"]))
    if whose == "person" and one_in(draw, 3):
        held = ["orders"] if unit else ["orders", "lines"]
        return _along_the_reference(draw, names, table(draw, names, held))
    if whose != "row" and one_in(draw, 8):
        left = (
            per_unit(draw, names, depth - 1, whose, "cte")
            if one_in(draw, 2)
            else subquery(draw, names, depth - 1, whose, unit=True, way="cte")
        )
        return _on_the_unit(draw, names, depth, left)
    left = rows(draw, names, depth - 1, whose, unit)
    ways = ["public"]
    if left.unit is not None:
        ways += ["unit"] * 3
    if left.reference is not None or left.target is not None:
        ways += ["reference"] * 3
    match draw(st.sampled_from(ways)):
        case "unit":
            return _on_the_unit(draw, names, depth, left)
        case "reference":
            return _along_the_reference(draw, names, left)
        case _:
            return _with_public(draw, names, left)


def _on_the_unit(draw: DrawFn, names: Names, depth: int, left: Rows) -> Rows:
    again = [c for c in names.ctes if c[2].owner == left.owner and c[2].unit is not None]
    if left.degree >= MOST_DEGREE:  # three tables of a thousand rows each would take minutes
        right = (
            table(draw, names, ["members"])
            if left.owner == "person" and draw(st.booleans())
            else per_unit(draw, names, depth - 1, left.owner)
        )
    elif again and (" AS " in left.text or one_in(draw, 2)):
        right = _named_again(draw(st.sampled_from(again)), names).with_("cte again")
    else:
        right = rows(draw, names, depth - 1, left.owner, unit=True)
    if left.degree + right.degree > MOST_DEGREE:
        right = per_unit(draw, names, 0, left.owner)
    assert left.unit is not None and right.unit is not None
    features = {"join on the unit"}
    tables_of = [{f for f in side.features if f.startswith("table ")} for side in (left, right)]
    if tables_of[0] & tables_of[1]:
        features.add("self-join on the unit")
    word = draw(
        st.sampled_from(["JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN"])
    )
    if "LEFT" in word or "RIGHT" in word:
        features.add("left join on the unit")
    both = (*left.columns, *right.columns)
    named_alike = left.unit.endswith(".uid") and right.unit.endswith(".uid")
    if left.single and right.single and named_alike and one_in(draw, 4):
        features.add("using")
        on = "USING (uid)"
    else:
        ends = (left.unit, right.unit) if draw(st.booleans()) else (right.unit, left.unit)
        on = f"ON {ends[0]} = {ends[1]}"
        if one_in(draw, 3):
            features.add("join with another condition")
            on += f" AND {draw(conditions(1, Scope(both)))}"
    kept = right if word == "RIGHT JOIN" else left
    return Rows(
        f"{left.text} {word} {_bracketed(right)} {on}",
        both,
        left.owner,
        kept.unit,
        left.reference or right.reference,
        left.target or right.target,
        left.degree + right.degree,
        single=False,
        features=left.features | right.features | features,
    )


def _along_the_reference(draw: DrawFn, names: Names, left: Rows) -> Rows:
    right = table(draw, names, ["lines" if left.target is not None else "orders"])
    pair = (left.target, right.reference) if left.target else (left.reference, right.target)
    word = draw(st.sampled_from(["JOIN", "LEFT JOIN"]))
    features = {"join along the reference", *(["left join along the reference"] * ("LEFT" in word))}
    return replace(
        left,
        text=f"{left.text} {word} {right.text} ON {pair[0]} = {pair[1]}",
        columns=(*left.columns, *right.columns),
        unit=left.unit or right.unit,
        reference=left.reference or right.reference,
        target=left.target or right.target,
        degree=max(left.degree, right.degree),
        single=False,
        features=left.features | right.features | features,
    )


def _with_public(draw: DrawFn, names: Names, left: Rows) -> Rows:
    texts, integers = left.scope.of(("text",)), left.scope.of(("int",))
    features = {"join with a public table"}
    alias = names.fresh("p")
    if texts and (not integers or draw(st.booleans())):
        public = f"places {alias}"
        columns: tuple[Column, ...] = (
            Column(f"{alias}.zone", "text", True),
            Column(f"{alias}.code", "text"),
        )
        on = f"{draw(st.sampled_from(texts))} = {alias}.code"
    elif integers:
        public, columns = f"rates {alias}", (Column(f"{alias}.k", "free"),)
        on = f"{draw(st.sampled_from(integers))} = {alias}.k"
    else:
        return left
    word = draw(st.sampled_from(["JOIN", "LEFT JOIN", "RIGHT JOIN", "first"]))
    text = f"{left.text} {word} {public} ON {on}"
    if word == "first":
        text = f"{public} JOIN {_bracketed(left)} ON {on}"
    elif word == "RIGHT JOIN":
        text = f"{public} RIGHT JOIN {_bracketed(left)} ON {on}"
    if word.endswith("T JOIN"):
        features.add("left join with a public table")
    return replace(
        left,
        text=text,
        columns=(*left.columns, *columns),
        single=False,
        features=left.features | features,
    )


def _bracketed(part: Rows) -> str:
    return part.text if part.single else f"({part.text})"


# --- subqueries --------------------------------------------------------------------------------------


def source(
    draw: DrawFn, names: Names, depth: int, owner: str | None = None, unit: bool = False
) -> tuple[Rows, tuple[str, ...]]:
    """What stands after FROM, and conditions that WHERE must have: of a join that is written with commas."""
    left = rows(draw, names, depth, owner, unit)
    if left.unit is None or not left.single or left.degree > 1 or not one_in(draw, 6):
        return left, ()
    right = table(draw, names, tables(left.owner, unit=True))
    both = replace(
        left,
        text=f"{left.text}, {right.text}",
        columns=(*left.columns, *right.columns),
        reference=left.reference or right.reference,
        target=left.target or right.target,
        degree=left.degree + right.degree,
        single=False,
        features=left.features | right.features | {"join with commas", "join on the unit"},
    )
    return both, (f"{left.unit} = {right.unit}",)


def where(draw: DrawFn, scope: Scope, needed: tuple[str, ...]) -> str:
    parts = list(needed)
    if draw(st.booleans()):
        parts.append(draw(conditions(1, scope)))
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def subquery(
    draw: DrawFn,
    names: Names,
    depth: int,
    owner: str | None = None,
    unit: bool = False,
    way: str | None = None,
) -> Rows:
    """way: as brackets or a cte; None: any."""
    inner, needed = source(draw, names, depth - 1, owner, unit)
    features = {"nested twice" if "subquery" in inner.features else "subquery"}
    if inner.single and one_in(draw, 5):
        outputs, columns = ["*"], [replace(c, text=c.name) for c in inner.columns]
        shown = [None if n is None else n.rpartition(".")[2] for n in _special(inner)]
    else:
        outputs, columns, shown = _select_list(draw, names, inner, unit)
    text = f"SELECT {', '.join(outputs)} FROM {inner.text}{where(draw, inner.scope, needed)}"
    found = Rows(
        "",
        tuple(columns),
        inner.owner,
        unit=shown[0],
        reference=shown[1],
        target=shown[2],
        degree=inner.degree,
        features=inner.features | features,
    )
    return _in_brackets(draw, names, text, found, way)


def _special(inner: Rows) -> tuple[str | None, str | None, str | None]:
    return inner.unit, inner.reference, inner.target


def _select_list(
    draw: DrawFn, names: Names, inner: Rows, unit: bool
) -> tuple[list[str], list[Column], list[str | None]]:
    outputs: list[str] = []
    columns: list[Column] = []
    for _ in range(draw(st.integers(1, 4))):
        expression = _output(draw, inner.scope)
        name = names.fresh("x")
        outputs.append(f"{expression.text} AS {name}")
        columns.append(replace(expression, text=name))
    shown: list[str | None] = []
    for place, held in enumerate(_special(inner)):
        keep = held is not None and ((unit and place == 0) or not one_in(draw, 4))
        shown.append(names.fresh("u") if keep else None)
        if keep:
            outputs.append(f"{held} AS {shown[-1]}")
    return outputs, columns, shown


def _output(draw: DrawFn, scope: Scope) -> Column:
    """A column as it is, or an expression."""
    kind = draw(st.sampled_from(["column", "column", "column", "number", "condition", "label"]))
    if kind == "number" and scope.of(NUMBERS):
        number = draw(numbers(draw(st.integers(1, 2)), scope))
        return Column(number.text, "decimal" if number.exact else "float")
    if kind == "condition":
        return Column(f"({draw(conditions(0, scope))})", "bool", True)
    texts = scope.of(("text",))
    if kind == "label":
        if one_in(draw, 2) and texts:
            call = draw(st.sampled_from(["lower({})", "left({}, 1)", "coalesce({}, 'x')"]))
            return Column(call.format(draw(st.sampled_from(texts))), "text")
        return Column(f"CASE WHEN {draw(conditions(0, scope))} THEN 'x' ELSE 'y' END", "text", True)
    return draw(st.sampled_from(scope.columns))


def _in_brackets(
    draw: DrawFn, names: Names, text: str, found: Rows, way: str | None = None
) -> Rows:
    """A subquery under an alias, with or without names for its columns, or a CTE."""
    columns, special = found.columns, _special(found)
    way = way or draw(st.sampled_from(["brackets", "brackets", "cte", "named"]))
    listed = ""
    if way == "named" and "*" not in text.partition(" FROM ")[0]:
        fresh = [names.fresh("y") for _ in columns]
        columns = tuple(replace(c, text=n) for c, n in zip(columns, fresh, strict=True))
        listed = f"({', '.join(fresh)})"
        found = found.with_("named columns")
    if way == "cte":
        cte = names.fresh("w")
        names.ctes.append((cte, text, replace(found, columns=columns)))
        return _named_again(names.ctes[-1], names).with_("cte")
    alias = names.fresh("q")
    return _under(replace(found, columns=columns), alias, f"({text}) {alias}{listed}", special)


def _named_again(cte: tuple[str, str, Rows], names: Names) -> Rows:
    alias = names.fresh("q")
    return _under(cte[2], alias, f"{cte[0]} AS {alias}", _special(cte[2]))


def _under(found: Rows, alias: str, text: str, special: Sequence[str | None]) -> Rows:
    columns = tuple(replace(c, text=f"{alias}.{c.text}") for c in found.columns)
    unit, reference, target = (None if name is None else f"{alias}.{name}" for name in special)
    return replace(found, text=text, columns=columns, unit=unit, reference=reference, target=target)


# --- UNION ALL ---------------------------------------------------------------------------------------

# Expressions of one type, in PostgreSQL and here: parts of a union must agree.
_PALETTE = {
    "int": ("{}.i4", "{}.i4 + {}.i2", "CASE WHEN {}.b THEN {}.i4 ELSE 0 END", "coalesce({}.i4, 1)"),
    "decimal": ("{}.n2", "{}.n", "{}.n2 * 2", "greatest({}.n2, {}.i4)", "{}.i4 * 0.5"),
    "float": ("{}.f8", "{}.f4 + {}.f8", "{}.i4 * {}.f8"),
    "text": ("{}.t", "lower({}.s)", "left({}.t, 1)", "CASE WHEN {}.b THEN 'x' ELSE 'z' END"),
    "bool": ("{}.b", "({}.i4 > 5)", "({}.t = 'x')"),
    "date": ("{}.d",),
    "ts": ("{}.ts",),
}


def union(
    draw: DrawFn, names: Names, depth: int, owner: str | None = None, unit: bool = False
) -> Rows:
    whose = owner or draw(st.sampled_from(["row", "person", "person", "visitor", "author"]))
    kinds = draw(st.lists(st.sampled_from(list(_PALETTE)), min_size=1, max_size=3))
    with_unit = whose != "row" and (unit or draw(st.booleans()))
    parts: list[str] = []
    features = {"union all"}
    degree, first = 1, ""
    shown = [names.fresh("x") for _ in kinds]
    for _ in range(draw(st.sampled_from([2, 2, 3]))):
        part = table(draw, names, tables(whose, with_unit))
        name, alias = part.text.split()
        if depth > 1 and one_in(draw, 3):
            part = joined_part(draw, names, part)
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
    return _in_brackets(draw, names, " UNION ALL ".join(parts), made)


def joined_part(draw: DrawFn, names: Names, part: Rows) -> Rows:
    if part.unit is not None and draw(st.booleans()):
        right = table(draw, names, tables(part.owner, unit=True))
        return replace(
            part,
            text=f"{part.text} JOIN {right.text} ON {part.unit} = {right.unit}",
            degree=part.degree + right.degree,
            features=part.features | right.features | {"join on the unit"},
        )
    return _with_public(draw, names, part)


# --- rows per unit -----------------------------------------------------------------------------------


def per_unit(
    draw: DrawFn,
    names: Names,
    depth: int,
    owner: str | None = None,
    way: str | None = None,
) -> Rows:
    whose = owner or draw(st.sampled_from(["person", "person", "visitor", "author"]))
    inner, needed = source(draw, names, max(0, depth - 1), whose, unit=True)
    scope, held = inner.scope, inner.unit
    assert held is not None
    outputs: list[str] = []
    columns: list[Column] = []
    features = {"rows per unit"}
    for _ in range(draw(st.integers(1, 3))):
        found = _unit_aggregate(draw, scope)
        if one_in(draw, 4):
            features.add("filter per unit")
            found = replace(found, text=f"{found.text} FILTER (WHERE {draw(conditions(1, scope))})")
        if found.kind not in TIMES and one_in(draw, 4):
            other = draw(st.sampled_from(["{} + 1", "{} * 2", "coalesce({}, 0)", "{} - count(*)"]))
            found = Column(f"({other.format(found.text)})", found.kind)
        name = names.fresh("n")
        outputs.append(f"{found.text} AS {name}")
        columns.append(replace(found, text=name))
    having = ""
    if one_in(draw, 4):
        features.add("having per unit")
        having = f" HAVING count(*) {draw(st.sampled_from(['> 1', '<> 3', '< 30']))}"
    outputs.append(f"{held} AS uid")
    text = f"SELECT {', '.join(outputs)} FROM {inner.text}{where(draw, scope, needed)}"
    text += f" GROUP BY {draw(st.sampled_from([held, str(len(outputs))]))}{having}"
    made = Rows("", tuple(columns), whose, "uid", degree=0, features=inner.features | features)
    return _in_brackets(draw, names, text, made, way)


def _unit_aggregate(draw: DrawFn, scope: Scope) -> Column:
    kind = draw(
        st.sampled_from(["count", "count", "some", "distinct", "sum", "avg", "max", "time"])
    )
    times = scope.of(("date", "ts"))
    if kind == "some":
        return Column(f"count({draw(st.sampled_from(scope.columns)).text})", "int", True)
    if kind == "distinct":
        return Column(f"count(DISTINCT {draw(st.sampled_from(scope.columns)).text})", "int", True)
    if kind in ("sum", "avg", "max"):
        word = draw(st.sampled_from(["max", "min"])) if kind == "max" else kind
        number = draw(numbers(draw(st.integers(0, 1)), scope))
        return Column(f"{word}({number.text})", "decimal" if number.exact else "float")
    if kind == "time" and times:
        column = draw(st.sampled_from([c for c in scope.columns if c.kind in ("date", "ts")]))
        return Column(f"{draw(st.sampled_from(['min', 'max']))}({column.text})", column.kind)
    return Column("count(*)", "int", True)
