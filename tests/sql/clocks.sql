-- Sessions in other time zones. A row of each person, each 53 minutes, so that every hour has one: through two
-- springs and an autumn.
-- mechanism: auto
-- sessions: SET TimeZone = 'America/New_York' | SET TimeZone = 'Asia/Kolkata' | SET TimeZone = 'Pacific/Kiritimati' | SET TimeZone = 'UTC'
-- => schema
CREATE SCHEMA w;
CREATE TABLE w.calls
(person int PRIMARY KEY, at timestamptz NOT NULL, shown timestamp NOT NULL, day date NOT NULL,
kind text NOT NULL, ended timestamptz NOT NULL, due date NOT NULL);
INSERT INTO w.calls
SELECT n, (t || '+00')::timestamptz, t, t::date, (ARRAY['a','b'])[1 + n % 2],
(t || '+00')::timestamptz + n % 61 * interval '59 minutes', t::date + n % 7 - 1
FROM generate_series(0, 12999) n, LATERAL (SELECT timestamp '2023-03-01 00:00:00' + n * interval '53 minutes') g(t);
-- => policy
tables:
  w.calls:
    unit: {person: person}
    columns:
      at: {bounds: ["2023-03-01 00:00:00+00", "2024-06-21 11:27:00+00"]}
      shown: {bounds: ["2023-03-01 00:00:00", "2024-06-21 11:27:00"]}
      day: {bounds: [2023-03-01, 2024-06-21]}
      kind: {values: [a, b]}
      ended: {bounds: ["2023-03-01 00:00:00+00", "2024-06-25 00:00:00+00"]}
      due: {bounds: [2023-02-28, 2024-06-27]}
-- => as PostgreSQL: times in zones
-- long: all
SELECT date_trunc('day', at) AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('week', at) AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('month', at) AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('quarter', at) AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('year', at) AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('hour', at) AS d, count(*) FROM w.calls WHERE at >= '2023-11-03' AND at < '2023-11-08'
    GROUP BY 1;
SELECT date_trunc('hour', at) AS d, count(*) FROM w.calls WHERE at >= '2024-03-09' AND at < '2024-03-12'
    GROUP BY 1;
