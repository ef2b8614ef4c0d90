"""Keys that a unit does not fix, though they look so: a unit is in several groups, of which one is paid.

Each statement is planned as it is, and its noise made that of a unit in one group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from proxy.kernel.plan import BlockPlan
from proxy.kernel.refusals import Rule
from proxy.mechanisms import partition_selection
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import WindowColumn, WindowFunction
from tests.kernel.examples import of_table
from tests.kernel.holes import block_of, hole, noise_for, windows_changed

# Person 3 has several rows in each table but members; some rows are of nobody.
ROWS = (
    "INSERT INTO members(id, uid, i4, i2, t) SELECT g, CASE WHEN g < 20 THEN g END, g % 5, 1 + g % 2,"
    " (ARRAY['x', 'y', 'z'])[1 + g % 3] FROM generate_series(1, 24) g;"
    " INSERT INTO visits(id, uid, i4, i2, t, d) SELECT g, nullif(g % 7, 0), g % 5, 1 + g % 2,"
    " (ARRAY['x', 'y', 'z'])[1 + g % 3], date '2001-01-01' + 100 * g FROM generate_series(1, 60) g;"
    " INSERT INTO orders(id, uid, i4, i2, t) SELECT g, nullif(g % 7, 0), g % 2, 1 + g % 2,"
    " (ARRAY['x', 'y', 'z'])[1 + g % 3] FROM generate_series(1, 40) g;"
    " INSERT INTO places VALUES ('x', 'north'), ('y', 'south'), ('z', 'south')"
)
PERSON = "; ".join(
    f"DELETE FROM {table} WHERE uid = 3" for table in ("members", "visits", "orders")
)

# Key, FROM.
NOT_FIXED = {
    "key_of_several_rows": ("o.t", "members m JOIN orders o ON o.uid = m.uid"),
    "key_of_a_table_of_rows": ("v.t", "visits v"),
    "key_of_a_partner_of_some_rows": (
        "m.i2",
        "visits v LEFT JOIN members m ON m.uid = v.uid AND v.i4 > 2",
    ),
    "key_of_a_partner_by_another_column": (
        "m.i2",
        "visits v LEFT JOIN members m ON m.uid = v.uid AND m.i4 = v.i4",
    ),
    "key_of_a_partner_of_a_partner": (
        "m.i2",
        "visits v LEFT JOIN orders o ON o.uid = v.uid AND o.i4 = v.i4"
        " LEFT JOIN members m ON m.uid = o.uid",
    ),
    "key_of_a_place_of_a_row": ("p.zone", "visits v JOIN places p ON p.code = v.t"),
    "key_made_of_both_sides": (
        "CASE WHEN v.i4 > m.i4 THEN 'above' ELSE 'below' END",
        "visits v JOIN members m ON m.uid = v.uid",
    ),
    "key_of_a_running_window": (
        "least(q.n, 3)",
        "(SELECT uid, count(*) OVER (PARTITION BY uid ORDER BY i4) AS n FROM visits) q",
    ),
    "key_of_a_window_by_more": (
        "q.n",
        "(SELECT uid, i4, min(i2) OVER (PARTITION BY uid, i4) AS n FROM visits) q",
    ),
    "key_of_a_window_by_a_computed_value": (
        "q.n",
        "(SELECT uid, min(i2) OVER (PARTITION BY uid, i4 + 1) AS n FROM visits) q",
    ),
    "key_of_a_row_number": (
        "CASE WHEN q.n = 1 THEN 'first' ELSE 'later' END",
        "(SELECT uid, row_number() OVER (PARTITION BY uid ORDER BY i4) AS n FROM visits) q",
    ),
    "key_of_a_union": (
        "q.t",
        "(SELECT uid, t FROM members UNION ALL SELECT uid, 'z' AS t FROM members) q",
    ),
    "key_of_a_group_of_a_unit": (
        "q.i2",
        "(SELECT uid, i2, count(*) AS n FROM visits GROUP BY uid, i2) q",
    ),
    "key_beside_one_that_is_fixed": ("m.t, v.i2", "visits v JOIN members m ON m.uid = v.uid"),
}
# What people write, and where all rows of a unit have one value.
FIXED = {
    "table of one row a unit": ("m.t", "members m JOIN visits v ON v.uid = m.uid"),
    "written from the other side": ("m.t", "visits v JOIN members m ON m.uid = v.uid"),
    "function of its columns": (
        "CASE WHEN m.i4 > 2 THEN m.t ELSE 'low' END",
        "visits v JOIN members m ON m.uid = v.uid",
    ),
    "two keys": ("m.t, m.i2", "visits v JOIN members m ON m.uid = v.uid"),
    "left join of all rows": ("m.i2", "visits v LEFT JOIN members m ON m.uid = v.uid"),
    "left join by a condition on the partner": (
        "m.i2",
        "visits v LEFT JOIN members m ON m.uid = v.uid AND m.i4 > 2",
    ),
    "left join to the rows": ("m.t", "members m LEFT JOIN visits v ON v.uid = m.uid"),
    "first row of a unit": (
        "f.y",
        "visits v JOIN (SELECT uid, date_trunc('year', min(d)) AS y FROM visits GROUP BY uid) f"
        " ON f.uid = v.uid",
    ),
    "whole window": ("q.n", "(SELECT uid, min(i2) OVER (PARTITION BY uid) AS n FROM visits) q"),
    "first value of a window": (
        "q.n",
        "(SELECT uid, first_value(i2) OVER (PARTITION BY uid ORDER BY i4) AS n FROM visits) q",
    ),
    "renamed in a subquery": (
        "q.kind",
        "(SELECT v.uid, m.t AS kind, v.i4 FROM visits v JOIN members m ON m.uid = v.uid) q",
    ),
    "place of a unit": (
        "p.zone",
        "visits v JOIN members m ON m.uid = v.uid JOIN places p ON p.code = m.t",
    ),
    "grouped by it before": (
        "q.t",
        "(SELECT v.uid, m.t, count(*) AS n FROM visits v JOIN members m ON m.uid = v.uid"
        " GROUP BY v.uid, m.t) q",
    ),
    "three tables": (
        "m.t",
        "visits v JOIN members m ON m.uid = v.uid JOIN orders o ON o.uid = v.uid",
    ),
}


def statement(of: tuple[str, str]) -> str:
    """Count the units of each group."""
    keys, source = of
    alias = "q" if source.startswith("(") else source.split()[1]
    return f"SELECT {keys}, count(DISTINCT {alias}.uid) FROM {source} GROUP BY {keys}"


def _made(name: str) -> Callable[[], BlockPlan]:
    def make() -> BlockPlan:
        return replace(noise_for(block_of(statement(NOT_FIXED[name])), 1), reach=1)

    make.__name__ = name
    return make


for _name in NOT_FIXED:
    hole(Rule.GROUPS, ROWS, PERSON)(_made(_name))


def _with_ties(function: WindowFunction) -> BlockPlan:
    """A window of all rows of a unit that is printed with an order, of its ties: it sees the rows up to one."""
    whole = ("q.n", "(SELECT uid, max(i2) OVER (PARTITION BY uid) AS n FROM visits) q")
    block = block_of(statement(whole))
    value = of_table("r1", "visits", "i2")

    def tied(window: WindowColumn) -> WindowColumn:
        last = replace(window, ties=(replace(value, relation=_relation_of(window)),))
        if function is WindowFunction.AGGREGATE:
            return last
        operand = last.ties[0]
        return replace(last, function=function, aggregate=None, operand=operand, type=operand.type)

    changed = replace(block, source=windows_changed(block.source, tied))
    return replace(noise_for(changed, 1), reach=1)


def _relation_of(window: WindowColumn) -> str:
    (unit,) = window.partition
    assert isinstance(unit, ColumnRef)
    return unit.relation


@hole(Rule.GROUPS, ROWS, PERSON)
def key_of_a_window_of_ties() -> BlockPlan:
    return _with_ties(WindowFunction.AGGREGATE)


@hole(Rule.GROUPS, ROWS, PERSON)
def key_of_a_last_value_of_ties() -> BlockPlan:
    return _with_ties(WindowFunction.LAST_VALUE)


def with_listed_key(name: str, value: str) -> BlockPlan:
    """Visits counted by a private key that the unit fixes, and by one of their columns of which a value is
    listed: with noise for one group of a unit."""
    block = block_of(statement(("m.d, v.i2", "visits v JOIN members m ON m.uid = v.uid")))
    fixed, listed = block.keys
    assert isinstance(listed.expression, ColumnRef)
    column = of_table(listed.expression.relation, "visits", name)
    is_long = column.type.is_text
    key = replace(
        listed,
        expression=column,
        type=column.type,
        type_name=column.type.sql,
        values=(value,),
        is_long=is_long,
    )
    assert block.selection is not None
    each = partition_selection.per_group(block.selection.loss, 1)
    selection = replace(block.selection, each=each)
    return replace(noise_for(block, 1), keys=(fixed, key), reach=1, selection=selection)


_ZEROS = (
    "INSERT INTO members(id, uid, d) VALUES (1, 3, '2001-01-01');"
    " INSERT INTO visits(id, uid, n, f8) VALUES (1, 3, 0, 0), (2, 3, 0.00, '-0')"
)


@hole(Rule.GROUPS, _ZEROS, PERSON)
def listed_number_of_several_scales() -> BlockPlan:
    """0 and 0.00 are equal, and two groups."""
    return with_listed_key("n", "0")


@hole(Rule.GROUPS, _ZEROS, PERSON)
def listed_float_of_two_signs() -> BlockPlan:
    """0 and -0 are equal, and two groups."""
    return with_listed_key("f8", "0")


@hole(Rule.SELECTION, _ZEROS, PERSON)
def selection_of_listed_groups() -> BlockPlan:
    """A selection shows 0.00 as well, where 0 alone is listed."""
    block = with_listed_key("n", "0")
    return replace(block, keys=block.keys[1:], reach=None)
