"""The one place that knows all classes: policies in, engines and listeners out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

import structlog

from proxy.catalog.catalog_model import Catalog, TableName, still_holds
from proxy.cli.judging_rows import (
    Judgement,
    judge,
    judged_rows,
    rows_while_serving,
    withheld_because,
)
from proxy.doctor.installed_postgres import Installation
from proxy.drawing.drawer import Drawer
from proxy.engine.os_random import OsRandom
from proxy.engine.own_status import ServingProcess
from proxy.engine.publishing import Publishing
from proxy.engine.query_pipeline import Engine, EngineInForce
from proxy.engine.releasing import Releasing
from proxy.ledger.engine_ledger import EngineLedger
from proxy.ledger.ledger_lease import BudgetLease
from proxy.ledger.ledger_sources import SourceError
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.noted_columns import (
    OtherColumns,
    later_columns,
    note_public_columns,
    note_unit_columns,
    remade_unit_columns,
)
from proxy.ledger.published_releases import PublishedReleases
from proxy.ledger.text_cipher import TextCipher
from proxy.mechanisms.bits import RandomBits
from proxy.planner.facts import PublicContents
from proxy.policy.findings import Verdict
from proxy.policy.policy_model import Policy
from proxy.policy.public_labels import as_labelled
from proxy.protected.catalog_reader import read_catalog
from proxy.protected.judged_rows import (
    CatalogueMoved,
    JudgedRows,
    OpenFinding,
    RowsWithheld,
    catalogue_state,
    with_judged_rows,
)
from proxy.protected.protected_database import SESSIONS_AT_ONCE, ProtectedDatabase
from proxy.protected.public_values import read_public_contents
from proxy.shadow.constant_evaluation import ShadowLabels
from proxy.shadow.published_statements import PublishedStatements
from proxy.shadow.shadow_database import Shadow, Unseen, as_analysts
from proxy.shadow.shadow_tables import ShadowError, withheld_names

_LEAST_SESSIONS = 2  # on the protected server, of each of many workers

_log = structlog.get_logger("dpproxy.assembly")


@dataclass(slots=True)
class Database:
    """One database, served: its shadow, its engine, and what they stand on. policy, catalog and the engine
    in force change together (`adopt`); looks: so many at the catalogue; open_findings: what is severe, and
    the tables that it closes; is_newer_there: a change could not be taken up; installation: what is judged
    with the database; changing: held by who reads or changes them beside the event loop."""

    policy: Policy
    catalog: Catalog
    shadow: Shadow
    in_force: EngineInForce
    protected: ProtectedDatabase
    ledger: EngineLedger
    lease: BudgetLease
    bits: RandomBits
    releases: PublishedReleases
    labels: ShadowLabels
    naming_key: bytes = field(repr=False)
    serving: ServingProcess = field(default_factory=ServingProcess)
    publishing: Publishing | None = None
    looks: int = 0
    looked_at: float = field(default_factory=time.monotonic)  # the catalogue was compared
    policy_since: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    open_findings: tuple[OpenFinding, ...] = ()
    is_newer_there: bool = False
    changing: threading.RLock = field(default_factory=threading.RLock)
    installation: Installation | None = None
    _judgement: Judgement | None = None  # of the last look, until it is handed out
    _judged_state: str = ""  # of the catalogue, by the last judgement
    _reported: bool = False  # to dp.policy, that a change is not in force
    _changed: frozenset[str] = frozenset()  # as `still_holds`, by the last look

    def __post_init__(self) -> None:
        self.publishing = self._publishing(self.engine)

    @property
    def engine(self) -> Engine:
        return self.in_force.now

    def _publishing(self, engine: Engine) -> Publishing | None:
        """Of the policy that the engine has."""
        if not engine.policy.publish:
            return None
        shadow = self.shadow
        statements = PublishedStatements(
            engine.policy, engine.known.catalog, lambda: as_analysts(shadow), shadow.show
        )
        releasing = Releasing(engine.drawer, self.releases, statements)
        return Publishing(engine, self.releases, releasing, statements)

    async def open(self) -> None:
        await self.protected.open()
        await self.ledger.open()

    async def close(self) -> None:
        await self.protected.close()
        await self.ledger.close()
        self.labels.close()
        self.lease.close()

    def refresh(self) -> None:
        """Copy public tables again, and read their keys anew, but for those that an open finding closes. Waits
        for both databases.

        Raises:
            RowsWithheld: Findings close all tables. The rows of before stay.
            ShadowError, psycopg.Error, CatalogueMoved: The rows of before stay, too.
        """

        def copy(rows: JudgedRows) -> None:
            if self.shadow.withheld - rows.closed:
                self._adopt(self.policy, self.catalog, lambda *_: None, rows)
                return
            contents = self._contents(self.policy, self.catalog, rows)
            self.shadow.refresh_public_tables(self.policy, self.catalog, rows)
            self.engine.renew(contents)

        with self.changing:
            with_judged_rows(self._judged, copy)
            self._tell_withheld()

    def _tell_withheld(self) -> None:
        public = withheld_names(self.policy, None)
        closing = [one for one in self.open_findings if one.closes and one.closes & public]
        if closing:
            told = withheld_because(RowsWithheld(closing))
            _log.error("public_tables_not_copied", database=self.policy.database, **told)

    def _judged(self) -> JudgedRows:
        """Ask for the verdict on the policy in force. Raises: RowsWithheld, after it is noted."""
        self._judgement = judge(self.policy, self.installation)
        self._judged_state = self._judgement.state
        try:
            rows = rows_while_serving(self._judgement, self._memory)
        except RowsWithheld as error:
            self._note(error.findings)
            raise
        self._note(rows.findings)
        return rows

    @property
    def seen(self) -> tuple[object, ...]:
        """Changes with what the looks find."""
        return self._judged_state, self.open_findings, self.engine.drawer.changed

    def take_verdict(self, policy: Policy, catalog: Catalog) -> Verdict | None:
        """Give the verdict of the last look, once, if it is on this policy and the database is still the same.

        Raises:
            psycopg.Error: The database cannot be asked.
        """
        judgement, self._judgement = self._judgement, None
        if judgement is None or judgement.problems or judgement.policy != policy:
            return None
        is_same = judgement.catalog == catalog and judgement.state == catalogue_state(policy.source)
        return judgement.verdict if is_same else None

    def _memory(self, policy: Policy, catalog: Catalog) -> list[OtherColumns]:
        of = self.lease.ledger_dsn, self.lease.source, policy, catalog
        return later_columns(*of) + remade_unit_columns(*of)

    def _note(self, findings: tuple[OpenFinding, ...]) -> None:
        """Refuse statements on the tables that findings close, and have dp.policy tell it."""
        self.open_findings = findings
        self.engine.drawer.changed = self._changed | self.closed_tables()
        with suppress(ShadowError):  # the policy's watch reports again, and logs what keeps it
            self._report()

    def closed_tables(self) -> frozenset[str]:
        """Tables that open findings close. One that stops all copies closes statements on the table that it
        names."""
        named = {one.where for one in self.open_findings if one.closes is None}
        closed = {str(name) for one in self.open_findings for name in one.closes or ()}
        return frozenset(closed | (named & {str(name) for name in self.policy.tables}))

    def _contents(
        self, policy: Policy, catalog: Catalog, rows: JudgedRows | None
    ) -> PublicContents:
        """Read what plans need of public tables; of those that are closed it is what was read before."""
        before = self.engine.public
        if rows is None:
            return before
        open_tables = {name: one for name, one in policy.tables.items() if name not in rows.closed}
        return read_public_contents(replace(policy, tables=open_tables), catalog).with_tables(
            before, rows.closed
        )

    def adopt(
        self,
        policy: Policy,
        catalog: Catalog,
        check: Callable[[PublishedStatements, Engine], None],
    ) -> None:
        """Another policy, or the same with another catalogue, is in force for each statement that begins from
        now on. Waits for all databases.

        Given    a policy of the same database and source, that was checked against the catalogue; check:
                 refuses what it publishes, called on its shadow before anybody sees it and limits change
        Refuses  BudgetsAwaited, ShadowBusy, CatalogueMoved: later it may be taken; RowsWithheld; ShadowError;
                 as check. Then all is as it was
        """
        with self.changing:
            with_judged_rows(
                lambda: judged_rows(policy, self._memory),
                lambda rows: self._adopt(policy, catalog, check, rows),
            )

    def _adopt(
        self,
        policy: Policy,
        catalog: Catalog,
        check: Callable[[PublishedStatements, Engine], None],
        rows: JudgedRows,
    ) -> None:
        before, publishing = (self.policy, self.catalog, self.engine), self.publishing
        engine_on = self._engine_of(policy, catalog, self._contents(policy, catalog, rows))
        self.lease.agree(policy)

        def take(
            relations: Mapping[TableName, int], labels: Mapping[int, int], unseen: Unseen
        ) -> None:
            # Sessions that have looked names up before know their tables by the numbers of then.
            known = {
                oid: name
                for oid, name in before[2].statements.relations.items()
                if name in relations
            }
            engine = engine_on(
                {**known, **{oid: name for name, oid in relations.items()}},
                {**before[2].statements.read_as, **labels},
            )
            engine.earlier = before[2].earlier | before[2].defaults()
            check(PublishedStatements(policy, catalog, unseen, self.shadow.show), engine)
            self.lease.change(policy)
            self.ledger.keep(policy.reuse)
            self.protected.renew(policy.source)
            self.policy, self.catalog, self.in_force.now = policy, catalog, engine
            self.publishing = self._publishing(engine)
            rows.confirm()  # what is public was read, though no row may have been copied
            self.is_newer_there = self._reported = False  # as dp.policy says by now
            self.open_findings = rows.findings
            if (policy, catalog) != before[:2]:
                self._changed = frozenset()
            engine.drawer.changed = self._changed | self.closed_tables()

        try:
            self.shadow.adopt(policy, catalog, before[:2], take, rows)
        except BaseException:
            self.policy, self.catalog, self.in_force.now = before
            self.publishing = publishing
            self.ledger.keep(before[0].reuse)
            self.protected.renew(before[0].source)
            with suppress(SourceError):  # others may have taken the new limits meanwhile
                self.lease.change(before[0])
            raise
        if policy.digest != before[0].digest:
            self.policy_since = datetime.now(timezone.utc)
        if self.open_findings:
            with suppress(ShadowError):  # as in _note
                self._report()

    def note_columns(self, catalog: Catalog) -> None:
        """Keep in the ledger what of public tables analysts are shown, and what tells units, from now on.

        Args:
            catalog: The newest one that the policy in force was judged against.

        Raises:
            psycopg.Error: The ledger cannot be asked.
        """
        of = self.lease.ledger_dsn, self.lease.source, self.policy, catalog
        for event, again in (
            ("public_tables_created_again", note_public_columns(*of)),
            ("tables_of_units_created_again", note_unit_columns(*of)),
        ):
            if again:
                names = sorted(map(str, again))
                _log.warning(event, database=self.policy.database, tables=names)

    def rebuild_shadow(self) -> None:
        """Build the shadow anew on an empty server, of the policy in force. Waits for all databases.

        Sessions of before have ended. So the new engine knows the new tables' numbers only. Public tables that
        an open finding closes are empty, and statements on them are refused.

        Raises:
            ShadowError, psycopg.Error: the shadow is not built. Call it again later.
        """
        with self.changing:
            try:
                with_judged_rows(self._judged, self._rebuild)
            except (RowsWithheld, CatalogueMoved) as error:
                name = self.policy.database
                _log.error("public_tables_not_copied", database=name, **withheld_because(error))
                self._rebuild(None)
            else:
                self._tell_withheld()

    def _rebuild(self, rows: JudgedRows | None) -> None:
        before = self.engine
        contents = self._contents(self.policy, self.catalog, rows)
        engine_on = self._engine_of(self.policy, self.catalog, contents)

        def take(relations: Mapping[TableName, int], labels: Mapping[int, int], _: Unseen) -> None:
            engine = engine_on({oid: name for name, oid in relations.items()}, labels)
            engine.earlier = before.earlier
            engine.drawer.changed = before.drawer.changed
            self.in_force.now = engine
            self.publishing = self._publishing(engine)

        self.shadow.build(self.policy, self.catalog, rows, take=take)
        self.engine.drawer.changed |= self.closed_tables()
        self._reported = False
        self._report()

    def retake_lease(self) -> None:
        """Take the lease on the budgets again, for the policy in force. Refuses  as BudgetLease.retake"""
        with self.changing:
            self.lease.retake(self.policy)

    def _engine_of(
        self, policy: Policy, catalog: Catalog, public: PublicContents
    ) -> Callable[[Mapping[int, TableName], Mapping[int, int]], Engine]:
        """Give what makes an engine from a shadow's tables and labels.

        What the policy publishes as before answers on. A source names all that it hangs on, so that it answers
        only what is the same question under this policy.
        """
        versions = {(one.name, one.version) for one in policy.publish}
        same = {one.name for one in self.policy.publish if (one.name, one.version) in versions}
        sources = [one for one in self.engine.published.sources if one.name in same]

        def engine_on(tables: Mapping[int, TableName], labels: Mapping[int, int]) -> Engine:
            engine = Engine(
                Drawer(policy, catalog, self.protected, self.bits),
                tables,
                self.ledger,
                public,
                read_as=labels,
                cached=None if policy.reuse is None else self.ledger,
                questions=self.ledger if policy.publish else None,
                naming_key=self.naming_key,
                serving=self.serving,
                evaluating=self.labels,
            )
            engine.published.replace(sources)
            return engine

        return engine_on

    def report(self, *, is_newer_there: bool) -> None:
        """For dp.policy: whether a change is there that is not in force."""
        self.is_newer_there = is_newer_there
        self._report()

    def _report(self) -> None:
        is_told = self.is_newer_there or bool(self.open_findings)
        if is_told != self._reported and self.shadow.is_built:
            self.shadow.report(is_newer_there=is_told)
            self._reported = is_told

    def look_for_changes(self) -> None:
        """Judge the policy and read the catalogue again. Refuse statements on tables that lost what plans rely
        on, and on those that an open severe finding closes."""
        with self.changing:
            self._judge_again()
            now = as_labelled(self.catalog, read_catalog(self.policy.source)).tables
            changed = frozenset(
                str(name)
                for name in self.policy.tables
                if not still_holds(self.catalog.tables[name], now.get(name))
            )
            self._changed = changed
            changed |= self.closed_tables()
            if changed != self.engine.drawer.changed:
                names = sorted(changed)
                _log.warning("tables_changed", database=self.policy.database, tables=names)
            self.engine.drawer.changed = changed
            self.looks += 1
            self.looked_at = time.monotonic()

    def _judge_again(self) -> None:
        """Ask for the verdict, and copy rows that were withheld and are not any more."""
        try:
            rows = self._judged()
        except RowsWithheld:
            return
        if self.shadow.withheld - rows.closed:
            self.refresh()

    async def is_ready(self) -> bool:
        return await self.protected.is_ready() and await self.ledger.is_ready()


def _public_contents(policy: Policy, catalog: Catalog, first: JudgedRows | None) -> PublicContents:
    """Read what plans need of public tables. first: the right under which the shadow's rows were copied."""
    given = [] if first is None else [first]

    def read(rows: JudgedRows) -> PublicContents:
        contents = read_public_contents(policy, catalog)
        rows.confirm()
        return contents

    return with_judged_rows(lambda: given.pop() if given else judged_rows(policy), read)


