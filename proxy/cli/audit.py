"""`dpproxy audit`: the neighbour audit of a policy, on invented data in an embedded PostgreSQL of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from proxy.audit.audit_questions import default_questions
from proxy.audit.auditing import Asked, Audit, Auditor
from proxy.audit.planted import Planted
from proxy.audit.planted_values import Choices
from proxy.base.errors import Refusal
from proxy.cli.explanation import NoData, UnspentLedger, resolved
from proxy.cli.loading import CheckedPolicy
from proxy.engine.query_pipeline import Engine
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.protected.protected_database import ProtectedDatabase
from proxy.protected.public_values import read_public_values
from proxy.query.syntax.statements import Statement


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
    asked: tuple[Asked, ...]
    refused: tuple[tuple[str, str], ...]


async def audited(checked: CheckedPolicy, questions: str | None, size: Size) -> Audited:
    """
    Given    questions: statements divided by semicolons; None: default_questions
    Gives    the audit; what the real database holds is not read, only its catalogue
    """
    policy, catalog = checked.policy, checked.catalog
    with tempfile.TemporaryDirectory(prefix="dpproxy-audit-") as folder:
        server = EmbeddedPostgres(Path(folder), "planted", tcp=False, durable=False)
        server.start()
        try:
            planted = Planted(
                server.dsn(),
                policy,
                catalog,
                rows=size.rows,
                seed=size.seed,
                distance=size.distance,
            )
            try:
                return await _on(checked, planted, questions, size)
            finally:
                planted.close()
        finally:
            server.stop()


async def _on(
    checked: CheckedPolicy, planted: Planted, questions: str | None, size: Size
) -> Audited:
    # Public tables are planted too: their keys are the planted ones.
    policy = replace(checked.policy, source=planted.dsn)
    oids = dict(enumerate(sorted(policy.tables), start=1))
    bits = Choices(size.seed + 1)
    public = read_public_values(policy, checked.catalog)
    engine = Engine(policy, checked.catalog, oids, NoData(), UnspentLedger(policy), bits, public)
    if questions is None:
        texts = list(default_questions(checked.policy))
    else:
        texts = [
            text.strip() for _, text in engine.statements.split(questions) if text.strip(" \n;")
        ]
    asked: list[Asked] = []
    refused: list[tuple[str, str]] = []
    for text in texts:
        try:
            found = engine.statements.look(text)
            question = None
            if isinstance(found, Statement):
                question = engine.statements.read(found, resolved(found, oids), ())
            if question is None:
                refused.append((text, "asks nothing of a protected table"))
                continue
            plan = engine.planned(question, {})
            asked.append(Asked(text, plan, question.reading.query.scalars))
        except Refusal as refusal:
            refused.append((text, refusal.message))
    data = ProtectedDatabase(planted.dsn, sessions_max=1)
    await data.open()
    try:
        audit = await Auditor(data, bits).audit(asked, planted)
    finally:
        await data.close()
    return Audited(audit, tuple(asked), tuple(refused))


def uncompared(audited: Audited) -> Sequence[str]:
    """Questions of which nothing could be compared, though they ran."""
    found = {finding.sql for finding in audited.audit.findings} | set(audited.audit.failed)
    return [asked.sql for asked in audited.asked if asked.sql not in found]
