"""Words: key words that are names, comments in comments, forms of statements, cursors and roles."""

from __future__ import annotations

import pytest

from proxy.base.errors import Code, Refusal
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.statement_reading import Reading
from proxy.query.syntax.assignments import check_role_statement
from proxy.query.syntax.statements import Statement, look
from proxy.query.syntax.tokens import lex
from tests.pipeline_world import NAMES, read


def _reading(text: str) -> Reading:
    found = read(text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) AS {} FROM people",
        "SELECT count(*) AS {}, sum(n) FROM people WHERE n > 1",
        "SELECT count(*) FROM (SELECT n AS {} FROM people) q",
    ],
)
@pytest.mark.parametrize(
    "word", ["limit", "offset", "from", "where", "fetch", "into", "union", "window", "for"]
)
def test_any_word_is_a_label(text: str, word: str) -> None:
    reading = _reading(text.format(word))
    assert len(reading.query.blocks) == 1
    if "(SELECT" not in text:
        assert f"AS {word}" in reading.text


@pytest.mark.parametrize(
    "comment",
    [
        "/*/**/*/",
        "/**/",
        "/* a /* b */ c */",
        "/*/**/ WHERE n > 1 --*/\n",
        "/* ' */",
        "/* \u00a0 */",
    ],
)
def test_comments_nest(comment: str) -> None:
    """The parser ends some of them early, and read words that PostgreSQL reads over."""
    (block,) = _reading(f"SELECT count(*) FROM {comment} people{comment}").query.blocks
    assert block.where is None
    assert block.aggregates[0].kind is AggregateKind.COUNT_ROWS


def test_what_looks_like_a_comment_in_a_string() -> None:
    text = "SELECT '/*', \"/*\", $$/*$$, E'\\'/*' -- /*\n, 1"
    lexed = lex(text)
    assert lexed is not None
    assert lexed.text == text
    assert [x.token.text for x in lexed.lexemes if x.token.text == "/*"] == ["/*"] * 3
    assert lexed.lexemes[-1].token.text == "1"


@pytest.mark.parametrize("pair", ["1, 1", "n, 1", "1, n", "n, 1 + 2"])
@pytest.mark.parametrize("name", ["corr", "covar_pop", "covar_samp", "regr_slope", "regr_r2"])
def test_a_pair_with_a_constant_is_refused(name: str, pair: str) -> None:
    with pytest.raises(Refusal) as caught:
        read(f"SELECT {name}({pair}) FROM people")
    assert caught.value.code is Code.UNSUPPORTED
    assert "constant" in caught.value.message
    assert caught.value.position == 8


