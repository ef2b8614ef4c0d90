-- Events of people with a heavy tail: 200,000 people, the most active with about 1.7 % of all rows.
-- random() is restricted to one process, so that the seed fixes the data.
CREATE TABLE bench.events (
    event_id bigint NOT NULL,
    user_id integer NOT NULL,
    at timestamp NOT NULL,
    country text NOT NULL,
    device text NOT NULL,
    amount numeric(8, 2) NOT NULL,
    seconds integer,
    rating smallint
);
SELECT setseed(0.5);
INSERT INTO bench.events
SELECT g,
       1 + floor(200000 * random() ^ 3)::integer,
       timestamp '2024-01-01' + random() * interval '2 years',
       (ARRAY['US', 'DE', 'FR', 'GB', 'IN', 'BR', 'JP', 'CN', 'ES', 'IT',
              'PL', 'SE', 'MX', 'CA', 'AU', 'NL', 'TR', 'ZA', 'KR', 'AR'])
           [1 + floor(20 * random() * random())::integer],
       (ARRAY['mobile', 'desktop', 'tablet', 'tv'])[1 + floor(4 * random() * random())::integer],
       round(least(1000, 20 * exp(1.1 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())))::numeric, 2),
       CASE WHEN random() >= 0.05 THEN floor(3600 * random() ^ 2)::integer END,
       CASE WHEN random() >= 0.7 THEN 1 + floor(5 * sqrt(random()))::integer END
FROM generate_series(1, least({rows}, 10000000)) g;
-- What is beyond ten million repeats them: a copy takes a tenth of the time of a row that is drawn.
INSERT INTO bench.events
SELECT event_id + n * 10000000, user_id, at, country, device, amount, seconds, rating
FROM bench.events, generate_series(1::bigint, {rows} / 10000000 - 1) n;
ALTER TABLE bench.events ADD PRIMARY KEY (event_id);
