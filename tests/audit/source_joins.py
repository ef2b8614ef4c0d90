"""Random joins of two relations: on the unit, along the reference, with public tables."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.audit.expressions import Column, Scope, conditions, one_in
from tests.audit.source_parts import Names, Rows, table

# Of a join key of a public table that is not unique: under the policies that declare it.
REPEATED = "join with a public table on a join key"
FOREIGN_KEY = "join along a foreign key"


def on_the_unit(draw: DrawFn, left: Rows, right: Rows) -> Rows:
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
        f"{left.text} {word} {right.bracketed()} {on}",
        both,
        left.ownership,
        kept.unit,
        left.reference or right.reference,
        left.target or right.target,
        left.degree + right.degree,
        single=False,
        features=left.features | right.features | features,
    )


def along_the_reference(draw: DrawFn, names: Names, left: Rows) -> Rows:
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


def along_a_foreign_key(draw: DrawFn, names: Names) -> Rows:
    """Of two tables of one unit, each with its own column for it: what is called is an order."""
    left, right = table(draw, names, ["calls"]), table(draw, names, ["orders"])
    called = f"{left.text.split()[-1]}.i2"
    ends = (called, right.target) if draw(st.booleans()) else (right.target, called)
    word = draw(st.sampled_from(["JOIN", "LEFT JOIN", "turned"]))
    text = f"{left.text} {word} {right.text}"
    if word == "turned":
        text = f"{right.text} JOIN {left.text}"
    return replace(
        left,
        text=f"{text} ON {ends[0]} = {ends[1]}",
        columns=(*left.columns, *right.columns),
        target=right.target,
        degree=1,
        single=False,
        features=left.features | right.features | {FOREIGN_KEY},
    )


def with_public(draw: DrawFn, names: Names, left: Rows) -> Rows:
    texts, integers, labels = (left.scope.of((kind,)) for kind in ("text", "int", "enum"))
    features = {"join with a public table"}
    alias = names.fresh("p")
    columns: tuple[Column, ...]
    if labels and one_in(draw, 3):
        features.add("join with public labels")
        public, columns = f"moods {alias}", (Column(f"{alias}.e", "enum", True),)
        on = f"{draw(st.sampled_from(labels))} = {alias}.e"
    elif texts and one_in(draw, 4):
        features.add(REPEATED)
        public, columns = f"places {alias}", (Column(f"{alias}.code", "text"),)
        on = f"{draw(st.sampled_from(texts))} = {alias}.zone"
    elif texts and (not integers or draw(st.booleans())):
        public = f"places {alias}"
        columns = (
            Column(f"{alias}.zone", "text", True),
            Column(f"{alias}.code", "text"),
        )
        on = f"{draw(st.sampled_from(texts))} = {alias}.code"
    elif integers:
        features.add("join with public numbers")
        public = f"rates {alias}"
        columns = (Column(f"{alias}.k", "free"), Column(f"{alias}.fee", "decimal"))
        on = f"{draw(st.sampled_from(integers))} = {alias}.k"
    else:
        return left
    word = draw(st.sampled_from(["JOIN", "LEFT JOIN", "RIGHT JOIN", "first"]))
    text = f"{left.text} {word} {public} ON {on}"
    if word == "first":
        text = f"{public} JOIN {left.bracketed()} ON {on}"
    elif word == "RIGHT JOIN":
        text = f"{public} RIGHT JOIN {left.bracketed()} ON {on}"
    if word.endswith("T JOIN"):
        features.add("left join with a public table")
    return replace(
        left,
        text=text,
        columns=(*left.columns, *columns),
        single=False,
        features=left.features | features,
    )
