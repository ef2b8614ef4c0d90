"""Random statements one after another: what is made of answers that were shown says what PostgreSQL says of the
rows, at an epsilon at which noise is next to nothing."""

from __future__ import annotations

import random  # noqa: TID251  (which statements are asked)
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import psycopg
import pytest

from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

DATABASE = "reused_pairs"
_SCRIPT = """\
CREATE SCHEMA k;
CREATE TYPE k.size AS ENUM ('small', 'medium', 'large');
CREATE DOMAIN k.yes AS boolean;
CREATE DOMAIN k.grade AS int CHECK (VALUE BETWEEN 1 AND 3);
CREATE TABLE k.regions (name text PRIMARY KEY, coast boolean NOT NULL);
INSERT INTO k.regions VALUES ('north', true), ('south', true), ('east', false), ('west', false);
CREATE TABLE k.people (id int PRIMARY KEY, age int NOT NULL, member boolean NOT NULL, maybe boolean,
    yes k.yes NOT NULL, size k.size NOT NULL, size2 k.size, region text NOT NULL REFERENCES k.regions,
    region2 text REFERENCES k.regions, state text NOT NULL, state2 varchar(5), grade k.grade NOT NULL,
    n numeric(3, 1) NOT NULL);
INSERT INTO k.people
SELECT n, n % 21, n % 7 = 0, (ARRAY[true, false, NULL])[1 + n % 3], n % 5 < 2,
       (ARRAY['small', 'medium', 'large']::k.size[])[1 + n % 11 % 3],
       (ARRAY['small', 'medium', 'large', NULL]::k.size[])[1 + n % 13 % 4],
       (ARRAY['north', 'south', 'east'])[1 + n % 17 % 3],
       (ARRAY['north', 'south', 'east', NULL])[1 + n % 19 % 4],
       (ARRAY['CA', 'NY', 'TX', 'WA', ''])[1 + n % 23 % 5],
       (ARRAY['CA', 'NY', NULL, 'ca'])[1 + n % 29 % 4], 1 + n % 31 % 3, (n % 37 % 3) * 0.5
FROM generate_series(1, 2500) n;
CREATE TABLE k.visits (id int PRIMARY KEY, person int NOT NULL REFERENCES k.people, paid boolean NOT NULL,
    late boolean, size k.size NOT NULL, age int NOT NULL);
INSERT INTO k.visits SELECT n, 1 + n % 900, n % 2 = 0, (ARRAY[true, false, NULL])[1 + n % 7 % 3],
    (ARRAY['small', 'medium', 'large']::k.size[])[1 + n % 11 % 3], n % 21 FROM generate_series(1, 2600) n;
"""
_TABLES = """\
reuse: 24h
tables:
  k.regions: public
  k.people:
    unit: row
    columns:
      age: {bounds: [0, 20], mechanism: sum_over_count}
      member: {}
      maybe: {}
      yes: {}
      size: {values: [small, medium, large]}
      size2: {values: [small, medium, large, null]}
      region: {values: [north, south, east, west]}
      region2: {values: [north, south, east, west]}
      state: {values: [CA, NY, TX, '']}
      state2: {values: [CA, NY, null]}
      grade: {values: [1, 2, 3]}
      n: {bounds: [0, 1]}
  k.visits:
    unit: {person: person}
    max_rows_per_unit: 3
    columns:
      paid: {}
      late: {}
      size: {values: [small, medium, large]}
      age: {bounds: [0, 20], mechanism: sum_over_count}
"""
# Of each key what its policy lists, as PostgreSQL's own condition on the rows that are in any group.
_KEYS = {
    "p": {
        "member": ("true", ("true", "false")),
        "maybe": ("maybe IS NOT NULL", ("true", "false")),
        "yes": ("true", ("true", "false")),
        "size": ("true", ("'small'", "'medium'", "'large'")),
        "size2": ("true", ("'small'", "'medium'", "'large'")),
        "region": ("true", ("'north'", "'south'", "'east'", "'west'")),
        "region2": ("region2 IS NOT NULL", ("'north'", "'south'", "'east'", "'west'")),
        "state": ("state IN ('CA', 'NY', 'TX', '')", ("'CA'", "'NY'", "'TX'", "''", "'WA'", "'x'")),
        "state2": ("state2 IN ('CA', 'NY') OR state2 IS NULL", ("'CA'", "'NY'", "'ca'")),
        "grade": ("true", ("1", "2", "3", "4")),
    },
    "v": {
        "paid": ("true", ("true", "false")),
        "late": ("late IS NOT NULL", ("true", "false")),
        "size": ("true", ("'small'", "'medium'", "'large'")),
    },
}
_BOOLEAN = frozenset({"member", "maybe", "yes", "paid", "late"})
_FROM = {
    "p": ("k.people p", "k.people p JOIN k.regions r ON r.name = p.region"),
    "v": ("k.visits v",),
}
_AGGREGATES = {
    "p": (
        "count(*)",
        "sum(age)",
        "count(maybe)",
        "sum(n)",
        "count(DISTINCT grade)",
        "count(*) FILTER (WHERE member)",
        "avg(age)",
    ),
    "v": ("count(*)", "sum(age)", "count(late)", "count(DISTINCT person)", "avg(age)"),
}


