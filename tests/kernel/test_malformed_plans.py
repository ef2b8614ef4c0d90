"""Plans with parts of wrong types, in circles, or that a rule does not expect: one refusal, with a rule."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import proxy.kernel
from proxy.base.errors import Code, Fault, Refusal
from proxy.kernel.boundary import judging
from proxy.kernel.checked_plan import CheckedPlan, check_bounded, check_centred, check_plan
from proxy.kernel.plan import BlockPlan
from proxy.kernel.proposal_check import check_proposals
from proxy.kernel.proposal_plan import TableProposals
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.well_formed import SHOWN, _fields, check_well_formed
from proxy.kernel.work import TooMuchWork
from proxy.kernel.world import World
from proxy.mechanisms.loss import Loss
from proxy.planner.bound_proposals import proposal_plan
from proxy.planner.facts import PlanningContext
from proxy.query.ir.expressions import Not, TextCall
from proxy.query.ir.relations import Relation, Scan, Subquery
from tests.kernel.examples import WORLD, block_of, checked_block, deviation_mean, of_table, scan
from tests.kernel.examples import centres as noisy_centres
from tests.kernel.exchanged_parts import Steps, at, with_part
from tests.kernel.test_golden_plans import golden_blocks
from tests.pipeline_world import CATALOG, POLICIES, walk

_ALL = Loss(Fraction(10**9), Fraction(9, 10))
_KEYS = "SELECT t, count(*) FROM members GROUP BY t"
# None of them is a value of any field, but as the type says.
_VALUES: tuple[Any, ...] = (
    *(None, -1, True, 1.5, math.nan, math.inf, 2**70, "x", b"x", Fraction(-1, 3)),
    *((), ((),), (None,), ("a", "b", "c"), [], {}, frozenset({-1}), object(), Loss, len),
)
_TRIED = 1  # of each field


def _of(text: str, policy: str = "world") -> CheckedPlan:
    pipeline = walk(text, POLICIES[policy])
    assert pipeline is not None
    return pipeline.checked


def _refusal(check: Callable[[], object]) -> NotPrivate:
    with pytest.raises(NotPrivate) as refused:
        check()
    return refused.value


def _judge(block: BlockPlan, world: World = WORLD) -> None:
    check_plan([block], _ALL, world)


def _parts(node: object, path: Steps = ()) -> Iterator[tuple[Steps, tuple[str, str]]]:
    """Each part at and below a node, and the field in which it stands."""
    if isinstance(node, tuple):
        for place, part in enumerate(node):
            yield from _parts(part, (*path, place))
    elif is_dataclass(node):
        for field in fields(node):
            if isinstance(node, BlockPlan) and field.name in SHOWN:
                continue
            here = (*path, field.name)
            yield here, (type(node).__name__, field.name)
            yield from _parts(getattr(node, field.name), here)


def _broken(nth: int) -> Iterator[tuple[tuple[str, str], object, World, BlockPlan]]:
    """Each field with each n-th value, others at the next field, and with those that are asked for below."""
    tried: Counter[tuple[str, str]] = Counter()
    for _, world, block in golden_blocks():
        for path, name in _parts(block):
            tried[name] += 1
            if tried[name] > _TRIED:
                continue
            for number, value in enumerate(_VALUES, len(tried)):
                if number % nth and value is not True and value != -1:
                    continue
                if type(value) is not type(at(block, path)):
                    try:
                        yield name, value, world, with_part(block, path, value)
                    except (TypeError, ValueError, AttributeError):
                        continue  # its class takes no such value


@pytest.mark.parametrize("nth", [3, pytest.param(1, marks=pytest.mark.long)])
def test_whatever_stands_in_a_field_is_judged_or_refused(nth: int) -> None:
    """No other error leaves the kernel, and what is let through is of the types that are declared."""
    refused: Counter[str] = Counter()
    accepted = []
    for name, value, world, block in _broken(nth):
        try:
            _judge(block, world)
        except NotPrivate as found:
            refused[found.rule.value] += 1
            continue
        except TooMuchWork:
            continue
        accepted.append((name, value))
    assert refused[Rule.MALFORMED.value] > 3_000 / nth
    by_type = Counter(type(value).__name__ for _, value in accepted)
    assert set(by_type) <= {"NoneType", "int", "bool", "str", "Fraction", "tuple", "frozenset"}
    # 1 is no truth value, True is no number, and none of either is a fraction.
    assert ("SampleAggregate", "partitions") not in {n for n, v in accepted if v is True}
    assert ("UnitNeighbours", "is_summed") not in {n for n, v in accepted if v == -1}


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.5, True, "1", None])
@pytest.mark.parametrize("name", ["rows", "groups", "rows_per_group"])
def test_numbers_that_compare_with_nothing_are_no_bounds(name: str, value: object) -> None:
    (block,) = _of("SELECT t, count(*) FROM visits GROUP BY t", "best").blocks
    units: Any = block.block.neighbours
    if value is None and name != "rows":
        value = object()
    broken = replace(block.block, neighbours=replace(units, **{name: value}))
    assert _refusal(lambda: _judge(broken, block.world)).rule is Rule.MALFORMED


def _circle_of_relations() -> BlockPlan:
    (block,) = _of(_KEYS).blocks
    loop = Subquery("q", scan("r1", "members"), None, (("t", of_table("r1", "members", "t")),))
    object.__setattr__(loop, "source", loop)
    return replace(block.block, source=loop)


def _circle_of_expressions() -> BlockPlan:
    (block,) = _of(_KEYS).blocks
    loop = Not(of_table("r1", "members", "t"))
    object.__setattr__(loop, "operand", loop)
    return replace(block.block, where=loop)


def _nested(times: int) -> BlockPlan:
    (block,) = _of("SELECT count(*) FROM people").blocks
    source: Relation = scan("r1", "people")
    for _ in range(times):
        source = Subquery("r1", source, None, (("id", of_table("r1", "people", "id")),))
    return replace(block.block, source=source)


def _without_arguments() -> BlockPlan:
    (block,) = _of("SELECT count(*) FROM people WHERE left(t, 3) = 'abc'").blocks
    condition: Any = block.block.where
    call = condition.left
    assert isinstance(call, TextCall)
    return replace(block.block, where=replace(condition, left=replace(call, arguments=())))


RAISING = {
    "a relation in itself": _circle_of_relations,
    "an expression in itself": _circle_of_expressions,
    "relations below one another": lambda: _nested(3_000),
    "a call without arguments": _without_arguments,
}


@pytest.mark.parametrize("name", RAISING)
def test_what_a_rule_does_not_expect_is_refused(name: str) -> None:
    block = RAISING[name]()
    for check in (
        lambda: _judge(block),
        lambda: check_plan([block, block], _ALL, WORLD),
    ):
        assert _refusal(check).rule is Rule.MALFORMED


def test_a_refusal_names_line_and_plan() -> None:
    found = _refusal(lambda: _judge(_without_arguments()))
    assert found.where.startswith("IndexError in line ") and "proxy.kernel." in found.where
    assert len(found.digest) == 64 and found.details["rule"] == "malformed"
    assert "abc" not in found.for_operators


@pytest.mark.parametrize("blocks", [None, 3, [None], ["x"], [object()]])
def test_what_is_no_plan_is_refused(blocks: Any) -> None:
    assert _refusal(lambda: check_plan(blocks, _ALL, WORLD)).rule is Rule.MALFORMED


def test_bounds_and_centres_are_of_a_plan() -> None:
    (chosen,) = _of("SELECT sum(i4) FROM visits", "chosen").blocks
    broken = replace(chosen.block, sub_partitions=1.5)  # type: ignore[arg-type]
    assert _refusal(lambda: check_bounded(broken, chosen)).rule is Rule.MALFORMED
    (of,) = _of("SELECT avg(i4) FROM orders", "best").blocks
    (number,) = of.block.deviation_means
    centres: Any = {number: 3}
    assert _refusal(lambda: check_centred(centres, of)).rule is Rule.MALFORMED
    other: Any = 3
    assert _refusal(lambda: check_centred(other, chosen)).rule is Rule.MALFORMED
    one = checked_block(block_of(scan("r1", "visits"), deviation_mean(0, 10, Fraction(1))), WORLD)
    number_of: Any = 1
    odd = replace(noisy_centres(-3), is_few=number_of)  # no rule of centres looks at it
    assert _refusal(lambda: check_centred({0: odd}, one)).where == "a part of another type"


def test_what_is_shown_alone_is_of_any_type() -> None:
    odd: Any = {"answers": 3}
    shown = replace(block_of(scan("r1", "visits"), deviation_mean(0, 10, Fraction(1))), **odd)
    assert BlockPlan in check_well_formed(shown, BlockPlan)


def test_proposals_are_of_their_types() -> None:
    policy = POLICIES["best"]
    (table,) = [one.name for one in policy.protected() if one.name.name == "orders"]
    found = proposal_plan(PlanningContext(policy, CATALOG, {}), Fraction(1), table, ["i8"])
    world = World(policy, CATALOG)
    (stated,) = found.proposed
    bounds = tuple(replace(one, times=1.5) for one in stated.bounds)  # type: ignore[arg-type]
    for tables in (None, [None], [replace(stated, bounds=bounds)]):
        checked: Any = tables
        assert _refusal(lambda checked=checked: check_proposals(checked, world)).rule is (  # type: ignore[misc]
            Rule.MALFORMED
        )


def _classes(kind: Any, seen: set[Any]) -> None:
    if kind in seen:
        return
    seen.add(kind)
    waiting = list(_fields(kind)[1])
    while waiting:
        wanted = waiting.pop()
        waiting += [*wanted.each.values(), *(wanted.places or ())]
        for node in wanted.nodes:
            _classes(node, seen)


def test_all_classes_of_plans_are_known() -> None:
    """Each field's type can be told, also of those that no golden plan has."""
    seen: set[Any] = set()
    _classes(BlockPlan, seen)
    _classes(TableProposals, seen)
    assert len(seen) > 70 and Scan in seen


