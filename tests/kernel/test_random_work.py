"""Random expressions, as many as are accepted, of pairs of one person's rows: they stay within the limit."""

from __future__ import annotations

import random  # noqa: TID251  the same expressions in every run
import re
from collections.abc import Iterator

import pytest

from proxy.base import limits
from proxy.base.errors import Refusal
from tests.audit.two_states import TwoStates, two_states
from tests.kernel.backend_seconds import backend_seconds
from tests.machine_speed import allowed_work
from tests.never_raise.grammar import Grammar
from tests.servers_fixture import servers

pytestmark = pytest.mark.timed
_LIMIT = limits.UNIT_NANOSECONDS / 1e9
_SEED = 20261126
_FEW, _MANY = 5, 100
_TRIED = 15
_TYPES = {
    **{
        "id": "int PRIMARY KEY",
        "uid": "int NOT NULL",
        "i2": "smallint",
        "i4": "int",
        "i8": "bigint",
    },
    **{"n2": "numeric(8,2)", "n": "numeric", "f4": "real", "f8": "double precision", "t": "text"},
    **{"c": "character(8)", "s": "character varying(20)", "b": "boolean", "d": "date"},
    **{"ts": "timestamp", "tz": "timestamptz", "free": "int", "j": "jsonb", "ta": "text[]"},
    **{"ia": "integer[]", "iv": "interval", "tod": "time"},
}
_VALUES = {
    **{"i2": "g % 100", "i4": "g % 100", "i8": "g % 100", "n2": "g % 100 + 0.25", "f4": "g + 0.5"},
    **{
        "n": "(repeat('7', 2 + {long}) || '.5')::numeric",
        "f8": "1.5e300",
        "t": "repeat('letter', 1 + {long})",
    },
    **{"c": "'c'", "s": "'abcdefghij'", "b": "g % 2 = 0", "d": "date '2020-01-01' + g % 900"},
    **{"ts": "timestamp '2020-01-01' + g * interval '1 hour'", "tz": "'2020-01-01Z'", "free": "g"},
    **{
        "j": "jsonb_build_object('k', repeat('a', {long}), 'n', g)",
        "ta": "array_fill('x'::text, ARRAY[1 + {long} / 50])",
    },
    **{
        "ia": "array_fill(7, ARRAY[1 + {long} / 2])",
        "iv": "g * interval '1 day'",
        "tod": "'12:30'",
    },
}


def _rows(first: int, count: int, unit: str, long: int) -> str:
    listed = ", ".join(value.replace("{long}", str(long)) for value in _VALUES.values())
    return (
        f"INSERT INTO h.pairs (id, uid, {', '.join(_VALUES)})"
        f" SELECT {first} + g, {unit}, {listed} FROM generate_series(1, {count}) g;\n"
    )


_SCRIPT = (
    f"CREATE SCHEMA h;\nCREATE TABLE h.pairs ({', '.join(f'{n} {t}' for n, t in _TYPES.items())});\n"
    + _rows(0, 300, "100 + g / 3", 0)
    + _rows(10_000, 100, "7", 100_000)
)
_BOUNDED = {"i2", "i4", "i8", "n2", "n", "f4", "f8"}
_COLUMNS = ", ".join(
    f"{name}: {{bounds: [0, 100]}}" if name in _BOUNDED else f"{name}: {{}}"
    for name in _TYPES
    if name != "uid"
)
_POLICY = f"  h.pairs: {{unit: {{person: uid}}, max_rows_per_unit: 100, columns: {{{_COLUMNS}}}}}\n"
_NAMES = re.compile(rf"(?<![\w'$.])({'|'.join(_TYPES)})(?![\w'(])")


@pytest.fixture(scope="module")
def states() -> Iterator[TwoStates]:
    gone = "DELETE FROM h.pairs WHERE uid = 7;"
    yield two_states(servers().protected, "random_work", _SCRIPT, _POLICY, gone)


def _condition(grammar: Grammar) -> str:
    """Each column of one of the two rows."""
    found = grammar.condition(grammar.draw.randint(1, 4))
    return _NAMES.sub(lambda name: f"{grammar.draw.choice('ab')}.{name[1]}", found)


def _statement(conditions: list[str]) -> str:
    either = " OR ".join(f"({one}) IS NULL" for one in conditions)
    return (
        "SELECT count(*) FROM h.pairs a JOIN h.pairs b ON a.uid = b.uid"
        f" WHERE a.i4 > b.i4 + 200 OR {either}"
    )


def _accepts(states: TwoStates, conditions: list[str]) -> bool:
    try:
        states.plan(_statement(conditions))
    except Refusal:
        return False
    return True


def _largest(states: TwoStates, grammar: Grammar) -> list[str]:
    """Random conditions one after the other, as long as the statement is accepted."""
    found: list[str] = []
    for _ in range(_TRIED):
        one = _condition(grammar)
        if "$" not in one and _accepts(states, [*found, one]):
            found.append(one)
    return found


def _hold(states: TwoStates, seed: int, count: int) -> None:
    grammar = Grammar(random.Random(seed))
    for _ in range(count):
        conditions = _largest(states, grammar)
        assert conditions
        statement = _statement(conditions)
        here, there = (
            backend_seconds(states, statement, dsn) for dsn in (states.here, states.there)
        )
        assert here - there <= allowed_work(_LIMIT), statement


@pytest.mark.long
def test_the_largest_that_are_accepted(states: TwoStates) -> None:
    _hold(states, _SEED, _FEW)


@pytest.mark.long
def test_many_of_the_largest(states: TwoStates) -> None:
    _hold(states, _SEED + 1, _MANY)
