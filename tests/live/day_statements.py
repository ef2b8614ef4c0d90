"""Times of day, over w.sales of test_functions.py: `came` has the hours 0 to 23 and 24:00, or is NULL."""

from __future__ import annotations

_COUNT = "SELECT count(*) FROM w.sales"

# The first columns are keys, the last is an answer.
GROUPED_OF_DAY = (
    "SELECT extract(hour FROM came) AS h, count(*) FROM w.sales WHERE came IS NOT NULL GROUP BY 1",
    "SELECT extract(hour FROM came)::int AS h, count(*) FROM w.sales WHERE came IS NOT NULL GROUP BY 1",
    "SELECT extract(hour FROM came) AS h, count(*) FROM w.sales WHERE extract(hour FROM came) BETWEEN 9 AND 17"
    " GROUP BY 1",
    "SELECT lpad(extract(hour FROM came)::text, 2, '0') || ':00' AS h, count(*) FROM w.sales"
    " WHERE came IS NOT NULL GROUP BY 1",
    "SELECT floor(extract(epoch FROM came) / 21600) * 6 AS h, count(*) FROM w.sales WHERE came IS NOT NULL"
    " GROUP BY 1",
    "SELECT extract(second FROM went)::int AS s, count(*) FROM w.sales"
    " WHERE went IS NOT NULL AND extract(second FROM went)::int IN (0, 60) GROUP BY 1",
    "SELECT extract(epoch FROM went)::int AS s, count(*) FROM w.sales WHERE went IS NOT NULL GROUP BY 1",
    "SELECT CASE WHEN came < '12:00' THEN 'am' WHEN came IS NOT NULL THEN 'pm' ELSE 'none' END AS k, count(*)"
    " FROM w.sales GROUP BY 1",
    "SELECT came > went AS k, count(*) FROM w.sales WHERE came > went IS NOT NULL GROUP BY 1",
    "SELECT extract(hour FROM q.t) AS h, state, count(*) FROM (SELECT came AS t, state FROM w.sales) q"
    " WHERE t >= '22:00' AND extract(hour FROM t) >= 22 GROUP BY 1, 2",
)
ANSWERS_OF_DAY = (
    *(
        f"{_COUNT} WHERE {condition}"
        for condition in (
            *(
                "came < '12:00'",
                "came >= time '09:30'",
                "came = '24:00:00'",
                "'9:07:30.250' = went",
            ),
            *("came <= '12:00:00.000001'::time", "came > localtime - localtime + time '11:00'"),
            *("came BETWEEN '23:30' AND '24:00'", "came NOT BETWEEN '0:00' AND '06:00'"),
            *(
                "went IN ('00:00', '12:00')",
                "went NOT IN ('00:00', '24:00')",
                "went IN ('0:00', NULL)",
            ),
            *("went = ANY('{00:00,24:00}')", "went = ANY(ARRAY['12:00', '24:00']::time[])"),
            *(
                "(went, kind) IN (('12:00', 1), ('24:00', 2))",
                "went <> ALL(ARRAY[time '12:00', NULL])",
            ),
            *(
                "came IS NULL",
                "came < went",
                "came IS DISTINCT FROM went",
                "came IS NOT DISTINCT FROM NULL",
            ),
            *("went = (SELECT opens FROM w.kinds WHERE id = 3)", "went = make_time(9, 30, 59.999)"),
            *("went - came > interval '2 hours'", "extract(epoch FROM went - time '12:00') < 0"),
            *("extract(minute FROM came) = 30", "extract(second FROM went) > 59.5", "came = NULL"),
            *(
                "went < '12:00'::time(0)",
                "CASE went WHEN '12:00' THEN kind = 1 ELSE came > '12:00' END",
            ),
            "extract(epoch FROM came) / 3600 < 12.5",
        )
    ),
    "SELECT sum(extract(hour FROM came)), sum(extract(minute FROM came)), sum(extract(second FROM came)),"
    " sum(extract(epoch FROM came)) FROM w.sales",
    *(
        f"SELECT avg(extract(epoch FROM {of})) FROM w.sales WHERE came IS NOT NULL AND went IS NOT NULL"
        for of in ("came", "went - came")
    ),
    "SELECT count(came), count(went), count(DISTINCT went), count(DISTINCT extract(hour FROM came))"
    " FROM w.sales",
    "SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE s.came >= k.opens",
)
REFUSED_OF_DAY = (
    *("came > '12:00'::timetz",),
    *(
        "came > interval '1 hour'",
        "came + interval '1 hour' > '12:00'",
        "day + came > at",
    ),
    *(
        "came::text = '12:00:00'",
        "to_char(came, 'HH24') = '12'",
        "date_trunc('hour', came) = '12:00'",
    ),
    *("at::time < '12:00'", "coalesce(came, went) < '12:00'", "greatest(came, went) < '12:00'"),
    *(
        "came::interval > '1 hour'",
        "came IN (SELECT opens FROM w.kinds)",
        "extract(hour FROM note::time) = 1",
    ),
    *("came < current_time", "extract(millisecond FROM came) = 0"),
)
