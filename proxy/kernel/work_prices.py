"""The price of every node of an expression: nanoseconds for one row, and how large its result can be.

Claim: on one row a node takes at most its price on the machine of the table below, and its result has at most
the size that is stated. Argument: each price is above what `tests/kernel/test_measured_prices.py` measures on
PostgreSQL 18, for operands of every size; sizes are those of numeric.c and varlena.c. A node without a price
raises NotPriced, so that it is never printed. n, m are digits of numbers before and after the point (of ln,
exp and power those of the result too), x octets of texts.

| node | ns | size of the result | measured, ns |
|---|---|---|---|
| column, CASE arm, NOT, IS | 30 | of the type | int + int 10, CASE 14 |
| + - | 100 + n + m | one digit more before, the longer after | 8 digits 163, 12,800 digits 16,520 |
| * | 150 + 2 (n + m) + n m / 100 | the sums | 100 digits 455, 12,800 digits 866,388 |
| / % | as *, n + 20, m + 20 | n and m after; 24 and n after and m before | 12,800 digits 165,255 |
| comparison, clamp | 100 + min(n, m) | of the bounds | text of 16 kB: 2,000 |
| round, floor, abs, sign, casts | 100 + n; casts 400 + 3 n | digits that are asked for | |
| sqrt | 500 + 40 n + n^2 / 20 | half the digits | 1e-300: 1,636 |
| ln; log | 5,000 + 200 n + 1.7 min(n, 1000)^2; twice | 20 more after | 1e-300: 91,841, 800 digits: 1,028,201 |
| exp | 4,000 + 100 n + 1.2 min(n, 1000)^2 | of the operand's bounds | exp(690): 36,393 |
| power | 1.3 (ln + exp) | of the operand's bounds | power(1000.5, 90.5): 106,077 |
| functions of texts, s octets given | 200 + 1.5 to 40 x, + s x (trim 4 s x) | x, grown | a trim of 100: 304 x |
| LIKE (ILIKE) of s octets | 300 + (3 + 1.25 s) x (12) | truth | 256 octets: 292 an octet |
| extract; date_trunc, date_bin; + interval | 700; 1,400; 2,100 | of the type | AT TIME ZONE 544 |
| to_char of a template of c characters | 1,200 + 64 c | 16 c | 509 |
| float of a column, among numbers | 600 | of the type | 471 |
| IN list; list of a public table | 200 + 10 min(k, 8); 300 | truth | 2,000 integers: 5,400 with planning |
| hashes of a list of k >= 9, once for each place that prints it | 200 k | | 171 k |
| the same of k >= 9 of one hash | 4 k more, 12 k of texts and numerics; k times that once | | 3.5; texts 11.3 |
| the same, not hashed: of k of another type of time, of integers beyond the column's | 40 k more | truth | 39 |
| look into jsonb or an array | 6,000 each step, 16 kB | 1,024 octets | 16 kB: 18,000 to 95,000 |
| numeric without a scale that a join repeats | 12,000 more to unpack | | 131,000 digits: 11,200 |
| left(x, C) of a column | 2,200 + 6 C | 4 C | of 1 MB, C = 1,024: 7,200 |
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column as StoredColumn
from proxy.kernel.number_totality import MOST_EXPONENT
from proxy.kernel.owners import ColumnName
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choice,
    Choose,
    Clamped,
    ColumnRef,
    Comparator,
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
    InsideLook,
    Is,
    Like,
    Not,
    NullIf,
    NumericCall,
    NumericFunction,
    Operator,
    Parameter,
    Quotient,
    RealCall,
    RealFunction,
    Shift,
    TextCall,
    TextFunction,
    TimeBin,
)
from proxy.query.ir.json_constants import number_of_values

_NODE = 30.0
_CAST = 100.0
_CONSTANT = 5.0
_TIME = 700.0
_LOOK = 6_000.0
_SLICE = 2_000.0  # what is stored beside its row is fetched
_HASH = 200.0  # of an element, when the first row asks
_ALIKE = 4.0  # an item of the same hash is looked at; of texts and numerics three times as long
_UNHASHED = 40.0  # an item that is compared, and cast, for each row
_INTEGER_ENDS = {SqlType.INT2: 2**15, SqlType.INT4: 2**31}
HASHED_LIST = 9  # PostgreSQL hashes what it looks for in longer ones
# Each look unpacks up to 4 MiB (limits.INSIDE_STORED_BYTES), which stay until the next row: 128 are 512 MiB.
_LOOK_NODES = limits.EXPANDED_NODES // 128
_MOST_AFTER = 16_383  # NUMERIC_DSCALE_MAX
_REAL_AFTER = 1_000  # NUMERIC_MAX_DISPLAY_SCALE
_CHARACTER = 4  # octets of one, at most
_LARGEST_POWER = math.ceil(MOST_EXPONENT / math.log(10))
_LARGEST_RATIO = 255  # of what is unpacked to what is stored (lz4)
_TENFOLD = Fraction(23, 10)  # below ln(10)
_DECLARED = re.compile(r"character(?: varying)?\((\d+)\)")


class NotPriced(Exception):
    """A node without a price."""


@dataclass(frozen=True, slots=True)
class ResultSize:
    """Digits of a number before and after the point; octets of a text. is_raw: a number without a scale as it
    is stored, of which a longer one counts as more rows where a node's price grows as its digits do, and not
    where it grows faster. unpacked: nanoseconds to unpack the longest, where a join repeats it."""

    before: int = 10
    after: int = 0
    octets: int = 0
    is_raw: bool = False
    unpacked: int = 0

    @property
    def digits(self) -> int:
        return self.before + self.after

    @property
    def factor(self) -> int:
        """Digits, where the price grows faster than they do."""
        return self.digits + _MOST_AFTER if self.is_raw else self.digits

    @property
    def width(self) -> int:
        """Octets in a row that is sorted: numeric stores four digits in two octets; a computed text that is
        carried is cut to its first characters (compiler/relation_sql.py)."""
        text = min(self.octets, _CHARACTER * limits.KEY_CHARACTERS)
        return max(8, text, self.digits // 2 + 8 if self.digits > 19 else 8)


@dataclass(frozen=True, slots=True)
class Dearest:
    """The node with the highest price of its own, as an analyst writes it."""

    nanoseconds: float = 0.0
    written: str = "its rows"
    digits: int = 0

    def or_dearer(self, other: Dearest) -> Dearest:
        return other if other.nanoseconds > self.nanoseconds else self


NO_NODE = Dearest()
NO_COLUMNS: frozenset[ColumnName] = frozenset()


@dataclass(frozen=True, slots=True)
class NodePrice:
    """Of computing an expression once. nodes: with subqueries put in, what PostgreSQL plans; leaves: the
    columns of tables, groups, windows and cuts that it is made of, which a row that is sorted carries until
    it is computed. once: nanoseconds that the first row takes, for the hashes of lists."""

    nanoseconds: float
    size: ResultSize
    leaves: frozenset[ColumnName] = NO_COLUMNS
    dearest: Dearest = NO_NODE
    nodes: int = 1
    once: float = 0.0


Prices = Mapping[ColumnName, NodePrice]
_TRUTH = ResultSize(1)
_INTEGER = ResultSize(10)
_MOMENT = ResultSize(20, 6)
NOTHING = NodePrice(0.0, _TRUTH)

_TYPE_SIZES = {
    SqlType.BOOL: _TRUTH,
    SqlType.INT2: ResultSize(5),
    SqlType.INT4: _INTEGER,
    SqlType.INT8: ResultSize(19),
    SqlType.FLOAT4: ResultSize(39, 45),
    SqlType.FLOAT8: ResultSize(309, 340),
    SqlType.DATE: ResultSize(8),
    SqlType.TIMESTAMP: _MOMENT,
    SqlType.TIMESTAMPTZ: _MOMENT,
    SqlType.UUID: ResultSize(0, 0, 16),
    SqlType.DURATION: _MOMENT,
    SqlType.TIME_OF_DAY: _MOMENT,
    SqlType.CLOCK_TIME: _MOMENT,
    SqlType.INTERVAL: _MOMENT,
    SqlType.TID: _INTEGER,
    SqlType.NUMERIC: ResultSize(40, limits.NUMBER_AFTER_POINT, is_raw=True),
}


def type_size(kind: SqlType | None, text_octets: int) -> ResultSize:
    """Of a stored value. Numbers without a scale have `limits.NUMBER_AFTER_POINT` digits where they enter
    arithmetic, as they are cut there (planner/bounds.py).

    >>> type_size(SqlType.INT4, 1024)
    ResultSize(before=10, after=0, octets=0, is_raw=False, unpacked=0)
    >>> type_size(SqlType.TEXT, 1024).octets
    1024
    """
    found = None if kind is None else _TYPE_SIZES.get(kind)
    return ResultSize(0, 0, text_octets) if found is None else found


def column_size(column: StoredColumn, text_octets: int) -> ResultSize:
    """Of a column of a table, by what the server holds its values to.

    >>> column_size(StoredColumn("n", SqlType.NUMERIC, "numeric(8,2)", True, 8, 2), 1024)
    ResultSize(before=6, after=2, octets=0, is_raw=False, unpacked=0)
    >>> column_size(StoredColumn("s", SqlType.VARCHAR, "character varying(20)", True), 1024)
    ResultSize(before=0, after=0, octets=80, is_raw=False, unpacked=0)
    """
    found = type_size(column.type, text_octets)
    if not column.is_enforced:
        return found
    if column.type is SqlType.NUMERIC and column.precision is not None:
        scale = column.scale or 0
        return ResultSize(max(1, column.precision - scale), max(0, scale))
    declared = _DECLARED.fullmatch(column.type_name)
    if column.type in (SqlType.VARCHAR, SqlType.BPCHAR) and declared is not None:
        return ResultSize(0, 0, min(text_octets, _CHARACTER * int(declared[1])))
    return ResultSize(0, 0, 64) if column.type is SqlType.ENUM else found


def longest_size(column: StoredColumn) -> ResultSize:
    """Of the longest value that may be stored in a column, in memory.

    >>> longest_size(StoredColumn("s", SqlType.TEXT, "text", True)).octets
    1073741824
    """
    if column.type.is_container:  # of a larger one nothing is looked into (compiler/inside_sql.py)
        return ResultSize(0, 0, _LARGEST_RATIO * limits.INSIDE_STORED_BYTES)
    found = column_size(column, limits.LONGEST_TEXT_OCTETS)
    return replace(found, unpacked=limits.LONGEST_NUMBER_NANOSECONDS) if found.is_raw else found


def constant_size(constant: Constant | Parameter | None) -> ResultSize:
    """
    >>> constant_size(Constant(Fraction("12.345"), SqlType.NUMERIC))
    ResultSize(before=2, after=3, octets=0, is_raw=False, unpacked=0)
    """
    match constant:
        case Constant(value=Fraction() as number):
            return _number_size(number)
        case Constant(value=str() as text):
            return ResultSize(1, 0, len(text.encode("utf-8", "surrogatepass")))
        case Constant() | None:
            return _TRUTH
        case Parameter():  # an answer of an earlier block, which is public
            return ResultSize(60, 60, 64)
        case _:
            assert_never(constant)


def _number_size(number: Fraction) -> ResultSize:
    """A decimal has as many digits after the point as its denominator has factors of 2 or of 5."""
    after = max(_factors(number.denominator, 2), _factors(number.denominator, 5))
    return ResultSize(
        len(str(abs(number.numerator) // number.denominator)), min(after, _MOST_AFTER)
    )


def _factors(number: int, of: int) -> int:
    count = 0
    while number % of == 0:
        number //= of
        count += 1
    return count


def add_nanoseconds(left: int, right: int) -> float:
    return 100.0 + left + right


def multiply_nanoseconds(left: int, right: int) -> float:
    return 150.0 + 2 * (left + right) + left * right / 100


def compare_nanoseconds(left: int, right: int) -> float:
    """Up to the first digit that differs, at the latest where the shorter ends."""
    return 100.0 + min(left, right)


def _logarithm_nanoseconds(digits: int) -> float:
    return 5_000.0 + 200 * digits + 1.7 * min(digits, _REAL_AFTER) ** 2


def _exponential_nanoseconds(digits: int) -> float:
    return 4_000.0 + 100 * digits + 1.2 * min(digits, _REAL_AFTER) ** 2


def union(sizes: Iterable[ResultSize]) -> ResultSize:
    """Large enough for each."""
    found = tuple(sizes)
    return ResultSize(
        max((one.before for one in found), default=1),
        max((one.after for one in found), default=0),
        max((one.octets for one in found), default=0),
        any(one.is_raw for one in found),
        max((one.unpacked for one in found), default=0),
    )


def expression_price(expression: Expression | None, columns: Prices, text_octets: int) -> NodePrice:
    """What it costs to compute an expression on one row.

    Args:
        columns: Of the relation that the expression is about, what a mention costs.
        text_octets: So long are texts inside jsonb and arrays.

    Raises:
        NotPriced: A node or a column is not known.
    """
    return NOTHING if expression is None else _Pricing(columns, text_octets).of(expression)


@dataclass(frozen=True, slots=True)
class _Pricing:
    columns: Prices
    text_octets: int

    def of(self, expression: Expression) -> NodePrice:
        match expression:
            case ColumnRef():
                return self._column(expression)
            case Constant() | Parameter():
                return NodePrice(_CONSTANT, constant_size(expression))
            case Comparison():
                return self._comparison(expression)
            case Connective(word=word, operands=operands):
                return self._node(word, operands, _NODE * (1 + len(operands)), _TRUTH)
            case Not() | Is():
                return self._node("IS", (expression.operand,), _NODE, _TRUTH)
            case In():
                return self._in(expression)
            case InPublic():
                return self._in_public(expression)
            case Like():
                return self._like(expression)
            case TextCall():
                return self._text_call(expression)
            case Concat():
                return self._concat(expression)
            case Inside():
                return self._inside(expression)
            case Extract():
                return self._node("extract()", (expression.operand,), _TIME, _MOMENT)
            case DateTrunc():
                return self._node("date_trunc()", (expression.operand,), 2 * _TIME, _MOMENT)
            case Shift():
                return self._node("+ interval", (expression.operand,), 3 * _TIME, _MOMENT)
            case TimeBin():
                return self._node("date_bin()", (expression.operand,), 2 * _TIME, _MOMENT)
            case FormattedTime():
                octets = 16 * len(expression.template)
                size = ResultSize(1, 0, octets)
                return self._node("to_char()", (expression.operand,), 1_200.0 + 4 * octets, size)
            case Case():
                return self._case(expression)
            case Choose():
                return self._choose(expression)
            case NullIf():
                return self._null_if(expression)
            case Clamped():
                return self._clamped(expression)
            case Arithmetic():
                return self._arithmetic(expression)
            case Quotient():
                return self._quotient(expression)
            case NumericCall():
                return self._numeric_call(expression)
            case RealCall():
                return self._real_call(expression)
            case Bucket():
                operand = self._numeric(expression.operand)
                ends = union(map(_number_size, (expression.low, expression.high))).digits
                own = 400 + multiply_nanoseconds(operand.size.factor + ends, 40 + ends)
                return _sum("width_bucket()", own, _INTEGER, (operand,))
            case Cast():
                return self._cast(expression)
            case _:
                raise NotPriced(type(expression).__name__)

    def _node(
        self, written: str, operands: Iterable[Expression], own: float, size: ResultSize
    ) -> NodePrice:
        return _sum(written, own, size, tuple(map(self.of, operands)))

    def _column(self, column: ColumnRef) -> NodePrice:
        found = self.columns.get((column.relation, column.column))
        if found is None:
            raise NotPriced(f"column {column.column}")
        return found

    def _numeric(self, operand: Expression) -> NodePrice:
        """An operand among numbers: a column of floats becomes numeric there (computed numbers are)."""
        price = self.of(operand)
        if isinstance(operand, ColumnRef) and operand.type.is_float:
            return replace(price, nanoseconds=price.nanoseconds + 6 * _CAST)
        return price

    def _comparison(self, comparison: Comparison) -> NodePrice:
        left, right = self._numeric(comparison.left), self._numeric(comparison.right)
        own = compare_nanoseconds(left.size.digits, right.size.digits) + 2 * _CAST
        own += min(left.size.unpacked, right.size.unpacked)
        own += min(left.size.octets, right.size.octets) / 4
        if comparison.comparator in (Comparator.LT, Comparator.LE, Comparator.GT, Comparator.GE):
            # By their bytes, up to the end of the shorter; both are unpacked whole before.
            own += 4.0 * min(left.size.octets, right.size.octets)
            own += max(left.size.octets, right.size.octets) / 2
        return _sum(f"a comparison ({comparison.comparator.value})", own, _TRUTH, (left, right))

    def _in(self, listed: In) -> NodePrice:
        operand = self._numeric(listed.operand)
        octets, several = operand.size.octets, len(listed.items)
        if several < HASHED_LIST:  # compared one by one, the lengths first
            longest = max((constant_size(item).octets for item in listed.items), default=0)
            octets = min(octets, longest * several)
        each = 10.0 * min(several, 8) if is_hashed_list(listed) else _UNHASHED * several
        once = 0.0
        if several >= HASHED_LIST:  # an analyst may choose items of one hash, as it has no seed
            kind = listed.operand.type
            is_fixed = kind is not None and (kind.is_integer or kind.is_time)
            alike = _ALIKE if is_fixed else 3 * _ALIKE
            each, once = each + alike * several, (_HASH + alike * several) * several
        found = _sum("IN", 200 + each + octets + operand.size.digits, _TRUTH, (operand,))
        return replace(found, once=found.once + once)

    def _in_public(self, listed: InPublic) -> NodePrice:
        operand = self._numeric(listed.operand)
        own = 300.0 + operand.size.octets + operand.size.digits
        kinds = (listed.operand.type, listed.output.type)
        if any(kind is not None and kind.is_time for kind in kinds) and kinds[0] is not kinds[1]:
            own += _UNHASHED * limits.PUBLIC_LIST_ELEMENTS
        found = _sum("IN (SELECT ...)", own, _TRUTH, (operand,))
        return replace(found, once=found.once + _HASH * limits.PUBLIC_LIST_ELEMENTS)

    def _like(self, like: Like) -> NodePrice:
        operand = self.of(like.operand)
        octets, searched = operand.size.octets, constant_size(like.pattern).octets
        each = (12 if like.ignore_case else 3) + 1.25 * searched
        name = "ILIKE" if like.ignore_case else "LIKE"
        return _sum(name, 300 + each * octets, _TRUTH, (operand,))

    def _text_call(self, call: TextCall) -> NodePrice:
        operand = self.of(call.operand)
        octets = operand.size.octets
        size = _text_size(call, octets) if call.type.is_text else _INTEGER
        if call.function is TextFunction.LEFT:  # no more of a stored text is unpacked
            own = 200 + _each_octet(call) * size.octets + _SLICE * (octets > size.octets)
        else:
            own = 200 + _each_octet(call) * octets
        if call.function in (TextFunction.LPAD, TextFunction.RPAD):
            own += 20 * limits.PADDED_CHARACTERS
        return _sum(f"{call.function.value}()", own, size, (operand,))

    def _concat(self, concat: Concat) -> NodePrice:
        operands = tuple(map(self.of, concat.operands))
        octets = sum(one.size.octets + one.size.digits for one in operands)
        own = 200 * len(operands) + octets * (len(operands) + 1)
        return _sum("||", own, ResultSize(1, 0, octets), operands)

    def _inside(self, inside: Inside) -> NodePrice:
        """Each step and each constant goes through the value; the text of a member is looked at three times,
        to see how long it is, and a member that a subquery carries twice."""
        looked_for = 0
        if inside.look is InsideLook.HOLDS:
            constants = [one for one in inside.arguments if isinstance(one, Constant)]
            looked_for = sum(map(number_of_values, constants))
        times = {InsideLook.TEXT: 3, InsideLook.MEMBER: 2}.get(inside.look, 1)
        looks = times * len(inside.path) + max(1, looked_for, len(inside.arguments))
        operand = self.of(inside.operand)
        # Where a join repeats it, a text in it is as long as it may be.
        size = type_size(inside.type, max(self.text_octets, operand.size.octets))
        each = _LOOK * max(1.0, operand.size.octets / limits.INSIDE_STORED_BYTES)
        found = _sum("a look into jsonb or an array", each * looks, size, (operand,))
        return replace(found, nodes=found.nodes + _LOOK_NODES * looks)

    def _case(self, case: Case) -> NodePrice:
        """All conditions may be looked at, and one arm is taken."""
        conditions = [self.of(condition) for condition, _ in case.whens]
        arms = [self._numeric(arm) for arm in (*(arm for _, arm in case.whens), case.otherwise)]
        taken = max(arms, key=lambda one: one.nanoseconds)
        own = _NODE * len(conditions) + 2 * _CAST
        total = _sum("CASE", own, union(one.size for one in arms), (*conditions, taken))
        leaves = total.leaves.union(*(one.leaves for one in arms))
        nodes = 1 + sum(one.nodes for one in (*conditions, *arms))
        once = sum(one.once for one in (*conditions, *arms))
        return replace(total, leaves=leaves, nodes=nodes, once=once)

    def _choose(self, choose: Choose) -> NodePrice:
        operands = tuple(map(self._numeric, choose.operands))
        digits = sum(one.size.digits for one in operands)
        is_compared = choose.choice is not Choice.COALESCE
        octets = is_compared * sum(one.size.octets for one in operands)
        own = (100.0 + digits + octets) * len(operands)
        return _sum(f"{choose.choice.value}()", own, union(one.size for one in operands), operands)

    def _null_if(self, null_if: NullIf) -> NodePrice:
        operand, other = self._numeric(null_if.operand), self._numeric(null_if.other)
        own = compare_nanoseconds(operand.size.digits, other.size.digits)
        own += 2 * _CAST + min(operand.size.octets, other.size.octets) / 4
        return _sum("nullif()", own, operand.size, (operand, other))

    def _clamped(self, clamped: Clamped) -> NodePrice:
        operand = self._numeric(clamped.operand)
        if clamped.type.is_time:
            return _sum("", 2 * _CAST, operand.size, (operand,))
        ends = union(map(_number_size, (clamped.low, clamped.high)))
        before = min(operand.size.before, ends.before) if operand.size.before else ends.before
        after = max(operand.size.after, ends.after)
        size = ResultSize(before, after, is_raw=operand.size.is_raw)
        if not isinstance(clamped.operand, ColumnRef) or clamped.operand.type is SqlType.NUMERIC:
            own = 2 * compare_nanoseconds(operand.size.digits, ends.digits) + _CAST
        else:
            own = 2 * _CAST
        return _sum("", own, size, (operand,))

    def _arithmetic(self, arithmetic: Arithmetic) -> NodePrice:
        left, right = self._numeric(arithmetic.left), self._numeric(arithmetic.right)
        one, other = left.size, right.size
        if arithmetic.operator is Operator.MULTIPLY:
            own = multiply_nanoseconds(one.factor, other.factor)
            size = ResultSize(one.before + other.before, min(_MOST_AFTER, one.after + other.after))
        else:
            own = add_nanoseconds(one.digits, other.digits)
            digits = (max(one.before, other.before) + 1, max(one.after, other.after))
            size = ResultSize(*digits, is_raw=one.is_raw or other.is_raw)
        return _sum(arithmetic.operator.value, own + 2 * _CAST, size, (left, right))

    def _quotient(self, quotient: Quotient) -> NodePrice:
        left, right = self._numeric(quotient.operand), self._numeric(quotient.divisor)
        one, other = left.size, right.size
        own = multiply_nanoseconds(one.factor + 20, other.factor + 20) + 2 * _CAST
        # Sixteen digits of the quotient that are not 0 (numeric.c, select_div_scale).
        after = max(one.after, other.after, min(_REAL_AFTER, 24 + one.after + other.before))
        size = ResultSize(one.before + other.after, after)
        return _sum("%" if quotient.remainder else "/", own, size, (left, right))

    def _numeric_call(self, call: NumericCall) -> NodePrice:
        operand = self._numeric(call.operand)
        match call.function:
            case NumericFunction.ROUND | NumericFunction.TRUNC:
                after = max(0, call.digits)  # zeros that are asked for are digits
            case NumericFunction.FLOOR | NumericFunction.CEIL | NumericFunction.SIGN:
                after = 0
            case NumericFunction.ABS | NumericFunction.NEGATE:
                after = operand.size.after
            case _:
                assert_never(call.function)
        is_raw = operand.size.is_raw and call.function in _KEEPS_DIGITS
        size = ResultSize(operand.size.before + 1, after, is_raw=is_raw)
        own = 2 * _CAST + operand.size.digits + 2 * operand.size.unpacked
        if call.halves_are_even:  # with a remainder and a CASE of the operand written again
            own += 6 * _CAST + multiply_nanoseconds(operand.size.factor + 20, 20)
            return _sum("round()", own, size, (operand, operand))
        return _sum(f"{call.function.value}()", own, size, (operand,))

    def _real_call(self, call: RealCall) -> NodePrice:
        operand = self._numeric(call.operand)
        constant = None if call.constant is None else Constant(call.constant, SqlType.NUMERIC)
        over, under = _result_digits(call, operand.size)
        digits = (
            operand.size.factor + over + (0 if constant is None else constant_size(constant).digits)
        )
        logarithm, exponential = _logarithm_nanoseconds(digits), _exponential_nanoseconds(digits)
        match call.function:
            case RealFunction.SQRT:
                own = 500.0 + 40 * digits + digits**2 / 20
            case RealFunction.LN:
                own = logarithm
            case RealFunction.LOG:
                own = 2 * logarithm
            case RealFunction.EXP:
                own = exponential
            case RealFunction.POWER | RealFunction.RAISED:
                own = 1.3 * (logarithm + exponential)
            case _:
                assert_never(call.function)
        size = ResultSize(over + 1, min(_REAL_AFTER, max(operand.size.after, under) + 20))
        written = "power()" if call.function is RealFunction.RAISED else f"{call.function.value}()"
        return _sum(written, own, size, (operand,), digits)

    def _cast(self, cast: Cast) -> NodePrice:
        operand = self.of(cast.operand)
        own = 4 * _CAST + 3 * operand.size.digits + operand.size.octets + _TIME * cast.type.is_time
        if cast.type.is_text:
            size = ResultSize(1, 0, operand.size.digits + operand.size.octets + 32)
        else:
            size = operand.size if cast.type.is_number else type_size(cast.type, self.text_octets)
        return _sum("a cast", own, size, (operand,))


def is_hashed_list(listed: In) -> bool:
    """Say whether PostgreSQL hashes the items of a list: if both sides have one hash function, and no item is
    cast for each row (PostgreSQL 18, convert_saop_to_hashed_saop_walker).

    A column of integers meets items of its own type, if it can hold all of them, else those of a larger one.

    >>> column = ColumnRef("n", SqlType.INT4, None, "r1")
    >>> lists = [tuple(Constant(Fraction(one), SqlType.INT8) for one in (1, end)) for end in (2, 2**31)]
    >>> [is_hashed_list(In(column, one)) for one in lists]
    [True, False]
    """
    operand, kind = listed.operand, listed.operand.type
    if kind is None or kind.is_time:
        return all(one.type is kind for one in listed.items)
    if not isinstance(operand, ColumnRef) or kind not in (*_INTEGER_ENDS, SqlType.FLOAT4):
        return True
    if kind is SqlType.FLOAT4:  # it meets double precision
        return False
    end = _INTEGER_ENDS[kind]
    values = [one.value if isinstance(one, Constant) else "" for one in listed.items]
    return all(one is None or (isinstance(one, Fraction) and -end <= one < end) for one in values)


def _sum(
    written: str,
    own: float,
    size: ResultSize,
    operands: tuple[NodePrice, ...],
    digits: int | None = None,
) -> NodePrice:
    """A node over what its operands cost. written: empty of one that no analyst has written."""
    total, dearest = own, NO_NODE
    if written:
        dearest = Dearest(own, written, size.digits if digits is None else digits)
    leaves, nodes, once = NO_COLUMNS, 1, 0.0
    for one in operands:
        total += one.nanoseconds
        nodes += one.nodes
        once += one.once
        leaves = one.leaves if not leaves else leaves | one.leaves if one.leaves else leaves
        dearest = dearest.or_dearer(one.dearest)
    return NodePrice(total, size, leaves, dearest, nodes, once)


def _result_digits(call: RealCall, operand: ResultSize) -> tuple[int, int]:
    """Digits before the point of the largest result, and zeros after the point of the smallest: what is
    computed in between has as many."""
    over, under = _powers_of_ten(call.operand, operand)
    match call.function:
        case RealFunction.LN | RealFunction.LOG:
            return 6, 20
        case RealFunction.SQRT:
            return over // 2 + 1, under // 2 + 1
        case RealFunction.EXP:
            low, high = _interval(call.operand)
            return _within(high / _TENFOLD), _within(-low / _TENFOLD)
        case RealFunction.POWER:
            exponent = call.constant or Fraction(0)
            above, below = (over, under) if exponent >= 0 else (under, over)
            return _within(above * abs(exponent)), _within(below * abs(exponent))
        case RealFunction.RAISED:
            low, high = _interval(call.operand)
            base = math.log10(call.constant) if call.constant else 0.0
            ends = (base * float(low), base * float(high))
            return _within(max(ends)), _within(-min(ends))
        case _:
            assert_never(call.function)


def _within(digits: float | Fraction) -> int:
    """Nothing above e^3,000 is computed (number_totality)."""
    return max(1, min(_LARGEST_POWER, math.ceil(digits) + 1))


def _interval(operand: Expression) -> tuple[Fraction, Fraction]:
    """What the planner has cut an operand to."""
    if isinstance(operand, Clamped):
        return operand.low, operand.high
    return Fraction(-10 * _LARGEST_POWER), Fraction(10 * _LARGEST_POWER)


def _powers_of_ten(operand: Expression, size: ResultSize) -> tuple[int, int]:
    """Digits before the point of the largest value, zeros after it of the smallest that is not 0."""
    if not isinstance(operand, Clamped):
        return size.before, size.after
    over = max(_decimal_power(abs(operand.low)), _decimal_power(abs(operand.high)))
    under = 1 - _decimal_power(operand.low) if operand.low > 0 else size.after
    return max(0, over), under


def _decimal_power(value: Fraction) -> int:
    """
    >>> _decimal_power(Fraction(999)), _decimal_power(Fraction(1, 100))
    (3, -1)
    """
    if value == 0:
        return -_LARGEST_POWER
    return math.ceil(math.log10(value.numerator) - math.log10(value.denominator) + 1e-9)


_KEEPS_DIGITS = (NumericFunction.ABS, NumericFunction.NEGATE)
_EACH_OCTET = {
    TextFunction.LENGTH: 4,
    TextFunction.LEFT: 1.5,
    TextFunction.RIGHT: 4,
    TextFunction.SUBSTR: 4,
    TextFunction.STRPOS: 3,
    TextFunction.STARTS_WITH: 1,
    TextFunction.INITCAP: 40,  # ICU looks for words of Chinese in a dictionary
    TextFunction.REVERSE: 8,
}
_TRIMS = (TextFunction.BTRIM, TextFunction.LTRIM, TextFunction.RTRIM)


def _each_octet(call: TextCall) -> float:
    given = sum(constant_size(one).octets for one in call.arguments)
    each = float(_EACH_OCTET.get(call.function, 8))
    if call.function in _TRIMS:
        return each + 4 * given
    if call.function in (TextFunction.SPLIT_PART, TextFunction.REPLACE, TextFunction.STRPOS):
        return each + given
    return each


def _text_size(call: TextCall, octets: int) -> ResultSize:
    match call.function:
        case TextFunction.LPAD | TextFunction.RPAD:
            return ResultSize(1, 0, octets + _CHARACTER * limits.PADDED_CHARACTERS)
        case TextFunction.LEFT | TextFunction.RIGHT:
            most = call.arguments[0].value if isinstance(call.arguments[0], Constant) else None
            kept = octets if not isinstance(most, Fraction) or most < 0 else _CHARACTER * int(most)
            return ResultSize(1, 0, min(octets, kept))
        case TextFunction.REPLACE:
            taken, put = (constant_size(one).octets for one in call.arguments[:2])
            return ResultSize(1, 0, octets * max(1, -(-put // max(1, taken))))
        case _:
            return ResultSize(1, 0, octets)
