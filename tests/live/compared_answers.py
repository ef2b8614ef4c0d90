"""Answers through the proxy beside PostgreSQL's own: columns, types, groups and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import psycopg
from psycopg.pq import ExecStatus

from tests.sql.corpus import Asked

_FIRST_OWN, _TEXT = 16_384, 25  # OIDs of types that are not PostgreSQL's, and of text
_INTEGERS = (20, 21, 23, 1005, 1007, 1016)  # and their arrays
_NUMBERS = (*_INTEGERS, 700, 701, 1700, 1021, 1022, 1231)
Row = tuple[str | None, ...]
Answer = tuple[list[tuple[str, int]], list[Row]]


def asked_of(connection: psycopg.Connection, asked: Asked, simple: bool = False) -> Answer | str:
    """Columns with types, and rows as texts; values are texts of no stated type. An error is its message."""
    values = [None if one is None else one.encode() for one in asked.given]
    plain, sql = connection.pgconn, asked.sql.encode()
    result = plain.exec_(sql) if simple else plain.exec_params(sql, values)
    if result.status != ExecStatus.TUPLES_OK:
        return result.error_message.decode()
    columns = [
        (name.decode(), kind if kind < _FIRST_OWN else _TEXT)
        for n in range(result.nfields)
        if (name := result.fname(n)) is not None
        for kind in [result.ftype(n)]
    ]
    cells = [[result.get_value(r, n) for n in range(result.nfields)] for r in range(result.ntuples)]
    return columns, [tuple(None if one is None else one.decode() for one in row) for row in cells]


def numbers_in(value: str | None) -> list[float]:
    return [float(one) for one in (value or "0").strip("{}").split(",")]


def _is_near(kind: int, one: str | None, other: str | None, near: Sequence[float]) -> bool:
    if one == other or kind not in _NUMBERS or None in (one, other):
        return one == other
    whole, else_, part = near
    least = whole if kind in _INTEGERS else else_
    pairs = zip(numbers_in(one), numbers_in(other), strict=True)
    return all(abs(a - b) <= max(least, part * abs(b)) for a, b in pairs)


def _by_labels(rows: Sequence[Row], noisy: int) -> dict[Row, Row]:
    seen, found = Counter[Row](), dict[Row, Row]()
    for row in sorted(rows, key=repr):
        labels = row[: len(row) - noisy]
        seen[labels] += 1
        numbered = (*labels, str(seen[labels]))
        found[numbered] = row[len(row) - noisy :]
    return found


def differences(
    answered: Answer, exact: Answer, settings: Mapping[str, str], measures: int = 0
) -> list[str]:
    """Columns of another name or type, groups that are missing or too many, numbers that are far off.

    Args:
        settings: `noisy` names columns with noise in them, which stand last (of one row all are numbers);
            `near` says how far integers, and other numbers, may be off, and by which part of themselves;
            `groups: some empty` allows groups that have no row; `nulls: nothing` takes NULL for 0.
        measures: So many columns at the end have noise, whatever their names.
    """
    (columns, found), (wanted_columns, wanted) = answered, exact
    if columns != wanted_columns:
        return [f"columns {columns} for {wanted_columns}"]
    kinds = [kind for _, kind in columns]
    near = [float(one) for one in settings.get("near", "0 0 0").split()]
    names = settings.get("noisy", "").split()
    noisy = measures or sum(name in names for name, _ in columns)
    noisy = len(columns) if len(wanted) == len(found) == 1 and not (names or measures) else noisy
    if settings.get("groups") == "some empty" and not noisy:
        found, wanted = ([row for row in rows if row[-1] != "0"] for rows in (found, wanted))
    ours, theirs = _by_labels(found, noisy), _by_labels(wanted, noisy)
    empty = tuple(["0"] * noisy if settings.get("groups") == "some empty" and noisy else [])
    wrong = [f"missing: {labels}" for labels in theirs if labels not in ours]
    for labels, numbers in ours.items():
        right = theirs.get(labels, empty)
        if settings.get("nulls") == "nothing":
            numbers, right = (tuple(one or "0" for one in row) for row in (numbers, right))
        if (labels not in theirs and not empty) or not all(
            _is_near(kind, one, other, near)
            for kind, one, other in zip(kinds[len(kinds) - noisy :], numbers, right, strict=True)
        ):
            wrong.append(f"{labels}: {numbers} for {right}")
    return wrong
