"""What a field holds is what its class declares: each condition of proxy/kernel/well_formed.py."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import pytest

from proxy.base.node_parts import getter_of
from proxy.catalog.catalog_model import TableName
from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.well_formed import _fields, _wanted, check_well_formed
from proxy.query.syntax.placeholders import ScalarAnswer
from tests.kernel.examples import block_with_an_answer

_NOT_LOOKED_AT = (
    *("answers", "intervals", "expressions", "outputs", "top", "row_choices", "kept_totals"),
)


@dataclass(frozen=True, slots=True)
class _Empty:
    """Has no fields."""


@dataclass(frozen=True, slots=True)
class _Single:
    """Has one field."""

    inner: _Single | _Empty | None


@dataclass(frozen=True, slots=True)
class _Part:
    """Has a field of each kind."""

    pair: tuple[int, str] | None
    each: tuple[int, ...]
    every: frozenset[str]
    inner: _Single | None


_PART = _Part((1, "x"), (1, 2, 3), frozenset({"x", "y"}), _Single(_Single(_Empty())))
_OTHER = "a part of another type"


@pytest.mark.parametrize("part", [_PART, _Part(None, (), frozenset(), None)])
def test_parts_of_their_types_pass(part: _Part) -> None:
    check_well_formed(part, _Part)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("pair", one) for one in ([1, "x"], (1,), (1, "x", "y"), (1, 2), ("x", "x"), "x")),
        *(("each", one) for one in ([1], (1, "x"), (True,), frozenset({1}), None)),
        *(("every", one) for one in ({"x"}, frozenset({1}), ("x",))),
        *(("inner", one) for one in ((1, "x"), _PART, _Single(_PART), _Single(3), _Empty())),  # type: ignore[arg-type]
    ],
)
def test_a_part_of_another_type_is_refused(field: str, value: object) -> None:
    with pytest.raises(NotPrivate) as refused:
        check_well_formed(replace(_PART, **{field: value}), _Part)  # type: ignore[arg-type]
    assert (refused.value.rule, refused.value.where) == (Rule.MALFORMED, _OTHER)


def test_a_part_in_itself_is_refused() -> None:
    inner = _Single(None)
    loop = _Single(_Single(inner))
    object.__setattr__(inner, "inner", loop)
    with pytest.raises(NotPrivate) as refused:
        check_well_formed(loop, _Single)
    assert refused.value.where == "a part that stands in itself"


class _OtherTuple(tuple[Any, ...]):
    """Nothing declares such a tuple."""


def test_a_class_below_one_that_is_declared_is_another() -> None:
    with pytest.raises(NotPrivate) as refused:
        check_well_formed(replace(_PART, each=_OtherTuple((1,))), _Part)
    assert refused.value.where == _OTHER


@pytest.mark.parametrize("kind", [type(None), bool, int, str, Fraction, TableName])
def test_what_has_no_parts_that_are_looked_at(kind: type[Any]) -> None:
    wanted = _wanted.__wrapped__(kind)
    assert wanted.leaves | wanted.nodes == {kind}


def test_all_fields_are_read_whatever_their_number() -> None:
    part = ScalarAnswer(3)
    for names in ([], ["index"], ["index", "index"]):
        assert getter_of(names)(part) == (3,) * len(names)


def test_only_what_is_shown_of_a_block_is_not_looked_at() -> None:
    _fields.cache_clear()  # so that the line is seen to run here (tests/mutation/conditions.py)
    block = block_with_an_answer()
    for field in fields(BlockPlan):
        other: dict[str, Any] = {field.name: object()}
        changed = replace(block, **other)
        if field.name in _NOT_LOOKED_AT:
            check_well_formed(changed, BlockPlan)
            continue
        with pytest.raises(NotPrivate) as refused:
            check_well_formed(changed, BlockPlan)
        assert refused.value.where == _OTHER
    assert len(_fields(BlockPlan)[1]) == len(fields(BlockPlan)) - len(_NOT_LOOKED_AT)
