"""Types of columns from the catalogue up, and which expressions may stand in a plan.

What is printed of a comparison, a key or a hash depends on the types that a plan claims. A column that is
claimed to be of another type can make one row raise an error. So the kernel computes all types anew and
believes none of the plan's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from enum import Enum
from fractions import Fraction
from typing import Any

from proxy.base.node_parts import WITHOUT_PARTS, parts_getter
from proxy.base.sql_types import SqlType
from proxy.base.zones import Zone
from proxy.kernel.listed_values import is_value
from proxy.kernel.owners import ColumnName, check_alias, name
from proxy.kernel.refusals import NotCovered, NotPrivate, Rule
from proxy.kernel.statistics import Counted, Measured
from proxy.kernel.world import World
from proxy.policy.policy_model import Bounds, PublicTable
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choose,
    Clamped,
    ColumnRef,
    Comparison,
    Concat,
    Connective,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    In,
    InPublic,
    Inside,
    Is,
    Like,
    Not,
    NullIf,
    NumericCall,
    Parameter,
    Quotient,
    RealCall,
    Shift,
    TextCall,
    TimeBin,
)
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import OrderTerm, WindowColumn, WindowFunction
from proxy.query.ir.written_numbers import NOT_FINITE
from proxy.query.syntax.placeholders import ClientArray, ClientParameter, ScalarAnswer

Types = Mapping[ColumnName, SqlType]

# Functions of one row, written out: a new node has to be looked at before it stands here.
FUNCTIONS_OF_A_ROW: frozenset[type[Any]] = frozenset(
    {
        Arithmetic,
        Bucket,
        Case,
        Cast,
        Choose,
        Clamped,
        Comparison,
        Concat,
        Connective,
        Constant,
        DateTrunc,
        Extract,
        FormattedTime,
        In,
        Inside,
        Is,
        Like,
        Not,
        NullIf,
        NumericCall,
        Parameter,
        Quotient,
        RealCall,
        Shift,
        TextCall,
        TimeBin,
    }
)
# What such functions stand in, or are made of.
_PARTS: frozenset[type[Any]] = frozenset(
    {
        Aggregate,
        Bounds,
        ClientArray,
        ClientParameter,
        Counted,
        Measured,
        OrderTerm,
        ScalarAnswer,
        WindowColumn,
        Zone,
    }
)
_COVERED = FUNCTIONS_OF_A_ROW | _PARTS
_WORDS = ("AND", "OR")  # printed as they are
_SECONDS = (SqlType.INTERVAL, SqlType.CLOCK_TIME)  # what is computed of times is numbers of seconds
_NULL = Constant(None, None)
COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT)


def check_expressions(part: object, types: Types, world: World) -> None:
    """Let expressions pass that read the row at hand and public tables, and nothing else.

    Stability: each is a function of one row, as the nodes are a closed list and a column is one of the
    relation. A list of a public table is nobody's (PROOFS.md 20 L2): the policy says that the table is
    public, and what is read is of it. A column has the type that the catalogue gives it (PROOFS.md 22
    A2.2). Where a row is stored is no part of it: a subquery may hand it on, and seeded hashes of it are taken
    (`block_price.check_rows`, `truncation_rules._is_by_place`).

    Args:
        part: An expression, or what expressions stand in; None and tuples of such as well.
        types: The columns that are there.
        world: Policy and catalogue.

    Raises:
        NotPrivate: A column or a list that is not there, or not of the type that the plan claims; a place.
        NotCovered: A node that is not in the list.

    >>> from tests.kernel.examples import WORLD, of_table
    >>> column = of_table("r1", "visits", "i4")
    >>> check_expressions((column, None), {("r1", "i4"): SqlType.INT4}, WORLD)
    >>> check_expressions((column, None), {("r1", "i4"): SqlType.TEXT}, WORLD)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    waiting: list[Any] = [part]
    computed: list[Any] = []
    while waiting:
        node = waiting.pop()
        kind = node.__class__
        if kind in WITHOUT_PARTS:
            continue
        if kind is tuple:
            waiting += node
        elif kind is ColumnRef:
            check_column(node, types)
        elif kind is InPublic:
            _check_list(node, world)
            if node.type is not SqlType.BOOL:
                raise NotPrivate(Rule.EXPRESSION, "a computed value of another kind")
            waiting.append(node.operand)
        elif kind in _COVERED:
            getter = parts_getter(kind)
            assert getter is not None, "all of them are dataclasses"
            waiting += getter(node)
            computed.append(node)
        elif not isinstance(node, Enum):
            raise NotCovered(Rule.EXPRESSION, "a node that is not in the list")
    for node in computed:  # all columns are there now
        _check_computed(node, types)


