"""Units that are a person in a block of time: tampered plans, names that PostgreSQL prints, and people with
rows in several blocks beside the same without one block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise

import pytest

from proxy.audit.movement import Movement
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel import fixed_columns, units_in_time
from proxy.kernel.attribution import relation_of
from proxy.kernel.block_price import price_of_block
from proxy.kernel.checked_plan import check_plan, together
from proxy.kernel.owners import OfUnit
from proxy.kernel.plan import BlockPlan
from proxy.kernel.proposal_check import check_scans
from proxy.kernel.proposal_plan import TableProposals
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.units_in_time import InTime, budget_lines, in_time
from proxy.kernel.world import World
from proxy.mechanisms.loss import Loss
from proxy.policy.blocks_of_time import block_name, block_of, first_day, line_name
from proxy.policy.policy_model import (
    BlockLength,
    Bounds,
    BoundsKind,
    ColumnPolicy,
    IdentifierUnit,
    MovingBounds,
    ProtectedTable,
    TimeBlocks,
    UnitPath,
)
from proxy.query.ir.expressions import (
    Clamped,
    ColumnRef,
    Comparison,
    Concat,
    Connective,
    Constant,
    Expression,
    FormattedTime,
    Not,
)
from proxy.query.ir.function_names import Comparator
from proxy.query.ir.relations import Join, Relation, Subquery
from tests.audit.without_kernel import without_kernel
from tests.kernel.examples import TIMED, of_table, scan, visits_of
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import CATALOG, IN_BLOCKS, walk
from tests.unchecked_blocks import priced

_MARCH = range(24_230, 24_231)
_PEOPLE = """
INSERT INTO visits (id, uid, i2, i4, t, ts)
SELECT 1000 * p + n, p, n % 3, 10 * p + n, (ARRAY['x', 'y', 'z'])[1 + (p + n) % 3],
       timestamp '2019-01-20' + interval '1 day' * (n * 5)
