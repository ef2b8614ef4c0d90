"""Keys that a unit fixes: the kernel lets a plan pass in which each unit is in one group, and it is so."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.kernel.attribution import relation_of
from proxy.kernel.block_price import price_of_block
from proxy.kernel.fixed_columns import fixed_columns, most_groups
from proxy.kernel.plan import DistinctCount, LaplaceNoise
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.world import World
from proxy.query.ir.expressions import Choice, Choose
from tests.kernel.examples import WORLD, key_plan, l1, scan
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
