"""Random FROM clauses over tests.pipeline_world: tables, joins, subqueries, CTEs, UNION ALL, rows per unit.

What the policy forbids is not made: a join is on the unit, along the reference or on a public table's key.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.audit.expressions import (
    NUMBERS,
    TEXTS,
    TIMES,
    Column,
    Scope,
    conditions,
    numbers,
    one_in,
)
from tests.audit.source_joins import (
    along_a_foreign_key,
    along_the_reference,
    on_the_unit,
    with_public,
)
from tests.audit.source_lookups import can_look_up, lookup
from tests.audit.source_parts import (
    MOST_DEGREE,
    WHOSE,
    Names,
    Rows,
    in_brackets,
    named_again,
    table,
    tables,
    where,
)

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


WINDOW, FIRST_ROWS, SEVERAL = "window", "first rows of a unit", "windows of several orders"
NAMED_ROWS = "names of rows"
TIED = "rows in an order"  # of which PostgreSQL takes any where ORDER BY does not decide
_SORTABLE = ("int", "text", "char", "bool", "date", "ts", "enum", "decimal", "uuid")
_FRAMES = (
    *("", ""),
    " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
)


def windowed(
    draw: DrawFn, names: Names, inner: Rows, needed: tuple[str, ...], way: str | None = None
) -> Rows:
    """Rows of a source that shows its unit, with values of other rows of the unit beside them."""
    assert inner.unit is not None
    outputs: list[str] = []
    columns: list[Column] = []
    features = {WINDOW}
    for column in draw(st.lists(st.sampled_from(inner.columns), max_size=2, unique=True)):
        name = names.fresh("x")
        outputs.append(f"{column.text} AS {name}")
        columns.append(replace(column, text=name))
    orders = [_order(draw, inner)]
    for _ in range(draw(st.integers(1, 3))):
        if one_in(draw, 3):
            features.add(SEVERAL)
            orders.append(_order(draw, inner))
        found = _window(draw, inner, draw(st.sampled_from(orders)))
        name = names.fresh("w")
        outputs.append(f"{found.text} AS {name}")
        columns.append(replace(found, text=name))
        if not found.text.startswith(("rank", "dense", "count", "sum", "avg", "min", "max")) or (
            "CURRENT ROW" in found.text
        ):
            features.add(TIED)
    if one_in(draw, 4):
        features |= {NAMED_ROWS, TIED}
        name = names.fresh("k")
        outputs.append(f"gen_random_uuid() AS {name}")
        columns.append(Column(name, "uuid"))
        way = "brackets"  # in WITH it could be another each time
    number = names.fresh("r")
    if one_in(draw, 2):
        features |= {FIRST_ROWS, TIED}
        outputs.append(f"row_number() OVER (PARTITION BY {inner.unit}{orders[0]}) AS {number}")
    outputs.append(f"{inner.unit} AS uid")
    text = f"SELECT {', '.join(outputs)} FROM {inner.text}{where(draw, inner.scope, needed)}"
    if FIRST_ROWS in features:
        most = draw(st.sampled_from(["= 1", "<= 2", "< 2", "<= 1.5"]))
        listed = ", ".join([*(column.text for column in columns), "uid"])
        text = f"SELECT {listed} FROM ({text}) {names.fresh('q')} WHERE {number} {most}"
    made = Rows(
        "",
        tuple(columns),
        inner.ownership,
        "uid",
        degree=inner.degree,
        features=inner.features | features,
    )
    return in_brackets(draw, names, text, made, way)


def _order(draw: DrawFn, inner: Rows) -> str:
    among = [column.text for column in inner.columns if column.kind in _SORTABLE]
    chosen = draw(st.lists(st.sampled_from(among), max_size=2, unique=True)) if among else []
    ways = ("", " DESC", " NULLS FIRST", " DESC NULLS LAST")
    terms = [f"{one}{draw(st.sampled_from(ways))}" for one in chosen]
    return f" ORDER BY {', '.join(terms)}" if terms else ""


def _window(draw: DrawFn, inner: Rows, order: str) -> Column:
    by = inner.unit
    keys = [c.text for c in inner.columns if c.kind in ("int", "text", "bool", "date")]
    if keys and one_in(draw, 3):
        by = f"{by}, {draw(st.sampled_from(keys))}"
    over = f"OVER (PARTITION BY {by}{order}"
    match draw(st.sampled_from(["rank", "value", "value", "count", "sum", "other"])):
        case "rank":
            word = draw(st.sampled_from(["row_number", "rank", "dense_rank"]))
            return Column(f"{word}() {over})", "int", True)
        case "value":
            column = draw(st.sampled_from(inner.columns))
            word = draw(st.sampled_from(["first_value({})", "lag({})", "lead({}, 2)"]))
            frame = draw(st.sampled_from(_FRAMES)) if "first" in word else ""
            return replace(column, text=f"{word.format(column.text)} {over}{frame})")
        case "other":
            column = draw(st.sampled_from(inner.columns))
            return replace(column, text=f"last_value({column.text}) {over}{_FRAMES[-1]})")
        case "count":
            only = f" FILTER (WHERE {draw(conditions(0, inner.scope))})" if one_in(draw, 3) else ""
            return Column(f"count(*){only} {over}{draw(st.sampled_from(_FRAMES))})", "int", True)
        case _:
            number = draw(numbers(draw(st.integers(0, 1)), inner.scope))
            word = draw(st.sampled_from(["sum", "avg", "min", "max"]))
            kind = "decimal" if number.exact else "float"
            return Column(f"{word}({number.text}) {over}{draw(st.sampled_from(_FRAMES))})", kind)


def rows(
    draw: DrawFn, names: Names, depth: int, ownership: str | None = None, unit: bool = False
) -> Rows:
    """Any relation of this depth. unit: it shows a unit column."""
    among = tables(ownership, unit)
    if depth <= 0:
        return table(draw, names, among)
    kinds = ["table", "join", "join", "join", "subquery", "subquery", "union"]
    if ownership != "row":
        kinds += ["per unit", "per unit", "windows"]
    match draw(st.sampled_from(kinds)):
        case "join":
            return joined(draw, names, depth, ownership, unit)
        case "subquery":
            return subquery(draw, names, depth, ownership, unit)
        case "union":
            return union(draw, names, depth, ownership, unit)
        case "per unit":
            return per_unit(draw, names, depth, ownership)
        case "windows":
            whose = ownership or draw(st.sampled_from(["person", "visitor", "author"]))
            inner, needed = source(draw, names, max(0, depth - 1), whose, unit=True)
            return windowed(draw, names, inner, needed)
        case _:
            return table(draw, names, among)


def joined(
    draw: DrawFn, names: Names, depth: int, ownership: str | None = None, unit: bool = False
) -> Rows:
    whose = ownership or draw(st.sampled_from(WHOSE))
    if whose == "person" and one_in(draw, 3):
        held = ["orders"] if unit else ["orders", "lines"]
        return along_the_reference(draw, names, table(draw, names, held))
    if whose == "person" and one_in(draw, 6):
        return along_a_foreign_key(draw, names)
    if whose != "row" and one_in(draw, 8):
        left = (
            per_unit(draw, names, depth - 1, whose, "cte")
            if one_in(draw, 2)
            else subquery(draw, names, depth - 1, whose, unit=True, way="cte")
        )
        return on_the_unit(draw, left, _partner(draw, names, depth, left))
    left = rows(draw, names, depth - 1, whose, unit)
    ways = ["public"]
    if left.unit is not None:
        ways += ["unit"] * 3
    if left.reference is not None or left.target is not None:
        ways += ["reference"] * 3
    match draw(st.sampled_from(ways)):
        case "unit":
            return on_the_unit(draw, left, _partner(draw, names, depth, left))
        case "reference":
            return along_the_reference(draw, names, left)
        case _:
            return with_public(draw, names, left)


def _partner(draw: DrawFn, names: Names, depth: int, left: Rows) -> Rows:
    """Of a join on the unit."""
    again = [c for c in names.ctes if c[2].ownership == left.ownership and c[2].unit is not None]
    if left.degree >= MOST_DEGREE:  # three tables of a thousand rows each would take minutes
        right = (
            table(draw, names, ["members"])
            if left.ownership == "person" and draw(st.booleans())
            else per_unit(draw, names, depth - 1, left.ownership)
        )
    elif again and (" AS " in left.text or one_in(draw, 2)):
        right = named_again(draw(st.sampled_from(again)), names).with_("cte again")
    else:
        right = rows(draw, names, depth - 1, left.ownership, unit=True)
    if left.degree + right.degree > MOST_DEGREE:
        right = per_unit(draw, names, 0, left.ownership)
    return right


def source(
    draw: DrawFn, names: Names, depth: int, ownership: str | None = None, unit: bool = False
) -> tuple[Rows, tuple[str, ...]]:
    """What stands after FROM, and conditions that WHERE must have: of a join that is written with commas."""
    left = rows(draw, names, depth, ownership, unit)
    if left.unit is None or not left.single or left.degree > 1 or not one_in(draw, 6):
        return left, ()
    right = table(draw, names, tables(left.ownership, unit=True))
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


def subquery(
    draw: DrawFn,
    names: Names,
    depth: int,
    ownership: str | None = None,
    unit: bool = False,
    way: str | None = None,
) -> Rows:
    """way: as brackets or a cte; None: any."""
    inner, needed = source(draw, names, depth - 1, ownership, unit)
    features = {"nested twice" if "subquery" in inner.features else "subquery"}
    if inner.single and one_in(draw, 5):
        outputs, columns = ["*"], [replace(c, text=c.name) for c in inner.columns]
        shown = [None if n is None else n.rpartition(".")[2] for n in inner.special]
    else:
        outputs, columns, shown = _select_list(draw, names, inner, unit)
    if can_look_up(inner) and one_in(draw, 5):
        asked, more = lookup(draw, names, inner)
        needed, features = (*needed, asked), features | more
    text = f"SELECT {', '.join(outputs)} FROM {inner.text}{where(draw, inner.scope, needed)}"
    found = Rows(
        "",
        tuple(columns),
        inner.ownership,
        unit=shown[0],
        reference=shown[1],
        target=shown[2],
        degree=inner.degree,
        features=inner.features | features,
    )
    return in_brackets(draw, names, text, found, way)


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
    for place, held in enumerate(inner.special):
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
    texts = scope.of(TEXTS)
    if kind == "label":
        if one_in(draw, 2) and texts:
            call = draw(st.sampled_from(["lower({})", "left({}, 1)", "coalesce({}, 'x')"]))
            return Column(call.format(draw(st.sampled_from(texts))), "text")
        labels = draw(st.sampled_from(["THEN 'x' ELSE 'y'", "THEN 'south' ELSE 'north'"]))
        return Column(f"CASE WHEN {draw(conditions(0, scope))} {labels} END", "text", True)
    return draw(st.sampled_from(scope.columns))


def per_unit(
    draw: DrawFn,
    names: Names,
    depth: int,
    ownership: str | None = None,
    way: str | None = None,
) -> Rows:
    whose = ownership or draw(st.sampled_from(["person", "person", "visitor", "author"]))
    inner, needed = source(draw, names, max(0, depth - 1), whose, unit=True)
    scope, held = inner.scope, inner.unit
    assert held is not None
    outputs: list[str] = []
    columns: list[Column] = []
    features = {"rows per unit"}
    if can_look_up(inner) and one_in(draw, 6):
        asked, more = lookup(draw, names, inner)
        needed, features = (*needed, asked), features | more
    grouped = _further_keys(draw, names, scope)
    if grouped and one_in(draw, 2):
        return _distinct(draw, names, inner, needed, whose, grouped, way)
    for _ in range(draw(st.integers(1, 3))):
        found = _unit_aggregate(draw, scope)
        if one_in(draw, 4):
            features.add("filter per unit")
            found = replace(found, text=f"{found.text} FILTER (WHERE {draw(conditions(1, scope))})")
        if found.kind not in (*TIMES, "bool") and one_in(draw, 4):
            other = draw(st.sampled_from(["{} + 1", "{} * 2", "coalesce({}, 0)", "{} - count(*)"]))
            found = Column(f"({other.format(found.text)})", found.kind)
        name = names.fresh("n")
        outputs.append(f"{found.text} AS {name}")
        columns.append(replace(found, text=name))
    having = ""
    if one_in(draw, 4):
        features.add("having per unit")
        having = f" HAVING count(*) {draw(st.sampled_from(['> 1', '<> 3', '< 30']))}"
    for key in grouped:
        features.add("keys per unit")
        name = names.fresh("g")
        outputs.append(f"{key.text} AS {name}")
        columns.append(replace(key, text=name))
    outputs.append(f"{held} AS uid")
    text = f"SELECT {', '.join(outputs)} FROM {inner.text}{where(draw, scope, needed)}"
    by = [*(key.text for key in grouped), draw(st.sampled_from([held, str(len(outputs))]))]
    text += f" GROUP BY {', '.join(by)}{having}"
    degree = inner.degree if grouped else 0
    made = Rows("", tuple(columns), whose, "uid", degree=degree, features=inner.features | features)
    return in_brackets(draw, names, text, made, way)


def _further_keys(draw: DrawFn, names: Names, scope: Scope) -> list[Column]:
    """Beside the unit."""
    if not one_in(draw, 3):
        return []
    among = [c for c in scope.columns if c.kind in ("int", "text", "char", "bool", "date", "enum")]
    return draw(st.lists(st.sampled_from(among), max_size=2, unique=True)) if among else []


def _distinct(
    draw: DrawFn,
    names: Names,
    inner: Rows,
    needed: tuple[str, ...],
    whose: str,
    keys: list[Column],
    way: str | None,
) -> Rows:
    named = [(key, names.fresh("g")) for key in keys]
    outputs = ", ".join([*(f"{key.text} AS {name}" for key, name in named), f"{inner.unit} AS uid"])
    text = f"SELECT DISTINCT {outputs} FROM {inner.text}{where(draw, inner.scope, needed)}"
    columns = tuple(replace(key, text=name) for key, name in named)
    features = inner.features | {"rows per unit", "distinct units"}
    made = Rows("", columns, whose, "uid", degree=inner.degree, features=features)
    return in_brackets(draw, names, text, made, way)


def _unit_aggregate(draw: DrawFn, scope: Scope) -> Column:
    kind = draw(
        st.sampled_from(
            ["count", "count", "some", "distinct", "sum", "avg", "max", "time", "truth"]
        )
    )
    times = scope.of(("date", "ts"))
    if kind == "some":
        return Column(f"count({draw(st.sampled_from(scope.columns)).text})", "int", True)
    if kind == "distinct" and scope.distinct:
        return Column(f"count(DISTINCT {draw(st.sampled_from(scope.distinct))})", "int", True)
    if kind in ("sum", "avg", "max"):
        word = draw(st.sampled_from(["max", "min"])) if kind == "max" else kind
        number = draw(numbers(draw(st.integers(0, 1)), scope))
        return Column(f"{word}({number.text})", "decimal" if number.exact else "float")
    if kind == "truth":
        word = draw(st.sampled_from(["bool_or", "bool_and", "every"]))
        return Column(f"{word}({draw(conditions(0, scope))})", "bool", True)
    if kind == "time" and times:
        column = draw(st.sampled_from([c for c in scope.columns if c.kind in ("date", "ts")]))
        return Column(f"{draw(st.sampled_from(['min', 'max']))}({column.text})", column.kind)
    return Column("count(*)", "int", True)