SELECT date_trunc('month', day) AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('month', shown) AS d, count(*) FROM w.calls GROUP BY 1;
SELECT CAST(date_trunc('month', at) AS date) AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('month', at)::timestamp AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('day', at, 'Australia/Lord_Howe') AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('day', at AT TIME ZONE 'America/Sao_Paulo') AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('day', timezone('America/New_York', at)) AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('month', at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('month', at) AS d, kind, count(*) FROM w.calls WHERE at >= '2024-01-01' GROUP BY 1, 2;
SELECT at::date AS d, count(*) FROM w.calls GROUP BY 1;
SELECT date(at) AS d, count(*) FROM w.calls WHERE at < '2023-05-01' GROUP BY 1;
SELECT shown::date AS d, count(*) FROM w.calls GROUP BY 1;
SELECT (at AT TIME ZONE 'Asia/Kolkata')::date AS d, count(*) FROM w.calls GROUP BY 1;
SELECT extract(hour FROM at) AS h, count(*) FROM w.calls GROUP BY 1;
SELECT extract(dow FROM at) AS h, count(*) FROM w.calls GROUP BY 1;
SELECT extract(isodow FROM at) AS h, extract(hour FROM at) AS g, count(*) FROM w.calls GROUP BY 1, 2;
SELECT date_part('month', at) AS h, count(*) FROM w.calls WHERE at < '2023-06-10' AND at >= '2023-03-01'
    GROUP BY 1;
SELECT extract(year FROM at) AS y, extract(month FROM at) AS m, count(*) FROM w.calls GROUP BY 1, 2;
SELECT extract(year FROM at AT TIME ZONE 'Pacific/Auckland') AS y, count(*) FROM w.calls GROUP BY 1;
SELECT to_char(at, 'YYYY-MM') AS m, count(*) FROM w.calls GROUP BY 1;
SELECT to_char(at, 'YYYY-MM-DD HH24:00') AS m, count(*) FROM w.calls WHERE at >= '2023-11-03'
    AND at < '2023-11-08' GROUP BY 1;
SELECT to_char(at, 'Dy') AS m, count(*) FROM w.calls GROUP BY to_char(at, 'Dy');
SELECT to_char(at, 'HH24') AS m, count(*) FROM w.calls GROUP BY 1;
SELECT to_char(at, 'FMMonth YYYY') AS m, count(*) FROM w.calls GROUP BY 1;
SELECT to_char(day, 'IYYY-"W"IW') AS m, count(*) FROM w.calls GROUP BY 1;
SELECT to_char(date_trunc('month', at), 'YYYY-MM') AS m, count(*) FROM w.calls
    GROUP BY date_trunc('month', at);
SELECT to_char(date_trunc('month', at), 'Mon YY') AS m, count(*) FROM w.calls GROUP BY 1;
SELECT count(*) FROM w.calls WHERE at >= '2023-11-05 01:30' AND at < '2023-11-05 02:30';
SELECT count(*) FROM w.calls WHERE at < '2024-03-10 02:30';
SELECT count(*) FROM w.calls WHERE at BETWEEN '2023-06-01' AND '2023-06-30 23:59:59';
SELECT count(*) FROM w.calls WHERE at >= timestamptz '2023-07-01 00:00';
SELECT count(*) FROM w.calls WHERE at >= timestamp '2023-07-01 00:00';
SELECT count(*) FROM w.calls WHERE at >= date '2023-07-01';
SELECT count(*) FROM w.calls WHERE at >= timestamp '2023-11-05 01:30' AT TIME ZONE 'America/New_York';
SELECT count(*) FROM w.calls WHERE shown >= timestamptz '2023-11-05 05:30+00' AT TIME ZONE
    'America/New_York';
SELECT count(*) FROM w.calls WHERE at >= timestamp '2024-03-10 02:30' AT TIME ZONE 'America/New_York';
SELECT date(at AT TIME ZONE 'America/New_York') AS d, count(*) FROM w.calls
    WHERE at >= timestamp '2023-11-03' AT TIME ZONE 'America/New_York'
    AND at < timestamp '2023-11-08' AT TIME ZONE 'America/New_York' GROUP BY 1;
SELECT count(*) FROM w.calls WHERE at::date = '2023-11-05';
SELECT count(*) FROM w.calls WHERE at::date IN ('2023-11-05', '2023-11-06');
SELECT count(*) FROM w.calls WHERE date_trunc('month', at) = '2023-11-01';
SELECT count(*) FROM w.calls WHERE extract(hour FROM at) BETWEEN 9 AND 17;
SELECT count(*) FROM w.calls WHERE at::time BETWEEN '01:00' AND '02:30';
SELECT count(*) FROM w.calls WHERE shown::time < at::time;
SELECT count(*) FROM w.calls WHERE to_char(at, 'YYYY-MM') = '2023-11';
SELECT count(*) FROM w.calls WHERE at > shown;
SELECT count(*) FROM w.calls WHERE at < day;
SELECT count(*) FROM w.calls WHERE coalesce(at, day) >= '2023-11-05';
SELECT count(*) FROM w.calls WHERE at::timestamp >= '2023-11-05 00:00'
    AND shown::timestamptz < '2023-11-06 00:00';
SELECT count(*) FROM w.calls WHERE at >= '2023-11-05 00:00:00+02';
SELECT kind, count(*) FILTER (WHERE at >= '2024-01-01') FROM w.calls GROUP BY kind;
SELECT count(*) FROM w.calls WHERE extract(hour FROM at) + extract(dow FROM at) * 24 >= 150;
SELECT CASE WHEN at >= '2023-11-05' THEN 'later' ELSE 'before' END AS c, count(*) FROM w.calls GROUP BY 1;
SELECT count(*) FROM w.calls WHERE at >= $1::timestamptz;
-- $1: ["2023-11-05 01:30"]
SELECT count(*) FROM w.calls WHERE at >= $1::timestamp;
-- $1: ["2023-11-05 01:30"]
SELECT count(*) FROM w.calls WHERE at::date = $1::date;
-- $1: ["2024-03-10"]
SELECT count(*) FROM w.calls WHERE at < $1::timestamptz;
-- $1: ["2024-03-10 02:30"]
-- => as PostgreSQL: times moved by intervals, bins, differences
-- long: all
SELECT date_trunc('week', at + interval '1 day') - interval '1 day' AS w, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('week', shown + INTERVAL '1 day') - INTERVAL '1 day' AS w, count(*) FROM w.calls
    GROUP BY 1;
SELECT date_trunc('week', day + interval '1 day') - interval '1 day' AS w, count(*) FROM w.calls GROUP BY 1;
SELECT CAST((DATE_TRUNC('week', (at + INTERVAL '1 day')) + INTERVAL '-1 day') AS date) AS w, count(*)
    FROM w.calls GROUP BY 1;
SELECT (DATE_TRUNC('week', (at - INTERVAL '6 day') AT TIME ZONE 'America/Chicago') + INTERVAL '6 day') AT
    TIME ZONE 'America/Chicago' AS w, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('week', at::timestamp + '1 day'::interval)::date - 1 AS w, count(*) FROM w.calls
    GROUP BY 1;
SELECT to_char(date_trunc('week', at + interval '1 day') - interval '1 day', 'YYYY-MM-DD') AS w, count(*)
    FROM w.calls GROUP BY 1;
SELECT to_char(date_trunc('hour', at), 'YYYY-MM-DD HH24:MI:SS') AS h, count(*) FROM w.calls
    WHERE at >= '2023-11-03' AND at < '2023-11-08' GROUP BY 1;
SELECT to_char(date_trunc('hour', at), 'HH24:MI:SS') AS h, count(*) FROM w.calls
    WHERE at >= '2024-03-10 00:00+00' AND at < '2024-03-10 18:00+00' GROUP BY 1;
SELECT date_trunc('hour', date_trunc('day', at)) AS d, count(*) FROM w.calls WHERE at >= '2023-11-03'
    AND at < '2023-11-08' GROUP BY 1;
SELECT date_trunc('day', date_trunc('hour', at)) AS d, count(*) FROM w.calls
    WHERE at >= '2024-03-10 00:00+00' AND at < '2024-03-10 18:00+00' GROUP BY 1;
SELECT date_trunc('month', date_trunc('week', at)) AS m, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('hour', date_trunc('month', at), 'America/Chicago') AS m, count(*) FROM w.calls
    GROUP BY 1;
SELECT date_bin('6 hours', date_trunc('week', shown), timestamp '2000-01-01') AS w, count(*) FROM w.calls
    GROUP BY 1;
SELECT CAST(day - CAST(EXTRACT(DOW FROM day) AS INTEGER) AS DATE) AS w, count(*) FROM w.calls GROUP BY 1;
SELECT day - (extract(isodow FROM day)::int - 1) AS w, count(*) FROM w.calls GROUP BY 1;
SELECT day - (extract(dow FROM day)::int + 1) % 7 AS w, count(*) FROM w.calls GROUP BY 1;
SELECT (DATE_TRUNC('day', at::timestamptz AT TIME ZONE 'America/Chicago' - INTERVAL '1 day' * ((13 +
    EXTRACT(DOW FROM at::timestamptz AT TIME ZONE 'America/Chicago')::integer) % 7)))::date AS w, count(*)
    FROM w.calls GROUP BY 1;
SELECT date_trunc('DAY', shown - extract(dow FROM shown) * interval '1 day') AS w, count(*) FROM w.calls
    GROUP BY 1;
SELECT date_trunc('day', at - interval '5 hours') + interval '5 hours' AS d, count(*) FROM w.calls
    GROUP BY 1;
SELECT date_trunc('month', at + interval '1 month') AS m, count(*) FROM w.calls GROUP BY 1;
SELECT date_trunc('quarter', shown - interval '1 month') + interval '1 month' AS q, count(*) FROM w.calls
    GROUP BY 1;
SELECT date_trunc('month', shown) + interval '1 month' - interval '1 day' AS last, count(*) FROM w.calls
    GROUP BY 1;
SELECT day + 7 AS d, count(*) FROM w.calls GROUP BY 1;
SELECT day - 400 AS d, count(*) FROM w.calls WHERE day < '2023-05-01' GROUP BY 1;
SELECT extract(isoyear FROM day + interval '3 days') AS y, count(*) FROM w.calls GROUP BY 1;
SELECT extract(hour FROM at + interval '90 minutes') AS h, count(*) FROM w.calls WHERE at >= '2023-11-03'
    AND at < '2023-11-08' GROUP BY 1;
SELECT to_char(at + interval '6 months', 'YYYY') AS fiscal, count(*) FROM w.calls GROUP BY 1;
SELECT count(*) FROM w.calls WHERE at + interval '1 day' < '2023-11-05 12:00';
SELECT count(*) FROM w.calls WHERE at - interval '1 month' >= '2024-02-29';
SELECT count(*) FROM w.calls WHERE shown + interval '1 month' < '2024-02-29';
SELECT count(*) FROM w.calls WHERE date_trunc('week', at + interval '1 day') - interval '1 day' <=
    date_trunc('week', timestamp '2023-11-05 10:00' + 7 * -5 * interval '1 DAY' + interval '1 day') -
    interval '1 day';
SELECT count(*) FROM w.calls WHERE at >= ended - interval '1 day 02:00:00';
SELECT count(*) FROM w.calls WHERE ended <= at + make_interval(hours => 3);
SELECT count(*) FROM w.calls WHERE ended < at + 2 * interval '1 day';
SELECT count(*) FROM w.calls WHERE day + 1 = '2023-11-05' OR day - 1 IN ('2023-11-05');
SELECT count(*) FROM w.calls WHERE due - 3 > day AND interval '1 day' + day < due;
SELECT count(*) FROM w.calls WHERE ended::date > at::date;
SELECT count(*) FROM w.calls WHERE ended BETWEEN at AND at + interval '36 hours';
SELECT date_bin('15 minutes', shown, timestamp '2001-01-01') AS b, count(*) FROM w.calls
    WHERE shown >= '2024-03-10' AND shown < '2024-03-12' GROUP BY 1 HAVING count(*) > 0;
SELECT date_bin('14 days', at, timestamptz '2023-06-05 00:00+00') AS b, count(*) FROM w.calls GROUP BY 1;
SELECT date_bin(interval '6 hours', at, timestamptz '2030-01-01 03:00Z') AS b, count(*) FROM w.calls
    WHERE at >= '2023-11-03' AND at < '2023-11-08' GROUP BY 1;
SELECT to_timestamp(floor(extract(epoch from at) / 300) * 300) AS b, count(*) FROM w.calls
    WHERE at >= '2024-03-10 00:00+00' AND at < '2024-03-10 18:00+00' GROUP BY 1 HAVING count(*) > 0;
SELECT to_timestamp(floor((extract('epoch' from at) / 3600 )) * 3600) AT TIME ZONE 'UTC' AS b, count(*)
    FROM w.calls WHERE at >= '2024-03-10 00:00+00' AND at < '2024-03-10 18:00+00' GROUP BY 1
    HAVING count(*) > 0;
SELECT floor(extract(epoch from at)/300)*300 AS "time", count(*) FROM w.calls
    WHERE at >= '2024-03-10 00:00+00' AND at < '2024-03-10 18:00+00' GROUP BY 1 HAVING count(*) > 0;
SELECT ('2024-01-01T00:00:00.000'::timestamp + INTERVAL '2 week' * FLOOR(EXTRACT(EPOCH
    FROM ((at::timestamptz AT TIME ZONE 'America/Chicago') - '2024-01-01T00:00:00.000'::timestamp)) /
    EXTRACT(EPOCH FROM INTERVAL '2 week'))) AS b, count(*) FROM w.calls GROUP BY 1;
SELECT floor(extract(epoch FROM shown - timestamp '2030-01-01 05:00') / extract(epoch
    FROM interval '90 minutes')) * interval '90 minutes' + timestamp '2030-01-01 05:00' AS b, count(*)
    FROM w.calls WHERE shown >= '2024-03-10' AND shown < '2024-03-12' GROUP BY 1 HAVING count(*) > 0;
SELECT count(*) FROM w.calls WHERE day - extract(dow FROM day)::int = date '2024-03-10';
SELECT count(*) FROM w.calls WHERE at >= timestamptz '2024-03-10 00:00 Europe/London'
    AND at < '2024-03-12 01:30 America/New_York'::timestamptz;
SELECT count(*) FROM w.calls WHERE day >= DATE '10 March 2024' AND day < 'today'::date;
SELECT count(*) FROM w.calls WHERE at >= ((SELECT (DATE_TRUNC('day', timestamptz '2024-03-10 00:00+00') +
    (-6 || ' day')::INTERVAL))) AND day <= (SELECT date '2024-03-12');
SELECT count(*) FROM w.calls WHERE ended - at > interval '1 day';
SELECT count(*) FROM w.calls WHERE ended - at BETWEEN interval '10 hours' AND '2 days';
SELECT count(*) FROM w.calls WHERE ended - at > interval '26:30';
SELECT count(*) FROM w.calls WHERE extract(epoch FROM ended - at) / 3600 < 10;
SELECT count(*) FROM w.calls WHERE due - day >= 3;
SELECT count(*) FROM w.calls WHERE ended - shown < interval '1 hour';
SELECT count(*) FROM w.calls WHERE date '2024-03-10' - day < 30;
SELECT count(*) FROM w.calls WHERE timestamptz '2024-03-10 12:00+00' - at < interval '30 days';
SELECT due - day AS days, count(*) FROM w.calls GROUP BY 1;
SELECT date_part('day', ended - at) AS days, count(*) FROM w.calls GROUP BY 1;
SELECT extract(day FROM ended - at) AS d, extract(hour FROM ended - at) AS h, count(*) FROM w.calls
    WHERE at >= '2023-11-03' AND at < '2023-11-08' GROUP BY 1, 2;
SELECT floor(extract(epoch FROM ended - at) / 86400) AS days, count(*) FROM w.calls GROUP BY 1;
SELECT (ended::date - at::date) AS days, count(*) FROM w.calls GROUP BY 1;
SELECT extract(year FROM age(date '2031-08-15', day)) AS y, count(*) FROM w.calls GROUP BY 1
    HAVING count(*) > 0;
SELECT count(*) FROM w.calls WHERE extract(year FROM age(shown, '2019-02-28')) BETWEEN 1 AND 4;
SELECT date_part('year', age(timestamp '2020-02-29 12:00', shown)) AS y, count(*) FROM w.calls GROUP BY 1
    HAVING count(*) > 0;
SELECT extract(year FROM age('2030-05-31', at)) * 12 + extract(month
    FROM age('2030-05-31', at)) AS m, count(*) FROM w.calls GROUP BY 1 HAVING count(*) > 0;
