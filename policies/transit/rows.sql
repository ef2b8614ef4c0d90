-- 12 invented stations and 80,000 invented trips of 8,000 cards. Every value is a hash of the row's number.
CREATE FUNCTION pg_temp.uniform(row_number integer, salt bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (hashint8extended(row_number, salt) & 9007199254740991)::double precision / 9007199254740992
$$;

INSERT INTO transit.stations
SELECT 'S' || lpad(number::text, 2, '0'), 'Station ' || number, 1 + number % 3
FROM generate_series(1, 12) AS number;

INSERT INTO transit.trips
SELECT id,
       1 + floor(8000 * pg_temp.uniform(id, 1) ^ 1.2)::integer,
       'S' || lpad((1 + floor(12 * pg_temp.uniform(id, 2) ^ 1.4)::integer)::text, 2, '0'),
       '2026-09-01 00:00:00+00'::timestamptz + floor(29 * pg_temp.uniform(id, 3)) * interval '1 day'
           + (5 + 18 * pg_temp.uniform(id, 4)) * interval '1 hour',
       floor(4 + 70 * pg_temp.uniform(id, 5) ^ 2)::integer,
       round((2.2 + 6 * pg_temp.uniform(id, 6) ^ 3)::numeric, 2)
FROM generate_series(1, 80000) AS id;
