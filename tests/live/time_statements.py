"""Times moved by intervals, bins, and differences of times, over w.calls of test_time_zones.py."""

from __future__ import annotations

_COUNT = "SELECT count(*) FROM w.calls"
_WEEK = "at >= '2023-11-03' AND at < '2023-11-08'"
_HOURS = "at >= '2024-03-10 00:00+00' AND at < '2024-03-10 18:00+00'"

SHIFTED = (
    # week starts, as QuickSight, groupdate, Metabase and Looker write them
    "SELECT date_trunc('week', at + interval '1 day') - interval '1 day' AS w, count(*)"
    " FROM w.calls GROUP BY 1",
    "SELECT date_trunc('week', shown + INTERVAL '1 day') - INTERVAL '1 day' AS w, count(*)"
    " FROM w.calls GROUP BY 1",
    "SELECT date_trunc('week', day + interval '1 day') - interval '1 day' AS w, count(*)"
    " FROM w.calls GROUP BY 1",
    "SELECT CAST((DATE_TRUNC('week', (at + INTERVAL '1 day')) + INTERVAL '-1 day') AS date) AS w, count(*)"
    " FROM w.calls GROUP BY 1",
    "SELECT (DATE_TRUNC('week', (at - INTERVAL '6 day') AT TIME ZONE 'America/Chicago') + INTERVAL '6 day')"
    " AT TIME ZONE 'America/Chicago' AS w, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('week', at::timestamp + '1 day'::interval)::date - 1 AS w, count(*)"
    " FROM w.calls GROUP BY 1",
    "SELECT to_char(date_trunc('week', at + interval '1 day') - interval '1 day', 'YYYY-MM-DD') AS w, count(*)"
    " FROM w.calls GROUP BY 1",
    # of starts of units, as Grafana and Looker write them
    f"SELECT to_char(date_trunc('hour', at), 'YYYY-MM-DD HH24:MI:SS') AS h, count(*) FROM w.calls WHERE {_WEEK}"
    " GROUP BY 1",
    f"SELECT to_char(date_trunc('hour', at), 'HH24:MI:SS') AS h, count(*) FROM w.calls WHERE {_HOURS}"
    " GROUP BY 1",
    f"SELECT date_trunc('hour', date_trunc('day', at)) AS d, count(*) FROM w.calls WHERE {_WEEK} GROUP BY 1",
    f"SELECT date_trunc('day', date_trunc('hour', at)) AS d, count(*) FROM w.calls WHERE {_HOURS} GROUP BY 1",
    "SELECT date_trunc('month', date_trunc('week', at)) AS m, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('hour', date_trunc('month', at), 'America/Chicago') AS m, count(*) FROM w.calls"
    " GROUP BY 1",
    "SELECT date_bin('6 hours', date_trunc('week', shown), timestamp '2000-01-01') AS w, count(*) FROM w.calls"
    " GROUP BY 1",
    # the same by arithmetic, as Tableau and groupdate write them
    "SELECT CAST(day - CAST(EXTRACT(DOW FROM day) AS INTEGER) AS DATE) AS w, count(*) FROM w.calls GROUP BY 1",
    "SELECT day - (extract(isodow FROM day)::int - 1) AS w, count(*) FROM w.calls GROUP BY 1",
    "SELECT day - (extract(dow FROM day)::int + 1) % 7 AS w, count(*) FROM w.calls GROUP BY 1",
    "SELECT (DATE_TRUNC('day', at::timestamptz AT TIME ZONE 'America/Chicago' - INTERVAL '1 day' * ((13 +"
    " EXTRACT(DOW FROM at::timestamptz AT TIME ZONE 'America/Chicago')::integer) % 7)))::date AS w, count(*)"
    " FROM w.calls GROUP BY 1",
    "SELECT date_trunc('DAY', shown - extract(dow FROM shown) * interval '1 day') AS w, count(*)"
    " FROM w.calls GROUP BY 1",
    # days that begin at five, months that begin later
    "SELECT date_trunc('day', at - interval '5 hours') + interval '5 hours' AS d, count(*)"
    " FROM w.calls GROUP BY 1",
    "SELECT date_trunc('month', at + interval '1 month') AS m, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('quarter', shown - interval '1 month') + interval '1 month' AS q, count(*)"
    " FROM w.calls"
    " GROUP BY 1",
    "SELECT date_trunc('month', shown) + interval '1 month' - interval '1 day' AS last, count(*) FROM w.calls"
    " GROUP BY 1",
    "SELECT day + 7 AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT day - 400 AS d, count(*) FROM w.calls WHERE day < '2023-05-01' GROUP BY 1",
    "SELECT extract(isoyear FROM day + interval '3 days') AS y, count(*) FROM w.calls GROUP BY 1",
    "SELECT extract(hour FROM at + interval '90 minutes') AS h, count(*) FROM w.calls"
    f" WHERE {_WEEK} GROUP BY 1",
    "SELECT to_char(at + interval '6 months', 'YYYY') AS fiscal, count(*) FROM w.calls GROUP BY 1",
    # conditions
    f"{_COUNT} WHERE at + interval '1 day' < '2023-11-05 12:00'",
    f"{_COUNT} WHERE at - interval '1 month' >= '2024-02-29'",
    f"{_COUNT} WHERE shown + interval '1 month' < '2024-02-29'",
    f"{_COUNT} WHERE date_trunc('week', at + interval '1 day') - interval '1 day' <="
    " date_trunc('week', timestamp '2023-11-05 10:00' + 7 * -5 * interval '1 DAY' + interval '1 day')"
    " - interval '1 day'",
    f"{_COUNT} WHERE at >= ended - interval '1 day 02:00:00'",
    f"{_COUNT} WHERE ended <= at + make_interval(hours => 3)",
    f"{_COUNT} WHERE ended < at + 2 * interval '1 day'",
    f"{_COUNT} WHERE day + 1 = '2023-11-05' OR day - 1 IN ('2023-11-05')",
    f"{_COUNT} WHERE due - 3 > day AND interval '1 day' + day < due",
    f"{_COUNT} WHERE ended::date > at::date",
    f"{_COUNT} WHERE ended BETWEEN at AND at + interval '36 hours'",
    # bins
    "SELECT date_bin('15 minutes', shown, timestamp '2001-01-01') AS b, count(*) FROM w.calls"
    " WHERE shown >= '2024-03-10' AND shown < '2024-03-12' GROUP BY 1 HAVING count(*) > 0",
    "SELECT date_bin('14 days', at, timestamptz '2023-06-05 00:00+00') AS b, count(*)"
    " FROM w.calls GROUP BY 1",
    "SELECT date_bin(interval '6 hours', at, timestamptz '2030-01-01 03:00Z') AS b, count(*) FROM w.calls"
    f" WHERE {_WEEK} GROUP BY 1",
    f"SELECT to_timestamp(floor(extract(epoch from at) / 300) * 300) AS b, count(*) FROM w.calls WHERE {_HOURS}"
    " GROUP BY 1 HAVING count(*) > 0",
    "SELECT to_timestamp(floor((extract('epoch' from at) / 3600 )) * 3600) AT TIME ZONE 'UTC' AS b, count(*)"
    f" FROM w.calls WHERE {_HOURS} GROUP BY 1 HAVING count(*) > 0",
    f'SELECT floor(extract(epoch from at)/300)*300 AS "time", count(*) FROM w.calls WHERE {_HOURS} GROUP BY 1'
    " HAVING count(*) > 0",
    # bins by arithmetic, as Cube writes them
    "SELECT ('2024-01-01T00:00:00.000'::timestamp + INTERVAL '2 week' * FLOOR(EXTRACT(EPOCH FROM"
    " ((at::timestamptz AT TIME ZONE 'America/Chicago') - '2024-01-01T00:00:00.000'::timestamp)) /"
    " EXTRACT(EPOCH FROM INTERVAL '2 week'))) AS b, count(*) FROM w.calls GROUP BY 1",
    "SELECT floor(extract(epoch FROM shown - timestamp '2030-01-01 05:00') / extract(epoch FROM interval"
    " '90 minutes')) * interval '90 minutes' + timestamp '2030-01-01 05:00' AS b, count(*) FROM w.calls"
    " WHERE shown >= '2024-03-10' AND shown < '2024-03-12' GROUP BY 1 HAVING count(*) > 0",
    f"{_COUNT} WHERE day - extract(dow FROM day)::int = date '2024-03-10'",
    f"{_COUNT} WHERE at >= timestamptz '2024-03-10 00:00 Europe/London' AND at <"
    " '2024-03-12 01:30 America/New_York'::timestamptz",
    f"{_COUNT} WHERE day >= DATE '10 March 2024' AND day < 'today'::date",
    f"{_COUNT} WHERE at >= ((SELECT (DATE_TRUNC('day', timestamptz '2024-03-10 00:00+00') + (-6 || ' day')"
    "::INTERVAL))) AND day <= (SELECT date '2024-03-12')",
    # differences
    f"{_COUNT} WHERE ended - at > interval '1 day'",
    f"{_COUNT} WHERE ended - at BETWEEN interval '10 hours' AND '2 days'",
    f"{_COUNT} WHERE ended - at > interval '26:30'",
    f"{_COUNT} WHERE extract(epoch FROM ended - at) / 3600 < 10",
    f"{_COUNT} WHERE due - day >= 3",
    f"{_COUNT} WHERE ended - shown < interval '1 hour'",
    f"{_COUNT} WHERE date '2024-03-10' - day < 30",
    f"{_COUNT} WHERE timestamptz '2024-03-10 12:00+00' - at < interval '30 days'",
    "SELECT due - day AS days, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_part('day', ended - at) AS days, count(*) FROM w.calls GROUP BY 1",
    "SELECT extract(day FROM ended - at) AS d, extract(hour FROM ended - at) AS h, count(*) FROM w.calls"
    f" WHERE {_WEEK} GROUP BY 1, 2",
    "SELECT floor(extract(epoch FROM ended - at) / 86400) AS days, count(*) FROM w.calls GROUP BY 1",
    "SELECT (ended::date - at::date) AS days, count(*) FROM w.calls GROUP BY 1",
    "SELECT extract(year FROM age(date '2031-08-15', day)) AS y, count(*) FROM w.calls"
    " GROUP BY 1 HAVING count(*) > 0",
    "SELECT count(*) FROM w.calls WHERE extract(year FROM age(shown, '2019-02-28')) BETWEEN 1 AND 4",
    "SELECT date_part('year', age(timestamp '2020-02-29 12:00', shown)) AS y, count(*)"
    " FROM w.calls GROUP BY 1 HAVING count(*) > 0",
    "SELECT extract(year FROM age('2030-05-31', at)) * 12 + extract(month FROM age('2030-05-31', at)) AS m,"
    " count(*) FROM w.calls GROUP BY 1 HAVING count(*) > 0",
)