def check_column(column: ColumnRef, types: Types, *, may_be_place: bool = False) -> None:
    """Let a column pass that is there, with the type that it has.

    Args:
        column: The column.
        types: Those that are there.
        may_be_place: Whether it may be where a row is stored, which rows of others decide.

    >>> there = {("r1", "uid"): SqlType.INT4}
    >>> check_column(ColumnRef("uid", SqlType.INT4, None, "r1"), there)
    >>> check_column(ColumnRef("uid", SqlType.TEXT, None, "r1"), there)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    there = types.get(name(column))
    if there is None:
        raise NotPrivate(Rule.EXPRESSION, "a column that is not there")
    if there is SqlType.TID and not may_be_place:
        raise NotPrivate(Rule.EXPRESSION, "the place of a row")
    if not holds(column.type, there):
        raise NotPrivate(Rule.EXPRESSION, "a column of another type")


def _check_computed(node: object, types: Types) -> None:
    """Let a computed value pass that claims the type which PostgreSQL gives it.

    Privacy: which values are equal depends on the type. Character(n) is compared without trailing blanks,
    also with character varying; local times and instants meet by a time zone. A value that is taken for
    another type would meet several values where `injective` says one. Numbers are cast to numeric where they
    are printed, and casts give what they say.

    Raises:
        NotPrivate: The claimed type is another one.
    """
    operands: Sequence[Expression] = ()
    match node:
        case Case(type=claimed):
            operands = [*(result for _, result in node.whens), node.otherwise]
        case Choose(type=claimed):
            operands = node.operands
        case NullIf(type=claimed):
            # Times are compared across types: what is left has the type of the left one.
            below = printed_type(node.operand, types)
            operands = (node.operand,) if below.is_time else (node.operand, node.other)
        case DateTrunc() | Shift() | TimeBin():
            if not _is_time_of(node, types):
                raise NotPrivate(Rule.EXPRESSION, "a time of another type")
            return
        case Connective(word=word, type=claimed):
            if word not in _WORDS or claimed is not SqlType.BOOL:
                raise NotPrivate(Rule.EXPRESSION, "a word that joins no conditions")
            return
        case TextCall(type=claimed) | Concat(type=claimed) | Inside(type=claimed):
            if claimed is SqlType.BPCHAR:
                raise NotPrivate(Rule.EXPRESSION, "a function that gives text, of another type")
            return
        case Parameter(type=claimed):
            if claimed.is_text:  # which the statement may cast to a time, at each row
                raise NotPrivate(Rule.EXPRESSION, "an answer that is a text")
            return
        case _:
            if not _is_of_its_kind(node):
                raise NotPrivate(Rule.EXPRESSION, "a computed value of another kind")
            return
    kinds = {printed_type(one, types) for one in operands if one != _NULL}
    if SqlType.BPCHAR in kinds and _NULL in operands:  # it is printed as a text
        kinds.add(SqlType.TEXT)
    is_right = claimed is _common_type(kinds)
    # Text that is called by another name for text, of operands that are all compared as they are.
    is_text = claimed.is_text and all(k.is_text for k in kinds) and SqlType.BPCHAR not in kinds
    is_alike = is_text and claimed is not SqlType.BPCHAR and SqlType.TEXT in kinds
    if not claimed.is_number and not is_right and not is_alike:
        raise NotPrivate(Rule.EXPRESSION, "a computed value of another type")


def _is_of_its_kind(node: object) -> bool:
    """Say whether what PostgreSQL always computes in one way claims no type of another kind.

    A number that is taken for a date or a uuid would be one that has one form. A constant is of its type's
    kind, as rules look into it by that. One of a time is the same time whenever the statement runs: a series is
    read step by step (PROOFS.md 33 C3).

    >>> one = Constant(Fraction(1), SqlType.INT4)
    >>> kinds = (SqlType.INT4, SqlType.INTERVAL, SqlType.DATE)
    >>> [_is_of_its_kind(Quotient(one, one, False, kind)) for kind in kinds]
    [True, True, False]
    >>> constants = [("-5", SqlType.INT4), (True, SqlType.INT4), ("now", SqlType.TIMESTAMP), ("x", None)]
    >>> [_is_of_its_kind(Constant(*one)) for one in constants]
    [False, False, False, True]
    """
    match node:
        case Arithmetic() | Quotient() | NumericCall() | RealCall() | Bucket() | Extract():
            return is_printed_as_number(node.type)
        case Clamped(type=claimed):
            return claimed.is_time or is_printed_as_number(claimed)
        case Cast(type=SqlType.DATE, zone=Zone() as zone):
            # What a clock shows is printed as a timestamp.
            return zone.is_utc or node.operand.type is not SqlType.TIMESTAMPTZ
        case Cast(operand=operand, type=claimed):  # of others totality._cast judges
            is_of_truth = operand.type is SqlType.BOOL
            is_known = claimed.is_text or is_printed_as_number(claimed)
            return claimed is not SqlType.BPCHAR and (is_known or not is_of_truth)
        case Constant(value=None):
            return True
        case Constant(value=bool(), type=claimed):
            # Python takes True for 1, so that two constants would be equal.
            return claimed is SqlType.BOOL
        case Constant(value=Fraction(), type=claimed):
            return claimed is not None and is_printed_as_number(claimed)
        case Constant(value=str(text), type=claimed):
            if claimed is None or claimed is SqlType.UUID:
                return True
            if claimed.is_text or claimed.is_container:
                return True
            if claimed.is_time:  # `now` is another time whenever the statement runs
                return is_value(text, claimed)
            return is_printed_as_number(claimed) and text in NOT_FINITE
        case FormattedTime(type=claimed):
            return claimed.is_text and claimed is not SqlType.BPCHAR
        case Comparison() | Not() | Is() | In() | Like():
            return node.type is SqlType.BOOL
        case _:
            return True


def is_printed_as_number(kind: SqlType) -> bool:
    """Say whether a computed value of the type is a number: a difference of times is its seconds."""
    return kind.is_number or kind in _SECONDS


def _is_time_of(node: DateTrunc | Shift | TimeBin, types: Types) -> bool:
    """Say whether a time that is cut or moved has the type that it claims."""
    below = printed_type(node.operand, types)
    match node:
        case DateTrunc(type=claimed):
            is_local = below is SqlType.TIMESTAMP
            return claimed is (SqlType.TIMESTAMP if is_local else SqlType.TIMESTAMPTZ)
        case TimeBin() if below is SqlType.DATE:
            return False  # it would be a timestamp
        case Shift(type=claimed) if below is SqlType.DATE:
            is_by_days = not node.months and not node.microseconds
            return claimed is SqlType.TIMESTAMP or (claimed is SqlType.DATE and is_by_days)
        case _:
            return node.type is below


def _common_type(kinds: Set[SqlType]) -> SqlType:
    """Find the type in which operands meet: their own, or that of their kind which PostgreSQL prefers.

    Texts of several types meet in text: a subquery casts all that is computed of them. Constants
    without a type are texts.
    """
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds and all(kind.is_time for kind in kinds):
        return SqlType.TIMESTAMPTZ if SqlType.TIMESTAMPTZ in kinds else SqlType.TIMESTAMP
    return SqlType.TEXT if all(kind.is_text for kind in kinds) else SqlType.NUMERIC


def _check_list(listed: InPublic, world: World) -> None:
    if not isinstance(world.policy.tables.get(listed.table), PublicTable):
        raise NotPrivate(Rule.EXPRESSION, "a list of a table that is not public")
    check_alias(listed.alias)
    table = world.catalog.tables.get(listed.table)
    if table is None:
        raise NotPrivate(Rule.EXPRESSION, "a list of a table that is not there")
    types = {(listed.alias, column.name): column.type for column in table.columns}
    check_expressions((listed.output, listed.condition), types, world)


def holds(claimed: SqlType, there: SqlType) -> bool:
    """Say whether what is printed for the claimed type is right for what is there.

    An integer may be taken for a numeric. Of texts character(n) and labels are printed in another way, as is
    one of several collations, which raise where two of them meet on a row (42P22).

    >>> holds(SqlType.NUMERIC, SqlType.INT4), holds(SqlType.NUMERIC, SqlType.FLOAT8)
    (True, False)
    >>> holds(SqlType.TEXT, SqlType.VARCHAR), holds(SqlType.TEXT, SqlType.BPCHAR)
    (True, False)
    >>> holds(SqlType.TEXT, SqlType.COLLATED)
    False
    """
    if claimed is there:
        return True
    if claimed is SqlType.NUMERIC:
        return there.is_integer
    as_they_are = claimed.is_text and there.is_text
    in_another_way = (SqlType.BPCHAR, SqlType.COLLATED, SqlType.ENUM)
    return as_they_are and {claimed, there}.isdisjoint(in_another_way)


def printed_type(expression: Expression, types: Types) -> SqlType:
    """Find the type that a column of this expression has in the SQL.

    Numbers are computed in numeric: a float is only ever a column of a table that is handed on.

    >>> printed_type(Constant(Fraction(1), SqlType.INT4), {})
    <SqlType.NUMERIC: ('numeric', 1700)>
    """
    if isinstance(expression, ColumnRef):
        return types[name(expression)]
    kind = expression.type or SqlType.TEXT
    return SqlType.NUMERIC if kind.is_number else kind


def aggregate_type(aggregate: Aggregate) -> SqlType:
    """Find the type of an aggregate of the rows of a unit: sums are numeric, ends of times are times."""
    if aggregate.kind in COUNTS:
        return SqlType.INT8
    kind = None if aggregate.operand is None else aggregate.operand.type
    return kind if kind is not None and kind.is_time else SqlType.NUMERIC


def window_type(window: WindowColumn, types: Types) -> SqlType:
    """Find the type of a window's column."""
    if window.function is WindowFunction.ROW_NAME:
        return SqlType.UUID
    if window.aggregate is not None:
        return aggregate_type(window.aggregate)
    return SqlType.INT8 if window.operand is None else printed_type(window.operand, types)


