"""Scans for means of deviations give what their definitions say, with and without groups, in integers and in
numeric, about centres at both ends and between."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import psycopg
import pytest

from proxy.cli.assembly import Database
from proxy.compiler.backend_query import EXTREMES, FIRST_PART, OTHERS, BackendQuery
from proxy.compiler.binds import Binds
from proxy.compiler.deviation_scan import centres_text, deviation_scan
from proxy.drawing.drawer import choice_rows, without_choice_rows
from proxy.exact.table import ExactTable
from proxy.kernel.plan import BlockPlan, DeviationMean, with_centres
from proxy.mechanisms.deviation_mean import (
    PARTS,
    NoisyCentres,
    deviation_bounds,
    fineness,
    row_bounds,
)
from proxy.mechanisms.deviation_variance import square_bounds
from proxy.protected import column_statistics
from proxy.protected.protected_database import ProtectedDatabase
from proxy.release.choosing_bounds import totals_of
from proxy.turns.threads import Turn
from tests.centre_scans import centre_scan
from tests.compiler.test_bound_scan import (
    _A,
    _B,
    _C,
    _D,
    _ROWS,
    _SCRIPT,
    _TABLES,
    _centred,
    _if_a,
    _Row,
    _Value,
)
from tests.kernel.examples import block_of, deviation_mean, key_plan, scan
from tests.live.served_database import planned, served_database
from tests.seeded_bits import SeededBits
from tests.servers_fixture import servers
from tests.uncharged_statements import unpaid
from tests.unchecked_blocks import compile_block, compile_centres, compile_choices, drawn_centres

_NAME = "deviation_scan"

# By group, place and band: the sums of a row. Numbers of units, over all groups: under no group.
_Found = dict[tuple[str | None, int, int], tuple[int, ...]]
_OF_ALL = "all groups"
_Exact = tuple[tuple[object, ...], tuple[int | None, ...]]


def _d_if_a(row: _Row) -> int | None:
    return _centred(_D, 10**9)(row) if _if_a(row) else None


_QUESTIONS: dict[str, list[_Value]] = {
    "SELECT avg(a) FROM t": [_centred(_A, 0)],
    "SELECT avg(c) FROM t": [_centred(_C, 0)],
    "SELECT avg(b), avg(d) FILTER (WHERE a > 0) FROM t": [_centred(_B, 1000), _d_if_a],
    "SELECT k, avg(b) FROM t GROUP BY k": [_centred(_B, 1000)],
    "SELECT k, avg(a), avg(c) FROM t GROUP BY k": [_centred(_A, 0), _centred(_C, 0)],
    "SELECT avg(d) FILTER (WHERE a > 0), variance(c), avg(c) FROM t": [_d_if_a, _centred(_C, 0)],
    "SELECT k, stddev(b) FROM t GROUP BY k": [_centred(_B, 1000)],
    "SELECT k, stddev(a), avg(d) FILTER (WHERE a > 0), variance(a) FROM t GROUP BY k": [
        _centred(_A, 0),
        _d_if_a,
    ],
}


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Database, psycopg.Connection]]:
    pair = servers()
    database = served_database(pair, _NAME, _SCRIPT, _TABLES, "best")
    with psycopg.connect(pair.protected.dsn(_NAME), autocommit=True) as connection:
        yield database, connection


def _centres(release: DeviationMean, groups: int, is_single: bool) -> NoisyCentres:
    low, high = release.measured.low, release.measured.high
    whole = (high - low) * fineness(low, high)
    return NoisyCentres(
        units=100,
        is_few=False,
        is_single=is_single,
        rows=1,
        lost_rows=0,
        weights=(0,) * groups,
        sums=(0,) * groups,
        centres=tuple((-whole, whole // 3)[number % 2] for number in range(groups)),
    )


def _cut(value: int, by: int) -> int:
    return value // by if value >= 0 else -(-value // by)


def _expected(block: BlockPlan, values: list[_Value]) -> _Found:
    found: dict[tuple[str | None, int, int], list[int]] = {}
    groups = block.listed_groups
    for number, (release, value) in enumerate(
        zip(block.deviation_means.values(), values, strict=True)
    ):
        centres, low, high = release.centres, release.measured.low, release.measured.high
        assert centres is not None
        bounds = deviation_bounds(low, high, is_single=centres.is_single)
        for uid in {row.uid for row in _ROWS}:
            own, squares = {}, {}
            for keys, centre in zip(groups, centres.centres, strict=True):
                key = keys[0] if keys else None
                y = [value(row) for row in _ROWS if row.uid == uid and (not keys or row.k == key)]
                numbers = [one for one in y if one is not None]
                if numbers:
                    own[key] = (len(numbers), sum(numbers), centre)
                    distances = [fineness(low, high) * one - centre for one in numbers]
                    squares[key] = sum(distance**2 for distance in distances)
            whole = sum(count for count, _, _ in own.values())
            deviations = {
                key: fineness(low, high) * total - centre * count
                for key, (count, total, centre) in own.items()
            }
            if centres.is_single:
                deviations = {key: _cut(PARTS * one, whole) for key, one in deviations.items()}
                squares = {key: PARTS * one // whole for key, one in squares.items()}
            size = sum(map(abs, deviations.values()))
            if not own:
                continue
            band, size_band = bisect_left(row_bounds(None), whole), bisect_left(bounds, size)
            for kind, at in ((0, band), (1, size_band)):
                found.setdefault((_OF_ALL, 2 * number + kind, at), [0])[0] += 1
            for key, (count, total, _) in own.items():
                of_rows = (count, PARTS * count // whole, _cut(PARTS * total, whole))
                share = _cut(PARTS * deviations[key], size) if size else 0
                of_size = (deviations[key], share, 0)
                for kind, (at, added) in enumerate(((band, of_rows), (size_band, of_size))):
                    before = found.setdefault((key, 2 * number + kind, at), [0, 0, 0])
                    before[:] = [a + b for a, b in zip(before, added, strict=True)]
            if release.has_squares:
                place = 2 * len(block.deviation_means) + number
                _add_squares(found, place, squares, release, centres.is_single)
    return {place: tuple(numbers) for place, numbers in found.items()}


def _add_squares(
    found: dict[tuple[str | None, int, int], list[int]],
    place: int,
    squares: dict[str | None, int],
    release: DeviationMean,
    is_single: bool,
) -> None:
    """Of one unit, by group."""
    bounds = square_bounds(release.measured.low, release.measured.high, is_single=is_single)
    extent = sum(squares.values())
    band = bisect_left(bounds, extent)
    found.setdefault((_OF_ALL, place, band), [0])[0] += 1
    for key, one in squares.items():
        before = found.setdefault((key, place, band), [0, 0, 0])
        before[:] = [before[0] + one, before[1] + (PARTS * one // extent if extent else 0), 0]


def _read(connection: psycopg.Connection, block: BlockPlan) -> _Found:
    query = deviation_scan(block, Binds())
    rows = connection.execute(query.sql.encode(), dict(query.parameters)).fetchall()
    found: dict[tuple[str | None, int, int], tuple[int, ...]] = {}
    for row in rows:
        key = row[0] if block.keys else None
        place, band, *numbers, units = row[query.keys :]
        assert (key, place, band) not in found
        if any(number is not None for number in numbers):  # a unit may be there without a value
            found[key, place, band] = tuple(int(number or 0) for number in numbers)
        (before,) = found.get((_OF_ALL, place, band), (0,))
        found[_OF_ALL, place, band] = (before + units,)
    return found


def _rows(connection: psycopg.Connection, query: BackendQuery) -> list[_Exact]:
    values = {**query.parameters, **dict.fromkeys(query.seeds, 1)}
    rows = connection.execute(query.sql.encode(), values).fetchall()
    return sorted(
        ((tuple(row[: query.keys]), _numbers(row[query.keys :])) for row in rows), key=repr
    )


def _numbers(row: Sequence[object]) -> tuple[int | None, ...]:
    return tuple(None if value is None else int(value) for value in row)  # type: ignore[call-overload]


def _blocks(database: Database, question: str) -> Iterator[BlockPlan]:
    (block,) = planned(database, question).blocks
    for is_single in (False, True):
        groups = len(block.listed_groups)
        yield with_centres(
            block,
            {n: _centres(one, groups, is_single) for n, one in block.deviation_means.items()},
        )


@pytest.mark.every(2)
@pytest.mark.parametrize("question", _QUESTIONS)
def test_bands_are_those_of_the_definition(
    served: tuple[Database, psycopg.Connection],
    question: str,
) -> None:
    database, connection = served
    for block in _blocks(database, question):
        found, expected = _read(connection, block), _expected(block, _QUESTIONS[question])
        assert found == expected
        means = block.deviation_means.values()
        squares = sum(release.has_squares for release in means)
        assert len({place for _, place, _ in found}) == 2 * len(means) + squares
        assert len(Counter(band for _, _, band in found)) > 3


def test_squares_of_many_values_are_those_of_few(
    served: tuple[Database, psycopg.Connection],
) -> None:
    """Up to so many values of a unit squares are made of bigints, of more of numerics. Here each is of more."""
    database, connection = served
    for block in _blocks(database, "SELECT k, stddev(b), variance(a) FROM t GROUP BY k"):
        query = deviation_scan(block, Binds())
        few = re.findall(r"g\.v\d+ <= %\((p\d+)\)s::bigint THEN", query.sql)
        assert len(set(few)) == 2 and all(int(str(query.parameters[name])) > 2**20 for name in few)
        none = replace(query, parameters={**query.parameters, **dict.fromkeys(few, "-1")})
        assert _rows(connection, none) == _rows(connection, query) != []


@pytest.mark.parametrize("question", _QUESTIONS)
def test_the_first_scan_reads_the_rows_of_the_second(
    served: tuple[Database, psycopg.Connection],
    question: str,
) -> None:
    database, connection = served
    (block,) = planned(database, question).blocks
    first, (second,) = centre_scan(block), compile_block(block)
    assert first.releases == () != second.releases
    means = len(block.deviation_means)
    of_rows = range(0, 2 * means, 2)
    read = [row for row in _rows(connection, second) if (row[1][0] or 0) in of_rows]
    assert _rows(connection, first) == read != []


@pytest.mark.parametrize("question", _QUESTIONS)
def test_in_two_parts_rows_are_those_of_both_scans(
    served: tuple[Database, psycopg.Connection],
    question: str,
) -> None:
    """The centres are told between the parts, and the second one is about them."""
    database, connection = served
    for block in _blocks(database, question):
        scan = compile_centres(block)
        assert scan is not None
        told: list[list[_Exact]] = []

        async def between(
            first: ExactTable, block: BlockPlan = block, told: list[list[_Exact]] = told
        ) -> str:
            told.append(_of(first))
            return centres_text(block)

        whole = asyncio.run(_in_two_parts(database, scan.query, between))
        assert told == [_rows(connection, centre_scan(block))]
        assert _of(whole) == _rows(connection, deviation_scan(block, Binds()))


@pytest.mark.parametrize(
    "question",
    [
        "SELECT avg(a) FROM t WHERE b > 100000",
        "SELECT k, count(*), avg(b) FROM t WHERE b > 100000 GROUP BY k",
    ],
)
def test_nobody_is_there(served: tuple[Database, psycopg.Connection], question: str) -> None:
    """The first part has no row then, and the second one none either."""
    database, _ = served
    (block,) = planned(database, question).blocks
    scan = compile_centres(block)
    assert scan is not None
    told = []

    async def between(first: ExactTable) -> str:
        told.append(_of(first))
        return centres_text(block)

    assert _of(asyncio.run(_in_two_parts(database, scan.query, between))) == []
    assert told == [[]]


@pytest.mark.parametrize("question", [*_QUESTIONS][3:4])
def test_deviations_are_not_taken_before_the_centres_are_told(
    served: tuple[Database, psycopg.Connection], question: str
) -> None:
    """A cursor that is read on without them raises: nothing else stands for centres."""
    database, connection = served
    (block,) = planned(database, question).blocks
    scan = compile_centres(block)
    assert scan is not None
    query = scan.query
    with connection.transaction(force_rollback=True):
        connection.execute(
            b"DECLARE parts NO SCROLL CURSOR FOR " + query.sql.encode(), dict(query.parameters)
        )
        head = connection.execute("FETCH 1 FROM parts").fetchone()
        assert head is not None and head[query.keys] == FIRST_PART
        number = int(head[query.keys + 2])
        first = connection.execute(f"FETCH {number} FROM parts".encode()).fetchall()
        assert len(first) == number == len(_rows(connection, centre_scan(block)))
        with pytest.raises(psycopg.errors.UndefinedObject), connection.transaction():
            connection.execute("FETCH ALL FROM parts")


def test_gathered_rows_are_sorted_once(served: tuple[Database, psycopg.Connection]) -> None:
    """The second window takes them in the order of the first. Before PostgreSQL 17 none is known."""
    database, connection = served
    if connection.info.server_version < 170_000:
        pytest.skip("no order of a CTE is known")
    (block,) = planned(database, "SELECT k, avg(b) FROM t GROUP BY k").blocks
    query = deviation_scan(block, Binds())
    explain = f"EXPLAIN (COSTS OFF) {query.sql}".encode()
    plan = [line for (line,) in connection.execute(explain, dict(query.parameters)).fetchall()]
    assert sum("WindowAgg" in line for line in plan) == 2
    assert sum(line.strip().removeprefix("->").strip() == "Sort" for line in plan) <= 1


@pytest.mark.parametrize(
    "question",
    [
        "SELECT k, count(*), avg(b) FROM t GROUP BY k",
        "SELECT k, avg(c), sum(b), count(a), stddev(a), avg(a) FROM t GROUP BY k",
        "SELECT k, stddev(c), sum(b), count(a), corr(a, b) FROM t GROUP BY k",
        "SELECT k, avg(c), corr(a, b), corr(b, c), count(a) FROM t GROUP BY k",
        "SELECT k, avg(c), count(a), stddev(a), avg(a) FROM t GROUP BY k",
    ],
)
def test_other_releases_have_the_sums_of_a_scan_of_their_own(
    served: tuple[Database, psycopg.Connection], question: str
) -> None:
    _check_beside(served, question, {OTHERS: 0})


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("SELECT avg(a), min(a) FROM t", {EXTREMES: 0}),
        ("SELECT avg(a), min(a), max(a), max(b) FROM t WHERE c > 0", {EXTREMES: 0}),
        ("SELECT count(*), sum(a), avg(a), min(a), max(a) FROM t", {OTHERS: 0, EXTREMES: 1}),
        (
            "SELECT sum(c) FILTER (WHERE a > 0), stddev(b), min(d), max(a) FILTER (WHERE b < 0), max(a) FROM t",
            {OTHERS: 0, EXTREMES: 1},
        ),
        ("SELECT avg(a), min(b), max(c) FROM t WHERE b > 100000", {EXTREMES: 0}),
    ],
)
def test_minima_and_maxima_have_the_places_of_a_scan_of_their_own(
    served: tuple[Database, psycopg.Connection], question: str, places: Mapping[int, int]
) -> None:
    _check_beside(served, question, places)


def test_by_groups_minima_and_maxima_have_a_scan_of_their_own(
    served: tuple[Database, psycopg.Connection],
) -> None:
    """Of a unit one group counts there."""
    (block,) = planned(served[0], "SELECT k, avg(a), min(a) FROM t GROUP BY k").blocks
    scan = compile_centres(block)
    assert scan is not None and not scan.beside
    assert len(compile_block(block)) == 2


def _check_beside(
    served: tuple[Database, psycopg.Connection], question: str, places: Mapping[int, int]
) -> None:
    """Given    places: which of the block's statements each place stands for"""
    database, connection = served
    for block in _blocks(database, question):
        scan = compile_centres(block)
        assert scan is not None and scan.beside.keys() == places.keys()
        *apart, of_means = compile_block(block)
        assert of_means.releases == scan.query.releases and len(apart) == len(places)

        async def between(first: ExactTable, block: BlockPlan = block) -> str:
            assert drawn_centres(block, first, SeededBits(1)).keys() == block.deviation_means.keys()
            return centres_text(block)

        read = _of(asyncio.run(_in_two_parts(database, scan.query, between)))
        for place, number in places.items():
            beside, alone = scan.beside[place], apart[number]
            assert (beside.releases, beside.slots) == (alone.releases, alone.slots)
            columns = {
                column
                for one in beside.slots
                for column in (one.count, one.total, one.extreme, one.units)
                if column is not None
            }
            found = [
                (keys, tuple(numbers[1 + column] for column in sorted(columns)))
                for keys, numbers in read
                if numbers[0] == place
            ]
            assert sorted(found, key=repr) == _rows(connection, alone)
            assert found != [] or "100000" in question
        means = [(keys, numbers[:6]) for keys, numbers in read if numbers[0] not in places]
        assert means == _rows(connection, deviation_scan(block, Binds()))


