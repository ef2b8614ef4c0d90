"""Typed scalar expressions: the only ones that can reach the protected database.

Every node is one that PostgreSQL evaluates without ever raising on data (docs/design/sql.md 2), given that
arithmetic is done in numeric over clamped leaves (the planner clamps, the kernel judges, the compiler casts).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.base.zones import Zone
from proxy.catalog.catalog_model import TableName
from proxy.query.ir.function_names import Choice as Choice
from proxy.query.ir.function_names import Comparator as Comparator
from proxy.query.ir.function_names import InsideLook as InsideLook
from proxy.query.ir.function_names import NumericFunction as NumericFunction
from proxy.query.ir.function_names import Operator as Operator
from proxy.query.ir.function_names import RealFunction as RealFunction
from proxy.query.ir.function_names import TextFunction as TextFunction
from proxy.query.syntax.placeholders import (
    CastParameter,
    ClientArray,
    ClientParameter,
    ScalarAnswer,
    WrittenText,
)

ConstantValue = Fraction | str | bool | None
# Of a node whose field is known when the statement is run: the field's name, and what holds it until then.
Given = tuple[tuple[str, ClientParameter | WrittenText], ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal, of which numbers are Fractions, dates and timestamps ISO text. type None: an untyped one ('x'
    or NULL) that takes the type of its surroundings."""

    value: ConstantValue
    type: SqlType | None
    position: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constant whose value is known when the statement is run; of a ClientArray the type is an element's."""

    source: ClientParameter | ClientArray | ScalarAnswer | WrittenText | CastParameter
    type: SqlType
    position: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """relation: the alias that the reader gave the relation (query.ir.relations)."""

    column: str
    type: SqlType
    position: int | None = field(default=None, compare=False)
    relation: str = ""

    @property
    def is_place(self) -> bool:
        """Whether it says where a row is stored, not what it holds. The planner adds it, never a question."""
        return self.type is SqlType.TID


@dataclass(frozen=True, slots=True)
class Clamped:
    """A number cut to public bounds, NULL staying NULL. Made by the planner only."""

    operand: Expression
    low: Fraction
    high: Fraction
    type: SqlType


@dataclass(frozen=True, slots=True)
class Comparison:
    comparator: Comparator
    left: Expression
    right: Expression
    type: SqlType = SqlType.BOOL


@dataclass(frozen=True, slots=True)
class Connective:
    """AND or OR."""

    word: str
    operands: tuple[Expression, ...]
    type: SqlType = SqlType.BOOL


@dataclass(frozen=True, slots=True)
class Not:
    operand: Expression
    type: SqlType = SqlType.BOOL


@dataclass(frozen=True, slots=True)
class Is:
    """operand IS NULL (truth None), IS TRUE, IS FALSE."""

    operand: Expression
    truth: bool | None
    type: SqlType = SqlType.BOOL


@dataclass(frozen=True, slots=True)
class In:
    """operand IN (constants)."""

    operand: Expression
    items: tuple[Constant | Parameter, ...]
    type: SqlType = SqlType.BOOL


@dataclass(frozen=True, slots=True)
class InPublic:
    """operand IN (SELECT output FROM table AS alias WHERE condition), of a public table: row-wise, as the rows
    that it looks at are nobody's. output and condition read columns of that table only."""

    operand: Expression
    table: TableName
    alias: str
    output: ColumnRef
    condition: Expression | None
    type: SqlType = SqlType.BOOL


@dataclass(frozen=True, slots=True)
class Like:
    operand: Expression
    pattern: Constant | Parameter
    ignore_case: bool
    position: int | None = field(default=None, compare=False)
    type: SqlType = SqlType.BOOL


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: Operator
    left: Expression
    right: Expression
    type: SqlType


@dataclass(frozen=True, slots=True)
class Quotient:
    """operand / divisor or, with `remainder`, operand % divisor; truncated where both are integers. The divisor
    is a constant, or its bounds keep it from 0."""

    operand: Expression
    divisor: Expression
    remainder: bool
    type: SqlType
    position: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NumericCall:
    """abs, unary minus, floor, ceil, sign, trunc, round of a number; digits for the last two. below: what its
    size has to stay below, of a cast to numeric(p, s)."""

    function: NumericFunction
    operand: Expression
    digits: int
    type: SqlType
    below: Fraction | None = None
    given: Given = ()

    @property
    def halves_are_even(self) -> bool:
        """Whether halves are rounded to the even number, as PostgreSQL rounds real and double precision (rint);
        those of numeric go away from zero."""
        is_float = self.operand.type is not None and self.operand.type.is_float
        return self.function is NumericFunction.ROUND and is_float and not self.digits


