"""Rewritten statements of both ways beside each other on a real shadow, and printed trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.base.limits import STATEMENT_BYTES
from proxy.base.sql_types import SqlType
from proxy.engine.sessions import PostgresError
from proxy.query.canonical.printing import query_sql
from proxy.query.canonical.query_grammar import parse_canonical
from proxy.query.canonical.rewriting import rewritten
from proxy.query.canonical.statement import read_canonical
from proxy.query.syntax.statements import StatementKind
from proxy.shadow.canonical_text import CanonicalStatement, canonical_statement
from proxy.shadow.constant_evaluation import own_shadow
from tests.canonical.both_readers import oids_of
from tests.canonical.differences import PRINTED
from tests.canonical.made_relations import made_relation
from tests.cases import Case, in_folder
from tests.pipeline_world import CATALOG, EXPOSED, POLICIES, read
from tests.planner.test_golden_pipeline import PIPELINE, REFUSED, arguments_of

_JSONB = 3802
Result = tuple[list[tuple[str, int, int]], list[str]]


@pytest.fixture(scope="module")
def shadow() -> Iterator[psycopg.Connection]:
    with own_shadow(POLICIES["world"], CATALOG) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def canonical_of(connection: psycopg.Connection, case: Case) -> CanonicalStatement | None:
    types, _ = arguments_of(case)
    try:
        return canonical_statement(connection, case.statement.rstrip("; \n"), oids_of(types))
    except (PostgresError, Refusal):
        return None


def run_rewritten(
    connection: psycopg.Connection,
    text: str,
    types: Sequence[SqlType],
    arguments: Sequence[str | None],
    relation: str,
) -> Result:
    given = [None if one is None else one.strip('"').encode() for one in arguments]
    result = connection.pgconn.exec_params(
        text.encode(), [*given, relation.encode()], [*oids_of(types), _JSONB]
    )
    assert not result.error_message, (text, result.error_message)
    columns = [
        ((result.fname(n) or b"").decode(), result.ftype(n), result.fmod(n))
        for n in range(result.nfields)
    ]
    rows = [
        repr([result.get_value(row, n) for n in range(result.nfields)])
        for row in range(result.ntuples)
    ]
    return columns, sorted(rows)


def test_both_give_the_same_columns_and_rows(shadow: psycopg.Connection) -> None:
    compared = Counter[str]()
    wrong = []
    for case in in_folder(PIPELINE):
        types, arguments = arguments_of(case)
        found = read(case.statement, types)
        if found is None or not found[1].query.blocks:
            continue
        statement, reading = found
        written = canonical_of(shadow, case)
        if statement.kind is not StatementKind.QUERY or written is None:
            continue
        ours = read_canonical(written.text, EXPOSED, types)
        text = rewritten(ours, len(types), [column.name for column in written.columns])
        given = (shadow, types, arguments)
        results = [
            run_rewritten(given[0], sql, *given[1:], made_relation(blocks))
            for sql, blocks in (
                (text, ours.query.blocks),
                (reading.text, reading.query.blocks),
            )
        ]
        compared["with rows" if results[0][1] else "without rows"] += 1
        if results[0] != results[1]:
            wrong.append((case.place, text, reading.text, *results))
    assert wrong == []
    assert compared["with rows"] > 350, compared


def test_what_is_printed_is_the_same_statement(shadow: psycopg.Connection) -> None:
    """To PostgreSQL, and to the grammar."""
    printed = 0
    wrong = []
    for case in (*in_folder(PIPELINE), *in_folder(REFUSED)):
        types, _ = arguments_of(case)
        written = canonical_of(shadow, case)
        if written is None:
            continue
        try:
            tree = parse_canonical(written.text)
        except Refusal:
            continue
        sql = query_sql(tree)
        if len(sql) > STATEMENT_BYTES:
            continue
        again = canonical_statement(shadow, sql, oids_of(types))
        printed += 1
        if parse_canonical(again.text) != tree:
            wrong.append((case.name, written.text, again.text))
    assert printed > 600
    assert {name for name, *_ in wrong} == PRINTED.keys(), wrong
