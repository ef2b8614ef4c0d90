"""Foreign keys, views and children of all relations of a database, whoever may read them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from psycopg.pq import ExecStatus

from proxy.catalog.catalog_model import ForeignKey, TableName
from proxy.doctor.diagnosis_session import Connection
from proxy.policy.people import Links, Place

_RELATIONS = """
SELECT c.oid::bigint, n.nspname, c.relname, c.relkind::text, c.reltuples::float8,
       CASE WHEN c.relkind IN ('r', 'm', 'p') THEN pg_catalog.pg_table_size(c.oid) ELSE 0 END,
       ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
"""
# Not valid ones too: what they say of the data is what their owner means.
_FOREIGN_KEYS = """
SELECT f.conrelid::bigint, f.confrelid::bigint,
       ARRAY(SELECT a.attname::text FROM pg_catalog.unnest(f.conkey) WITH ORDINALITY AS x (attnum, place)
             JOIN pg_catalog.pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = x.attnum
             ORDER BY x.place),
       ARRAY(SELECT a.attname::text FROM pg_catalog.unnest(f.confkey) WITH ORDINALITY AS x (attnum, place)
             JOIN pg_catalog.pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = x.attnum
             ORDER BY x.place)
FROM pg_catalog.pg_constraint f WHERE f.contype = 'f'
"""
_CHILDREN = "SELECT inhparent::bigint, inhrelid::bigint FROM pg_catalog.pg_inherits"
# What a view reads itself, or by a function with a body that PostgreSQL has parsed (BEGIN ATOMIC), or by
# such a function that this one calls.
_READS = """
WITH RECURSIVE used (view, class, object) AS (
    SELECT w.ev_class, d.refclassid, d.refobjid
    FROM pg_catalog.pg_rewrite w
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
    WHERE w.ev_type = '1' AND d.refobjid <> w.ev_class
    UNION
    SELECT used.view, d.refclassid, d.refobjid
    FROM used
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = used.object
    WHERE used.class = 'pg_catalog.pg_proc'::regclass
)
SELECT used.view::bigint, used.object::bigint, used.class = 'pg_catalog.pg_proc'::regclass
FROM used
LEFT JOIN pg_catalog.pg_proc p ON used.class = 'pg_catalog.pg_proc'::regclass AND p.oid = used.object
LEFT JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE used.class = 'pg_catalog.pg_class'::regclass
   OR p.oid IS NOT NULL AND pg_catalog.to_jsonb(p) ->> 'prosqlbody' IS NULL
      AND (l.lanname NOT IN ('c', 'internal') OR p.proname LIKE 'dblink%')
      AND (p.proname LIKE 'dblink%' OR NOT EXISTS (
          SELECT FROM pg_catalog.pg_depend e
          WHERE e.classid = 'pg_catalog.pg_proc'::regclass AND e.objid = p.oid AND e.deptype = 'e'))
"""
# Functions of the database's own, with names and text: PostgreSQL knows of most texts not what they read.
_FUNCTIONS = """
SELECT p.oid::bigint, p.proname::text, pg_catalog.pg_get_functiondef(p.oid)
FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_language l ON l.oid = p.prolang
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE p.prokind <> 'a' AND l.lanname NOT IN ('c', 'internal')
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
"""
_WORD = re.compile(r"[^\W\d]\w*")  # without $, which quotes a body
_KEYS = re.compile(r"[-#]>>?\s*'([^']*)'")
_FOREIGN_NAMES = """
SELECT t.ftrelid::bigint,
       (SELECT pg_catalog.substr(o, 13) FROM pg_catalog.unnest(t.ftoptions) o WHERE o LIKE 'schema\\_name=%'),
       (SELECT pg_catalog.substr(o, 12) FROM pg_catalog.unnest(t.ftoptions) o WHERE o LIKE 'table\\_name=%')
FROM pg_catalog.pg_foreign_table t
"""
_VIEWS = """
SELECT c.oid::bigint, pg_catalog.pg_get_viewdef(c.oid) FROM pg_catalog.pg_class c
WHERE c.relkind IN ('v', 'm') AND c.oid::bigint = ANY(%s)
"""
_COLUMNS = """
SELECT a.attrelid::bigint, a.attnum::integer, a.attname::text FROM pg_catalog.pg_attribute a
WHERE a.attrelid::bigint = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    kind: str
    rows: float  # PostgreSQL's estimate, -1 where it has none
    size: int  # bytes
    calls_functions: bool  # of which nobody knows what they read
    foreign_name: TableName | None  # what a foreign table is called where it stands
    document_keys: tuple[str, ...] = ()  # that the text of a view takes out of documents


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    known: Mapping[TableName, Relation]
    links: Links


