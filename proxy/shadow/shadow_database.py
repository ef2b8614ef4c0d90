"""The shadow of one protected database: same tables, no data, no right to read a protected table.

Built from the policy and the catalogue, never from a dump. It is disposable: its server is made anew at
every start of the program, and nothing in it is worth keeping.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.resources import files

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.base import limits
from proxy.base.decimals import decimal_text
from proxy.base.session_settings import BY_POLICY
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.engine.published_ports import PublishedTable
from proxy.ledger.analysts_role import ANALYSTS
from proxy.planner.facts import PublicValues
from proxy.policy.policy_model import Policy, PublicTable
from proxy.policy.publication import PUBLISHED_SCHEMA
from proxy.postgres.failure_reason import reason_of
from proxy.protected.judged_rows import JudgedRows
from proxy.shadow import published_tables
from proxy.shadow.shadow_guard import ShadowRights, check_guard, required_rights, with_published
from proxy.shadow.shadow_making import (
    drop_schemas,
    known_types,
    label_oids,
    make_tables,
    relation_oids,
    replace_public_rows,
)
from proxy.shadow.shadow_roles import ensure_group
from proxy.shadow.shadow_tables import (
    ShadowBusy,
    ShadowError,
    ShadowTable,
    comments,
    exposed_columns,
    shadow_tables,
    withheld,
    withheld_names,
)

_PACKAGE = files("proxy.shadow")
_PARTS = tuple(
    _PACKAGE.joinpath(name).read_text(encoding="utf-8")
    for name in ("shadow.sql", "shadow_catalogue.sql", "shadow_grants.sql")
)
# Lock not available, statement timeout, deadlock, a row of the catalogue that changed meanwhile.
_BUSY = ("55P03", "57014", "40P01", "40001", "XX000")
_COPIED = ("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'",)
_COMMENTS = 2000  # in one message: a session of the shadow may use little memory
_TAKEN = (
    "ALTER DATABASE template0 RENAME TO {name}",
    "ALTER DATABASE {name} ALLOW_CONNECTIONS true IS_TEMPLATE false",
    "COMMENT ON DATABASE {name} IS NULL",
)
_VERIFY_LOCK_TIMEOUT = "10s"
_CHECK_TIMEOUT = "10s"  # of what a policy publishes, while it is taken up
# A change gives up its place in the queue for a table soon: statements of others stand behind it. lock_watch
# ends an open transaction that was in its way twice.
_LOCK_TIMEOUT = "500ms"
_COPY_LOCK_TIMEOUT = "2s"  # once an hour, and only where a constraint is gone
_OTHER_BUILDERS = "10s"  # nobody waits behind them


# OIDs of tables; those of labels as of label_oids; opens what an analyst will see, with the rights of analysts.
Unseen = Callable[[], AbstractContextManager[psycopg.Connection]]
Taking = Callable[[Mapping[TableName, int], Mapping[int, int], Unseen], None]


class Shadow:
    """One shadow database on a server that is dpproxy's own."""

    def __init__(self, server_dsn: str, database: str, address: tuple[str, int]) -> None:
        """
        Given    the superuser's way into the shadow's server (EmbeddedPostgres.dsn());
                 the database's name; host (or socket directory) and port for analysts
        """
        self.database = database
        self.analyst_host_port = address
        self._server_dsn = server_dsn
        self._required_rights: ShadowRights | None = None
        self._rights_lock = threading.Lock()  # what is looked for is what was made
        self._policy: Policy | None = None  # that it is built of
        self._published: tuple[PublishedTable, ...] = ()
        self.rows: JudgedRows | None = None  # under which public rows were copied at the last build
        # Public tables that are empty, and that analysts may not read.
        self.withheld: frozenset[TableName] = frozenset()

    def __repr__(self) -> str:  # the DSN holds a password
        return f"Shadow({self.database!r})"

    @property
    def superuser_dsn(self) -> str:
        """Holds a password: never log it."""
        return make_conninfo(self._server_dsn, dbname=self.database)

    @property
    def is_built(self) -> bool:
        return self._required_rights is not None

    def forget(self) -> None:
        """Its server has ended, and it with it. What is published stays known for the next `build`."""
        with self._rights_lock:
            self._required_rights = None

    def build(
        self,
        policy: Policy,
        catalog: Catalog,
        rows: JudgedRows | None,
        *,
        is_last: bool = False,
        take: Taking | None = None,
        withholds: bool = True,
    ) -> None:
        """Make the shadow what the policy says, in one transaction; or leave it as it was.

        Given    a policy that was checked against the catalogue; rows: the right to copy public rows, None:
                 public tables are empty; withholds: analysts may not read those that are empty; is_last: no
                 database is made on this server after this one, so that it may take the template itself instead
                 of a copy; take: as of `adopt`
        Refuses  a policy that does not fit; an analyst's transaction that keeps a table too long; as
                 JudgedRows.confirm
        """
        self._ensure_database(is_last=is_last)
        try:
            names = withheld_names(policy, rows) if withholds else frozenset()
            self._build(policy, catalog, rows, take, names)
        except psycopg.errors.LockNotAvailable:
            raise ShadowError(
                "open transactions of analysts hold the shadow's tables: it stays as it was"
            ) from None

    def adopt(
        self,
        policy: Policy,
        catalog: Catalog,
        before: tuple[Policy, Catalog],
        take: Taking,
        rows: JudgedRows,
    ) -> None:
        """Make the shadow of one policy that of another, while analysts use it, in one transaction; or leave it
        as it was. Where tables and columns stay, nothing is locked that a query needs. Public tables that the
        right does not reach are empty where the shadow is made anew.

        Given    before: what it was built from; take: called when all is made and nobody sees it yet; what it
                 raises undoes everything; rows: the right to copy public rows
        Refuses  ShadowBusy: an analyst's transaction keeps a table too long; ShadowError; as
                 JudgedRows.confirm
        """
        with self._rights_lock:
            self._adopt(policy, catalog, before, take, rows)

    def _adopt(
        self,
        policy: Policy,
        catalog: Catalog,
        before: tuple[Policy, Catalog],
        take: Taking,
        rows: JudgedRows,
    ) -> None:
        try:
            with self._building() as connection:
                tables = shadow_tables(policy, catalog, known_types(connection, policy, catalog))
                known = known_types(connection, *before)
                names = self.withheld
                if tables == shadow_tables(*before, known) and not names - rows.closed:
                    rights = self._describe(connection, policy, catalog, withheld(tables, names))
                else:
                    names = withheld_names(policy, rows)
                    rights = self._make(connection, policy, catalog, tables, rows, names)
                take(
                    relation_oids(connection),
                    label_oids(connection),
                    lambda: self._unseen(connection, policy),
                )
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
            raise ShadowBusy("open transactions of analysts hold the shadow's tables") from None
        except psycopg.Error as error:
            raise ShadowError(
                f"it could not be made anew ({error.sqlstate or reason_of(error)})"
            ) from None
        self._built(policy, rights, names)

    @contextmanager
    def _unseen(
        self, connection: psycopg.Connection, policy: Policy
    ) -> Iterator[psycopg.Connection]:
        """In the transaction that makes a shadow, what an analyst would see of it. Nothing of it stays."""
        with connection.transaction(force_rollback=True):
            connection.execute(f"SET LOCAL statement_timeout = '{_CHECK_TIMEOUT}'")
            connection.execute("SET LOCAL allow_system_table_mods = off")
            schemas = sql.SQL(", ").join(map(sql.Identifier, _search_path(policy)))
            connection.execute(sql.SQL("SET LOCAL search_path = {}").format(schemas))
            connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(ANALYSTS)))
            yield connection

    def _build(
        self,
        policy: Policy,
        catalog: Catalog,
        rows: JudgedRows | None,
        take: Taking | None,
        names: frozenset[TableName],
    ) -> None:
        with self._rights_lock:
            with self._building() as connection:
                tables = shadow_tables(policy, catalog, known_types(connection, policy, catalog))
                rights = self._make(connection, policy, catalog, tables, rows, names)
                if take is not None:
                    take(
                        relation_oids(connection),
                        label_oids(connection),
                        lambda: self._unseen(connection, policy),
                    )
            self._built(policy, rights, names)
            self.rows = rows

    def _built(self, policy: Policy, rights: ShadowRights, names: frozenset[TableName]) -> None:
        self._required_rights, self._policy, self.withheld = rights, policy, names
        self._published = published_tables.of_policy(policy, self._published)

    @contextmanager
    def _building(self) -> Iterator[psycopg.Connection]:
        """One transaction, of one builder at a time."""
        with psycopg.connect(self.superuser_dsn) as connection:
            connection.execute("SET search_path = pg_catalog; SET statement_timeout = 0")
            connection.execute("SET allow_system_table_mods = on")  # a schema named pg_...
            _wait_for_other_builders(connection, _OTHER_BUILDERS)
            yield connection

    def _make(
        self,
        connection: psycopg.Connection,
        policy: Policy,
        catalog: Catalog,
        tables: tuple[ShadowTable, ...],
        rows: JudgedRows | None,
        names: frozenset[TableName],
    ) -> ShadowRights:
        tables = withheld(tables, names)
        drop_schemas(connection)
        for part in _PARTS:
            connection.execute(part)
        make_tables(connection, tables, rows)
        return self._describe(connection, policy, catalog, tables)

    def _describe(
        self,
        connection: psycopg.Connection,
        policy: Policy,
        catalog: Catalog,
        tables: tuple[ShadowTable, ...],
    ) -> ShadowRights:
        """What is told of tables that are there, what is published, and their guard."""
        rights = published_tables.place_for(
            policy, connection, self._published, required_rights(tables)
        )
        keys = referenced_keys(policy, catalog, connection)
        columns = exposed_columns(policy, catalog, tables, keys)
        said = list(comments(policy, catalog, tables, columns))
        for begin in range(0, len(said), _COMMENTS):
            connection.execute(sql.SQL("; ").join(said[begin : begin + _COMMENTS]))
        connection.execute("DELETE FROM dp.exposed_column")
        connection.cursor().executemany(
            "INSERT INTO dp.exposed_column VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            [(position, *row) for position, row in enumerate(columns)],
        )
        connection.execute("DELETE FROM dp.policy_in_force")
        connection.execute(
            "INSERT INTO dp.policy_in_force VALUES (%s, clock_timestamp(), NULL)", (policy.digest,)
        )
        check_guard(connection, rights)
        for default in self._defaults(policy):
            connection.execute(default)
        return rights

    def report(self, *, is_newer_there: bool) -> None:
        """What dp.policy says of a change that is there and not in force. Refuses  ShadowError"""
        try:
            with psycopg.connect(self.superuser_dsn, connect_timeout=10) as connection:
                connection.execute("SET lock_timeout = '5s'; SET search_path = pg_catalog")
                connection.execute(
                    "UPDATE dp.policy_in_force SET not_taken_since"
                    " = CASE WHEN %s THEN coalesce(not_taken_since, clock_timestamp()) END",
                    (is_newer_there,),
                )
        except psycopg.Error as error:
            raise ShadowError(f"dp.policy could not be written ({reason_of(error)})") from None

    def show(self, tables: Sequence[PublishedTable]) -> None:
        """The published tables, all of them, in one transaction: who reads sees those before or these.

        Given    of these those that count that the policy by now publishes
        Refuses  ShadowError: they stay as they were
        """
        with self._rights_lock:
            if self._required_rights is None:
                raise ShadowError("the shadow was not built")
            tables = published_tables.of_policy(self._policy, tables)
            rights = with_published(self._required_rights, published_tables.published_names(tables))
            try:
                with self._locked() as connection:
                    published_tables.place(connection, tables)
                    check_guard(connection, rights)
            except psycopg.Error as error:
                kind = error.sqlstate or reason_of(error)
                raise ShadowBusy(f"published tables could not be renewed ({kind})") from None
            self._required_rights, self._published = rights, tuple(tables)

    def verify(self) -> tuple[str, ...]:
        """Compare the guard with what it must be, and repair it.

        Given    a shadow that was built
        Gives    the names of what was repaired, for the log; nothing where all was right
        Refuses  ShadowError: what cannot be repaired, or a shadow that cannot be reached; ShadowBusy: what an
                 analyst's locks, or many logins, can bring about
        """
        with self._rights_lock:
            return self._verified()

    @contextmanager
    def _locked(self) -> Iterator[psycopg.Connection]:
        """A transaction beside which no other changes the shadow."""
        with psycopg.connect(self.superuser_dsn, connect_timeout=10) as connection:
            _wait_for_other_builders(connection, _VERIFY_LOCK_TIMEOUT)
            yield connection

    def _verified(self) -> tuple[str, ...]:
        if self._required_rights is None:
            raise ShadowError("the shadow was not built")
        try:
            with self._locked() as connection:
                # A repair comes first: it waits for rows, which keep nobody else waiting.
                _set_lock_timeout(connection, _VERIFY_LOCK_TIMEOUT)
                connection.execute("SET statement_timeout = '30s'")
                return check_guard(connection, self._required_rights)
        except psycopg.Error as error:
            kind = error.sqlstate or reason_of(error)
            is_busy = isinstance(error, psycopg.errors.ConnectionTimeout) or kind in _BUSY
            refusal = ShadowBusy if is_busy else ShadowError
            raise refusal(f"its guard could not be verified ({kind})") from None

    def _defaults(self, policy: Policy) -> Iterator[sql.Composed]:
        """The policy's schemas, so that a bare \\d shows their tables and a bare name finds them; what one
        statement costs, so that SHOW and current_setting() know it."""
        privacy = policy.privacy
        values: dict[tuple[str, ...], sql.Composable] = {
            ("search_path",): sql.SQL(", ").join(map(sql.Identifier, _search_path(policy))),
            ("dp", "epsilon"): sql.Literal(decimal_text(privacy.epsilon)),
            ("dp", "delta"): sql.Literal(decimal_text(privacy.delta)),
            ("dp", "mechanism"): sql.Literal(BY_POLICY),
            ("dp", "previews"): sql.Literal(policy.previews.value),
            ("dp", "notice"): sql.Literal("on" if privacy.has_notices else "off"),
        }
        for name, value in values.items():
            yield sql.SQL("ALTER DATABASE {} SET {} = {}").format(
                sql.Identifier(self.database), sql.Identifier(*name), value
            )

    def refresh_public_tables(self, policy: Policy, catalog: Catalog, rows: JudgedRows) -> None:
        """Copy the rows of the public tables again, in one transaction.

        Refuses  ShadowError where they cannot be read or written, and as JudgedRows.confirm: they stay as they
                 were
        """
        try:
            self._refresh(policy, catalog, rows)
        except psycopg.Error as error:
            kind = error.sqlstate or reason_of(error)
            raise ShadowError(f"its public tables could not be copied again ({kind})") from None

    def _refresh(self, policy: Policy, catalog: Catalog, rows: JudgedRows) -> None:
        with psycopg.connect(self.superuser_dsn) as connection:
            # Foreign keys between public tables are not checked meanwhile: not all are valid.
            connection.execute("SET LOCAL session_replication_role = replica")
            _set_lock_timeout(connection, _COPY_LOCK_TIMEOUT)
            known = known_types(connection, policy, catalog)
            replace_public_rows(connection, shadow_tables(policy, catalog, known), rows)

    def relation_oids(self) -> dict[TableName, int]:
        """The shadow's OID of every exposed table, and of the relations of dp that the proxy answers; they
        change with every rebuild."""
        with psycopg.connect(self.superuser_dsn) as connection:
            return relation_oids(connection)

    def label_oids(self) -> dict[int, int]:
        """The shadow's OIDs of the policy's enumerations, and of arrays of them -> of the texts that their
        values are; they change with every rebuild."""
        with psycopg.connect(self.superuser_dsn) as connection:
            return label_oids(connection)

    def _ensure_database(self, *, is_last: bool) -> None:
        """CREATE DATABASE cannot run in a transaction. Nobody but analysts gets in, and only here."""
        name = sql.Identifier(self.database)
        with psycopg.connect(self._server_dsn, autocommit=True) as connection:
            ensure_group(connection)
            connection.execute("SELECT pg_advisory_lock(hashtextextended('dp.database', 0))")
            there = _databases(connection)
            if self.database not in there:
                for statement in _TAKEN if is_last else _COPIED:
                    connection.execute(sql.SQL(statement).format(name=name))
            for closed in {"postgres", "template1"} & there | {self.database}:
                connection.execute(
                    sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(closed))
                )