def assemble(
    policy: Policy,
    catalog: Catalog,
    shadow: Shadow,
    lease: BudgetLease,
    texts: TextCipher,
    bits: RandomBits | None = None,
    workers: int = 1,
) -> Database:
    """One database. The shadow must have been built from this policy and catalogue, and the lease is on the
    budgets of its data.

    texts: what hides statements in the ledger; bits: the operating system's unless a test brings its own;
    workers: so many processes share the sessions that a database may have on the protected server.
    """
    relations = {oid: name for name, oid in shadow.relation_oids().items()}
    share = max(_LEAST_SESSIONS, SESSIONS_AT_ONCE // workers)
    protected = ProtectedDatabase(policy.source, sessions_max=share)
    is_cached = policy.reuse is not None
    tables = LedgerTables(
        lease.ledger_dsn,
        lease.source,
        texts,
        is_cached=is_cached,
        proof=lambda: lease.proof,
    )
    ledger = EngineLedger(tables, policy.reuse)
    cached = None if policy.reuse is None else ledger
    bits, serving = bits or OsRandom(), ServingProcess()
    labels = ShadowLabels(lambda: as_analysts(shadow))
    engine = Engine(
        Drawer(policy, catalog, protected, bits),
        relations,
        ledger,
        _public_contents(policy, catalog, shadow.rows),
        read_as=shadow.label_oids(),
        cached=cached,
        questions=ledger if policy.publish else None,
        naming_key=texts.naming_key,
        serving=serving,
        evaluating=labels,
    )
    in_force, releases = EngineInForce(engine), PublishedReleases(tables)
    return Database(
        *(policy, catalog, shadow, in_force, protected, ledger, lease, bits, releases, labels),
        texts.naming_key,
        serving,
    )
