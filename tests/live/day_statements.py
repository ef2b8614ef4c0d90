"""Times of day, over the sales (sales_data.py): `came` has the hours 0 to 23 and 24:00, or is NULL. Those of
timestamps: `seen` has all of them, `noted` is also far away."""

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
    "SELECT extract(hour FROM seen::time) AS h, count(*) FROM w.sales WHERE seen IS NOT NULL GROUP BY 1",
    "SELECT CASE WHEN seen::time < '12:00' THEN 'am' WHEN seen IS NOT NULL THEN 'pm' END AS k, count(*)"
    " FROM w.sales GROUP BY 1",
)
# Conditions on what a clock shows, which is another one in each zone for `seen`.
OF_TIMESTAMPS = (
    *(
        "seen::time < '12:00'",
        "CAST(seen AS time) BETWEEN '09:00' AND '17:30'",
        "seen::time > went",
    ),
    *("noted::time = '11:00'", "noted::time >= time '23:45'", "noted::time <> '00:00'"),
    *("seen::time IN ('00:37:11.25', '01:14:22.25')", "seen::time NOT IN ('00:37:11.25', NULL)"),
    *("noted::time = ANY('{10:15,24:00,10:30}')", "noted::time <> ALL(ARRAY[time '10:15'])"),
    *(
        "noted::time IS NULL",
        "seen::time IS DISTINCT FROM came",
        "seen::timestamp::time < noted::time",
    ),
    *("(seen AT TIME ZONE 'Asia/Kolkata')::time >= '20:00'", "seen::time::time <= '06:00'"),
    *(
        "(seen + interval '90 minutes')::time < '01:00'",
        "date_trunc('hour', noted)::time = '10:00'",
    ),
    *("noted::time - came > interval '2 hours'", "extract(epoch FROM noted::time) / 3600 < 12.5"),
    *(
        "seen::time = (SELECT opens FROM w.kinds WHERE id = 3)",
        "noted::time >= make_time(9, 30, 0)",
    ),
    "CASE noted::time WHEN '10:15' THEN kind = 1 ELSE noted::time > '12:00' END",
    *("extract(minute FROM seen::time) = 30", "extract(second FROM seen::time) > 59.5"),
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
            *OF_TIMESTAMPS,
        )
    ),
    "SELECT sum(extract(hour FROM came)), sum(extract(minute FROM came)), sum(extract(second FROM came)),"
    " sum(extract(epoch FROM came)) FROM w.sales",
    *(
        f"SELECT avg(extract(epoch FROM {of})) FROM w.sales WHERE came IS NOT NULL AND went IS NOT NULL"
        for of in ("came", "went - came")
    ),
    "SELECT sum(extract(minute FROM seen::time)), avg(extract(hour FROM noted::time)) FROM w.sales",
    "SELECT avg(extract(epoch FROM seen::time)) FROM w.sales",
    "SELECT count(seen::time), count(DISTINCT noted::time) FROM w.sales",
    "SELECT sum(extract(second FROM t)), count(*) FILTER (WHERE extract(minute FROM t) > 30 AND t < '12:00')"
    " FROM (SELECT seen::time AS t FROM w.sales) q",
    "SELECT count(*) FROM (SELECT seen::time AS t FROM w.sales UNION ALL SELECT noted::time FROM w.sales) q"
    " WHERE t > '12:00'",
    "SELECT count(*) FROM (SELECT person, max(extract(epoch FROM seen::time)) AS t FROM w.sales"
    " GROUP BY person) q WHERE t > 40000",
    # a difference below
    "SELECT count(*) FROM (SELECT went - came AS d FROM w.sales) q WHERE d > interval '1 hour'",
    "SELECT count(DISTINCT d) FROM (SELECT went - came AS d FROM w.sales) q WHERE d IS NOT NULL",
    "SELECT count(*) FILTER (WHERE extract(hour FROM d) > 3) FROM (SELECT went - came AS d FROM w.sales) q",
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
    *("coalesce(came, went) < '12:00'", "greatest(came, went) < '12:00'"),
    *(
        "seen::time(0) < '12:00'",
        "coalesce(seen::time, came) < '12:00'",
        "seen::time::text = '12:00'",
    ),
    *("seen::time + interval '1 hour' > '12:00'", "seen::time IN (SELECT opens FROM w.kinds)"),
    *("to_char(seen::time, 'HH24') = '12'", "date_trunc('hour', seen::time) = '12:00'"),
    *("nullif(seen::time, '12:00') IS NULL", "(CASE WHEN is_new THEN seen::time END) < '12:00'"),
    *(
        "came::interval > '1 hour'",
        "came IN (SELECT opens FROM w.kinds)",
        "extract(hour FROM note::time) = 1",
    ),
    *("came < current_time", "extract(millisecond FROM came) = 0"),
)
