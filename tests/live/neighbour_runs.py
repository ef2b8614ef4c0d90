"""One statement through each interface, and what a client sees of the answer without its values."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass, field
from enum import Enum

import psycopg

from proxy.base.limits import STATEMENT_BYTES
from proxy.pgwire import frames
from tests.live.conversing import Outcome, outcome, simple
from tests.live.neighbour_data import Neighbours
from tests.live.neighbour_statements import Asked
from tests.raw_client import RawClient

_CRASHES = ("XX000", "500", "503")
_PLACE = re.compile(r"\$(\d+)")


class Interface(Enum):
    SIMPLE = "simple protocol, constants as literals"
    EXTENDED = "extended protocol, constants in Bind"
    EXECUTE = "PREPARE and EXECUTE, constants as its arguments"
    HTTP = "HTTP, constants as params"


@dataclass(frozen=True, slots=True)
class Seen:
    """columns: names and PostgreSQL's names of their types."""

    columns: tuple[tuple[str, str], ...]
    rows: int
    sqlstate: str


@dataclass(slots=True)
class Client:
    """Of one database, in sessions that are kept."""

    neighbours: Neighbours
    database: str
    wire: RawClient = field(init=False)

    def __post_init__(self) -> None:
        self.wire = RawClient(self.neighbours.listeners.proxy.dsn(self.database))

    def close(self) -> None:
        self.wire.__exit__(None, None, None)

    def again(self) -> None:
        """A session of its own for the next one, with no setting of an earlier one left in its role."""
        proxy = self.neighbours.listeners.proxy
        self.close()
        with psycopg.connect(proxy.servers.shadow_server.dsn(), autocommit=True) as superuser:
            superuser.execute(f"ALTER ROLE {proxy.analyst} RESET ALL".encode())
            superuser.execute(f"ALTER ROLE {proxy.analyst} SET statement_timeout = '15s'".encode())
        self.__post_init__()

    def ask(self, asked: Asked, interface: Interface) -> Seen:
        is_http = interface is Interface.HTTP
        seen = self._over_http(asked) if is_http else self._over_the_wire(asked, interface)
        assert seen.sqlstate not in _CRASHES, (asked.name, interface, seen)
        return seen

    def run(self, asked: Asked) -> Outcome:
        """By the simple protocol, or with Bind what is too long when it is written out."""
        if fits(asked):
            return simple(self.wire, written(asked))
        return self._bound(asked)

    def _over_the_wire(self, asked: Asked, interface: Interface) -> Seen:
        match interface:
            case Interface.SIMPLE:
                got = self.run(asked)
            case Interface.EXTENDED:
                got = self._bound(asked)
            case _:
                got = self._executed(asked)
        state = "" if got.error is None else got.error[0].decode()
        columns = tuple(
            (name.decode(), self._type(oid, modifier)) for name, oid, modifier in got.columns or ()
        )
        # Columns are described before an error; who compares errors compares nothing else.
        return Seen((), 0, state) if state else Seen(columns, len(got.rows), state)

    def _bound(self, asked: Asked) -> Outcome:
        self.wire.send(
            frames.parse(b"", asked.sql.encode()),
            frames.bind(b"", b"", [value.encode() for value in asked.values]),
            frames.describe_portal(b""),
            frames.execute(b""),
            frames.SYNC,
        )
        return outcome(self.wire.until_ready())

    def _executed(self, asked: Asked) -> Outcome:
        types = f"({', '.join(asked.types)})" if asked.types else ""
        prepared = simple(self.wire, f"PREPARE kept{types} AS {asked.sql}")
        if prepared.error is not None:
            return prepared
        arguments = ", ".join(map(_literal, asked.values))
        try:
            return simple(self.wire, f"EXECUTE kept({arguments})" if arguments else "EXECUTE kept")
        finally:
            simple(self.wire, "DEALLOCATE kept")

    def _over_http(self, asked: Asked) -> Seen:
        body = self.neighbours.listeners.query(
            asked.sql, *asked.values, database=self.database
        ).json()
        if "rows" not in body:
            return Seen((), 0, str(body.get("sqlstate") or body["status"]))
        columns = tuple((column["name"], column["type"]) for column in body["columns"])
        return Seen(columns, len(body["rows"]), "")

    def _type(self, oid: int, modifier: int) -> str:
        if (oid, modifier) not in _TYPES:
            with closing(self.neighbours.listeners.proxy.direct(self.database)) as shadow:
                row = shadow.execute("SELECT format_type(%s, %s)", (oid, modifier)).fetchone()
            assert row is not None
            _TYPES[oid, modifier] = row[0]
        return _TYPES[oid, modifier]


_TYPES: dict[tuple[int, int], str] = {}


def fits(asked: Asked) -> bool:
    return len(written(asked).encode()) <= STATEMENT_BYTES


def written(asked: Asked) -> str:
    """With its constants as literals."""
    if not asked.values:
        return asked.sql
    return _PLACE.sub(lambda found: _literal(asked.values[int(found[1]) - 1]), asked.sql)


def _literal(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
