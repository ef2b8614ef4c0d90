-- 8,000 invented pupils and 12,000 invented readers. 5,000 e-mail addresses are in both registers. Every value is a
-- formula of the row's number.
CREATE FUNCTION pg_temp.uniform(row_number integer, salt bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (hashint8extended(row_number, salt) & 9007199254740991)::double precision / 9007199254740992
$$;

INSERT INTO registers.pupils
SELECT id, 'child' || id || '@example.org', (1 + id % 6000)::text || ' Mill Lane',
       1 + floor(13 * pg_temp.uniform(id, 1))::integer,
       (ARRAY['North', 'South', 'Lake'])[1 + floor(3 * pg_temp.uniform(id, 2))::integer]
FROM generate_series(1, 8000) AS id;

INSERT INTO registers.readers
SELECT id, CASE WHEN id <= 5000 THEN 'child' || id || '@example.org' ELSE 'reader' || id || '@example.org' END,
       (1 + id % 9000)::text || ' Mill Lane',
       floor(120 * pg_temp.uniform(id, 3) ^ 2)::integer,
       CASE WHEN pg_temp.uniform(id, 4) < 0.7 THEN 'centre' ELSE 'lakeside' END
FROM generate_series(1, 12000) AS id;
