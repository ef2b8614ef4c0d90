"""The reader of canonical text beside the reader of the client's own: what they make of one statement.

Two typed queries are equal if they are equal but for names of relations, places in the text, and forms that
mean the same: one constant in a list, negated comparisons, texts of equal instants, types of constants.
Columns of the result, the clauses that leave out groups, and lists that are cut are compared, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any

import psycopg

from proxy.base import sql_types
from proxy.base.errors import Refusal
from proxy.base.instants import seconds_of
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.engine.sessions import PostgresError
from proxy.query.canonical.presented import presented
from proxy.query.canonical.statement import read_canonical
from proxy.query.canonical.values import is_widening
from proxy.query.ir.exposed import Exposed
from proxy.query.ir.expressions import (
    Comparator,
    Comparison,
    Connective,
    Constant,
    Expression,
    In,
    Not,
    NumericCall,
    NumericFunction,
    Parameter,
)
from proxy.query.ir.noisy_expressions import NoisyCast
from proxy.query.ir.query import AggregateBlock, changed
from proxy.query.ir.rebuilding import rebuild
from proxy.query.syntax.placeholders import ClientArray
from proxy.shadow.canonical_text import canonical_statement

_EXPLAIN = re.compile(r"^\s*EXPLAIN\s*(\([^)]*\))?\s*(ANALYZE\s+|VERBOSE\s+)*", re.IGNORECASE)
_POSITION = re.compile(r"position=(\d+|None)(, )?|written=\(.*?\)\)(, )?|written=\(\)(, )?")
_ALIAS = re.compile(r"'((?:dp_)?r\d+)'")
_NEGATED = {
    Comparator.EQ: Comparator.NE,
    Comparator.DISTINCT: Comparator.NOT_DISTINCT,
}
_OIDS = {kind: oid for oid, kind in sql_types._OF_COLUMNS.items() if oid != 1015}
_OIDS |= {SqlType.INTERVAL: 1186, SqlType.OTHER: 114}


class Outcome(Enum):
    EQUAL = "equal"
    DIFFERENT = "different"
    REFUSED = "refused by the reader of canonical text"
    ACCEPTED = "refused by today's reader alone"
    BOTH_REFUSE = "refused by both"
    NO_TEXT = "without canonical text"
    NOTHING = "asks of nothing protected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """ours, theirs: What differs, of canonical text first."""

    outcome: Outcome
    text: str = ""
    ours: str = ""
    theirs: str = ""

    def shown(self) -> str:
        pairs = zip(self.ours, self.theirs, strict=False)
        place = next((n for n, (one, other) in enumerate(pairs) if one != other), 0)
        first = max(0, place - 60)
        return (
            f"{self.outcome.value}\n{self.text[:600]}\n  canonical {self.ours[first : place + 160]}\n"
            f"  today     {self.theirs[first : place + 160]}"
        )


def oids_of(types: Sequence[SqlType]) -> list[int]:
    return [kind.oid if kind.oid > 0 else _OIDS[kind] for kind in types]


Today = Callable[[], Sequence[AggregateBlock] | None]


def compare(
    connection: psycopg.Connection,
    statement: str,
    types: Sequence[SqlType],
    tables: Mapping[TableName, Exposed],
    today: Today,
) -> Verdict:
    """
    Args:
        connection: To the shadow, as an analyst.
        today: What today's reader makes of the statement. None: nothing protected.
    """
    refusal = None
    blocks: Sequence[AggregateBlock] | None = None
    try:
        blocks = today()
    except Refusal as raised:
        refusal = raised
    if refusal is None and not blocks:
        return Verdict(outcome=Outcome.NOTHING)
    inner = _EXPLAIN.sub("", statement.rstrip("; \n"))
    oids = oids_of(types)
    try:
        written = canonical_statement(connection, inner, oids)
    except (PostgresError, Refusal) as error:
        return Verdict(outcome=Outcome.NO_TEXT, text=error.message)

    def canonical() -> Sequence[AggregateBlock]:
        reading = read_canonical(written.text, tables, tuple(types))
        return presented(reading, [column.name for column in written.columns]).blocks

    return judged(written.text, canonical, blocks, refusal)


def judged(
    text: str,
    canonical: Callable[[], Sequence[AggregateBlock]],
    blocks: Sequence[AggregateBlock] | None,
    refusal: Refusal | None,
) -> Verdict:
    """
    Args:
        canonical: What the reader of canonical text makes of it.
        blocks, refusal: What today's reader makes of the client's own.
    """
    try:
        ours = canonical()
    except Refusal as found:
        outcome = Outcome.REFUSED if refusal is None else Outcome.BOTH_REFUSE
        return Verdict(outcome=outcome, text=text, ours=found.message)
    if blocks is None:
        message = "" if refusal is None else refusal.message
        outcome = Outcome.ACCEPTED if ours else Outcome.BOTH_REFUSE
        return Verdict(outcome=outcome, text=text, theirs=message)
    left, right = ("".join(sorted(map(normal, some))) for some in (ours, blocks))
    is_equal = left == right and len(ours) == len(blocks)
    return Verdict(
        outcome=Outcome.EQUAL if is_equal else Outcome.DIFFERENT,
        text=text,
        ours=f"{len(ours)} {left}",
        theirs=f"{len(blocks)} {right}",
    )


def normal(block: AggregateBlock) -> str:
    """The text of a block, equal for blocks that ask the same."""
    found = changed(block, lambda part: rebuild(part, _normal))
    found = _without_casts(replace(found, compared_keys=()))
    text = _POSITION.sub("", repr(found)).replace(", )", ")")
    names: dict[str, str] = {}
    return _ALIAS.sub(lambda match: names.setdefault(match[1], f"'a{len(names)}'"), text)


def _without_casts(part: Any) -> Any:
    """Without casts of answers that change no number: they decide the type of what is around alone."""
    if isinstance(part, tuple):
        return tuple(map(_without_casts, part))
    if not is_dataclass(part) or isinstance(part, type | Expression):
        return part
    changed = {
        one.name: _without_casts(getattr(part, one.name)) for one in fields(part) if one.init
    }
    found = replace(part, **changed)
    if isinstance(found, NoisyCast) and found.digits is None:
        kinds = found.operand.type, found.type
        if kinds[0] is kinds[1] or is_widening(*kinds):
            return found.operand
    return found


def _normal(part: Expression) -> Expression:
    match part:
        case Connective(word=word, operands=operands):
            flat: list[Expression] = []
            for one in operands:
                is_same = isinstance(one, Connective) and one.word == word
                flat += one.operands if is_same and isinstance(one, Connective) else (one,)
            return replace(part, operands=tuple(flat))
        case In(operand=operand, items=(item,)) if not _is_array(item):
            return Comparison(Comparator.EQ, operand, item)
        case Not(operand=Comparison(comparator=comparator) as inner) if comparator in _NEGATED:
            return replace(inner, comparator=_NEGATED[comparator])
        case Constant(value=str() as text, type=SqlType.TIMESTAMP | SqlType.TIMESTAMPTZ as kind):
            at = seconds_of(text, is_local=kind is SqlType.TIMESTAMP)
            return part if at is None else replace(part, value=str(at))
        case Constant(type=SqlType() as kind) if kind.is_number or kind.is_text:
            return replace(part, type=None)
        case Parameter(type=kind) if kind.is_number:
            return replace(part, type=SqlType.NUMERIC)
        case NumericCall(
            function=NumericFunction.NEGATE, operand=Constant(value=Fraction() as value)
        ):
            return Constant(-value, None)
        case _:
            return part


def _is_array(item: Constant | Parameter) -> bool:
    return isinstance(item, Parameter) and isinstance(item.source, ClientArray)