def test_parts_that_are_shared_are_no_circle() -> None:
    (block,) = _of("SELECT count(*) FROM people WHERE i4 > 3").blocks
    condition = block.block.where
    assert condition is not None
    shared = Not(condition)
    for _ in range(60):  # 2^60 nodes, if each were looked at wherever it stands
        shared = Not(replace(condition, left=shared, right=shared))  # type: ignore[arg-type]
    check_well_formed(replace(block.block, where=shared), BlockPlan)


def test_refusals_and_faults_stay_what_they_are() -> None:
    other = Refusal(Code.TOO_COMPLEX, "too much", "Ask less.")
    for error in (Fault("ours"), other):
        with pytest.raises(type(error)) as raised, judging(lambda: "digest"):
            raise error
        assert raised.value is error


def test_a_plan_without_a_name_is_refused_all_the_same() -> None:
    def no_name() -> str:
        raise KeyError

    with pytest.raises(NotPrivate) as refused, judging(no_name):
        raise NotPrivate(Rule.NOISE, "less noise")
    assert refused.value.rule is Rule.MALFORMED and refused.value.digest == ""


def test_the_boundary_alone_takes_any_error() -> None:
    found = []
    for file in sorted(Path(proxy.kernel.__path__[0]).glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ExceptHandler):
                caught = "" if node.type is None else ast.unparse(node.type)
                if caught in ("", "Exception", "BaseException"):
                    found.append(file.name)
    assert found == ["boundary.py"]
