"""Keys that a unit fixes: the kernel lets a plan pass in which each unit is in one group, and it is so."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.base.zones import Zone
from proxy.kernel.attribution import relation_of
from proxy.kernel.block_price import price_of_block
from proxy.kernel.fixed_columns import (
    fixed_by_join,
    fixed_by_subquery,
    fixed_columns,
    is_fixed,
    most_groups,
)
from proxy.kernel.owners import Known, OfUnit, Public
from proxy.kernel.plan import DistinctCount, LaplaceNoise
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.world import World
from proxy.policy.policy_model import BlockLength
from proxy.query.ir.expressions import (
    Cast,
    Choice,
    Choose,
    Clamped,
    ColumnRef,
    Comparator,
    Comparison,
    DateTrunc,
    Expression,
    TextCall,
    TextFunction,
)
from proxy.query.ir.relations import Frame, OrderTerm, Subquery, WindowColumn, WindowFunction
from tests.kernel.examples import WORLD, column, joined, key_plan, l1, of_table, scan
from tests.kernel.holes import block_of
from tests.kernel.holes_of_groups import FIXED, NOT_FIXED, PERSON, ROWS, statement, with_listed_key
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import CATALOG, POLICIES

_WORLD = World(POLICIES["best"], CATALOG)


@pytest.mark.parametrize("name", FIXED)
def test_a_unit_is_in_one_group(name: str) -> None:
    block = block_of(statement(FIXED[name]))
    (release,) = block.releases
    assert isinstance(release, DistinctCount) and l1(block) == 1
    assert block.groups() != 1
    price_of_block(block, _WORLD)
    quieter = replace(release, noise=LaplaceNoise(scale=Fraction(1, 9)))
    block = replace(block, releases=(quieter,))
    with pytest.raises(NotPrivate) as refused:
        price_of_block(block, _WORLD)
    assert refused.value.rule is Rule.NOISE


@pytest.mark.every(3)
@pytest.mark.parametrize("name", FIXED)
def test_one_count_moves_with_the_unit(name: str) -> None:
    """On PostgreSQL, with rows of nobody: the person leaves one group, and no other one."""
    database = tiny_database()
    database.fill(ROWS)
    moved = database.moved(block_of(statement(FIXED[name])), PERSON)
    counts = [one for one in moved if one.release is not None]
    assert [one.observed for one in counts] == [1]


@pytest.mark.parametrize("name", [*FIXED, *NOT_FIXED])
def test_a_unit_in_more_groups_than_the_plan_says_is_refused(name: str) -> None:
    block = block_of(statement({**FIXED, **NOT_FIXED}[name]))
    if block.reach is None:
        pytest.skip("rows that are no unit's")
    assert (block.reach == 1) == (name in FIXED)
    price_of_block(block, _WORLD)
    with pytest.raises(NotPrivate) as refused:
        price_of_block(replace(block, reach=block.reach - 1), _WORLD)
    assert refused.value.rule is Rule.GROUPS


def test_other_keys_count_beside_those_that_are_fixed() -> None:
    """Person 3 is in at most as many groups as the other key has values, or as are answered of them."""
    t, i2 = key_plan("t", ("x", "y")), key_plan("i2", ("1", "2", "3"))
    fixed = frozenset({("r1", "t")})
    groups = (("x", "1"), ("x", "2"), ("y", "1"))
    assert most_groups((t, i2), None, fixed) == 3
    assert most_groups((t, i2), groups, fixed) == 2
    assert most_groups((t, i2), None, frozenset()) == 6
    assert most_groups((t, i2), None, frozenset({("r1", "t"), ("r1", "i2")})) == 1
    assert most_groups((t, i2), (), fixed) == 1


def test_a_private_key_that_is_fixed_needs_no_bound_on_groups() -> None:
    private, public = key_plan("s", None), key_plan("i2", ("1", "2"))
    fixed = frozenset({("r1", "s")})
    assert most_groups((private,), None, fixed) == 1
    assert most_groups((private, public), None, fixed) == 2
    assert most_groups((public, key_plan("t", None)), None, fixed) is None


# A column of each type, a value that is listed, and rows of the person: all of them are equal to it.
_LISTED = {
    "i2": ("1", ("1", "1")),
    "i8": ("1", ("1", "1")),
    "n2": ("1.00", ("1", "1.0")),
    "n": ("1", ("1", "1.0", "1.00")),
    "f4": ("0", ("0", "'-0'")),
    "f8": ("0", ("0", "'-0'")),
    "t": ("a", ("'a'", "'a '", "'A'")),
    "c": ("a", ("'a'", "'a '")),
    "s": ("a", ("'a'", "'a '")),
    "b": ("true", ("true", "'yes'")),
    "d": ("2001-01-01", ("'2001-01-01'", "'20010101'")),
    "ts": (
        "2001-01-01 00:00:00",
        ("'2001-01-01'", "'2001-01-01 24:00'::timestamp - interval '1 day'"),
    ),
    "tz": ("2001-01-01 00:00:00+00", ("'2001-01-01 00:00+00'", "'2001-01-01 01:00+01'")),
    "e": ("low", ("'low'", "'low'")),
}
_OF_SEVERAL_TEXTS = frozenset(["n2", "n", "f4", "f8"])  # by their type alone


@pytest.mark.every(3)
@pytest.mark.parametrize("is_computed", [False, True])
@pytest.mark.parametrize("name", _LISTED)
def test_a_listed_key_is_one_group_beside_a_private_one(name: str, is_computed: bool) -> None:
    """Or the unit is in more groups, and the plan is refused."""
    value, rows = _LISTED[name]
    block = with_listed_key(name, value)
    if is_computed:
        fixed, listed = block.keys
        column = listed.expression
        assert column.type is not None
        computed = Choose(Choice.COALESCE, (column, column), column.type)
        block = replace(block, keys=(fixed, replace(listed, expression=computed)))
    try:
        price_of_block(block, _WORLD)
    except NotPrivate as refused:
        assert refused.rule is Rule.GROUPS
        assert name in _OF_SEVERAL_TEXTS and not is_computed
        return
    assert is_computed or name not in _OF_SEVERAL_TEXTS
    database = tiny_database()
    values = ", ".join(f"({number}, 3, {row})" for number, row in enumerate(rows))
    database.fill(
        "INSERT INTO members(id, uid, d) VALUES (1, 3, '2001-01-01');"
        f" INSERT INTO visits(id, uid, {name}) VALUES {values}"
    )
    moved = database.moved(block, PERSON)
    assert [one.observed for one in moved] == [1, 1]


@pytest.mark.parametrize("kind", [SqlType.NUMERIC, SqlType.BPCHAR, SqlType.FLOAT8, SqlType.OTHER])
def test_a_unit_of_several_forms_fixes_no_function_of_it(kind: SqlType) -> None:
    """1 and 1.00 are one unit, of which a function can tell them apart."""
    context = relation_of(scan("r1", "orders"), WORLD)
    unit = ("r1", "uid")
    assert fixed_columns(context) == {unit}
    assert not fixed_columns(replace(context, types={**context.types, unit: kind}))


_AT = column("r1", "ts", SqlType.TIMESTAMP)
_WHOLE = {
    "day": {BlockLength.DAY},
    "week": {BlockLength.DAY, BlockLength.WEEK},
    "month": {BlockLength.DAY, BlockLength.MONTH},
    "quarter": {BlockLength.DAY, BlockLength.MONTH, BlockLength.QUARTER},
    "year": {BlockLength.DAY, BlockLength.MONTH, BlockLength.QUARTER, BlockLength.YEAR},
    "hour": set(),
}


@pytest.mark.parametrize("unit", _WHOLE)
def test_what_a_time_is_cut_to_has_whole_blocks(unit: str) -> None:
    cut_to = DateTrunc(unit, _AT, SqlType.TIMESTAMP)
    for per in BlockLength:
        times = frozenset({(("r1", "ts"), per)})
        assert is_fixed(cut_to, frozenset(), times) == (per in _WHOLE[unit])


_DAY = Cast(_AT, SqlType.DATE)
_BERLIN, _UTC = Zone(name="Europe/Berlin"), Zone(name="UTC")
_BOUNDED = Clamped(_AT, Fraction(0), Fraction(10**9), SqlType.TIMESTAMP)
_AS_TEXT = Cast(_AT, SqlType.TEXT)


@pytest.mark.parametrize(
    ("time", "zone", "is_one_value"),
    [
        (_AT, None, True),
        (_AT, _UTC, True),
        (_AT, _BERLIN, False),
        (_DAY, None, True),
        (_BOUNDED, None, True),
        (Cast(_BOUNDED, SqlType.TIMESTAMPTZ), None, True),
        (Cast(_AT, SqlType.TIMESTAMPTZ, _BERLIN), None, False),
        (Cast(_AS_TEXT, SqlType.TIMESTAMP), None, False),
        (TextCall(TextFunction.LOWER, _AS_TEXT, (), SqlType.TEXT), None, False),
        (column("r1", "other", SqlType.TIMESTAMP), None, False),
    ],
)
def test_a_time_is_in_one_block(time: Expression, zone: Zone | None, is_one_value: bool) -> None:
    cut_to = DateTrunc("year", time, SqlType.TIMESTAMPTZ, zone)
    times = frozenset({(("r1", "ts"), BlockLength.MONTH)})
    assert is_fixed(cut_to, frozenset(), times) == is_one_value


def _window(function: WindowFunction, frame: Frame, *, is_ordered: bool = False) -> Subquery:
    of = of_table("r1", "visits", "i4")
    order = (OrderTerm(of, False, False),) if is_ordered else ()
    partition = (of_table("r1", "visits", "uid"),)
    window = WindowColumn(
        name="w",
        function=function,
        type=SqlType.INT4,
        partition=partition,
        order=order,
        frame=frame,
        operand=of,
    )
    return Subquery("q", scan("r1", "visits"), None, (("i4", of),), windows=(window,))


@pytest.mark.parametrize(
    ("frame", "is_ordered", "is_of_all"),
    [
        (Frame.WHOLE, False, True),
        (Frame.WHOLE, True, True),
        (Frame.DEFAULT, False, True),
        (Frame.DEFAULT, True, False),
        (Frame.ROWS_SO_FAR, False, False),
        (Frame.ROWS_SO_FAR, True, False),
    ],
)
def test_the_last_value_is_one_of_all_rows(frame: Frame, is_ordered: bool, is_of_all: bool) -> None:
    subquery = _window(WindowFunction.LAST_VALUE, frame, is_ordered=is_ordered)
    found = fixed_by_subquery(subquery, relation_of(subquery.source, WORLD))
    assert found == ({("q", "w")} if is_of_all else frozenset())


def test_rows_of_nobody_have_nothing_fixed() -> None:
    one = of_table("r1", "people", "i4")
    subquery = Subquery("q", scan("r1", "people"), None, (("i4", one),))
    assert fixed_by_subquery(subquery, relation_of(subquery.source, WORLD)) == frozenset()


_TYPES = dict.fromkeys(("uid", "state", "more"), SqlType.INT4)


def _side(alias: str, *fixed: str) -> Known:
    """Rows that hold their unit, and fix some columns."""
    types = {(alias, name): kind for name, kind in _TYPES.items()}
    owner = OfUnit(
        identifier="person",
        columns=frozenset({(alias, "uid")}),
        fixed=frozenset((alias, name) for name in fixed),
    )
    return Known(owner=owner, types=types)


def _public(alias: str, *key: str) -> Known:
    side = _side(alias)
    return replace(
        side, owner=Public(), keys=(frozenset((alias, name) for name in key),) if key else ()
    )


def _column(alias: str, name: str) -> ColumnRef:
    return column(alias, name, SqlType.INT4)


_ON_UNIT = (("uid", "uid"),)
_FIXED = {("b", "uid"), ("b", "state")}


@pytest.mark.parametrize(
    ("left_outer", "equal", "rest", "partners"),
    [
        (True, _ON_UNIT, None, _FIXED),
        (True, (*_ON_UNIT, ("state", "state")), None, _FIXED),
        (True, (("state", "state"),), None, _FIXED),
        (True, (*_ON_UNIT, ("more", "state")), None, set()),
        (True, (*_ON_UNIT, ("state", "more")), None, set()),
        (True, (("uid", "more"),), None, set()),
        (True, (("more", "uid"),), None, set()),
        (True, _ON_UNIT, ("state", "state"), _FIXED),
        (True, _ON_UNIT, ("state", "more"), set()),
        (False, (*_ON_UNIT, ("more", "more")), ("more", "more"), _FIXED),
    ],
)
def test_all_rows_of_a_unit_have_partners_or_none_has(
    left_outer: bool,
    equal: tuple[tuple[str, str], ...],
    rest: tuple[str, str] | None,
    partners: set[tuple[str, str]],
) -> None:
    compared = [(_column("a", x), _column("b", y)) for x, y in equal]
    further = rest and Comparison(Comparator.LT, _column("a", rest[0]), _column("b", rest[1]))
    join = replace(
        joined("orders", "uid", "calls", "uid"),
        left_outer=left_outer,
        equal=tuple(compared),
        rest=further,
    )
    pairs = [(("a", x), ("b", y)) for x, y in equal]
    here = {("a", "uid"), ("a", "state")}
    found = fixed_by_join(join, _side("a", "state"), _side("b", "state"), pairs)
    assert found == here | partners


def test_units_that_are_compared_in_several_forms_tell_nothing() -> None:
    """A unit that is 1 here and 1.00 there has no value that is fixed, but it meets itself."""
    join = replace(joined("orders", "uid", "calls", "uid"), left_outer=True)
    left, right = (
        replace(side, types={**side.types, unit: SqlType.NUMERIC})
        for side, unit in ((_side("a", "state"), ("a", "uid")), (_side("b", "state"), ("b", "uid")))
    )
    pairs = [(("a", "uid"), ("b", "uid"))]
    assert fixed_by_join(join, left, right, pairs) == {("a", "state"), ("b", "state")}
    assert fixed_by_join(join, left, right, []) == {("a", "state")}


@pytest.mark.parametrize("left_outer", [False, True])
def test_a_public_partner_of_what_is_fixed_is_fixed(left_outer: bool) -> None:
    equal = ((_column("a", "state"), _column("b", "state")),)
    join = replace(joined("orders", "uid", "calls", "uid"), left_outer=left_outer, equal=equal)
    pairs = [(("a", "state"), ("b", "state"))]
    unit, everybodys = _side("a", "state"), _public("b", "state")
    here = {("a", "uid"), ("a", "state")}
    assert fixed_by_join(join, unit, everybodys, pairs) == here | set(everybodys.types)
    assert fixed_by_join(join, unit, _public("b", "more"), pairs) == here
    assert fixed_by_join(join, _side("a"), everybodys, pairs) == {("a", "uid")}
    by_unit = replace(join, equal=((_column("a", "uid"), _column("b", "state")),))
    found = fixed_by_join(by_unit, unit, everybodys, [(("a", "uid"), ("b", "state"))])
    assert found == here | set(everybodys.types)
    if left_outer:
        return
    there = {("b", "uid"), ("b", "state")}
    everybodys = _public("a", "state")
    found = fixed_by_join(join, everybodys, _side("b", "state"), pairs)
    assert found == there | set(everybodys.types)
    assert fixed_by_join(join, _public("a"), _side("b", "state"), pairs) == there


def test_groups_are_counted_by_what_is_listed() -> None:
    private, blank, number = (
        key_plan("t", None),
        key_plan("c", ("a", "b")),
        key_plan("n", ("1", "2", "3")),
    )
    fixed = frozenset({("r1", "t")})
    assert most_groups((private, blank), None, fixed) == 2
    assert most_groups((number,), None, frozenset()) == 3
    assert most_groups((private, number), None, fixed) is None
    assert most_groups((private, key_plan("i2", ())), None, fixed) == 1
    assert most_groups((key_plan("i2", ()),), None, frozenset()) == 1
    assert most_groups((number,), (("1",), ("2",)), frozenset()) == 2
    computed = replace(
        number, expression=Choose(Choice.COALESCE, (number.expression,), SqlType.NUMERIC)
    )
    assert most_groups((private, computed), None, fixed) == 3
