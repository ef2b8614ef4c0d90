"""Parameter values, as the shadow printed them in JSON, to typed constants."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import Constant
from proxy.query.ir.typing_rules import constant, held, is_value_of
from proxy.query.ir.written_numbers import NOT_FINITE, number

# A time before the year 1 or after 9999, as PostgreSQL prints it in JSON.
_BEYOND = re.compile(
    r"[0-9]{5,7}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]{8,15}(?:[+-][0-9:]{2,8})?)?"
    r"|[0-9]{4,7}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]{8,15}(?:[+-][0-9:]{2,8})?)? BC"
)


def constants(
    arguments: Sequence[str | None], types: Sequence[SqlType]
) -> dict[int, Constant | tuple[Constant, ...]]:
    """Number -> constant, for every parameter of a type that questions can use; others stay unbound.

    Given    JSON text of each value (to_jsonb on the shadow), None for NULL; an array of them where the shadow
             has evaluated one
    Refuses  SYNTAX: not as many values as parameters; UNSUPPORTED, TOO_COMPLEX: values that cannot be used
    """
    if len(arguments) != len(types):
        raise Refusal(
            Code.SYNTAX,
            f"the statement has {len(types)} parameters, but {len(arguments)} values were given",
            "Pass one value for each of $1, $2, ...",
        )
    return {
        index: _read(text, kind)
        for index, (text, kind) in enumerate(zip(arguments, types, strict=True), start=1)
        if kind is not SqlType.OTHER
    }


def refuse_offsets(arguments: Sequence[str | None], offsets: Collection[int]) -> None:
    """Refuse an OFFSET below an aggregate that skips rows: which they are would be the data's.

    Args:
        arguments: As of `constants`.
        offsets: Numbers of the parameters.

    >>> refuse_offsets(("0", None, "5"), {1, 2})
    """
    if any(arguments[number - 1] not in (None, "null", "0") for number in offsets):
        raise Refusal(
            Code.UNSUPPORTED,
            "OFFSET is not available below an aggregate on a protected table",
            "Pass 0, which skips no row.",
        )


def _read(text: str | None, kind: SqlType) -> Constant | tuple[Constant, ...]:
    # Numbers are kept as their text: a JSON number of PostgreSQL is exact, a Python float is not.
    value: Any = None if text is None else json.loads(text, parse_float=str, parse_int=str)
    if isinstance(value, list):
        return tuple(_constant(element, kind) for element in value)
    return _constant(value, kind)


def _constant(value: Any, kind: SqlType) -> Constant:
    if value is None:
        return Constant(None, kind)
    if isinstance(value, bool) and kind is SqlType.BOOL:
        return Constant(value, kind)
    if not isinstance(value, str):
        raise Refusal(
            Code.UNSUPPORTED, "this parameter cannot be used here", "Pass a single value."
        )
    if (kind.is_number and value in NOT_FINITE) or (kind.is_time and _BEYOND.fullmatch(value)):
        return Constant(value, kind)
    if kind.is_number:
        exact = number(value)
        if exact is None or (kind.is_integer and not is_value_of(exact, kind)):
            raise Refusal(
                Code.UNSUPPORTED, "this parameter is not a number", "Pass a number in digits."
            )
        return Constant(held(exact, kind), kind)
    return constant(value, kind, None)
