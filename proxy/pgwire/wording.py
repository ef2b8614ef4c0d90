"""What is changed in an ErrorResponse of the shadow before the client sees it; most pass untouched.

Three kinds change. A refusal, raised by the shadow's function dp.refuse so that the transaction's
state is the shadow's own, loses the marks of that function and gets its position. An error of a
statement that the machine sent in another place than the client's gets the client's positions and
names. A table whose rows may not be read gets a hint, as PostgreSQL has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from proxy.pgwire.calls import KnownTables
from proxy.pgwire.frames import ProtocolError, decode_report, encode_report, frame
from proxy.pgwire.statement_look import TOO_LONG

# Hints for errors that PostgreSQL raises without one, by SQLSTATE (PostgreSQL 17 documentation, appendix A).
#
# Each is one text for all statements, so none can show data.

LOOK_UP = "SELECT * FROM dp.columns lists what can be queried."
_TYPE_OF_PARAMETER = "Write the type of each parameter into the statement: CAST($1 AS integer)."
_TYPE_OF_COLUMN = "SELECT * FROM dp.columns has the type of each column: write the constant in it."

POSTGRES_HINTS = {
    "42601": "The statement cannot be read from this position on: look there, and at the word before.",
    "42703": LOOK_UP,
    "42704": LOOK_UP,  # a type that is not there, and SHOW TABLES over HTTP
    "42P01": LOOK_UP,
    "42702": "Write the table's name or alias before the column: o.status.",
    "42712": "Give each table in FROM a name of its own: orders a JOIN orders b.",
    "42803": "Put the column into GROUP BY, or take it out of the statement.",
    "42804": "Bring both sides to one type: CAST(total AS integer).",
    "42P02": "Send a value for each parameter with the statement, or write the constant in its place.",
    "42P08": _TYPE_OF_PARAMETER,
    "42P18": _TYPE_OF_PARAMETER,
    "22P02": _TYPE_OF_COLUMN,
    "22003": _TYPE_OF_COLUMN,
    "22007": "Write a date as '2026-11-27', a time as '2026-11-27 18:00'.",
}


# Rides at the end of dp.refuse's message argument, since RAISE has no option for a position.
POSITION_MARK = b"\x1f"
_OUR_FUNCTION = b"PL/pgSQL function dp."
# Of these two the name depends on search_path, which has to be the analyst's: they run what analysts write.
_REHEARSAL = re.compile(rb"PL/pgSQL function (?:dp\.)?(?:rehearse|try_answer)\(")
_MARKED = re.compile(rb"\A(.*)\x1f([0-9]*)\Z", re.DOTALL)

UNKNOWN_NAMES = (b"42703", b"42883")  # undefined_column, undefined_function (manual, appendix A)
_NO_TABLE = b"42P01"  # undefined_table
_PLAIN = re.compile(rb"[a-z_][a-z0-9_$]*")  # needs no quotes, unless it is a keyword
_DENIED = b"permission denied for table "  # in the language of lc_messages, which is C in a shadow


_PUBLIC = (
    b"Tables are read here, none can be written. CREATE TEMPORARY TABLE makes one of your own."
)


def denied_table(fields: Mapping[bytes, bytes]) -> bytes | None:
    """The table that PostgreSQL refuses to read or write; None: of another error, or of the server's own."""
    message = fields.get(b"M", b"")
    table = message[len(_DENIED) :]
    is_denied = fields.get(b"C") == b"42501" and message.startswith(_DENIED)
    return table if is_denied and not table.startswith(b"pg_") else None


def protected_denial(table: bytes) -> bytes:
    """
    >>> protected_denial(b"orders").decode()
    'permission denied for table orders, which answers aggregates alone, e.g. SELECT count(*) FROM orders'
    """
    return b"%s%s, which answers aggregates alone, e.g. %s" % (_DENIED, table, _count_of(table))


def protected_hint(table: bytes) -> bytes:
    """
    >>> protected_hint(b"orders")
    b'A protected table answers aggregates, e.g. SELECT count(*) FROM orders; none can be written.'
    >>> protected_hint(b"Orders")[43:]
    b'SELECT count(*) FROM "Orders"; none can be written.'
    """
    answers = b"A protected table answers aggregates, e.g. %s; none can be written."
    return answers % _count_of(table)


def _count_of(table: bytes) -> bytes:
    name = table if _PLAIN.fullmatch(table) else b'"%s"' % table.replace(b'"', b'""')
    return b"SELECT count(*) FROM " + name


def reword_table_error(fields: dict[bytes, bytes], tables: KnownTables, *, is_unread: bool) -> bool:
    """Say what is to be done instead where a table may not be read or written, or is not there.

    Args:
        fields: Of an error; SQLSTATE, message and hint are changed in place.
        tables: Of the policy.
        is_unread: Whether the statement was too long to be read: it may have asked for aggregates.

    Returns:
        Whether it is such an error.
    """
    table = denied_table(fields)
    if table is None:
        message = fields.get(b"M", b"").decode(errors="replace")
        hint = tables.unknown_table_hint(message) if fields.get(b"C") == _NO_TABLE else None
        if hint is not None:
            fields[b"H"] = hint.encode()
        return hint is not None
    if not tables.is_protected(table.decode(errors="replace")):
        fields.setdefault(b"H", _PUBLIC)
    elif is_unread:
        fields[b"C"], fields[b"M"] = TOO_LONG.sqlstate.encode(), TOO_LONG.message.encode()
        fields[b"H"] = (TOO_LONG.hint or "").encode()
    else:
        fields[b"M"] = protected_denial(table)
        fields.setdefault(b"H", protected_hint(table))
    return True


