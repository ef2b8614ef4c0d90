"""Each construct that gathers or joins rows of a unit, for each type of a unit: what is planned runs."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from proxy.base.errors import Refusal
from tests.audit.two_states import TwoStates, two_states
from tests.servers_fixture import servers
from tests.unchecked_blocks import compile_block

_TYPES = {
    "integers": ("int", "7"),
    "bigints": ("bigint", "7"),
    "numerics": ("numeric(9,2)", "7"),
    "texts": ("text", "'x'"),
    "varchars": ("varchar(20)", "'x'"),
    "padded": ("char(8)", "'x'"),
    "collated": ('text COLLATE "C"', "'x'"),
    "collated_varchars": ('varchar(20) COLLATE "POSIX"', "'x'"),
    "collated_padded": ('char(8) COLLATE "POSIX"', "'x'"),
    "uuids": ("uuid", "'00000000-0000-0000-0000-000000000001'"),
    "labels": ("u.mood", "'low'"),
}
_STATEMENTS = [
    "SELECT count(*) FROM {a} a JOIN {b} b ON a.pid = b.pid",
    "SELECT count(*) FROM {a} a LEFT JOIN {b} b ON a.pid = b.pid AND b.x > 5 WHERE b.x IS NULL",
    "SELECT count(*) FROM {a} a WHERE a.pid IN (SELECT pid FROM {b} WHERE x > 1)",
    "SELECT count(*) FROM {a} a WHERE NOT EXISTS (SELECT 1 FROM {b} b WHERE b.pid = a.pid AND b.t = a.t)",
    "SELECT count(*) FROM {a} a WHERE (SELECT max(b.x) FROM {b} b WHERE b.pid = a.pid) > 5",
    "SELECT count(*) FROM {a} a JOIN (SELECT pid, max(x) AS m FROM {b} GROUP BY pid) b ON a.pid = b.pid"
    " WHERE b.m > 1",
    "SELECT count(*) FROM (SELECT a.pid, a.t, count(*) AS n FROM {a} a JOIN {b} b ON a.pid = b.pid"
    " GROUP BY a.pid, a.t) g WHERE n > 1",
    "SELECT count(*) FROM (SELECT pid, x, row_number() OVER (PARTITION BY pid ORDER BY x) AS r FROM {a}) w"
    " WHERE r = 1",
    "SELECT count(*) FROM (SELECT pid, x FROM {a} UNION ALL SELECT pid, x FROM {b}) u",
    "SELECT count(*) FROM (SELECT DISTINCT pid, t FROM {a}) g",
    "SELECT t, count(*), avg(x), min(x), count(DISTINCT pid) FROM {a} GROUP BY t",
    "SELECT count(*) FROM {a} a JOIN {b} b USING (pid) JOIN {a} c ON c.pid = b.pid",
    "SELECT count(*) FROM {a} a LEFT JOIN {b} b ON a.pid = b.pid"
    " WHERE EXISTS (SELECT 1 FROM {a} c WHERE c.pid = b.pid)",
    "SELECT count(*) FROM {a} a LEFT JOIN {b} b ON a.pid = b.pid JOIN {a} c ON c.pid = b.pid",
]


def _script() -> tuple[str, str]:
    script, policy = "CREATE SCHEMA u; CREATE TYPE u.mood AS ENUM ('low', 'high');", ""
    for name, (kind, value) in _TYPES.items():
        for side in "ab":
            script += (
                f"CREATE TABLE u.{name}_{side} (id int PRIMARY KEY, pid {kind}, x int, t text);"
                f"INSERT INTO u.{name}_{side} VALUES"
                f" (1, {value}, 5, 'x'), (2, {value}, 6, 'y'), (3, NULL, 1, 'z');"
            )
            policy += (
                f"  u.{name}_{side}: {{unit: {{{name}: pid}}, max_rows_per_unit: 10, columns:"
                " {id: {}, x: {bounds: [0, 100]}, t: {values: [x, y]}}}\n"
            )
    return script, policy


@pytest.fixture(scope="module")
def states() -> Iterator[TwoStates]:
    script, policy = _script()
    yield two_states(
        servers().protected, "types_of_units", script, policy, "DELETE FROM u.texts_a;"
    )


@pytest.mark.every(3)
@pytest.mark.parametrize("name", _TYPES)
@pytest.mark.parametrize("statement", _STATEMENTS)
def test_what_is_planned_runs(states: TwoStates, statement: str, name: str) -> None:
    text = statement.format(a=f"u.{name}_a", b=f"u.{name}_b")
    try:
        plan = states.plan(text)
    except Refusal as refused:
        assert refused.hint
        return
    with psycopg.connect(states.here, autocommit=True) as connection:
        for block in plan.blocks:
            for query in compile_block(block):
                values = {**query.parameters, **dict.fromkeys(query.seeds, 7)}
                connection.execute(query.sql.encode(), values).fetchall()
