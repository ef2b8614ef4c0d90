"""Statements of clients and of bug reports in both readers, each on its own tables without rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import pytest

from proxy.cli.assembly import Database
from tests.canonical.both_readers import Outcome
from tests.canonical.differences import TOOLS
from tests.canonical.served_worlds import Asked, compare_served
from tests.live import (
    generated_statements,
    public_data,
    test_bug_reports,
    test_generated_clients,
    test_own_clients,
)
from tests.live.served_database import served_database
from tests.servers_fixture import servers

_ROWS = re.compile(r"INSERT\b.*", re.IGNORECASE | re.DOTALL)
_ALIKE = (Outcome.EQUAL, Outcome.BOTH_REFUSE, Outcome.NOTHING)


def _without_rows(script: str) -> str:
    return "".join(f"{part};\n" for part in script.split(";\n") if not _ROWS.match(part.strip()))


def _check(database: Database, name: str, asked: Iterable[tuple[str, Asked]]) -> None:
    outcomes = Counter[Outcome]()
    wrong = []
    for identifier, one in asked:
        verdict = compare_served(database, name, one)
        outcomes[verdict.outcome] += 1
        if verdict.outcome not in _ALIKE and identifier not in TOOLS:
            wrong.append(f"{identifier}: {verdict.shown()}")
    print({outcome.value: number for outcome, number in outcomes.items()})
    assert wrong == []
    assert outcomes[Outcome.EQUAL] > 0


def test_forms_that_tools_generate() -> None:
    script = _without_rows(test_own_clients._SCRIPT)
    name = "canonical_store"
    database = served_database(servers(), name, script, test_own_clients._TABLES, "best")
    statements = test_own_clients.statements()
    _check(database, name, ((one["id"], Asked(one["sql"])) for one in statements))


@pytest.mark.skipif(not test_bug_reports._SQL, reason="the corpus ../shared/bugs is not here")
def test_bug_reports_are_read_alike() -> None:
    folder = test_bug_reports._FOLDER
    policy = (folder / "policy.yaml").read_text("utf-8")
    tables = policy[policy.index("tables:\n") : policy.index("budgets:\n")]
    script = (folder / "world.sql").read_text("utf-8")
    name = "canonical_lab"
    database = served_database(servers(), name, script, tables, "auto")
    cases = (
        (f"{file.stem}-{number}", Asked(case.sql, case.setup, case.params))
        for file in test_bug_reports._SQL
        if file.stem.isdigit()
        for number, case in enumerate(test_bug_reports._cases(file))
    )
    _check(database, name, cases)


@pytest.mark.long
@pytest.mark.skipif(
    not (public_data.PRESENT and generated_statements.FILE.is_file()),
    reason="the data and statements beside the repository are not here",
)
def test_statements_of_tools_and_libraries() -> None:
    pair = servers()
    name = test_generated_clients.NAME
    database = served_database(
        pair,
        name,
        public_data.script(),
        public_data.policy_tables(),
        mechanism="best",
        fill=lambda: public_data.load(pair.protected, name),
    )
    asked = (
        (one.name, Asked(one.sql, "", one.parameters)) for one in generated_statements.statements()
    )
    _check(database, name, asked)