def _condition(draw: random.Random, key: str, values: Sequence[str]) -> str:
    one, some = draw.choice(values), draw.sample(values, draw.randint(1, min(3, len(values))))
    forms = [
        f"{key} = {one}",
        f"{one} = {key}",
        f"{key} <> {one}",
        f"NOT {key} = {one}",
        f"{key} IN ({', '.join(some)})",
        f"{key} NOT IN ({', '.join(some)})",
        f"NOT ({key} NOT IN ({', '.join(some)}))",
        f"({key} = {some[0]} OR {key} = {some[-1]})",
        f"{key} IS NOT NULL",
        f"{key} IS DISTINCT FROM {one}",
        f"{key} IS NULL",
        f"{key} NOT IN ({one}, NULL)",
        f"({key} IN ({one}, NULL) OR age > 3)",
        f"({key} = {one} OR age < 4)",
        f"coalesce({key} = {one}, true)",
        f"({key} <> {one}) IS NOT FALSE",
    ]
    if key in _BOOLEAN:
        forms += [key, f"NOT {key}", f"{key} IS TRUE", f"{key} IS NOT TRUE", f"NOT (NOT {key})"] * 2
    else:
        forms += (
            [f"{key} <> ALL ('{{}}')", f"{key} = ANY ('{{{one.strip(chr(39))}}}')"]
            if one != "''"
            else []
        )
    return draw.choice(forms[:8] * 2 + forms)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Series:
    """Statements of the same rows, but for what one now and then has of its own."""

    source: str
    of: Mapping[str, tuple[str, tuple[str, ...]]]
    keys: Sequence[str]
    aggregates: Sequence[str]
    core: str


def _series(draw: random.Random) -> _Series:
    table = draw.choice("ppv")
    return _Series(
        source=draw.choice(_FROM[table]),
        of=_KEYS[table],
        keys=draw.sample(list(_KEYS[table]), draw.randint(1, 3)),
        aggregates=draw.sample(_AGGREGATES[table], 2),
        core=draw.choice(["", "", "age > 3"]),
    )


def _statement(draw: random.Random, series: _Series, *, is_first: bool) -> tuple[str, str, int]:
    """A statement, what PostgreSQL is asked for the same: of rows in the groups of public keys alone, and the
    number of its keys."""
    keys, of = series.keys, series.of
    grouped = list(keys) if is_first else draw.sample(keys, draw.randint(0, len(keys) - 1))
    if draw.random() < 0.1:
        grouped = draw.sample(keys, draw.randint(0, len(keys)))
    conditions = [series.core] if series.core and draw.random() < 0.9 else []
    if draw.random() < 0.1:
        conditions.append(draw.choice(["3 < age", "NOT age <= 3", "age < 18"]))
    for key in keys:
        if draw.random() < (0.15 if is_first else 0.5):
            conditions.append(_condition(draw, key, of[key][1]))
    aggregates = (
        series.aggregates if is_first else draw.sample(series.aggregates, draw.randint(1, 2))
    )
    where, listed = " AND ".join(conditions), [f"({of[key][0]})" for key in grouped]
    names = [*grouped, *(f"{one} AS a{n}" for n, one in enumerate(aggregates))]
    by = f" GROUP BY {', '.join(grouped)}" if grouped else ""
    text = f"SELECT {', '.join(names)} FROM {series.source}"
    both = " AND ".join([*conditions, *listed])
    here, there = (f"{text}{' WHERE ' if one else ''}{one}{by}" for one in (where, both))
    return here, there, len(grouped)


