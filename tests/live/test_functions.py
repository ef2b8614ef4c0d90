"""Functions and operators over protected columns: groups, labels, types and values as PostgreSQL has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date, time
from decimal import Decimal
from statistics import fmean

import psycopg
import pytest

from tests.live.day_statements import ANSWERS_OF_DAY, GROUPED_OF_DAY, REFUSED_OF_DAY
from tests.live.function_statements import (
    ANSWERS,
    ARRAYS,
    COMPARED,
    COUNT,
    GROUPED,
    KINDS,
    PUBLIC_SUMS,
)
from tests.live.inside_statements import ANSWERS_INSIDE, GROUPED_INSIDE, REFUSED_INSIDE
from tests.live.sales_data import SCRIPT, TABLES
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

# An answer may be off by a ten thousandth: of the 6,000 rows, less than one. Where the first draw is farther
# off, the mean of more has to be near. At epsilon 100 noise is Laplace's, of a scale s <= tolerance / 1.4
# (seen: 1.6 of a mean of intervals, else 2.3 and more), so by Chernoff's bound the mean of 100 is farther off
# with a probability <= 2 exp(-100 (1.4 u + log(1 - u^2))) = 3e-18 at u = 0.51. What is wrong is so in it, too.
_TOLERANCE = 1e-4
_OF_COUNTS, _OF_OTHERS = 0.6, 0.01  # at least
_DRAWS = 100


@pytest.fixture(scope="module")
def sales() -> Iterator[LiveProxy]:
    database = served_database(servers(), "sales", SCRIPT, TABLES, "best", most="100")
    proxy = start_proxy(servers(), [database])
    yield proxy
    proxy.stop()


_Rows = list[tuple[object, ...]]


def _compared(
    sales: LiveProxy, statements: Sequence[str], differ: Callable[[_Rows, _Rows], str]
) -> None:
    analyst, found = sales.servers.new_analyst(), []
    with (
        psycopg.connect(sales.servers.protected.dsn("sales")) as direct,
        sales.connect("sales", analyst=analyst) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        for sql in statements:
            exact = direct.execute(sql.encode())
            wanted, kinds = exact.fetchall(), _kinds(exact)
            try:
                answered = connection.execute(sql.encode())
            except psycopg.Error as error:
                found.append(f"{sql}: {error.diag.message_primary} / {error.diag.message_hint}")
                continue
            trouble = differ(answered.fetchall(), wanted)
            if trouble and differ is _in_values:
                trouble = differ(_mean(sales, sql), wanted)
            if _kinds(answered) != kinds:
                trouble += f" types {_kinds(answered)} for {kinds}"
            found += [f"{sql}: {trouble}"] if trouble else []
    assert found == [], "\n".join(found)


def _kinds(cursor: psycopg.Cursor[tuple[object, ...]]) -> list[tuple[str, int]]:
    return [(column.name, column.type_code) for column in cursor.description or ()]


def _in_groups(answered: _Rows, wanted: _Rows) -> str:
    some = set(map(str, answered)) ^ set(map(str, wanted))
    return f"{len(answered)} rows for {len(wanted)}: {sorted(some)[:6]}" if some else ""


def _in_values(answered: _Rows, wanted: _Rows) -> str:
    far = [pair for pair in zip(answered[0], wanted[0], strict=True) if _is_far(*pair)]
    return str(far) if far else ""


def _is_far(answered: object, wanted: object) -> bool:
    one, other = float(str(answered)), float(str(wanted))
    least = _OF_COUNTS if isinstance(wanted, int) else _OF_OTHERS
    return abs(one - other) > max(least, _TOLERANCE * abs(other))


def _mean(sales: LiveProxy, sql: str) -> _Rows:
    """Of more draws of one row."""
    with sales.connect("sales", analyst=sales.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 100")
        drawn = [connection.execute(sql.encode()).fetchall()[0] for _ in range(_DRAWS)]
    return [tuple(fmean(float(str(one)) for one in column) for column in zip(*drawn, strict=True))]


def _in_arrays(answered: _Rows, wanted: _Rows) -> str:
    pairs = zip(_flat(answered), _flat(wanted), strict=True)
    far = [pair for pair in pairs if pair[0] != pair[1] and not _is_near(*pair)]
    return str(far) if far else ""


def _flat(rows: _Rows) -> Iterator[object]:
    for row in rows:
        for value in row:
            yield from value if isinstance(value, list) else (value,)


def _is_near(one: object, other: object) -> bool:
    numbers = (int, float, Decimal)
    if not isinstance(one, numbers) or not isinstance(other, numbers):
        return False
    return abs(float(one) - float(other)) < 2.6


def test_groups_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, GROUPED, _in_groups)


def test_answers_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, ANSWERS, _in_values)


def test_groups_by_what_is_in_a_column_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, GROUPED_INSIDE, _in_groups)


def test_answers_about_what_is_in_a_column_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, ANSWERS_INSIDE, _in_values)


def test_what_could_fail_or_is_never_looked_at_is_refused_before_the_charge(
    sales: LiveProxy,
) -> None:
    analyst = sales.servers.new_analyst()
    with sales.connect("sales", analyst=analyst) as connection:
        connection.autocommit = True
        for condition in (*REFUSED_INSIDE, *REFUSED_OF_DAY):
            with pytest.raises(psycopg.errors.DatabaseError) as refused:
                connection.execute(f"{COUNT} WHERE {condition}".encode())
            assert refused.value.diag.sqlstate in ("0A000", "42501", "22023"), str(refused.value)
            assert refused.value.diag.message_hint, condition
        uses = connection.execute(
            "SELECT column_name, usable_for FROM dp.columns"
            " WHERE column_name IN ('attrs', 'tags', 'scores', 'came')"
        ).fetchall()
    assert dict(uses) == {
        **dict.fromkeys(("attrs", "tags", "scores"), "WHERE, COUNT"),
        "came": "WHERE, COUNT, COUNT(DISTINCT)",
    }


def test_times_of_day_are_read_as_by_postgresql(sales: LiveProxy) -> None:
    with (
        sales.connect("sales", analyst=sales.servers.new_analyst()) as connection,
        psycopg.connect(sales.servers.protected.dsn("sales")) as plain,
    ):
        connection.execute("SET dp.epsilon = 2")
        for text in ("12:00+02", "12:00 PM", "04:05 PM", "allballs", "120000"):
            statement = f"{COUNT} WHERE came > '{text}'".encode()
            right, found = (
                plain.execute(statement).fetchone(),
                connection.execute(statement).fetchone(),
            )
            assert right is not None and found is not None
            assert abs(found[0] - right[0]) < 20, text


def test_groups_by_parts_of_times_of_day_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, GROUPED_OF_DAY, _in_groups)


def test_answers_about_times_of_day_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, ANSWERS_OF_DAY, _in_values)


def test_times_of_day_are_given_as_parameters(sales: LiveProxy) -> None:
    given: list[object] = [time(9, 30, 0, 250_000), "24:00", "\t9:30 ", None]
    statements: list[tuple[str, list[object]]] = [
        *((f"{COUNT} WHERE came >= %s", [one]) for one in given),
        (f"{COUNT} WHERE came < %s::time AND went <= %b", ["13:00", time(12)]),
        (f"{COUNT} WHERE came = ANY(%s::time[])", [["1:07:30.25", "24:00"]]),
        (f"{COUNT} WHERE came <> ALL(%b)", [[time(1, 7, 30, 250_000), time(0)]]),
    ]
    with (
        psycopg.connect(sales.servers.protected.dsn("sales")) as direct,
        sales.connect("sales", analyst=sales.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        for sql, values in statements:
            wanted = direct.execute(sql.encode(), values).fetchall()
            answered = connection.execute(sql.encode(), values).fetchall()
            assert _in_values(answered, wanted) == "", sql


def test_sums_over_public_columns_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, PUBLIC_SUMS, _in_values)


def test_constants_meet_columns_as_in_postgresql(sales: LiveProxy) -> None:
    _compared(sales, COMPARED, _in_values)


def test_times_of_public_tables_have_extremes(sales: LiveProxy) -> None:
    statement = f"SELECT min(since), max(since), sum(price * parts) {KINDS} WHERE parts < 0"
    sql = f"SELECT min(since), max(since) {KINDS}"
    with sales.connect("sales", analyst=sales.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 100")
        [row] = connection.execute(sql.encode()).fetchall()
        [empty] = connection.execute(statement.encode()).fetchall()
    assert row == (date(2020, 2, 29), date(2021, 5, 31))
    assert empty[:2] == (None, None)  # of no row
    assert abs(empty[2]) < 10


def test_a_public_table_that_has_changed_is_clamped_to_what_was_read(sales: LiveProxy) -> None:
    """So that no row of it moves an answer by more than the noise is for."""
    sql = f"SELECT sum(price), sum(price) FILTER (WHERE price * 2 > 7) {KINDS}"
    with (
        psycopg.connect(sales.servers.protected.dsn("sales"), autocommit=True) as direct,
        sales.connect("sales", analyst=sales.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        direct.execute("UPDATE w.kinds SET price = 9999 WHERE id = 2")
        try:
            [(answered, above)] = connection.execute(sql.encode()).fetchall()
        finally:
            direct.execute("UPDATE w.kinds SET price = 0.25 WHERE id = 2")
        [(exact,)] = direct.execute(
            "SELECT sum(CASE k.id WHEN 2 THEN 3 ELSE k.price END)"
            " FROM w.sales s JOIN w.kinds k ON k.id = s.kind"
        ).fetchall()
    assert (
        abs(answered - exact) < 5
    )  # each of the 2,000 rows counts as 3.00, the most that was there
    assert abs(above) < 5


def test_arrays_of_percentiles_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, ARRAYS, _in_arrays)


def test_percentiles_of_an_array_are_an_array(sales: LiveProxy) -> None:
    percentiles = "percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY age)"
    with sales.connect("sales", analyst=sales.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 50")
        [(low, found, error)] = connection.execute(
            f"SELECT dp.low({percentiles}), {percentiles}, dp.error({percentiles}) FROM w.sales"
        ).fetchall()
        plan = "\n".join(
            line
            for (line,) in connection.execute(
                f"EXPLAIN (VERBOSE) SELECT {percentiles} FROM w.sales"
            )
        )
    assert low == error == [None, None]  # a percentile has no interval
    assert len(found) == 2 and found[0] < found[1]
    for part in ("0.25", "0.75"):
        assert plan.count(f"percentile_cont({part}) of age: exponential mechanism") == 1
