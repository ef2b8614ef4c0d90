"""The machine's own exchanges with the shadow, on the session's connection: analyse a statement,
decode arguments, look up a prepared statement, raise a refusal.

All go through the extended protocol with Flush, never Sync or a simple Query: those would end an
implicit transaction or destroy the client's unnamed statement. Each is one round trip. An error of
theirs is PostgreSQL's own answer to the client, so it is shown. Names are qualified, because the
client owns its search_path.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from proxy.base.errors import Code
from proxy.base.limits import ARGUMENTS_BYTES, ARGUMENTS_JSON_BYTES, CONSTANTS_BYTES
from proxy.base.session_settings import CLIENT_ENCODING, SESSION_SETTINGS
from proxy.base.sql_types import SqlType, by_oid
from proxy.pgwire.calls import (
    Analyse,
    Analysis,
    Arguments,
    DescribedColumn,
    Evaluate,
    Prepared,
    Refuse,
    ShadowStatement,
)
from proxy.pgwire.expectations import MessageKind, Messages, ShadowReply, messages
from proxy.pgwire.frames import (
    FLUSH,
    bind,
    close_portal,
    close_statement,
    decode_data_row,
    decode_parameter_description,
    decode_row_description,
    describe_statement,
    execute,
    parse,
)
from proxy.pgwire.session import (
    FAILED,
    Executed,
    Failed,
    Session,
    Substituted,
    Wait,
    json_in_ascii,
    succeeded,
)
from proxy.pgwire.wording import POSITION_MARK, Wording

INTERNAL = b"_dpproxy"  # of our statements and portals; each is closed within its exchange
TEXT_OID = 25
JSONB_OID = 3802
_FIRST_NORMAL_OID = 16384  # src/include/access/transam.h

ARGUMENTS_TOO_LONG = Refuse(
    Code.TOO_COMPLEX.sqlstate,
    "arguments of a statement about protected data are too long",
    f"They have at most {ARGUMENTS_BYTES} bytes, of which texts in conditions at most {CONSTANTS_BYTES}.",
    None,
)

_REQUESTED = (*SESSION_SETTINGS, "search_path", CLIENT_ENCODING)
SETTINGS_SQL = ", ".join(f"pg_catalog.current_setting('{name}', true)" for name in _REQUESTED)
# -1: no modifier. With NULL, character(n) would be "character", which is character(1).
# The view of it shows clients what they wrote (shadow_catalogue.sql); this is what is held.
_PREPARED_SQL = b"""\
SELECT p.statement, p.from_sql, u.type::pg_catalog.oid, pg_catalog.format_type(u.type, -1)
FROM pg_catalog.pg_prepared_statement() p
LEFT JOIN LATERAL pg_catalog.unnest(p.parameter_types) WITH ORDINALITY AS u(type, number) ON true
WHERE p.name OPERATOR(pg_catalog.=) $1 ORDER BY u.number"""

_DATA_ROW, _ROW_DESCRIPTION, _PARAMETER_DESCRIPTION = b"DTt"

Row = tuple[bytes | None, ...]

# Close first: an exchange cut off by an error may have left the name behind, and closing what does not exist is
# no error (PostgreSQL 17 documentation, section 55.2.3).
_FREE = messages((close_statement(INTERNAL), MessageKind.CLOSE))
# Closing a statement leaves its portals open.
_EXECUTED = messages(
    (execute(INTERNAL), MessageKind.EXECUTE),
    (close_portal(INTERNAL), MessageKind.CLOSE),
    (close_statement(INTERNAL), MessageKind.CLOSE),
)
_RUN_ON_ENDS = (MessageKind.PARSE.value, MessageKind.BIND.value, *_EXECUTED.ends)
_RUN_ENDS = _FREE.ends + _RUN_ON_ENDS


def run(
    text: bytes,
    oids: Sequence[int] = (),
    values: Sequence[bytes | None] = (),
    formats: Sequence[int] = (),
    result_formats: Sequence[int] = (),
    *,
    goes_on: bool = False,
) -> Messages:
    """
    Given    goes_on: behind another run of the same round trip. That one has closed the name; or has failed,
             and then the server skips this one, too
    """
    parsed = parse(INTERNAL, text, oids)
    bound = bind(INTERNAL, INTERNAL, values, formats, result_formats)
    if goes_on:
        return Messages(parsed + bound + _EXECUTED.data, _RUN_ON_ENDS)
    return Messages(b"".join((_FREE.data, parsed, bound, _EXECUTED.data)), _RUN_ENDS)


def rows_of(reply: ShadowReply) -> list[Row]:
    return [decode_data_row(payload) for tag, payload in reply.frames if tag == _DATA_ROW]


def parse_of(name: bytes, statement: ShadowStatement) -> bytes:
    """A Parse of what runs in the client's place."""
    oids = (
        statement.parameter_oids
        if statement.relation is None
        else (*statement.parameter_oids, JSONB_OID)
    )
    return parse(name, statement.text.encode(), oids)


def bind_values(statement: ShadowStatement) -> tuple[bytes | None, ...]:
    if statement.relation is None:
        return statement.values
    return (*statement.values, json_in_ascii(statement.relation))


