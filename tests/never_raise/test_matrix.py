"""Compiled SQL never raises, whatever stands in the rows: an error would be a bit about one person.

Random expressions of all that the reader takes, six operations deep, are read, planned and compiled as part
of a question, and run on hostile rows: NaN, infinities, the extremes of every type, empty and huge texts,
NULLs, the ends of the calendar. An evaluation is one expression on one row.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from enum import Enum
from typing import get_args
from unittest import mock

import psycopg
import pytest

from proxy.base import limits
from proxy.base.errors import Fault, Refusal
from proxy.base.written_times import TRUNCATIONS
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.planner import calendar_clamps, tracking
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.postgres.postgres_binaries import Binaries
from proxy.query.bind.expression_reading import READERS
from proxy.query.ir import expressions as ir
from proxy.query.ir import function_names, given_fields
from tests.never_raise import matrix
from tests.never_raise.extremes import errors
from tests.never_raise.guards import GUARDS, without_totality
from tests.never_raise.hostile_rows import make_hostile_tables
from tests.never_raise.matrix import DEPTH, Seen, run, run_pairs
from tests.pipeline_world import POLICIES, Pipeline, walk
from tests.postgres_majors import all_other_binaries
from tests.servers_fixture import servers

_SEED = 20261121
_FEW, _MANY = 5_000, 100_000


@pytest.fixture(scope="module")
def hostile() -> Iterator[psycopg.Connection]:
    server = servers().protected
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS hostile")
        connection.execute("CREATE DATABASE hostile TEMPLATE template0 ENCODING 'UTF8'")
    with psycopg.connect(server.dsn("hostile"), autocommit=True) as connection:
        make_hostile_tables(connection)
        yield connection


def _hold(seen: Seen) -> None:
    print(
        f"{seen.evaluations} evaluations of {seen.accepted} questions, {len(seen.errors)} errors,"
        f" {seen.refused} refused, {seen.deepest} deep"
    )
    assert seen.errors == []
    assert seen.accepted > 2 * seen.refused
    assert seen.deepest >= DEPTH


def _kinds() -> frozenset[str]:
    """The allow-list: every node, operator, function, field and unit, and every tree that the reader takes."""
    enums = [
        kind for kind in vars(ir).values() if isinstance(kind, type) and issubclass(kind, Enum)
    ]
    return frozenset(
        {kind.__name__ for kind in get_args(ir.Expression)}
        | {
            f"{kind.__name__}.{member.name}"
            for kind in enums
            for member in kind
            if kind.__module__ in (ir.__name__, function_names.__name__)
        }
        | {f"extract {field}" for field in given_fields.FIELDS}
        | {f"date_trunc {unit}" for unit in TRUNCATIONS}
        | {f"cast to {kind}" for kind in ("integer", "numeric", "double precision", "date")}
        | {f"cast to timestamp {kind} time zone" for kind in ("with", "without")}
        | {kind.__name__ for kind in READERS}
    )


@pytest.mark.long
def test_nothing_raises(hostile: psycopg.Connection) -> None:
    _hold(run(hostile, _FEW, _SEED))


@pytest.mark.long
def test_nothing_raises_of_pairs(hostile: psycopg.Connection) -> None:
    seen = run_pairs(hostile, _SEED + 2, times=40)  # constants are refused
    assert seen.errors == []
    assert seen.accepted > 20


@pytest.mark.long
def test_nothing_raises_at_the_limits(hostile: psycopg.Connection) -> None:
    ran, found = errors(hostile, long_texts=False)
    print(f"{ran} statements at the limits")
    assert found == [] and ran > 120


@pytest.mark.long
def test_nothing_raises_at_the_limits_on_long_texts(hostile: psycopg.Connection) -> None:
    ran, found = errors(hostile, long_texts=True)
    assert found == [] and ran > 200


@pytest.mark.long
def test_nothing_of_the_whole_allow_list_raises(hostile: psycopg.Connection) -> None:
    seen = run(hostile, _MANY, _SEED + 1, kinds=_kinds())
    _hold(seen)
    assert _kinds() - seen.nodes.keys() == set()


_OTHERS: list[Binaries | None] = [*all_other_binaries()]


_HUGE = "repeat('e', 270000000)"
_PROVIDER = (
    "SELECT to_jsonb(d) ->> 'datlocprovider' FROM pg_database d WHERE datname = current_database()"
)


def _raises(connection: psycopg.Connection, condition: str, source: str = "") -> bool:
    try:
        with connection.transaction():
            connection.execute(f"SELECT count(*) {source} WHERE {condition}".encode())
    except (psycopg.errors.InternalError_, psycopg.errors.ProgramLimitExceeded):
        return True
    return False


_MULTIPLES = (
    *("lower({})", "upper({})", "initcap({})", "btrim({}, 'x')", "rtrim({})"),
    *("{0} || {0} || {0} || {0}", "replace({}, 'e', '0123456789abcdef')"),
)


@pytest.mark.long
@pytest.mark.parametrize("use", _MULTIPLES)
def test_nothing_raises_on_a_text_of_which_a_multiple_cannot_be_had(
    use: str, hostile: psycopg.Connection
) -> None:
    """270 million characters, of which a value of 1 GB cannot hold four times as many bytes. A trim takes eight
    bytes for each; `lower` and `upper` take four, but for PostgreSQL's own locales, which take one."""
    with hostile.transaction(force_rollback=True):
        hostile.execute(f"UPDATE people SET t = {_HUGE} WHERE id = 1".encode())
        assert _raises(hostile, "repeat(t, 4) = 'a'", "FROM people")
        is_raised = _raises(hostile, f"{use.format(_HUGE)} = 'a'")
        assert _raises(hostile, f"{use.format('t')} = 'a'", "FROM people") == is_raised
        if not is_raised:
            assert use in ("lower({})", "upper({})", "initcap({})")
            assert hostile.execute(_PROVIDER.encode()).fetchone() == ("b",)
        for condition in (f"{use.format('t')} = 'a'", "t ILIKE '%a'"):
            pipeline = walk(f"SELECT count(*) FROM people WHERE {condition}", POLICIES["world"])
            assert pipeline is not None
            for query in (query for several in pipeline.queries for query in several):
                hostile.execute(query.sql.encode(), query.parameters)