@dataclass(frozen=True, slots=True)
class Wording:
    """shift: characters to add to a position (the statement's offset in the client's string).
    has_position: False where the sent text is not the client's, so its positions mean nothing.
    names_hint: an error of POSTGRES_HINTS gets that hint, if PostgreSQL has none.
    column_hint: of the message about an unknown column or function, a hint in the place of PostgreSQL's.
    renamed: what stands for an internal name, if the client may read of it.
    is_unread: the statement is longer than what is looked into.
    """

    shift: int = 0
    has_position: bool = True
    names_hint: bool = False
    column_hint: Callable[[str], str | None] | None = None
    renamed: tuple[tuple[bytes, bytes], ...] = ()
    is_unread: bool = False


def reword(
    payload: bytes,
    wording: Wording | None,
    tables: KnownTables,
    charged_hint: bytes | None = None,
) -> bytes | None:
    """The whole new ErrorResponse frame, or None where it passes as it is.

    Given    charged_hint: follows PostgreSQL's own hint
    """
    ours = _OUR_FUNCTION in payload or _REHEARSAL.search(payload) is not None
    is_of_table = _DENIED in payload or _NO_TABLE in payload
    if wording is None and charged_hint is None and not ours and not is_of_table:
        return None
    try:
        fields = dict(decode_report(payload))
    except ProtocolError:
        return None
    if ours and fields.get(b"W", b"").startswith(_OUR_FUNCTION):
        for code in (b"W", b"F", b"L", b"R", b"p", b"q"):
            fields.pop(code, None)
        _drop_empty(fields)
        if marked := _MARKED.match(fields.get(b"M", b"")):
            fields[b"M"], position = marked.groups()
            if not fields.get(b"H"):
                fields.pop(b"H", None)
            if position:
                fields[b"P"] = position
            return frame(b"E", encode_report(_in_order(fields)))
    elif ours and _REHEARSAL.search(fields.get(b"W", b"")):
        for code in (b"W", b"p", b"q"):
            fields.pop(code, None)
        _drop_empty(fields)
    is_unread = wording is not None and wording.is_unread
    is_of_table = reword_table_error(fields, tables, is_unread=is_unread)
    if not is_of_table and wording is None and charged_hint is None and not ours:
        return None
    if charged_hint is not None:
        own = fields.get(b"H")
        fields[b"H"] = charged_hint if own is None else b"%s %s" % (own, charged_hint)
    if wording is not None:
        _apply(fields, wording)
    return frame(b"E", encode_report(_in_order(fields)))


def sqlstate_of(payload: bytes) -> bytes:
    """The SQLSTATE of an ErrorResponse, empty if it has none."""
    try:
        return dict(decode_report(payload)).get(b"C", b"")
    except ProtocolError:
        return b""


def _drop_empty(fields: dict[bytes, bytes]) -> None:
    """RAISE gives names of schema, table, column, type and constraint also where there are none."""
    for code in (b"s", b"t", b"c", b"d", b"n"):
        if not fields.get(code):
            fields.pop(code, None)


def _apply(fields: dict[bytes, bytes], wording: Wording) -> None:
    if not wording.has_position:
        fields.pop(b"P", None)
    elif wording.shift and fields.get(b"P", b"").isdigit():
        fields[b"P"] = b"%d" % (int(fields[b"P"]) + wording.shift)
    if wording.column_hint is not None and fields.get(b"C") in UNKNOWN_NAMES:
        found = wording.column_hint(fields.get(b"M", b"").decode(errors="replace"))
        if found is not None:
            fields[b"H"] = found.encode()
    hint = POSTGRES_HINTS.get(fields.get(b"C", b"").decode(errors="replace"))
    if wording.names_hint and hint is not None:
        fields.setdefault(b"H", hint.encode())
    for code in (b"M", b"W"):
        if code in fields:
            for internal, public in wording.renamed:
                fields[code] = fields[code].replace(internal, public)


def _in_order(fields: dict[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """As PostgreSQL orders them: severity, SQLSTATE, message, detail, hint, position, the rest."""
    first = (b"S", b"V", b"C", b"M", b"D", b"H", b"P")
    return [(code, fields[code]) for code in first if code in fields] + [
        (code, value) for code, value in fields.items() if code not in first
    ]


def truncated(fields: bytes) -> bytes:
    """The first fields of an error or notice, the last one cut at a character; severity, SQLSTATE and message
    come first (PostgreSQL 17 documentation, section 53.8).

    >>> truncated("SERROR\\0MÄ".encode()[:-1])
    b'SERROR\\x00M\\x00\\x00'
    """
    end = len(fields)
    while end and fields[end - 1] & 0xC0 == 0x80:
        end -= 1
    if end and fields[end - 1] >= 0xC0:
        end -= 1
    return fields[:end] + b"\0\0"
