"""What keys are where their parts have given values, as PostgreSQL says: the shadow is asked (ADR 0109).

Claim: the groups of an answer are public. A question holds expressions of the statement, and values that the
policy lists or that follow from its bounds: nothing of a row. So what is asked, and whether, depends on policy,
catalogue and statement alone. So does the answer: the database that is asked has no rows, the statement reads
no table, and of what an allow-list lets into an expression nothing is volatile.
A wrong answer names groups that no row is in, or leaves out some: what is counted in a group, and its noise, do
not depend on it, and the kernel checks the plan with whatever groups it has.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from proxy.base.sql_types import SqlType
from proxy.query.ir.expression_walk import children, size
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choice,
    Choose,
    ColumnRef,
    Comparator,
    Comparison,
    Concat,
    Connective,
    Constant,
    Expression,
    Extract,
    In,
    Is,
    Like,
    Not,
    NullIf,
    NumericCall,
    Quotient,
    TextCall,
)
from proxy.query.ir.rebuilding import rebuild

Texts = tuple[str | None, ...]

DOMAIN = "d"  # the relation whose columns p0, p1, ... are the parts


@dataclass(frozen=True, slots=True)
class LabelQuestion:
    """What some expressions are, as texts, for each of some rows.

    Attributes:
        expressions: Of columns of DOMAIN.
        kinds: Of these columns.
        rows: Texts of these columns, as texts.
    """

    expressions: tuple[Expression, ...]
    kinds: tuple[SqlType, ...]
    rows: tuple[Texts, ...]


# The texts, in the order of the rows. None: PostgreSQL raises an error of some row.
EvaluatingKeys = Callable[[LabelQuestion], tuple[Texts, ...] | None]


def asked(
    expressions: Sequence[Expression],
    parts: Sequence[Expression],
    rows: Sequence[Texts],
    evaluating: EvaluatingKeys,
) -> list[Texts] | None:
    """Ask what expressions are where their parts have the values of each row.

    Args:
        expressions: In which parts stand for columns.
        parts: With as many values in each row, as texts.
        rows: Of values.
        evaluating: Who is asked.

    Returns:
        Their texts for each row. None: that is not known, or not the same on each server.
    """
    kinds = tuple(map(_kind, parts))
    columns = {
        part: ColumnRef(f"p{number}", kind, None, DOMAIN)
        for number, (part, kind) in enumerate(zip(parts, kinds, strict=True))
    }
    places = {part: number for number, part in enumerate(parts)}
    made = [_of_columns(one, columns) for one in expressions if one not in places]
    if not all(map(_is_settled, made)):
        return None
    found: Sequence[Texts] | None = [()] * len(rows)
    if made and rows:
        found = evaluating(LabelQuestion(tuple(made), kinds, tuple(rows)))
    if found is None:
        return None
    rest = count(len(parts))
    of_both = [places[one] if one in places else next(rest) for one in expressions]
    texts = ((*row, *made_of) for row, made_of in zip(rows, found, strict=True))
    return [tuple(both[place] for place in of_both) for both in texts]


def _kind(part: Expression) -> SqlType:
    """Numbers that are computed are numeric in the compiled statement, whatever they are called: a float would
    keep 15 digits of them."""
    kind = part.type or SqlType.TEXT
    is_computed = isinstance(part, Arithmetic | Bucket | Extract | NumericCall | Quotient)
    return SqlType.NUMERIC if is_computed and kind.is_float else kind


def _of_columns(expression: Expression, columns: Mapping[Expression, ColumnRef]) -> Expression:
    """The largest parts first, so that none is looked for within another. A constant stays what it is: it can
    stand where no column may, in a list or as a pattern."""
    computed = (part for part in columns if not isinstance(part, Constant))
    for part in sorted(computed, key=size, reverse=True):
        expression = rebuild(expression, partial(_put, {part: columns[part]}))
    return expression


def _put(columns: Mapping[Expression, ColumnRef], part: Expression) -> Expression:
    return columns.get(part, part)


_MADE = (Arithmetic, Bucket, Case, Concat, Connective, In, Is, Like, Not, NullIf, TextCall)
_SAME = (Comparator.EQ, Comparator.NE, Comparator.DISTINCT, Comparator.NOT_DISTINCT)


_SAME_DIGITS = 6  # of a quotient, which has sixteen at the least


def _is_settled(expression: Expression) -> bool:
    """Whether it is the same on each server and for equal values, and as the compiled statement has it."""
    match expression:
        case ColumnRef(relation=relation):
            return relation == DOMAIN
        case Constant():
            return True
        case NumericCall(operand=Quotient() as ratio, digits=digits) if digits <= _SAME_DIGITS:
            return all(map(_is_settled, children(ratio)))
        case Quotient():
            # With how many digits it prints depends on how both numbers are stored.
            is_whole = expression.remainder or expression.type.is_integer
            return is_whole and all(map(_is_settled, children(expression)))
        case Comparison(comparator=how, left=left, right=right):
            is_ordered = how in _SAME or not (_is_text(left) or _is_text(right))
            return is_ordered and _is_settled(left) and _is_settled(right)
        case Choose(choice=choice, operands=operands):
            is_ordered = choice is Choice.COALESCE or not any(map(_is_text, operands))
            return is_ordered and all(map(_is_settled, operands))
        case Cast(operand=operand, type=kind):
            return _is_settled_cast(operand.type, kind) and _is_settled(operand)
        case NumericCall():
            return _is_settled(expression.operand)
        case Extract(field="epoch"):
            return _is_settled(expression.operand)
        case _:
            return isinstance(expression, _MADE) and all(map(_is_settled, children(expression)))


def _is_text(part: Expression) -> bool:
    """Whether its order is that of a collation."""
    return part.type is not None and part.type.is_text


def _is_settled_cast(source: SqlType | None, kind: SqlType) -> bool:
    if source is None or kind.is_text or (source.is_number and kind.is_number):
        return True
    if source is SqlType.BOOL:
        return kind is SqlType.INT4
    return source.is_text and (kind.is_integer or kind is SqlType.DATE)


# --- How much is computed to find out which groups a statement's rows can be in, by all of its queries
# together, and who is asked what their keys are.
#
# What is left out for want of it is a condition that does not narrow keys: groups are answered that no row
# is in. So the time of planning is bounded, and depends on the statement alone.


WORK = 300_000  # of nodes evaluated for one condition: some tenths of a second
WORK_TOGETHER = 1_000_000  # of one statement: it may have 64 queries, and each of them 16 keys


@dataclass(slots=True, eq=False)
class LabelWork:
    """Evaluates the labels of one statement's keys, and bounds the work of all its queries together.

    Attributes:
        evaluating: Who is asked what keys are. None: nobody.
        left: Nodes that may still be evaluated. None: No statement is planned, so only WORK bounds a condition.
        made: Texts that were made once.
    """

    evaluating: EvaluatingKeys | None = None
    left: int | None = None
    made: dict[Hashable, Texts | None] = field(default_factory=dict)

    @classmethod
    def of_statement(cls, evaluating: EvaluatingKeys | None) -> LabelWork:
        """Begin the work of a statement."""
        return cls(evaluating, WORK_TOGETHER)

    def end(self) -> None:
        """Ask nobody from now on, and keep no texts: the plan may be kept for long."""
        self.evaluating, self.left = None, None
        self.made.clear()

    def allowed(self, nodes: int) -> bool:
        """Whether so many nodes may be evaluated, which they then are."""
        if nodes > WORK or (self.left is not None and nodes > self.left):
            return False
        if self.left is not None:
            self.left -= nodes
        return True

    def evaluated(
        self, expressions: Sequence[Expression], parts: Sequence[Expression], rows: Sequence[Texts]
    ) -> list[Texts] | None:
        """As `asked`, of the one who is asked for the statement."""
        return None if self.evaluating is None else asked(expressions, parts, rows, self.evaluating)

    def made_once(self, of: Hashable, make: Callable[[], Texts | None]) -> Texts | None:
        """Make texts that depend on `of` alone once for the statement."""
        if self.left is None:
            return make()
        if of not in self.made:
            self.made[of] = make()
        return self.made[of]


NO_STATEMENT = LabelWork()
