"""What a client's text holds, by its tokens: to relay, to inspect, to execute, or refused. No I/O."""

from __future__ import annotations

from proxy.base.errors import Code
from proxy.base.limits import COLUMNS_PER_RESULT, STATEMENT_BYTES, STATEMENT_TEXT_BYTES
from proxy.pgwire.calls import (
    ExecutePrepared,
    Inspect,
    Look,
    LookPrepared,
    Refuse,
    StatementReader,
    Verbatim,
)

# Characters; a longer text may take more than the other sessions should wait.
LOOKED_AT_AT_ONCE = 500

Looked = Verbatim | Inspect | ExecutePrepared | Refuse
Pieces = tuple[
    tuple[int, str, Looked], ...
]  # of a text: offset in characters, statement, what it is

TOO_LONG = Refuse(
    Code.TOO_COMPLEX.sqlstate,
    "statement about protected data is too long",
    f"A statement about protected data has at most {STATEMENT_BYTES} bytes beside its parameters."
    " Send long lists as one array: column = ANY($1).",
    None,
)
TOO_MANY_RELATIONS = Refuse(
    Code.TOO_COMPLEX.sqlstate,
    "statement names too many relations",
    "Use fewer relations in one statement.",
    None,
)
NOT_UTF8 = Refuse(
    Code.UNSUPPORTED.sqlstate,
    "a statement about protected data needs client_encoding UTF8",
    "SET client_encoding = 'UTF8', or write the statement in ASCII.",
    None,
)


def pieces_of(reader: StatementReader, request: Look) -> Pieces:
    """Of a simple query string its statements; anything else is one."""
    text, is_exact = request.text, request.is_exact
    if not request.is_query:
        return ((0, text, look(reader, text, is_exact)),)
    pieces = reader.split(text)
    if isinstance(pieces, Refuse):
        return ((0, text, pieces),)
    return tuple((offset, piece, look(reader, piece, is_exact)) for offset, piece in pieces)


def prepared_of(reader: StatementReader, request: LookPrepared) -> Looked:
    """Verbatim where nothing of that name is found."""
    body = reader.prepared(request.source, request.name)
    if body is None:
        return Verbatim()
    return body if isinstance(body, Refuse) else look(reader, body, is_exact=True)


def look(reader: StatementReader, text: str, is_exact: bool) -> Looked:
    """is_exact: whether `text` is what the client wrote (see `Session.readable`)."""
    looked = reader.look(text)
    if isinstance(looked, Verbatim) or (isinstance(looked, Refuse) and looked.is_kept_from_shadow):
        return looked
    if not is_exact:
        return NOT_UTF8
    if len(text) > STATEMENT_TEXT_BYTES or len(text.encode()) > STATEMENT_TEXT_BYTES:
        return TOO_LONG
    # One column each in the probe, beside the settings.
    if isinstance(looked, Inspect) and len(looked.relations) > COLUMNS_PER_RESULT - 64:
        return TOO_MANY_RELATIONS
    return looked
