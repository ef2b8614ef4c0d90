-- 50,000 invented people. Every number is a hash of the person's number: the same in every run, on
-- every PostgreSQL, in every plan. Nobody is real; the shapes are those of a census extract.

CREATE FUNCTION pg_temp.uniform(person integer, salt bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (hashint8extended(person, salt) & 9007199254740991)::double precision / 9007199254740992
$$;

CREATE FUNCTION pg_temp.normal(person integer, salt bigint) RETURNS double precision  -- Box, Muller
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT sqrt(-2 * ln(1 - pg_temp.uniform(person, salt)))
         * cos(2 * pi() * pg_temp.uniform(person, salt + 1000))
$$;

INSERT INTO census.adult
SELECT id, age,
       CASE WHEN female THEN 'Female' ELSE 'Male' END,
       education,
       CASE WHEN pg_temp.uniform(id, 5) < 0.06 THEN NULL
            WHEN years >= 16 THEN CASE
                WHEN pg_temp.uniform(id, 6) < 0.36 THEN 'Exec' WHEN pg_temp.uniform(id, 6) < 0.62 THEN 'Tech'
                WHEN pg_temp.uniform(id, 6) < 0.75 THEN 'Sales' WHEN pg_temp.uniform(id, 6) < 0.84 THEN 'Clerical'
                WHEN pg_temp.uniform(id, 6) < 0.90 THEN 'Service' WHEN pg_temp.uniform(id, 6) < 0.94 THEN 'Craft'
                ELSE 'Other' END
            ELSE CASE
                WHEN pg_temp.uniform(id, 6) < 0.25 THEN 'Craft' WHEN pg_temp.uniform(id, 6) < 0.46 THEN 'Service'
                WHEN pg_temp.uniform(id, 6) < 0.64 THEN 'Clerical' WHEN pg_temp.uniform(id, 6) < 0.78 THEN 'Sales'
                WHEN pg_temp.uniform(id, 6) < 0.84 THEN 'Exec' WHEN pg_temp.uniform(id, 6) < 0.89 THEN 'Farming'
                WHEN pg_temp.uniform(id, 6) < 0.92 THEN 'Tech' ELSE 'Other' END
       END,
       (ARRAY['North', 'South', 'East', 'West', 'Centre'])[region],
       hours,
       CASE WHEN pg_temp.uniform(id, 9) < 0.07 THEN NULL
            ELSE least(999999.99, round(exp(
                9.45 + 0.075 * years + 0.014 * least(age - 17, 35) - CASE WHEN female THEN 0.14 ELSE 0 END
                + 0.5 * ln(coalesce(hours, 38) / 40.0) + 0.52 * pg_temp.normal(id, 10))::numeric, 2)) END,
       pg_temp.uniform(id, 11) < CASE WHEN age < 22 THEN 0.04 WHEN age < 30 THEN 0.31
                                      WHEN age < 65 THEN 0.63 ELSE 0.57 END,
       (10000 * (2 * region - 1) + floor(300 * pg_temp.uniform(id, 12) ^ 2))::integer::text
FROM (
    SELECT p.*, CASE education WHEN '11th' THEN 11 WHEN 'HS-grad' THEN 12 WHEN 'Some-college' THEN 13
                WHEN 'Assoc' THEN 14 WHEN 'Bachelors' THEN 16 WHEN 'Masters' THEN 18
                WHEN 'Doctorate' THEN 20 ELSE 10 END AS years
    FROM (
        SELECT q.*, CASE
            WHEN age < 22 THEN CASE WHEN school < 0.22 THEN '11th' WHEN school < 0.60 THEN 'HS-grad'
                                    WHEN school < 0.95 THEN 'Some-college' ELSE 'Other' END
            WHEN school < 0.33 THEN 'HS-grad' WHEN school < 0.53 THEN 'Some-college'
            WHEN school < 0.72 THEN 'Bachelors' WHEN school < 0.80 THEN 'Assoc'
            WHEN school < 0.87 THEN 'Masters' WHEN school < 0.895 THEN 'Doctorate'
            WHEN school < 0.94 THEN '11th' ELSE 'Other' END AS education
        FROM (
            SELECT id,
                   least(90, 17 + floor(abs(21.5 + 15 * pg_temp.normal(id, 1))))::integer AS age,
                   pg_temp.uniform(id, 2) < 0.49 AS female,
                   pg_temp.uniform(id, 3) AS school,
                   width_bucket(pg_temp.uniform(id, 7), ARRAY[0, 0.22, 0.53, 0.70, 0.90]) AS region,
                   CASE WHEN pg_temp.uniform(id, 8) < 0.04 THEN NULL
                        WHEN pg_temp.uniform(id, 8) < 0.50 THEN 40
                        ELSE least(99, greatest(1, round(40 + 13 * pg_temp.normal(id, 4))))::integer
                   END AS hours
            FROM generate_series(1, 50000) AS id
        ) q
    ) p
) people;