def _of_whole(draw: random.Random, series: _Series, step: int) -> tuple[str, str, int]:
    """As _statement: of all rows, by a key, and then of what is left without some of its groups."""
    key = series.keys[0]
    listed, values = series.of[key]
    some = series.aggregates if step < 2 else draw.sample(series.aggregates, draw.randint(1, 2))
    columns = ", ".join(f"{one} AS a{n}" for n, one in enumerate(some))
    text = f"SELECT {columns} FROM {series.source}"
    if step == 0:
        return text, text, 0
    if step == 1:
        by = f"SELECT {key}, {columns} FROM {series.source}{{}} GROUP BY {key}"
        return by.format(""), by.format(f" WHERE {listed}"), 1
    text = f"{text} WHERE {_condition(draw, key, values)}"
    return text, text, 0


@pytest.fixture(scope="module")
def reusing() -> Iterator[LiveProxy]:
    pair = servers()
    served = served_database(pair, DATABASE, _SCRIPT, _TABLES, "auto", most="100")
    proxy = start_proxy(pair, [served])
    lease = proxy.assembly.databases[DATABASE].lease
    with psycopg.connect(lease.ledger_dsn) as connection:
        connection.execute(
            "UPDATE ledger.allowance SET epsilon = 1e12 WHERE source = %s", (lease.source,)
        )
    yield proxy
    proxy.stop()


def _rows(
    found: Sequence[tuple[object, ...]], keys: int
) -> dict[tuple[object, ...], tuple[float, ...]]:
    return {
        row[:keys]: tuple(0 if one is None else float(str(one)) for one in row[keys:])
        for row in found
    }


def _agrees(
    text: str, found: Sequence[tuple[object, ...]], exact: Sequence[tuple[object, ...]], keys: int
) -> bool:
    """Groups that PostgreSQL has not are empty."""
    near = 50 if "sum(" in text else 4
    here, there = _rows(found, keys), _rows(exact, keys)
    if not {*there} <= {*here}:
        return False
    if "avg(" in text:  # of no rows it is anything
        here = {group: values for group, values in here.items() if any(there.get(group, ()))}
    nothing = (0.0,) * (len(found[0]) - keys if found else 0)
    return all(
        abs(one - other) <= near
        for group, values in here.items()
        for one, other in zip(values, there.get(group, nothing), strict=True)
    )


def _pairs(reusing: LiveProxy, seed: int, rounds: int) -> tuple[int, int]:
    """Gives how many answers cost nothing, and how many of them are what is left of others."""
    draw, free, rests = random.Random(seed), 0, 0
    with psycopg.connect(reusing.servers.protected.dsn(DATABASE), autocommit=True) as owner:
        for _ in range(rounds):
            series, analyst = _series(draw), reusing.servers.new_analyst()
            of_whole = draw.random() < 0.4
            with reusing.connect(DATABASE, analyst=analyst) as connection:
                connection.execute("SET dp.epsilon = 100")
                connection.execute("SET dp.accept_error = 100")
                before, asked = 0.0, list[str]()
                for step in range(6):
                    if of_whole:
                        text, exactly, keys = _of_whole(draw, series, step)
                    else:
                        text, exactly, keys = _statement(draw, series, is_first=step == 0)
                    asked.append(text)
                    try:
                        plan = connection.execute(f"EXPLAIN {text}".encode()).fetchall()
                        found = connection.execute(text.encode()).fetchall()
                    except psycopg.Error as error:
                        asked[-1] += f" -- {error}"
                        continue
                    exact = owner.execute(exactly.encode()).fetchall()
                    assert _agrees(text, found, exact, keys), (asked, found, exact)
                    paid = reusing.spent(analyst)[1]
                    free += paid == before
                    rests += paid == before and "the rest of" in str(plan)
                    before = paid
    return free, rests


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_pairs_agree_with_postgresql(reusing: LiveProxy, seed: int) -> None:
    free, rests = _pairs(reusing, seed, 40)
    assert free > 20 and rests > 0, "that cost nothing"
