-- 6,000 invented patients, 24,000 visits, 30,000 results. Every value is a hash of the row's number, so the rows
-- are the same on every PostgreSQL. Nobody is real.
CREATE FUNCTION pg_temp.uniform(row_number integer, salt bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (hashint8extended(row_number, salt) & 9007199254740991)::double precision / 9007199254740992
$$;

INSERT INTO clinic.wards VALUES
    ('CAR', 'Cardiology'), ('DER', 'Dermatology'), ('GEN', 'General medicine'), ('ORT', 'Orthopaedics');

INSERT INTO clinic.patients
SELECT id, 'Patient ' || id, lpad((10000 + 37 * (id % 900))::text, 5, '0'),
       '2020-01-01'::date - (365 * 85 * pg_temp.uniform(id, 1))::integer,
       CASE WHEN pg_temp.uniform(id, 2) < 0.52 THEN 'f' WHEN pg_temp.uniform(id, 2) < 0.99 THEN 'm' ELSE 'x' END,
       CASE WHEN pg_temp.uniform(id, 3) < 0.3 THEN NULL ELSE pg_temp.uniform(id, 4) < 0.2 END
FROM generate_series(1, 6000) AS id;

INSERT INTO clinic.visits
SELECT id,
       1 + floor(6000 * pg_temp.uniform(id, 11) ^ 1.3)::integer,
       (ARRAY['GEN', 'CAR', 'ORT', 'DER'])[1 + floor(4 * pg_temp.uniform(id, 12) ^ 1.5)::integer],
       '2024-01-01'::date + floor(900 * pg_temp.uniform(id, 13))::integer,
       10 + floor(80 * pg_temp.uniform(id, 14) ^ 2)::integer,
       -- A few diagnoses are frequent. Most of the 60 are rare.
       'D' || lpad((1 + floor(60 * pg_temp.uniform(id, 15) ^ 4)::integer)::text, 2, '0')
FROM generate_series(1, 24000) AS id;

INSERT INTO clinic.results
SELECT id,
       1 + floor(24000 * pg_temp.uniform(id, 21))::integer,
       (ARRAY['glucose', 'cholesterol', 'creatinine'])[1 + floor(3 * pg_temp.uniform(id, 22))::integer],
       round((20 + 200 * pg_temp.uniform(id, 23) ^ 2)::numeric, 1)
FROM generate_series(1, 30000) AS id;
