"""Fifty questions of every kind on the demo's data, each with what the layers make of it:
tests/golden/fifty_queries.

A case says what its output columns are:

    key        equal to what PostgreSQL answers, and names the row
    3          noise of the third entry of the answer's `accuracy`
    [avg(x)]   an aggregate whose interval dp.low and dp.high tell
    ~x         an order statistic of x, off by ranks
    ?1         sample and aggregate: the first release, with a private scale
    ={1} + {2} made from other columns of the answer, in PostgreSQL's own arithmetic
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proxy.base.sql_types import SqlType
from proxy.cli.explain_command import NoData, NoLedger, resolved
from proxy.drawing.drawer import Drawer
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.query_pipeline import Engine
from proxy.kernel.plan import PrivatePlan
from proxy.planner.facts import PublicContents
from proxy.policy.check import check, fitted
from proxy.policy.policy_model import Policy
from proxy.policy_file.policy_yaml import locate, read_policy
from proxy.query.syntax.statements import Statement
from tests.cases import Case, in_folder
from tests.fifty_queries.demo_tables import CATALOGS, PUBLIC
from tests.postgres_labels import POSTGRES_LABELS
from tests.seeded_bits import SeededBits

FOLDER = Path(__file__).parents[1] / "golden" / "fifty_queries"


@cache
def policy(database: str) -> Policy:
    path = FOLDER / f"{database}.yaml"
    text, catalog = path.read_text(encoding="utf-8"), CATALOGS[database]
    read = read_policy(text, path.name, {"DSN": "host=nowhere"})
    problems = str(locate(check(read, catalog), text, path.name))
    assert problems == "", problems
    return fitted(read, catalog)


@dataclass(frozen=True)
class Planned:
    question: ProtectedQuery
    plan: PrivatePlan


@cache
def _engine(database: str) -> Engine:
    here = policy(database)
    oids = dict(enumerate(sorted(here.tables), start=1))
    public = PublicContents(values=PUBLIC[database])
    return Engine(
        Drawer(here, CATALOGS[database], NoData(), SeededBits(1)),
        oids,
        NoLedger(),
        public,
        evaluating=POSTGRES_LABELS,
    )


def database_of(case: Case) -> str:
    return case.path.stem


def arguments_of(case: Case) -> tuple[tuple[SqlType, ...], tuple[str, ...]]:
    """`-- parameters: integer 40, text "South"`: values as JSON."""
    pairs = [part.rsplit(" ", 1) for part in case.headers.get("parameters", "").split(", ") if part]
    types = tuple(next(kind for kind in SqlType if kind.sql == name) for name, _ in pairs)
    return types, tuple(value for _, value in pairs)


def arguments_as_text(case: Case) -> tuple[str, ...]:
    """As a client sends them."""
    return tuple(str(json.loads(value)) for value in arguments_of(case)[1])


def planned(case: Case) -> Planned:
    """
    Refuses  as the engine does
    """
    engine = _engine(database_of(case))
    oids = dict(enumerate(sorted(engine.policy.tables), start=1))
    found = engine.statements.look(case.statement)
    assert isinstance(found, Statement), case.place
    types, arguments = arguments_of(case)
    question = engine.statements.read(
        found, resolved(found, oids), tuple(kind.oid for kind in types)
    )
    assert question is not None, case.place
    plan = engine._planned(question, arguments, {}).private
    return Planned(question, plan)


def cases() -> list[Case]:
    return list(in_folder(FOLDER))
