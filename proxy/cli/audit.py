"""`dpproxy audit`: the neighbour audit of a policy, on invented data in an embedded PostgreSQL of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from proxy.audit.audit_queries import default_questions
from proxy.audit.neighbour_audit import Audit, AuditedChange, AuditedQuery, Auditor, audited_bounds
from proxy.audit.synthetic_copies import (
    CopiedRows,
    copied_names,
    synthetic_copies,
    with_copies,
)
from proxy.audit.synthetic_database import SyntheticDatabase
from proxy.audit.synthetic_values import Choices
from proxy.audit.uncharged_reads import UnchargedReads
from proxy.base.errors import Refusal
from proxy.cli.explain_command import NoData, NoLedger, resolved
from proxy.cli.loading import CheckedPolicy
from proxy.cli.progress import counted
from proxy.drawing.drawer import Drawer
from proxy.engine.machine_clock import day_of_machine
from proxy.engine.query_pipeline import Engine
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.protected.protected_database import ProtectedDatabase
from proxy.protected.public_values import read_public_contents
from proxy.shadow.constant_evaluation import ShadowLabels, read_with_constants, synthetic_database


@dataclass(frozen=True, slots=True)
class Size:
    """rows: of each table beside those of the large units; distance: units that are taken out together."""

    rows: int = 40
    seed: int = 1
    distance: int = 1


@dataclass(frozen=True, slots=True)
class Audited:
    """refused: questions that the policy does not answer, with the reason."""

    audit: Audit
    audited_query: tuple[AuditedQuery, ...]
    refused: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _ShownData:
    """On a terminal, how many of the neighbours have been compared."""

    synthetic: SyntheticDatabase

    def changes(self) -> Iterator[AuditedChange]:
        yield from counted(self.synthetic.changes(), "comparing neighbours")

    def applied(self, change: AuditedChange) -> AbstractContextManager[None]:
        return self.synthetic.applied(change)

    def copied(self) -> Mapping[str, CopiedRows]:
        return self.synthetic.copied()


async def audited(checked: CheckedPolicy, questions: str | None, size: Size) -> Audited:
    """
    Given    questions: statements divided by semicolons; None: default_questions
    Gives    the audit; what the real database holds is not read, only its catalogue
    """
    policy, catalog = checked.policy, checked.catalog
    with tempfile.TemporaryDirectory(prefix="dpproxy-audit-") as folder:
        server = EmbeddedPostgres(Path(folder), "synthetic", tcp=False, durable=False)
        server.start()
        try:
            synthetic = SyntheticDatabase(
                server.dsn(),
                policy,
                catalog,
                rows=size.rows,
                seed=size.seed,
                distance=size.distance,
            )
            try:
                return await _on(checked, synthetic, questions, size)
            finally:
                synthetic.close()
        finally:
            server.stop()


async def _on(
    checked: CheckedPolicy, synthetic: SyntheticDatabase, questions: str | None, size: Size
) -> Audited:
    # Public tables are synthetic too: their keys are the synthetic ones.
    policy = replace(checked.policy, source=synthetic.dsn)
    copies = synthetic_copies(policy, checked.catalog)
    catalog, copied = with_copies(checked.catalog, copies), copied_names(copies)
    oids = dict(enumerate(sorted(policy.tables), start=1))
    bits = Choices(size.seed + 1)
    public = read_public_contents(policy, catalog)
    labels = ShadowLabels(lambda: synthetic_database(synthetic.dsn))
    engine = Engine(
        *(Drawer(policy, catalog, NoData(), bits), oids, NoLedger(), public),
        evaluating=labels,
    )
    if questions is None:
        texts = list(default_questions(checked.policy))
    else:
        texts = [
            text.strip() for _, text in engine.statements.split(questions) if text.strip(" \n;")
        ]
    day = day_of_machine()
    audited_query: list[AuditedQuery] = []
    refused: list[tuple[str, str]] = []
    for text in texts:
        try:
            question, constants = read_with_constants(
                engine.statements,
                text,
                lambda found: resolved(found, oids),
                lambda: synthetic_database(synthetic.dsn),
            )
            if question is None:
                refused.append((text, "reads no protected table"))
                continue
            plan = engine.planned(question, {}, None, constants, day)
            bounded = engine.checked(question, {}, audited_bounds(plan), constants, day)
            scalars = question.reading.query.scalars
            audited_query.append(AuditedQuery(text, bounded, scalars))
            if not copied:
                continue
            plan = engine.planned(question, {}, None, constants, day, copied)
            on_copy = engine.checked(question, {}, audited_bounds(plan), constants, day, copied)
            if on_copy.private != bounded.private:
                audited_query.append(AuditedQuery(f"{text} (prepared copy)", on_copy, scalars))
        except Refusal as refusal:
            refused.append((text, refusal.message))
    data = ProtectedDatabase(synthetic.dsn, sessions_max=1)
    await data.open()
    try:
        audit = await Auditor(UnchargedReads(data), bits).audit(
            audited_query, _ShownData(synthetic)
        )
    finally:
        await data.close()
    return Audited(audit, tuple(audited_query), tuple(refused))


def uncompared(audited: Audited) -> Sequence[str]:
    """Questions of which nothing could be compared, though they ran."""
    found = {finding.sql for finding in audited.audit.findings} | set(audited.audit.failed)
    return [
        audited_query.sql
        for audited_query in audited.audited_query
        if audited_query.sql not in found
    ]
