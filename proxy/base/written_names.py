"""Names of tables and columns as one writes them in SQL: in quotes only where they need them."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
# PostgreSQL 18 documentation, appendix C, "reserved", with those that only name functions or types.
_RESERVED = """
all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate
collation column concurrently constraint create cross current_catalog current_date current_role
current_schema current_time current_timestamp current_user default deferrable desc distinct do else end
except false fetch for foreign freeze from full grant group having ilike in initially inner intersect
into is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null
offset on only or order outer overlaps placing primary references returning right select session_user
similar some symmetric system_user table tablesample then to trailing true union unique user using
variadic verbose when where window with between bigint bit boolean char character coalesce dec decimal
exists extract float greatest grouping inout int integer interval json json_array json_arrayagg
json_exists json_object json_objectagg json_query json_scalar json_serialize json_table json_value least
merge_action national nchar none normalize nullif numeric out overlay position precision real row setof
smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists
xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
"""
RESERVED = frozenset(_RESERVED.split())


def written_name(*parts: str) -> str:
    """
    >>> written_name("shop", "orders"), written_name("Shop", "order"), written_name('a"b')
    ('shop.orders', '"Shop"."order"', '"a""b"')
    """
    return ".".join(map(_written, parts))


def _written(name: str) -> str:
    if _PLAIN.fullmatch(name) and name not in RESERVED:
        return name
    return quoted(name)


def quoted(name: str) -> str:
    """Write a name in quotes, whether it needs them or not.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'
