"""What is composed at random has the type that the kernel takes it for, or no statement computes it, whatever
rows there are."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random  # noqa: TID251  the same expressions for the same seed

import psycopg
import pytest

from proxy.base.sql_types import SqlType
from proxy.base.zones import zone_named
from proxy.catalog.catalog_model import TableName
from proxy.kernel.attribution import relation_of
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.totality import check_relation
from proxy.kernel.world import World
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choice,
    Choose,
    Clamped,
    Comparator,
    Comparison,
    Concat,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    In,
    InPublic,
    Inside,
    InsideLook,
    NullIf,
    Operator,
    Parameter,
    Shift,
    TextCall,
    TextFunction,
    TimeBin,
)
from proxy.query.ir.relations import Relation, Subquery, UnionAll
from proxy.query.syntax.placeholders import ScalarAnswer
from tests.kernel.examples import of_table, scan
from tests.kernel.test_claimed_types import ROW, family_of
from tests.kernel.tiny_database import tiny_database
from tests.pipeline_world import CATALOG, POLICIES

_WORLD = World(POLICIES["best"], CATALOG)
_TRIED = 2_500
_OF = ("i4", "i8", "n", "f8", "t", "c", "s", "e", "d", "ts", "tz", "b")
_WRITTEN: tuple[tuple[Fraction | str | bool | None, SqlType | None], ...] = (
    *(
        (None, None),
        ("a", None),
        ("a ", SqlType.BPCHAR),
        ("a", SqlType.TEXT),
        ("a", SqlType.VARCHAR),
    ),
    *((Fraction(1), SqlType.INT4), (Fraction(1), SqlType.INTERVAL), (True, SqlType.BOOL)),
    *(("2001-01-01", SqlType.DATE), ("2001-01-01", SqlType.TIMESTAMP), (None, SqlType.BPCHAR)),
)
_LISTS = tuple(
    (TableName("w", table), "l", of_table("l", table, column))
    for table, column in (("rates", "k"), ("rates", "fee"), ("regions", "t"))
)
_BERLIN = zone_named("Europe/Berlin")
_YEAR = Fraction(365 * 86_400)


class _Composer:
    """random: what chooses; made: what was accepted so far, of which others are made."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.made: list[Expression] = [of_table("r1", "people", name) for name in _OF]
        self.made += [Constant(value, kind) for value, kind in _WRITTEN]
        self.made += [
            Clamped(of_table("r1", "people", name), Fraction(0), most, kind)
            for name, most, kind in (
                ("n", Fraction(9), SqlType.NUMERIC),
                ("d", Fraction(99), SqlType.DATE),
                ("ts", _YEAR, SqlType.TIMESTAMP),
                ("tz", _YEAR, SqlType.TIMESTAMPTZ),
            )
        ]

    def expression(self) -> Expression:
        one, other, third = (self.random.choice(self.made) for _ in range(3))
        own = [part.type for part in (one, other, third) if part.type is not None]
        kind = self.random.choice([*own, *own, *SqlType])
        is_one = Comparison(
            Comparator.EQ, of_table("r1", "people", "i4"), Constant(Fraction(1), SqlType.INT4)
        )
        zone = self.random.choice((None, _BERLIN))
        few = (Constant(Fraction(2), SqlType.INT4),)
        made: tuple[Callable[[], Expression], ...] = (
            lambda: Case(((is_one, one),), other, kind),
            lambda: Case(((is_one, one), (is_one, other)), third, kind),
            lambda: Choose(self.random.choice([*Choice]), (one, other), kind),
            lambda: Choose(self.random.choice([*Choice]), (one, other, third), kind),
            lambda: NullIf(one, other, kind),
            lambda: Cast(one, kind, zone),
            lambda: DateTrunc("month", one, kind, zone),
            lambda: Shift(one, self.random.choice((0, 1)), 1, self.random.choice((0, 9)), kind),
            lambda: TimeBin(one, 10**6, 0, kind),
            lambda: Clamped(one, Fraction(0), Fraction(9), kind),
            lambda: Arithmetic(Operator.ADD, one, other, kind),
            lambda: Concat((one, other), kind),
            lambda: TextCall(TextFunction.LEFT, one, few, kind),
            lambda: FormattedTime(one, "YYYY-MM-DD", kind),
            lambda: Extract("year", one, kind),
            lambda: Bucket(one, Fraction(0), Fraction(9), 3, kind),
            lambda: Comparison(Comparator.LT, one, other),
            lambda: In(one, self.written(one.type)),
            lambda: InPublic(one, *self.random.choice(_LISTS), None),
            lambda: Inside(
                self.random.choice([*InsideLook]), of_table("r1", "people", "j"), few, few, kind
            ),
            lambda: Parameter(ScalarAnswer(0), kind),
        )
        return self.random.choice(made)()

    def written(self, kind: SqlType | None) -> tuple[Constant, ...]:
        """Constants of a type; of others the compiler prints no list."""
        there = (Constant(value, one) for value, one in _WRITTEN if one is kind)
        return (Constant(None, kind), *there)

    def relation(self) -> tuple[Relation, Expression]:
        """A relation with a column x: of one subquery, or of two."""
        made = self.expression()
        one = Subquery("q", scan("r1", "people"), None, (("x", made),))
        if self.random.random() < 0.9:
            return one, made
        others = (("x", self.random.choice(self.made)),)
        return UnionAll("q", (one, Subquery("q2", scan("r1", "people"), None, others))), made


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(2))
def test_it_is_what_the_kernel_takes_it_for(seed: int) -> None:
    database, composer = tiny_database(), _Composer(seed)
    database.fill(ROW)
    tried = 0
    for _ in range(_TRIED):
        relation, made = composer.relation()
        try:
            known = relation_of(relation, _WORLD)
            check_relation(relation, _WORLD)
        except NotPrivate:
            continue
        try:
            actual = database.type_of(relation, ("q", "x"))
        except (psycopg.ProgrammingError, psycopg.DataError):
            # Whatever rows there are: it is seen when the statement is analysed.
            with database.without("DELETE FROM people"), pytest.raises(psycopg.Error):
                database.rows(relation, [("q", "x")])
            continue
        tried += 1
        assert actual in family_of(known.types["q", "x"]), relation
        if isinstance(relation, Subquery):
            composer.made.append(made)
    assert tried > _TRIED / 20
