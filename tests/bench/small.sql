-- 32,000 people, one row each: the table of the latency part. Run in an empty database.
CREATE SCHEMA bench;
SELECT setseed(0.25);
CREATE TABLE bench.people AS
SELECT g::integer AS id,
       (18 + floor(63 * random() * sqrt(random())))::integer AS age,
       (ARRAY['North', 'South', 'East', 'West', 'Centre'])[1 + floor(5 * random() * random())::integer] AS region,
       round((30000 * exp(0.6 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())))::numeric, 2)::numeric(9, 2)
           AS income,
       timestamptz '2024-01-01' + g * interval '1 minute' AS joined
FROM generate_series(1, {rows}) g;
ALTER TABLE bench.people ADD PRIMARY KEY (id);
