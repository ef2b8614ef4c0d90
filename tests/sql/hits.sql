-- date_trunc('second', ...) as a key and in conditions, across a full hour (QuickSight and others write it).
-- mechanism: auto
-- sessions: SET TimeZone = 'UTC' | SET TimeZone = 'Europe/Berlin' | SET TimeZone = 'America/St_Johns'
-- => schema
CREATE SCHEMA app;
CREATE TABLE app.hit (id int PRIMARY KEY, at timestamp NOT NULL, seen timestamptz NOT NULL);
INSERT INTO app.hit SELECT i, '2023-07-02 00:59:55'::timestamp + i % 40 * interval '250 ms',
    '2023-07-02 00:59:55+00'::timestamptz + i % 40 * interval '250 ms' FROM generate_series(1, 8000) AS i;
-- => policy
tables:
  app.hit:
    unit: {visitor: id}
    columns:
      at: {bounds: [2023-07-02 00:59:55, 2023-07-02 01:00:04.999999]}
      seen: {bounds: [2023-07-02 00:59:55, 2023-07-02 01:00:04.999999]}
-- => as PostgreSQL: seconds
-- every: 3
-- near: 10 10 0
-- noisy: count
SELECT date_trunc('second', at) AS k, count(*) FROM app.hit GROUP BY 1;
SELECT date_trunc('SECOND', seen) AS k, count(*) FROM app.hit GROUP BY 1;
SELECT date_trunc('second', seen, 'Europe/Berlin') AS k, count(*) FROM app.hit GROUP BY 1;
SELECT date_trunc('second', seen AT TIME ZONE 'Europe/Berlin') AS k, count(*) FROM app.hit GROUP BY 1;
SELECT date_trunc('minute', date_trunc('second', at)) AS k, count(*) FROM app.hit GROUP BY 1;
SELECT extract(second FROM date_trunc('second', at)) AS k, count(*) FROM app.hit GROUP BY 1;
SELECT to_char(date_trunc('second', at), 'HH24:MI:SS') AS k, count(*) FROM app.hit GROUP BY 1;
SELECT date_trunc('minute', at) AS k, count(*) FROM app.hit WHERE date_trunc('second', at) >=
    '2023-07-02 01:00:00' GROUP BY 1;
SELECT date_trunc('second', at) AS k, count(*) FROM app.hit WHERE date_trunc('second', at) BETWEEN
    '2023-07-02 00:59:58' AND '2023-07-02 01:00:01' GROUP BY 1;
SELECT date_trunc('second', at) AS k, count(*) FROM app.hit WHERE at < '2023-07-02 00:59:57.3' GROUP BY 1;
SELECT k, count(*) FROM (SELECT date_trunc('second', at) AS k FROM app.hit) q
    WHERE k > '2023-07-02 01:00:00' GROUP BY 1;
SELECT 1 AS k, count(*) FROM app.hit WHERE date_trunc('second', at) = '2023-07-02 00:59:59';