def read_relations(connection: Connection) -> Relations:
    found = connection.execute(_RELATIONS).fetchall()
    names = {row[0]: TableName(row[1], row[2]) for row in found}
    keys: dict[TableName, list[ForeignKey]] = defaultdict(list)
    for source, target, columns, target_columns in connection.execute(_FOREIGN_KEYS).fetchall():
        if source in names and target in names:
            key = ForeignKey(tuple(columns), names[target], tuple(target_columns))
            keys[names[source]].append(key)
    children: dict[TableName, set[TableName]] = defaultdict(set)
    for parent, child in connection.execute(_CHILDREN).fetchall():
        if parent in names and child in names:
            children[names[parent]].add(names[child])
    reads: dict[TableName, set[TableName]] = defaultdict(set)
    calling: dict[int, set[int]] = defaultdict(set)
    for view, read, is_function in connection.execute(_READS).fetchall():
        if is_function:
            calling[view].add(read)
        elif view in names and read in names and view != read:
            reads[names[view]].add(names[read])
    for view, read in _named_in_functions(connection, calling, names):
        if view in names and view != read:
            reads[names[view]].add(names[read])
    foreign = {
        row[0]: TableName(row[1] or names[row[0]].schema, row[2] or names[row[0]].name)
        for row in connection.execute(_FOREIGN_NAMES).fetchall()
        if row[0] in names
    }
    views = connection.execute(_VIEWS, (list(names),)).fetchall()
    texts: dict[int, str] = dict(views)
    known = {
        names[oid]: Relation(
            kind=kind,
            rows=rows,
            size=size,
            calls_functions=oid in calling,
            foreign_name=foreign.get(oid),
            document_keys=document_keys(texts.get(oid, "")),
        )
        for oid, _, _, kind, rows, size, _ in found
    }
    links = Links(
        columns={names[row[0]]: frozenset(row[6]) for row in found},
        foreign_keys={name: tuple(listed) for name, listed in keys.items()},
        reads={name: frozenset(read) for name, read in reads.items()},
        children={name: frozenset(below) for name, below in children.items()},
        sources=_sources(connection, names, views),
    )
    return Relations(known=known, links=links)


def _named_in_functions(
    connection: Connection, calling: Mapping[int, Collection[int]], names: Mapping[int, TableName]
) -> Iterator[tuple[int, int]]:
    """Find relations that the texts of functions name, or of functions whose names stand in these texts.

    A word anywhere in a text counts, so that a comment may count, too. A name that a function puts together
    from pieces is not found.

    Args:
        connection: To the protected database.
        calling: View -> the functions that it calls.
        names: Of all relations.

    Yields:
        A view, and a relation that it may read.
    """
    if not calling:
        return
    functions = connection.execute(_FUNCTIONS).fetchall()
    words = {oid: {one.lower() for one in _WORD.findall(text)} for oid, _, text in functions}
    for view, called in calling.items():
        reached, waiting = set(called), list(called)
        while waiting:
            said = words.get(waiting.pop(), set())
            further = {oid for oid, name, _ in functions if name.lower() in said} - reached
            reached |= further
            waiting += further
        said = {word for oid in reached for word in words.get(oid, ())}
        yield from ((view, oid) for oid, name in names.items() if _is_said(name, said))


def _is_said(name: TableName, words: Collection[str]) -> bool:
    return {one.lower() for one in _WORD.findall(name.name)} <= set(words)


def document_keys(definition: str) -> tuple[str, ...]:
    """Find the keys that a view takes out of documents by operators, in the order of its text.

    >>> document_keys("SELECT (t.doc ->> 'email'::text), (t.doc #>> '{owner,phone}'::text[]) FROM t")
    ('email', 'owner', 'phone')
    """
    found = [
        key.strip('"') for text in _KEYS.findall(definition) for key in text.strip("{}").split(",")
    ]
    return tuple(dict.fromkeys(found))


def _sources(
    connection: Connection, names: Mapping[int, TableName], views: Sequence[tuple[int, str]]
) -> dict[Place, Place]:
    """By statements of views, which are described and never run; none of what the role may not describe."""
    if not views:
        return {}
    columns: dict[int, dict[int, str]] = defaultdict(dict)
    for oid, number, name in connection.execute(_COLUMNS, (list(names),)).fetchall():
        columns[oid][number] = name
    found: dict[Place, Place] = {}
    for view, definition in views:
        if (
            connection.pgconn.prepare(
                b"", definition.encode(connection.info.encoding, "replace")
            ).status
            != ExecStatus.COMMAND_OK
        ):
            continue
        shown = connection.pgconn.describe_prepared(b"")
        for place, name in enumerate(columns[view].values()):
            base, number = shown.ftable(place), shown.ftablecol(place)
            if base in names and number in columns[base]:
                found[names[view], name] = names[base], columns[base][number]
    return found
