"""Both readers on a database of its own, with what the shadow evaluates, as the product has it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType, by_oid, element_of
from proxy.cli.assembly import Database
from proxy.engine.arguments import constants
from proxy.engine.sessions import PostgresError
from proxy.pgwire.constant_exchanges import describing
from proxy.pgwire.measured_values import measured_sql
from proxy.query.bind.evaluated_constants import Evaluated, evaluated_texts
from proxy.query.bind.scope import ConstantType
from proxy.query.canonical.constants import ConstantPart, KnownConstants
from proxy.query.canonical.presented import presented
from proxy.query.canonical.statement import constants_in, read_canonical
from proxy.query.ir.binding import bind
from proxy.query.ir.query import AggregateBlock
from proxy.query.syntax.statements import Statement
from proxy.shadow.canonical_text import CanonicalStatement, canonical_statement
from tests.canonical.both_readers import Outcome, Verdict, judged
from tests.servers_fixture import servers

_EXPLAIN = re.compile(r"^\s*EXPLAIN\s*(\([^)]*\))?\s*(ANALYZE\s+)?", re.IGNORECASE)
_INTERVAL = 1186
Values = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement in a session of its own. setup: What the session runs before it."""

    sql: str
    setup: str = ""
    arguments: Values = ()


def compare_served(database: Database, name: str, asked: Asked) -> Verdict:
    """Compare both readers on the shadow of a database."""
    pair = servers()
    dsn = pair.analyst_dsn(name, pair.new_analyst())
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        if asked.setup:
            connection.execute(asked.setup.encode())
        session = _Session(connection, database, asked)
        blocks: Sequence[AggregateBlock] | None = None
        refusal = None
        try:
            blocks = session.today()
        except Refusal as raised:
            refusal = raised
        if refusal is None and not blocks:
            return Verdict(outcome=Outcome.NOTHING)
        try:
            written = canonical_statement(connection, session.inner, session.oids)
        except (PostgresError, Refusal) as error:
            outcome = Outcome.NO_TEXT if refusal is None else Outcome.BOTH_REFUSE
            return Verdict(outcome=outcome, text=error.message)
        return judged(written.text, lambda: session.canonical(written), blocks, refusal)


class _Session:
    def __init__(self, connection: psycopg.Connection, database: Database, asked: Asked) -> None:
        self._connection = connection
        self._statements = database.engine.statements
        self._asked = asked
        self._tables = {
            name: table for name, table in self._statements._exposed.items() if name.schema != "dp"
        }
        self.inner = _EXPLAIN.sub("", asked.sql.rstrip("; \n\t"))
        self.oids = self._described(self.inner)
        self._types = tuple(self._statements._type(oid) for oid in self.oids)

    def today(self) -> Sequence[AggregateBlock] | None:
        statements = self._statements
        found = statements.look(self._asked.sql)
        if not isinstance(found, Statement):
            return None
        relations = tuple(map(self._relation, found.relations))
        needed = statements.constants_needed(found, relations, self.oids, {})
        oids = self._constant_oids(needed) if needed else None
        question = statements.read(found, relations, self.oids, constant_oids=oids)
        if question is None:
            return None
        types = tuple(one.type for one in question.constants)
        values = self._values([one.sql for one in question.constants])
        return self._bound(question.reading.query.blocks, types, values)

    def canonical(self, written: CanonicalStatement) -> Sequence[AggregateBlock]:
        """Without what the shadow evaluates, and with that if it is refused."""
        text, names = written.text, [column.name for column in written.columns]
        try:
            return presented(read_canonical(text, self._tables, self._types), names).blocks
        except Refusal:
            wanted = constants_in(text)
            if not wanted:
                raise
        parts: dict[str, ConstantPart] = {}
        types: dict[int, ConstantType] = {}
        texts: dict[int, str] = {}
        for part, oid in zip(wanted, self._constant_oids(wanted), strict=True):
            oid = self._statements.read_as.get(oid, oid)
            kind = element_of(oid)
            is_list = kind is not SqlType.OTHER
            if not is_list:
                kind = SqlType.INTERVAL if oid == _INTERVAL else by_oid(oid)
            if kind is SqlType.OTHER:
                continue
            number = len(self.oids) + len(parts) + 1
            parts[part] = ConstantPart(number, kind, is_list)
            types[number] = ConstantType(kind, is_list)
            texts[number] = part
        read = read_canonical(text, self._tables, self._types, KnownConstants(parts))
        evaluated = evaluated_texts(Evaluated({}, types, texts, {}), frozenset(types))
        values = self._values([one.sql for one in evaluated])
        return self._bound(
            presented(read, names).blocks, tuple(one.type for one in evaluated), values
        )

    def _bound(
        self, blocks: Sequence[AggregateBlock], types: Sequence[SqlType], values: Values
    ) -> Sequence[AggregateBlock]:
        """With what the shadow has evaluated; the client's own parameters stay."""
        own = len(self.oids)
        found = constants(values, types)
        numbered = {number + own: value for number, value in found.items()}
        return [bind(block, numbered) for block in blocks]

    def _relation(self, written: str) -> int | None:
        query = "SELECT to_regclass(%s)::oid::bigint"
        row = self._connection.execute(query, (written,)).fetchone()
        return None if row is None else row[0]

    def _described(self, text: str) -> tuple[int, ...]:
        connection = self._connection.pgconn
        connection.prepare(b"parameters", text.encode(), None)
        described = connection.describe_prepared(b"parameters")
        return tuple(described.param_type(number) for number in range(described.nparams))

    def _constant_oids(self, expressions: Sequence[str]) -> tuple[int, ...]:
        found: list[int] = []
        for text in describing(expressions):
            connection = self._connection.pgconn
            made = connection.prepare(b"", f"{text} WHERE false".encode(), list(self.oids) or None)
            assert not made.error_message, made.error_message
            described = connection.describe_prepared(b"")
            found += [described.ftype(number) for number in range(described.nfields)]
        return tuple(found)

    def _values(self, expressions: Sequence[str]) -> Values:
        if not expressions:
            return ()
        given = [None if one is None else str(one).encode() for one in self._asked.arguments]
        result = self._connection.pgconn.exec_params(
            measured_sql(expressions).encode(), given or None, list(self.oids) or None
        )
        if result.error_message:
            raise psycopg.DataError(result.error_message)
        rows = [result.get_value(row, 1) for row in range(result.ntuples)]
        return [None if value is None else value.decode() for value in rows]
