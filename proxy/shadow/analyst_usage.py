"""What each session of an analyst takes of a shadow's server at this moment: read, not judged."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.ledger.analysts_role import ANALYSTS

# What processes of a server did since the last look: processor time and writing, of /proc (proc(5)).


_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """cpu_seconds; written_bytes: handed to write(2), None where the system does not say."""

    cpu_seconds: float = 0.0
    written_bytes: int | None = None


class WorkReader:
    def __init__(self) -> None:
        self._before: dict[int, Work] = {}

    def since_last(self, processes: Iterable[int]) -> Mapping[int, Work]:
        """Of a process that is new, since its start."""
        now = {
            process: Work(cpu_seconds=_cpu(process), written_bytes=_bytes_written(process))
            for process in processes
        }
        before, self._before = self._before, now
        return {
            process: _between(before.get(process, Work()), work) for process, work in now.items()
        }


def _between(before: Work, now: Work) -> Work:
    written = now.written_bytes
    if written is not None:
        written = max(0, written - (before.written_bytes or 0))
    return Work(cpu_seconds=max(0.0, now.cpu_seconds - before.cpu_seconds), written_bytes=written)


def _cpu(process: int) -> float:
    """Fields 14 and 15; the second, a name in parentheses, can hold anything."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    except (OSError, IndexError, ValueError):
        return 0.0


def _bytes_written(process: int) -> int | None:
    try:
        lines = Path(f"/proc/{process}/io").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("wchar:")).split()[1])
    except (
        OSError,
        StopIteration,
        ValueError,
    ):  # another system, gone, or a right that root lacks in a container
        return None


_TEMPORARY_TABLE = re.compile(r"t(\d+)_\d")  # t<backend>_<file>[_fsm][.segment]
_SPILLED = re.compile(r"pgsql_tmp(\d+)\.")  # pgsql_tmp<process>.<n>
_PAGE = os.sysconf("SC_PAGE_SIZE")

_SESSIONS = """\
SELECT a.pid, a.usename::text,
       CASE WHEN a.state IN ('active', 'fastpath function call')
            THEN extract(epoch FROM clock_timestamp() - a.query_start)::float8 ELSE 0 END,
       coalesce(extract(epoch FROM clock_timestamp() - a.xact_start), 0)::float8,
       extract(epoch FROM clock_timestamp() - a.backend_start)::float8
FROM pg_catalog.pg_stat_activity a
WHERE a.backend_type = 'client backend' AND a.usesysid IN (
    SELECT m.member FROM pg_catalog.pg_auth_members m
    JOIN pg_catalog.pg_roles g ON g.oid = m.roleid WHERE g.rolname = %s)"""