def settings_of(session: Session, row: Row) -> dict[str, str]:
    """Of the last columns of a row: those that are set and not empty. A value that cannot be read
    stays in, as what it is: nothing that could be a setting. The client's encoding, which the
    server reports late where messages are pipelined, is noted for what comes after."""
    values = row[len(row) - len(_REQUESTED) :]
    if encoding := values[-1]:
        session.answers.client_encoding = encoding
    pairs = zip(SESSION_SETTINGS, values[:-2], strict=True)
    return {name: session.decode(value) or "?" for name, value in pairs if value}


def search_path_of(session: Session, row: Row) -> str:
    """Of the same row. One that cannot be read is like no other."""
    return session.decode(row[-2] or b"") or repr(row[-2])


def analyse(
    session: Session, step: Analyse, wording: Wording
) -> Generator[Wait, Any, Analysis | Failed]:
    inspect = step.inspect
    reply = ShadowReply()
    session.send_all(
        messages(
            (close_statement(INTERNAL), MessageKind.CLOSE),
            (parse(INTERNAL, inspect.analyse.encode(), step.parameter_oids), MessageKind.PARSE),
            (describe_statement(INTERNAL), MessageKind.DESCRIBE),
        ),
        wording=wording,
        reply=reply,
    )
    # The exchange goes on in the same round trip, but from here on positions are not the client's.
    reply = ShadowReply(frames=reply.frames)
    resolved = [
        f"pg_catalog.to_regclass(${n})::pg_catalog.oid"
        for n in range(1, len(inspect.relations) + 1)
    ]
    probe = "SELECT " + ", ".join([*resolved, SETTINGS_SQL])
    session.send_all(
        run(
            probe.encode(),
            [TEXT_OID] * len(inspect.relations),
            [name.encode() for name in inspect.relations],
        ),
        wording=Wording(has_position=False),
        reply=reply,
    )
    session.to_shadow.append(FLUSH)
    yield reply
    if not succeeded(reply):
        return FAILED
    frames = reply.frames
    known_oids: tuple[int, ...] = ()
    columns: tuple[DescribedColumn, ...] = ()
    for tag, payload in frames:
        if tag == _PARAMETER_DESCRIPTION:
            known_oids = decode_parameter_description(payload)
        elif tag == _ROW_DESCRIPTION:
            columns = tuple(
                DescribedColumn(
                    session.decode(field.name) or "", field.type_oid, field.type_modifier
                )
                for field in decode_row_description(payload)
            )
    (row,) = rows_of(reply)
    relation_oids = tuple(
        None if oid is None else int(oid) for oid in row[: len(inspect.relations)]
    )
    settings, path = settings_of(session, row), search_path_of(session, row)
    return Analysis(relation_oids, known_oids, columns, settings, path)


def decoded_json(session: Session, json: Sequence[bytes | None]) -> tuple[str | None, ...] | None:
    """As Arguments.json."""
    texts = tuple(None if value is None else session.decode(value) for value in json)
    unreadable = any(
        text is None and value is not None for text, value in zip(texts, json, strict=True)
    )
    return None if unreadable else texts


def session_settings(session: Session) -> Generator[Wait, Any, Arguments | Failed]:
    """As arguments of a statement that has none."""
    reply = session.send_all(run(b"SELECT " + SETTINGS_SQL.encode()))
    session.to_shadow.append(FLUSH)
    yield reply
    if not succeeded(reply):
        return FAILED
    (row,) = rows_of(reply)
    settings, path = settings_of(session, row), search_path_of(session, row)
    return Arguments(
        (), settings, in_block=session.in_block(), search_path=path, is_utf8=session.speaks_utf8
    )


def look_up_prepared(session: Session, name: str) -> Generator[Wait, Any, Prepared | Failed | None]:
    """Look up whose a name is: PREPARE of SQL and the protocol's Parse share one name space. What the session
    knows of a name that SQL has taken is forgotten."""
    reply = session.send_all(run(_PREPARED_SQL, [TEXT_OID], [name.encode()]))
    session.to_shadow.append(FLUSH)
    yield reply
    if not succeeded(reply):
        return FAILED
    rows, key = rows_of(reply), name.encode()
    if not rows or rows[0][1] == b"t":
        session.statements.pop(key, None)
    if not rows or (source := session.decode(rows[0][0] or b"")) is None:
        return None
    types = tuple(
        (int(oid), session.decode(name_of_type or b"") or "")
        for _, _, oid, name_of_type in rows
        if oid is not None
    )
    if rows[0][1] == b"t":
        return Prepared(source, types)
    match session.statements.get(key):
        case Substituted(rewritten):
            is_appended = not rewritten.substitute.as_literal
            return Prepared("", types[:-1] if is_appended else types, rewritten.inspect)
        case Executed(execute):
            return Prepared("", types, execute)
        case Refuse() as refuse:
            return Prepared("", types, refuse)
        case _:
            return None