@pytest.fixture(scope="module", params=_OTHERS or [None], ids=str)
def other_major(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[psycopg.Connection]:
    binaries = request.param
    if binaries is None:
        pytest.skip("there is no PostgreSQL of another major on this machine")
    home = tmp_path_factory.mktemp(f"other{binaries.major}")
    server = EmbeddedPostgres(home, "other", pg_bin=binaries.folder, tcp=False, durable=False)
    server.start()
    print(f"PostgreSQL {binaries.major}")
    try:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            make_hostile_tables(connection)
            yield connection
    finally:
        server.stop()


@pytest.mark.long
def test_nothing_raises_at_the_limits_on_another_major(other_major: psycopg.Connection) -> None:
    ran, found = errors(other_major, long_texts=True)
    assert found == [] and ran > 150


@pytest.mark.long
def test_nothing_of_the_whole_allow_list_raises_on_another_major(
    other_major: psycopg.Connection,
) -> None:
    seen = run(other_major, _MANY, _SEED + 2, kinds=_kinds())
    _hold(seen)
    assert _kinds() - seen.nodes.keys() == set()


_FORGOTTEN = [name for name, guard in GUARDS.items() if guard.states]


@pytest.mark.long
@pytest.mark.parametrize("name", _FORGOTTEN)
def test_without_its_guard_it_raises(name: str, hostile: psycopg.Connection) -> None:
    guard = GUARDS[name]
    with guard.forgotten(), without_totality():
        seen = run(hostile, 4 * _MANY, _SEED, until_error=True)
    assert seen.errors != []
    assert {error.split()[0] for error in seen.errors} <= guard.states


class _Judged:
    """Reads, plans and compiles as the matrix does; what the kernel refuses is one refusal more."""

    def __init__(self) -> None:
        self.faults = 0
        self._walk = matrix._walk

    def walk(self, asked: matrix._Asked) -> Pipeline | None:
        try:
            return self._walk(asked)
        except NotPrivate as refused:
            assert refused.rule is Rule.TOTALITY
            self.faults += 1
            return None


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in _FORGOTTEN if GUARDS[name].statement])
def test_without_its_guard_the_kernel_lets_nothing_pass_that_raises(
    name: str, hostile: psycopg.Connection
) -> None:
    judged = _Judged()
    with GUARDS[name].forgotten(), mock.patch.object(matrix, "_walk", judged.walk):
        seen = run(hostile, 2 * _FEW, _SEED)
    print(f"{judged.faults} faults, {seen.accepted} accepted")
    assert seen.errors == []
    assert seen.accepted > 80


def test_times_that_intervals_move_by_more_would_raise(hostile: psycopg.Connection) -> None:
    moved = "ts" + " - interval '1000 years'" * 7
    for condition in (f"{moved} > '2000-01-01'", f"date_trunc('year', {moved}) > '2000-01-01'"):
        statement = f"SELECT count(*) FROM people WHERE {condition}"
        with pytest.raises(Refusal):
            walk(statement, POLICIES["world"])
        many_days = mock.patch.object(calendar_clamps, "MOST_DAYS", 10**9)
        with many_days, pytest.raises(NotPrivate):
            walk(statement, POLICIES["world"])
        with many_days, without_totality():
            pipeline = walk(statement, POLICIES["world"])
        assert pipeline is not None
        for query in (query for several in pipeline.queries for query in several):
            with pytest.raises(psycopg.errors.DatetimeFieldOverflow):
                hostile.execute(query.sql.encode(), query.parameters)


@pytest.mark.long
def test_without_one_type_of_its_parts_a_union_is_not_run(hostile: psycopg.Connection) -> None:
    """It would be one of floats, which the clamp of numerics does not take: types are counted once more before
    anything is run (proxy/kernel/column_types.py)."""
    instead = mock.patch.object(tracking, "_in_numeric", lambda relation, place: relation)
    with instead, pytest.raises(Fault):
        run(hostile, _MANY, _SEED, until_error=True)


_LONG_ARRAY = "SELECT count(*) FROM people WHERE j ->> 'k' = 'x'"


@pytest.mark.long
def test_the_text_of_an_array_of_long_numbers_would_raise(hostile: psycopg.Connection) -> None:
    """192 kB, of which less than 16 KiB are stored, have a text of 1.5 GB."""
    stored = hostile.execute(
        "SELECT max(pg_column_size(j)) FROM w.people WHERE jsonb_array_length(CASE jsonb_typeof(j -> 'k')"
        " WHEN 'array' THEN j -> 'k' END) > 12000"
    ).fetchone()
    assert stored is not None and 0 < stored[0] < limits.INSIDE_STORED_BYTES
    for most, raises in ((limits.INSIDE_PRINTED_BYTES, False), (10**9, True)):
        with mock.patch.object(limits, "INSIDE_PRINTED_BYTES", most):
            pipeline = walk(_LONG_ARRAY, POLICIES["world"])
        assert pipeline is not None
        for query in (query for several in pipeline.queries for query in several):
            run_once = functools.partial(hostile.execute, query.sql.encode(), query.parameters)
            if raises:
                with pytest.raises(psycopg.errors.ProgramLimitExceeded):
                    run_once()
            else:
                run_once()
