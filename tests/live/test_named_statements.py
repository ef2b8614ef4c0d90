"""What names mean, as in PostgreSQL: generated statements beside its own answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from statistics import mean, stdev

import psycopg
import pytest

from tests.live.compared_answers import asked_of, differences
from tests.live.conftest import RELATIONS
from tests.live.named_statements import NamedStatement, named_statement
from tests.live_proxy import LiveProxy
from tests.sql.corpus import Asked, corpus

_COMPARED = corpus(RELATIONS).expecting("as PostgreSQL")[0].settings
_REFUSED = ("0A000", "42501")  # by a rule of ours, which costs nothing
_FEATURES = (
    *("using", "nested", "comma", "cte", "cte again", "list of columns", "subquery of a row"),
    *("subquery of a group", "beside another relation", "star"),
)


@pytest.fixture(scope="module")
def direct(live: LiveProxy) -> Iterator[psycopg.Connection]:
    """PostgreSQL itself."""
    dsn = live.servers.protected.dsn(RELATIONS)
    with psycopg.connect(dsn, autocommit=True, options="-c statement_timeout=5s") as connection:
        yield connection


def _difference(
    sql: str, measures: int, asking: psycopg.Connection, direct: psycopg.Connection
) -> list[str]:
    exact, answered = asked_of(direct, Asked(sql)), asked_of(asking, Asked(sql))
    assert not isinstance(exact, str) and not isinstance(answered, str), (sql, exact, answered)
    return differences(answered, exact, _COMPARED, measures)


def _is_noise(
    sql: str, measures: int, asking: psycopg.Connection, direct: psycopg.Connection
) -> bool:
    """Of several tables that are joined the noise may be more than the tolerance: not so its mean."""
    exact = {row[:-measures]: row[-measures:] for row in direct.execute(sql.encode())}
    cells = defaultdict[tuple[tuple[object, ...], int], list[float]](list)
    for _ in range(20):
        for row in asking.execute(sql.encode()):
            for place, number in enumerate(row[-measures:]):
                cells[row[:-measures], place].append(float(number or 0))
    for (label, place), values in cells.items():
        wanted = float(exact.get(label, (0,) * measures)[place] or 0)
        if abs(mean(values) - wanted) > max(1, 1.5 * stdev(values)):  # of 20: six deviations
            return False
    return {label for label, _ in cells} >= exact.keys()


def _outcome(
    statement: NamedStatement, live: LiveProxy, analyst: str, direct: psycopg.Connection
) -> str:
    """ "answered", as PostgreSQL answers; "refused" for nothing; or "no query": PostgreSQL refuses it, too."""
    sql = statement.sql
    try:
        direct.execute(sql.encode())
        by_itself = ""
    except psycopg.errors.QueryCanceled:
        return "slow"
    except psycopg.Error as error:
        by_itself = str(error)
    spent = live.spent(analyst)[:2]
    with live.connect(RELATIONS, analyst=analyst) as asking:
        asking.execute("SET dp.epsilon = 100")
        try:
            asking.execute(sql.encode())
        except psycopg.Error as error:
            assert by_itself or error.sqlstate in _REFUSED, f"{error}: {sql}"
            assert error.sqlstate != "58000" and live.spent(analyst)[:2] == spent, sql
            return "no query" if by_itself else "refused"
        assert not by_itself, f"{by_itself}: {sql}"
        if _difference(sql, statement.measures, asking, direct):
            assert _is_noise(sql, statement.measures, asking, direct), sql
    return "answered"


def _run(numbers: range, live: LiveProxy, direct: psycopg.Connection) -> Counter[str]:
    """How often each outcome came, and each feature of what was answered."""
    seen = Counter[str]()
    for number in numbers:
        if number % 200 == numbers.start % 200:
            analyst = live.servers.new_analyst()
        statement = named_statement(number)
        outcome = _outcome(statement, live, analyst, direct)
        seen[outcome] += 1
        if outcome == "answered":
            seen.update(statement.features)
    return seen


def test_some_generated_statements(live: LiveProxy, direct: psycopg.Connection) -> None:
    seen = _run(range(25), live, direct)
    assert seen["answered"] >= 8, seen


@pytest.mark.long
def test_generated_statements(live: LiveProxy, direct: psycopg.Connection) -> None:
    seen = _run(range(1000, 1900), live, direct)
    assert seen["answered"] >= 350, seen
    assert [name for name in _FEATURES if seen[name] < 4] == [], seen