FROM generate_series(1, 8) p, generate_series(1, 6 + p) n;
INSERT INTO visits (id, uid, i4, t, ts) VALUES (1, NULL, 7, 'x', '2019-02-01'), (2, 3, 7, 'x', NULL),
    (3, 3, 7, 'x', 'infinity'), (4, 3, 7, 'x', '-infinity'), (5, 3, 7, 'x', '1999-12-31 23:59:59'),
    (6, 3, 7, 'x', '2019-02-28 23:59:59.999999'), (7, 3, 7, 'x', '2019-03-01')"""
_QUESTIONS = (
    "SELECT t, count(*), sum(i4), avg(i4) FROM visits WHERE ts >= '2019-02-01' AND ts < '2019-03-01'"
    " GROUP BY t",
    "SELECT date_trunc('month', ts), count(*), count(DISTINCT uid) FROM visits"
    " WHERE ts >= '2019-01-01' AND ts < '2019-04-01' GROUP BY 1",
    "SELECT count(*), min(i4), percentile_cont(0.5) WITHIN GROUP (ORDER BY i4), count(DISTINCT i4) FROM visits"
    " WHERE ts >= '2019-01-01' AND ts < '2019-04-01'",
    "SELECT i2, count(*) FROM (SELECT * FROM visits WHERE i4 > 12) q WHERE ts < '2019-03-01' GROUP BY i2",
)


def _known(per: BlockLength, table: str, time: str) -> InTime:
    name = TableName("w", table)
    found = IN_BLOCKS.tables[name]
    assert isinstance(found, ProtectedTable)
    unit = IdentifierUnit("person", "uid", blocks=TimeBlocks(per=per, time=time))
    policy = replace(IN_BLOCKS, tables={**IN_BLOCKS.tables, name: replace(found, unit=unit)})
    known = in_time(scan("r1b", table), World(policy, CATALOG))
    assert known is not None
    return known


def _block(sql: str) -> BlockPlan:
    pipeline = walk(sql, IN_BLOCKS)
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    return block


def _source(block: BlockPlan) -> Subquery:
    assert isinstance(block.source, Subquery)
    return block.source


def _unit(of: Subquery, part: Expression) -> Subquery:
    return replace(of, outputs=(*of.outputs[:-1], (of.outputs[-1][0], part)))


def _ends(of: Subquery) -> tuple[Comparison, Comparison]:
    assert isinstance(of.where, Connective)
    low, high = of.where.operands
    assert isinstance(low, Comparison) and isinstance(high, Comparison)
    return low, high


def _with_ends(of: Subquery, low: Expression, high: Expression, word: str = "AND") -> Subquery:
    return replace(of, where=Connective(word, (low, high)))


def _from(of: Subquery, day: str) -> Subquery:
    low, high = _ends(of)
    return _with_ends(of, replace(low, right=Constant(day, SqlType.TIMESTAMP)), high)


def _parts(of: Subquery) -> tuple[FormattedTime, Expression, Expression]:
    _, unit = of.outputs[-1]
    assert isinstance(unit, Concat)
    block, space, person = unit.operands
    assert isinstance(block, FormattedTime)
    return block, space, person


def _block_of(of: Subquery, change: Callable[[FormattedTime], FormattedTime]) -> Subquery:
    block, *others = _parts(of)
    return _unit(of, Concat((change(block), *others)))


def _of_tz(end: Comparison) -> Expression:
    return replace(end, left=of_table("r1b", "visits", "tz"))


def _to_1970(block: FormattedTime) -> FormattedTime:
    assert isinstance(block.operand, Clamped)
    return replace(block, operand=replace(block.operand, high=Fraction(0)))


_UID = ColumnRef("uid", SqlType.INT8, None, "r1b")
_AFTER_ALL = Constant("2200-01-01 00:00:00.000000", SqlType.TIMESTAMP)
_TAMPERED: dict[str, Callable[[Subquery], Relation]] = {
    "no condition": lambda v: replace(v, where=None),
    "one end": lambda v: replace(v, where=_ends(v)[0]),
    "either end": lambda v: _with_ends(v, *_ends(v), "OR"),
    "one of two conditions": lambda v: _with_ends(v, Not(_ends(v)[0]), _ends(v)[1], "OR"),
    "also the last instant": lambda v: _with_ends(
        v, _ends(v)[0], replace(_ends(v)[1], comparator=Comparator.LE)
    ),
    "a part of a block": lambda v: _from(v, "2019-02-02 00:00:00.000000"),
    "before all blocks": lambda v: _from(v, "1999-12-01 00:00:00.000000"),
    "after all blocks": lambda v: _with_ends(
        v, _ends(v)[0], replace(_ends(v)[1], right=_AFTER_ALL)
    ),
    "no block": lambda v: _from(v, "2019-03-01 00:00:00.000000"),
    "no time": lambda v: _from(v, "infinity"),
    "another column": lambda v: _with_ends(v, _of_tz(_ends(v)[0]), _of_tz(_ends(v)[1])),
    "the person alone": lambda v: _unit(v, _UID),
    "no person": lambda v: _unit(v, Concat(_parts(v)[:2])),
    "no space": lambda v: _unit(v, Concat((_parts(v)[0], _parts(v)[2]))),
    "longer blocks": lambda v: _block_of(v, lambda block: replace(block, template="YYYY")),
    "other bounds": lambda v: _block_of(v, _to_1970),
    "read at once": lambda v: v.source,
    "read in another way": lambda v: replace(
        v, source=Subquery("r1b", scan("r1c", "visits"), None, v.outputs[:-1])
    ),
}


@pytest.mark.parametrize("how", _TAMPERED)
def test_a_tampered_plan_is_refused(how: str) -> None:
    block = _block("SELECT count(*) FROM visits WHERE ts >= '2019-02-01' AND ts < '2019-03-01'")
    wanted = Loss(Fraction(100), Fraction(1, 2))
    found = check_plan([block], wanted, TIMED)
    assert tuple(found.tables) == ("w.visits", "person 2019-02")
    assert set(found.tables.values()) == {found.loss}
    with pytest.raises(NotPrivate) as refused:
        check_plan([replace(block, source=_TAMPERED[how](_source(block)))], wanted, TIMED)
    assert refused.value.rule is not Rule.MALFORMED


def test_no_column_of_the_table_holds_the_unit() -> None:
    found = relation_of(scan("r1", "visits"), TIMED).owner
    assert isinstance(found, OfUnit) and found.identifier == "person\nmonth"
    assert not found.columns and not found.named and not found.alone
    owner = relation_of(visits_of(_MARCH, "uid", "i4"), TIMED).owner
    assert isinstance(owner, OfUnit) and owner.columns == {("r1", "unit")}


def test_rows_of_other_budgets_are_not_beside_them() -> None:
    """In one block of a plan, or in two."""
    pair = (of_table("a", "people", "id"), of_table("r1", "visits", "i4"))
    with pytest.raises(NotPrivate) as refused:
        budget_lines(
            Join(scan("a", "people"), visits_of(_MARCH, "i4"), False, (pair,), None), TIMED
        )
    assert refused.value.rule is Rule.UNIT_IN_TIME
    with pytest.raises(NotPrivate):  # a table that is met a second time, and there as it is
        met = scan("r1b", "visits")
        budget_lines(Join(visits_of(_MARCH), met, False, (), None), TIMED)
    timed = _block("SELECT count(*) FROM visits WHERE ts < '2000-02-01'")
    other = _block("SELECT count(*) FROM members")
    wanted = Loss(Fraction(100), Fraction(1, 2))
    checked = [check_plan([one], wanted, TIMED).blocks[0] for one in (timed, other)]
    assert (
        together([checked[0], checked[0]]).tables["person 2000-01"]
        == checked[0].loss + checked[0].loss
    )
    together([checked[0], priced(checked[0].loss)])  # of no table
    with pytest.raises(NotPrivate):
        together(checked)
    with pytest.raises(NotPrivate):
        check_plan([timed, other], wanted, TIMED)


def test_bounds_are_not_proposed_of_them() -> None:
    proposed = TableProposals(
        table=TableName("w", "visits"),
        relation=visits_of(_MARCH, "i4"),
        unit=None,
        not_null=None,
        keys=(),
        bounds=(),
    )
    with pytest.raises(NotPrivate):
        check_scans(proposed, TIMED)


def test_each_block_that_is_read_has_a_budget() -> None:
    assert budget_lines(visits_of(range(24_230, 24_232)), TIMED) == (
        "person 2019-03",
        "person 2019-04",
    )


def test_other_protected_rows_beside_blocks_are_seen() -> None:
    with pytest.raises(NotPrivate) as refused:
        budget_lines(Join(scan("a", "members"), visits_of(_MARCH), False, (), None), TIMED)
    assert refused.value.where == "rows that two kinds of budgets pay for"
    public = Join(scan("a", "rates"), visits_of(_MARCH), False, (), None)
    assert budget_lines(public, TIMED)


def test_a_time_without_bounds_is_refused() -> None:
    name = TableName("w", "visits")
    table = IN_BLOCKS.tables[name]
    assert isinstance(table, ProtectedTable)
    open_ended = replace(table, columns={**table.columns, "ts": ColumnPolicy("ts")})
    policy = replace(IN_BLOCKS, tables={**IN_BLOCKS.tables, name: open_ended})
    with pytest.raises(NotPrivate) as refused:
        in_time(scan("r1b", "visits"), World(policy, CATALOG))
    assert refused.value.where == "a unit without a person or a bounded time"


def test_what_the_policy_does_not_say_is_refused() -> None:
    name = TableName("w", "visits")
    table = IN_BLOCKS.tables[name]
    assert isinstance(table, ProtectedTable) and isinstance(table.unit, IdentifierUnit)

    def bounded(bounds: Bounds | MovingBounds | None) -> ProtectedTable:
        return replace(table, columns={**table.columns, "ts": ColumnPolicy("ts", bounds)})

    def unit(**changed: object) -> ProtectedTable:
        return replace(table, unit=replace(table.unit, **changed))  # type: ignore[arg-type]

    def timed(time: str, bounds: Bounds) -> ProtectedTable:
        columns = {**table.columns, time: ColumnPolicy(time, bounds)}
        blocks = TimeBlocks(per=BlockLength.MONTH, time=time)
        return replace(unit(blocks=blocks), columns=columns)

    kind = BoundsKind.TIMESTAMP
    for changed in (
        bounded(None),
        bounded(MovingBounds(Fraction(0), kind)),
        bounded(Bounds(Fraction(0), Fraction(20_000), BoundsKind.DATE)),
        bounded(Bounds(Fraction(-(10**11)), Fraction(0), kind)),
        replace(table, columns={"i4": table.columns["i4"]}),
        unit(column="t"),
        unit(column="gone"),
        unit(path=UnitPath(name, "uid")),
        unit(blocks=TimeBlocks(per=BlockLength.MONTH, time="i4")),
        timed("i4", Bounds(Fraction(0), Fraction(10**9), BoundsKind.NUMBER)),
        timed("gone", Bounds(Fraction(0), Fraction(10**9), kind)),
    ):
        policy = replace(IN_BLOCKS, tables={**IN_BLOCKS.tables, name: changed})
        world = World(policy, CATALOG)
        with pytest.raises(NotPrivate):
            relation_of(visits_of(_MARCH, "i4"), world)
        with pytest.raises(NotPrivate):
            in_time(scan("r1b", "visits"), world)
    with pytest.raises(NotPrivate):
        in_time(scan("r1b", "visits"), replace(TIMED, catalog=replace(CATALOG, tables={})))


@pytest.mark.parametrize("kind", SqlType)
def test_people_are_told_apart_by_what_prints_in_one_form(kind: SqlType) -> None:
    name, read = TableName("w", "visits"), scan("r1b", "visits")
    table = CATALOG.tables[name]
    columns = tuple(replace(c, type=kind) if c.name == "uid" else c for c in table.columns)
    tables = {**CATALOG.tables, name: replace(table, columns=columns)}
    world = replace(TIMED, catalog=replace(CATALOG, tables=tables))
    if kind in (SqlType.INT2, SqlType.INT4, SqlType.INT8, SqlType.UUID):
        known = in_time(read, world)
        assert known is not None and known.person.type is kind
    else:
        with pytest.raises(NotPrivate):
            in_time(read, world)


@pytest.mark.parametrize("per", BlockLength)
def test_names_are_those_that_postgres_prints(per: BlockLength) -> None:
    """Of each day of some years one name of its block, and no block has that of another."""
    names: dict[int, str] = {}
    days = [date(2015, 12, 1) + timedelta(days=n) for n in range(800)]
    for table, time in (("visits", "ts"), ("calls", "d"), ("orders", "tz")):
        known = _known(per, table, time)
        everything = Subquery(
            "r1", scan("r1b", table), None, (("unit", known.name), (time, known.time))
        )
        values = ", ".join(f"({n}, {n % 2}, '{day} 12:00')" for n, day in enumerate(days))
        tiny_database().fill(f"INSERT INTO {table} (id, uid, {time}) VALUES {values}")
        for unit, at in tiny_database().rows(everything, (("r1", "unit"), ("r1", time))):
            day = (date(at.year, at.month, at.day) - date(1970, 1, 1)).days
            block, person = block_of(day, per), str((day - (days[0] - date(1970, 1, 1)).days) % 2)
            assert first_day(block, per) <= day < first_day(block + 1, per)
            assert unit == f"{block_name(block, per)} {person}"
            assert line_name(known.unit, block) == f"person {block_name(block, per)}"
            assert names.setdefault(block, unit[: -len(person)]) == unit[: -len(person)]
    assert len({*names.values()}) == len(names) == len(set(map(len, names.values()))) * len(names)
    assert all(one + 1 == next_one for one, next_one in pairwise(sorted(names)))


def test_rows_of_no_block_are_not_there() -> None:
    """Without a time, without an end, beyond the bounds, of the neighbouring blocks."""
    tiny_database().fill(_PEOPLE)
    found = tiny_database().rows(
        visits_of(range(24_229, 24_230), "id", "ts"), (("r1", "id"), ("r1", "unit"))
    )
    assert {unit for _, unit in found if unit is not None} == {
        f"2019-02 {person}" for person in range(1, 9)
    }
    assert {1, 6} <= {number for number, _ in found} and not {2, 3, 4, 5, 7} & {
        number for number, _ in found
    }
    assert [unit for number, unit in found if number == 1] == [None]


def _moved(block: BlockPlan) -> list[Movement]:
    """Each person, in each month by itself."""
    tiny_database().fill(_PEOPLE)
    found: list[Movement] = []
    for person in range(1, 9):
        for month in ("2019-01-01", "2019-02-01", "2019-03-01"):
            gone = (
                f"DELETE FROM visits WHERE uid = {person} AND date_trunc('month', ts) = '{month}'"
            )
            found += tiny_database().moved(block, gone)
    return found


@pytest.mark.parametrize("question", _QUESTIONS)
def test_a_person_in_a_month_moves_no_more_than_planned(question: str) -> None:
    found = _moved(_block(question))
    assert any(one.observed > 0 for one in found)
    assert [one for one in found if one.observed > one.planned] == []


def test_a_month_that_is_not_read_moves_nothing() -> None:
    block = _block(_QUESTIONS[0])
    tiny_database().fill(_PEOPLE)
    for gone in ("ts < '2019-02-01'", "ts >= '2019-03-01'", "ts IS NULL"):
        assert {
            one.observed for one in tiny_database().moved(block, f"DELETE FROM visits WHERE {gone}")
        } <= {0}


@pytest.mark.parametrize(
    ("table", "key", "is_one"),
    [
        ("visits", "date_trunc('month', ts)", True),
        ("visits", "date_trunc('quarter', ts)", True),
        ("visits", "to_char(date_trunc('month', ts), 'YYYY')", True),
        ("visits", "date_trunc('day', ts)", False),
        ("visits", "date_trunc('week', ts)", False),
        ("visits", "date_trunc('month', tz)", False),
        ("calls", "date_trunc('month', d)", True),
        ("orders", "date_trunc('quarter', tz)", True),
        ("orders", "date_trunc('month', tz)", False),
    ],
)
def test_a_unit_is_in_one_group_of_whole_blocks(table: str, key: str, is_one: bool) -> None:
    """So what is counted has the noise of one group, however many there are."""
    time = {"visits": "ts", "calls": "d", "orders": "tz"}[table]
    block = _block(f"SELECT {key}, count(*) FROM {table} WHERE {time} >= '2018-11-04' GROUP BY 1")
    assert (block.reach == 1) is is_one and (block.groups() or 0) > 1
    price_of_block(block, TIMED)
    if not is_one:
        with pytest.raises(NotPrivate):
            price_of_block(replace(block, reach=1), TIMED)


def test_units_that_are_gathered_by_the_person_move_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: bounds on rows hold of a person in all blocks, so what is kept depends on other blocks."""
    real = InTime.name.fget  # type: ignore[attr-defined]

    def by_person(known: InTime) -> object:
        return Concat((Constant("", SqlType.TEXT), *real(known).operands[1:]))

    monkeypatch.setattr(units_in_time.InTime, "name", property(by_person))
    without_kernel(monkeypatch)
    found = [one for question in _QUESTIONS for one in _moved(_block(question))]
    assert [one for one in found if one.observed > one.planned] != []


def test_days_that_were_taken_for_whole_months_move_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a person in a month is in one group of days."""
    sql = "SELECT date_trunc('day', ts), count(DISTINCT uid) FROM visits WHERE ts >= '2019-01-01' GROUP BY 1"
    assert not any(one.observed > one.planned for one in _moved(_block(sql)))
    monkeypatch.setattr(fixed_columns, "_WHOLE", dict.fromkeys(BlockLength, ("day",)))
    assert any(one.observed > one.planned for one in _moved(_block(sql)))


def test_without_the_condition_other_months_move() -> None:
    """The mutant: blocks are charged for which there is a condition, which the plan does not have."""
    block = _block("SELECT count(*) FROM visits")
    january = visits_of(range(24_228, 24_229)).where
    read = replace(block, source=replace(_source(block), where=january))
    tiny_database().fill(_PEOPLE)
    gone = "DELETE FROM visits WHERE ts >= '2019-03-01'"
    assert any(one.observed > 0 for one in tiny_database().moved(block, gone))
    assert not any(one.observed > 0 for one in tiny_database().moved(read, gone))
