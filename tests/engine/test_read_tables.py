"""A closed table is found wherever a plan reads it: what is compiled names no table that is not found."""

from __future__ import annotations

import re

import pytest

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import TableName
from proxy.kernel.plan import read_tables
from tests.kernel.test_golden_plans import golden_blocks
from tests.pipeline_world import CATALOG, POLICIES, PUBLIC, SCHEMA, walk
from tests.unchecked_blocks import compile_block

_NAMED = re.compile(rf'"?{SCHEMA}"?\."?(\w+)"?')


def test_no_compiled_statement_reads_another_table() -> None:
    compared, public = 0, set()
    for statement, _, block in golden_blocks():
        try:
            queries = compile_block(block)
        except Refusal:
            continue
        texts = [query.sql for query in queries]
        texts += [wanted.sql for query in queries for wanted in query.lists]
        named = {TableName(SCHEMA, name) for text in texts for name in _NAMED.findall(text)}
        assert named <= CATALOG.tables.keys()
        assert named <= read_tables(block, POLICIES["world"]), statement
        compared += 1
        public |= named & set(PUBLIC)
    assert compared > 300 and len(public) > 2


@pytest.mark.parametrize("name", [name.name for name in PUBLIC])
def test_a_table_that_is_not_named_is_not_read(name: str) -> None:
    found = walk("SELECT count(*) FROM visits")
    assert found is not None
    (block,) = found.plan.blocks
    assert TableName(SCHEMA, name) not in read_tables(block, POLICIES["world"])