def injective(one: SqlType, other: SqlType) -> bool:
    """Say whether all values of one type that equal one value of the other are one value.

    No float meets a number, no date a timestamp, and no character(n) a character varying, which are
    compared without trailing blanks: of those `=` lets several values meet one (PROOFS.md 17 "The join").
    Intervals that are equal may have different parts, and of a type that is not read nothing is known.

    >>> injective(SqlType.INT4, SqlType.NUMERIC), injective(SqlType.FLOAT8, SqlType.NUMERIC)
    (True, False)
    >>> injective(SqlType.BPCHAR, SqlType.TEXT), injective(SqlType.BPCHAR, SqlType.VARCHAR)
    (True, False)
    """
    as_text = {SqlType.BPCHAR, SqlType.TEXT, SqlType.ENUM}  # labels are printed as text
    if SqlType.BPCHAR in (one, other) and not {one, other} <= as_text:
        return False
    if one.is_text and other.is_text:
        return True
    if _is_exact(one) and _is_exact(other):
        return True
    if one.is_float and other.is_float:
        return True
    return one is other and one is not SqlType.OTHER and one is not SqlType.DURATION


def is_hashed(one: SqlType, other: SqlType) -> bool:
    """Say whether PostgreSQL hashes values of both types so that equal ones meet, as they are printed.

    A FULL JOIN with further conditions needs one such equality (PostgreSQL 17, hash_inner_and_outer). Numbers
    of two families are printed as numeric, labels as text.

    >>> is_hashed(SqlType.INT4, SqlType.FLOAT8), is_hashed(SqlType.DATE, SqlType.TIMESTAMP)
    (True, False)
    """
    if (one.is_number and other.is_number) or (one.is_text and other.is_text):
        return True
    return one is other and one is not SqlType.OTHER


