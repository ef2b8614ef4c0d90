"""Statements in which rows of constant_statements' table are joined or compared with answers, as tools write
them: the last column counts."""

from __future__ import annotations

_TOP = (
    "(SELECT kind AS kind__, sum(n) AS mme_inner__ FROM w.calls GROUP BY kind"
    " ORDER BY mme_inner__ DESC LIMIT 2)"
)
_SPINE = (
    "(SELECT g AS month FROM generate_series('2024-01-01'::timestamp, '2026-01-01', '1 month') g)"
)

JOINED = (
    # Superset's series limit, on a table and on a virtual dataset
    "SELECT date_trunc('year', at) AS y, kind AS kind, count(*) AS count FROM w.calls"
    f" JOIN {_TOP} AS series_limit ON kind = kind__ GROUP BY date_trunc('year', at), kind"
    " ORDER BY count DESC LIMIT 10000",
    f"SELECT kind, sum(n) AS s, count(*) FROM (SELECT kind, n, at::timestamp AS at FROM w.calls) v JOIN {_TOP}"
    " AS series_limit ON kind = kind__ WHERE at >= '2020-01-01' GROUP BY kind HAVING count(*) > 5",
    f"SELECT kind, avg(n), count(*) FROM w.calls JOIN {_TOP} AS s ON kind = kind__ WHERE n < 50 GROUP BY 1",
    # the others in one
    "SELECT CASE WHEN (s.kind__ IS NOT NULL) THEN kind ELSE 'Others' END AS kind, count(*) AS count"
    f" FROM w.calls LEFT OUTER JOIN {_TOP} AS s ON kind = kind__"
    " GROUP BY CASE WHEN (s.kind__ IS NOT NULL) THEN kind ELSE 'Others' END LIMIT 1000",
    f"SELECT coalesce(s.kind__, 'Others') AS k, sum(n), count(n) FROM w.calls LEFT JOIN {_TOP} s"
    " ON kind = kind__ GROUP BY 1",
    # Tableau's top N, with and without the key among the columns
    f"SELECT c.kind, sum(c.n), count(*) FROM w.calls c INNER JOIN {_TOP} t0 ON (c.kind = t0.kind__)"
    " GROUP BY 1",
    f"SELECT sum(c.n), count(*) FROM w.calls c INNER JOIN {_TOP} t0"
    " ON (c.kind IS NOT DISTINCT FROM t0.kind__)",
    "SELECT kind, count(*) FROM w.calls WHERE n >= 10 AND kind IN"
    " (SELECT kind FROM w.calls GROUP BY 1 ORDER BY sum(n) DESC LIMIT 1) GROUP BY 1",
    f"SELECT date_trunc('year', at) AS y, count(*) FROM w.calls WHERE kind NOT IN (SELECT kind__ FROM {_TOP} t)"
    " AND n BETWEEN 3 AND 90 GROUP BY 1",
    f"WITH top AS {_TOP} SELECT kind, max(n), count(*) FROM w.calls JOIN top ON top.kind__ = kind"
    " GROUP BY kind",
    # a share of a total, and of what a group has
    "SELECT kind, round(count(*) * 100.0 / q.total) AS share, count(*) FROM w.calls"
    " CROSS JOIN (SELECT count(*) AS total FROM w.calls) q GROUP BY kind, q.total",
    "SELECT c.kind, q.total, count(*) FROM w.calls c JOIN (SELECT kind, count(*) AS total FROM w.calls"
    " GROUP BY kind) q USING (kind) WHERE c.n < 20 GROUP BY 1, 2",
    f"SELECT kind, mme_inner__ > 0, count(*) FROM w.calls JOIN {_TOP} s ON kind = kind__"
    " WHERE n < 50 OR n > 60 GROUP BY kind, mme_inner__, s.kind__ HAVING count(*) > 3 OR false",
    # names that are those of a noisy relation's columns elsewhere
    "SELECT k1, x1.c2 > 0 AS a1, sum(n) AS k2, count(*) AS b1 FROM w.calls JOIN (SELECT kind AS k1,"
    " count(*) AS c2 FROM w.calls GROUP BY kind) x1 ON kind = k1 WHERE c2 > 5 GROUP BY k1, c2 ORDER BY k2",
    "SELECT a1, count(*) AS k1 FROM w.calls JOIN (SELECT kind AS a1, count(*) AS c2 FROM w.calls GROUP BY kind)"
    " dp_x1 ON kind <> a1 GROUP BY a1 ORDER BY k1",
    # bins between ends that are answers
    "WITH r AS (SELECT min(n) / 10 * 10 AS low, 25 AS step FROM w.calls)"
    " SELECT CASE WHEN n < low + step THEN 'first' WHEN n < low + 2 * step THEN 'second' ELSE 'rest' END"
    " AS bin, count(*) FROM w.calls CROSS JOIN r GROUP BY 1",
    # sums over a window of time, of a spine without rows
    f"SELECT q.month, count(*) FROM {_SPINE} q JOIN (SELECT date_trunc('month', shown) AS month FROM w.calls) x"
    " ON x.month <= q.month AND x.month > q.month - interval '3 months' GROUP BY q.month",
    # a period before
    "WITH base AS (SELECT date_trunc('year', shown) AS y, count(*) AS c FROM w.calls"
    " WHERE date_trunc('year', shown) = '2025-01-01' GROUP BY 1),"
    " ends AS (SELECT min(y) AS low, max(y) AS high FROM base),"
    " before AS (SELECT date_trunc('year', shown) AS y, count(*) AS c FROM w.calls LEFT JOIN ends ON TRUE"
    " WHERE ((kind IS NOT NULL) = true) AND date_trunc('year', shown) >= ends.low - INTERVAL '1 year'"
    " AND date_trunc('year', shown) <= ends.high - INTERVAL '1 year' GROUP BY 1)"
    " SELECT base.y, before.c, base.c FROM base LEFT JOIN before ON base.y = before.y + INTERVAL '1 year'",
    # public rows in a subquery
    "SELECT p.id, count(*) FROM w.calls c JOIN (SELECT id, name AS k FROM w.kinds WHERE id < 30) p"
    " ON c.kind = p.k GROUP BY 1",
    "SELECT p.id, count(*) FROM w.calls c LEFT JOIN (SELECT id, name AS k FROM w.kinds) p ON c.kind = p.k"
    " GROUP BY 1",
)

# Whose rows meet several answers, or one that is not theirs: refused, not answered wrongly.
NOT_JOINED = (
    f"SELECT avg(n) FROM w.calls JOIN {_TOP} s ON kind = kind__",
    "SELECT kind, avg(n) FROM w.calls JOIN (SELECT kind AS k, (n < 50) AS h, count(*) AS c FROM w.calls"
    " GROUP BY 1, 2) q ON kind = q.k GROUP BY 1",
    f"SELECT dp.error(count(*)) FROM w.calls JOIN {_TOP} s ON kind = kind__",
    f"SELECT kind, n FROM w.calls JOIN {_TOP} s ON kind = kind__",
    f"SELECT kind, avg(n) FROM w.calls JOIN {_TOP} s ON kind = kind__ GROUP BY kind, ctid",
    f"SELECT kind, avg(n) FROM w.calls c JOIN {_TOP} s ON kind = kind__ GROUP BY kind, c",
    f"SELECT s.kind__, w.calls.n FROM w.calls JOIN {_TOP} s ON kind = kind__ GROUP BY 1, 2, person",
)
