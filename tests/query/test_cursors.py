"""Which DECLARE needs a transaction block is read from its words, not from a name that looks like them."""

from __future__ import annotations

import pytest

from proxy.query.syntax.statements import Statement, look
from tests.pipeline_world import NAMES


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("DECLARE c CURSOR FOR SELECT count(*) FROM people", True),
        ("DECLARE c SCROLL CURSOR WITHOUT HOLD FOR SELECT count(*) FROM people", True),
        ("declare c cursor with hold for select count(*) from people", False),
        ("DECLARE c NO SCROLL CURSOR WITH HOLD FOR (SELECT count(*) FROM people)", False),
        ('DECLARE "with" CURSOR FOR SELECT count(*) FROM people', True),
        ("DECLARE hold CURSOR FOR SELECT count(*) FROM people", True),
        ("SELECT count(*) FROM people", False),
        ("CREATE TABLE x AS SELECT count(*) FROM people", False),
    ],
)
def test_a_cursor_without_hold_needs_a_transaction(text: str, needed: bool) -> None:
    statement = look(text, NAMES)
    assert isinstance(statement, Statement)
    assert statement.needs_transaction is needed
