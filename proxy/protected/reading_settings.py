"""With which settings the proxy reads: of its sessions, of its role, and of every node of a distributed server.

A distributed server such as Citus computes on other nodes, which hear nothing of what a session sets. There the
settings of the role hold: `dpproxy policy role` sets the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# Read-only is the second wall: only compiled statements come here. UTC and ISO fix what text constants and
# timestamps mean; search_path is empty so that no function can be shadowed (docs/design/sql.md 4).
SETTINGS: Mapping[str, str] = {
    "default_transaction_read_only": "on",
    "search_path": "''",
    "TimeZone": "'UTC'",
    "DateStyle": "'ISO, YMD'",
    "standard_conforming_strings": "on",
    "jit": "off",  # docs/design/backends.md 6
    "random_page_cost": "1.1",  # or the covering index is not used
    "work_mem": "'64MB'",
    "parallel_tuple_cost": "0.005",  # or grouping by unit and key is left to one process
    # The leader only gathers: with as many workers as cores, one hash table less in the caches (tests/bench).
    "parallel_leader_participation": "off",
    # A plan for any values would look parameters up in each row.
    "plan_cache_mode": "force_custom_plan",
    "extra_float_digits": "1",  # floats of public lists are handed over as text, to the last bit
    # What a hash table may use is ours to say, whatever the server's default is. With 1 grouping two million
    # rows by unit writes ten times as much to temporary files.
    "hash_mem_multiplier": "2",
    "cursor_tuple_fraction": "1",  # what a cursor is opened for is read to its end
    # A nested loop reads one side again for each row of the other. Full joins need none (docs/adr/0083).
    "enable_nestloop": "off",
    "application_name": "'dpproxy'",
    "idle_in_transaction_session_timeout": "'5min'",  # of a proxy that hangs: its locks end
}
SESSION = tuple(f"SET {name} = {value}" for name, value in SETTINGS.items())
# Before 17 the planner counts `unit IS NOT NULL` for each row of an index, and not for a row of the table. Less
# Less by as much, and the covering index is taken as it is by 17 (ADR 0120).
BEFORE_17 = "SET cpu_index_tuple_cost = 0.0025"

# What the meaning of a compiled statement depends on.
MEANING = (
    *(
        "TimeZone",
        "DateStyle",
        "IntervalStyle",
        "standard_conforming_strings",
        "extra_float_digits",
    ),
    *("transform_null_equals", "array_nulls", "bytea_output", "lc_time", "lc_numeric"),
)
_OF_A_NODE = (
    "SELECT pg_catalog.string_agg(name || chr(1) || setting, chr(2) ORDER BY name)"  # noqa: S608
    f" FROM pg_catalog.pg_settings WHERE name IN ({', '.join(map(repr, MEANING))})"
)
IS_DISTRIBUTED = "SELECT pg_catalog.to_regclass('pg_catalog.pg_dist_node') IS NOT NULL"
# How many nodes compute otherwise than this session, or say nothing. Reads no row. Every node is asked by the
# same role as for a statement, and the coordinator too: it may connect to itself.
NODES_THAT_DIFFER = (
    "SELECT count(*)::integer FROM pg_catalog.run_command_on_all_nodes($_$"  # noqa: S608
    f"{_OF_A_NODE}$_$) node WHERE node.success IS NOT TRUE OR node.result IS DISTINCT FROM ({_OF_A_NODE})"
)


# The SQL that makes the role with which dpproxy reads, which `dpproxy policy role` prints.

SCRIPT = Path(__file__).with_name("protected_role.sql")
