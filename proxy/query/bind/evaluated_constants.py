"""What the shadow evaluates in a statement: where it stands, its number and its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from typing_extensions import assert_never

from proxy.base.sql_types import SqlType, by_oid, element_of
from proxy.query.bind.scope import ConstantType
from proxy.query.ir.expressions import Expression, Given, Parameter
from proxy.query.ir.query import AggregateBlock, changed
from proxy.query.ir.rebuilding import rebuild, with_parts
from proxy.query.syntax.constant_spans import ConstantSpan
from proxy.query.syntax.placeholder_tokens import EvaluatedConstant
from proxy.query.syntax.placeholders import CastParameter, ClientParameter, WrittenText


@dataclass(frozen=True, slots=True)
class Evaluated:
    """placeholders: by first lexeme; types, texts, slots: by number, those after the client's parameters, slots
    only where a ConstantSpan has some."""

    placeholders: Mapping[int, EvaluatedConstant] = field(default_factory=dict)
    types: Mapping[int, ConstantType] = field(default_factory=dict)
    texts: Mapping[int, str] = field(default_factory=dict)
    slots: Mapping[int, tuple[tuple[int, str], ...]] = field(default_factory=dict)


_INTERVALS = {1186: SqlType.INTERVAL}  # which columns of that type are not
# As proxy.base.written_spans has it: the same in every IntervalStyle.
# Of infinite ones, which have no such parts, as PostgreSQL prints them: they are not read.
_INTERVAL = (
    "pg_catalog.to_jsonb(coalesce('P' || (extract(year FROM v) * 12 + extract(month FROM v)) || 'M'"
    " || extract(day FROM v) || 'DT' || (extract(hour FROM v) * 3600 + extract(minute FROM v) * 60"
    " + extract(second FROM v)) || 'S', v::pg_catalog.text))"
)
_INTERVAL_TEXT = f"(SELECT {_INTERVAL} FROM (SELECT ({{text}})::pg_catalog.interval AS v) AS s)"  # noqa: S608
_INTERVALS_TEXT = (
    "(SELECT CASE WHEN a IS NOT NULL THEN coalesce("  # noqa: S608
    f"(SELECT pg_catalog.jsonb_agg({_INTERVAL}) FROM pg_catalog.unnest(a) AS u(v)), '[]'::pg_catalog.jsonb) END"
    " FROM (SELECT ({text})::pg_catalog.interval[] AS a) AS s)"
)
NOTHING_EVALUATED = Evaluated()


def evaluated(spans: Sequence[ConstantSpan], oids: Sequence[int], parameters: int) -> Evaluated:
    """
    Given    oids: the type of each span's expression; parameters: how many the client's statement has
    Gives    those of types that questions can use; others are left to the reader, which refuses them. Equal
             texts are one constant, so that equal aggregates stay one
    """
    numbers: dict[tuple[str, bool], int] = {}
    placeholders: dict[int, EvaluatedConstant] = {}
    types: dict[int, ConstantType] = {}
    texts: dict[int, str] = {}
    slots: dict[int, tuple[tuple[int, str], ...]] = {}
    for span, oid in zip(spans, oids, strict=True):
        kind = element_of(oid) if span.is_list else _INTERVALS.get(oid, by_oid(oid))
        if kind is SqlType.OTHER:
            continue
        number = numbers.setdefault((span.text, span.is_list), parameters + len(types) + 1)
        placeholders[span.span[0]] = EvaluatedConstant(number, span.span[1])
        types[number] = ConstantType(kind, span.is_list)
        texts[number] = span.text
        if span.slots:
            slots[number] = span.slots
    return Evaluated(placeholders, types, texts, slots)


def with_written_texts(
    blocks: Sequence[AggregateBlock], found: Evaluated, parameters: int
) -> tuple[tuple[AggregateBlock, ...], Evaluated]:
    """Number the literals, and the texts of parameters, that PostgreSQL reads after what it evaluates.

    Args:
        parameters: How many the client's statement has.

    Returns:
        The blocks with a parameter in the place of each of them, equal ones the same, and what there is to
        evaluate now.
    """
    numbers: dict[WrittenText | CastParameter, int] = {}

    def number_of(text: WrittenText | CastParameter) -> ClientParameter:
        number = parameters + len(found.types) + len(numbers) + 1
        return ClientParameter(numbers.setdefault(text, number))

    def numbered(part: Expression) -> Expression:
        if isinstance(part, Parameter):
            text = part.source
            if isinstance(text, WrittenText | CastParameter):
                return replace(part, source=number_of(text))
            return part
        given: Given = getattr(part, "given", ())
        if not any(isinstance(source, WrittenText) for _, source in given):
            return part
        return with_parts(
            part,
            given=tuple(
                (name, number_of(source) if isinstance(source, WrittenText) else source)
                for name, source in given
            ),
        )

    read = tuple(changed(block, lambda part: rebuild(part, numbered)) for block in blocks)
    if not numbers:
        return tuple(blocks), found
    types = {number: ConstantType(text.type, False) for text, number in numbers.items()}
    texts = {number: _sql(text) for text, number in numbers.items()}
    return read, replace(found, types={**found.types, **types}, texts={**found.texts, **texts})


def _sql(text: WrittenText | CastParameter) -> str:
    match text:
        case WrittenText(text=written):
            return "'" + written.replace("'", "''") + "'"
        case CastParameter(number=number):
            return f"${number}"
        case _:
            assert_never(text)


@dataclass(frozen=True, slots=True)
class EvaluatedText:
    """What the shadow evaluates of a constant.

    Attributes:
        sql: A text: JSON of a value of the type, or of an array of them. With slots it is a JSON object. This
            has that text under the seconds of each slot, the exact one under `EXACT`, and the present under
            `INSTANT` and `CLOCK`.
        slots: Seconds of each slot to which the present in it can be rounded down.
    """

    sql: str
    type: SqlType
    slots: tuple[int, ...] = ()


EXACT, INSTANT, CLOCK = "exact", "instant", "clock"


# By whichever name a type is known in the session, the value is one of PostgreSQL's own.
_CASTS: Mapping[SqlType, str] = {
    SqlType.BOOL: "bool",
    SqlType.INT2: "int2",
    SqlType.INT4: "int4",
    SqlType.INT8: "int8",
    SqlType.NUMERIC: "numeric",
    SqlType.FLOAT4: "float4",
    SqlType.FLOAT8: "float8",
    SqlType.TEXT: "text",
    SqlType.VARCHAR: "varchar",
    SqlType.BPCHAR: "bpchar",
    SqlType.DATE: "date",
    SqlType.TIMESTAMP: "timestamp",
    SqlType.TIMESTAMPTZ: "timestamptz",
    SqlType.UUID: "uuid",
    SqlType.INTERVAL: "interval",
    SqlType.TIME_OF_DAY: "time",
}


def evaluated_texts(found: Evaluated, used: frozenset[int]) -> tuple[EvaluatedText, ...]:
    """
    Given    used: numbers of what the statement's query reads; nothing else of it is evaluated
    Gives    in the order of their numbers, none where none is used
    """
    if used.isdisjoint(found.types):
        return ()
    texts: list[EvaluatedText] = []
    for number, (kind, is_list) in found.types.items():
        name = _CASTS[kind] + ("[]" if is_list else "")
        if number not in used:
            texts.append(EvaluatedText("NULL::pg_catalog.text", kind))
            continue
        value = _json(found.texts[number], kind, name)
        slots = found.slots.get(number, ())
        if slots:
            value = _of_slots(value, {seconds: _json(text, kind, name) for seconds, text in slots})
        seconds = tuple(each for each, _ in slots)
        texts.append(EvaluatedText(f"{value}::pg_catalog.text", kind, seconds))
    return tuple(texts)


def _json(text: str, kind: SqlType, name: str) -> str:
    if kind is SqlType.INTERVAL:
        return (_INTERVALS_TEXT if name.endswith("[]") else _INTERVAL_TEXT).format(text=text)
    return f"pg_catalog.to_jsonb(({text})::pg_catalog.{name})"


def _of_slots(exact: str, slots: Mapping[int, str]) -> str:
    """Texts, as a number of JSON would lose its form."""
    values = {
        EXACT: f"{exact}::pg_catalog.text",
        INSTANT: "pg_catalog.to_jsonb(pg_catalog.now())",
        CLOCK: "pg_catalog.to_jsonb(pg_catalog.now()::pg_catalog.timestamp)",
        **{str(seconds): f"{value}::pg_catalog.text" for seconds, value in slots.items()},
    }
    pairs = ", ".join(f"'{name}', {value}" for name, value in values.items())
    return f"pg_catalog.jsonb_build_object({pairs})"
