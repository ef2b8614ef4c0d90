"""Results as JSON and CSV. Numbers keep PostgreSQL's digits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from decimal import Decimal
from functools import partial
from typing import TypeVar

from typing_extensions import assert_never

from proxy.base.decimals import decimal_text
from proxy.base.sql_types import SqlType, by_oid
from proxy.engine.answer_lines import answer_lines
from proxy.engine.answer_origin import FRESH
from proxy.engine.noisy_answers import NoisyAnswer
from proxy.engine.sessions import ResultColumn, ResultRows
from proxy.pgwire.calls import Refuse
from proxy.servers.error_boundary import refuses
from proxy.servers.http.libpq_driver import QueryResult
from proxy.servers.http.request_reading import Format
from proxy.turns.threads import Turn

_JSON_OIDS = (114, 3802)  # json, jsonb (pg_type.dat)
_OID_OID = 26
_UNPRINTABLE = re.compile(r"[^ -~]")
_SAFE_DIGITS = 16  # fewer before the point are below 2^53
_NOT_FINITE = (b"NaN", b"Infinity", b"-Infinity")

_CELLS_AT_ONCE = 5_000  # these, and so many bytes, are rendered in some milliseconds
_BYTES_AT_ONCE = 256 * 1024
_LONGEST_HEADER = 4096  # characters; clients take 8 KiB of all headers at least

# Of a column that an outer query makes of the answers of inner ones.
_INNER = {
    "least": None,
    "most": None,
    "unit": None,
    "no_interval": "a query around those that are answered makes it: `inner` has their errors",
    "note": "",
    "at_least": False,
    "at_most": False,
}

# Of a CSV response: what its body has no place for.
PRIVACY_HEADERS = {
    "DPProxy-Epsilon": "The epsilon that was charged.",
    "DPProxy-Delta": "The delta that was charged.",
    "DPProxy-Source": "Where the answer comes from, to you: fresh, cached, derived or published.",
    "DPProxy-As-Of": "When you were first shown it, or when it was published; of a fresh answer now.",
    "DPProxy-Remaining-Epsilon": "The epsilon that is left.",
    "DPProxy-Remaining-Delta": "The delta that is left.",
    "DPProxy-Receipt": "The receipt of the charge.",
    "DPProxy-Notice": "What is to be known of the numbers, and why values or groups are missing.",
}
T = TypeVar("T")
Write = Callable[[bytes], str]


async def as_json(result: QueryResult, turn: Turn) -> bytes:
    """The body of /v1/query. turn: in which it is made, if it is long."""
    return await _rendered(result.rows, _json, result, turn)


async def written(result: QueryResult, wanted: Format, turn: Turn, *, large_as_text: bool) -> bytes:
    """The body of /v1/query in a format.

    Args:
        turn: In which it is made, if it is long.
        large_as_text: Numbers that a double would round are strings in JSON.
    """
    render: Callable[[ResultRows], bytes]
    match wanted:
        case Format.JSON:
            as_document = partial(_json, large_as_text=large_as_text)
            return await _rendered(result.rows, as_document, result, turn)
        case Format.CSV:
            render = _csv
        case Format.LINES:
            render = partial(_json_lines, large_as_text=large_as_text)
        case Format.ARROW:
            render = _arrow
        case _:
            assert_never(wanted)
    return await _rendered(result.rows, lambda given: render(_with_errors(given)), result, turn)


async def _rendered(rows: ResultRows, render: Callable[[T], bytes], given: T, turn: Turn) -> bytes:
    """What takes long runs in a thread, so that other requests go on meanwhile."""
    few = len(rows.values) * len(rows.columns) <= _CELLS_AT_ONCE
    if few and sum(len(v or b"") for values in rows.values for v in values) <= _BYTES_AT_ONCE:
        return render(given)
    return await turn.in_thread(render, given)


def _with_errors(result: QueryResult) -> ResultRows:
    """The rows with a column of errors behind each column that has some, if errors were asked for."""
    rows, errors = result.rows, result.errors
    if errors is None:
        return rows
    columns: list[ResultColumn] = []
    values: list[list[bytes | None]] = [[] for _ in rows.values]
    for place, column in enumerate(rows.columns):
        columns.append(column)
        own = errors.places.index(place + 1) if place + 1 in errors.places else None
        if own is not None:
            kind = SqlType.FLOAT8
            columns.append(ResultColumn(f"{column.name}_error", kind.oid, kind.sql))
        for made, row, widths in zip(values, rows.values, errors.values, strict=True):
            made.append(row[place])
            if own is not None:
                made.append(widths[own])
    return ResultRows(tuple(columns), [tuple(made) for made in values])


def _arrow(rows: ResultRows) -> bytes:
    from proxy.servers.http.arrow_stream import arrow_stream  # a library that few need

    return arrow_stream(unique_names([one.name for one in rows.columns]), rows)


def _json_lines(rows: ResultRows, *, large_as_text: bool) -> bytes:
    """An object for each row. Names of columns that are not unique get a number."""
    names = [json.dumps(name) for name in unique_names([one.name for one in rows.columns])]
    writers = [_writer(column.type_oid, large_as_text) for column in rows.columns]
    return "".join(
        "{"
        + ",".join(
            f"{name}:null" if value is None else f"{name}:{write(value)}"
            for name, write, value in zip(names, writers, values, strict=True)
        )
        + "}\n"
        for values in rows.values
    ).encode()


def unique_names(names: Sequence[str]) -> list[str]:
    """
    >>> unique_names(["count", "n", "count", "count_2"])
    ['count', 'n', 'count_3', 'count_2']
    """
    taken = set(names)
    found: dict[str, None] = {}
    for name in names:
        own, number = name, 1
        while own in found or (number > 1 and own in taken):
            number += 1
            own = f"{name}_{number}"
        found[own] = None
    return list(found)


def _json(result: QueryResult, *, large_as_text: bool = False) -> bytes:
    rows = result.rows
    columns = [{"name": column.name, "type": column.type_name} for column in rows.columns]
    writers = [_writer(column.type_oid, large_as_text) for column in rows.columns]
    lines = [
        "["
        + ",".join(
            "null" if value is None else write(value)
            for write, value in zip(writers, values, strict=True)
        )
        + "]"
        for values in rows.values
    ]
    given = result.privacy
    accuracy = [] if given is None else [entry.as_json() for entry in given.accuracy]
    notices = [] if given is None else list(_told(given))
    clipped = [] if given is None else [one.as_json() for one in given.clipped]
    return (
        f'{{"columns":{json.dumps(columns)},"rows":[{",".join(lines)}],'
        f'"privacy":{json.dumps(_privacy(given))},"accuracy":{json.dumps(accuracy)},'
        f'"clipped":{json.dumps(clipped)},"notices":{json.dumps(notices)},"errors":{_errors(result)}}}'
    ).encode()


def _errors(result: QueryResult) -> str:
    """Of each column that is a number with noise, over all groups; of each row, where it is known which group
    it is; and of columns of inner queries. null where nothing protected was queried."""
    if result.privacy is None:
        return "null"
    measured = [by_oid(column.type_oid) for column in result.rows.columns]
    columns: list[dict[str, object] | None] = [
        dict(_INNER) if _may_be_noisy(result.privacy, kind) else None for kind in measured
    ]
    inner = []
    for one in result.privacy.columns:
        if one.place is None:
            inner.append({"name": one.name, **one.as_json()})
        elif one.place <= len(columns):
            columns[one.place - 1] = one.as_json()
    rows = "null"
    if result.errors is not None:
        width, places = len(columns), result.errors.places
        lines = (_row_errors(values, places, width) for values in result.errors.values)
        rows = f"[{','.join(lines)}]"
    return f'{{"columns":{json.dumps(columns)},"rows":{rows},"inner":{json.dumps(inner)}}}'


def _told(given: NoisyAnswer) -> tuple[str, ...]:
    """What is to be known of the numbers. They are charged, so that no error in these texts keeps them back."""
    found = _lines(given)
    return (found.message,) if isinstance(found, Refuse) else found


@refuses("notice")
def _lines(given: NoisyAnswer) -> tuple[str, ...]:
    return answer_lines(given).beside_widths


def _may_be_noisy(given: NoisyAnswer, kind: SqlType) -> bool:
    """Whether a column of the result, of which nothing is known, can be an answer of an inner query."""
    is_inner = all(one.place is None for one in given.columns) and bool(given.columns)
    return is_inner and (kind.is_number or kind.is_time)


def _row_errors(values: tuple[bytes | None, ...], places: tuple[int, ...], width: int) -> str:
    found = ["null"] * width
    for place, value in zip(places, values, strict=True):
        if value is not None:
            found[place - 1] = _number(value)
    return f"[{','.join(found)}]"


def _csv(rows: ResultRows) -> bytes:
    """RFC 4180 with a header line; NULL is empty, an empty text is "" (as PostgreSQL's COPY does)."""
    lines = [",".join(_field(column.name.encode()) for column in rows.columns)]
    lines += [
        ",".join("" if value is None else _field(value) for value in values)
        for values in rows.values
    ]
    return "".join(f"{line}\r\n" for line in lines).encode()


def privacy_headers(given: NoisyAnswer | None) -> dict[str, str]:
    """What a CSV body has no place for."""
    headers = {
        "DPProxy-Epsilon": "0",
        "DPProxy-Delta": "0",
    }
    if given is not None:
        headers["DPProxy-Source"], headers["DPProxy-As-Of"] = origin_of(given)
        headers["DPProxy-Epsilon"] = decimal_text(given.loss.epsilon)
        headers["DPProxy-Delta"] = decimal_text(given.loss.delta)
        if given.remaining is not None:
            headers["DPProxy-Remaining-Epsilon"] = decimal_text(given.remaining.epsilon)
            headers["DPProxy-Remaining-Delta"] = decimal_text(given.remaining.delta)
        if given.receipt is not None:
            headers["DPProxy-Receipt"] = given.receipt
        told = " ".join(_told(given))
        if told:
            # A table's name may be in any script, a header is not.
            headers["DPProxy-Notice"] = _UNPRINTABLE.sub("?", told[:_LONGEST_HEADER])
    return headers


def origin_of(given: NoisyAnswer) -> tuple[str, str]:
    """The source of an answer, and as of when it is, in UTC."""
    origin = given.origin or FRESH
    as_of = origin.as_of or datetime.now(timezone.utc)
    return origin.source.value, f"{as_of.astimezone(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


def _privacy(given: NoisyAnswer | None) -> dict[str, object]:
    if given is None:
        return {
            "epsilon": 0,
            "delta": 0,
            "remaining": None,
            "source": None,
            "as_of": None,
            "receipt": None,
        }
    source, as_of = origin_of(given)
    left = given.remaining
    return {
        "epsilon": float(given.loss.epsilon),
        "delta": float(given.loss.delta),
        "remaining": None
        if left is None
        else {"epsilon": float(left.epsilon), "delta": float(left.delta)},
        "source": source,
        "as_of": as_of,
        "receipt": given.receipt,
    }


def _writer(oid: int, large_as_text: bool = False) -> Write:
    kind = by_oid(oid)
    if kind.is_number or oid == _OID_OID:
        return _exact_number if large_as_text else _number
    if kind is SqlType.BOOL:
        return _boolean
    return _document if oid in _JSON_OIDS else _string


def _number(value: bytes) -> str:
    return f'"{value.decode()}"' if value in _NOT_FINITE else value.decode()


def _exact_number(value: bytes) -> str:
    """A number that is beyond 2^53 as a string: readers of JSON take numbers for doubles.

    >>> _exact_number(b"9007199254740992"), _exact_number(b"-9007199254740993"), _exact_number(b"1e300")
    ('9007199254740992', '"-9007199254740993"', '"1e300"')
    """
    whole = value.lstrip(b"-").partition(b".")[0]
    if value in _NOT_FINITE or (len(whole) < _SAFE_DIGITS and b"e" not in value):
        return _number(value)
    is_safe = abs(Decimal(value.decode())) <= 2**53
    return value.decode() if is_safe else f'"{value.decode()}"'


def _boolean(value: bytes) -> str:
    return "true" if value == b"t" else "false"


def _document(value: bytes) -> str:
    return value.decode()


def _string(value: bytes) -> str:
    return json.dumps(value.decode())


def _field(value: bytes) -> str:
    text = value.decode()
    if text == "" or any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