_LOCKS = "SELECT pid, count(*) FROM pg_catalog.pg_locks WHERE pid IS NOT NULL GROUP BY pid"
_BACKENDS = """\
SELECT b, pg_catalog.pg_stat_get_backend_pid(b) FROM pg_catalog.pg_stat_get_backend_idset() b"""
# Before 16 those functions know no numbers of backends; a transaction's name begins with it.
_BACKENDS_BEFORE_16 = """\
SELECT DISTINCT split_part(virtualtransaction, '/', 1)::int, pid FROM pg_catalog.pg_locks
WHERE locktype = 'virtualxid' AND pid IS NOT NULL"""
_OLDEST = """\
SELECT coalesce(max(pg_catalog.age(datfrozenxid)), 0) FROM pg_catalog.pg_database WHERE datallowconn"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUsage:
    """cpu_seconds, written_bytes: since the last look."""

    process: int
    analyst: str
    statement_seconds: float
    transaction_seconds: float
    session_seconds: float
    temporary_bytes: int
    locks: int
    cpu_seconds: float = 0.0
    written_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerUsage:
    """oldest_transaction_id: the age of what is not frozen yet, in transactions; catalogue_bytes: growth of
    catalogues and log since they were smallest."""

    sessions: tuple[SessionUsage, ...]
    notification_bytes: int
    oldest_transaction_id: int
    catalogue_bytes: int = 0


@dataclass(slots=True)
class UsageReader:
    """
    Given    a superuser's connection to the server, in autocommit, not in a shadow's own database; the
             connection string that made it
    """

    server_dsn: str = field(repr=False)
    connection: psycopg.Connection
    catalogues: CatalogueGrowth = field(init=False)
    _smallest: int = field(init=False)
    _work: WorkReader = field(init=False, default_factory=WorkReader)
    _data: Path = field(init=False)
    _backends: dict[int, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        row = self.connection.execute(
            "SELECT pg_catalog.current_setting('data_directory')"
        ).fetchone()
        assert row is not None
        self._data = Path(row[0])
        self.catalogues = CatalogueGrowth(self.server_dsn, self._data)
        self._smallest = self.catalogues.size()

    def read(self) -> ServerUsage:
        execute = self.connection.execute
        rows = execute(_SESSIONS.encode(), (ANALYSTS,)).fetchall()
        locks: dict[int, int] = dict(execute(_LOCKS.encode()).fetchall())
        temporary = self._temporary_bytes({row[0] for row in rows})
        (oldest,) = execute(_OLDEST.encode()).fetchone() or (0,)
        work = self._work.since_last(row[0] for row in rows)
        sessions = tuple(
            SessionUsage(
                process=process,
                analyst=analyst,
                statement_seconds=statement,
                transaction_seconds=transaction,
                session_seconds=session,
                temporary_bytes=temporary.get(process, 0),
                locks=locks.get(process, 0),
                cpu_seconds=work[process].cpu_seconds,
                written_bytes=_written(work[process], statement),
            )
            for process, analyst, statement, transaction, session in rows
        )
        notifications = sum(size for _, size in _files(self._data / "pg_notify"))
        size = self.catalogues.size()
        self._smallest = min(self._smallest, size)
        return ServerUsage(
            sessions=sessions,
            notification_bytes=notifications,
            oldest_transaction_id=oldest,
            catalogue_bytes=size - self._smallest,
        )

    def _temporary_bytes(self, alive: set[int]) -> Mapping[int, int]:
        """By process. Files, not the catalogue: what is not committed yet counts, too."""
        sizes: dict[int, int] = {}
        tables: dict[int, int] = {}
        for folder in _folders(self._data / "base"):
            for name, size in _files(folder):
                if found := _TEMPORARY_TABLE.match(name):
                    backend = int(found[1])
                    tables[backend] = tables.get(backend, 0) + size
                elif found := _SPILLED.match(name):
                    process = int(found[1])
                    sizes[process] = sizes.get(process, 0) + size
        if not tables:
            return sizes
        before_16 = self.connection.info.server_version < 160000
        query = _BACKENDS_BEFORE_16 if before_16 else _BACKENDS
        visited: dict[int, int] = dict(self.connection.execute(query.encode()).fetchall())
        # Between its transactions a session keeps the number that it was last seen with.
        alive_backends = (
            {b: p for b, p in self._backends.items() if p in alive} if before_16 else {}
        )
        self._backends = {**alive_backends, **{b: p for b, p in visited.items() if p in alive}}
        if before_16:
            for process in alive - set(self._backends.values()):
                self._backends.update(dict.fromkeys(_backends_by_open_files(process), process))
        for backend, size in tables.items():
            process = self._backends.get(backend, 0)
            sizes[process] = sizes.get(process, 0) + size
        return sizes


def _backends_by_open_files(process: int) -> set[int]:
    """Of a session that no look has found in a transaction: it alone opens its temporary tables."""
    found: set[int] = set()
    with suppress(OSError), os.scandir(f"/proc/{process}/fd") as entries:
        for entry in entries:
            with suppress(OSError):
                name = _TEMPORARY_TABLE.match(Path(entry.path).readlink().name)
                if name is not None:
                    found.add(int(name[1]))
    return found


def _folders(base: Path) -> Iterator[Path]:
    with suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            yield Path(entry.path)


def _files(folder: Path) -> Iterator[tuple[str, int]]:
    """Names and sizes of what can be temporary; a folder of a shared sort as one."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if folder.name != "pg_notify" and not entry.name.startswith(("t", "pgsql_tmp")):
                continue
            with suppress(OSError):  # gone meanwhile
                if entry.is_dir(follow_symlinks=False):
                    yield entry.name, sum(e.stat().st_size for e in Path(entry.path).iterdir())
                else:
                    yield entry.name, entry.stat(follow_symlinks=False).st_size


