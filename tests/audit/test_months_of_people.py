"""Neighbours by a person in one month: two people have rows in two months, and one of them loses one month."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.audit.two_states import TwoStates, two_states
from tests.servers_fixture import servers

# Person 7 has 9 rows in February, more than count, and 2 in March; their rows of March and all others stay.
_SCRIPT = """
CREATE SCHEMA s;
CREATE TABLE s.stays (id int PRIMARY KEY, uid uuid, at timestamptz, x int NOT NULL, k text NOT NULL);
INSERT INTO s.stays SELECT 100 * n + i, md5(n::text)::uuid,
    '2026-01-20 23:30+00'::timestamptz + i * interval '8 days', (7 * n + i) % 50,
    (ARRAY['p', 'q', 'r'])[(n + i) % 3 + 1] FROM generate_series(1, 60) n, generate_series(1, 5) i;
INSERT INTO s.stays SELECT 700 + i, md5('7')::uuid,
    '2026-02-01 00:00+00'::timestamptz + i * interval '3 days', 40 + i, 'r' FROM generate_series(6, 13) i;
INSERT INTO s.stays VALUES (1, NULL, '2026-02-05', 3, 'p'), (2, md5('7')::uuid, NULL, 3, 'p'),
    (3, md5('7')::uuid, '2025-12-31 23:59:59.999999+00', 3, 'p'),
    (4, md5('7')::uuid, '2026-02-28 23:59:59.999999+00', 49, 'r');
CREATE TABLE s.kinds (k text PRIMARY KEY, long text NOT NULL);
INSERT INTO s.kinds VALUES ('p', 'pp'), ('q', 'qq'), ('r', 'rr');
"""
_IN_FEBRUARY = "at >= '2026-02-01 00:00+00' AND at < '2026-03-01 00:00+00'"
_FEBRUARY = f"DELETE FROM s.stays WHERE uid = md5('7')::uuid AND {_IN_FEBRUARY}"
_TABLES = """\
  s.stays:
    unit: {person: uid, per: month, of: at}
    append_only: on
    max_rows_per_unit: 4
    max_groups_per_unit: 2
    columns: {at: {bounds: [2026-01-10, 2026-03-31]}, x: {bounds: [0, 50]}, k: {values: [p, q, r]}, id: {}}
  s.kinds: public
"""
_QUESTIONS = (
    "SELECT count(*), sum(x), avg(x) FROM s.stays",
    f"SELECT k, count(*), sum(x) FROM s.stays WHERE {_IN_FEBRUARY} GROUP BY k",
    "SELECT date_trunc('month', at), count(*), count(DISTINCT uid) FROM s.stays GROUP BY 1",
    "SELECT date_trunc('day', at), count(*) FROM s.stays WHERE at >= '2026-02-01 00:00+00' GROUP BY 1",
    "SELECT long, count(*) FROM s.stays JOIN s.kinds USING (k) GROUP BY long",
    "SELECT count(DISTINCT x), percentile_cont(0.5) WITHIN GROUP (ORDER BY x), max(x) FROM s.stays",
    "SELECT x, count(*) FROM s.stays GROUP BY x",
    "SELECT count(*) FROM (SELECT x FROM s.stays WHERE k = 'r' UNION ALL SELECT x FROM s.stays) q WHERE x > 20",
)


@pytest.fixture(scope="module")
def stays() -> Iterator[TwoStates]:
    yield two_states(servers().protected, "months_of_people", _SCRIPT, _TABLES, _FEBRUARY)


@pytest.mark.parametrize("question", _QUESTIONS)
def test_a_month_of_a_person_moves_no_more_than_planned(stays: TwoStates, question: str) -> None:
    found = stays.movements(question)
    assert any(one.observed > 0 for one in found), "the person is in the result"
    assert [one for one in found if one.observed > one.planned] == []


def test_other_months_do_not_know(stays: TwoStates) -> None:
    for month in ("2026-01", "2026-03"):
        found = f"FROM s.stays WHERE date_trunc('month', at) = '{month}-01'"
        assert stays.differs(f"SELECT k, count(*), sum(x) {found} GROUP BY k") is False
    assert stays.differs("SELECT count(*) FROM s.stays")