READ = (
    "SELECT count(*) FROM people WHERE f4 IN (0.1, 0.5)",
    "SELECT count(*) FROM people WHERE f4 = 0.1::real",
    "SELECT count(*) FROM people WHERE extract(epoch FROM iv) > 100",
    "SELECT count(*) FROM people WHERE t SIMILAR TO 'a%'",
    "SELECT count(*) FROM people WHERE t NOT SIMILAR TO 'a|b'",
    "SELECT count(*) FROM people WHERE jsonb_extract_path_text(j, 'a', 'b') = 'x'",
    "SELECT sum(|/ f8) FROM people",
    "SELECT t, t, count(*) FROM orders GROUP BY (t, t)",
    "SELECT count(*) FROM people WHERE e || '' = 'low'",
    "SELECT count(*) FROM orders JOIN members USING (uid) JOIN visits v ON v.uid = orders.uid",
    "SELECT count(*) FROM people WHERE t ~ '^(a|b).*c$' OR t !~* 'ab'",
    "SELECT count(*) FROM (SELECT DISTINCT ON (uid) uid, i4 FROM orders ORDER BY uid, i2 DESC) q WHERE i4 > 2",
    # Rows of constants.
    "SELECT count(*) FROM people p, (VALUES (5)) v(x) WHERE p.i4 > v.x",
    "WITH v(x) AS (SELECT 5) SELECT count(*) FROM people p, v WHERE p.i4 > v.x",
    "WITH v(x) AS (SELECT 5) SELECT count(*) FROM people p JOIN v ON p.i4 > v.x",
    "SELECT count(*) FROM people p, (VALUES (5), (6)) v(x) WHERE p.i4 > v.x",
    "SELECT p.t, v.x, count(*) FROM people p, (VALUES (5)) v(x) WHERE p.i4 > v.x GROUP BY p.t, v.x",
    "WITH v AS (SELECT 5 AS x) SELECT count(*) FROM v, people p LEFT JOIN places q"
    " ON q.code = p.t AND p.i4 > 2 WHERE p.i4 > v.x",
    "SELECT CASE WHEN b THEN c END, count(*) FROM people GROUP BY 1",
    # Subqueries that name keys of the SELECT around them.
    "SELECT t, EXISTS (SELECT 1 FROM places p WHERE p.code = orders.t), count(*) FROM orders GROUP BY t",
    "SELECT t, t IN (SELECT code FROM places) FROM orders GROUP BY t",
    "SELECT t, ARRAY(SELECT code FROM places WHERE zone = orders.t) FROM orders GROUP BY t",
    "SELECT t FROM orders GROUP BY t HAVING NOT EXISTS (SELECT 1 FROM places p WHERE p.code = orders.t)",
    "SELECT t, (SELECT max(p.zone) AS m FROM places p WHERE p.code = orders.t) AS m"
    " FROM orders GROUP BY t",
)
REFUSED = (
    # An outer join fills the constants with NULLs.
    "WITH v AS (SELECT 5 AS x) SELECT count(*) FROM places q LEFT JOIN (people p CROSS JOIN v)"
    " ON q.code = p.t WHERE v.x > 3",
    # Aggregates of the SELECT around the subquery that they stand in.
    "SELECT t, (SELECT count(orders.t)) FROM orders GROUP BY t",
    "SELECT count(*), (SELECT max(orders.i4)) FROM orders",
    "SELECT t, (SELECT sum(length(orders.t)) FROM rates r), count(*) FROM orders GROUP BY t",
    "SELECT e, (SELECT count(e) FROM rates) FROM people FULL JOIN moods USING (e) GROUP BY e",
    # One row of each group is none of each unit.
    "SELECT count(*) FROM (SELECT DISTINCT ON (t) t, i4 FROM orders ORDER BY t, i4) q",
    "SELECT DISTINCT ON (uid) uid, i4 FROM orders ORDER BY uid, i2 DESC",
    "SELECT count(*) FROM people WHERE t ~ '[a-z]+'",
    "SELECT count(*) FROM people CROSS JOIN generate_series(1, people.i4) AS g",
    # Tables that the policy does not list.
    "SELECT count(*) FROM people p JOIN pg_type t ON t.typname = p.t",
    "SELECT count(*) FROM people WHERE CASE WHEN b THEN ta ELSE ta END IS NULL",
    "SELECT count(*) FROM people WHERE COALESCE(j, j) IS NULL",
    "SELECT count(*) FROM people WHERE extract(day FROM iv) = 1",
    "SELECT count(*) FROM people WHERE tod + interval '1 hour' > '10:00'",
    "WITH q AS (SELECT gen_random_uuid() AS u, uid FROM orders) SELECT count(DISTINCT u) FROM q",
    "SELECT count(*) FROM (members a FULL JOIN orders b USING (uid)) JOIN visits c USING (uid)",
    "SELECT o.t, count(*) FROM orders o JOIN (SELECT t, count(*) AS n FROM people GROUP BY t) q"
    " ON q.t = o.t AND o.* IS NOT NULL GROUP BY o.t",
)


@pytest.mark.parametrize("statement", READ)
def test_read_as_one_block(statement: str) -> None:
    found = read(statement)
    assert found is not None
    assert len(found[1].query.blocks) == 1


@pytest.mark.parametrize("statement", REFUSED)
def test_refused(statement: str) -> None:
    with pytest.raises(Refusal):
        read(statement)


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
