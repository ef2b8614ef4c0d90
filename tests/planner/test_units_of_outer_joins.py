"""Joins on the unit of rows that may have no partner are answered or refused; none is a fault."""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from tests.pipeline_world import POLICIES, walk

_STATEMENTS = [
    "SELECT count(*) FROM orders a LEFT JOIN members m ON a.uid = m.uid JOIN calls b ON b.uid = m.uid",
    "SELECT count(*) FROM orders a LEFT JOIN members m ON a.uid = m.uid LEFT JOIN calls b ON b.uid = m.uid",
    "SELECT count(*) FROM calls a LEFT JOIN (SELECT uid, count(*) AS n FROM calls GROUP BY uid) m ON"
    " a.uid = m.uid JOIN members b ON b.uid = m.uid",
    "SELECT count(*) FROM lines l JOIN orders o ON l.order_id = o.id JOIN calls k ON k.uid = o.uid",
    "SELECT count(*) FROM lines l LEFT JOIN orders o ON l.order_id = o.id JOIN calls k ON k.uid = o.uid",
    "SELECT count(*) FROM orders o LEFT JOIN lines l ON l.order_id = o.id JOIN calls k ON k.uid = o.uid",
    "SELECT count(*) FROM calls a LEFT JOIN orders o ON a.i2 = o.id JOIN members k ON k.uid = o.uid",
    "SELECT count(*) FROM calls a JOIN orders o ON a.i2 = o.id JOIN members k ON k.uid = o.uid",
    "SELECT count(*) FROM calls a JOIN orders o ON a.i2 = o.id JOIN members k ON k.uid = a.uid",
    "SELECT count(*) FROM members a LEFT JOIN calls b USING (uid) JOIN orders o USING (uid)",
    "SELECT count(*) FROM members a RIGHT JOIN calls b USING (uid) JOIN orders o USING (uid)",
    "SELECT count(*) FROM members a RIGHT JOIN calls b ON a.uid = b.uid JOIN orders o ON o.uid = a.uid",
    "SELECT count(*) FROM (SELECT b.uid FROM members a LEFT JOIN calls b ON a.uid = b.uid) x JOIN"
    " orders o ON o.uid = x.uid",
    "SELECT count(*) FROM (SELECT b.uid FROM members a LEFT JOIN calls b ON a.uid = b.uid WHERE b.uid"
    " IS NOT NULL) x JOIN orders o ON o.uid = x.uid",
    "SELECT count(*) FROM members a LEFT JOIN calls b ON a.uid = b.uid WHERE b.uid IN (SELECT uid FROM"
    " orders WHERE i4 > 1)",
    "SELECT count(*) FROM members a LEFT JOIN calls b ON a.uid = b.uid WHERE EXISTS (SELECT 1 FROM"
    " orders o WHERE o.uid = b.uid)",
    "SELECT count(*) FROM members a LEFT JOIN calls b ON a.uid = b.uid WHERE (SELECT max(i4) FROM"
    " orders o WHERE o.uid = b.uid) > 1",
    "SELECT count(*) FROM calls a WHERE EXISTS (SELECT 1 FROM orders o WHERE o.uid = a.uid AND o.uid = a.uid)",
    "SELECT count(*) FROM orders a JOIN calls b ON a.uid = b.uid AND a.uid = b.uid",
    "SELECT count(*) FROM (SELECT uid, 1 AS o FROM members UNION ALL SELECT uid, 2 FROM calls) x JOIN"
    " (SELECT uid FROM members) o ON o.uid = x.uid",
    "SELECT count(*) FROM people a LEFT JOIN (visits b JOIN places z ON z.code = b.t) ON a.t = b.t",
]


@pytest.mark.parametrize("policy", ["world", "joins"])
@pytest.mark.parametrize("statement", _STATEMENTS)
def test_none_is_a_fault(statement: str, policy: str) -> None:
    try:
        assert walk(statement, POLICIES[policy]) is not None
    except Refusal as refused:
        assert refused.hint
