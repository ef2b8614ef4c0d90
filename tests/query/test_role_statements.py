"""ALTER ROLE is recognised by its tokens, and nothing else is."""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from proxy.query.syntax.assignments import check_role_statement

_ROLES = [
    "ALTER ROLE current_user PASSWORD 'x'",
    "alter user bob password null",
    "/* a */ ALTER -- b\n ROLE bob SET work_mem = '1GB'",
    "; ALTER GROUP dp_analyst ADD USER bob",
    "ALTER\tUSER\nbob RENAME TO eve;",
    "Alter Role ALL RESET ALL",
    "DO $$ BEGIN ALTER ROLE current_user PASSWORD 'x'; END $$",
    "do language plpgsql 'begin execute ''alter /* a */ user bob password null''; end'",
    "CREATE FUNCTION pg_temp.f() RETURNS void LANGUAGE sql AS $$ ALTER -- b\nROLE bob RESET ALL $$",
    "create or replace procedure pg_temp.p() language sql as 'alter\tgroup g add user bob'",
]
_OTHERS = [
    "SELECT 'ALTER ROLE bob'",
    'SELECT 1 AS "alter", 2 AS role',
    "-- ALTER ROLE bob\nSELECT 1",
    "ALTER TABLE role ADD COLUMN x int",
    "ALTER USER MAPPING FOR bob SERVER s OPTIONS (SET password 'x')",
    "SELECT 'unclosed ALTER ROLE",
    "DO $$ BEGIN ALTER TABLE role ADD COLUMN x int; END $$",
    "DO $$ BEGIN ALTER USER MAPPING FOR bob SERVER s OPTIONS (SET password 'x'); END $$",
    "CREATE TABLE function AS SELECT 'alter', 'role'",
    "",
]


@pytest.mark.parametrize("text", _ROLES)
def test_roles_are_not_altered(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        check_role_statement(text)
    assert caught.value.code.sqlstate == "42501"
    assert "dpproxy user passwd" in caught.value.hint


@pytest.mark.parametrize("text", _OTHERS)
def test_other_statements_pass(text: str) -> None:
    check_role_statement(text)
