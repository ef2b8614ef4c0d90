"""Both typed queries cost the same and give the same statements to the protected server.

What relations are called, and in which order their columns are numbered, is a matter of the readers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.compiler.compiling import compile_block
from proxy.engine.arguments import constants
from proxy.engine.settings import read_settings
from proxy.planner.facts import PlanningContext
from proxy.planner.planning import planned
from proxy.policy.allowed_mechanisms import allowed_mechanisms
from proxy.query.canonical.presented import presented
from proxy.query.canonical.statement import read_canonical
from proxy.query.ir.binding import bind
from proxy.query.ir.query import Query
from proxy.shadow.constant_evaluation import own_shadow
from tests.canonical.differences import BACKEND
from tests.canonical.test_rewritten_statements import canonical_of
from tests.cases import Case, in_folder
from tests.pipeline_world import CATALOG, EXPOSED, KNOWN_HELD, KNOWN_PUBLIC, POLICIES, read
from tests.planner.test_golden_pipeline import PIPELINE, arguments_of

_ALIAS = re.compile(r"\b(?:(?:dp_)?r\d+(?:u|_rows)?|c\d+)\b")
_WORD = re.compile(r"\w+|\W")


@pytest.fixture(scope="module")
def shadow() -> Iterator[psycopg.Connection]:
    with own_shadow(POLICIES["world"], CATALOG) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def _asked(case: Case, query: Query) -> list[str]:
    """The loss and the statements, or the refusal."""
    types, arguments = arguments_of(case)
    policy = POLICIES[case.headers.get("policy", "world")]
    written = case.headers.get("set", "")
    settings = dict(part.split("=") for part in filter(None, written.split(", ")))
    given = read_settings(settings, policy.privacy, allowed_mechanisms(policy))
    values = constants(arguments, types)
    bound = Query(tuple(bind(block, values) for block in query.blocks), query.scalars)
    known = PlanningContext(
        policy, CATALOG, KNOWN_PUBLIC, bounds=KNOWN_HELD, mechanism=given.mechanism
    )
    try:
        checked = planned(bound, known, given.loss).checked
    except Refusal as refusal:
        return [refusal.code.name]
    loss = checked.private.loss
    sql = [one.sql for block in checked.blocks for one in compile_block(block)]
    return [f"{loss.epsilon} {loss.delta}", *sorted(map(_normal, sql))]


def _normal(sql: str) -> str:
    """Its words in order, as relations may be numbered in another."""
    sql = _ALIAS.sub("a", sql).replace("::character varying", "::text")
    return "".join(sorted(_WORD.findall(sql)))


def test_backend_statements(shadow: psycopg.Connection) -> None:
    outcomes = Counter[str]()
    wrong = []
    for case in in_folder(PIPELINE):
        types, _ = arguments_of(case)
        found = read(case.statement, types)
        if found is None or not found[1].query.blocks:
            continue
        written = canonical_of(shadow, case)
        if written is None:
            continue
        names = [column.name for column in written.columns]
        ours = presented(read_canonical(written.text, EXPOSED, types), names)
        both = _asked(case, ours), _asked(case, found[1].query)
        is_equal = both[0] == both[1]
        outcomes["equal" if is_equal else "different"] += 1
        if is_equal == (case.name in BACKEND):
            wrong.append((case.place, case.statement, *both))
    print(dict(outcomes))
    assert wrong == []