def _search_path(policy: Policy) -> list[str]:
    schemas = ["$user", "public", *sorted({name.schema for name in policy.tables} - {"public"})]
    if policy.publish:
        schemas.append(PUBLISHED_SCHEMA)  # last: no name of a table means another
    return schemas


@contextmanager
def as_analysts(shadow: Shadow) -> Iterator[psycopg.Connection]:
    """A connection with the rights of analysts, and of none of them."""
    with psycopg.connect(shadow.superuser_dsn, autocommit=True) as connection:
        connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(ANALYSTS)))
        yield connection


def _wait_for_other_builders(connection: psycopg.Connection, limit: str) -> None:
    """No two change a shadow at a time. From here on, locks are waited for shortly."""
    _set_lock_timeout(connection, limit)
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('dp.build', 0))")
    _set_lock_timeout(connection, _LOCK_TIMEOUT)
    # An autovacuum that is in the way is ended after this time, which must be below that of the lock. In a
    # deadlock with an analyst this side would lose then: lock_watch must have ended the other one before.
    connection.execute("SET deadlock_timeout = '200ms'")


def _set_lock_timeout(connection: psycopg.Connection, limit: str) -> None:
    connection.execute(sql.SQL("SET lock_timeout = {}").format(sql.Literal(limit)))


def _databases(connection: psycopg.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT datname FROM pg_database")}


def referenced_keys(
    policy: Policy, catalog: Catalog, connection: psycopg.Connection
) -> PublicValues:
    """Give one value of each key with few enough values, none of an empty table.

    Args:
        policy: Checked against the catalogue.
        catalog: Of the source.
        connection: To the shadow, whose public tables have their rows.
    """
    wanted = dict.fromkeys(
        column.references
        for table in policy.protected()
        for column in table.columns.values()
        if column.references is not None
    )
    found: dict[tuple[TableName, str], tuple[str | None, ...]] = {}
    for name, key in wanted:
        table, described = policy.tables.get(name), catalog.tables[name].column(key)
        if not isinstance(table, PublicTable) or described is None or not described.has_keys:
            continue
        statement = sql.SQL("SELECT DISTINCT {key}::text FROM {table} LIMIT {most}").format(
            key=sql.Identifier(key),
            table=sql.Identifier(*name),
            most=sql.Literal(limits.GROUPS_PER_STATEMENT + 1),
        )
        rows = connection.execute(statement).fetchall()
        if len(rows) <= limits.GROUPS_PER_STATEMENT:
            found[name, key] = tuple(text for (text,) in rows[:1])
    return found