@dataclass(frozen=True, slots=True)
class RealCall:
    """ln, log, exp, sqrt, power of a number whose bounds keep it from where it would raise. constant: the base
    of a logarithm or of RAISED, the exponent of POWER."""

    function: RealFunction
    operand: Expression
    constant: Fraction | None
    type: SqlType
    position: int | None = field(default=None, compare=False)
    given: Given = ()


@dataclass(frozen=True, slots=True)
class TextCall:
    function: TextFunction
    operand: Expression
    arguments: tuple[Constant | Parameter, ...]
    type: SqlType
    position: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Inside:
    """What is in a column of jsonb or an array: no such value is ever looked at as a whole.

    path: keys (texts) and places (whole numbers), the outer first. arguments: what is looked for.
    """

    look: InsideLook
    operand: Expression
    path: tuple[Constant | Parameter, ...]
    arguments: tuple[Constant | Parameter, ...]
    type: SqlType
    position: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Concat:
    """operand || operand ... of texts, NULL where one is."""

    operands: tuple[Expression, ...]
    type: SqlType = SqlType.TEXT


@dataclass(frozen=True, slots=True)
class Extract:
    """extract(field FROM operand); numeric, as in PostgreSQL 14 and later."""

    field: str
    operand: Expression
    type: SqlType = SqlType.NUMERIC
    given: Given = ()


@dataclass(frozen=True, slots=True)
class DateTrunc:
    """date_trunc(unit, operand), the operand clamped: at the ends of the calendar it would raise.

    zone: by whose clock, where the result is an instant; None: the session's, UTC where bind.time_zones has
    not put another.
    """

    unit: str
    operand: Expression
    type: SqlType
    zone: Zone | None = None
    given: Given = ()


@dataclass(frozen=True, slots=True)
class FormattedTime:
    """to_char(operand, template) of a timestamp without a zone, clamped as for DateTrunc, of a template of
    base.time_templates."""

    operand: Expression
    template: str
    type: SqlType = SqlType.TEXT
    given: Given = ()


@dataclass(frozen=True, slots=True)
class Shift:
    """operand + months + days + microseconds, the operand clamped as for DateTrunc. A date becomes a timestamp
    by an interval, not by days alone. given: what holds all three; is_back: subtracted, once they are known."""

    operand: Expression
    months: int
    days: int
    microseconds: int
    type: SqlType
    given: Given = ()
    is_back: bool = False


@dataclass(frozen=True, slots=True)
class TimeBin:
    """The latest of origin + n * width that is not after the operand, clamped as for DateTrunc. Microseconds
    since 1970-01-01."""

    operand: Expression
    width: int
    origin: int
    type: SqlType
    given: Given = ()


@dataclass(frozen=True, slots=True)
class Bucket:
    """width_bucket(operand, low, high, count) with constants, on numbers: 0 .. count+1."""

    operand: Expression
    low: Fraction
    high: Fraction
    count: int
    type: SqlType = SqlType.INT4
    given: Given = ()


@dataclass(frozen=True, slots=True)
class Case:
    """CASE WHEN condition THEN result ... ELSE otherwise END."""

    whens: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression
    type: SqlType


@dataclass(frozen=True, slots=True)
class Choose:
    """coalesce, greatest, least of operands of one type."""

    choice: Choice
    operands: tuple[Expression, ...]
    type: SqlType


@dataclass(frozen=True, slots=True)
class NullIf:
    operand: Expression
    other: Expression
    type: SqlType


@dataclass(frozen=True, slots=True)
class Cast:
    """A cast that never raises: to a wider number, boolean to integer, among dates and timestamps, to text; or
    one of a text, of which the planner knows every value that it can have.

    zone: by whose clock, between instants and local times; None: as in DateTrunc.
    """

    operand: Expression
    type: SqlType
    zone: Zone | None = None
    given: Given = ()


Expression = (
    Constant
    | Parameter
    | ColumnRef
    | Clamped
    | Comparison
    | Connective
    | Not
    | Is
    | In
    | InPublic
    | Like
    | Arithmetic
    | Quotient
    | NumericCall
    | RealCall
    | TextCall
    | Inside
    | Concat
    | Extract
    | DateTrunc
    | FormattedTime
    | Shift
    | TimeBin
    | Bucket
    | Case
    | Choose
    | NullIf
    | Cast
)
