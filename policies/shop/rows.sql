-- 5,000 invented customers, 200 products, 60,000 orders. Deterministic in the same way as the rows of the census.
-- Few customers order much: the busiest some 140 times, half of them eleven times or less.
-- The shop grows in the west (CA, TX), and shrinks in the north (NY, IL, PA, OH, MI). Most goods sell before Christmas,
-- toys most of all; tools and outdoor goods sell in early summer.

CREATE FUNCTION pg_temp.uniform(row_number integer, salt bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (hashint8extended(row_number, salt) & 9007199254740991)::double precision / 9007199254740992
$$;

CREATE FUNCTION pg_temp.normal(row_number integer, salt bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT sqrt(-2 * ln(1 - pg_temp.uniform(row_number, salt)))
         * cos(2 * pi() * pg_temp.uniform(row_number, salt + 1000))
$$;

CREATE FUNCTION pg_temp.pick(words text[], row_number integer, salt bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT words[1 + floor(cardinality(words) * pg_temp.uniform(row_number, salt))::integer]
$$;

INSERT INTO shop.customers
SELECT id, first || ' ' || last, lower(first) || '.' || lower(last) || id || '@example.org',
       (ARRAY['CA', 'TX', 'NY', 'FL', 'IL', 'PA', 'OH', 'GA', 'NC', 'MI'])[
           width_bucket(pg_temp.uniform(id, 3), ARRAY[0, 0.24, 0.42, 0.54, 0.65, 0.73, 0.80, 0.86, 0.92, 0.96])],
       CASE WHEN pg_temp.uniform(id, 4) < 0.08 THEN NULL
            ELSE '2008-06-30'::date - (365.25 * least(75, abs(14 + 16 * pg_temp.normal(id, 5))))::integer END,
       '2020-01-01 00:00:00+00'::timestamptz + pg_temp.uniform(id, 6) ^ 0.7 * interval '2190 days'
FROM (
    SELECT id,
           pg_temp.pick(ARRAY['Ada', 'Ben', 'Cleo', 'Dan', 'Eve', 'Finn', 'Gia', 'Hugo', 'Ida', 'Jon', 'Kim',
                              'Leo', 'Mia', 'Ned', 'Ola', 'Pia', 'Quin', 'Rae', 'Sam', 'Tess'], id, 1) AS first,
           pg_temp.pick(ARRAY['Abbott', 'Bell', 'Cole', 'Dunn', 'Ellis', 'Frost', 'Gray', 'Hart', 'Irwin', 'Jones',
                              'Kerr', 'Lane', 'Moss', 'Nash', 'Owen', 'Pike', 'Reed', 'Shaw', 'Todd', 'Webb'],
                        id, 2) AS last
    FROM generate_series(1, 5000) AS id
) people;

INSERT INTO shop.products
SELECT id,
       pg_temp.pick(ARRAY['Plain', 'Fine', 'Small', 'Large', 'Travel', 'Garden', 'Winter', 'Classic'], id, 11) || ' '
       || pg_temp.pick(ARRAY['Lamp', 'Kettle', 'Blanket', 'Puzzle', 'Novel', 'Rucksack', 'Teapot', 'Drill', 'Scarf',
                             'Atlas'], id, 12) || ' No. ' || id,
       pg_temp.pick(ARRAY['Home', 'Kitchen', 'Toys', 'Books', 'Outdoor', 'Tools', 'Clothing'], id, 13),
       round(least(400, greatest(1.5, exp(3 + 0.8 * pg_temp.normal(id, 14))))::numeric, 2)
FROM generate_series(1, 200) AS id;

-- Moves days toward the peak of each year: at the peak 1 / (1 - size) as many of them lie there as without it.
CREATE FUNCTION pg_temp.in_season(day double precision, size double precision, peak double precision)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT day - size * 365.25 / (2 * pi()) * sin(2 * pi() * (day / 365.25 - peak))
$$;

-- The day that is moved to this one, within an hour or so.
CREATE FUNCTION pg_temp.out_of_season(day double precision, size double precision, peak double precision)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH RECURSIVE near AS (
        SELECT 0 AS step, day AS found
        UNION ALL
        SELECT step + 1, found + day - pg_temp.in_season(found, size, peak) FROM near WHERE step < 8
    ) SELECT found FROM near WHERE step = 8
$$;

CREATE TEMP TABLE seasons ON COMMIT DROP AS
SELECT category, size, peak, pg_temp.out_of_season(2495, size, peak) AS last_day    -- before 2026-10-31
FROM (VALUES ('Home', 0.4, 0.93), ('Kitchen', 0.4, 0.93), ('Books', 0.4, 0.93), ('Clothing', 0.4, 0.93),
             ('Toys', 0.6, 0.95), ('Tools', 0.35, 0.45), ('Outdoor', 0.35, 0.45)) seasons(category, size, peak);

INSERT INTO shop.orders
SELECT o.id, o.customer_id, o.product_id, o.quantity,
       round(p.price * o.quantity * CASE WHEN pg_temp.uniform(o.id, 26) < 0.2 THEN 0.85 ELSE 1 END, 2),
       (ARRAY['shipped', 'paid', 'returned', 'cancelled'])[
           width_bucket(pg_temp.uniform(o.id, 24), ARRAY[0, 0.66, 0.88, 0.95])],
       greatest(c.signed_up, '2020-01-01 00:00:00+00'::timestamptz + interval '1 day' * pg_temp.in_season(
           c.first_day + pg_temp.uniform(o.id, 25) ^ c.lateness * (s.last_day - c.first_day), s.size, s.peak))
FROM (
    SELECT id,
           floor(5000 * pg_temp.uniform(id, 21) ^ 1.4)::integer * 7919 % 5000 + 1 AS customer_id,
           floor(200 * pg_temp.uniform(id, 22) ^ 1.3)::integer + 1 AS product_id,
           1 + floor(5 * pg_temp.uniform(id, 23) ^ 2.5)::integer AS quantity
    FROM generate_series(1, 60000) AS id
) o
JOIN (
    SELECT *, extract(epoch FROM signed_up - '2020-01-01 00:00:00+00'::timestamptz)::double precision / 86400 AS first_day,
           CASE WHEN state IN ('CA', 'TX') THEN 0.5 WHEN state IN ('NY', 'IL', 'PA', 'OH', 'MI') THEN 1.8
                ELSE 0.9 END AS lateness
    FROM shop.customers
) c ON c.id = o.customer_id
JOIN shop.products p ON p.id = o.product_id
JOIN seasons s ON s.category = p.category;