def _of(table: ExactTable) -> list[_Exact]:
    return sorted(((row.keys, row.values) for row in table.rows), key=repr)


async def _in_two_parts(
    database: Database,
    query: BackendQuery,
    between: Callable[[ExactTable], Awaitable[str]],
    sessions: int = 1,
) -> ExactTable:
    protected = ProtectedDatabase(database.policy.source, sessions_max=sessions)
    await protected.open()
    try:
        async with protected.session(Turn("")) as session:
            found = await session.run_in_two_parts(
                unpaid(query), dict.fromkeys(query.seeds, 1), between
            )
            await asyncio.wait({session.end()})
            return found
    finally:
        await protected.close()


_OF_TOTALS = [
    "SELECT count(*), avg(a) FROM t",
    "SELECT count(*), sum(a), avg(b), sum(c), avg(c) FROM t",
    "SELECT sum(a) FILTER (WHERE b > 0), count(e), avg(d) FROM t WHERE a > -5",
]


@pytest.mark.parametrize("sessions", [1, 4])
@pytest.mark.parametrize("question", _OF_TOTALS)
def test_bounds_are_chosen_by_the_rows_of_a_scan_of_their_own(
    served: tuple[Database, psycopg.Connection],
    monkeypatch: pytest.MonkeyPatch,
    question: str,
    sessions: int,
) -> None:
    """In one statement with the means, where both are of the same units; also in two sessions, of which each
    reads half of the units."""
    monkeypatch.setattr(column_statistics, "LEAST_ROWS", 1)
    database, _ = served
    (block,) = planned(database, question).blocks
    scan, choosing = compile_centres(block), compile_choices(block)
    assert scan is not None and choosing is not None and scan.has_choices
    told: list[ExactTable] = []

    async def between(first: ExactTable) -> str:
        told.append(first)
        return centres_text(block)

    async def both() -> tuple[ExactTable, ExactTable, ExactTable]:
        read = await _in_two_parts(database, scan.query, between, sessions)
        found = [
            await _at_once(database, one) for one in (choosing, deviation_scan(block, Binds()))
        ]
        return read, found[0], found[1]

    read, choices, means = asyncio.run(both())
    found = choice_rows(told[0])
    assert totals_of(block, found) == totals_of(block, choices)
    assert len(choices.rows) > len(block.choices)
    if sessions == 1:
        assert _of(without_choice_rows(read)) == _of(means) != []
    else:
        assert len(found.rows) > len(choices.rows), "both had some of a band"