def _is_exact(kind: SqlType) -> bool:
    return kind.is_integer or kind is SqlType.NUMERIC


def has_one_form(kind: SqlType) -> bool:
    """Say whether values of a type that are equal are one value, whatever is asked of them.

    1 and 1.00 are equal numerics, of which a quotient has other digits, and so are computed seconds; 0 and -0
    are equal floats; a day and 24 hours are equal intervals; 'a' and 'a ' are equal as character(n); jsonb has
    numerics in it. Of a type that is not read nothing is known.

    >>> has_one_form(SqlType.INT8), has_one_form(SqlType.NUMERIC)
    (True, False)
    """
    several = (SqlType.BPCHAR, SqlType.DURATION, SqlType.JSONB, SqlType.OTHER)
    return kind.is_integer or not (is_printed_as_number(kind) or kind in several)


def is_grouped_in_one_form(kind: SqlType) -> bool:
    """Say whether the compiler prints a key so that the rows of a group have one value there.

    Numbers lose zeros at their end, and character(n) its blanks (compiler.relation_sql).

    >>> is_grouped_in_one_form(SqlType.NUMERIC), is_grouped_in_one_form(SqlType.JSONB)
    (True, False)
    """
    return has_one_form(kind) or kind.is_number or kind is SqlType.BPCHAR


