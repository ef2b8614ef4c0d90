"""Statements that tools and libraries generate, and variants of each, beside PostgreSQL: which are answered,
with its groups and its values."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.pq import ExecStatus

from tests.live import public_data
from tests.live.generated_statements import FILE, Generated, filling, statements, variants
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

pytestmark = pytest.mark.skipif(
    not (public_data.PRESENT and FILE.is_file()),
    reason="the data and statements beside the repository are not here",
)
NAME = "public"  # which some tools put before the schema
_DRAWS = 5
_FAR = re.compile(r" for -?[\d.]")  # what `fault` says of a number
_LIMIT = re.compile(r"\bLIMIT\s+\d+\s*;?\s*$", re.IGNORECASE)
_SHARE = (
    0.05  # of the number, or of the column's largest: how far noise of epsilon 100 may move a value
)
# Of 138: a value of one person (ibis-argmax), and quantiles of rows by windows (ibis-ntile).
_REFUSED = 2
# Groups beside PostgreSQL's are those of rows beyond a column's bounds (an age below 0) or list (another sex
# than the listed ones): a condition and CASE see what is stored, so such rows would be there.
_BEYOND = ("ibis-histogram", "thoughtspot-in-true-false")
_DAYS = 4  # how far it may move a time

Row = tuple[str | None, ...]


@pytest.fixture(scope="module")
def public() -> Iterator[LiveProxy]:
    pair = servers()
    tables = json.loads(public_data.policy_tables().removeprefix("tables: "))
    domains = {
        f"{name}.{column}": [value for value in about["values"] if value is not None]
        for name, table in tables.items()
        if table != "public"
        for column, about in table["columns"].items()
        if isinstance(about.get("values", [0])[0], str)
    }
    tables["shop.orders"]["max_rows_per_unit"] = 5

    def fill() -> None:
        dsn = make_conninfo(pair.protected.dsn(), dbname=NAME)
        with psycopg.connect(dsn, autocommit=True) as connection:
            for statement in (*filling(domains), "VACUUM ANALYZE"):
                connection.execute(statement.encode())

    database = served_database(
        pair,
        NAME,
        public_data.script(),
        "tables: " + json.dumps(tables),
        mechanism="best",
        fill=fill,
        most="100",
    )
    proxy = start_proxy(pair, [database])
    yield proxy
    proxy.stop()


@dataclass(slots=True)
class Found:
    """Of one form: how many statements are answered, right, have extra groups, are refused with a hint.
    failures: what is not right, with its reason"""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def rows(connection: psycopg.Connection, one: Generated, sql: str = "") -> list[Row]:
    given = [text.encode() for text in one.parameters]
    result = connection.pgconn.exec_params((sql or one.sql).encode(), given)
    if result.status != ExecStatus.TUPLES_OK:
        raise psycopg.DatabaseError(info=result)
    return [
        tuple(
            None if (value := result.get_value(row, column)) is None else value.decode()
            for column in range(result.nfields)
        )
        for row in range(result.ntuples)
    ]


def fault(one: Generated, answer: Sequence[Row], exact: Sequence[Row]) -> str:
    """What is wrong with an answer, or ""."""

    def keyed(found: Sequence[Row]) -> dict[Row, Row]:
        return {tuple(row[label] for label in one.labels): row for row in found}

    got, wanted = keyed(answer), keyed(exact)
    if len(answer) > len(got) and one.labels:
        return "a group twice"
    if one.name in _BEYOND:
        got = {key: row for key, row in got.items() if key in wanted}
    if extra := got.keys() - wanted.keys():
        # As many as PostgreSQL's: noise has chosen others of nearly the same size for a list of the largest.
        kind = "extra" if len(got) > len(wanted) else "other"
        return f"{kind} groups: {len(extra)} of {len(got)}, such as {min(map(str, extra))}"
    if missing := wanted.keys() - got.keys():
        return f"missing groups: {len(missing)} of {len(wanted)}, such as {min(map(str, missing))}"
    columns = set(range(len(exact[0]) if exact else 0)) - set(one.labels)
    largest = {
        c: max([abs(_number(r[c])) for r in exact if _is_number(r[c])] or [0]) for c in columns
    }
    for key, row in got.items():
        for column in columns:
            if not _is_near(row[column], wanted[key][column], largest[column]):
                return f"{key}: {row[column]} for {wanted[key][column]}"
    return ""


def _is_number(text: str | None) -> bool:
    return text is not None and re.fullmatch(r"-?[\d.]+(e-?\d+)?", text) is not None


def _number(text: str | None) -> float:
    return float(text or 0)


def _is_near(got: str | None, wanted: str | None, largest: float) -> bool:
    if _is_number(got) and _is_number(wanted):
        far = abs(_number(got) - _number(wanted))
        return far <= _SHARE * largest
    try:
        times = [
            datetime.fromisoformat(f"{text}".replace("+00", "+00:00")) for text in (got, wanted)
        ]
        return abs((times[0] - times[1]).days) <= _DAYS
    except ValueError:
        return got == wanted


def _wrong(
    exact: psycopg.Connection, one: Generated, got: Sequence[Row], wanted: Sequence[Row]
) -> str:
    wrong = fault(one, got, wanted)
    if not wrong or not _LIMIT.search(one.sql) or len(got) != len(wanted):
        return wrong
    # Of the same numbers of rows noise keeps others.
    every_row = rows(exact, one, _LIMIT.sub("", one.sql))
    kept = {tuple(row[label] for label in one.labels) for row in got}
    return fault(one, got, [r for r in every_row if tuple(r[c] for c in one.labels) in kept])


def _middle(one: Generated, drawn: Sequence[Sequence[Row]]) -> list[Row]:
    """The groups of the first answer, each cell with the middle one of its values in all answers."""
    by_group = [{tuple(row[label] for label in one.labels): row for row in rows} for rows in drawn]
    found = []
    for group in by_group[0]:
        cells = zip(*(answer[group] for answer in by_group if group in answer), strict=True)
        found.append(tuple(_middle_value(values) for values in cells))
    return found


def _middle_value(values: Sequence[str | None]) -> str | None:
    ordered = sorted(
        values, key=lambda text: (_is_number(text), _number(text) if _is_number(text) else 0)
    )
    return ordered[len(ordered) // 2]


def judged(public: LiveProxy, every: Sequence[Generated]) -> dict[str, Found]:
    found: dict[str, Found] = {}
    dsn = make_conninfo(public.servers.protected.dsn(), dbname=NAME)
    with psycopg.connect(dsn, autocommit=True) as exact:
        exact.execute("SET TimeZone = 'UTC'")
        for one in every:
            try:
                wanted = rows(exact, one)
            except psycopg.Error:
                assert one.form != "as generated", one
                continue  # no variant, since PostgreSQL refuses it
            form = found.setdefault(one.form, Found())
            with public.connect(NAME, analyst=public.servers.new_analyst()) as connection:
                connection.execute("SET TimeZone = 'UTC'; SET dp.epsilon = 100")
                try:
                    got = rows(connection, one)
                except psycopg.Error as error:
                    said = f"{error.diag.message_primary} / {error.diag.message_hint}"
                    form.counts["refused with hint"] += error.diag.message_hint is not None
                    if one.is_answered:
                        form.failures.append(f"{one.name}: {said}")
                        form.counts["statements"] += 1
                        form.counts["refused"] += 1
                    continue
            assert one.is_answered, one  # those that read rows are refused
            form.counts["statements"] += 1
            form.counts["answered"] += 1
            wrong = _wrong(exact, one, got, wanted)
            if _FAR.search(
                wrong
            ):  # one number may be far off by its noise, the middle one of several not
                drawn = [got]
                for _ in range(_DRAWS - 1):
                    with public.connect(NAME, analyst=public.servers.new_analyst()) as connection:
                        connection.execute("SET TimeZone = 'UTC'; SET dp.epsilon = 100")
                        drawn.append(rows(connection, one))
                wrong = _wrong(exact, one, _middle(one, drawn), wanted)
            form.counts["right"] += not wrong
            form.counts["extra groups"] += wrong.startswith("extra groups")
            if wrong:
                form.failures.append(f"{one.name}: {wrong}")
    return found


def show(found: dict[str, Found]) -> None:
    columns = ("statements", "answered", "right", "extra groups", "refused with hint")
    print("\n" + " | ".join(["form".ljust(16), *columns]))
    for form, of_form in found.items():
        print(
            " | ".join(
                [form.ljust(16), *(str(of_form.counts[name]).rjust(len(name)) for name in columns)]
            )
        )
    for form, of_form in found.items():
        for failure in of_form.failures:
            print(f"{form}, {failure}")


def test_some_as_postgresql(public: LiveProxy) -> None:
    """Of each sixth statement one form, another of the next."""
    forms = [(one, *variants(one)) for one in statements()[::6]]
    check(judged(public, [several[n % len(several)] for n, several in enumerate(forms)]))


@pytest.mark.long
def test_all_as_postgresql(public: LiveProxy) -> None:
    every = statements()
    check(judged(public, [*every, *(made for one in every for made in variants(one))]))


def check(found: dict[str, Found]) -> None:
    show(found)
    for form, of_form in found.items():
        counts = of_form.counts
        assert counts["extra groups"] == 0, form
        assert counts["refused"] <= _REFUSED, form
        assert counts["right"] >= 0.97 * counts["answered"], form
