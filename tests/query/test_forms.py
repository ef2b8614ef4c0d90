"""Forms that two readers were found to read otherwise, and their kin."""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from tests.pipeline_world import read

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
