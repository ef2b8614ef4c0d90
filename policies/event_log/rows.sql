-- 40,000 invented events of 4,000 accounts, from January to October 2026. Every value is a hash of the row's number.
CREATE FUNCTION pg_temp.uniform(row_number integer, salt bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (hashint8extended(row_number, salt) & 9007199254740991)::double precision / 9007199254740992
$$;

INSERT INTO event_log.events
SELECT id,
       1 + floor(4000 * pg_temp.uniform(id, 1) ^ 1.2)::integer,
       '2026-01-01 00:00:00+00'::timestamptz + pg_temp.uniform(id, 2) * interval '300 days',
       (ARRAY['login', 'search', 'purchase', 'error'])[1 + floor(4 * pg_temp.uniform(id, 3) ^ 1.8)::integer],
       floor(20 + 2900 * pg_temp.uniform(id, 4) ^ 3)::integer
FROM generate_series(1, 40000) AS id;