_NOT_OF_TOTALS = [
    "SELECT k, count(*), avg(a) FROM t GROUP BY k",
    "SELECT avg(a) FROM t",
    "SELECT count(*), avg(a), percentile_cont(0.5) WITHIN GROUP (ORDER BY b) FROM t",
]


def test_a_choice_by_group_or_of_weights_is_a_scan_of_its_own(
    served: tuple[Database, psycopg.Connection],
) -> None:
    database, _ = served
    for question in _NOT_OF_TOTALS:
        for block in planned(database, question).blocks:
            scan = compile_centres(block)
            assert scan is not None and not scan.has_choices


async def _at_once(database: Database, query: BackendQuery) -> ExactTable:
    protected = ProtectedDatabase(database.policy.source, sessions_max=1)
    await protected.open()
    try:
        async with protected.session(Turn("")) as session:
            found = await session.run(unpaid(query), dict.fromkeys(query.seeds, 1), None)
            await asyncio.wait({session.end()})
            return found
    finally:
        await protected.close()


@pytest.mark.parametrize("high", [10, 10**12], ids=["in integers", "in numeric"])
def test_no_group_is_looked_for_among_all(high: int) -> None:
    """In an array of texts or numerics a person in each of 10,000 groups took 0.3 s for a mean."""
    keys = (key_plan("i4", tuple(map(str, range(100)))), key_plan("t", ("a", "b")))
    mean = replace(deviation_mean(0, high, Fraction(1)), square_share=Fraction(1, 2))
    block = block_of(scan("r1", "visits"), mean, keys)
    (alone,), centring = compile_block(block), compile_centres(block)
    assert centring is not None
    for query in (alone, centring.query):
        of_numbers = query.sql.count("::bigint[]))[g.place]")
        assert query.sql.count("[g.place]") == of_numbers > 0
