-- One table for all bounds on rows of a unit: the same rows, whose units have 1, 10, .. 10,000 of them.
CREATE TABLE bench.growing AS
SELECT g AS id, g AS u1, g / 10 AS u10, g / 100 AS u100, g / 1000 AS u1000, g / 10000 AS u10000,
       (g * 37 % 1000)::numeric(8, 2) AS amount
FROM (SELECT n * 7919 % {rows} AS g FROM generate_series(0::bigint, {rows} - 1) n) r;