def tells_forms_apart(kind: SqlType) -> bool:
    """Say whether the compiler orders rows by a column so that rows tied there have one value.

    It adds the scale, the length or the text to what has several forms. A jsonb would be too long
    (compiler.relation_sql). Computed seconds have no column of their own, so nothing is added to them. Arrays
    that are too large to be looked into are tied, but not with NULL. Nothing tells them apart, as no array is
    compared as a whole (`totality._check_compared`).
    """
    return kind is not SqlType.JSONB and kind not in _SECONDS


def is_ordered_whole(kind: SqlType) -> bool:
    """Say whether two different values are never tied. Of jsonb and arrays long ones count as NULL."""
    return not kind.is_container


def columns_in(part: object) -> set[ColumnName]:
    """Collect the columns of the row at hand that expressions are made of."""
    found: set[ColumnName] = set()
    waiting: list[Any] = [part]
    while waiting:
        node = waiting.pop()
        kind = node.__class__
        if kind is ColumnRef:
            found.add(name(node))
        elif kind is InPublic:
            waiting.append(node.operand)
        elif kind in (tuple, frozenset):
            waiting += node
        elif (getter := parts_getter(kind)) is not None:
            waiting += getter(node)
    return found


def conjuncts(condition: Expression | None) -> Iterator[Expression]:
    """List the parts of a condition that all have to hold."""
    if isinstance(condition, Connective) and condition.word == "AND":
        for operand in condition.operands:
            yield from conjuncts(operand)
    elif condition is not None:
        yield condition
