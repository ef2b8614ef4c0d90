"""What statements write beside temporary tables: catalogues (a temporary table's columns, comments, function
bodies), write-ahead log, the states of transactions. No limit of PostgreSQL's counts that."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

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
