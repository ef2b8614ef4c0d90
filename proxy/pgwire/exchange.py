"""The machine's own exchanges with the shadow, on the session's connection: analyse a statement,
decode arguments, look up a prepared statement, raise a refusal.

All go through the extended protocol with Flush, never Sync or a simple Query: those would end an
implicit transaction or destroy the client's unnamed statement. Each is one round trip. An error of
theirs is PostgreSQL's own answer to the client, so it is shown. Names are qualified, because the
client owns its search_path.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.base.session_settings import SESSION_SETTINGS
from proxy.pgwire.answers import Kind, Reply
from proxy.pgwire.calls import Column, Inspect, Refuse
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
from proxy.pgwire.session import Session, Wait, succeeded
from proxy.pgwire.wording import POSITION_MARK, Wording

INTERNAL = b"_dpproxy"  # of our statements and portals; each is closed within its exchange
TEXT_OID = 25
JSONB_OID = 3802

_SETTINGS_SQL = ", ".join(
    f"pg_catalog.current_setting('{name}', true)" for name in SESSION_SETTINGS
)
_PREPARED_SQL = b"""\
SELECT p.statement, u.type::pg_catalog.oid, pg_catalog.format_type(u.type, NULL)
FROM pg_catalog.pg_prepared_statements p
LEFT JOIN LATERAL pg_catalog.unnest(p.parameter_types) WITH ORDINALITY AS u(type, number) ON true
WHERE p.name OPERATOR(pg_catalog.=) $1 AND p.from_sql ORDER BY u.number"""

_DATA_ROW, _ROW_DESCRIPTION, _PARAMETER_DESCRIPTION = b"DTt"

Row = tuple[bytes | None, ...]
Message = tuple[bytes, Kind]


@dataclass(frozen=True, slots=True)
class Analysis:
    relation_oids: tuple[int | None, ...]
    parameter_oids: tuple[int, ...]
    columns: tuple[Column, ...]
    settings: dict[str, str]


@dataclass(frozen=True, slots=True)
class Arguments:
    """json: of each argument, for the engine. settings: as of now."""

    json: tuple[bytes | None, ...]
    settings: dict[str, str]
    portal_is_taken: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    source: str
    types: tuple[tuple[int, str], ...]  # OID and name of each parameter's type


def run(
    text: bytes,
    oids: Sequence[int] = (),
    values: Sequence[bytes | None] = (),
    formats: Sequence[int] = (),
) -> list[Message]:
    """Close first: an exchange cut off by an error may have left the name behind, and closing
    what does not exist is no error (manual 55.2.3)."""
    return [
        (close_statement(INTERNAL), Kind.CLOSE),
        (parse(INTERNAL, text, oids), Kind.PARSE),
        (bind(INTERNAL, INTERNAL, values, formats), Kind.BIND),
        (execute(INTERNAL), Kind.EXECUTE),
        (close_portal(INTERNAL), Kind.CLOSE),
        (close_statement(INTERNAL), Kind.CLOSE),
    ]


def rows_of(reply: Reply) -> list[Row]:
    return [decode_data_row(payload) for tag, payload in reply.frames if tag == _DATA_ROW]


_run, _rows = run, rows_of


def _settings(session: Session, row: Row) -> dict[str, str]:
    """Of the last columns of a row: those that are set and not empty. A value that cannot be read
    stays in, as what it is: nothing that could be a setting."""
    values = row[len(row) - len(SESSION_SETTINGS) :]
    pairs = zip(SESSION_SETTINGS, values, strict=True)
    return {name: session.decode(value) or "?" for name, value in pairs if value}


def analyse(
    session: Session, inspect: Inspect, oids: Sequence[int], wording: Wording
) -> Generator[Wait, Any, Analysis | None]:
    """What the shadow says of the statement, what its names mean in the session, and the session's
    settings. None: an error was shown, or the server is skipping."""
    reply = Reply()
    session.send_all(
        [
            (close_statement(INTERNAL), Kind.CLOSE),
            (parse(INTERNAL, inspect.analyse.encode(), oids), Kind.PARSE),
            (describe_statement(INTERNAL), Kind.DESCRIBE),
        ],
        wording=wording,
        reply=reply,
    )
    # The exchange goes on in the same round trip, but from here on positions are not the client's.
    reply = Reply(frames=reply.frames)
    resolved = [
        f"pg_catalog.to_regclass(${n})::pg_catalog.oid"
        for n in range(1, len(inspect.relations) + 1)
    ]
    probe = "SELECT " + ", ".join([*resolved, _SETTINGS_SQL])
    session.send_all(
        _run(
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
        return None
    frames = reply.frames
    oids_seen: tuple[int, ...] = ()
    columns: tuple[Column, ...] = ()
    for tag, payload in frames:
        if tag == _PARAMETER_DESCRIPTION:
            oids_seen = decode_parameter_description(payload)
        elif tag == _ROW_DESCRIPTION:
            columns = tuple(
                Column(session.decode(field.name) or "", field.type_oid, field.type_modifier)
                for field in decode_row_description(payload)
            )
    (row,) = _rows(reply)
    relation_oids = tuple(
        None if oid is None else int(oid) for oid in row[: len(inspect.relations)]
    )
    return Analysis(relation_oids, oids_seen, columns, _settings(session, row))


def decode_arguments(
    session: Session,
    statement: bytes,
    portal: bytes,
    oids: Sequence[int],
    values: Sequence[bytes | None],
    formats: Sequence[int],
) -> Generator[Wait, Any, Arguments | tuple[int, ...] | None]:
    """The client's arguments, in its own formats, decoded by the shadow; and whether the statement
    of that name is still the one we made (SQL's DEALLOCATE reaches it too): if not, its parameters'
    OIDs. None as in `analyse`."""
    taken = "false"
    if portal:
        quoted = "'" + portal.decode("ascii", "replace").replace("'", "''") + "'"
        taken = (
            "EXISTS (SELECT FROM pg_catalog.pg_cursors c"
            f" WHERE c.name OPERATOR(pg_catalog.=) {quoted})"
        )
    wanted = [f"pg_catalog.to_jsonb(${n})::pg_catalog.text" for n in range(1, len(oids) + 1)]
    text = "SELECT " + ", ".join([*wanted, taken, _SETTINGS_SQL])
    renamed = (
        (b'"' + INTERNAL + b'"', b'"' + statement + b'"'),
        (b"portal " + INTERNAL, b"portal " + portal),
    )
    reply = session.send_all(
        [
            (describe_statement(statement), Kind.DESCRIBE),
            *_run(text.encode(), oids, values, formats),
        ],
        wording=Wording(has_position=False, renamed=renamed),
    )
    session.to_shadow.append(FLUSH)
    yield reply
    if not succeeded(reply):
        return None
    for tag, payload in reply.frames:
        if tag == _PARAMETER_DESCRIPTION:
            seen = decode_parameter_description(payload)
            if seen != (*oids, JSONB_OID):
                return seen
            break
    (row,) = _rows(reply)
    return Arguments(row[: len(oids)], _settings(session, row), row[len(oids)] == b"t")


def session_settings(session: Session) -> Generator[Wait, Any, dict[str, str] | None]:
    reply = session.send_all(_run(b"SELECT " + _SETTINGS_SQL.encode()))
    session.to_shadow.append(FLUSH)
    yield reply
    if not succeeded(reply):
        return None
    (row,) = _rows(reply)
    return _settings(session, row)


def look_up_prepared(session: Session, name: str) -> Generator[Wait, Any, Prepared | bool]:
    """False: an error was shown. True: no such statement, or one that cannot be read here."""
    reply = session.send_all(_run(_PREPARED_SQL, [TEXT_OID], [name.encode()]))
    session.to_shadow.append(FLUSH)
    yield reply
    if not succeeded(reply):
        return False
    rows = _rows(reply)
    if not rows or (source := session.decode(rows[0][0] or b"")) is None:
        return True
    types = tuple(
        (int(oid), session.decode(name_of_type or b"") or "")
        for _, oid, name_of_type in rows
        if oid is not None
    )
    return Prepared(source, types)


def evaluate(
    session: Session, expressions: Sequence[str], types: Sequence[str]
) -> Generator[Wait, Any, tuple[Row, Row] | None]:
    """The arguments of an EXECUTE: (as JSON, as text for a Bind). They are the client's own
    expressions on its own session; each is evaluated once, within parentheses and ended by a
    newline, since it may end in a comment."""
    if not expressions:
        return (), ()
    pairs = list(zip(expressions, types, strict=True))
    inner = ", ".join(f"(({text}\n))::{of} AS v{n}" for n, (text, of) in enumerate(pairs))
    outer = ", ".join(
        [f"pg_catalog.to_jsonb(a.v{n})::pg_catalog.text" for n in range(len(pairs))]
        + [f"a.v{n}" for n in range(len(pairs))]
    )
    reply = session.send_all(
        _run(f"SELECT {outer} FROM (SELECT {inner} OFFSET 0) AS a".encode()),  # noqa: S608
        wording=Wording(has_position=False),
    )
    session.to_shadow.append(FLUSH)
    yield reply
    if not succeeded(reply):
        return None
    (row,) = _rows(reply)
    return row[: len(pairs)], row[len(pairs) :]


def raise_refusal(session: Session, refuse: Refuse, shift: int = 0) -> Reply:
    """Let the shadow raise it, so that the state of the transaction is the shadow's own; the reply
    ends FAILED (or SKIPPED), with the error shown in the refusal's own words (see wording.py)."""
    position = b"" if refuse.position is None else b"%d" % (refuse.position + shift)
    message = session.encode(refuse.message) + POSITION_MARK + position
    reply = session.send_all(
        _run(
            b"SELECT dp.refuse($1, $2, $3)",
            [TEXT_OID] * 3,
            [refuse.sqlstate.encode(), message, session.encode(refuse.hint)],
        ),
        wording=Wording(has_position=False),
    )
    session.to_shadow.append(FLUSH)
    return reply