def evaluate(session: Session, step: Evaluate) -> Generator[Wait, Any, Arguments | Refuse | Failed]:
    """The arguments of an EXECUTE. They are the client's own expressions on its own session; each is
    evaluated and fetched once, within parentheses and ended by a newline, since it may end in a
    comment."""
    if not step.expressions:
        return Arguments(
            (), step.settings, in_block=session.in_block(), is_utf8=session.speaks_utf8
        )
    pairs = list(zip(step.expressions, step.types, strict=True))
    reply = session.send_all(
        run(measured_sql([_fetched(text, *of) for text, of in pairs]).encode()),
        # VALUES refuses what EXECUTE refuses: sets, aggregates, window functions.
        wording=Wording(has_position=False, renamed=((b" in VALUES", b" in EXECUTE parameters"),)),
    )
    session.to_shadow.append(FLUSH)
    yield reply
    if not succeeded(reply):
        return FAILED
    found = rows_of(reply)
    if not fits(found, len(pairs)):
        return ARGUMENTS_TOO_LONG
    json: list[bytes | None] = []
    values: list[bytes | None] = []
    for (_, value, _), (_, (oid, _)) in zip(found, pairs, strict=True):
        is_json = _is_fetched_as_json(oid)
        json.append(value if is_json else None)
        values.append(session.plain(value) if is_json and value is not None else value)
    texts = decoded_json(session, json)
    return Arguments(
        texts,
        step.settings,
        tuple(values),
        in_block=session.in_block(),
        is_utf8=session.speaks_utf8,
    )


def _fetched(expression: str, oid: int, type_name: str) -> str:
    """What questions can use, in JSON; anything else as text. Of a type that is not PostgreSQL's own, which may
    be an enumeration, they can use the text."""
    value = f"(({expression}\n))::{type_name}"
    if not _is_fetched_as_json(oid):
        return f"{value}::pg_catalog.text"
    if by_oid(oid) is SqlType.OTHER:
        value += "::pg_catalog.text"
    return f"pg_catalog.to_jsonb({value})::pg_catalog.text"


def _is_fetched_as_json(oid: int) -> bool:
    return by_oid(oid) is not SqlType.OTHER or oid >= _FIRST_NORMAL_OID


def raise_refusal(session: Session, refuse: Refuse, shift: int = 0) -> ShadowReply:
    """Let the shadow raise it, so that the state of the transaction is the shadow's own; the reply
    ends FAILED (or SKIPPED), with the error shown in the refusal's own words (see wording.py)."""
    position = b"" if refuse.position is None else b"%d" % (refuse.position + shift)
    message = session.encode(refuse.message) + POSITION_MARK + position
    reply = session.send_all(
        run(
            b"SELECT dp.refuse($1, $2, $3)",
            [TEXT_OID] * 3,
            [refuse.sqlstate.encode(), message, session.encode(refuse.hint)],
        ),
        wording=Wording(has_position=False),
    )
    session.to_shadow.append(FLUSH)
    return reply


# Values of an analyst's, measured on the shadow before any of them is fetched.
#
# What an expression evaluates to, or a few bytes of a binary numeric stand for, can be a gigabyte of text. So
# the shadow adds up the lengths and gives no value that passes the limit: memory here cannot grow.


MeasuredRow = Sequence[bytes | str | None]


def measured_sql(texts: Sequence[str]) -> str:
    """
    Given    texts: SQL expressions of type text, one or more
    Gives    a query of one row for each (VALUES, so that they need not fit a row and none can give several):
             its number, its value or NULL, and the bytes of all up to it
    """
    if len(texts) == 1:
        # Nothing to add up: half of the work for the server.
        only = f"(SELECT o.v FROM (VALUES ({texts[0]})) AS o(v) OFFSET 0)"  # noqa: S608
        size = "pg_catalog.octet_length(m.v)"
        bounded = f"CASE WHEN {size} OPERATOR(pg_catalog.<=) {ARGUMENTS_JSON_BYTES} THEN m.v END"
        return f"SELECT 0, {bounded}, {size} FROM {only} AS m"  # noqa: S608
    listed = ", ".join(f"({number}, {text})" for number, text in enumerate(texts))
    bounded = f"CASE WHEN m.bytes OPERATOR(pg_catalog.<=) {ARGUMENTS_JSON_BYTES} THEN m.v END"
    added = "pg_catalog.sum(pg_catalog.octet_length(a.v)) OVER (ROWS UNBOUNDED PRECEDING)"
    # A VALUES of one row would be put in where it is used, and so evaluated twice (prepjointree.c).
    once = f"(SELECT o.n, o.v FROM (VALUES {listed}) AS o(n, v) OFFSET 0)"  # noqa: S608
    added_up = f"(SELECT a.n, a.v, {added} AS bytes FROM {once} AS a)"  # noqa: S608
    return f"SELECT m.n, {bounded}, m.bytes FROM {added_up} AS m"  # noqa: S608


def fits(rows: Sequence[MeasuredRow], count: int) -> bool:
    """Whether the rows of `measured_sql` are all the values."""
    return len(rows) == count and all(
        row[2] is None or int(row[2]) <= ARGUMENTS_JSON_BYTES for row in rows
    )
