"""How many rows of one unit each relation of a plan forms, from the tables up.

Claim: in a relation one unit has at most so many rows as are counted here, or, where neighbours differ in
rows, so many of them change. Argument: what the attribution of the relation bounds (rows that change, a unit
of one row) it bounds here; what it need not bound, rows of a unit that is gathered later, is counted by the
rules of PROOFS.md 19 J2."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import assert_never

from proxy.kernel.join_rules import computed_equal, equal_pairs, met_once, on_one_unit
from proxy.kernel.owners import ColumnName, Known, OfUnit, Owner, Public, Rows, name
from proxy.kernel.row_numbers import one_number
from proxy.query.ir.expressions import Expression
from proxy.query.ir.relations import Join, Truncate


class UnboundedRows(Exception):
    """Rows of one unit multiply without a bound."""


@dataclass(frozen=True, slots=True)
class RowCount:
    """At most `bounded` rows, and `stored` for each row that the unit stores.

    >>> RowCount(3).times(RowCount(0, 2))
    RowCount(bounded=0, stored=6)
    """

    bounded: int
    stored: int = 0

    def plus(self, other: RowCount) -> RowCount:
        return RowCount(self.bounded + other.bounded, self.stored + other.stored)

    def times(self, other: RowCount) -> RowCount:
        """Rows of one side with rows of the other.

        Raises:
            UnboundedRows: Both grow with what is stored.
        """
        if self.stored and other.stored:
            raise UnboundedRows
        return RowCount(
            self.bounded * other.bounded,
            self.stored * other.bounded + self.bounded * other.stored,
        )


NO_ROWS, ONE_ROW, AS_STORED = RowCount(0), RowCount(1), RowCount(0, 1)


@dataclass(frozen=True, slots=True)
class Formed:
    """A relation: what is known of it, and how many rows of a unit it forms."""

    known: Known
    rows: RowCount


def bounded_by(owner: Owner, otherwise: RowCount) -> RowCount:
    """Count the rows of one unit by its attribution.

    Args:
        owner: Of the relation.
        otherwise: A count that holds as well, where the attribution bounds nothing.

    >>> bounded_by(Rows(changed=3), AS_STORED)
    RowCount(bounded=3, stored=0)
    """
    match owner:
        case Public():
            return NO_ROWS
        case Rows():
            return RowCount(owner.changed)
        case OfUnit(alone=True):
            return ONE_ROW
        case OfUnit(rows=Rows() as few):
            return RowCount(few.changed)
        case OfUnit():
            return otherwise
        case _:
            assert_never(owner)


def passing(where: Expression | None, formed: Formed) -> RowCount:
    """Count the rows of one unit that pass a condition: one, if it asks for one number of numbered rows."""
    owner = formed.known.owner
    if isinstance(owner, OfUnit) and one_number(where, owner.numbered):
        return ONE_ROW
    return formed.rows


def kept(truncate: Truncate, known: Known, source: Formed) -> RowCount:
    """Count what a cut keeps of one unit."""
    owner = source.known.owner
    is_by_unit = (
        isinstance(owner, OfUnit) and truncate.by is not None and name(truncate.by) in owner.columns
    )
    otherwise = RowCount(truncate.most or 1) if is_by_unit else source.rows
    return bounded_by(known.owner, otherwise)


def joined(join: Join, known: Known, left: Formed, right: Formed) -> Formed:
    """Count the joined rows of one unit.

    With a public table a row has as many partners as a key or a cut allows. Of one unit each row meets each,
    or the one that its key names; a row without partner takes the place of a pair.

    Raises:
        UnboundedRows: Partners without a bound.
    """
    rows = _joined_rows(join, known, left, right, _once(join, left, right))
    return Formed(known, rows)


def repeated(join: Join, left: Formed, right: Formed) -> tuple[bool, bool]:
    """Whether one row may stand in several joined rows of a unit: one of the left side, one of the right."""
    once_left, once_right = _once(join, left, right)
    return (
        not once_right and right.rows != ONE_ROW,
        not once_left and left.rows != ONE_ROW and right.rows != NO_ROWS,
    )


def _once(join: Join, left: Formed, right: Formed) -> tuple[bool, bool]:
    """Whether a row meets at most one of the left side, of the right side."""
    pairs = equal_pairs(join, left.known, right.known)
    once_right = met_once(
        right.known, {y for _, y in pairs} | computed_equal(join, left.known, right.known)
    )
    return met_once(left.known, {x for x, _ in pairs}), once_right


def _joined_rows(
    join: Join, known: Known, left: Formed, right: Formed, once: tuple[bool, bool]
) -> RowCount:
    once_left, once_right = once
    pairs = equal_pairs(join, left.known, right.known)
    match left.known.owner, right.known.owner:
        case OfUnit(), Public() as public:
            partners = 1 if once_right else _partners(public, [y for _, y in pairs])
            return bounded_by(known.owner, left.rows.times(RowCount(partners)))
        case Public() as public, OfUnit():
            partners = 1 if once_left else _partners(public, [x for x, _ in pairs])
            return bounded_by(known.owner, right.rows.times(RowCount(partners)))
        case OfUnit() as a, OfUnit() as b if on_one_unit(a, b, pairs):
            found = _of_one_unit(join, left.rows, right.rows, once_left, once_right)
            return bounded_by(known.owner, found)
        case _:
            if isinstance(known.owner, OfUnit):
                raise UnboundedRows
            return bounded_by(known.owner, NO_ROWS)


def _of_one_unit(
    join: Join, left: RowCount, right: RowCount, once_left: bool, once_right: bool
) -> RowCount:
    counts = []
    if once_right:
        counts.append(left)
    if once_left:
        counts.append(right.plus(left) if join.left_outer else right)
    if not (left.stored and right.stored):
        counts.append(left.times(right))
    if not counts:
        raise UnboundedRows
    return min(counts, key=lambda one: (one.stored, one.bounded))


def _partners(public: Public, compared: list[ColumnName]) -> int:
    """How many public rows a row meets at most."""
    found = min((most for column, most in public.most if column in compared), default=None)
    if found is None:
        raise UnboundedRows
    return found
