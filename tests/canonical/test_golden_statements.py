"""Golden statements in both readers, on a real shadow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import psycopg
import pytest

from proxy.query.ir.query import AggregateBlock
from proxy.shadow.constant_evaluation import own_shadow
from tests.canonical.both_readers import Outcome, Verdict, compare
from tests.canonical.differences import ACCEPTED, GOLDEN, NO_TEXT
from tests.cases import Case, in_folder
from tests.pipeline_world import CATALOG, EXPOSED, POLICIES, read
from tests.planner.test_golden_pipeline import PIPELINE, REFUSED, arguments_of


@pytest.fixture(scope="module")
def shadow() -> Iterator[psycopg.Connection]:
    with own_shadow(POLICIES["world"], CATALOG) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def _verdict(connection: psycopg.Connection, case: Case) -> Verdict:
    types, _ = arguments_of(case)

    def today() -> Sequence[AggregateBlock] | None:
        found = read(case.statement, types)
        return None if found is None else found[1].query.blocks

    return compare(connection, case.statement, types, EXPOSED, today)


def test_answered_statements_are_read_alike(shadow: psycopg.Connection) -> None:
    outcomes = Counter[Outcome]()
    wrong = []
    for case in in_folder(PIPELINE):
        verdict = _verdict(shadow, case)
        outcomes[verdict.outcome] += 1
        reasons = NO_TEXT if verdict.outcome is Outcome.NO_TEXT else GOLDEN
        is_known = verdict.outcome in (Outcome.EQUAL, Outcome.NOTHING) or case.name in reasons
        if not is_known:
            wrong.append(f"{case.place}: {verdict.shown()}")
    print({outcome.value: number for outcome, number in outcomes.items()})
    assert wrong == []
    compared = outcomes.total() - outcomes[Outcome.NOTHING] - outcomes[Outcome.NO_TEXT]
    print(f"equal {outcomes[Outcome.EQUAL]} of {compared}")


def test_each_difference_is_still_there(shadow: psycopg.Connection) -> None:
    known = {**GOLDEN, **NO_TEXT}
    equal = [
        case.name
        for case in in_folder(PIPELINE)
        if case.name in known and _verdict(shadow, case).outcome is Outcome.EQUAL
    ]
    assert equal == []
    assert known.keys() <= {case.name for case in in_folder(PIPELINE)}


def test_refused_statements_are_refused(shadow: psycopg.Connection) -> None:
    """By the reader, where today's refuses; what the planner refuses is read alike."""
    outcomes = Counter[Outcome]()
    wrong = []
    for case in in_folder(REFUSED):
        verdict = _verdict(shadow, case)
        outcomes[verdict.outcome] += 1
        match verdict.outcome:
            case Outcome.ACCEPTED:
                is_known = case.name in ACCEPTED
            case Outcome.DIFFERENT | Outcome.REFUSED:
                is_known = False
            case _:
                is_known = True
        if not is_known:
            wrong.append(f"{case.place}: {verdict.shown()}")
    print({outcome.value: number for outcome, number in outcomes.items()})
    assert wrong == []
    assert ACCEPTED.keys() <= {case.name for case in in_folder(REFUSED)}