def _written(work: Work, statement_seconds: float) -> int:
    """Where the system does not say, whoever runs a statement may be the one."""
    if work.written_bytes is None:
        return _PAGE if statement_seconds else 0
    return work.written_bytes


# What statements write beside temporary tables: catalogues (a temporary table's columns, comments, function
# bodies), write-ahead log, the states of transactions. No limit of PostgreSQL's counts that.


_FILE = re.compile(r"(\d+)(?:_\w+)?(?:\.\d+)?")  # <filenode>[_fork][.segment]
_FIRST_OF_OURS = 16384  # FirstNormalObjectId: catalogues lie below, until they are rewritten
_BESIDE = ("pg_wal", "pg_xact", "pg_subtrans", "pg_multixact/members", "pg_multixact/offsets")
_LARGE = 8 << 20

_BLOATED = """\
SELECT c.oid::regclass::text FROM pg_catalog.pg_class c
WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'r' AND NOT c.relisshared
      AND pg_catalog.pg_total_relation_size(c.oid) > %s"""
_FILES = """\
SELECT pg_catalog.pg_relation_filenode(f.oid)::bigint
FROM pg_catalog.pg_class c CROSS JOIN LATERAL (
    SELECT c.oid UNION ALL SELECT c.reltoastrelid
    UNION ALL SELECT i.indexrelid FROM pg_catalog.pg_index i WHERE i.indrelid IN (c.oid, c.reltoastrelid)
) f WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'r' AND f.oid <> 0"""


class CatalogueGrowth:
    """
    Given    the superuser's connection string of a shadow's server, and its data directory
    """

    def __init__(self, server_dsn: str, data: Path) -> None:
        self._dsn = server_dsn
        self._data = data
        self._rewritten: dict[str, frozenset[int]] = {}  # by folder of a database

    def size(self) -> int:
        """Bytes now, of all databases."""
        total = sum(size for part in _BESIDE for _, size in _sizes(self._data / part))
        with suppress(OSError), os.scandir(self._data / "base") as folders:
            for folder in folders:
                rewritten = self._rewritten.get(folder.name, frozenset())
                for name, size in _sizes(Path(folder.path)):
                    found = _FILE.fullmatch(name)
                    if found is not None and (
                        int(found[1]) < _FIRST_OF_OURS or int(found[1]) in rewritten
                    ):
                        total += size
        return total

    def shrink(self) -> None:
        """Gives back what is not needed any more. What stays locked is left for the next time.

        Refuses  psycopg.Error where the server cannot be asked
        """
        with psycopg.connect(self._dsn, autocommit=True) as server:
            server.execute("CHECKPOINT")  # recycles the log
            databases = server.execute(
                "SELECT datname, oid::text FROM pg_catalog.pg_database WHERE datallowconn"
            ).fetchall()
        for name, folder in databases:
            with psycopg.connect(
                make_conninfo(self._dsn, dbname=name), autocommit=True
            ) as connection:
                connection.execute("SET lock_timeout = '500ms'; SET statement_timeout = '30s'")
                connection.execute("SET search_path = pg_catalog")
                for (table,) in connection.execute(_BLOATED.encode(), (_LARGE,)).fetchall():
                    with suppress(psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
                        connection.execute(
                            sql.SQL("VACUUM (FULL) pg_catalog.{}").format(sql.Identifier(table))
                        )
                rows = connection.execute(_FILES.encode()).fetchall()
                self._rewritten[folder] = frozenset(row[0] for row in rows if row[0] is not None)


def _sizes(folder: Path) -> Iterator[tuple[str, int]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # gone meanwhile
                if entry.is_file(follow_symlinks=False):
                    yield entry.name, entry.stat(follow_symlinks=False).st_size
